/**
 * Fold of one ledger transaction into records: its contracts, the facts of its readings node by
 * node, their conclusions, and the facts of the whole update.
 */
import { Effect, Option } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import * as Ledger from "../ports/Ledger.ts"
import { JudgedAt } from "../records/JudgedAt.ts"
import { Records } from "../records/Records.ts"
import { key } from "../templates/Template.ts"
import { operations } from "../writes/OperationRecord.ts"
import { contracts } from "./Contract.ts"
import * as LedgerRecord from "./LedgerRecord.ts"
import { operationIdOf } from "./OperationCompletion.ts"
import type { Look, Node, Position, FromLedger, Whole } from "./FromLedger.ts"
import { FromLedgerIndex } from "./FromLedgerIndex.ts"
import { settleConsequences } from "../records/ConsequenceRounds.ts"

/** Effect of a node that runs after every node of its update was read. */
type Conclusion = Effect.Effect<void, Unavailable, Records>

/** Payloads of the contracts that this update created, by contract id. */
type Payloads = ReadonlyMap<string, Ledger.LfRecord>

/** Events for which records are prefetched together. */
export const prefetchMax = 1_000
/** Fewest events for which one prefetch is cheaper than the look-ups it saves. */
const prefetchMin = 8

/** Findings of a reading in a whole update. */
export interface ReadingFindings {
  readonly reading: FromLedger
  readonly findings: ReadonlyArray<unknown>
}

/**
 * Folds a transaction; `ledgerTime` is the latest effective time up to it. Returns the findings that
 * `foldBatch` reads. Only inside `transact`.
 */
export const fold = Effect.fnUntraced(function* (
  update: Ledger.Transaction,
  ledgerTime: Instant.Instant
) {
  const { effectiveAt, events, offset, updateId } = update
  const { venue } = yield* Ledger.Ledger
  const position: Position = {
    act: {
      cause: { by: "update", updateId, offset, effectiveAt },
      now: effectiveAt,
      offset
    },
    venue,
    offset,
    updateId,
    operationId: operationIdOf(update.commandId),
    effectiveAt,
    ledgerTime
  }
  return yield* Effect.provideService(
    foldEvents(events, position).pipe(
      Effect.andThen(foldWhole({ ...position, events, from: "update" })),
      // Before the next update, whose facts about the same records come after these.
      Effect.tap(() => settleConsequences)
    ),
    JudgedAt,
    effectiveAt
  )
})

/** Folds the events of an update in order, then runs their conclusions. */
const foldEvents = Effect.fnUntraced(function* (
  events: ReadonlyArray<Ledger.Event>,
  position: Position
) {
  const payloads = new Map<string, Ledger.LfRecord>()
  const conclusions: Array<Conclusion> = []
  for (const [index, event] of events.entries()) {
    // Records of the first events were prefetched with those of the other updates of the batch.
    if (index > 0 && index % prefetchMax === 0) {
      yield* prefetch(events.slice(index, index + prefetchMax), { payloads })
    }
    const node: Node = { ...position, nodeId: event.nodeId, contractId: event.contractId }
    if (event._tag === "Created") {
      payloads.set(event.contractId, event.payload)
      yield* foldCreated(event, node)
    } else {
      conclusions.push(...(yield* foldExercised(event, node, payloads)))
    }
  }
  for (const conclusion of conclusions) yield* conclusion
})

/** Records a contract that came into the venue's sight, and the facts of its readings. */
export const foldCreated = Effect.fnUntraced(function* (event: Ledger.Created, node: Node) {
  if (!event.inAcs) return
  const fromLedger = yield* FromLedgerIndex
  const { payload, template } = event
  yield* openContract(event, node)
  for (const reading of fromLedger.of(template)) {
    yield* reading.created?.(payload, node, event) ?? Effect.void
  }
})

/** Opens the record of a contract. */
export const openContract = (
  { contractId, createdAt, observers, packageId, payload, signatories, template }: Ledger.Created,
  node: Pick<Node, "act" | "offset">
) =>
  LedgerRecord.open(
    contracts,
    {
      contractId,
      template: key(template),
      packageId,
      payload: payload as Plain,
      signatories,
      observers,
      contractCreatedAt: createdAt,
      createdOffset: node.offset,
      archivedOffset: null
    },
    node
  )

