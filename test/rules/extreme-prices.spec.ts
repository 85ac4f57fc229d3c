/** Prices near the least and the largest: an order beyond its limit is refused, and no figure is a defect. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import * as Cover from "#core/reserves/reserve/CoverRules.ts"
import { keyOf } from "#core/reserves/reserve/ReserveTerms.ts"
import * as Gates from "#core/reserves/reserve-order/ReserveOrderGates.ts"
import { mintStart, reserveRedemptionStart } from "./broken-reserve-orders.ts"

const d = Decimal.of
const { asset, books: sound } = mintStart.sound
const key = keyOf(asset)

interface Extreme {
  /** Worth of a unit: at par, or of an accumulating reserve of which no unit is outstanding. */
  readonly unitWorth: string
  readonly mode?: "par" | "accumulating"
  readonly price?: string
  readonly locked?: string
  readonly outstanding?: string
}

const booksOf = (extreme: Extreme): Cover.ReserveBooks => {
  const [point] = [...sound.points.values()]
  if (point === undefined) throw new Error("the bills have a price")
  return {
    ...sound,
    valuation:
      extreme.mode === "accumulating"
        ? { mode: "accumulating", initialSharePrice: d(extreme.unitWorth) }
        : { mode: "par", parValue: d(extreme.unitWorth) },
    locked: new Map([[key, d(extreme.locked ?? "1000")]]),
    points: new Map([[key, { ...point, price: d(extreme.price ?? "1") }]]),
    outstanding: d(extreme.outstanding ?? "0")
  }
}

/** Checks of the cover that refuse. */
const refusing = (rows: ReturnType<typeof Gates.againstMint>) =>
  rows.flatMap(({ refuses, refusal: { check, gate } }) =>
    refuses && (gate === "reserve-cover" || check === "too-small") ? [check] : []
  )
const minting = (books: Cover.ReserveBooks, deposit: string) =>
  refusing(Gates.againstMint({ ...mintStart.sound, books, deposit: d(deposit) }))
const redeeming = (books: Cover.ReserveBooks, units: string) =>
  refusing(
    Gates.againstRedemption({
      ...reserveRedemptionStart.sound,
      books,
      units: d(units),
      free: d(units)
    })
  )

const least = "0.0000000001"
const most = "999999999999999.9999999999"

describe("an order whose figure is beyond the limit of one order", () => {
  test.each([
    ["a share of the least worth", { unitWorth: least }, "100000"],
    ["a share of the least worth, of the most that is put in", { unitWorth: least }, most],
    ["an accumulating one of it", { unitWorth: least, mode: "accumulating" }, most],
    [
      "an asset of the largest price",
      { unitWorth: "1", price: "9999999999999999999999999999" },
      "1"
    ],
    ["both", { unitWorth: least, price: "9999999999999999999999999999" }, most]
  ] as const)("is refused, as a mint at %s", (_, extreme, deposit) => {
    expect(minting(booksOf(extreme), deposit)).toContain("price-known")
  })

  test.each([
    ["an asset of the least price", { unitWorth: "1", price: least }, "100000"],
    ["the most units", { unitWorth: "1", price: least }, most],
    ["a share of the largest worth", { unitWorth: "999999999999999999", price: least }, most]
  ] as const)("is refused, as a redemption at %s", (_, extreme, units) => {
    const books = booksOf({ ...extreme, outstanding: "1" })
    expect(redeeming(books, units)).toContain("price-known")
  })

  test("is admitted just below it", () => {
    const books = booksOf({ unitWorth: least, locked: "1000000" })
    expect(minting(books, "99999.9999999999")).toEqual([])
    expect(minting(books, "100000")).toEqual(["price-known"])
  })
})

