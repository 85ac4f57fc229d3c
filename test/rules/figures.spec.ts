/**
 * Figures of a four-eyes write: which difference counts as a move, and which text is hashed and signed
 * (docs/contract/four-eyes.md#figures).
 */
import { createHash } from "node:crypto"
import { Decimal } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Figures from "#core/writes/Figures.ts"

const derived = (
  figures: Readonly<Record<string, string | bigint>>,
  tolerance = "0"
): Figures.DerivedFigures => ({
  figures: Object.fromEntries(
    Object.entries(figures).map(([name, figure]) => [
      name,
      typeof figure === "bigint" ? Decimal.fromInteger(figure) : figure
    ])
  ),
  tolerance: Decimal.of(tolerance)
})

const number = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(Decimal.fromAtoms)
const figures = fc.dictionary(fc.string(), fc.oneof(number, fc.string()), { maxKeys: 6 })
const tolerance = fc.bigInt({ min: 0n, max: 10n ** 10n }).map(Decimal.fromAtoms)

describe("figures", () => {
  it("that nothing has changed have no movements", () => {
    fc.assert(
      fc.property(figures, tolerance, (figures, tolerance) => {
        const same = { figures, tolerance }
        expect(Figures.moved(Figures.shown(same), same)).toEqual([])
      })
    )
  })

  it("never may move by more, or may not move by as much, as the tolerance of what was signed", () => {
    fc.assert(
      fc.property(number, number, tolerance, (before, after, tolerance) => {
        const signed = Figures.shown({ figures: { a: before }, tolerance })
        const [from, to] = [Decimal.atoms(before), Decimal.atoms(after)]
        const size = (count: bigint) => (count < 0n ? -count : count)
        const within = size(to - from) * 10n ** 10n <= Decimal.atoms(tolerance) * size(from)
        expect(Figures.moved(signed, { figures: { a: after }, tolerance })).toEqual(
          within ? [] : ["a"]
        )
      })
    )
  })

  it.each([
    ["a number by the whole tolerance", { a: "200" }, derived({ a: 202n }, "0.01"), []],
    ["a number by an atom more", { a: "200.0000000001" }, derived({ a: 202n }, "0.0099"), ["a"]],
    ["a number, where nothing may move", { a: "200" }, derived({ a: 201n }), ["a"]],
    ["anything from 0", { a: "0" }, derived({ a: 1n }, "1"), ["a"]],
    ["a number past 0", { a: "-1" }, derived({ a: 1n }, "1"), ["a"]],
    ["a text, however near", { a: "100" }, derived({ a: "101" }, "1"), ["a"]],
    ["what came", {}, derived({ a: 1n }, "1"), ["a"]],
    ["what went", { a: "1" }, derived({}, "1"), ["a"]],
    ["a text that became a number", { a: "point-1" }, derived({ a: 1n }, "1"), ["a"]],
    ["several, by their names", { b: "1", a: "1" }, derived({ c: 1n, b: 2n, a: 1n }), ["b", "c"]]
  ])("move otherwise than they should: %s", (_, signed, now, moved) => {
    expect(Figures.moved(signed, now)).toEqual(moved)
  })

  it("never are hashed by another text than the one written down", () => {
    const kept = Figures.shown(derived({ units: 1000n, cash: "1.50", "a b": 0n }))
    const text = 'bursar-figures-v1\n{"a b":"0","cash":"1.50","units":"1000"}'
    expect(Figures.hashText(kept)).toBe(text)
    const sha256 = (said: string) => createHash("sha256").update(said).digest("hex")
    expect(Figures.hashOf(kept, { sha256 })).toBe(sha256(text))
  })
})
