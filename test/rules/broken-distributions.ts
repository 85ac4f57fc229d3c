/**
 * The execution of a distribution and the grant of a standing approval, with a way to make every check
 * refuse.
 */
import { Date, Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Gates from "#core/distributions/distribution/ExecutionGates.ts"
import * as ApprovalGates from "#core/distributions/standing-approval/StandingApprovalGates.ts"
import { granted } from "../operations/standing-approvals.ts"
import * as Broken from "./broken.ts"

const d = Decimal.of
const latest = d("0.2")

export const distributionExecute = Broken.act<Gates.ExecutionFacts>({
  name: "distribution.execute",
  sound: {
    holds: [],
    policyVersion: 1,
    month: "2026-07" as Gates.ExecutionFacts["month"],
    isMonthly: true,
    place: "next",
    nextMonth: "2026-07" as Gates.ExecutionFacts["month"],
    unsealedMonth: null,
    lastPayout: { exPrice: d("1"), cumPrice: d("1.05"), firstPrice: d("1.01") },
    ratesSeen: [d("0.1"), latest],
    acknowledgedRate: latest,
    rateChange: ["alert", "alert"],
    partial: ["carry", "carry"],
    hasUnrolled: true,
    scheduled: { approval: granted(), net: d("100") },
    recordDate: Date.of("2026-07-31"),
    recordDatePassed: true,
    feed: "none",
    isHistoryWhole: true,
    linesMax: 200_000,
    fitsLinesMax: true
  },
  rows: Gates.against,
  faults: {
    "hold not-held": (facts) => ({ ...facts, holds: [Broken.onAll] }),
    "policy distributes": (facts) => ({ ...facts, isMonthly: false }),
    "policy in-order": (facts) => ({ ...facts, place: "waits" }),
    "policy went-ex": (facts) => ({
      ...facts,
      lastPayout: { exPrice: d("1"), cumPrice: d("1.05"), firstPrice: d("1.025") }
    }),
    "policy rate-range": (facts) => ({ ...facts, ratesSeen: [d("1.5"), ...facts.ratesSeen] }),
    "policy rate-acknowledged": (facts) => ({ ...facts, acknowledgedRate: d("0.3") }),
    "policy rate-change": (facts) => ({
      ...facts,
      rateChange: ["alert", "refuse"],
      acknowledgedRate: facts.acknowledgedRate === latest ? null : facts.acknowledgedRate
    }),
    "policy lines-rolled": (facts) => ({ ...facts, partial: ["carry", "refuse"] }),
    "policy standing-approval": (facts) => ({
      ...facts,
      scheduled: { approval: null, net: d("100") }
    }),
    "window record-date-passed": (facts) => ({ ...facts, recordDatePassed: false }),
    "nav-feed feed-usable": (facts) => ({ ...facts, feed: "stale" }),
    "ledger history-whole": (facts) => ({ ...facts, isHistoryWhole: false }),
    "ledger distribution-size": (facts) => ({ ...facts, fitsLinesMax: false })
  }
})

const { distribution } = Broken.instrument().manifest
const from = Broken.now
const until = Instant.add(from, Duration.days(30))

export const standingApprovalGrant = Broken.act<ApprovalGates.GrantFacts>({
  name: "standing-approval.grant",
  sound: {
    manifest: {
      distribution: {
        ...distribution,
        schedule: "monthly",
        calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 3 }
      }
    },
    policyVersion: 1,
    from,
    until,
    now: from,
    longest: Duration.days(30)
  },
  rows: ApprovalGates.againstGrant,
  faults: {
    "policy calendar": (facts) => ({
      ...facts,
      manifest: { distribution: { ...facts.manifest.distribution, calendar: null } }
    }),
    // An end that the clock has reached is none to come.
    "policy approval-period": (facts) => ({ ...facts, now: until }),
    "policy approval-longest": (facts) => ({ ...facts, longest: Duration.days(29) })
  }
})
