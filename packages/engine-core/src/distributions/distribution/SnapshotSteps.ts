/**
 * Opens the records of distributions and lines that a snapshot of the ledger shows, once their
 * instrument is recorded (docs/domain/distributions.md#after-a-snapshot).
 */
import { Effect, Option, Stream } from "effect"
import { itemOf as runItemOf } from "../../findings/RunQueue.ts"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { LfRecord } from "../../ports/Ledger.ts"
import {
  type ActiveOf,
  projected,
  type TypedContract,
  typedOf
} from "../../projection/ActiveContracts.ts"
import { contracts } from "../../projection/Contract.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { lock, onceRecorded } from "../../instruments/instrument/AwaitingTermsSteps.ts"
import { lockRestrictions } from "../../restraints/restriction/RestrictionLookups.ts"
import * as Templates from "../../templates/Distribution.ts"
import { type Distribution, distributions, shownDistributions } from "./Distribution.ts"
import { distributionContracts } from "./DistributionContract.ts"
import {
  isPaidEarly,
  type DistributionLine,
  distributionLines,
  lineIdOf,
  firstOf
} from "./DistributionLine.ts"
import { distributionSlots } from "./DistributionSlot.ts"
import { setTimers } from "./DistributionTimerSteps.ts"
import { opening } from "./ExecutedTermsLookups.ts"
import { judgeAll } from "./LineCauseLookups.ts"

/** Number of lines whose holders, restrictions and admissions are looked up together. */
const linesMax = 1_000

/**
 * Opens the distributions of an instrument that the ledger shows and no record has, with those of
 * their lines that are owed or delivered, and asks for a run. Writes nothing for an instrument that
 * is not recorded, or of which no snapshot showed a slot. Only inside `Records.transact`.
 */
export const openShown = (
  instrumentId: string,
  shownOf: ActiveOf,
  act: Act
): Effect.Effect<void, Unavailable, Records> =>
  Effect.gen(function* () {
    const records = yield* Records
    const slot = Option.getOrNull(yield* records.find(distributionSlots, instrumentId))
    if (slot === null || slot.distributionId !== null) return
    const instrument = Option.getOrNull(yield* records.find(instruments, instrumentId))
    if (instrument === null || !isRecorded(instrument)) return
    // Readings take this lock too, and leave out updates of a line until these steps have opened
    // it.
    yield* lock(instrumentId)
    const { registrar } = instrument
    const venue = yield* venueOf(slot.slotCid)
    const ours: ActiveOf = (template) =>
      Stream.filter(shownOf(template), ({ payload }) => payload["venue"] === venue)
    const executed = (yield* Stream.runCollect(typedOf(Templates.Distribution, ours)))
      .filter(({ typed }) => typed.instrument.id === instrumentId)
      .filter(({ typed }) => typed.instrument.admin === registrar)
      .toSorted((a, b) => (a.typed.month < b.typed.month ? -1 : 1))
    yield* lockRestrictions
    const opened = new Map<string, Distribution>()
    for (const each of executed) {
      const self = yield* openDistribution(each, act)
      if (self !== null) opened.set(self.distributionId, self)
    }
    yield* eachLine(Templates.DistributionLine, { activeOf: ours, opened }, (lines) =>
      openOwed(lines, act)
    )
    yield* eachLine(Templates.DeliveredLine, { activeOf: ours, opened }, (lines) =>
      openDelivered(lines, act)
    )
    const latest = [...opened.values()].at(-1)
    if (latest === undefined) return
    const { distributionId } = latest
    const { slotCid, lastMonth } = slot
    const fact = { on: "execute", slotCid, lastMonth, distributionId } as const
    yield* records.append(distributionSlots, slot, fact, act)
    yield* setTimers(opened.keys(), act)
    yield* records.enqueue([
      runItemOf({ trigger: "schedule", instrumentId, causedBy: distributionId })
    ])
  })

/** Loads the venue that a slot of this projection names; contracts of another venue are not read. */
const venueOf = Effect.fnUntraced(function* (slotCid: string) {
  const records = yield* Records
  const contract = Option.getOrNull(yield* records.find(contracts, slotCid))
  if (contract === null) throw new Error("the contract of a distribution slot has no record")
  return (contract.payload as LfRecord)["venue"]
})

// ---- distributions

