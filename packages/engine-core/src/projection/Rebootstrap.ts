/**
 * New ledger epoch in a kept store: compares what the store's own contracts open with what a snapshot of
 * the ledger opens, and continues each record by the difference.
 */
import { Effect, Option, Stream } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type * as Ledger from "../ports/Ledger.ts"
import type { Act } from "../records/Act.ts"
import { JudgedAt } from "../records/JudgedAt.ts"
import { Records, type Stored } from "../records/Records.ts"
import { key, refOf } from "../templates/Template.ts"
import { type Contract, contracts } from "./Contract.ts"
import { type LostRecord, idOf as lostIdOf, lostRecords } from "./LostRecord.ts"
import type { Node, Position } from "./FromLedger.ts"
import { FromLedgerIndex } from "./FromLedgerIndex.ts"
import * as ShownRecords from "./ShownRecords.ts"
import { snapshotsTaken } from "./SnapshotTaken.ts"
import * as UpdateFold from "./UpdateFold.ts"

/** A new epoch: its number, and the position of its snapshot. */
interface Epoch {
  readonly ledgerEpoch: number
  /** Position of a contract of the snapshot, or of the whole. */
  readonly positionAt: (effectiveAt: Instant.Instant) => Position
  readonly effectiveAt: Instant.Instant
  /** Folds active contracts as a projection that begins with them. */
  readonly foldFrom: (
    active: ReadonlyArray<Ledger.Active>
  ) => Effect.Effect<void, Unavailable, Records | FromLedgerIndex | Ledger.Ledger>
}

/**
 * Continues the records of the store with the snapshot's contracts. A record whose contracts are the
 * same stays as it is; one whose contracts changed takes what they say; one that was in flight and has
 * none left is lost. Only inside `transact`.
 */
export const carryOn = Effect.fnUntraced(function* (
  active: ReadonlyArray<Ledger.Active>,
  epoch: Epoch
) {
  const stored = yield* activeContracts
  const before = yield* shownBy(stored.map(activeOf), epoch)
  const after = yield* shownBy(active, epoch)
  yield* foldGap({ stored, active }, epoch)
  yield* restateAll({ before, after }, epoch)
  const records = yield* Records
  const fresh = <A>(all: ReadonlyMap<string, A>, seenRecords: ReadonlyMap<string, A>) =>
    [...all].flatMap(([text, each]) => (seenRecords.has(text) ? [] : [each]))
  yield* records.announce(fresh(after.announcements, before.announcements))
  yield* records.enqueue(fresh(after.work, before.work))
})

const activeContracts = Effect.flatMap(Records, (records) =>
  records.stream(contracts, { where: { active: ["true"] } }).pipe(
    Stream.map(({ record }) => record),
    Stream.runCollect
  )
)

/** An active contract of the store as a snapshot would show it. */
const activeOf = (contract: Contract, nodeId: number): Ledger.Active => ({
  _tag: "Created",
  nodeId,
  contractId: contract.contractId as Ledger.ContractId,
  template: refOf(contract.template),
  packageId: contract.packageId,
  payload: contract.payload as Ledger.LfRecord,
  views: [],
  signatories: contract.signatories as Ledger.Active["signatories"],
  observers: contract.observers as Ledger.Active["observers"],
  witnesses: [],
  createdAt: contract.contractCreatedAt,
  blob: Option.none(),
  inAcs: true,
  synchronizerId: ""
})

/** Opens what these contracts alone show, in memory. */
const shownBy = Effect.fnUntraced(function* (
  active: ReadonlyArray<Ledger.Active>,
  { effectiveAt, foldFrom, positionAt }: Epoch
) {
  const { records, content } = ShownRecords.make(yield* Records, positionAt(effectiveAt).act.now)
  yield* Effect.provideService(foldFrom(active), Records, records)
  return content
})

// ---- contracts, and what is folded of the difference as of one update

