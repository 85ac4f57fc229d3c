/**
 * Choice bodies of redemptions: priced by the oracle, burned under the registrar's authority, paid
 * in the same transaction or by wire.
 */
import { Decimal, Rational } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { abort, define, demand, type Scope } from "../Entity.ts"
import { joined, joinedGuards } from "./Market.ts"
import {
  areOrdered,
  bound,
  complete,
  type CountedUnits,
  isPaidSomehow,
  isShownPlaces,
  fitting,
  giveBack,
  isCountable,
  letGo,
  type Order,
  worth,
  worthOf,
  fittingGuards
} from "./Order.ts"
import { sameAsset } from "./Registry.ts"

type Claim = Templates.Payload<typeof Templates.RedemptionClaim>
type PricedRedemption = Templates.Payload<typeof Templates.PricedRedemption>
type RedemptionSettlement = Templates.Argument<typeof Templates.PricedRedemption, "Settle">
type RedemptionRelease = Templates.Argument<typeof Templates.PricedRedemption, "Release">

const ends = () => Result.succeed({})

const ids = (self: Claim) => [self.redemptionId, self.orderId]

/**
 * The units of a redemption as an order's leg: from its holder to the fund, where they are burned.
 */
const unitsOf = (self: Claim): Order => ({
  ids: ids(self),
  venue: self.venue,
  sender: self.holder,
  receiver: self.fund,
  asset: self.instrument
})

/** The cash of a redemption as an order's leg: from the fund to the holder. */
const cashOf = (self: Claim): Order => ({
  ids: ids(self),
  venue: self.venue,
  sender: self.fund,
  receiver: self.holder,
  asset: self.paymentAsset
})

export const redemptionOrder = define(Templates.RedemptionOrder, {
  signatories: ["holder"],
  observers: ["venue", "fund"],
  ensure: [
    [
      "it is in an amount or in units, not in both",
      (self) => (self.amount === null) !== (self.units === null)
    ]
  ],
  choices: {
    Claim: {
      controllers: ["venue", "fund"],
      guards: ["the order is past its time", "the order names another custodian"],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { amount, units, expiresAt, custodian, ...order } = self
          yield* demand(
            [expiresAt === null || scope.now < expiresAt, "the order is past its time"],
            [
              custodian === null || custodian === argument.custodian,
              "the order names another custodian"
            ]
          )
          const claim = {
            ...order,
            ...argument,
            mode: "ledger",
            orderedUnits: units,
            orderedAmount: amount,
            remainderOf: null,
            cutOffAt: null
          } as const
          return { contractId: yield* scope.create(Templates.RedemptionClaim, claim) }
        })
    },
    Withdraw: { controllers: ["holder"], body: ends }
  }
})

const isOrder = [
  [
    "it is in an amount or in units, not in both",
    (self: Claim) => (self.orderedAmount === null) !== (self.orderedUnits === null)
  ],
  [
    "what is ordered is above 0",
    (self: Claim) => Decimal.isPositive(self.orderedAmount ?? self.orderedUnits ?? Decimal.zero)
  ],
  isShownPlaces,
  isPaidSomehow
] as const

