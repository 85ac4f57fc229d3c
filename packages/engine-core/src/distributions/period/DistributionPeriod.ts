/** Judged states of a distribution period: a calendar month with an oracle point. */
import * as Judged from "../../kernel/Judged.ts"
import type { PartialDistribution, RateChange } from "../../vocabulary/sets.ts"
import { areRates, isRefused, isUnacknowledged, type Rates } from "./RateChangeRules.ts"

export interface Subject extends Rates {
  /** The distribution of the month, once one is executed. */
  readonly executed: { readonly positiveLines: number } | null
  /** True: the record date has passed for clock, ledger and projection. */
  readonly recordDatePassed: boolean
  /** Number of earlier periods that have no distribution. */
  readonly earlierUnexecuted: number
  /** Settings of the deployment and the policy; for an act also those of its standing approval. */
  readonly rateChange: ReadonlyArray<RateChange>
  /** Number of lines of earlier periods that are due, suspended or delivered. */
  readonly linesUnrolled: number
  /** Settings of the deployment and the policy; for an act also those of its standing approval. */
  readonly partial: ReadonlyArray<PartialDistribution>
  /** Number of open holds on the instrument. */
  readonly holds: number
  /** Source of the record date: a calendar, or the end of the month. */
  readonly scheduledBy: "calendar" | "month-end"
}

const isBlocked = (subject: Subject): boolean =>
  subject.earlierUnexecuted > 0 ||
  !areRates(subject.ratesSeen) ||
  (isUnacknowledged(subject) && isRefused(subject.rateChange)) ||
  (subject.linesUnrolled > 0 && isRefused(subject.partial)) ||
  subject.holds > 0

export const DistributionPeriod = Judged.declare<Subject>()("DistributionPeriodState", {
  doc: "A calendar month in which an oracle point was valued, judged in the order listed.",
  states: {
    executed: "A distribution of the month exists with a positive line.",
    nil: "It was executed with no positive line; the next period may run.",
    accruing: "Its record date has not passed.",
    blocked:
      "Something must end first: an earlier period, a rate change, a rate that is not from 0 to 1, unrolled lines or a hold.",
    due: "A calendar set its record date, which passed, and none is executed.",
    ready: "Without a calendar: its record date passed and none is executed."
  },
  judge: (subject) => {
    if (subject.executed !== null) return subject.executed.positiveLines > 0 ? "executed" : "nil"
    if (!subject.recordDatePassed) return "accruing"
    if (isBlocked(subject)) return "blocked"
    return subject.scheduledBy === "calendar" ? "due" : "ready"
  }
})
