/** Gates of mints and reserve redemptions at each edge, and the names in their refusals. */
import { Decimal, Duration, type Instant } from "@bursar/engine-core/kernel"
import { describe, expect, test } from "vitest"
import { gateChecksOf, type Judgement } from "#core/kernel/Gates.ts"
import type * as CoverRules from "#core/reserves/reserve/CoverRules.ts"
import { keyOf } from "#core/reserves/reserve/ReserveTerms.ts"
import * as Gates from "#core/reserves/reserve-order/ReserveOrderGates.ts"
import * as Broken from "./broken.ts"
import * as Orders from "./broken-reserve-orders.ts"

const d = Decimal.of
const { nextMonth: later, now, past } = Broken
const mintStart = Orders.mintStart.sound
const mintSettle = Orders.mintSettle.sound
const redemptionStart = Orders.reserveRedemptionStart.sound
const redemptionSettle = Orders.reserveRedemptionSettle.sound

type OfMint = Pick<Gates.StartingMint, Extract<keyof Gates.StartingMint, keyof Gates.SettlingMint>>
type Common = Pick<
  Gates.StartingRedemption,
  Extract<keyof Gates.StartingRedemption, keyof Gates.SettlingRedemption>
>

const { asset: bill, books } = mintStart
const key = keyOf(bill)
const cash = { admin: bill.admin, id: "USD" }

const booked = <S extends Common>(context: S, change: Partial<CoverRules.ReserveBooks>): S => ({
  ...context,
  books: { ...context.books, ...change }
})
/** The same at another price of the bills. */
const at = <S extends Common>(context: S, price: string): S =>
  booked(context, { points: new Map([[key, { price: d(price), valuationTime: now }]]) })

/** Names of the checks that refuse, each with its detail. */
const refusing = (
  rows: ReadonlyArray<Judgement>
): ReadonlyArray<readonly [string, string | null]> =>
  gateChecksOf(rows)
    .filter(({ ok }) => !ok)
    .map(({ check, detail }) => [check, detail ?? null])
const named = (rows: ReadonlyArray<Judgement>) => refusing(rows).map(([check]) => check)

const ofMint = <S extends OfMint>(context: S, change: Partial<OfMint>): S => ({
  ...context,
  ...change
})
/** Checks of both acts of a mint in this context. */
const mints = (change: Partial<OfMint>) => [
  named(Gates.againstMint(ofMint(mintStart, change))),
  named(Gates.againstMintSettlement(ofMint(mintSettle, change)))
]
const withChange = <S extends Common>(context: S, change: Partial<Common>): S => ({
  ...context,
  ...change
})
const redeems = (change: Partial<Common>) => [
  named(Gates.againstRedemption(withChange(redemptionStart, change))),
  named(Gates.againstRedemptionSettlement(withChange(redemptionSettle, change)))
]
const both = (...checks: ReadonlyArray<string>) => [checks, checks]

const admission = (validFrom: Instant.Instant | null) => ({
  admission: { state: "admitted", validFrom, credentialCid: "00bb" } as const
})
const holding = (...blocks: ReadonlyArray<"mint" | "distribution" | "all">) => ({
  holds: [{ holdId: "hold-1", instrumentId: Broken.instrumentId, blocks }] as Common["holds"]
})
const inState = (state: "active" | "closing" | "closed") => ({
  reserve: { ...mintStart.reserve, state }
})
const pending = (kept: "bill" | "cash" | "both") => ({
  reserve: {
    ...mintStart.reserve,
    pending: {
      amendmentId: "am-1",
      effectiveAt: later,
      terms: {
        ...books.terms,
        assets: books.terms.assets.filter(
          ({ asset }) => kept === "both" || (asset.id === bill.id) === (kept === "bill")
        )
      } as never
    }
  }
})

describe("a mint", () => {
  test.each<[text: string, change: Partial<OfMint>, refuses: ReadonlyArray<string>]>([
    ["without any admission is not admitted, and nothing else", { admission: null }, ["admitted"]],
    ["by a credential in force from now on", admission(now), []],
    ["by a credential in force from earlier on", admission(past), []],
    ["by a credential in force later", admission(later), ["credential-in-force"]],
    ["of an instrument that is held for distributions", holding("distribution"), []],
    ["of an instrument that is held for mints", holding("mint"), ["not-held"]],
    ["while other terms wait that keep its asset beside others", pending("both"), []],
    ["while other terms wait that keep its asset alone", pending("bill"), []],
    ["while other terms wait that leave its asset out", pending("cash"), ["asset-in-terms"]],
    ["of a closing reserve", inState("closing"), ["reserve-active"]]
  ])("%s", (_, change, refuses) => {
    expect(mints(change)).toEqual(both(...refuses))
  })
})

describe("a reserve redemption", () => {
  const holder = (state: "active" | "lapsed" | "closed") => ({
    holder: { ...redemptionStart.holder, state }
  })
  test.each<[text: string, change: Partial<Common>, refuses: ReadonlyArray<string>]>([
    ["by a holder that has lapsed", holder("lapsed"), []],
    ["by a holder that is closed", holder("closed"), ["holder-active"]],
    ["of an instrument that is held for every act", holding("all"), ["not-held"]],
    ["of an instrument that is held for mints", holding("mint"), []],
    ["of a closing reserve", inState("closing"), []],
    ["of a closed reserve", inState("closed"), ["reserve-active"]],
    ["while other terms wait that leave its asset out", pending("cash"), []]
  ])("%s", (_, change, refuses) => {
    expect(redeems(change)).toEqual(both(...refuses))
  })
})

