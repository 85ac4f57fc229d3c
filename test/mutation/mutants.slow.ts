/**
 * Mutants of a source: the small faults that can be planted into it, each of which changes the code
 * that runs.
 */
import { describe, expect, it } from "vitest"
import { sources } from "../architecture/sources.ts"
import { costOf, isCovered, piecesOf } from "./coverage.ts"
import { isWithin, mutantsOf, planted } from "./mutants.ts"
import { nearestBy } from "./nearest.ts"

const becoming = (text: string): ReadonlyArray<string> =>
  mutantsOf("x.ts", text).map((mutant) => planted(text, mutant))

describe("the faults of a source", () => {
  it.each<[text: string, faults: ReadonlyArray<string>]>([
    ["const a = b === c", ["const a = b !== c"]],
    ["const a = b < c", ["const a = b <= c", "const a = b >= c"]],
    ["const a = b && !c", ["const a = b || !c", "const a = b && c"]],
    ["const a = b ? c : d", ["const a = (c)", "const a = (d)"]],
    ["if (a) b()", ["if (false) b()", "if (true) b()", "if (a) ;"]],
    ["const a = [b, c]", ["const a = [c]", "const a = [b]"]],
    ["const a = true", ["const a = false"]],
    ["const a = 0", ["const a = 1"]],
    ["const a = 5n", ["const a = 5n + 1n"]],
    ["const a = b.some(c)", ["const a = b.every(c)"]],
    [
      'const a = ["open", "shut"]',
      [
        'const a = ["shut"]',
        'const a = ["shut", "shut"]',
        'const a = ["open"]',
        'const a = ["open", "open"]'
      ]
    ]
  ])("%s", (text, faults) => {
    expect(becoming(text).toSorted()).toEqual(faults.toSorted())
  })

  it.each([
    "type A = 1 | 2",
    "interface A { readonly state: 'open' | 'shut' }",
    "const a: Array<1> = b as 2",
    'import { a } from "b"',
    'export { a } from "b"',
    'const a = { "open": b, shut: c }',
    'throw new Error("what a person reads")',
    "const a = b.toString()"
  ])("%s has none: nothing that runs would change", (text) => {
    expect(becoming(text)).toEqual([])
  })

  it("every one of the project's own is of the text it says, and changes it", () => {
    const wrong = sources.flatMap(({ path, text }) =>
      mutantsOf(path, text).filter(
        (mutant) =>
          text.slice(mutant.start, mutant.end) !== mutant.was || planted(text, mutant) === text
      )
    )
    expect(wrong).toEqual([])
  })
})

describe("the folders that get faults", () => {
  it.each([
    ["src/reserves/reserve/CoverRules.ts", "src/reserves", true],
    ["src/reserves/reserve/CoverRules.ts", "src/reserves/reserve/CoverRules.ts", true],
    ["src/reserves-of-others/CoverRules.ts", "src/reserves", false],
    ["other/src/reserves/CoverRules.ts", "src/reserves", false]
  ])("%s in %s: %s", (path, place, isIn) => {
    expect(isWithin(path, place)).toBe(isIn)
  })
})

describe("the tests that are asked of a fault", () => {
  it("are for every source some, those of its own kind first", () => {
    const nearest = nearestBy()
    const testsOf = (path: string) => nearest(`packages/engine-core/src/${path}`)
    expect(
      sources.filter(
        ({ path, text }) =>
          text.includes("=>") && !path.endsWith(".d.ts") && nearest(path).length === 0
      )
    ).toEqual([])
    expect(testsOf("orders/dealing-cycle/DealingCycleGates.ts")[0]).toBe(
      "test/rules/dealing-cycle-gates.spec.ts"
    )
    expect(testsOf("reads/Cursor.ts")[0]).toBe("test/reads/cursors.spec.ts")
    expect(testsOf("kernel/Decimal.ts")[0]).toBe("test/kernel/Decimal.test.ts")
  })
})

describe("the places that a test has run", () => {
  const range = (startOffset: number, endOffset: number, count: number) => ({
    startOffset,
    endOffset,
    count
  })

  it.each([
    ["nothing", [], []],
    ["a function", [range(2, 9, 1)], [2, 9]],
    ["a function that never ran", [range(2, 9, 0)], []],
    ["a branch that never ran", [range(2, 9, 1), range(4, 6, 0)], [2, 4, 6, 9]],
    ["a branch within one", [range(2, 9, 1), range(3, 8, 0), range(4, 6, 5)], [2, 3, 4, 6, 8, 9]],
    ["neighbours", [range(6, 9, 1), range(2, 6, 3)], [2, 9]],
    ["apart", [range(7, 9, 1), range(2, 6, 3)], [2, 6, 7, 9]]
  ])("%s", (_, ranges, pieces) => {
    expect(piecesOf(ranges)).toEqual(pieces)
    const covered = Array.from({ length: 10 }, (_, offset) => offset).filter((offset) =>
      isCovered(pieces, offset)
    )
    const innermost = (offset: number) =>
      ranges.findLast((one) => one.startOffset <= offset && offset < one.endOffset)?.count ?? 0
    expect(covered).toEqual(
      Array.from({ length: 10 }, (_, offset) => offset).filter((offset) => innermost(offset) > 0)
    )
  })

  it("ask a slow test of the same subject before a quicker one of another", () => {
    const path = "packages/engine-core/src/reserves/reserve/CoverRules.ts"
    const near = costOf({ path }, { test: "test/rules/reserve-cover.spec.ts", millis: 300 })
    expect(near).toBeLessThan(costOf({ path }, { test: "test/rules/zone.spec.ts", millis: 200 }))
  })
})