describe("a figure that no decimal holds", () => {
  test("is no price of a share", () => {
    const extreme = {
      unitWorth: "1",
      mode: "accumulating",
      locked: "10000000000000000000"
    } as const
    expect(Cover.sharePriceOf(booksOf({ ...extreme, outstanding: least }))).toBeNull()
    expect(Cover.sharePriceOf(booksOf({ ...extreme, outstanding: "1" }))).not.toBeNull()
    expect(minting(booksOf({ ...extreme, outstanding: least }), "1")).toContain("price-known")
  })

  test.each(["par", "accumulating"] as const)("is nothing that may be minted: %s", (mode) => {
    const extreme = { unitWorth: least, mode } as const
    expect(Cover.mintableOf(booksOf({ ...extreme, locked: "1000000000000000000" }))).toEqual(
      Decimal.zero
    )
    expect(
      Decimal.formatPlain(Cover.mintableOf(booksOf({ ...extreme, locked: "100000000000000000" })))
    ).toBe("1000000000000000000000000000")
  })
})

const textOf = (atoms: bigint) => Decimal.formatPlain(Decimal.fromAtoms(atoms))
/** An amount of any size, as often small as large. */
const anySize = (digits: number, min = 1n) =>
  fc
    .integer({ min: 1, max: digits })
    .chain((length) => fc.bigInt({ min, max: 10n ** BigInt(length) + min }))
    .map(textOf)

describe("a figure of the reserve that no decimal holds", () => {
  const large = "9999999999999999999999999999"
  test.each([
    ["what is locked is worth more", { unitWorth: "1", price: large, outstanding: "10" }],
    ["more is required", { unitWorth: most, outstanding: large }],
    ["the ratio is more", { unitWorth: least, locked: large, outstanding: "0.000001" }]
  ] as const)("leaves the cover unknown and no order with a figure: %s", (_, extreme) => {
    const books = booksOf(extreme)
    const { ratio, state } = Cover.coverOf(books)
    expect([ratio, state, Cover.mintableOf(books)]).toEqual([null, "unknown", Decimal.zero])
    expect(minting(books, "1")).toContain("price-known")
    expect(redeeming(books, "1")).toContain("price-known")
    expect(Cover.isReleasable(books, asset)).toBe(false)
  })

  test("is shown as the largest whole decimal, and the others as they are", () => {
    const books = booksOf({ unitWorth: "1", price: large, outstanding: "10" })
    const { counted, required } = Cover.coverOf(books)
    expect([required, counted].map(Decimal.formatPlain)).toEqual(["10", large])
    expect(
      Cover.assetFiguresOf(books).map(({ counted, value }) =>
        [value, counted].map(Decimal.formatPlain)
      )
    ).toEqual([
      ["0", "0"],
      [large, large]
    ])
  })
})

describe("at whatever prices", () => {
  it("an order is refused or has its figure, and the reserve has its figures", () => {
    fc.assert(
      fc.property(
        fc.record({
          mode: fc.constantFrom("par" as const, "accumulating" as const),
          unitWorth: anySize(14),
          price: fc.oneof(anySize(14, 0n), anySize(37)),
          locked: fc.oneof(anySize(22), anySize(36)),
          outstanding: fc.oneof(fc.constant("0"), anySize(24, 10n ** 10n), anySize(36, 10n ** 24n))
        }),
        anySize(24),
        (extreme, amount) => {
          const books = booksOf(extreme)
          const size = Decimal.min(d(amount), d(most))
          const units = Gates.unitsOf({ asset, books, deposit: size })
          const payout = Gates.payoutOf({ asset, books, units: size })
          const mint = minting(books, Decimal.formatPlain(size))
          const redemption = redeeming(books, Decimal.formatPlain(size))
          expect(mint.includes("price-known")).toBe(units === null)
          expect(redemption.includes("price-known")).toBe(payout === null)
          expect(Decimal.isNegative(Cover.mintableOf(books))).toBe(false)
          const { counted } = Cover.coverOf(books)
          expect(Decimal.sum(Cover.assetFiguresOf(books).map((one) => one.counted))).toEqual(
            counted
          )
        }
      ),
      { numRuns: 1000 }
    )
  })
})