export const redemptionClaim = define(Templates.RedemptionClaim, {
  signatories: bound,
  observers: ["holder", "instrument.admin", "custodian", "oracle"],
  ensure: isOrder,
  choices: {
    Price: {
      controllers: ["oracle"],
      guards: [
        "the point is another oracle's",
        "the point is of another instrument",
        "the point is of another register",
        "the order's cut-off is still to come",
        "the point is valued before the order's cut-off",
        "price and units are positive",
        "the units are worth more than can be counted",
        "other units than ordered",
        "another amount than ordered",
        "a redemption pays something",
        "the proceeds are more than the units' price"
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { pointCid, price, units, proceeds } = argument
          const point = yield* scope.fetch(Templates.OraclePoint, pointCid)
          yield* demand(
            [point.oracle === self.oracle, "the point is another oracle's"],
            [point.instrumentId === self.instrument.id, "the point is of another instrument"],
            [point.registrar === self.instrument.admin, "the point is of another register"],
            ...ofItsDay(self, point, scope),
            [
              Decimal.isPositive(price) && Decimal.isPositive(units),
              "price and units are positive"
            ],
            [isCountable({ price, units }), "the units are worth more than can be counted"],
            [areOrdered(self.orderedUnits, { ...self, price, units }), "other units than ordered"],
            [
              self.orderedAmount === null || self.orderedAmount === proceeds,
              "another amount than ordered"
            ],
            [Decimal.isPositive(proceeds), "a redemption pays something"],
            [
              isPayable(self, { price, proceeds, units }),
              "the proceeds are more than the units' price"
            ]
          )
          const { valuationTime } = point
          const priced = { ...self, ...argument, valuationTime }
          return { contractId: yield* scope.create(Templates.PricedRedemption, priced) }
        })
    },
    Join: {
      controllers: ["venue"],
      guards: [
        "only what a gate left over joins a cycle later",
        "the order is in a cycle",
        ...joinedGuards
      ],
      body: ({ self, argument: { cycleCid } }, scope) =>
        Result.gen(function* () {
          yield* demand(
            [self.remainderOf !== null, "only what a gate left over joins a cycle later"],
            [self.cycleId === null, "the order is in a cycle"]
          )
          const cycleId = yield* joined(scope, { ...self, cash: self.paymentAsset }, cycleCid)
          return {
            contractId: yield* scope.create(Templates.RedemptionClaim, { ...self, cycleId })
          }
        })
    },
    Withdraw: {
      controllers: ["venue"],
      guards: [...fittingGuards, "the settlement is of another order"],
      body: ({ self, argument }, scope) => release(scope, self, argument)
    }
  }
})

/** A gate's remainder is priced on its own dealing day, by a point of that day or a later one. */
const ofItsDay = (
  { cutOffAt }: Claim,
  { valuationTime }: Templates.Payload<typeof Templates.OraclePoint>,
  { now }: Scope
) =>
  [
    [cutOffAt === null || now >= cutOffAt, "the order's cut-off is still to come"],
    [
      cutOffAt === null || valuationTime >= cutOffAt,
      "the point is valued before the order's cut-off"
    ]
  ] as const

const isWithin = (figures: Parameters<typeof worth>[0], proceeds: Decimal.Decimal): boolean =>
  Rational.atMost(Rational.of(proceeds), worth(figures))

/**
 * Checks that proceeds are at most what the units are worth. Shown units of a rebasing instrument are
 * worth 1 each: those ordered, or those that the burned ones show. Where rounding to base units and back
 * loses an atom of base units, the amount ordered is still paid.
 */
export const isPayable = (
  { orderedUnits, shownDecimals }: Pick<Claim, "orderedUnits" | "shownDecimals">,
  figures: CountedUnits & { readonly proceeds: Decimal.Decimal }
): boolean => {
  if ((shownDecimals ?? null) === null) return isWithin(figures, figures.proceeds)
  const units = Decimal.add(figures.units, Decimal.fromAtoms(1n))
  const most =
    orderedUnits === null
      ? worthOf({ ...figures, shownDecimals, units })
      : Rational.of(orderedUnits)
  return Rational.atMost(Rational.of(figures.proceeds), most)
}

/** Returns units and cash to those who allocated them, and withdraws the venue's request. */
const release = (scope: Scope, self: Claim, argument: RedemptionRelease) =>
  Result.gen(function* () {
    if (argument.unitsAllocationCid !== null) {
      yield* giveBack(scope, unitsOf(self), argument.unitsAllocationCid)
    }
    return yield* letGo(scope, cashOf(self), argument)
  })

