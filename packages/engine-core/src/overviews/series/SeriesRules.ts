/** Pure rules of series: aggregates figures by day, week or month of a time zone. */
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { SeriesInterval } from "../../vocabulary/sets.ts"

/** A step of a series, from its start to before its end. */
export interface Step {
  readonly start: Instant.Instant
  readonly end: Instant.Instant
}

/** Largest number of points of one answer: nearly three years of days, nineteen of weeks. */
export const pointsMax = 1_000

/** First date of the step that contains a date; weeks begin on Monday. */
const firstDay = (interval: SeriesInterval, date: Date.Date): Date.Date => {
  if (interval === "day") return date
  if (interval === "month") return Month.firstDay(Month.fromDate(date))
  return Date.addDays(date, -Date.weekdays.indexOf(Date.weekday(date)))
}

const following = (interval: SeriesInterval, first: Date.Date): Date.Date => {
  if (interval === "day") return Date.next(first)
  return interval === "week" ? Date.addDays(first, 7) : Date.addMonths(first, 1)
}

/**
 * Makes the steps from the one that contains `from` to the one that contains `to`; undefined where
 * there are more than `pointsMax`. Days begin at midnight in the zone, so a day on which the clocks
 * change has 23 or 25 hours, and a date that the zone skipped has no step.
 */
export const steps = ({
  interval,
  zone,
  from,
  to
}: {
  readonly interval: SeriesInterval
  readonly zone: Zone.Zone
  readonly from: Date.Date
  readonly to: Date.Date
}): ReadonlyArray<Step> | undefined => {
  const found: Array<Step> = []
  if (Date.isAfter(from, to)) return found
  let first = firstDay(interval, from)
  let start = Zone.startOfDay(zone, first)
  while (!Date.isAfter(first, to)) {
    first = following(interval, first)
    const end = Zone.startOfDay(zone, first)
    if (end !== start) found.push({ start, end })
    if (found.length > pointsMax) return undefined
    start = end
  }
  return found
}

/** Aggregated figures of a step; null where the step has none. */
interface Point extends Step {
  readonly open: Decimal.Decimal | null
  readonly close: Decimal.Decimal | null
  readonly min: Decimal.Decimal | null
  readonly max: Decimal.Decimal | null
  readonly sum: Decimal.Decimal | null
}

interface StepFigures {
  readonly firstAt: Instant.Instant
  readonly first: Decimal.Decimal
  readonly lastAt: Instant.Instant
  readonly last: Decimal.Decimal
  readonly min: Decimal.Decimal
  readonly max: Decimal.Decimal
  readonly sum: Decimal.Decimal
}

/** Accumulator of a series: one entry a step, and the last figure before the first step. */
interface Tally {
  readonly steps: ReadonlyArray<Step>
  readonly seenFigures: Array<StepFigures | undefined>
  before: { readonly at: Instant.Instant; readonly value: Decimal.Decimal } | undefined
}

export const tally = (seriesSteps: ReadonlyArray<Step>): Tally => ({
  steps: seriesSteps,
  seenFigures: seriesSteps.map(() => undefined),
  before: undefined
})

/** Adds a figure, in any order of time; of two at one instant the one added later is the close. */
export const add = (self: Tally, at: Instant.Instant, value: Decimal.Decimal): void => {
  const index = indexOf(self.steps, at)
  if (index < 0) {
    if (self.before === undefined || at >= self.before.at) self.before = { at, value }
    return
  }
  if (index >= self.steps.length) return
  const seen = self.seenFigures[index]
  self.seenFigures[index] =
    seen === undefined
      ? { firstAt: at, first: value, lastAt: at, last: value, min: value, max: value, sum: value }
      : {
          ...(at < seen.firstAt
            ? { firstAt: at, first: value }
            : { firstAt: seen.firstAt, first: seen.first }),
          ...(at < seen.lastAt
            ? { lastAt: seen.lastAt, last: seen.last }
            : { lastAt: at, last: value }),
          min: Decimal.min(seen.min, value),
          max: Decimal.max(seen.max, value),
          sum: Decimal.add(seen.sum, value)
        }
}

/**
 * Index of the step that contains an instant: −1 before the first, the number of steps after the
 * last.
 */
const indexOf = (all: ReadonlyArray<Step>, at: Instant.Instant): number => {
  let low = 0
  let high = all.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((all[middle] as Step).end <= at) low = middle + 1
    else high = middle
  }
  return low === 0 && all[0] !== undefined && at < all[0].start ? -1 : low
}

/**
 * Points of a level, which keeps its value until the next figure. A step opens at the value at its
 * start, or at its first figure where there is no earlier one, and closes at the value at its end.
 * A level has no sum.
 */
export const levels = (self: Tally): ReadonlyArray<Point> => {
  let level = self.before?.value ?? null
  return self.steps.map((step, index) => {
    const seen = self.seenFigures[index]
    const open = level ?? seen?.first ?? null
    level = seen?.last ?? level
    return {
      ...step,
      open,
      close: level,
      min: least(open, seen?.min ?? null),
      max: most(open, seen?.max ?? null),
      sum: null
    }
  })
}

/** Points of a flow: first, last, least, largest and sum of the figures of each step. */
export const flows = (self: Tally): ReadonlyArray<Point> =>
  self.steps.map((step, index) => {
    const seen = self.seenFigures[index]
    return {
      ...step,
      open: seen?.first ?? null,
      close: seen?.last ?? null,
      min: seen?.min ?? null,
      max: seen?.max ?? null,
      sum: seen?.sum ?? Decimal.zero
    }
  })

const least = (a: Decimal.Decimal | null, b: Decimal.Decimal | null) =>
  a === null || b === null ? (a ?? b) : Decimal.min(a, b)

const most = (a: Decimal.Decimal | null, b: Decimal.Decimal | null) =>
  a === null || b === null ? (a ?? b) : Decimal.max(a, b)
