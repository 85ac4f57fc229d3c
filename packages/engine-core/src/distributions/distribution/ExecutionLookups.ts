/**
 * Look-ups for judging and computing an execution: the period and its points, the settings of
 * deployment and policy, earlier distributions, and the figures of all lines.
 */
import { Effect, Option, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import {
  instruments,
  type InstrumentId,
  type RecordedInstrument
} from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import type { PolicyVersion } from "../../instruments/policy/PolicyVersion.ts"
import { type PricePoint, pricePoints } from "../../instruments/price/PricePoint.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Month from "../../kernel/Month.ts"
import type * as Zone from "../../kernel/Zone.ts"
import type { OperationAct } from "../../records/Act.ts"
import type { LedgerEnd } from "../../kernel/LedgerEnd.ts"
import { LedgerReach } from "../../records/LedgerReach.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as HoldRules from "../../restraints/hold/HoldRules.ts"
import { openOn } from "../../restraints/hold/OpenHoldLookups.ts"
import { idOf as idOfMonth } from "../period/Calendar.ts"
import * as PeriodLookups from "../period/PeriodLookups.ts"
import {
  accrualsOf,
  datedPoints,
  type DatedPoint,
  officialPoints,
  ratesSeen as ratesSeenOf
} from "../period/PeriodPointRules.ts"
import {
  firstPointAfter,
  openPeriods,
  type Payout,
  type Period,
  placeOf
} from "../period/PeriodRules.ts"
import { datesOf } from "../period/PeriodTermsRules.ts"
import { areRates } from "../period/RateChangeRules.ts"
import { endOfDay } from "../period/RecordDateRules.ts"
import { type Distribution, distributions } from "./Distribution.ts"
import { executedOf, slotOf } from "./DistributionLookups.ts"
import type { ExecutionFacts } from "./ExecutionGates.ts"
import * as LineFigureLookups from "./LineFigureLookups.ts"
import * as LineLookups from "./LineLookups.ts"
import { type LineSource, termsOf } from "./LineSource.ts"
import { termsOf as termsOfPolicy } from "../../instruments/policy/Policy.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import { scheduledDistributions } from "../schedule/ScheduledDistribution.ts"
import { openOf } from "../standing-approval/StandingApprovalLookups.ts"

interface ExecutionRequest {
  readonly instrumentId: InstrumentId
  readonly month: Month.Month
  readonly acknowledgedRate: Decimal.Decimal | null
}

type TheirPeriod = Period<PricePoint, PolicyVersion>

/** Figures of a period, with all inputs of its lines. */
export interface ComputedPeriod {
  readonly period: TheirPeriod
  readonly source: LineSource
  readonly figures: LineFigureLookups.Figures
  readonly fromPrice: Decimal.Decimal | null
  readonly toPrice: Decimal.Decimal
  readonly payoutPrice: Decimal.Decimal | null
}

/** An execution whose month is not executed and has no other operation at work. */
export interface Execution {
  readonly instrument: RecordedInstrument
  readonly judging: ExecutionFacts
  /** End of the ledger at which the record date was found to have passed; null: it was not asked. */
  readonly ledgerEnd: LedgerEnd | null
  /** Null where an earlier condition refuses, so that the figures are not computed. */
  readonly computed: ComputedPeriod | null
}

/** Loads the facts that an execution is judged by, and computes its figures where it has some. */
export const executionOf = Effect.fnUntraced(function* (
  request: ExecutionRequest,
  act: OperationAct
) {
  const records = yield* Records
  const { instrumentId, month } = request
  const found = yield* records.get(instruments, instrumentId)
  const holds = yield* openOn([instrumentId])
  const instrument = yield* Effect.fromResult(
    recorded(found, [HoldRules.against(holds, "distribution")])
  )
  const slot = yield* slotOf(instrumentId, null)
  const previous = yield* previousOf(slot?.distributionId ?? null)
  const paid = yield* lastPaid(instrumentId)
  const facts = yield* PeriodLookups.factsOf({
    instrumentId,
    executed:
      previous === null
        ? null
        : {
            month: previous.month,
            recordDate: previous.recordDate,
            fromPoint: previous.fromPoint,
            toPoint: previous.toPoint,
            paidRecordDate: paid?.recordDate ?? null
          }
  })
  const periods = openPeriods(facts, month)
  const period = periods.find((open) => open.month === month) ?? null
  const dates = datesOf(facts.versions, month) ?? null
  const terms = period?.terms ?? dates?.terms ?? instrument
  const isScheduled = act.role === null
  const approval = isScheduled ? yield* openOf(instrumentId) : null
  const { rateChange, partial } = yield* PeriodLookups.settingsOf(terms, approval)
  const ratesSeen = period === null ? [] : ratesSeenOf(period.points)
  const passage = dates === null ? null : yield* passageOf({ instrumentId, ...dates }, act)
  const recordDatePassed = passage?.hasPassed ?? false
  const ledgerEnd = passage?.hasPassed === true ? passage.ledgerEnd : null
  const { linesMax } = yield* Settings
  const isKnown = slot === null || slot.distributionId !== null
  const judging: ExecutionFacts = {
    holds,
    policyVersion: terms.policyVersion,
    month,
    isMonthly: dates !== null,
    place: placeOf(facts, month),
    nextMonth: periods[0]?.month ?? null,
    unsealedMonth: previous === null || previous.sealedAt !== null ? null : previous.month,
    lastPayout:
      period === null || paid === null
        ? null
        : yield* payoutOf(paid, { facts, zone: period.zone, valuation: terms.manifest.valuation }),
    ratesSeen,
    acknowledgedRate: request.acknowledgedRate,
    rateChange,
    partial,
    hasUnrolled: yield* LineLookups.hasUnrolled(instrumentId, null),
    scheduled: isScheduled ? { approval, net: Decimal.zero } : null,
    recordDate: dates?.recordDate ?? null,
    recordDatePassed,
    feed: yield* feedOf({ instrumentId, terms: termsOfPolicy(terms) }, period, act.now),
    isHistoryWhole: isKnown,
    linesMax,
    fitsLinesMax: true
  }
  const isComputable =
    period !== null &&
    recordDatePassed &&
    isKnown &&
    judging.place === "next" &&
    areRates(ratesSeen)
  if (!isComputable || judging.unsealedMonth !== null) {
    return { instrument, judging, ledgerEnd, computed: null } satisfies Execution
  }
  const source = yield* sourceOf({ instrument, period, previous, ratesSeen }, act)
  if (source === null) {
    return { instrument, judging: { ...judging, isHistoryWhole: false }, ledgerEnd, computed: null }
  }
  const { batchLines } = yield* Settings
  const figures = yield* LineFigureLookups.figuresOf(source, { batchLines, linesMax })
  const computed: ComputedPeriod = {
    period,
    source: { ...source, partyOffsets: figures.partyOffsets },
    figures,
    ...pricesOf(period)
  }
  return {
    instrument,
    judging: {
      ...judging,
      fitsLinesMax: !figures.isCut,
      scheduled: isScheduled ? { approval, net: figures.totals.net } : null
    },
    ledgerEnd,
    computed
  } satisfies Execution
})

/**
 * Judges whether the record date has passed. The scheduler records a month once it has: for the same
 * end of the same month that record decides for good.
 */
const passageOf = Effect.fnUntraced(function* (
  period: { readonly instrumentId: InstrumentId } & Pick<TheirPeriod, "month" | "recordEndsAt">,
  act: OperationAct
) {
  const { recordEndsAt } = period
  const records = yield* Records
  const scheduled = Option.getOrNull(yield* records.find(scheduledDistributions, idOfMonth(period)))
  if (scheduled !== null && Instant.equals(scheduled.recordEndsAt, recordEndsAt)) {
    return { hasPassed: true, ledgerEnd: null }
  }
  return yield* PeriodLookups.passageOf(recordEndsAt, act)
})

const previousOf = Effect.fnUntraced(function* (distributionId: string | null) {
  if (distributionId === null) return null
  const records = yield* Records
  return Option.getOrNull(yield* records.find(distributions, distributionId))
})

/** Finds the last distribution of an instrument with a gross above 0. */
const lastPaid = (instrumentId: string) =>
  Effect.map(
    Stream.runHead(
      executedOf(instrumentId, null).pipe(
        Stream.filter(({ totals }) => Decimal.isPositive(totals.gross))
      )
    ),
    Option.getOrNull
  )

interface AfterPayout {
  readonly facts: PeriodLookups.PeriodFacts
  readonly zone: Zone.Zone
  readonly valuation: string
}

/** Loads the prices around a payout of an accumulating instrument; null before a later point. */
const payoutOf = Effect.fnUntraced(function* (
  { fromPoint, toPoint, recordDate }: Stored<Distribution>,
  { facts, zone, valuation }: AfterPayout
) {
  if (valuation !== "accumulating" || fromPoint === null) return null
  const records = yield* Records
  const found = yield* records.many(pricePoints, [fromPoint, toPoint])
  const priceOf = (cid: string) => found.find(({ contractId }) => contractId === cid)?.price
  const dated = datedPoints(officialPoints(facts.points, facts.versions), zone)
  const first = firstPointAfter(dated, recordDate)
  const [exPrice, cumPrice] = [priceOf(fromPoint), priceOf(toPoint)]
  if (first === undefined) return null
  if (exPrice === undefined || cumPrice === undefined) {
    return yield* Effect.die(new Error("a point of a distribution has no record"))
  }
  return { exPrice, cumPrice, firstPrice: first.point.price } satisfies Payout
})

/** Judges the last point of an accumulating instrument, at whose price the period ends. */
const feedOf = (
  fed: NavFeedLookups.InstrumentTerms,
  period: TheirPeriod | null,
  now: Instant.Instant
) =>
  period === null || fed.terms.manifest.valuation !== "accumulating"
    ? Effect.succeed("none" as const)
    : NavFeedLookups.verdictOn(fed, { point: period.toPoint, pricing: "forward" }, now)

/** Prices of a period; the payout price is null where no units are paid. */
const pricesOf = ({ fromPoint, terms, toPoint }: TheirPeriod) => {
  const { distribution, parValue, valuation } = terms.manifest
  const fromPrice = fromPoint?.price ?? null
  const unitPrice = { par: parValue, accumulating: fromPrice, rebasing: null }[valuation]
  return {
    fromPrice,
    toPrice: toPoint.price,
    payoutPrice: distribution.payout === "units" ? unitPrice : null
  }
}

interface Pricing {
  readonly instrument: RecordedInstrument
  readonly period: TheirPeriod
  readonly previous: Stored<Distribution> | null
  readonly ratesSeen: ReadonlyArray<Decimal.Decimal>
}

/** Loads the pins of an execution; null where the history does not reach back to them. */
const sourceOf = Effect.fnUntraced(function* (
  { instrument, period, previous, ratesSeen }: Pricing,
  act: OperationAct
) {
  const reach = yield* LedgerReach
  const { instrumentId, registrar } = instrument
  const { recordEndsAt } = period
  const { distribution, unitDecimals, valuation } = period.terms.manifest
  const recordOffset = yield* reach.offsetBefore(recordEndsAt)
  if (Option.isNone(recordOffset)) return null
  const points: Array<LineSource["points"][number]> = []
  for (const { date, days, point } of valuation === "par" ? accrualsOf(period) : []) {
    const offset = yield* reach.offsetBefore(endOfDay(period.zone, date))
    if (Option.isNone(offset) || point.incomePerUnit === null) return null
    const { contractId, incomePerUnit: income } = point
    points.push({ contractId, income, days, offset: offset.value })
  }
  const { offset: executedOffset } = yield* reach.projected
  const unrolled = yield* LineLookups.unrolledIn(instrumentId, null)
  return {
    instrumentId,
    registrar,
    unitDecimals,
    terms: termsOf({
      valuation,
      ...pricesOf(period),
      payoutDecimals: distribution.payoutDecimals,
      unitDecimals
    }),
    ratesSeen,
    withholding: distribution.withholding,
    recordOffset: recordOffset.value,
    recordEndsAt,
    executedOffset,
    executedAt: act.now,
    points,
    previous:
      previous === null ? null : { distributionId: previous.distributionId, month: previous.month },
    unrolledIn: [...unrolled.keys()].toSorted(),
    partyOffsets: []
  } satisfies LineSource
})

/** Contracts of the points that the figures and the rates of a period are from, by date. */
export const pointsOf = (
  { before, fromPoint, points, terms }: TheirPeriod,
  { points: accruing }: LineSource
): ReadonlyArray<string> => {
  const isAccruing =
    before !== null && accruing.some(({ contractId }) => contractId === before.point.contractId)
  const first =
    terms.manifest.valuation === "par"
      ? isAccruing
        ? [before.point.contractId]
        : []
      : fromPoint === null
        ? []
        : [fromPoint.contractId]
  return [
    ...new Set([...first, ...points.map(({ point }: DatedPoint<PricePoint>) => point.contractId)])
  ]
}
