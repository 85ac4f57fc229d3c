/** The cut-offs that a dealing cycle opens for, in named zones and across every kind of clock change. */
import { Date, Instant, TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { judge } from "#core/kernel/Gates.ts"
import { openingOf } from "#core/orders/dealing-cycle/OpeningRules.ts"
import { nextCutOff, settleBy, shownCutOff } from "#core/orders/order/CutOffRules.ts"
import type { Weekday } from "#core/vocabulary/sets.ts"

const everyDay = [...Date.weekdays]
const rule = (zone: string, time: string, days: ReadonlyArray<Weekday> = everyDay) => ({
  zone: Zone.of(zone),
  time: TimeOfDay.of(time),
  days
})

const opened = (
  cutOff: ReturnType<typeof rule>,
  now: string,
  named: { readonly cutOffAt?: string; readonly settleBy?: string } = {}
): string => {
  const opening = openingOf({
    cutOff,
    now: Instant.of(now),
    cutOffAt: named.cutOffAt === undefined ? null : Instant.of(named.cutOffAt),
    settleBy: named.settleBy === undefined ? null : Instant.of(named.settleBy)
  })
  const judged = judge(opening.rows)
  if (Result.isFailure(judged))
    return `${judged.failure.details.gate} ${judged.failure.details.check}`
  if (opening.opened === null) throw new Error("nothing is opened that nothing refuses")
  const { cutOffAt, date, settleBy } = opening.opened
  return `${shown(cutOffAt)} ${date} ${shown(settleBy)}`
}
const shown = (instant: Instant.Instant) => Instant.format(instant).replace(".000000Z", "Z")

describe("the next cut-off of a zone whose clock changes is another instant", () => {
  test.each([
    // London, 29 March 2026: 01:00 becomes 02:00; 25 October: 02:00 becomes 01:00.
    ["London, skipped", "Europe/London", "01:30", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"],
    [
      "London, the day after",
      "Europe/London",
      "01:30",
      "2026-03-29T12:00:00Z",
      "2026-03-30T00:30:00Z"
    ],
    ["London, twice", "Europe/London", "01:30", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"],
    [
      "London, between the two",
      "Europe/London",
      "01:30",
      "2026-10-25T00:45:00Z",
      "2026-10-26T01:30:00Z"
    ],
    // New York, 8 March 2026: 02:00 becomes 03:00; 1 November: 02:00 becomes 01:00.
    [
      "New York, skipped",
      "America/New_York",
      "02:30",
      "2026-03-07T12:00:00Z",
      "2026-03-08T07:00:00Z"
    ],
    [
      "New York, twice",
      "America/New_York",
      "01:30",
      "2026-10-31T12:00:00Z",
      "2026-11-01T05:30:00Z"
    ],
    [
      "New York, between the two",
      "America/New_York",
      "01:30",
      "2026-11-01T06:00:00Z",
      "2026-11-02T06:30:00Z"
    ],
    // Lord Howe moves by half an hour: 4 October 2026, 02:00 becomes 02:30; 5 April, 02:00 becomes 01:30.
    [
      "Lord Howe, skipped",
      "Australia/Lord_Howe",
      "02:15",
      "2026-10-03T00:00:00Z",
      "2026-10-03T15:30:00Z"
    ],
    [
      "Lord Howe, twice",
      "Australia/Lord_Howe",
      "01:45",
      "2026-04-04T00:00:00Z",
      "2026-04-04T14:45:00Z"
    ],
    [
      "Lord Howe, between the two",
      "Australia/Lord_Howe",
      "01:45",
      "2026-04-04T15:00:00Z",
      "2026-04-05T15:15:00Z"
    ]
  ])("%s", (_, zone, time, now, at) => {
    expect(opened(rule(zone, time), now).split(" ")[0]).toBe(at)
  })

  test("an offset of another day is refused", () => {
    // Weekdays only: Friday's cut-off is in winter, Monday's in summer.
    const weekdays = rule("Europe/London", "16:00", ["monday", "friday"])
    expect(opened(weekdays, "2026-03-27T15:00:00Z").split(" ").slice(0, 2)).toEqual([
      "2026-03-27T16:00:00Z",
      "2026-03-27"
    ])
    expect(opened(weekdays, "2026-03-27T16:00:00Z").split(" ").slice(0, 2)).toEqual([
      "2026-03-30T15:00:00Z",
      "2026-03-30"
    ])
  })
})

describe("a named cut-off", () => {
  const weekdays = rule("America/New_York", "16:00", ["monday", "tuesday"])
  const now = "2026-07-30T12:00:00Z"
  test.each([
    [
      "of the rule is refused",
      { cutOffAt: "2026-08-03T20:00:00Z" },
      "2026-08-03T20:00:00Z 2026-08-03 2026-08-08T20:00:00Z"
    ],
    [
      "later than the next is refused",
      { cutOffAt: "2026-08-04T20:00:00Z" },
      "2026-08-04T20:00:00Z 2026-08-04 2026-08-09T20:00:00Z"
    ],
    [
      "a nanosecond off passes",
      { cutOffAt: "2026-08-03T20:00:00.000000001Z" },
      "window cut-off-of-instrument"
    ],
    ["of another day passes", { cutOffAt: "2026-08-05T20:00:00Z" }, "window cut-off-of-instrument"],
    [
      "at the wall clock of another zone passes",
      { cutOffAt: "2026-08-03T16:00:00Z" },
      "window cut-off-of-instrument"
    ],
    ["that has passed opens", { cutOffAt: "2026-07-28T20:00:00Z" }, "window cut-off-to-come"],
    ["that is now opens", { cutOffAt: now }, "window cut-off-to-come"],
    [
      "before the first instant stops the engine",
      { cutOffAt: "0001-01-01T00:00:00Z" },
      "window cut-off-to-come"
    ],
    [
      "after the last instant stops the engine",
      { cutOffAt: "9999-12-31T23:59:59Z" },
      "window cut-off-in-reach"
    ],
    [
      "settles before it closes",
      { settleBy: "2026-08-03T20:00:00Z" },
      "window settle-by-after-cut-off"
    ],
    [
      "settles when its orders have run out",
      { settleBy: "2026-08-08T20:00:00.000001Z" },
      "window settle-by-after-cut-off"
    ],
    [
      "cannot settle when they run out",
      { settleBy: "2026-08-08T20:00:00Z" },
      "2026-08-03T20:00:00Z 2026-08-03 2026-08-08T20:00:00Z"
    ],
    [
      "settles at a time the ledger does not know",
      { settleBy: "2026-08-03T20:00:00.000000999Z" },
      "window settle-by-after-cut-off"
    ],
    [
      "cannot settle right after it closes",
      { settleBy: "2026-08-03T20:00:00.000001Z" },
      "2026-08-03T20:00:00Z 2026-08-03 2026-08-03T20:00:00.000001Z"
    ]
  ])("%s", (_, named, expected) => {
    expect(opened(weekdays, now, named)).toBe(expected)
  })

  test("the second of a time shown twice is no cut-off", () => {
    const twice = rule("Europe/London", "01:30")
    expect(opened(twice, now, { cutOffAt: "2026-10-25T00:30:00Z" }).split(" ")[0]).toBe(
      "2026-10-25T00:30:00Z"
    )
    expect(opened(twice, now, { cutOffAt: "2026-10-25T01:30:00Z" })).toBe(
      "window cut-off-of-instrument"
    )
  })
})

const rules = fc.record({
  zone: fc.constantFrom(
    ...["UTC", "Europe/London", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"].map(
      Zone.of
    )
  ),
  time: fc
    .integer({ min: 0, max: 1439 })
    .map((minute) =>
      TimeOfDay.of(
        `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`
      )
    ),
  days: fc.subarray(everyDay, { minLength: 1 })
})
const instants = fc
  .bigInt({
    min: Instant.of("2024-01-01T00:00:00Z"),
    max: Instant.of("2028-01-01T00:00:00Z")
  })
  .map(Instant.fromNanos)

test("a snapshot shows the cut-off of an order by amount, also where it passed before the claim", () => {
  fc.assert(
    fc.property(rules, instants, instants, (cutOff, plannedAt, later) => {
      const planned = nextCutOff(cutOff, plannedAt)
      const settleBefore = settleBy(planned.at)
      const other = { named: null, valuedAt: null, createdAt: later }
      for (const claimedAt of [plannedAt, planned.at, Instant.fromNanos(planned.at + 1n)]) {
        const found = shownCutOff(cutOff, { ...other, request: { claimedAt, settleBefore } })
        expect(found).toEqual(nextCutOff(cutOff, claimedAt))
      }
    }),
    { numRuns: 50, seed: 4 }
  )
})

test("a cut-off that the rule itself makes can be named, and is of its day", () => {
  fc.assert(
    fc.property(rules, instants, fc.integer({ min: 1, max: 5 }), (cutOff, now, steps) => {
      let next = nextCutOff(cutOff, now)
      for (let step = 1; step < steps; step++) next = nextCutOff(cutOff, next.at)
      const opening = openingOf({ cutOff, now, cutOffAt: next.at, settleBy: null })
      expect(opening.opened).toMatchObject({ cutOffAt: next.at, date: next.date })
      expect(Result.isSuccess(judge(opening.rows))).toBe(true)
    }),
    { numRuns: 100 }
  )
})

test("an instant between two cut-offs opens no cycle", () => {
  fc.assert(
    fc.property(
      rules,
      instants,
      fc.double({ min: 0.01, max: 0.99, noNaN: true }),
      (cutOff, now, part) => {
        const first = nextCutOff(cutOff, now).at
        const second = nextCutOff(cutOff, first).at
        const between = Instant.fromNanos(first + BigInt(Math.floor(Number(second - first) * part)))
        fc.pre(between > first && between < second)
        const opening = openingOf({ cutOff, now, cutOffAt: between, settleBy: null })
        const judged = judge(opening.rows)
        expect(Result.isFailure(judged) && judged.failure.details.check).toBe(
          "cut-off-of-instrument"
        )
      }
    ),
    { numRuns: 100 }
  )
})