const foldGap = Effect.fnUntraced(function* (
  contractSets: {
    readonly stored: ReadonlyArray<Stored<Contract>>
    readonly active: ReadonlyArray<Ledger.Active>
  },
  { effectiveAt, positionAt }: Epoch
) {
  const records = yield* Records
  const { all } = yield* FromLedgerIndex
  const fromLedger = all.filter(({ inGap }) => inGap !== undefined)
  const had = new Set(contractSets.stored.map(({ contractId }) => contractId))
  const has = new Set<string>(contractSets.active.map(({ contractId }) => contractId))
  const gone = contractSets.stored.filter(({ contractId }) => !has.has(contractId))
  const come = contractSets.active.filter(({ contractId }) => !had.has(contractId))
  const events: Array<Ledger.Event> = []
  const nodeOf = (at: Instant.Instant, contractId: string): Node => ({
    ...positionAt(at),
    nodeId: events.length,
    contractId
  })
  for (const contract of gone) {
    const node = nodeOf(effectiveAt, contract.contractId)
    const event = archived(contract, node.nodeId)
    for (const { exercised, template } of fromLedger) {
      if (key(template) !== contract.template) continue
      yield* exercised?.(event.choice, contract.payload as Ledger.LfRecord, node, event) ??
        Effect.void
    }
    const fact = { on: "archive", offset: node.offset } as const
    yield* records.append(contracts, contract, fact, node.act)
    events.push(event)
  }
  for (const active of come) {
    const node = nodeOf(active.createdAt, active.contractId)
    const event = { ...active, nodeId: node.nodeId }
    yield* UpdateFold.openContract(event, node)
    for (const { created, template } of fromLedger) {
      if (key(template) !== key(active.template)) continue
      yield* created?.(active.payload, node, event) ?? Effect.void
    }
    events.push(event)
  }
  const found: Array<UpdateFold.ReadingFindings> = []
  for (const reading of fromLedger) {
    const whole = { ...positionAt(effectiveAt), events, from: "gap" } as const
    const findings = yield* reading.whole?.(whole) ?? Effect.void
    if (findings !== undefined) found.push({ reading, findings })
  }
  yield* UpdateFold.foldBatch(found)
})

/** The archival of a contract that the snapshot does not have, whichever choice archived it. */
const archived = (contract: Contract, nodeId: number): Ledger.Exercised => ({
  _tag: "Exercised",
  nodeId,
  lastDescendant: nodeId,
  contractId: contract.contractId as Ledger.ContractId,
  template: refOf(contract.template),
  iface: Option.none(),
  choice: "Archive",
  actors: [],
  consuming: true,
  arg: {},
  result: {},
  witnesses: [],
  inAcs: true
})

// ---- records

interface SnapshotPair {
  readonly before: ShownRecords.SnapshotContent
  readonly after: ShownRecords.SnapshotContent
}

const restateAll = Effect.fnUntraced(function* ({ after, before }: SnapshotPair, epoch: Epoch) {
  const { all } = yield* FromLedgerIndex
  const inGap = new Set(all.flatMap(({ inGap }) => inGap ?? []).map(({ name }) => name))
  const keys = new Set([...before.records.keys(), ...after.records.keys()])
  const each = [...keys].flatMap((key) => {
    const [was, is] = [before.records.get(key), after.records.get(key)]
    const { collection, id } = (is ?? was)!
    const isFolded = collection.name === contracts.name || inGap.has(collection.name)
    return isFolded ? [] : [{ collection, id, was: was?.record, is: is?.record }]
  })
  for (const group of Map.groupBy(each, ({ collection }) => collection).values()) {
    yield* restate(group, epoch)
  }
})

interface ComparedRecord {
  readonly collection: Collection
  readonly id: string
  /** As the contracts of the store open it, and as those of the snapshot do. */
  readonly was: unknown
  readonly is: unknown
}

