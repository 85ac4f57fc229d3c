/** The laws of a partial order, for every scale terms are compared by and for any of their values. */
import { Direction } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

interface Terms {
  readonly most: number | null
  readonly least: number | null
  readonly opens: number | null
  readonly mode: "closed" | "narrow" | "open" | "unheard-of"
  readonly isAllowed: boolean
  readonly assets: ReadonlyArray<string>
  readonly name: { readonly first: string; readonly second: string | null }
  readonly band: { readonly up: bigint; readonly down: bigint } | null
  readonly margins: Readonly<Record<string, number>>
  readonly source: string | null
}

const scale = Direction.struct<Terms>({
  most: Direction.optional("widest", Direction.larger),
  least: Direction.optional("widest", Direction.smaller),
  opens: Direction.optional("narrowest", Direction.larger),
  mode: Direction.ranked<Terms["mode"]>("closed", "narrow", "open"),
  isAllowed: Direction.whenTrue,
  assets: Direction.inclusion,
  name: Direction.neither,
  band: Direction.optional(
    "widest",
    Direction.struct({ up: Direction.larger, down: Direction.larger })
  ),
  margins: Direction.named<number>((name) =>
    name === "fixed"
      ? Direction.by((value) => value ?? 1, Direction.larger)
      : Direction.optional(name === "loose" ? "widest" : "narrowest", Direction.larger)
  ),
  source: Direction.optional("apart", Direction.neither)
})

const names: ReadonlyArray<string> = [
  "most",
  "least",
  "opens",
  "mode",
  "isAllowed",
  "assets",
  "name",
  "band",
  "margins",
  "source"
] satisfies ReadonlyArray<keyof Terms>

/** Few values of each, so that equal ones and whole chains come often. */
const little = fc.constantFrom(0, 1, 2)
const terms: fc.Arbitrary<Terms> = fc.record({
  most: fc.option(little),
  least: fc.option(little),
  opens: fc.option(little),
  mode: fc.constantFrom<Terms["mode"]>("closed", "narrow", "open", "unheard-of"),
  isAllowed: fc.boolean(),
  assets: fc.subarray(["a", "b", "c"]),
  name: fc.record({ first: fc.constantFrom("x", "y"), second: fc.constantFrom(null, "z") }),
  band: fc.option(
    fc.record({ up: fc.bigInt({ min: 0n, max: 1n }), down: fc.bigInt({ min: 0n, max: 1n }) })
  ),
  margins: fc.dictionary(fc.constantFrom("fixed", "loose", "tight", "__proto__"), little),
  source: fc.constantFrom(null, "s", "t")
})
/** One that differs in few members from the one before, so that comparable terms are not rare. */
const chain = fc
  .tuple(terms, fc.array(fc.tuple(terms, fc.subarray([...names])), { minLength: 2 }))
  .map(([first, steps]) =>
    steps.reduce<ReadonlyArray<Terms>>(
      (all, [other, changed]) => {
        const last = all.at(-1) ?? first
        const said = Object.entries(other).filter(([name]) => changed.includes(name))
        return [...all, { ...last, ...Object.fromEntries(said) }]
      },
      [first]
    )
  )

const between = (from: Terms, to: Terms) => Direction.between(scale, { from, to })
const runs = { numRuns: 2_000 }
const isShut = (direction: ReturnType<typeof between>) => direction !== "loosen"

describe("the order of terms", () => {
  it("finds no change where nothing changed", () =>
    fc.assert(
      fc.property(terms, (one) => {
        expect(scale.changes({ from: one, to: structuredClone(one) })).toEqual([])
      }),
      runs
    ))

  it("turns every tightening into a loosening when it is taken back", () =>
    fc.assert(
      fc.property(chain, ([one, other]) => {
        if (one === undefined || other === undefined) return
        const there = scale.changes({ from: one, to: other })
        const back = scale.changes({ from: other, to: one })
        expect(back.map(({ path }) => path)).toEqual(there.map(({ path }) => path))
        there.forEach(({ direction }, nth) => {
          // A loosening may be between incomparable values, and then it loosens in both directions.
          if (direction === "tighten") expect(back[nth]?.direction).toBe("loosen")
        })
      }),
      runs
    ))

  it("never adds tightenings up to a loosening", () =>
    fc.assert(
      fc.property(chain, (all) => {
        const kept: Array<Terms> = []
        for (const one of all) {
          const last = kept.at(-1)
          if (last === undefined || isShut(between(last, one))) kept.push(one)
        }
        const [first, last] = [kept[0], kept.at(-1)]
        if (first === undefined || last === undefined) return
        expect(between(first, last)).not.toBe("loosen")
      }),
      runs
    ))

  it("says that the whole loosens exactly when one member does", () =>
    fc.assert(
      fc.property(chain, ([one, other]) => {
        if (one === undefined || other === undefined) return
        const changes = scale.changes({ from: one, to: other })
        expect(between(one, other) === "loosen").toBe(
          changes.some(({ direction }) => direction === "loosen")
        )
        expect(between(one, other) === "none").toBe(changes.length === 0)
      }),
      runs
    ))
})

describe("each scale", () => {
  const base: Terms = {
    most: 1,
    least: 1,
    opens: 1,
    mode: "narrow",
    isAllowed: false,
    assets: ["a"],
    name: { first: "x", second: null },
    band: { up: 1n, down: 1n },
    margins: {},
    source: "s"
  }
  it.each<[change: Partial<Terms>, path: string, direction: Direction.Direction]>([
    [{ most: 2 }, "most", "loosen"],
    [{ most: 0 }, "most", "tighten"],
    [{ most: null }, "most", "loosen"],
    [{ least: 2 }, "least", "tighten"],
    [{ least: null }, "least", "loosen"],
    [{ opens: null }, "opens", "tighten"],
    [{ opens: 2 }, "opens", "loosen"],
    [{ mode: "closed" }, "mode", "tighten"],
    [{ mode: "open" }, "mode", "loosen"],
    [{ mode: "unheard-of" }, "mode", "loosen"],
    [{ isAllowed: true }, "isAllowed", "loosen"],
    [{ assets: ["a", "b"] }, "assets", "loosen"],
    [{ assets: [] }, "assets", "tighten"],
    [{ assets: ["b"] }, "assets", "loosen"],
    [{ name: { first: "y", second: null } }, "name", "loosen"],
    [{ band: { up: 0n, down: 1n } }, "band.up", "tighten"],
    [{ band: { up: 1n, down: 2n } }, "band.down", "loosen"],
    [{ band: null }, "band", "loosen"],
    [{ margins: { fixed: 0 } }, "margins.fixed", "tighten"],
    [{ margins: { fixed: 2 } }, "margins.fixed", "loosen"],
    [{ margins: { loose: 9 } }, "margins.loose", "tighten"],
    [{ margins: { tight: 0 } }, "margins.tight", "loosen"],
    [{ source: null }, "source", "loosen"]
  ])("%o", (change, path, direction) => {
    const changes = scale.changes({ from: base, to: { ...base, ...change } })
    expect(changes.map((one) => [one.path.join("."), one.direction])).toEqual([[path, direction]])
  })

  it("sees a value that says what its absence says as no change", () => {
    expect(between(base, { ...base, margins: { fixed: 1 } })).toBe("none")
  })
})
