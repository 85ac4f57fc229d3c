/**
 * Declarations of the formulas of orders and dealing cycles
 * (docs/domain/figures.md#formulas-of-orders).
 */
import * as Formula from "../../kernel/Formula.ts"

/** The fee is taken from the amount, and the rest buys units. */
export const subscribeAmount = Formula.declare({
  name: "subscribe-amount",
  doc: "Units for an amount of cash: the fee comes out of it, the rest buys units.",
  inputs: {
    amount: "amount",
    price: "amount",
    feeRate: "amount",
    unitDecimals: "places",
    cashDecimals: "places",
    residualRule: "word"
  },
  figures: { fee: "figure", units: "figure", residual: "figure", refund: "figure" },
  work: (sheet) => {
    const { amount, subtract, multiply, divide, round } = sheet
    const fee = round({
      figure: "fee",
      term: multiply(amount("amount"), amount("feeRate")),
      places: "cashDecimals",
      rounding: "ceiling"
    })
    const invested = subtract(amount("amount"), fee)
    const units = round({
      figure: "units",
      term: divide(invested, amount("price")),
      places: "unitDecimals",
      rounding: "floor"
    })
    const left = subtract(invested, multiply(units, amount("price")))
    round({ figure: "residual", term: left, places: 10, rounding: "floor" })
    round({
      figure: "refund",
      term: sheet.whenWord({
        name: "residualRule",
        is: "refund",
        then: () => left,
        otherwise: () => sheet.number(0)
      }),
      places: "cashDecimals",
      rounding: "floor"
    })
  }
})

/** The units' cash, and the fee on top; the cash that rounding up adds stays in the fund. */
export const subscribeUnits = Formula.declare({
  name: "subscribe-units",
  doc: "Cash for a number of units, and the fee on top of it.",
  inputs: { units: "amount", price: "amount", feeRate: "amount", cashDecimals: "places" },
  figures: { cash: "figure", fee: "figure", expected: "figure", residual: "figure" },
  work: ({ amount, add, subtract, multiply, round }) => {
    const worth = multiply(amount("units"), amount("price"))
    const taken = { places: "cashDecimals", rounding: "ceiling" } as const
    const cash = round({ figure: "cash", term: worth, ...taken })
    const fee = round({ figure: "fee", term: multiply(worth, amount("feeRate")), ...taken })
    round({ figure: "expected", term: add(cash, fee), ...taken })
    round({ figure: "residual", term: subtract(cash, worth), places: 10, rounding: "floor" })
  }
})

export const redeemUnits = Formula.declare({
  name: "redeem-units",
  doc: "Cash for a number of units, after the fee.",
  inputs: { units: "amount", price: "amount", feeRate: "amount", cashDecimals: "places" },
  figures: { proceeds: "figure", fee: "figure" },
  work: ({ amount, number, subtract, multiply, round }) => {
    const worth = multiply(amount("units"), amount("price"))
    round({
      figure: "proceeds",
      term: multiply(worth, subtract(number(1), amount("feeRate"))),
      places: "cashDecimals",
      rounding: "floor"
    })
    round({
      figure: "fee",
      term: multiply(worth, amount("feeRate")),
      places: "cashDecimals",
      rounding: "ceiling"
    })
  }
})

/** The proceeds are the ordered amount itself, so there is no figure of proceeds to round. */
export const redeemAmount = Formula.declare({
  name: "redeem-amount",
  doc: "Units that have to go for exactly this amount of cash, after the fee.",
  inputs: {
    amount: "amount",
    price: "amount",
    feeRate: "amount",
    unitDecimals: "places",
    cashDecimals: "places"
  },
  figures: { units: "figure", fee: "figure" },
  work: ({ amount, number, subtract, multiply, divide, round }) => {
    const net = multiply(amount("price"), subtract(number(1), amount("feeRate")))
    const units = round({
      figure: "units",
      term: divide(amount("amount"), net),
      places: "unitDecimals",
      rounding: "ceiling"
    })
    round({
      figure: "fee",
      term: multiply(multiply(units, amount("price")), amount("feeRate")),
      places: "cashDecimals",
      rounding: "ceiling"
    })
  }
})

export const rebaseTake = Formula.declare({
  name: "rebase-take",
  doc: "Base units that shown units stand for.",
  inputs: { units: "amount", index: "amount" },
  figures: { baseUnits: "figure" },
  work: ({ amount, divide, round }) => {
    round({
      figure: "baseUnits",
      term: divide(amount("units"), amount("index")),
      places: 10,
      rounding: "half-up"
    })
  }
})

export const rebaseShow = Formula.declare({
  name: "rebase-show",
  doc: "Units shown for base units.",
  inputs: { baseUnits: "amount", index: "amount", unitDecimals: "places" },
  figures: { units: "figure" },
  work: ({ amount, multiply, round }) => {
    round({
      figure: "units",
      term: multiply(amount("baseUnits"), amount("index")),
      places: "unitDecimals",
      rounding: "half-up"
    })
  }
})