export const pricedRedemption = define(Templates.PricedRedemption, {
  signatories: [...bound, "oracle"],
  observers: ["holder", "instrument.admin", "custodian"],
  ensure: [
    ...isOrder,
    ["the units are above 0", (self) => Decimal.isPositive(self.units)],
    ["the proceeds are above 0", (self) => Decimal.isPositive(self.proceeds)]
  ],
  choices: {
    Settle: {
      controllers: ["venue"],
      guards: [
        "the redemption is paid by wire",
        "a redemption paid by wire is settled whole",
        "a gate fills no less than nothing",
        "a gate leaves units over",
        "a part that is paid nothing burns nothing",
        "a part pays no more than the whole",
        "more than the part's price",
        "less than the part's share of the proceeds",
        "the rest needs a name of its own",
        "a part is burned out of what the holder allocated",
        "units that are not burned here are the fund's to pay",
        "burning needs the market's word",
        "the market is another fund's",
        "the market is of another instrument",
        ...fittingGuards,
        "there is nothing to pay",
        "the fund's own allocation pays alone",
        "the allocation is not of the proceeds",
        "a redemption paid on the ledger needs its cash",
        "a holding is not the fund's",
        "a holding is of another asset",
        "the fund has not named this cash",
        "the settlement is of another order",
        "what is left over deals on a day to come",
        ...joinedGuards
      ],
      body: ({ self, argument }, scope) =>
        self.mode === "wire" ? ended(argument) : settle(scope, self, argument)
    },
    Release: {
      controllers: ["venue"],
      guards: [...fittingGuards, "the settlement is of another order"],
      body: ({ self, argument }, scope) => release(scope, self, argument)
    }
  }
})

/** Paid by wire: units and cash are outside the ledger, so nothing may move on it. */
const ended = (argument: RedemptionSettlement) =>
  Result.map(
    demand(
      [
        argument.allocationCid === null &&
          argument.unitsAllocationCid === null &&
          argument.holdingCids.length === 0,
        "the redemption is paid by wire"
      ],
      [argument.fill === null, "a redemption paid by wire is settled whole"]
    ),
    () => ({ cash: null, remainder: null, change: [] })
  )

const settle = (scope: Scope, self: PricedRedemption, argument: RedemptionSettlement) =>
  Result.gen(function* () {
    const { fill, intentCid } = argument
    const part = fill ?? self
    if (fill !== null) yield* isPart(self, fill)
    const burned = yield* burn(scope, self, argument, part.units)
    const paid = yield* pay(scope, self, argument, part.proceeds)
    if (intentCid !== null) yield* complete(scope, cashOf(self), intentCid)
    return {
      cash: paid.cash,
      remainder: fill === null ? null : yield* leaveOver(scope, self, fill),
      change: [...burned, ...paid.change]
    }
  })

/**
 * Checks a partial fill by a gate: a part at the price of the whole, and a remainder. The part of a
 * small order may be nothing; one that is paid nothing burns no units.
 */
const isPart = (self: PricedRedemption, fill: Templates.RedemptionFill) =>
  demand(
    [
      !Decimal.isNegative(fill.units) && !Decimal.isNegative(fill.proceeds),
      "a gate fills no less than nothing"
    ],
    [Decimal.lessThan(fill.units, self.units), "a gate leaves units over"],
    [
      Decimal.isZero(fill.units) || Decimal.isPositive(fill.proceeds),
      "a part that is paid nothing burns nothing"
    ],
    // The remainder may be too small to be paid.
    [Decimal.atMost(fill.proceeds, self.proceeds), "a part pays no more than the whole"],
    [isWithin({ ...self, units: fill.units }, fill.proceeds), "more than the part's price"],
    [isItsShare(self, fill), "less than the part's share of the proceeds"],
    [fill.remainderId !== self.redemptionId, "the rest needs a name of its own"]
  )

/** Checks that a part pays its share, less at most one unit of the last place. */
const isItsShare = (self: PricedRedemption, fill: Templates.RedemptionFill): boolean => {
  const share = Rational.divide(
    worth({ units: fill.units, price: self.proceeds }),
    Rational.of(self.units)
  )
  const place = Rational.divide(
    Rational.one,
    Rational.fromInteger(10n ** BigInt(Math.max(placesOf(self.proceeds), placesOf(fill.proceeds))))
  )
  return Rational.lessThan(Rational.subtract(share, place), Rational.of(fill.proceeds))
}

/** Number of decimal places of an amount. */
const placesOf = (amount: Decimal.Decimal): number =>
  Decimal.formatPlain(amount).split(".")[1]?.length ?? 0

/**
 * Burns the units that the holder allocated. Without an allocation the units must be burned
 * already, which the ledger cannot check: then only cash that the fund itself allocated to this
 * redemption may pay it.
 */
