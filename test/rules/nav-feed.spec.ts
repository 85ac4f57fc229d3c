/** When an administrator's NAV may price: its calendar over clock changes, its grace, the guardrail. */
import { Date, Decimal, Duration, Instant, TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { CutOff } from "#core/instruments/instrument/Manifest.ts"
import { NavFeed } from "#core/instruments/price/NavFeed.ts"
import { feedOf, lastCutOff, moveOf, type Stated } from "#core/instruments/price/NavFeedRules.ts"
import { nextCutOff } from "#core/orders/order/CutOffRules.ts"

const guardrail = { up: Decimal.of("0.02"), down: Decimal.of("0.01") }

describe("a move of the NAV", () => {
  it.each<[last: string | null, next: string, expected: "inside" | "outside"]>([
    [null, "5", "inside"],
    ["100", "100", "inside"],
    // Equal to the tolerance is within it, to the last place.
    ["100", "102", "inside"],
    ["100", "102.0000000001", "outside"],
    ["100", "99", "inside"],
    ["100", "98.9999999999", "outside"],
    // A tenth place times a tenth place is beyond what a decimal holds; it counts all the same.
    ["0.0000000001", "0.0000000001", "inside"],
    ["0.0000000001", "0.0000000002", "outside"],
    ["0", "0", "inside"],
    ["0", "0.0000000001", "outside"]
  ])("from %s to %s is %s of +2 and -1 per cent", (last, next, expected) => {
    const move = { last: last === null ? null : Decimal.of(last), next: Decimal.of(next) }
    expect(moveOf({ ...move, guardrail })).toBe(expected)
    expect(moveOf({ ...move, guardrail: null })).toBe("inside")
  })

  const price = fc.bigInt({ min: 1n, max: 10n ** 20n }).map(Decimal.fromAtoms)
  const part = fc.bigInt({ min: 0n, max: 10n ** 10n - 1n }).map(Decimal.fromAtoms)

  it("nearer to the last price than one that is inside, on its side, is inside too", () => {
    fc.assert(
      fc.property(price, price, fc.bigInt({ min: 0n, max: 10n ** 20n }), part, part, (...all) => {
        const [last, next, nearer, up, down] = all
        const between =
          next >= last ? last + (nearer % (next - last + 1n)) : last - (nearer % (last - next + 1n))
        const of = (to: bigint) =>
          moveOf({ last, next: Decimal.fromAtoms(to), guardrail: { up, down } })
        if (of(next) === "inside") expect(of(between)).toBe("inside")
        if (of(between) === "outside") expect(of(next)).toBe("outside")
      })
    )
  })
})

const rule = (zone: string, days: CutOff["days"], time = "16:00"): CutOff => ({
  zone: Zone.of(zone),
  days,
  time: TimeOfDay.of(time)
})
const week = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const

describe("the last cut-off", () => {
  it.each<[rule: CutOff, instant: string, at: string, date: string]>([
    // A cut-off has passed at its own instant, and not a moment before.
    [rule("America/New_York", week), "2026-07-31T20:00:00Z", "2026-07-31T20:00:00Z", "2026-07-31"],
    [
      rule("America/New_York", week),
      "2026-07-31T19:59:59.999Z",
      "2026-07-30T20:00:00Z",
      "2026-07-30"
    ],
    // Over a weekend it is Friday's.
    [rule("America/New_York", week), "2026-08-03T12:00:00Z", "2026-07-31T20:00:00Z", "2026-07-31"],
    // Clocks go back on 1 November in New York, and the cut-off with them.
    [rule("America/New_York", week), "2026-11-02T20:30:00Z", "2026-10-30T20:00:00Z", "2026-10-30"],
    [rule("America/New_York", week), "2026-11-02T21:00:00Z", "2026-11-02T21:00:00Z", "2026-11-02"],
    // 02:15 does not exist in Lord Howe on 4 October: half an hour is skipped there, at 02:00.
    [
      rule("Australia/Lord_Howe", ["sunday"], "02:15"),
      "2026-10-03T16:00:00Z",
      "2026-10-03T15:30:00Z",
      "2026-10-04"
    ],
    // 01:30 comes twice in London on 25 October; the first of the two counts.
    [
      rule("Europe/London", ["sunday"], "01:30"),
      "2026-10-25T01:00:00Z",
      "2026-10-25T00:30:00Z",
      "2026-10-25"
    ],
    [rule("UTC", ["wednesday"]), "2026-07-29T15:59:00Z", "2026-07-22T16:00:00Z", "2026-07-22"]
  ])("of %o at %s is %s", (cutOff, instant, at, date) => {
    expect(lastCutOff(cutOff, Instant.of(instant))).toEqual({
      at: Instant.of(at),
      date: Date.of(date)
    })
  })

  const zones = ["UTC", "America/New_York", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia"]
  const rules = fc.record({
    zone: fc.constantFrom(...zones).map(Zone.of),
    days: fc.subarray([...Date.weekdays], { minLength: 1 }),
    time: fc
      .integer({ min: 0, max: 1439 })
      .map((minute) =>
        TimeOfDay.of(
          `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`
        )
      )
  })
  const instants = fc
    .integer({ min: 1_767_225_600_000, max: 1_830_211_200_000 })
    .map((millis) => Instant.fromEpochMillis(millis))

  it("is the one before the next one: none lies between them", () => {
    fc.assert(
      fc.property(rules, instants, (cutOff, instant) => {
        const last = lastCutOff(cutOff, instant)
        expect(Instant.atOrBefore(last.at, instant)).toBe(true)
        expect(nextCutOff(cutOff, last.at)).toEqual(nextCutOff(cutOff, instant))
      })
    )
  })
})

describe("a feed", () => {
  const cutOff = rule("America/New_York", week)
  const terms: Parameters<typeof feedOf>[0]["terms"] = {
    cutOff,
    navGuardrail: guardrail,
    navFeed: { externalSourceId: "nav-1", grace: Duration.of("PT2H") }
  }
  const stated = (of: Partial<Stated> = {}): Stated => ({
    businessDate: Date.of("2026-07-31"),
    official: Decimal.of("101"),
    ripcord: false,
    expiresAt: Instant.of("2026-08-04T00:00:00Z"),
    accepted: Decimal.of("100"),
    ...of
  })
  const judged = (now: string, latest: Stated | null, of: Partial<typeof terms> = {}) => {
    const at = Instant.of(now)
    return NavFeed.judge({ feed: feedOf({ terms: { ...terms, ...of }, latest, now: at }), now: at })
  }
  const monday = "2026-08-03T12:00:00Z"

  it.each<[expected: string, now: string, latest: Stated | null]>([
    ["missing", monday, null],
    ["usable", monday, stated()],
    ["missing", monday, stated({ businessDate: Date.of("2026-07-30") })],
    // Monday's statement may come until two hours after Monday's cut-off, and Friday's counts till then.
    ["usable", "2026-08-03T21:59:59Z", stated()],
    ["missing", "2026-08-03T22:00:00Z", stated()],
    // While Monday's grace runs, Friday's is missed all the same if it never came.
    ["missing", "2026-08-03T21:00:00Z", stated({ businessDate: Date.of("2026-07-30") })],
    ["stale", "2026-08-04T00:00:00Z", stated({ businessDate: Date.of("2026-08-03") })],
    ["deviating", monday, stated({ official: Decimal.of("102.01") })],
    ["usable", monday, stated({ official: Decimal.of("102.01"), accepted: null })],
    // The first that holds wins: a ripcord over everything, a missing day over what is stale.
    ["ripcord", "2026-08-09T12:00:00Z", stated({ ripcord: true, official: null })],
    ["missing", "2026-08-09T12:00:00Z", stated({ official: Decimal.of("200") })],
    [
      "stale",
      "2026-08-04T12:00:00Z",
      stated({ businessDate: Date.of("2026-08-04"), official: Decimal.of("200") })
    ]
  ])("is %s at %s", (expected, now, latest) => {
    expect(judged(now, latest)).toBe(expected)
  })

  it("that is not mapped is none, whatever was stated", () => {
    const now = Instant.of(monday)
    const feed = feedOf({ terms: { ...terms, navFeed: null }, latest: stated(), now })
    expect(NavFeed.judge({ feed, now })).toBe("none")
  })

  it("without a grace misses its statement at the cut-off", () => {
    const navFeed = { externalSourceId: "nav-1", grace: null }
    const of = { navFeed }
    expect(judged("2026-08-03T19:59:59Z", stated(), of)).toBe("usable")
    expect(judged("2026-08-03T20:00:00Z", stated(), of)).toBe("missing")
  })
})