const restate = Effect.fnUntraced(function* (all: ReadonlyArray<ComparedRecord>, epoch: Epoch) {
  const records = yield* Records
  const { collection } = all[0]!
  const { act } = epoch.positionAt(epoch.effectiveAt)
  const storedRecords = yield* Effect.provideService(
    records.many(
      collection,
      all.map(({ id }) => id)
    ),
    JudgedAt,
    // Clock moves that nobody has recorded are not a part of what the snapshot says.
    beginning
  )
  const losses: Array<LostRecord> = []
  const byId = new Map(
    storedRecords.map((record) => [collection.id(record), record as Stored<Members>])
  )
  for (const { id, is, was } of all) {
    const self = byId.get(id)
    if (is === undefined) {
      const lost = self === undefined ? undefined : yield* lose(collection, self, { act, epoch })
      if (lost !== undefined) losses.push(lost)
      continue
    }
    if (self === undefined) {
      // The engine read the history of a record that both snapshots open: the store has none on purpose.
      const isFirst = was === undefined || collection.name === snapshotsTaken.name
      if (isFirst) yield* records.restate(collection, undefined, is, act)
      continue
    }
    const stored = bodyOf(self)
    const openings = {
      before: (was ?? (collection.keptBy === "ledger" ? undefined : stored)) as Members,
      after: is as Members
    }
    const next =
      collection.name === snapshotsTaken.name ? is : corrected(collection, { ...openings, self })
    if (ShownRecords.textOf(next) === ShownRecords.textOf(stored)) continue
    yield* records.restate(collection, self, next, act)
  }
  // A record may have been lost by an earlier epoch already.
  const noted = yield* records.many(lostRecords, losses.map(lostIdOf))
  const notedById = new Map(noted.map((lost) => [lostIdOf(lost), lost]))
  for (const lost of losses) {
    yield* records.restate(lostRecords, notedById.get(lostIdOf(lost)), lost, act)
  }
})
type Members = Readonly<Record<string, unknown>>
const beginning = Instant.fromNanos(0n)

/** The record as it continues: with what the contracts say otherwise, as its collection corrects it. */
const corrected = (
  collection: Collection,
  change: {
    readonly self: Stored<Members>
    readonly before: Members | undefined
    readonly after: Members
  }
): unknown => {
  const { self } = change
  const next = continued(bodyOf(self), {
    ...change,
    keeps: (name, become) =>
      (collection.untold.includes(name) && self[name] != null) ||
      // Lists have a record at one place for ever.
      placeOf(collection, { ...self, ...become }) !== placeOf(collection, self)
  })
  return collection.continued?.(next, { ...change, self: bodyOf(self) }) ?? next
}

const placeOf = (collection: Collection, self: Stored<Members>): string =>
  collection.sortKey(self, self.createdAt)

const bodyOf = ({ createdAt: _, updatedAt: __, version: ___, ...body }: Stored<Members>): Members =>
  body

/**
 * A record with what the contracts say otherwise than before. Where the contracts of the store did not
 * open it, it takes all that the snapshot knows.
 */
const continued = (
  self: Members,
  {
    after,
    before,
    keeps
  }: {
    readonly before: Members | undefined
    readonly after: Members
    /** Checks whether a member that would become this stays as it is. */
    readonly keeps: (name: string, become: Members) => boolean
  }
): Members => {
  const next: Record<string, unknown> = { ...self }
  for (const [name, value] of Object.entries(after)) {
    const become = memberOf(self[name], { before, name, after: value })
    if (become !== self[name] && !keeps(name, { [name]: become })) next[name] = become
  }
  return next
}

const memberOf = (
  keptValue: unknown,
  change: { readonly before: Members | undefined; readonly name: string; readonly after: unknown }
): unknown => {
  if (change.before === undefined) return change.after ?? keptValue
  const before = change.before[change.name]
  if (isMembers(keptValue) && isMembers(before) && isMembers(change.after)) {
    return continued(keptValue, { before, after: change.after, keeps: () => false })
  }
  return ShownRecords.textOf(change.after) === ShownRecords.textOf(before)
    ? keptValue
    : change.after
}

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Corrects a record that has lost its contracts, and returns what is noted of one in flight. */
const lose = Effect.fnUntraced(function* (
  collection: Collection,
  self: Stored<Members>,
  { act, epoch }: { readonly act: Act; readonly epoch: Epoch }
) {
  const records = yield* Records
  const stored = bodyOf(self)
  const { effectiveAt: at, offset, updateId } = epoch.positionAt(epoch.effectiveAt)
  const next = collection.lost?.(stored, { updateId, offset: Offset.of(offset), at }) ?? stored
  if (ShownRecords.textOf(next) !== ShownRecords.textOf(stored)) {
    yield* records.restate(collection, self, next, act)
  }
  if (typeof stored["state"] !== "string") return undefined
  return {
    collection: collection.name,
    recordId: collection.id(stored),
    instrumentId: typeof stored["instrumentId"] === "string" ? stored["instrumentId"] : null,
    state: stored["state"],
    isEnded: (next as Members)["state"] !== stored["state"],
    ledgerEpoch: epoch.ledgerEpoch,
    offset: Offset.of(offset)
  } satisfies LostRecord
})
