/** Direction of a restriction's change: it loosens exactly if it permits more at some instant. */
import { Direction, Duration, Instant } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  changesOf,
  type EndingRestriction
} from "#core/restraints/restriction/RestrictionDirection.ts"

const now = Instant.of("2026-07-31T12:00:00Z")
const hours = (count: number) => Instant.add(now, Duration.hours(count))

const ending: fc.Arbitrary<EndingRestriction> = fc.record({
  restrictionId: fc.constant("r"),
  holderId: fc.constantFrom("h1", "h2"),
  instrumentId: fc.constantFrom(null, "fund-a", "fund-b"),
  mode: fc.constantFrom("freeze", "receive-only", "redeem-only"),
  autoReleaseAt: fc.constantFrom(null, 0, 1, 2).map((at) => (at === null ? null : hours(at)))
})
const some = fc.array(ending, { maxLength: 3 })

/** Acts that each mode stops, as docs/domain/restraints.md#restriction-modes lists them. */
const stops: Readonly<Record<EndingRestriction["mode"], ReadonlyArray<string>>> = {
  freeze: ["order-in", "units-in", "units-out", "units-back", "cash-in"],
  "receive-only": ["order-in", "units-out", "units-back"],
  "redeem-only": ["order-in", "units-in", "units-out"]
}

const isStopped = (all: ReadonlyArray<EndingRestriction>, act: (typeof grid)[number]): boolean =>
  all.some(
    ({ holderId, instrumentId, mode, autoReleaseAt }) =>
      holderId === act.holder &&
      (instrumentId === null || instrumentId === act.instrument) &&
      (autoReleaseAt === null || autoReleaseAt > act.at) &&
      stops[mode].includes(act.passing)
  )

const grid = ["h1", "h2"].flatMap((holder) =>
  ["fund-a", "fund-b", "fund-c"].flatMap((instrument) =>
    ["order-in", "units-in", "units-out", "units-back", "cash-in"].flatMap((passing) =>
      [0, 0.5, 1, 1.5, 2, 9].map((count) => ({
        holder,
        instrument,
        passing,
        at: Instant.fromNanos(now + BigInt(count * 3600) * 1_000_000_000n)
      }))
    )
  )
)

const between = (from: ReadonlyArray<EndingRestriction>, to: ReadonlyArray<EndingRestriction>) =>
  Direction.whole(changesOf({ from, to }, now))

describe("a change of restrictions", () => {
  it("loosens exactly where something passes that was stopped, and tightens only where nothing does", () => {
    fc.assert(
      fc.property(some, some, (from, to) => {
        const [more, less] = [0, 0].map((_, nth) =>
          grid.some((act) => {
            const [before, after] = [isStopped(from, act), isStopped(to, act)]
            return nth === 0 ? before && !after : !before && after
          })
        )
        expect(between(from, to)).toBe(more ? "loosen" : less ? "tighten" : "none")
      }),
      { numRuns: 1_000 }
    )
  })

  it("never loosens by one more, however short it lasts and whatever stands", () => {
    fc.assert(
      fc.property(some, ending, (from, one) => {
        expect(between(from, [...from, one])).not.toBe("loosen")
      })
    )
  })

  it("never tightens by one less", () => {
    fc.assert(
      fc.property(some, ending, (to, one) => {
        expect(between([...to, one], to)).not.toBe("tighten")
      })
    )
  })

  const one: EndingRestriction = {
    restrictionId: "r",
    holderId: "h1",
    instrumentId: null,
    mode: "freeze",
    autoReleaseAt: null
  }
  it.each<[what: string, to: Partial<EndingRestriction>, direction: Direction.Direction]>([
    ["a date", { autoReleaseAt: hours(1) }, "loosen"],
    ["one instrument instead of all", { instrumentId: "fund-a" }, "loosen"],
    ["receive-only instead of freeze", { mode: "receive-only" }, "loosen"],
    ["redeem-only instead of freeze", { mode: "redeem-only" }, "loosen"]
  ])("loosens by %s, and tightens when that is taken back", (_, change, direction) => {
    const other = { ...one, ...change }
    expect(between([one], [other])).toBe(direction)
    expect(between([other], [one])).toBe("tighten")
  })

  it("of modes that let different things pass loosens either way", () => {
    const [receive, redeem] = (["receive-only", "redeem-only"] as const).map((mode) => ({
      ...one,
      mode
    }))
    if (receive === undefined || redeem === undefined) throw new Error("two modes")
    expect([between([receive], [redeem]), between([redeem], [receive])]).toEqual([
      "loosen",
      "loosen"
    ])
  })

  it("names the holder, the instrument and what passes", () => {
    const lifted = changesOf(
      { from: [{ ...one, mode: "redeem-only", instrumentId: "fund-a" }], to: [] },
      now
    )
    expect(lifted.map(({ path, direction }) => `${path.join("/")} ${direction}`)).toEqual([
      "h1/fund-a/order-in loosen",
      "h1/fund-a/units-in loosen",
      "h1/fund-a/units-out loosen"
    ])
  })
})