const burn = (
  scope: Scope,
  self: PricedRedemption,
  argument: RedemptionSettlement,
  units: Decimal.Decimal
) =>
  Result.gen(function* () {
    const { marketCid, unitsAllocationCid } = argument
    if (unitsAllocationCid === null) {
      yield* demand(
        [argument.fill === null, "a part is burned out of what the holder allocated"],
        [argument.allocationCid !== null, "units that are not burned here are the fund's to pay"]
      )
      return []
    }
    if (Decimal.isZero(units)) {
      yield* giveBack(scope, unitsOf(self), unitsAllocationCid)
      return []
    }
    if (marketCid === null) return yield* abort("burning needs the market's word")
    yield* fitting(scope, unitsOf(self), unitsAllocationCid)
    const market = yield* scope.fetch(Templates.PrimaryMarket, marketCid)
    yield* demand(
      [market.venue === self.venue && market.fund === self.fund, "the market is another fund's"],
      [sameAsset(market.instrument, self.instrument), "the market is of another instrument"]
    )
    const { change } = yield* scope.exercise(Templates.PrimaryMarket, marketCid, "BurnFor", {
      redemptionId: self.redemptionId,
      holder: self.holder,
      unitsAllocationCid,
      units
    })
    return change === null ? [] : [change]
  })

/**
 * Pays the proceeds from the fund's own allocation, or else from cash that the fund has provided.
 */
const pay = (
  scope: Scope,
  self: PricedRedemption,
  argument: RedemptionSettlement,
  proceeds: Decimal.Decimal
) =>
  Result.gen(function* () {
    const { allocationCid, holdingCids } = argument
    if (Decimal.isZero(proceeds)) {
      yield* demand([allocationCid === null && holdingCids.length === 0, "there is nothing to pay"])
      return { cash: null, change: [] }
    }
    if (allocationCid === null) return yield* payFrom(scope, self, holdingCids, proceeds)
    const { amount } = yield* fitting(scope, cashOf(self), allocationCid)
    yield* demand(
      [holdingCids.length === 0, "the fund's own allocation pays alone"],
      [amount === proceeds, "the allocation is not of the proceeds"]
    )
    const execute = "Allocation_ExecuteTransfer"
    const { received } = yield* scope.exercise(Templates.Allocation, allocationCid, execute, {
      credentialCid: null
    })
    return { cash: received, change: [] }
  })

const payFrom = (
  scope: Scope,
  self: PricedRedemption,
  holdingCids: ReadonlyArray<string>,
  proceeds: Decimal.Decimal
) =>
  Result.gen(function* () {
    const [first, ...others] = holdingCids
    if (first === undefined) return yield* abort("a redemption paid on the ledger needs its cash")
    for (const contractId of holdingCids) {
      const holding = yield* scope.fetch(Templates.Holding, contractId)
      yield* demand(
        [holding.owner === self.fund, "a holding is not the fund's"],
        [
          self.paymentAsset !== null && sameAsset(holding.instrument, self.paymentAsset),
          "a holding is of another asset"
        ],
        [holding.provider === self.venue, "the fund has not named this cash"]
      )
    }
    const whole =
      others.length === 0
        ? first
        : (yield* scope.exercise(Templates.Holding, first, "Merge", { holdingCids: others }))
            .contractId
    const { received, change } = yield* scope.exercise(Templates.Holding, whole, "Transfer", {
      newOwner: self.holder,
      amount: proceeds,
      credentialCid: null
    })
    return { cash: received, change: change === null ? [] : [change] }
  })

/** Claims a gate's remainder again, unpriced, under an id of its own, for a later day. */
const leaveOver = (scope: Scope, self: PricedRedemption, fill: Templates.RedemptionFill) =>
  Result.gen(function* () {
    const { units, price: _, proceeds: __, pointCid: ___, valuationTime: ____, ...claim } = self
    const { cutOffAt, cycleCid } = fill
    yield* demand([
      cutOffAt !== null && scope.now < cutOffAt,
      "what is left over deals on a day to come"
    ])
    const cycleId = yield* joined(scope, { ...self, cash: self.paymentAsset, cutOffAt }, cycleCid)
    return yield* scope.create(Templates.RedemptionClaim, {
      ...claim,
      redemptionId: fill.remainderId,
      cutOffAt,
      orderedUnits: Decimal.subtract(units, fill.units),
      orderedAmount: null,
      cycleId,
      remainderOf: self.redemptionId
    })
  })
