/**
 * Facts from the ledger about distribution lines: added with their figures, directed, delivered, void
 * and rolled; and those that a snapshot of the ledger shows.
 */
import { Effect, Option, Stream } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { holderParties, holders } from "../../holders/holder/Holder.ts"
import * as Month from "../../kernel/Month.ts"
import type * as Party from "../../kernel/Party.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger, Whole } from "../../projection/FromLedger.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { lockRestrictions } from "../../restraints/restriction/RestrictionLookups.ts"
import {
  DeliveredLine as DeliveredTemplate,
  type DistributedLine,
  DistributionLine as LineTemplate
} from "../../templates/Distribution.ts"
import { key } from "../../templates/Template.ts"
import { type Distribution, distributions } from "./Distribution.ts"
import {
  isPaidEarly,
  type DistributionLine,
  distributionLines,
  inStates,
  lineIdOf,
  DistributionLineMachine,
  type Evidence,
  type Fact,
  firstOf
} from "./DistributionLine.ts"
import { executedOf } from "./DistributionLookups.ts"
import { linesWritten, payIfSettled } from "./PaymentSteps.ts"
import { judgeAll } from "./LineCauseLookups.ts"
import { recoveredSince } from "./SuccessionLookups.ts"
import { judgeAgain } from "./SuspenseSteps.ts"

const lines = LedgerRecord.transitionsOf({
  collection: distributionLines,
  machine: DistributionLineMachine,
  resourceKind: "distribution"
})

// ---- added

/** Lines of one act with the contracts of those that pay anything. */
interface AddedLines {
  readonly lines: ReadonlyArray<DistributedLine>
  readonly contracts: ReadonlyArray<{ readonly number: number; readonly contractId: string }>
}

/**
 * Opens the lines of one act, carried ones included. Their causes to wait are judged now: one
 * look-up each of holders, restrictions and admissions for all lines of the act.
 */
export const addLines = (
  self: Distribution,
  added: AddedLines,
  node: Node
): Effect.Effect<void, Unavailable, Records> =>
  Effect.gen(function* () {
    const { distributionId, instrumentId, month, payout, registrar } = self
    const records = yield* Records
    // One look-up for all lines finds that their ids are free; the opening of each need not look.
    yield* records.many(
      distributionLines,
      added.lines.map(({ number }) => lineIdOf(distributionId, number))
    )
    yield* lockRestrictions
    const judged = yield* judgeAll(
      added.lines.map(({ holder: party }) => ({ party, instrumentId, payout })),
      node.effectiveAt
    )
    const predecessors = yield* recoveredSince(
      instrumentId,
      judged.flatMap(({ holder }) => holder ?? []),
      yield* beginOf(self)
    )
    const contractOf = new Map(
      added.contracts.map(({ number, contractId }) => [number, contractId])
    )
    for (const [nth, line] of added.lines.entries()) {
      const lineCid = contractOf.get(line.number) ?? null
      const { holder, causes } = judged[nth]!
      const waiting = lineCid === null ? [] : causes
      yield* LedgerRecord.open(
        distributionLines,
        {
          lineId: lineIdOf(distributionId, line.number),
          distributionId,
          instrumentId,
          month,
          holderId: holder?.holderId ?? null,
          party: line.holder,
          units: line.units,
          entitlement: line.entitlement,
          carryIn: line.carryIn,
          gross: line.gross,
          equalisation: line.equalisation,
          rate: line.rate,
          rateSource: line.rateSource,
          withheld: line.withheld,
          net: line.net,
          carryOut: line.carryOut,
          payoutUnits: line.payoutUnits,
          state: stateOf({ lineCid, waiting }),
          reason: lineCid === null ? line.carried : firstOf(waiting),
          carriedFrom: line.carriedFrom === null ? null : Month.of(line.carriedFrom),
          predecessor: predecessors.get(holder?.holderId ?? "") ?? null,
          ...unpaid,
          number: line.number,
          computedFor: { holderId: holder?.holderId ?? null, party: line.holder },
          payout,
          registrar,
          custodian: line.custodian,
          causes: waiting,
          lineCid,
          directed: lineCid === null ? null : { party: line.holder, waits: line.waits },
          visible: { version: 1, at: node.effectiveAt }
        },
        node
      )
    }
    // Holders may have been succeeded since the lines were computed.
    const succeeded = judged.flatMap(({ holder }) => (holder?.successor == null ? [] : [holder]))
    if (succeeded.length > 0) yield* judgeAgain(succeeded, node.act)
  })

