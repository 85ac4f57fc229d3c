/**
 * Declarations of the formulas of reserves: value and cover of the locked assets, share price, units
 * of a mint, payout of a redemption, and units that may still be minted
 * (docs/domain/figures.md#reserve-figures).
 */
import * as Formula from "../kernel/Formula.ts"

/** Inputs of the fresh assets, separated by whether a cap limits them. */
const countedInputs = {
  freeUnits: "amounts",
  freePrice: "amounts",
  freeHaircut: "amounts",
  cappedUnits: "amounts",
  cappedPrice: "amounts",
  cappedHaircut: "amounts",
  cappedShare: "amounts"
} as const

/** All assets of the terms that have a price, fresh or stale. */
const grossInputs = { units: "amounts", price: "amounts" } as const

type CountedSheet<T> = Formula.Sheet<
  T,
  Formula.NamesOf<typeof countedInputs, Record<never, Formula.Shape>>
>

/**
 * Exact worth of the units outstanding of an accumulating reserve: all locked assets; 0 while no
 * unit is outstanding.
 */
const ownedOf = <T>({
  amount,
  dot,
  number,
  whenAbove
}: Pick<
  Formula.Sheet<
    T,
    Formula.NamesOf<
      typeof grossInputs & { readonly outstanding: "amount" },
      Record<never, Formula.Shape>
    >
  >,
  "amount" | "dot" | "number" | "whenAbove"
>): T =>
  whenAbove({
    left: amount("outstanding"),
    right: number(0),
    above: () => dot("units", "price"),
    otherwise: () => number(0)
  })

/** Exact value of an asset: its units at its price, less the haircut. */
const valueOf = <T>(
  { multiply, number, subtract }: Pick<Formula.Sheet<T>, "multiply" | "number" | "subtract">,
  [units, price, haircut]: readonly [T, T, T]
): T => multiply(multiply(units, price), subtract(number(1), haircut))

/**
 * Exact sum of the counted values of fresh assets; a capped one counts at most its share of the
 * requirement.
 */
const countedOf = <T>(
  sheet: Pick<CountedSheet<T>, "add" | "each" | "min" | "multiply" | "number" | "subtract">,
  required: T
): T => {
  const { add, each, min, multiply } = sheet
  const free = each({
    lists: ["freeUnits", "freePrice", "freeHaircut"],
    term: (member) =>
      valueOf(sheet, [member("freeUnits"), member("freePrice"), member("freeHaircut")])
  })
  const capped = each({
    lists: ["cappedUnits", "cappedPrice", "cappedHaircut", "cappedShare"],
    term: (member) =>
      min(
        valueOf(sheet, [member("cappedUnits"), member("cappedPrice"), member("cappedHaircut")]),
        multiply(member("cappedShare"), required)
      )
  })
  return add(free, capped)
}

/**
 * Formula of the value of an asset. `freshness` is `fresh` or `stale`; a stale asset is worth 0.
 * `counted` is its counted value where no cap limits it.
 */
export const reserveValue = Formula.declare({
  name: "reserve-value",
  doc: "Value of a locked asset: its units at its price less the haircut, and nothing where the price is stale.",
  inputs: {
    units: "amount",
    price: "amount",
    haircut: "amount",
    freshness: "word",
    currencyDecimals: "places"
  },
  figures: { value: "figure", counted: "figure" },
  work: (sheet) => {
    const { amount, number, round, whenWord } = sheet
    const term = whenWord({
      name: "freshness",
      is: "fresh",
      then: () => valueOf(sheet, [amount("units"), amount("price"), amount("haircut")]),
      otherwise: () => number(0)
    })
    round({ figure: "value", term, places: "currencyDecimals", rounding: "floor" })
    round({ figure: "counted", term, places: "currencyDecimals", rounding: "floor" })
  }
})

const capInputs = {
  value: "amount",
  maxShare: "amount",
  minCover: "amount",
  outstanding: "amount",
  currencyDecimals: "places"
} as const

const capFigures = { cap: "figure", counted: "figure" } as const

/**
 * Term of a cap, as a part of the exact requirement: of the rounded-up one it could be an atom
 * larger.
 */
