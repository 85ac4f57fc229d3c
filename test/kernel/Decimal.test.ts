import { Decimal, PlainJson, Rational } from "@bursar/engine-core/kernel"
import { Arbitrary, Effect, Result, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const LIMIT = 10n ** 38n
const atoms = fc.bigInt({ min: -LIMIT + 1n, max: LIMIT - 1n })
const decimal = fc
  .oneof(
    atoms,
    fc.bigInt({ min: -1_000_000n, max: 1_000_000n }),
    fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n })
  )
  .map(Decimal.fromAtoms)
const modest = fc
  .oneof(fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }), fc.bigInt({ min: -200n, max: 200n }))
  .map(Decimal.fromAtoms)
const places = fc.integer({ min: 0, max: 10 })
const roundings: ReadonlyArray<Decimal.Rounding> = [
  "floor",
  "ceiling",
  "half-up",
  "half-even",
  "nearest"
]
const to = fc.record({ places, rounding: fc.constantFrom(...roundings) })
const d = Decimal.of

/** The rounding as a schoolbook would do it: the two neighbours, then which is nearer. */
const naive = (n: bigint, m: bigint, rounding: Decimal.Rounding): bigint => {
  const [a, b] = m < 0n ? [-n, -m] : [n, m]
  let below = a / b
  if (below * b > a) below -= 1n
  if (below * b === a) return below
  const above = below + 1n
  if (rounding === "floor") return below
  if (rounding === "ceiling") return above
  const toBelow = a - below * b
  const toAbove = above * b - a
  if (toBelow !== toAbove) return toBelow < toAbove ? below : above
  if (rounding === "nearest") return above
  if (rounding === "half-up") return a < 0n ? below : above
  return below % 2n === 0n ? below : above
}

describe("a decimal as text", () => {
  it("never is not read back from either form as it was", () => {
    fc.assert(
      fc.property(decimal, (x) => {
        expect(Result.getOrThrow(Decimal.parse(Decimal.format(x)))).toBe(x)
        expect(Result.getOrThrow(Decimal.parse(Decimal.formatPlain(x)))).toBe(x)
      })
    )
  })

  it("never has not exactly 10 places, or a zero too many in least form", () => {
    fc.assert(
      fc.property(decimal, (x) => {
        expect(Decimal.format(x)).toMatch(/^-?(0|[1-9][0-9]{0,27})\.[0-9]{10}$/)
        expect(Decimal.formatPlain(x)).toMatch(/^-?(0|[1-9][0-9]{0,27})(\.[0-9]{0,9}[1-9])?$/)
      })
    )
  })

  it.each([
    ["1e5", "exponent"],
    ["1E5", "exponent"],
    ["1.5e-3", "exponent"],
    ["0.12345678901", "10 digits after"],
    ["12345678901234567890123456789", "28 digits before"],
    ["-0", "negative zero"],
    ["-0.000", "negative zero"],
    ["", "plain notation"],
    ["-", "plain notation"],
    ["+1", "plain notation"],
    [".5", "plain notation"],
    ["5.", "plain notation"],
    ["01", "plain notation"],
    ["1 ", "plain notation"],
    ["1\n", "plain notation"],
    ["1,5", "plain notation"],
    ["0x10", "plain notation"],
    ["NaN", "plain notation"],
    ["Infinity", "plain notation"],
    ["١", "plain notation"],
    ["9".repeat(10_000), "plain notation"]
  ])("takes %j", (text, why) => {
    const result = Decimal.parse(text)
    expect(Result.isFailure(result) && result.failure.detail).toContain(why)
  })

  it("never refuses the largest figures that fit, or takes one that does not", () => {
    const largest = `${"9".repeat(28)}.${"9".repeat(10)}`
    expect(Decimal.format(d(largest))).toBe(largest)
    expect(Decimal.format(d(`-${largest}`))).toBe(`-${largest}`)
    expect(() => Decimal.add(d(largest), d("0.0000000001"))).toThrow(RangeError)
    expect(() => Decimal.subtract(d(`-${largest}`), d("0.0000000001"))).toThrow(/28 digits/)
    expect(() =>
      Decimal.multiplyRounded(d(largest), d("2"), { places: 10, rounding: "floor" })
    ).toThrow(RangeError)
    expect(() =>
      Decimal.divideRounded(d(largest), d("0.1"), { places: 2, rounding: "floor" })
    ).toThrow(RangeError)
    expect(() => Decimal.round(d(largest), { places: 0, rounding: "ceiling" })).toThrow(RangeError)
    expect(() => Decimal.sum([d(largest), d(largest)])).toThrow(RangeError)
    expect(() => Decimal.fromAtoms(LIMIT)).toThrow(RangeError)
    expect(() => Decimal.fromInteger(2 ** 53)).toThrow(RangeError)
    expect(() => Decimal.fromInteger(0.5)).toThrow(RangeError)
  })

  it("never prints fewer places than it has, or drops a digit doing so", () => {
    expect(Decimal.formatPlaces(d("12.5"), 2)).toBe("12.50")
    expect(Decimal.formatPlaces(d("-0.5"), 1)).toBe("-0.5")
    expect(Decimal.formatPlaces(d("12"), 0)).toBe("12")
    expect(() => Decimal.formatPlaces(d("12.345"), 2)).toThrow(/does not fit/)
    expect(() => Decimal.formatPlaces(d("12.345"), 11)).toThrow(RangeError)
  })
})