/** End of the record date of the month executed before; of the first one, the begin of its month. */
const beginOf = Effect.fnUntraced(function* (self: Distribution) {
  const { instrumentId, month, recordEndsAt, zone } = self
  const before = yield* executedOf(instrumentId, null).pipe(
    Stream.filter((executed) => executed.month < month),
    Stream.runHead
  )
  return Option.match(before, {
    onNone: () => Instant.min(Zone.startOfDay(zone, Month.firstDay(month)), recordEndsAt),
    onSome: (executed) => executed.recordEndsAt
  })
})

const unpaid = {
  evidence: null,
  deliveredAt: null,
  paidOn: null,
  deliveredUid: null,
  delivery: null,
  rolledUid: null,
  lost: false
} as const

const stateOf = ({
  lineCid,
  waiting
}: {
  readonly lineCid: string | null
  readonly waiting: ReadonlyArray<unknown>
}): DistributionLine["state"] => {
  if (lineCid === null) return "carried"
  return waiting.length === 0 ? "due" : "suspended"
}

/** Sums the net of a distribution's suspended lines, with the changes of this transaction. */
export const netSuspended = Effect.fnUntraced(function* (distributionId: string) {
  const records = yield* Records
  const written = yield* linesWritten(distributionId)
  const nets = (yield* records.many(distributionLines, [...written]))
    .filter(({ state }) => state === "suspended")
    .map(({ net }) => net)
  const where = inStates(distributionId, ["suspended"])
  return yield* records.stream(distributionLines, { where }).pipe(
    Stream.filter(({ record }) => !written.has(record.lineId)),
    Stream.runFold(
      () => Decimal.sum(nets),
      (sum, { record }) => Decimal.add(sum, record.net)
    )
  )
})

// ---- directed, delivered, void

const looksOf = (payload: { readonly [name: string]: unknown }) => [
  { collection: distributionLines, id: String(payload["lineId"]) },
  { collection: distributions, id: String(payload["distributionId"]) }
]

const line: FromLedger = {
  ...TypedFromLedger.of(LineTemplate, {
    exercised: {
      Direct: ({ payload, argument, result }, node) =>
        lines.withRecord(payload.lineId, node, "direct", (self) =>
          lines.record(self, node, {
            on: "direct",
            at: node.effectiveAt,
            cid: result.contractId,
            party: argument.holder,
            waits: argument.waits
          })
        ),
      Deliver: ({ payload, argument, result }, node) =>
        lines.withRecord(payload.lineId, node, "deliver", (self) =>
          deliver(
            self,
            { cid: result.delivered, evidence: argument.evidence, party: payload.holder },
            node
          )
        ),
      Void: ({ payload, argument }, node) =>
        lines.move(payload.lineId, node, "void", () => ({
          on: "void",
          at: node.effectiveAt,
          uid: node.updateId,
          orderRef: argument.orderRef
        }))
    }
  }),
  looks: looksOf
}

interface Delivery {
  /** Contract of the delivered line. */
  readonly cid: string
  readonly evidence: Evidence | null
  /** Party that was paid, by the ledger. */
  readonly party: Party.Party
}

/**
 * Records a delivery, as the ledger has it. A delivery of a suspended line, under a hold, or to a
 * holder whose successor was not yet on the ledger is also recorded, as a breach, and so is evidence of
 * a day before the record date: nobody can have been paid then what is owed to the holders of that
 * date, so that the payment counts on the day of the delivery.
 */
