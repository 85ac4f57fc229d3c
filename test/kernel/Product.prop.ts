/** The product in 64-bit words is the product: against the textbook division, at every edge of a word. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { product, type Rounding } from "#core/kernel/Rounding.ts"

const roundings: ReadonlyArray<Rounding> = ["floor", "ceiling", "half-up", "half-even", "nearest"]

/** numerator ÷ 10^(20 − places), rounded by the definitions, in whole bigints. */
const textbook = (numerator: bigint, places: number, rounding: Rounding): bigint => {
  const denominator = 10n ** BigInt(20 - places)
  const remainder = ((numerator % denominator) + denominator) % denominator
  const down = (numerator - remainder) / denominator
  const twice = remainder * 2n - denominator
  const up = {
    floor: false,
    ceiling: remainder > 0n,
    nearest: twice >= 0n,
    "half-up": numerator >= 0n ? twice >= 0n : twice > 0n,
    "half-even": twice > 0n || (twice === 0n && (down & 1n) === 1n)
  }[rounding]
  return (up ? down + 1n : down) * 10n ** BigInt(10 - places)
}

/** Any size up to beyond a word, and the neighbours of every place where the words are cut. */
const edges = [10n ** 9n, 2n ** 31n, 2n ** 32n, 10n ** 18n, 2n ** 62n, 2n ** 63n, 2n ** 64n]
const factor = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 66n }),
  fc.bigInt({ min: 0n, max: 10n ** 12n }),
  fc.tuple(fc.constantFrom(...edges), fc.bigInt({ min: -3n, max: 3n })).map(([a, b]) => a + b),
  // Half a unit at some place: ties.
  fc.nat({ max: 18 }).map((n) => 5n * 10n ** BigInt(n))
)

describe("a product rounded once", () => {
  it("is the textbook's at every edge of a 64-bit word", () => {
    fc.assert(
      fc.property(
        factor,
        factor,
        fc.nat({ max: 10 }),
        fc.constantFrom(...roundings),
        fc.boolean(),
        (left, right, places, rounding, negative) => {
          const a = negative ? -left : left
          assert.strictEqual(
            product(a, right, { places, rounding }),
            textbook(a * right, places, rounding)
          )
        }
      ),
      { numRuns: 50_000 }
    )
  })
})