/**
 * The price at which a day's orders deal. Orders in units and the net asset value count at the unswung
 * price; a fund without units outstanding does not swing, since it has no holders to protect. The swung
 * price is rounded half up to the 10 places of a price on the ledger: subscribers pay it and redeemers
 * are paid it, so neither side is favoured.
 */
export const swing = Formula.declare({
  name: "swing",
  doc: "The price swung by the day's net flow, where that is above the threshold.",
  inputs: {
    price: "amount",
    subscribedCash: "amount",
    subscribedUnits: "amount",
    redeemedCash: "amount",
    redeemedUnits: "amount",
    outstanding: "amount",
    threshold: "amount",
    up: "amount",
    down: "amount"
  },
  figures: { netFlow: "figure", swungPrice: "figure" },
  work: (sheet) => {
    const { amount, number, add, subtract, multiply, round, whenAbove } = sheet
    const price = amount("price")
    const subscribed = add(amount("subscribedCash"), multiply(amount("subscribedUnits"), price))
    const redeemed = add(amount("redeemedCash"), multiply(amount("redeemedUnits"), price))
    const net = subtract(subscribed, redeemed)
    round({ figure: "netFlow", term: net, places: 10, rounding: "half-up" })
    const unswung = () => number(1)
    const direction = () =>
      whenAbove({
        left: net,
        right: number(0),
        above: () => add(number(1), amount("up")),
        otherwise: () => subtract(number(1), amount("down"))
      })
    const factor = whenAbove({
      left: amount("outstanding"),
      right: number(0),
      above: () =>
        whenAbove({
          left: sheet.abs(net),
          right: multiply(amount("threshold"), multiply(amount("outstanding"), price)),
          above: direction,
          otherwise: unswung
        }),
      otherwise: unswung
    })
    round({ figure: "swungPrice", term: multiply(price, factor), places: 10, rounding: "half-up" })
  }
})

/** The factor is rounded for display; the fills are computed from the exact factor. */
export const gateFill = Formula.declare({
  name: "gate-fill",
  doc: "How much of each order is dealt where a cycle's capacity is less than what was ordered.",
  inputs: { capacity: "amount", order: "amounts", unitDecimals: "places" },
  figures: { ordered: "figure", factor: "figure", fillable: "figure", filled: "shares" },
  work: ({ amount, total, number, min, divide, round, share, whenAbove }) => {
    const capacity = amount("capacity")
    const places = "unitDecimals"
    const ordered = round({ figure: "ordered", term: total("order"), places, rounding: "floor" })
    round({
      figure: "factor",
      term: whenAbove({
        left: ordered,
        right: capacity,
        above: () => divide(capacity, ordered),
        otherwise: () => number(1)
      }),
      places: 10,
      rounding: "floor"
    })
    const fillable = round({
      figure: "fillable",
      term: min(capacity, ordered),
      places,
      rounding: "floor"
    })
    share({ figure: "filled", total: fillable, by: "order", places })
  }
})

export const potSplit = Formula.declare({
  name: "pot-split",
  doc: "A fixed pot shared by weights, with nothing left over.",
  inputs: { pot: "amount", weight: "amounts", places: "places" },
  figures: { shared: "figure", share: "shares" },
  work: ({ amount, round, share }) => {
    const shared = round({
      figure: "shared",
      term: amount("pot"),
      places: "places",
      rounding: "floor"
    })
    share({ figure: "share", total: shared, by: "weight", places: "places" })
  }
})

export const fundNet = Formula.declare({
  name: "fund-net",
  doc: "What a cycle moves to the fund on balance, in cash and in units: subscriptions' cash less what goes back of it and less redemptions' proceeds.",
  inputs: {
    subscribed: "amounts",
    refunded: "amounts",
    redeemed: "amounts",
    minted: "amounts",
    burned: "amounts",
    unitDecimals: "places",
    cashDecimals: "places"
  },
  figures: { cash: "figure", units: "figure" },
  work: ({ add, total, subtract, round }) => {
    round({
      figure: "cash",
      term: subtract(total("subscribed"), add(total("refunded"), total("redeemed"))),
      places: "cashDecimals",
      rounding: "floor"
    })
    round({
      figure: "units",
      term: subtract(total("minted"), total("burned")),
      places: "unitDecimals",
      rounding: "floor"
    })
  }
})

export const netLegs = Formula.declare({
  name: "net-legs",
  doc: "What one account moves on balance in one asset, out of the legs it stands in.",
  inputs: { received: "amounts", paid: "amounts", places: "places" },
  figures: { net: "figure" },
  work: ({ total, subtract, round }) => {
    round({
      figure: "net",
      term: subtract(total("received"), total("paid")),
      places: "places",
      rounding: "floor"
    })
  }
})

/** Every formula of orders. */
export const formulas: ReadonlyArray<Formula.AnyFormula> = [
  subscribeAmount,
  subscribeUnits,
  redeemUnits,
  redeemAmount,
  rebaseTake,
  rebaseShow,
  swing,
  gateFill,
  potSplit,
  fundNet,
  netLegs
]