const deliver = Effect.fnUntraced(function* (
  self: Stored<DistributionLine>,
  { cid, evidence, party }: Delivery,
  node: Node
) {
  const records = yield* Records
  const distribution = Option.getOrNull(yield* records.find(distributions, self.distributionId))
  if (distribution === null) throw new Error(`the line ${self.lineId} has no distribution`)
  const isEarly = isPaidEarly(evidence, distribution)
  const isStopped = self.state === "suspended" || distribution.state === "held"
  const breaches = [
    ...(isStopped
      ? [`The line was ${self.state}, and its distribution ${distribution.state}.`]
      : []),
    ...(party === self.party ? [] : [`The line was ${self.party}'s, and ${party} was paid.`]),
    ...(isEarly
      ? [
          `The evidence names ${evidence?.paidOn}, before the record date ${distribution.recordDate}.`
        ]
      : [])
  ]
  if (breaches.length > 0) {
    yield* lines.keepBreach(node, self.lineId, { on: "deliver", detail: breaches.join(" ") })
  }
  if (!lines.allows(self, "deliver")) return
  const paid = party === self.party ? self : yield* paidTo(self, party, node)
  yield* lines.record(paid, node, {
    on: "deliver",
    at: node.effectiveAt,
    uid: node.updateId,
    cid,
    evidence,
    // Ledger time never decreases, while the effective times of updates may, so that a day's
    // payments would change afterwards.
    paidOn:
      evidence === null || isEarly
        ? Zone.dateAt(distribution.zone, node.ledgerTime)
        : evidence.paidOn,
    delivery: { offset: node.offset, ledgerTime: node.ledgerTime }
  })
})

/**
 * Records that a line was paid to another holder than its record names: the registrar delivered it
 * after a recovery, before the venue had directed the line to the successor on the ledger.
 */
const paidTo = Effect.fnUntraced(function* (
  self: Stored<DistributionLine>,
  party: Party.Party,
  node: Node
) {
  const records = yield* Records
  const holder = Option.getOrNull(yield* records.find(holderParties, party))
  if (holder === null) throw new Error(`${self.lineId} follows a party that is no holder`)
  const { holderId } = holder
  const { custodian } = yield* records
    .get(holders, holderId)
    .pipe(Effect.catchTag("Refused", ({ slug }) => Effect.die(new Error(`${holderId}: ${slug}`))))
  const predecessor = self.computedFor.holderId
  const fact: Fact = { on: "follow", at: node.effectiveAt, holderId, party, custodian, predecessor }
  return yield* records.append<DistributionLine, Fact>(distributionLines, self, fact, node.act)
})

// ---- rolled

/** Choices that end a line. */
const enders: ReadonlySet<string> = new Set([
  `${key(DeliveredTemplate.typeRef)}:Roll`,
  `${key(LineTemplate.typeRef)}:Void`
])

const delivered: FromLedger = {
  ...TypedFromLedger.of(DeliveredTemplate, {
    exercised: {
      Roll: ({ payload }, node) =>
        lines.move(payload.lineId, node, "roll", () => ({
          on: "roll",
          at: node.effectiveAt,
          uid: node.updateId
        }))
    }
  }),
  looks: looksOf,
  whole: Effect.fn("DeliveredLine.whole")(function* (update) {
    const ids = update.events.flatMap((event) =>
      event._tag === "Exercised" && enders.has(`${key(event.template)}:${event.choice}`)
        ? [event.contractId]
        : []
    )
    if (ids.length > 0) yield* payRolled(update)
  })
}

/** Pays the distributions whose last delivered line this update rolled. */
const payRolled = Effect.fnUntraced(function* (update: Whole) {
  const records = yield* Records
  const written = yield* records.uncommitted(distributionLines, {
    column: "state",
    anyOf: ["rolled", "void"]
  })
  const ended = yield* records.many(distributionLines, written)
  for (const distributionId of new Set(ended.map((line) => line.distributionId))) {
    yield* payIfSettled(distributionId, { at: update.effectiveAt, act: update.act })
  }
})

export const fromLedger = [line, delivered] as const