describe("a rounding", () => {
  it("never changes what fits its places, or nothing of what does not", () => {
    const few = fc
      .tuple(fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }), places)
      .map(([count, n]) => Decimal.fromAtoms(count * 10n ** BigInt(10 - n)))
    fc.assert(
      fc.property(fc.oneof(modest, few), to, (x, rounding) => {
        expect(Decimal.fits(x, rounding.places)).toBe(Decimal.round(x, rounding) === x)
      })
    )
    expect([Decimal.fits(d("-1.20"), 1), Decimal.fits(d("1.21"), 1)]).toEqual([true, false])
  })

  it("never differs from the schoolbook in a product", () => {
    fc.assert(
      fc.property(modest, modest, to, (a, b, to) => {
        const unit = 10n ** BigInt(10 - to.places)
        const expected = naive(a * b, 10n ** 10n * unit, to.rounding) * unit
        expect(Decimal.atoms(Decimal.multiplyRounded(a, b, to))).toBe(expected)
      }),
      { numRuns: 2000 }
    )
  })

  it("never differs from the schoolbook in a product that ties", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -1000n, max: 1000n }), to, (n, to) => {
        fc.pre(to.places < 10)
        // (2n + 1) halves of a unit at the places asked, times one.
        const half = (10n ** BigInt(10 - to.places) / 2n) * (2n * n + 1n)
        const unit = 10n ** BigInt(10 - to.places)
        const x = Decimal.fromAtoms(half)
        const expected = naive(half, unit, to.rounding) * unit
        expect(Decimal.atoms(Decimal.multiplyRounded(x, Decimal.one, to))).toBe(expected)
        expect(Decimal.atoms(Decimal.round(x, to))).toBe(expected)
        expect(Decimal.atoms(Decimal.divideRounded(x, Decimal.one, to))).toBe(expected)
        expect(Decimal.atoms(Rational.round(Rational.of(x), to))).toBe(expected)
      }),
      { numRuns: 2000 }
    )
  })

  it("never differs from the schoolbook in a quotient", () => {
    fc.assert(
      fc.property(modest, modest, to, (a, b, to) => {
        fc.pre(b !== 0n)
        const unit = 10n ** BigInt(10 - to.places)
        const expected = naive(a * 10n ** BigInt(to.places), b, to.rounding) * unit
        expect(Decimal.atoms(Decimal.divideRounded(a, b, to))).toBe(expected)
      }),
      { numRuns: 2000 }
    )
  })

  it("never differs from the schoolbook in a product that ties at the tenth place", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -500n, max: 500n }),
        fc.constantFrom(...roundings),
        (n, rounding) => {
          const odd = Decimal.fromAtoms(5n * (2n * n + 1n))
          const product = Decimal.multiplyRounded(odd, d("0.1"), { places: 10, rounding })
          expect(Decimal.atoms(product)).toBe(
            naive(5n * (2n * n + 1n) * 10n ** 9n, 10n ** 10n, rounding)
          )
        }
      )
    )
  })

  it("never differs from the schoolbook in a fraction of small integers, odd and even", () => {
    const small = fc.integer({ min: -60, max: 60 })
    fc.assert(
      fc.property(small, small, to, (a, b, to) => {
        fc.pre(b !== 0)
        const fraction = Rational.divide(Rational.fromInteger(a), Rational.fromInteger(b))
        const unit = 10n ** BigInt(10 - to.places)
        const expected = naive(BigInt(a) * 10n ** BigInt(to.places), BigInt(b), to.rounding) * unit
        expect(Decimal.atoms(Rational.round(fraction, to))).toBe(expected)
      }),
      { numRuns: 3000 }
    )
    const third = (n: number) => Rational.divide(Rational.fromInteger(n), Rational.fromInteger(3))
    const even = { places: 0, rounding: "half-even" } as const
    expect([4, 5, -4, -5].map((n) => Decimal.formatPlain(Rational.round(third(n), even)))).toEqual([
      "1",
      "2",
      "-1",
      "-2"
    ])
  })

  it("never moves a figure that already has the places asked, or moves it a second time", () => {
    fc.assert(
      fc.property(modest, to, to, (x, first, second) => {
        const once = Decimal.round(x, first)
        expect(
          Decimal.round(once, { ...second, places: Math.max(first.places, second.places) })
        ).toBe(once)
      })
    )
  })

  it("never leaves the interval between floor and ceiling", () => {
    fc.assert(
      fc.property(modest, to, (x, to) => {
        const rounded = Decimal.round(x, to)
        expect(Decimal.atLeast(rounded, Decimal.round(x, { ...to, rounding: "floor" }))).toBe(true)
        expect(Decimal.atMost(rounded, Decimal.round(x, { ...to, rounding: "ceiling" }))).toBe(true)
      })
    )
  })

  const table: ReadonlyArray<readonly [string, ...ReadonlyArray<string>]> = [
    ["2.5", "2", "3", "3", "2", "3"],
    ["3.5", "3", "4", "4", "4", "4"],
    ["0.5", "0", "1", "1", "0", "1"],
    ["-0.5", "-1", "0", "-1", "0", "0"],
    ["-1.5", "-2", "-1", "-2", "-2", "-1"],
    ["-2.5", "-3", "-2", "-3", "-2", "-2"],
    ["1.4999999999", "1", "2", "1", "1", "1"],
    ["1.5000000001", "1", "2", "2", "2", "2"],
    ["-1.4999999999", "-2", "-1", "-1", "-1", "-1"],
    ["-1.5000000001", "-2", "-1", "-2", "-2", "-2"],
    ["7", "7", "7", "7", "7", "7"],
    ["0", "0", "0", "0", "0", "0"]
  ]
  it.each(table)("never brings %s elsewhere than its table says", (given, ...expected) => {
    expect(
      roundings.map((rounding) =>
        Decimal.formatPlain(Decimal.round(d(given), { places: 0, rounding }))
      )
    ).toEqual(expected)
  })

  it("never takes more than 10 places, fewer than none, or a division by zero", () => {
    for (const places of [11, -1, 1.5, Number.NaN]) {
      const to = { places, rounding: "floor" } as const
      expect(() => Decimal.round(Decimal.one, to)).toThrow(RangeError)
      expect(() => Decimal.multiplyRounded(Decimal.one, Decimal.one, to)).toThrow(RangeError)
      expect(() => Decimal.divideRounded(Decimal.one, Decimal.one, to)).toThrow(RangeError)
      expect(() => Rational.round(Rational.one, to)).toThrow(RangeError)
    }
    expect(() =>
      Decimal.divideRounded(Decimal.one, Decimal.zero, { places: 2, rounding: "floor" })
    ).toThrow(/: division by zero/)
    expect(() => Rational.divide(Rational.one, Rational.zero)).toThrow(/: division by zero/)
  })
})

