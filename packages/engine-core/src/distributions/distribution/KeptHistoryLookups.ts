/**
 * Look-ups of the history that distributions still read at earlier offsets, and that retention
 * therefore keeps (docs/domain/distributions.md#kept-history).
 */
import { Effect, Option, Stream } from "effect"
import type { HistoryKeeper } from "../../feeds/HistoryKeeper.ts"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import type { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import * as Offset from "../../kernel/Offset.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import * as Zone from "../../kernel/Zone.ts"
import { LedgerReach } from "../../records/LedgerReach.ts"
import { Records } from "../../records/Records.ts"
import { factsOf } from "../period/PeriodLookups.ts"
import { openPeriods } from "../period/PeriodRules.ts"
import { earliestOf } from "../period/Calendar.ts"
import { datesOf } from "../period/PeriodTermsRules.ts"
import { type Distribution, distributions } from "./Distribution.ts"
import { slotOf } from "./DistributionLookups.ts"
import { distributionPlans, sourceOfPlan } from "./DistributionPlan.ts"
import { unrolledIn } from "./LineLookups.ts"
import { offsetsOf } from "./PayeeLookups.ts"

type Lowest = Option.Option<Offset.Offset>

const lowestOf = (offsets: ReadonlyArray<Offset.Offset>): Lowest =>
  offsets.length === 0 ? Option.none() : Option.some(offsets.reduce(Offset.min))

/**
 * Keeps the whole history that is left: the offsets that are read again lie before it, or may lie
 * anywhere in it.
 */
const allThatIsLeft = Offset.zero

/**
 * Finds the lowest offset at which the units of these distributions' lines are read again; none
 * where they have no plan, like a distribution that a snapshot of the ledger showed.
 */
export const lowestRead: (
  distributionIds: ReadonlyArray<string>
) => Effect.Effect<Lowest, Unavailable, Records> = Effect.fnUntraced(function* (distributionIds) {
  const records = yield* Records
  const found: ReadonlyArray<Distribution> = yield* records.many(distributions, distributionIds)
  const plans = yield* records.many(
    distributionPlans,
    found.flatMap(({ executedBy: { operationId } }) => operationId ?? [])
  )
  return lowestOf(plans.flatMap((plan) => offsetsOf(sourceOfPlan(plan))))
})

/**
 * Finds the lowest offset that the open distributions of an instrument read again, and those with a
 * line that is not rolled; while it distributes, also what its next month reads.
 */
const lowestOfInstrument = Effect.fnUntraced(function* (
  instrumentId: InstrumentId,
  { isMonthly }: { readonly isMonthly: boolean }
) {
  const records = yield* Records
  const open = yield* Stream.runCollect(
    records.ids(distributions, { where: { open: [instrumentId] } })
  )
  const unrolled = yield* unrolledIn(instrumentId, null)
  const slot = yield* slotOf(instrumentId, null)
  const lowest = yield* lowestRead([...new Set([...open, ...unrolled.keys()])])
  if (!isMonthly) return lowest
  const executed = slot?.distributionId ?? null
  const next =
    executed === null ? yield* beginningOf(instrumentId) : Option.some(yield* readAfter(executed))
  return lowestOf([...Option.toArray(lowest), ...Option.toArray(next)])
})

/**
 * Finds the offset from which the month after the last executed one is read: the earlier of the
 * offsets of the executed month's points and record date. A distribution that a snapshot of the
 * ledger showed has no plan of them, and its record date passed before the snapshot.
 */
const readAfter = (executed: string) =>
  Effect.map(lowestRead([executed]), (lowest) => Option.getOrElse(lowest, () => allThatIsLeft))

/** Finds the offset of the beginning of an instrument's first period, of which no month is executed. */
const beginningOf = Effect.fnUntraced(function* (instrumentId: InstrumentId) {
  const reach = yield* LedgerReach
  const offsetBefore = (instant: Instant.Instant) =>
    Effect.map(reach.offsetBefore(instant), (found) =>
      Option.some(Option.getOrElse(found, () => allThatIsLeft))
    )
  const facts = yield* factsOf({ instrumentId, executed: null })
  const through = Month.next(Month.fromDate(Instant.date(yield* Instant.now)))
  const [period] = openPeriods(facts, through)
  if (period !== undefined) {
    const { before, scheduledFrom, zone } = period
    return yield* offsetBefore(Zone.startOfDay(zone, before?.date ?? scheduledFrom))
  }
  const first = earliestOf(facts)
  for (let month = first; month !== null && !Month.isAfter(month, through); ) {
    const dates = datesOf(facts.versions, month)
    if (dates !== undefined) {
      return yield* offsetBefore(Zone.startOfDay(dates.zone, dates.scheduledFrom))
    }
    month = Month.next(month)
  }
  return Option.none<Offset.Offset>()
})

/** `HistoryKeeper` of instruments that pay, or have to pay, distributions. */
export const historyKeeper: HistoryKeeper = {
  name: "distributions",
  doc: "Register and points of distributions that are not paid or not rolled, and of the next month.",
  lowest: Effect.gen(function* () {
    const records = yield* Records
    return yield* records.stream(instruments, {}).pipe(
      Stream.filter(({ record }) => isRecorded(record)),
      Stream.mapEffect(({ record }) =>
        lowestOfInstrument(record.instrumentId, {
          isMonthly: record.manifest?.distribution.schedule === "monthly"
        })
      ),
      Stream.runFold(
        () => Option.none<Offset.Offset>(),
        (lowest, offset) => lowestOf([...Option.toArray(lowest), ...Option.toArray(offset)])
      )
    )
  })
}
