/** Judged states of a distribution period: a calendar month with an oracle point. */
import * as Instant from "../../kernel/Instant.ts"
import * as Judged from "../../kernel/Judged.ts"
import type { PartialDistribution, RateChange } from "../../vocabulary/sets.ts"

export interface Subject {
  /** The distribution of the month, once one is executed. */
  readonly executed: { readonly positiveLines: number } | null
  /** The end of the record date in the instrument's business zone. */
  readonly recordDateEnd: Instant.Instant
  readonly now: Instant.Instant
  /** Number of earlier periods that have no distribution. */
  readonly earlierUnexecuted: number
  /** Number of different withholding rates in the period's points. */
  readonly rates: number
  readonly rateChange: RateChange
  /** Number of lines of earlier periods that are not rolled. */
  readonly linesUnrolled: number
  readonly partial: PartialDistribution
  /** Number of open holds on the instrument. */
  readonly holds: number
  /** Source of the record date: a calendar, or the end of the month. */
  readonly scheduledBy: "calendar" | "month-end"
}

const isBlocked = (subject: Subject): boolean =>
  subject.earlierUnexecuted > 0 ||
  (subject.rates > 1 && subject.rateChange === "refuse") ||
  (subject.linesUnrolled > 0 && subject.partial === "refuse") ||
  subject.holds > 0

export const DistributionPeriod = Judged.declare<Subject>()("DistributionPeriodState", {
  doc: "A calendar month in which an oracle point was valued, judged in the order listed.",
  states: {
    executed: "A distribution of the month exists with a positive line.",
    nil: "It was executed with no positive line; the next period may run.",
    accruing: "The end of its record date has not passed.",
    blocked:
      "Something must end first: an earlier period, a rate change, unrolled lines or a hold.",
    due: "A calendar set its record date, which passed, and none is executed.",
    ready: "Without a calendar: its record date passed and none is executed."
  },
  judge: (subject) => {
    if (subject.executed !== null) return subject.executed.positiveLines > 0 ? "executed" : "nil"
    if (Instant.isBefore(subject.now, subject.recordDateEnd)) return "accruing"
    if (isBlocked(subject)) return "blocked"
    return subject.scheduledBy === "calendar" ? "due" : "ready"
  }
})