describe("decimal arithmetic", () => {
  it("never is no group under addition", () => {
    fc.assert(
      fc.property(modest, modest, modest, (a, b, c) => {
        expect(Decimal.add(a, b)).toBe(Decimal.add(b, a))
        expect(Decimal.add(Decimal.add(a, b), c)).toBe(Decimal.add(a, Decimal.add(b, c)))
        expect(Decimal.subtract(Decimal.add(a, b), b)).toBe(a)
        expect(Decimal.add(a, Decimal.negate(a))).toBe(Decimal.zero)
        expect(Decimal.sum([a, b, c])).toBe(Decimal.add(Decimal.add(a, b), c))
      })
    )
  })

  it("orders as its texts do as numbers", () => {
    fc.assert(
      fc.property(modest, modest, (a, b) => {
        const sign = a < b ? -1 : a > b ? 1 : 0
        expect(Decimal.compare(a, b)).toBe(sign)
        expect(Decimal.order(a, b)).toBe(sign)
        expect([Decimal.lessThan(a, b), Decimal.greaterThan(a, b), Decimal.equals(a, b)]).toEqual([
          sign < 0,
          sign > 0,
          sign === 0
        ])
        expect([Decimal.atMost(a, b), Decimal.atLeast(a, b)]).toEqual([sign <= 0, sign >= 0])
        expect(Decimal.add(Decimal.min(a, b), Decimal.max(a, b))).toBe(Decimal.add(a, b))
        expect(Decimal.atMost(Decimal.min(a, b), Decimal.max(a, b))).toBe(true)
        expect(Decimal.abs(a)).toBe(Decimal.max(a, Decimal.negate(a)))
        expect([Decimal.isNegative(a), Decimal.isZero(a), Decimal.isPositive(a)]).toEqual([
          a < 0n,
          a === 0n,
          a > 0n
        ])
      })
    )
  })

  it("never gives another figure than the golden vectors G1 to G6 and G10", () => {
    const p = d("1.0437")
    const floor6 = { places: 6, rounding: "floor" } as const
    const floor2 = { places: 2, rounding: "floor" } as const
    const up2 = { places: 2, rounding: "ceiling" } as const
    const ten = { places: 10, rounding: "half-up" } as const
    // G1
    const g1 = Decimal.divideRounded(d("100000"), p, floor6)
    expect(Decimal.formatPlaces(g1, 6)).toBe("95812.973076")
    expect(Decimal.format(Decimal.subtract(d("100000"), Decimal.multiplyRounded(g1, p, ten)))).toBe(
      "0.0000005788"
    )
    expect(Decimal.format(Decimal.multiplyRounded(g1, p, floor2))).toBe("99999.9900000000")
    // G2
    const fee2 = Decimal.multiplyRounded(d("12345.67"), d("0.0075"), up2)
    const rest2 = Decimal.subtract(d("12345.67"), fee2)
    const units2 = Decimal.divideRounded(rest2, p, floor6)
    expect([Decimal.formatPlaces(fee2, 2), Decimal.formatPlaces(units2, 6)]).toEqual([
      "92.60",
      "11740.030660"
    ])
    expect(Decimal.format(Decimal.subtract(rest2, Decimal.multiplyRounded(units2, p, ten)))).toBe(
      "0.0000001580"
    )
    // G3
    const fee3 = Decimal.multiplyRounded(d("100000"), d("0.005"), up2)
    expect(Decimal.formatPlaces(fee3, 2)).toBe("500.00")
    expect(
      Decimal.formatPlaces(Decimal.divideRounded(Decimal.subtract(d("100000"), fee3), p, floor6), 6)
    ).toBe("95333.908211")
    // G4
    expect(Decimal.formatPlaces(Decimal.multiplyRounded(d("95000"), p, up2), 2)).toBe("99151.50")
    // G5
    const up6 = { places: 6, rounding: "ceiling" } as const
    const net = Rational.multiply(
      Rational.of(p),
      Rational.subtract(Rational.one, Rational.of(d("0.005")))
    )
    expect(Decimal.formatPlaces(Decimal.divideRounded(d("25000"), p, up6), 6)).toBe("23953.243270")
    expect(
      Decimal.formatPlaces(Rational.round(Rational.divide(Rational.of(d("25000")), net), up6), 6)
    ).toBe("24073.611326")
    // G6
    const g6 = Rational.multiply(Rational.of(d("1234.567891")), net)
    expect(Decimal.formatPlaces(Rational.round(g6, floor2), 2)).toBe("1282.07")
    // G10
    expect(Decimal.format(Decimal.multiplyRounded(p, d("1.0015"), ten))).toBe("1.0452655500")
    expect(Decimal.format(Decimal.multiplyRounded(p, d("0.999"), ten))).toBe("1.0426563000")
  })
})