/** Records the facts of a choice and the contract's archival; returns the conclusions still to run. */
const foldExercised = Effect.fnUntraced(function* (
  event: Ledger.Exercised,
  node: Node,
  payloads: Payloads
) {
  const records = yield* Records
  const fromLedger = yield* FromLedgerIndex
  const contract = Option.getOrUndefined(yield* records.find(contracts, event.contractId))
  const payload = payloads.get(event.contractId) ?? (contract?.payload as Ledger.LfRecord)
  // The venue was only a witness of this contract, so no record follows it.
  if (payload === undefined) return []
  const conclusions: Array<Conclusion> = []
  for (const reading of fromLedger.of(event.template)) {
    yield* reading.exercised?.(event.choice, payload, node, event) ?? Effect.void
    if (reading.concluded !== undefined) {
      conclusions.push(reading.concluded(event.choice, payload, node, event))
    }
  }
  if (event.consuming && event.inAcs && contract !== undefined) {
    yield* records.append(contracts, contract, { on: "archive", offset: node.offset }, node.act)
  }
  return conclusions
})

/** Hands the whole update to every reading, judged at its effective time; returns their findings. */
export const foldWhole = Effect.fnUntraced(function* (update: Whole) {
  const { all } = yield* FromLedgerIndex
  const found: Array<ReadingFindings> = []
  for (const reading of all) {
    const findings = yield* reading.whole?.(update) ?? Effect.void
    if (findings !== undefined) found.push({ reading, findings })
  }
  return found
})

/** Hands each reading its findings in the updates of a batch, in the transaction that folded them. */
export const foldBatch = Effect.fnUntraced(function* (found: ReadonlyArray<ReadingFindings>) {
  for (const [reading, group] of Map.groupBy(found, (each) => each.reading)) {
    const findings = group.flatMap((each) => each.findings)
    if (findings.length > 0) yield* reading.batch?.(findings) ?? Effect.void
  }
})

/**
 * Prefetches the records that the folds of these updates look up, and the operations that they
 * complete: of at most `prefetchMax` events, since an update of more prefetches as it is folded.
 */
export const prefetchOf = (updates: ReadonlyArray<Ledger.Transaction>) =>
  prefetch(updates.flatMap(({ events }) => events).slice(0, prefetchMax), {
    besides: updates.flatMap(({ commandId }) => {
      const id = operationIdOf(commandId)
      return id === null ? [] : [{ collection: operations, id }]
    })
  })

/** Prefetches the records that the readings of these events look up, with two look-ups. */
export const prefetch = Effect.fnUntraced(function* (
  events: ReadonlyArray<Ledger.Event>,
  {
    payloads,
    besides
  }: {
    /** Payloads of the contracts that this update created earlier. */
    readonly payloads?: Payloads
    /** Records to prefetch besides. */
    readonly besides?: ReadonlyArray<Look>
  } = {}
) {
  const records = yield* Records
  if (events.length < prefetchMin) return yield* records.prefetch([])
  const fromLedger = yield* FromLedgerIndex
  const ids = [...new Set(events.map(({ contractId }) => contractId))]
  const looks = ids.map((id) => ({ collection: contracts, id }))
  yield* records.prefetch(looks)
  const stored = yield* records.many(contracts, ids)
  const before = new Map(stored.map(({ contractId, payload }) => [contractId, payload]))
  const payloadOf = (id: string) => payloads?.get(id) ?? (before.get(id) as Ledger.LfRecord)
  yield* records.prefetch([
    ...looks,
    ...looksOf(events, { payloadOf, fromLedger }),
    ...(besides ?? [])
  ])
})

/** Returns the records that the readings of these events declare to look up. */
export const looksOf = (
  events: ReadonlyArray<Ledger.Event>,
  {
    payloadOf,
    fromLedger
  }: {
    /** The payload of a contract that was created before, by contract id. */
    readonly payloadOf: (contractId: string) => Ledger.LfRecord | undefined
    readonly fromLedger: Pick<FromLedgerIndex["Service"], "of">
  }
): ReadonlyArray<Look> =>
  events.flatMap((event) => {
    const payload = event._tag === "Created" ? event.payload : payloadOf(event.contractId)
    if (payload === undefined) return []
    return fromLedger
      .of(event.template)
      .flatMap((reading) => reading.looks?.(payload, event.contractId) ?? [])
  })
