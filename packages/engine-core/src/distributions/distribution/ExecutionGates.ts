/** Checks of executing a distribution, by gate (docs/domain/distributions.md#execution). */
import { feedUsable, type FeedVerdict } from "../../statements/nav-feed/PointVerdict.ts"
import { condition, inOrder, type Judgement } from "../../kernel/Gates.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Month from "../../kernel/Month.ts"
import type * as Date from "../../kernel/Date.ts"
import * as HoldRules from "../../restraints/hold/HoldRules.ts"
import type { PartialDistribution, RateChange } from "../../vocabulary/sets.ts"
import type { StandingApproval } from "../standing-approval/StandingApproval.ts"
import { againstUse } from "../standing-approval/StandingApprovalGates.ts"
import {
  areRates,
  isRefused,
  isUnacknowledged,
  mayAcknowledge,
  type Rates
} from "../period/RateChangeRules.ts"
import { type Payout, type PeriodPlace, wentEx } from "../period/PeriodRules.ts"

/** Facts that an execution is judged by. */
export interface ExecutionFacts extends Rates {
  readonly holds: ReadonlyArray<HoldRules.OpenHold>
  readonly policyVersion: number
  readonly month: Month.Month
  /** True: the policy in force at the end of the month's record date distributes monthly. */
  readonly isMonthly: boolean
  readonly place: PeriodPlace
  /** The first period that is not executed; null: none has a point yet. */
  readonly nextMonth: Month.Month | null
  /** Month of an execution that has not added all of its lines; null: there is none. */
  readonly unsealedMonth: Month.Month | null
  /** Prices around the last payout of an accumulating instrument; null: it paid nothing yet. */
  readonly lastPayout: Payout | null
  readonly rateChange: ReadonlyArray<RateChange>
  readonly partial: ReadonlyArray<PartialDistribution>
  readonly hasUnrolled: boolean
  /** The approval and the net of an execution by the scheduler; null: people execute. */
  readonly scheduled: {
    readonly approval: StandingApproval | null
    readonly net: Decimal.Decimal
  } | null
  /** Null where the month has none. */
  readonly recordDate: Date.Date | null
  readonly recordDatePassed: boolean
  /** Verdict of the feed on the last point; `none` where no feed prices the distribution. */
  readonly feed: FeedVerdict
  /** False: the register of some day, or an earlier distribution, is before the history. */
  readonly isHistoryWhole: boolean
  readonly linesMax: number
  /** False: there are more lines than `linesMax`. */
  readonly fitsLinesMax: boolean
}

/** All conditions of an execution, in the order of the gates. */
export const against = (facts: ExecutionFacts): ReadonlyArray<Judgement> =>
  inOrder([
    HoldRules.against(facts.holds, "distribution"),
    ...ofPolicy(facts),
    ...ofRates(facts),
    condition("lines-rolled", !(facts.hasUnrolled && isRefused(facts.partial)), {
      policyVersion: facts.policyVersion
    }),
    ...(facts.scheduled === null
      ? []
      : [againstUse(facts.scheduled.approval, facts.scheduled.net)]),
    condition("record-date-passed", facts.recordDatePassed, {
      detail:
        facts.recordDate === null
          ? null
          : `The record date of ${facts.month} is ${facts.recordDate}.`
    }),
    feedUsable(facts.feed),
    condition("history-whole", facts.isHistoryWhole),
    condition("distribution-size", facts.fitsLinesMax, {
      detail: `The distribution has more than ${facts.linesMax} lines.`
    })
  ])

const ofPolicy = (facts: ExecutionFacts): ReadonlyArray<Judgement> => {
  const { lastPayout, month, policyVersion } = facts
  return [
    condition("distributes", facts.isMonthly, { policyVersion }),
    condition("in-order", facts.place === "next" && facts.unsealedMonth === null, {
      policyVersion,
      detail: detailOfOrder(facts)
    }),
    condition("went-ex", lastPayout === null || wentEx(lastPayout), {
      policyVersion,
      detail:
        lastPayout === null
          ? null
          : `The price after the last payout was ${Decimal.formatPlain(lastPayout.firstPrice)}: ` +
            `${month} would pay the same income again.`
    })
  ]
}

const detailOfOrder = ({
  month,
  nextMonth,
  place,
  unsealedMonth
}: ExecutionFacts): string | null => {
  if (unsealedMonth !== null) return `The execution of ${unsealedMonth} has not ended.`
  switch (place) {
    case "next":
      return null
    case "executed":
    case "before-executed":
      return `A later month than ${month} is executed, or that month itself.`
    case "waits":
      return `The next month to execute is ${nextMonth}.`
    case "no-point":
      return `No official point is dated in ${month}.`
  }
}

const ofRates = (facts: ExecutionFacts): ReadonlyArray<Judgement> => {
  const { policyVersion, ratesSeen } = facts
  const latest = ratesSeen.at(-1)
  const shown = ratesSeen.map(Decimal.formatPlain).join(", ")
  return [
    condition("rate-range", areRates(ratesSeen), {
      policyVersion,
      detail: `The points of the period state the rates ${shown}.`
    }),
    condition("rate-acknowledged", mayAcknowledge(facts), {
      policyVersion,
      detail:
        latest === undefined || ratesSeen.length === 1
          ? "The points of the period state no rates that differ."
          : `The latest rate of the period is ${Decimal.formatPlain(latest)}.`
    }),
    condition("rate-change", !(isUnacknowledged(facts) && isRefused(facts.rateChange)), {
      policyVersion,
      detail: `The points of the period state the rates ${shown}.`
    })
  ]
}