describe("a fraction", () => {
  const rational = fc
    .tuple(
      modest,
      modest.filter((x) => x !== 0n)
    )
    .map(([a, b]) => Rational.divide(Rational.of(a), Rational.of(b)))

  it("never is not exact: what is divided and multiplied, or added and taken away, is another", () => {
    fc.assert(
      fc.property(rational, rational, (a, b) => {
        expect(Rational.equals(Rational.subtract(Rational.add(a, b), b), a)).toBe(true)
        if (!Rational.isZero(b))
          expect(Rational.equals(Rational.divide(Rational.multiply(a, b), b), a)).toBe(true)
        expect(Rational.equals(Rational.negate(Rational.negate(a)), a)).toBe(true)
        expect(Rational.compare(a, b)).toBe(-Rational.compare(b, a) + 0)
        expect(a.denominator > 0n && b.denominator > 0n).toBe(true)
      })
    )
  })

  it("never rounds once less or more than a division does", () => {
    fc.assert(
      fc.property(modest, modest, to, (a, b, to) => {
        fc.pre(b !== 0n)
        expect(Rational.round(Rational.divide(Rational.of(a), Rational.of(b)), to)).toBe(
          Decimal.divideRounded(a, b, to)
        )
      })
    )
  })

  it("never grows without end, or changes when its common factors are taken out", () => {
    const third = Rational.divide(Rational.one, Rational.fromInteger(3))
    let product = Rational.one
    for (let i = 0; i < 5000; i++)
      product = i % 2 === 0 ? Rational.multiply(product, third) : Rational.divide(product, third)
    expect(Rational.equals(product, Rational.one)).toBe(true)
    expect(product.denominator < 2n ** 1024n).toBe(true)
    const tenth = Rational.of(d("0.1"))
    expect(
      Rational.equals(Rational.sum(Array.from({ length: 10 }, () => tenth)), Rational.one)
    ).toBe(true)
  })
})

