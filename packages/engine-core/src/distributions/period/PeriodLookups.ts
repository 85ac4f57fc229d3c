/**
 * Loads the arguments of the period rules at a pin: policy versions, price points, the register's
 * offset at the end of a record date, and the settings of deployment, policy and standing approval.
 */
import { Effect, Option, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { type PolicyVersion, policyVersions } from "../../instruments/policy/PolicyVersion.ts"
import { hasPlace } from "../../instruments/price/QuoteOrder.ts"
import { type PricePoint, pricePoints } from "../../instruments/price/PricePoint.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Month from "../../kernel/Month.ts"
import type * as Offset from "../../kernel/Offset.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { type Refused, refused, type Unavailable } from "../../kernel/Refusal.ts"
import type { LedgerEnd } from "../../kernel/LedgerEnd.ts"
import { LedgerReach } from "../../records/LedgerReach.ts"
import { Records } from "../../records/Records.ts"
import type { PartialDistribution, RateChange } from "../../vocabulary/sets.ts"
import { distributions } from "../distribution/Distribution.ts"
import { executedOf, lastExecuted } from "../distribution/DistributionLookups.ts"
import { distributionSlots } from "../distribution/DistributionSlot.ts"
import type { MonthFacts } from "./PeriodRules.ts"
import { hasPassed, mayHavePassed } from "./RecordDateRules.ts"

/** The instrument's last executed month, with the contracts of the points it was computed from. */
export interface LastExecuted {
  readonly month: Month.Month
  readonly recordDate: Date.Date
  /** Null for par without a point before its period. */
  readonly fromPoint: string | null
  readonly toPoint: string
  /** Record date of the last month that paid anything; null: none did. */
  readonly paidRecordDate: Date.Date | null
}

/** Finds the last executed month of an instrument at the pin; null: none is executed. */
export const lastExecutedOf: (
  instrumentId: string,
  pin?: Pin.ResolvedPin
) => Effect.Effect<LastExecuted | null, Unavailable, Records> = Effect.fnUntraced(
  function* (instrumentId, pin) {
    const last = yield* lastExecuted(instrumentId, pin ?? null)
    if (last === null) return null
    const paid = yield* Stream.runHead(
      executedOf(instrumentId, pin ?? null).pipe(
        Stream.filter(({ totals }) => Decimal.isPositive(totals.gross))
      )
    )
    const { month, recordDate, fromPoint, toPoint } = last
    const paidRecordDate = Option.getOrNull(paid)?.recordDate ?? null
    return { month, recordDate, fromPoint, toPoint, paidRecordDate }
  }
)

export type PeriodFacts = MonthFacts<PricePoint, PolicyVersion>

interface FactsAsked {
  readonly instrumentId: string
  readonly executed: LastExecuted | null
}

/** Loads the facts of an instrument's periods at the pin; the latest when absent. */
export const factsOf: (
  instrument: FactsAsked,
  pin?: Pin.ResolvedPin
) => Effect.Effect<PeriodFacts, Unavailable, Records> = Effect.fnUntraced(
  function* (instrument, pin) {
    const { executed } = instrument
    const versions = yield* versionsOf(instrument.instrumentId, pin)
    if (executed === null) {
      return { versions, executed, points: yield* pointsOf(instrument, { versions, pin }) }
    }
    const fromPoint = executed.fromPoint === null ? null : yield* pointOf(executed.fromPoint, pin)
    const toPoint = yield* pointOf(executed.toPoint, pin)
    const recent = yield* pointsOf(instrument, { versions, pin, since: sinceOf(executed, toPoint) })
    // The point before the next period is this one or a later one, unless it was withdrawn.
    const isOfficial = toPoint.isLive && toPoint.correctedBy === null
    return {
      versions,
      points: isOfficial ? recent : yield* pointsOf(instrument, { versions, pin }),
      executed: { ...executed, fromPoint, toPoint }
    }
  }
)

/**
 * Loads the facts of several instruments' periods at the pin, by instrument: a few look-ups for all.
 * The points before an instrument's last executed month are left out where no period reads them. An
 * instrument whose last month a snapshot of the ledger showed without its distribution is left out.
 */
export const factsOfAll = Effect.fnUntraced(function* (
  instrumentIds: ReadonlyArray<string>,
  pin: Pin.ResolvedPin
) {
  const facts = new Map<string, PeriodFacts>()
  if (instrumentIds.length === 0) return facts
  const records = yield* Records
  const versionsBy = Map.groupBy(
    yield* versionsIn(instrumentIds, pin),
    ({ instrumentId }): string => instrumentId
  )
  const slots = yield* records.many(distributionSlots, instrumentIds, pin)
  const slotOf = new Map(slots.map((slot) => [slot.instrumentId as string, slot]))
  const last = yield* records.many(
    distributions,
    slots.flatMap(({ distributionId }) => distributionId ?? []),
    pin
  )
  const lastOf = new Map(last.map((each) => [each.instrumentId as string, each]))
  const named = last.flatMap(({ fromPoint, toPoint }) => [fromPoint ?? [], toPoint].flat())
  const points = yield* records.many(pricePoints, [...new Set(named)], pin)
  const pointBy = new Map(points.map((point) => [point.contractId as string, point]))
  const pointOf = (contractId: string): PricePoint => {
    const point = pointBy.get(contractId)
    if (point !== undefined) return point
    throw new Error(`the point ${contractId} of a distribution has no record`)
  }
  const instrumentFacts = instrumentIds.flatMap((instrumentId) => {
    const slot = slotOf.get(instrumentId)
    if (slot !== undefined && slot.lastMonth !== null && slot.distributionId === null) return []
    const month = lastOf.get(instrumentId)
    const executed =
      month === undefined
        ? null
        : {
            month: month.month,
            recordDate: month.recordDate,
            fromPoint: month.fromPoint === null ? null : pointOf(month.fromPoint),
            toPoint: pointOf(month.toPoint)
          }
    return [{ instrumentId, versions: versionsBy.get(instrumentId) ?? [], executed }]
  })
  // The point before the next period is the last one paid or a later one, unless it was withdrawn.
  const isRecent = ({ executed }: (typeof instrumentFacts)[number]) =>
    executed !== null && executed.toPoint.isLive && executed.toPoint.correctedBy === null
  const recent = instrumentFacts.filter(isRecent)
  const since = recent
    .flatMap(({ executed }) => executed?.toPoint.valuationTime ?? [])
    .reduce<Instant.Instant | undefined>(
      (first, at) => (first === undefined ? at : Instant.min(first, at)),
      undefined
    )
  const found = [
    ...(yield* pointsIn(recent, { pin, ...(since === undefined ? {} : { since }) })),
    ...(yield* pointsIn(
      instrumentFacts.filter((each) => !isRecent(each)),
      { pin }
    ))
  ]
  const pointsBy = Map.groupBy(found, ({ instrumentId }): string => instrumentId)
  for (const { instrumentId, versions, executed } of instrumentFacts) {
    facts.set(instrumentId, { versions, executed, points: pointsBy.get(instrumentId) ?? [] })
  }
  return facts
})

/** States of the policy versions that periods count: all but withdrawn ones. */
export const counted = ["scheduled", "current", "superseded"] as const satisfies ReadonlyArray<
  PolicyVersion["state"]
>

/** Loads the policy versions of an instrument that are, were or will be in force, oldest first. */
export const versionsOf: (
  instrumentId: string,
  pin?: Pin.ResolvedPin
) => Effect.Effect<ReadonlyArray<PolicyVersion>, Unavailable, Records> = (instrumentId, pin) =>
  versionsIn([instrumentId], pin)

const versionsIn = Effect.fnUntraced(function* (
  instrumentId: ReadonlyArray<string>,
  pin: Pin.ResolvedPin | undefined
) {
  const records = yield* Records
  const rows = yield* Stream.runCollect(
    records.stream(policyVersions, {
      ...(pin === undefined ? {} : { pin }),
      where: { instrumentId, state: [...counted] }
    })
  )
  return rows.map(({ record }): PolicyVersion => record)
})

/**
 * First valuation time of the points that the next periods read: the last point of the last executed
 * month, and the day after the record date of the last payout, after which the price goes ex.
 */
const sinceOf = (
  { paidRecordDate }: LastExecuted,
  { valuationTime }: PricePoint
): Instant.Instant =>
  paidRecordDate === null
    ? valuationTime
    : // No zone begins a day more than a day before UTC does.
      Instant.min(valuationTime, Instant.fromDate(Date.addDays(paidRecordDate, -1)))

interface PointsAsked {
  readonly pin: Pin.ResolvedPin | undefined
  readonly since?: Instant.Instant
}

const pointsOf = (
  { instrumentId }: FactsAsked,
  { versions, ...points }: PointsAsked & { readonly versions: ReadonlyArray<PolicyVersion> }
) => pointsIn([{ instrumentId, versions }], points)

/** Loads the points of every oracle that a version names, valued at `since` or later. */
const pointsIn = Effect.fnUntraced(function* (
  instruments: ReadonlyArray<{
    readonly instrumentId: string
    readonly versions: ReadonlyArray<PolicyVersion>
  }>,
  { pin, since }: PointsAsked
) {
  const versions = instruments.flatMap((each) => each.versions)
  const source = [...new Set(versions.flatMap(({ manifest: { oracle } }) => oracle ?? []))]
  if (source.length === 0) return []
  const records = yield* Records
  const rows = yield* Stream.runCollect(
    records.stream(pricePoints, {
      ...(pin === undefined ? {} : { pin }),
      where: { instrumentId: instruments.map(({ instrumentId }) => instrumentId), source },
      ...(since === undefined
        ? {}
        : { ranges: { valuationTime: { from: Instant.sortable(since) } } })
    })
  )
  const judged = pin ?? { judgedAt: yield* Instant.now }
  return rows.map(({ record }): PricePoint => record).filter((point) => hasPlace(point, judged))
})

const pointOf = Effect.fnUntraced(function* (contractId: string, pin: Pin.ResolvedPin | undefined) {
  const records = yield* Records
  const found = yield* records.find(pricePoints, contractId, pin)
  if (Option.isSome(found)) return found.value
  return yield* Effect.die(new Error(`the point ${contractId} of a distribution has no record`))
})

/**
 * Finds the offset at which the register of record is read: the last one whose ledger time is before
 * the record date's end. Refuses `before-horizon` where the history begins after it, by a snapshot
 * or after pruning.
 */
export const recordOffsetOf: (
  recordEndsAt: Instant.Instant
) => Effect.Effect<Offset.Offset, Refused<"before-horizon"> | Unavailable, LedgerReach> =
  Effect.fnUntraced(function* (recordEndsAt) {
    const { offsetBefore } = yield* LedgerReach
    const found = yield* offsetBefore(recordEndsAt)
    if (Option.isSome(found)) return found.value
    return yield* Effect.fail(
      refused("before-horizon", {
        detail: "The register at the end of the record date is before the history of the ledger."
      })
    )
  })

/** Judgement of a record date, passed or not, and the end of the ledger that decided it. */
interface Passage {
  readonly hasPassed: boolean
  /** Null: the clock, or the projection's own ledger time, decides without it. */
  readonly ledgerEnd: LedgerEnd | null
}

/**
 * Judges whether a record date has passed for clock, ledger and projection. Asks the ledger for its
 * end only where neither the projection's own ledger time nor the end that an earlier judgement
 * asked for decides it: an end that sufficed once suffices for good, and no later update of the
 * venue's own moves it (docs/domain/distributions.md#dates).
 */
export const passageOf: (
  recordEndsAt: Instant.Instant,
  judgement: {
    readonly now: Instant.Instant
    /** End of the ledger that an earlier judgement of the same act rested on. */
    readonly ledgerEnd?: LedgerEnd
  }
) => Effect.Effect<Passage, Unavailable, LedgerReach> = Effect.fnUntraced(function* (
  recordEndsAt,
  { now, ledgerEnd: earlier }
) {
  if (!mayHavePassed({ recordEndsAt, now })) return { hasPassed: false, ledgerEnd: null }
  const reach = yield* LedgerReach
  const projected = yield* reach.projected
  const passing = { recordEndsAt, now, projected }
  if (hasPassed({ ...passing, ledgerEnd: null })) return { hasPassed: true, ledgerEnd: null }
  if (earlier !== undefined && hasPassed({ ...passing, ledgerEnd: earlier })) {
    return { hasPassed: true, ledgerEnd: earlier }
  }
  const ledgerEnd = yield* reach.ledgerEnd
  return {
    hasPassed: hasPassed({ ...passing, projected: yield* reach.projected, ledgerEnd }),
    ledgerEnd
  }
})

/** Checks whether a record date has passed, where nobody has judged the month before. */
export const recordDatePassed = (
  recordEndsAt: Instant.Instant,
  { now }: { readonly now: Instant.Instant }
): Effect.Effect<boolean, Unavailable, LedgerReach> =>
  Effect.map(passageOf(recordEndsAt, { now }), (passage) => passage.hasPassed)

/** Settings for differing rates and for unrolled lines, of which the strictest applies. */
export interface PeriodSettings {
  readonly rateChange: ReadonlyArray<RateChange>
  readonly partial: ReadonlyArray<PartialDistribution>
}

/** Settings of a standing approval, for an execution by the scheduler alone. */
interface ApprovalSettings {
  readonly rateChange: RateChange
  readonly partial: PartialDistribution
}

type Deployment = Pick<typeof Settings.Service, "rateChange" | "partialDistribution">

/** Gathers the settings of the deployment, of the policy version that pays, and of an approval. */
export const settingsBy = (
  { rateChange, partialDistribution }: Deployment,
  { manifest }: Pick<PolicyVersion, "manifest">,
  approval: ApprovalSettings | null
): PeriodSettings => ({
  rateChange: [
    rateChange,
    manifest.rateChange,
    ...(approval === null ? [] : [approval.rateChange])
  ],
  partial: [
    partialDistribution,
    manifest.partialDistribution,
    ...(approval === null ? [] : [approval.partial])
  ]
})

/** Gathers the settings, with the deployment's own from the service. */
export const settingsOf = (
  version: Pick<PolicyVersion, "manifest">,
  approval: ApprovalSettings | null
): Effect.Effect<PeriodSettings> =>
  Effect.map(Settings, (settings) => settingsBy(settings, version, approval))
