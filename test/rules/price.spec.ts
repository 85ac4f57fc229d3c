/** Price of an order: a wrong point would mint too many units, or too few. */
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { choose, official } from "#core/instruments/price/PriceRules.ts"
import * as Duration from "#core/kernel/Duration.ts"
import * as Instant from "#core/kernel/Instant.ts"
import * as Party from "#core/kernel/Party.ts"

const oracle = Party.of("oracle::1220bb")
const stranger = Party.of("stranger::1220cc")
const at = (text: string) => Instant.of(`2026-07-${text}:00Z`)

const point = (name: string, valued: string, members: object = {}) => ({
  name,
  valuationTime: at(valued),
  source: oracle,
  correctedBy: null as string | null,
  isLive: true,
  ...members
})

const orderPricing = {
  oracle,
  claimedAt: at("30T10:00"),
  cutOffAt: at("30T16:00"),
  staleAfter: null
} as const

const outcome = (
  points: ReadonlyArray<ReturnType<typeof point>>,
  options: Partial<Parameters<typeof choose>[1]> & { readonly pricing: "forward" | "historic" }
) =>
  Result.match(choose(points, { ...orderPricing, ...options }), {
    onFailure: (why) => why as string,
    onSuccess: ({ name }) => name
  })

const yesterday = point("yesterday", "29T16:00")
const before = point("before", "30T09:59")
const between = point("between", "30T12:00")
const atCutOff = point("at cut-off", "30T16:00")
const afterCutOff = point("later", "31T16:00")
const all = [afterCutOff, before, atCutOff, yesterday, between]

describe("forward", () => {
  it("a price known before the cut-off never prices an order", () => {
    expect(outcome([yesterday, before, between], { pricing: "forward" })).toBe("missing")
  })
  it("the first at the cut-off or later prices, whatever order they came in", () => {
    expect(outcome(all, { pricing: "forward" })).toBe("at cut-off")
    expect(outcome([afterCutOff, between], { pricing: "forward" })).toBe("later")
  })
  it("however late it comes, it is not stale", () => {
    const staleAfter = Duration.of("PT1H")
    expect(outcome([afterCutOff], { pricing: "forward", staleAfter })).toBe("later")
  })
})

describe("historic", () => {
  it("the last before the claim prices; one valued after it never does", () => {
    expect(outcome(all, { pricing: "historic" })).toBe("before")
    expect(outcome([between, afterCutOff], { pricing: "historic" })).toBe("missing")
  })
  it("one valued at the very claim is not before it", () => {
    expect(outcome([point("same", "30T10:00")], { pricing: "historic" })).toBe("missing")
  })
  it("one too old prices nothing; one just old enough still does", () => {
    const old = [point("old", "29T10:00")]
    expect(outcome(old, { pricing: "historic", staleAfter: Duration.of("PT24H") })).toBe("old")
    expect(outcome(old, { pricing: "historic", staleAfter: Duration.of("PT23H59M") })).toBe("stale")
  })
})

describe("official points", () => {
  it("a stranger's point, a corrected one and one taken back price nothing", () => {
    const points = [
      point("stranger's", "30T16:00", { source: stranger }),
      point("corrected", "30T16:00", { correctedBy: "00aa" }),
      point("taken back", "30T16:00", { isLive: false }),
      afterCutOff
    ]
    expect(official(points, oracle).map(({ name }) => name)).toEqual(["later"])
    expect(outcome(points, { pricing: "forward" })).toBe("later")
  })
})