/** Opens a distribution as executed: only a run of this store clears it. */
const openDistribution = Effect.fnUntraced(function* (
  { contractId: cid, createdAt, typed }: TypedContract<typeof Templates.Distribution>,
  act: Act
) {
  const { lineCount, open: isOpen, sealed: isSealed, totals } = typed
  const offset = Snapshot.offsetOf(act)
  const record = yield* opening(typed, { operationId: null, effectiveAt: createdAt, offset })
  if (record === null) return null
  const { distributionId, payout } = record
  const index = { distributionId, cid, lineCount, isSealed, isOpen }
  yield* LedgerRecord.open(distributionContracts, index, { act })
  const self: Distribution = {
    ...record,
    sealedAt: isSealed ? createdAt : null,
    totals: {
      ...record.totals,
      holders: lineCount,
      entitlement: totals.entitlement,
      gross: totals.gross,
      equalisation: totals.equalisation,
      withheld: totals.withheld,
      net: totals.net,
      payoutUnits: payout === "units" ? totals.payoutUnits : null,
      carried: totals.carryOut
    }
  }
  yield* LedgerRecord.open(shownDistributions, self, { act })
  return yield* LedgerRecord.open(distributions, self, { act })
})

// ---- lines

type LineTemplate = typeof Templates.DistributionLine | typeof Templates.DeliveredLine

interface Line<T extends LineTemplate> extends TypedContract<T> {
  readonly self: Distribution
}

/** Runs `open` on the lines of these distributions, a page at a time. */
const eachLine = <T extends LineTemplate>(
  template: T,
  from: { readonly activeOf: ActiveOf; readonly opened: ReadonlyMap<string, Distribution> },
  open: (lines: ReadonlyArray<Line<T>>) => Effect.Effect<void, Unavailable, Records>
) =>
  typedOf(template, from.activeOf).pipe(
    Stream.flatMap((line) => {
      const self = from.opened.get(line.typed.distributionId)
      return self === undefined ? Stream.empty : Stream.make({ ...line, self })
    }),
    Stream.grouped(linesMax),
    Stream.runForEach(open)
  )

/**
 * Members that the contract of a line does not state. The entitlement is set to the gross, without
 * carries.
 */
const linedOf = (
  { self, typed, contractId }: Line<LineTemplate>,
  holderId: string | null
): Omit<DistributionLine, "state"> => {
  const { distributionId, instrumentId, month, payout, registrar } = self
  const { gross, holder: party, net, withheld } = typed
  const number = Number(typed.lineId.slice(distributionId.length + 1))
  return {
    lineId: lineIdOf(distributionId, number),
    distributionId,
    instrumentId,
    month,
    holderId,
    party,
    units: typed.units,
    entitlement: gross,
    carryIn: Decimal.zero,
    gross,
    equalisation: Decimal.zero,
    rate: self.withholding,
    rateSource: "default",
    withheld,
    net,
    carryOut: Decimal.zero,
    payoutUnits: typed.payoutUnits,
    reason: null,
    carriedFrom: null,
    predecessor: null,
    evidence: null,
    deliveredAt: null,
    paidOn: null,
    deliveredUid: null,
    delivery: null,
    rolledUid: null,
    lost: false,
    number,
    computedFor: { holderId, party },
    payout,
    registrar,
    custodian: typed.custodian,
    causes: [],
    lineCid: contractId,
    directed: null,
    visible: { version: 1, at: self.executedAt }
  }
}

/** Judges the lines at the instant of the act: of each its holder, and the causes that suspend it. */
const judgeLines = (lines: ReadonlyArray<Line<LineTemplate>>, act: Act) =>
  judgeAll(
    lines.map(({ self: { instrumentId, payout }, typed: { holder: party } }) => ({
      party,
      instrumentId,
      payout
    })),
    act.now
  )

const openOwed = Effect.fnUntraced(function* (
  lines: ReadonlyArray<Line<typeof Templates.DistributionLine>>,
  act: Act
) {
  const judged = yield* judgeLines(lines, act)
  for (const [nth, line] of lines.entries()) {
    const { causes, holder } = judged[nth]!
    const { holder: party, waits } = line.typed
    yield* LedgerRecord.open(
      distributionLines,
      {
        ...linedOf(line, holder?.holderId ?? null),
        state: causes.length === 0 ? "due" : "suspended",
        causes,
        reason: firstOf(causes),
        directed: { party, waits }
      },
      { act }
    )
  }
})

const openDelivered = Effect.fnUntraced(function* (
  lines: ReadonlyArray<Line<typeof Templates.DeliveredLine>>,
  act: Act
) {
  const judged = yield* judgeLines(lines, act)
  for (const [nth, line] of lines.entries()) {
    const { deliveredAt, evidence } = line.typed
    yield* LedgerRecord.open(
      distributionLines,
      {
        ...linedOf(line, judged[nth]!.holder?.holderId ?? null),
        state: "delivered",
        evidence,
        deliveredAt,
        paidOn:
          evidence === null || isPaidEarly(evidence, line.self)
            ? Zone.dateAt(line.self.zone, deliveredAt)
            : evidence.paidOn,
        deliveredUid: Snapshot.updateId
      },
      { act }
    )
  }
})

// ---- the instrument is recorded after the snapshot

const atRecording = onceRecorded(
  "Opens the distributions that a snapshot of the ledger showed, once their instrument is recorded.",
  (instrumentId, act) => openShown(instrumentId, projected, act)
)

export const consequences = [atRecording] as const