describe("a decimal on the wire", () => {
  it("never prints a figure with other than 10 places, or a caller's own with a zero too many", () => {
    const number = (schema: typeof Decimal.schema, x: string) =>
      PlainJson.stringify(Schema.encodeSync(schema)(d(x)))
    expect(number(Decimal.schema, "1")).toBe("1.0000000000")
    expect(number(Decimal.plain, "1.50")).toBe("1.5")
    expect(Schema.encodeSync(Decimal.text)(d("1000"))).toBe("1000.0000000000")
  })

  it("never takes a string for a number, a number for a string, an exponent or an eleventh place", () => {
    const plain = (text: string) => Result.getOrThrow(PlainJson.parse(text))
    const taken = (schema: Schema.Codec<Decimal.Decimal, unknown>, text: string) =>
      Result.isSuccess(Schema.decodeUnknownResult(schema)(plain(text)))
    expect(taken(Decimal.schema, "1.5")).toBe(true)
    expect(taken(Decimal.text, '"1.5"')).toBe(true)
    for (const text of ['"1.5"', "1e2", "1.00000000001", "-0", "null", "true", "[1]", "{}"]) {
      expect([text, taken(Decimal.schema, text)]).toEqual([text, false])
    }
    expect(taken(Decimal.text, "1.5")).toBe(false)
    expect(Result.isSuccess(Schema.decodeUnknownResult(Decimal.schema)(1.5))).toBe(false)
  })

  it("never shows OpenAPI another form than a number of format decimal", () => {
    expect(Schema.toJsonSchemaDocument(Decimal.schema).schema).toEqual({
      type: "number",
      title: "Decimal",
      format: "decimal",
      description:
        "A decimal in plain notation, with at most 28 digits before the point and exactly 10 after it."
    })
    expect(Schema.toJsonSchemaDocument(Decimal.text).schema).toEqual({
      type: "string",
      format: "decimal",
      description:
        "A decimal in plain notation, as a string, with at most 28 digits before the point and 10 after it."
    })
  })

  it("can be generated, and is read back from what encodes it", () => {
    for (const schema of [Decimal.schema, Decimal.plain]) {
      const values = Effect.runSync(
        Arbitrary.sampleEffect(Arbitrary.schema(schema), { count: 200, seed: 7 })
      )
      for (const value of values) {
        const text = PlainJson.stringify(Schema.encodeSync(schema)(value))
        expect(Schema.decodeUnknownSync(schema)(Result.getOrThrow(PlainJson.parse(text)))).toBe(
          value
        )
      }
    }
  })
})