// ---- prices of other assets

const gold = { admin: cash.admin, id: "GOLD" }
const goldKey = keyOf(gold)

/** The books with gold besides, of which so much is locked, and priced at this instant if at all. */
const withGold = (
  valuation: CoverRules.ReserveBooks["valuation"]["mode"],
  { pricedAt, units }: { readonly pricedAt: Instant.Instant | null; readonly units: string }
): CoverRules.ReserveBooks => {
  const before = books
  const [, ofBill] = before.terms.assets
  if (ofBill === undefined) throw new Error("the terms have bills")
  return {
    ...before,
    valuation:
      valuation === "par"
        ? before.valuation
        : { mode: "accumulating", initialSharePrice: Decimal.one },
    // Their value is that of the units, so that the share is worth 1 where gold is worth nothing.
    locked: new Map([
      [keyOf(cash), d("500")],
      [key, d("500")],
      [goldKey, d(units)]
    ]),
    outstanding: d("1000"),
    terms: {
      ...before.terms,
      minCover: d("0.5"),
      assets: [...before.terms.assets, { ...ofBill, asset: gold, freshness: Duration.hours(1) }]
    },
    points: new Map([
      ...before.points,
      ...(pricedAt === null
        ? []
        : ([[goldKey, { price: d("1"), valuationTime: pricedAt }]] as const))
    ])
  }
}

describe("the price of another asset", () => {
  const stale = { pricedAt: past, units: "1" }
  const none = { pricedAt: null, units: "1" }
  const unlocked = { pricedAt: past, units: "0" }
  test.each<
    readonly [
      mode: "par" | "accumulating",
      text: string,
      gold: typeof stale | typeof none,
      refuses: readonly [string, string] | null
    ]
  >([
    ["par", "that is stale stops nothing", stale, null],
    ["accumulating", "that is stale stops", stale, ["price-fresh", "The price of GOLD is stale."]],
    ["accumulating", "that is stale, and nothing locked of it, stops nothing", unlocked, null],
    ["par", "that was never published stops nothing", none, null],
    [
      "accumulating",
      "that was never published stops",
      none,
      ["price-known", "No price of GOLD was published."]
    ],
    [
      "accumulating",
      "that was never published, and nothing locked of it, stops nothing",
      { pricedAt: null, units: "0" },
      null
    ]
  ])("%s: %s", (mode, _, asset, refuses) => {
    const self = { ...mintStart, books: withGold(mode, asset) }
    expect(refusing(Gates.againstMint(self)).filter(([check]) => check !== "cover")).toEqual(
      refuses === null ? [] : [refuses]
    )
  })
})

describe("a count that no decimal holds after a mint", () => {
  const largest = d("9999999999999999999999999999")
  const least = Decimal.subtract(largest, mintStart.deposit)
  const beyond = ["cover", "With the mint no decimal would hold what is locked or outstanding."]
  const refusals = (change: Partial<CoverRules.ReserveBooks>) => [
    refusing(Gates.againstMint(booked(mintStart, change))),
    refusing(Gates.againstMintSettlement(booked(mintSettle, change)))
  ]
  /** Half of the asset's worth counts, so that a decimal holds what all of it counts. */
  const locked = (amount: Decimal.Decimal) => ({
    locked: new Map([[key, amount]]),
    terms: {
      ...books.terms,
      assets: books.terms.assets.map((asset) => ({ ...asset, haircut: d("0.5") }))
    }
  })

  test("is that of its asset: refused by its name, and the largest count is not", () => {
    expect(refusals(locked(largest))).toEqual([[beyond], [beyond]])
    expect(refusals(locked(least))).toEqual([[], []])
  })

  test("is that of the units: refused by its name", () => {
    expect(refusals({ outstanding: largest })).toEqual([[beyond], [beyond]])
  })
})

describe("a price that is not known", () => {
  const beyond = "The prices give a figure beyond the limit of one order."
  test("is of the asset itself before any other", () => {
    const reserveBooks = withGold("accumulating", { pricedAt: null, units: "1" })
    const locked = new Map([...reserveBooks.locked].filter(([asset]) => asset !== key))
    const self = { ...mintStart, books: { ...reserveBooks, locked, points: new Map() } }
    expect(refusing(Gates.againstMint(self))[0]).toEqual([
      "price-known",
      "No price of BILL was published."
    ])
  })

  test("gives units beyond the limit of one order", () => {
    const self = at({ ...mintStart, deposit: d("100000000000000") }, "100000")
    expect(refusing(Gates.againstMint(self))).toContainEqual(["price-known", beyond])
  })

  test("is of a share that owns nothing", () => {
    const self = booked(mintStart, {
      valuation: { mode: "accumulating", initialSharePrice: Decimal.one },
      locked: new Map()
    })
    expect(refusing(Gates.againstMint(self))[0]).toEqual([
      "price-known",
      "The units own nothing that has a worth, or more than can be told."
    ])
  })
})

test("a settlement at a price that moved says what the order is for and what the prices give", () => {
  const minted = at(mintSettle, "1.5")
  expect(refusing(Gates.againstMintSettlement(minted))).toEqual([
    ["price-moved", "The order is for 20 units, and the prices now give 15."]
  ])
  const paid = at(redemptionSettle, "4")
  expect(refusing(Gates.againstRedemptionSettlement(paid))).toEqual([
    ["price-moved", "The order is for 5 BILL, and the prices now give 2.5."]
  ])
})