const cap = <T>(
  sheet: Pick<
    Formula.Sheet<T, Formula.NamesOf<typeof capInputs, typeof capFigures>>,
    "amount" | "min" | "multiply" | "round"
  >,
  outstandingValue: T
) => {
  const { amount, min, multiply, round } = sheet
  const required = multiply(amount("minCover"), outstandingValue)
  const places = "currencyDecimals"
  const term = multiply(amount("maxShare"), required)
  const most = round({ figure: "cap", term, places, rounding: "floor" })
  round({ figure: "counted", term: min(amount("value"), most), places, rounding: "floor" })
}

export const reserveCapPar = Formula.declare({
  name: "reserve-cap-par",
  doc: "Most that an asset counts for units at par, its largest share of the requirement, and what it counts.",
  inputs: { ...capInputs, parValue: "amount" },
  figures: capFigures,
  work: (sheet) => cap(sheet, sheet.multiply(sheet.amount("outstanding"), sheet.amount("parValue")))
})

export const reserveCapAccumulating = Formula.declare({
  name: "reserve-cap-accumulating",
  doc: "Most that an asset counts for units that own the reserve, its largest share of the requirement, and what it counts.",
  inputs: { ...capInputs, ...grossInputs },
  figures: capFigures,
  work: (sheet) => cap(sheet, ownedOf(sheet))
})

const coverFigures = {
  required: "figure",
  counted: "figure",
  ratio: "figure"
} as const

/** Requirement, counted value and their ratio; the ratio is 0 where nothing is outstanding. */
const cover = <T>(
  sheet: Pick<
    CountedSheet<T>,
    "add" | "each" | "min" | "multiply" | "number" | "subtract" | "divide" | "whenAbove"
  > & {
    readonly round: (rounded: {
      readonly figure: keyof typeof coverFigures
      readonly term: T
      readonly places: "currencyDecimals" | number
      readonly rounding: "floor" | "ceiling"
    }) => T
  },
  { minCover, outstandingValue }: { readonly minCover: T; readonly outstandingValue: T }
) => {
  const { divide, multiply, number, round, whenAbove } = sheet
  const required = multiply(minCover, outstandingValue)
  const counted = countedOf(sheet, required)
  const places = "currencyDecimals"
  round({ figure: "required", term: required, places, rounding: "ceiling" })
  round({ figure: "counted", term: counted, places, rounding: "floor" })
  const ratio = whenAbove({
    left: outstandingValue,
    right: number(0),
    above: () => divide(counted, outstandingValue),
    otherwise: () => number(0)
  })
  round({ figure: "ratio", term: ratio, places: 10, rounding: "floor" })
}

export const reserveCoverPar = Formula.declare({
  name: "reserve-cover-par",
  doc: "Cover of units at par: the counted value of the locked assets against minCover of the value outstanding.",
  inputs: {
    ...countedInputs,
    outstanding: "amount",
    parValue: "amount",
    minCover: "amount",
    currencyDecimals: "places"
  },
  figures: coverFigures,
  work: (sheet) =>
    cover(sheet, {
      minCover: sheet.amount("minCover"),
      outstandingValue: sheet.multiply(sheet.amount("outstanding"), sheet.amount("parValue"))
    })
})

/**
 * Formula of the cover of an accumulating reserve, whose units outstanding are worth all locked
 * assets, and 0 while none are outstanding.
 */
export const reserveCoverAccumulating = Formula.declare({
  name: "reserve-cover-accumulating",
  doc: "Cover of units that own the reserve: the counted value of the locked assets against minCover of their worth.",
  inputs: {
    ...countedInputs,
    ...grossInputs,
    outstanding: "amount",
    minCover: "amount",
    currencyDecimals: "places"
  },
  figures: coverFigures,
  work: (sheet) =>
    cover(sheet, { minCover: sheet.amount("minCover"), outstandingValue: ownedOf(sheet) })
})

const shareInputs = {
  ...grossInputs,
  outstanding: "amount",
  initialSharePrice: "amount"
} as const

/** Exact worth of one unit: no haircut, and the last price of an asset even where it is stale. */
const shareOf = <T>({
  amount,
  divide,
  dot,
  number,
  whenAbove
}: Pick<
  Formula.Sheet<T, Formula.NamesOf<typeof shareInputs, Record<never, Formula.Shape>>>,
  "amount" | "divide" | "dot" | "number" | "whenAbove"
>): T =>
  whenAbove({
    left: amount("outstanding"),
    right: number(0),
    above: () => divide(dot("units", "price"), amount("outstanding")),
    otherwise: () => amount("initialSharePrice")
  })

/**
 * Formula of the share price: rounded down for redemptions and up for mints, so that neither gains
 * by rounding.
 */
