/** Checks of an execution that several facts make refuse, and what their refusals say. */
import { Decimal } from "@bursar/engine-core/kernel"
import { describe, expect, test } from "vitest"
import { against, type ExecutionFacts } from "#core/distributions/distribution/ExecutionGates.ts"
import { gateChecksOf } from "#core/kernel/Gates.ts"

const d = Decimal.of
const month = "2026-07" as ExecutionFacts["month"]
const sound: ExecutionFacts = {
  holds: [],
  policyVersion: 3,
  month,
  isMonthly: true,
  place: "next",
  nextMonth: month,
  unsealedMonth: null,
  lastPayout: null,
  ratesSeen: [],
  acknowledgedRate: null,
  rateChange: ["alert"],
  partial: ["carry"],
  hasUnrolled: false,
  scheduled: null,
  recordDate: null,
  recordDatePassed: true,
  feed: "none",
  isHistoryWhole: true,
  linesMax: 10,
  fitsLinesMax: true
}

const refusedBy = (facts: Partial<ExecutionFacts>) =>
  gateChecksOf(against({ ...sound, ...facts }))
    .filter(({ ok }) => !ok)
    .map(({ check, detail }) => `${check}: ${detail}`)

describe("the execution of a distribution", () => {
  test.each<[string, Partial<ExecutionFacts>, ReadonlyArray<string>]>([
    ["of a sound month passes", {}, []],
    [
      "waits for the month before it",
      { place: "waits", nextMonth: "2026-06" as ExecutionFacts["month"] },
      ["in-order: The next month to execute is 2026-06."]
    ],
    [
      "of a month without a point is none",
      { place: "no-point" },
      ["in-order: No official point is dated in 2026-07."]
    ],
    [
      "of a month before the last executed one is refused",
      { place: "before-executed" },
      ["in-order: A later month than 2026-07 is executed, or that month itself."]
    ],
    [
      "waits until the month before has all its lines: they are carried in",
      { unsealedMonth: "2026-06" as ExecutionFacts["month"] },
      ["in-order: The execution of 2026-06 has not ended."]
    ],
    [
      "by the scheduler needs a standing approval",
      { scheduled: { approval: null, net: d("1") } },
      ["standing-approval: The instrument has no standing approval."]
    ],
    [
      "waits for a history that reaches back to every register it reads",
      { isHistoryWhole: false },
      ["history-whole: null"]
    ],
    [
      "at a rate beyond all of the income pays nothing",
      { ratesSeen: [d("0.1"), d("1.0000000001")] },
      ["rate-range: The points of the period state the rates 0.1, 1.0000000001."]
    ],
    [
      "at a rate below zero pays nothing",
      { ratesSeen: [d("-0.1")] },
      ["rate-range: The points of the period state the rates -0.1."]
    ],
    ["at one rate announces nothing", { ratesSeen: [d("0.1")], rateChange: ["refuse"] }, []],
    [
      "acknowledges no rate where none differ",
      { ratesSeen: [d("0.1")], acknowledgedRate: d("0.1") },
      ["rate-acknowledged: The points of the period state no rates that differ."]
    ],
    [
      "acknowledges no earlier rate",
      { ratesSeen: [d("0.1"), d("0.2")], acknowledgedRate: d("0.1") },
      ["rate-acknowledged: The latest rate of the period is 0.2."]
    ],
    ["goes on at differing rates by alert", { ratesSeen: [d("0.1"), d("0.2")] }, []],
    [
      "is stopped at differing rates by the strictest word",
      { ratesSeen: [d("0.1"), d("0.2")], rateChange: ["alert", "refuse"] },
      ["rate-change: The points of the period state the rates 0.1, 0.2."]
    ],
    [
      "passes at the latest rate once it is acknowledged",
      { ratesSeen: [d("0.1"), d("0.2")], acknowledgedRate: d("0.2"), rateChange: ["refuse"] },
      []
    ],
    ["leaves holders out by carry", { hasUnrolled: true }, []],
    [
      "is stopped by unrolled lines where somebody says refuse",
      { hasUnrolled: true, partial: ["refuse", "carry"] },
      ["lines-rolled: null"]
    ],
    ["without unrolled lines no word matters", { partial: ["refuse"] }, []],
    [
      "is stopped by a price that has not gone ex, as near to both counting as not",
      { lastPayout: { exPrice: d("1"), cumPrice: d("1.05"), firstPrice: d("1.025") } },
      [
        "went-ex: The price after the last payout was 1.025: 2026-07 would pay the same income again."
      ]
    ],
    ["passes with a usable feed", { feed: "usable" }, []],
    [
      "waits for a feed that is mapped",
      { feed: "missing" },
      ["feed-usable: No statement of the price's business date has come."]
    ],
    [
      "names the largest number of lines",
      { fitsLinesMax: false },
      ["distribution-size: The distribution has more than 10 lines."]
    ]
  ])("%s", (_, facts, refusals) => {
    expect(refusedBy(facts)).toEqual(refusals)
  })

  test("is stopped by a hold that blocks distributions alone", () => {
    const holds = [{ holdId: "hold-1", instrumentId: "fund-a", blocks: ["distribution"] }] as const
    expect(refusedBy({ holds })).toEqual(["not-held: The hold hold-1 is open."])
  })
})