export const sharePrice = Formula.declare({
  name: "share-price",
  doc: "Worth of one unit of an accumulating reserve, rounded down as redemptions are paid and up as mints are priced.",
  inputs: { ...shareInputs, priceDecimals: "places" },
  figures: { sharePrice: "figure", sharePriceUp: "figure" },
  work: (sheet) => {
    const term = shareOf(sheet)
    const places = "priceDecimals"
    sheet.round({ figure: "sharePrice", term, places, rounding: "floor" })
    sheet.round({ figure: "sharePriceUp", term, places, rounding: "ceiling" })
  }
})

/** Formula of the units of a mint. `sharePrice` is the par value, or the share price rounded up. */
export const mintUnits = Formula.declare({
  name: "mint-units",
  doc: "Units that a deposit mints: its worth without a haircut, by the price of one unit.",
  inputs: { deposit: "amount", price: "amount", sharePrice: "amount", decimals: "places" },
  figures: { units: "figure" },
  work: ({ amount, divide, multiply, round }) => {
    const worth = multiply(amount("deposit"), amount("price"))
    const term = divide(worth, amount("sharePrice"))
    round({ figure: "units", term, places: "decimals", rounding: "floor" })
  }
})

/**
 * Formula of the payout of a redemption. `sharePrice` is the par value, or the share price rounded
 * down.
 */
export const redeemPayout = Formula.declare({
  name: "redeem-payout",
  doc: "Amount of an asset that redeemed units are paid: their worth by the price of the asset.",
  inputs: { units: "amount", price: "amount", sharePrice: "amount", decimals: "places" },
  figures: { payout: "figure" },
  work: ({ amount, divide, multiply, round }) => {
    const worth = multiply(amount("units"), amount("sharePrice"))
    const term = divide(worth, amount("price"))
    round({ figure: "payout", term, places: "decimals", rounding: "floor" })
  }
})

/**
 * `free` are the assets whose caps do not bind at the largest requirement that the reserve meets,
 * `bindingShare` the caps that do (CoverRules.bindingCaps).
 */
const mintableInputs = {
  freeUnits: "amounts",
  freePrice: "amounts",
  freeHaircut: "amounts",
  bindingShare: "amounts",
  minCover: "amount",
  outstanding: "amount",
  decimals: "places"
} as const

type MintableSheet<T> = Pick<
  Formula.Sheet<T, Formula.NamesOf<typeof mintableInputs, { readonly mintable: "figure" }>>,
  "amount" | "divide" | "each" | "max" | "multiply" | "number" | "round" | "subtract" | "total"
>

const mintable = <T>(sheet: MintableSheet<T>, sharePriceOf: () => T) => {
  const { amount, divide, each, max, multiply, number, round, subtract, total } = sheet
  const free = each({
    lists: ["freeUnits", "freePrice", "freeHaircut"],
    term: (member) =>
      valueOf(sheet, [member("freeUnits"), member("freePrice"), member("freeHaircut")])
  })
  const largest = divide(free, subtract(number(1), total("bindingShare")))
  const covered = divide(largest, multiply(amount("minCover"), sharePriceOf()))
  round({
    figure: "mintable",
    term: max(number(0), subtract(covered, amount("outstanding"))),
    places: "decimals",
    rounding: "floor"
  })
}

export const mintablePar = Formula.declare({
  name: "mintable-par",
  doc: "Units at par that the locked assets would still cover.",
  inputs: { ...mintableInputs, parValue: "amount" },
  figures: { mintable: "figure" },
  work: (sheet) => mintable(sheet, () => sheet.amount("parValue"))
})

/** The share price is that of the read, and does not change with the minted units. */
export const mintableAccumulating = Formula.declare({
  name: "mintable-accumulating",
  doc: "Units of an accumulating reserve that the locked assets would still cover at the share price of now.",
  inputs: { ...mintableInputs, ...grossInputs, initialSharePrice: "amount" },
  figures: { mintable: "figure" },
  work: (sheet) => mintable(sheet, () => shareOf(sheet))
})

/** Every formula of reserves. */
export const formulas: ReadonlyArray<Formula.AnyFormula> = [
  reserveValue,
  reserveCapPar,
  reserveCapAccumulating,
  reserveCoverPar,
  reserveCoverAccumulating,
  sharePrice,
  mintUnits,
  redeemPayout,
  mintablePar,
  mintableAccumulating
]
