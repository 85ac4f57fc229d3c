/**
 * Choice bodies of subscriptions: priced by attestors, minted under the market's authority, paid in
 * the same transaction or by wire.
 */
import { Decimal, Rational } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { abort, define, demand, type Scope } from "../Entity.ts"
import { reachable } from "./Market.ts"
import {
  areOrdered,
  bound,
  complete,
  isPaidSomehow,
  isShownPlaces,
  fitting,
  isCountable,
  letGo,
  type Order,
  worth,
  worthOf,
  fittingGuards
} from "./Order.ts"
import { admits, admitsGuards } from "./Registry.ts"

type Claim = Templates.Payload<typeof Templates.SubscriptionClaim>
type Lot = Templates.Payload<typeof Templates.Lot>

const ends = () => Result.succeed({})
const made = (contractId: string) => ({ contractId })

/** The cash of a subscription as an order's leg: from its holder to the fund. */
const ordered = (self: Claim | Lot): Order => ({
  ids: [self.subscriptionId, self.orderId],
  venue: self.venue,
  sender: self.holder,
  receiver: self.fund,
  asset: self.paymentAsset
})

export const subscriptionOrder = define(Templates.SubscriptionOrder, {
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
      guards: ["the order is past its time"],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { amount, units, expiresAt, ...order } = self
          yield* demand([expiresAt === null || scope.now < expiresAt, "the order is past its time"])
          return made(
            yield* scope.create(Templates.SubscriptionClaim, {
              ...order,
              ...argument,
              mode: "ledger",
              cash: amount,
              orderedUnits: units,
              attested: [],
              pointCid: null,
              price: null,
              units: null
            })
          )
        })
    },
    Withdraw: { controllers: ["holder"], body: ends }
  }
})

export const subscriptionClaim = define(Templates.SubscriptionClaim, {
  signatories: [...bound, "attested"],
  observers: ["holder", "attestors", "custodian"],
  ensure: [
    reachable,
    ["fewer have attested than are required", (self) => self.attested.length < self.required],
    [
      "only attestors have attested",
      (self) => self.attested.every((party) => self.attestors.includes(party))
    ],
    [
      "the fee rate is a fraction",
      ({ feeRate }) =>
        feeRate === null || (!Decimal.isNegative(feeRate) && Decimal.atMost(feeRate, Decimal.one))
    ],
    [
      "the cash has no more places than the ledger",
      ({ cashDecimals }) => cashDecimals === null || cashDecimals <= Decimal.places
    ],
    isShownPlaces,
    isPaidSomehow
  ],
  choices: {
    Attest: {
      controllers: ["argument.attestor"],
      guards: [
        "not an attestor of this claim",
        "this attestor has attested before",
        "the point is of another instrument",
        "the point is another oracle's",
        "price and units are positive",
        "the units are worth more than can be counted",
        "another point than before",
        "another price than before",
        "other units than before",
        "other units than ordered"
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { attestor, pointCid, price, units } = argument
          const point = yield* scope.fetch(Templates.OraclePoint, pointCid)
          yield* demand(
            [self.attestors.includes(attestor), "not an attestor of this claim"],
            [!self.attested.includes(attestor), "this attestor has attested before"],
            [point.instrumentId === self.instrument.id, "the point is of another instrument"],
            [self.oracle === null || point.oracle === self.oracle, "the point is another oracle's"],
            [
              Decimal.isPositive(price) && Decimal.isPositive(units),
              "price and units are positive"
            ],
            [isCountable({ price, units }), "the units are worth more than can be counted"],
            [self.pointCid === null || self.pointCid === pointCid, "another point than before"],
            [self.price === null || self.price === price, "another price than before"],
            [self.units === null || self.units === units, "other units than before"],
            [areOrdered(self.orderedUnits, { ...self, price, units }), "other units than ordered"]
          )
          const attested = [...self.attested, attestor]
          if (attested.length < self.required) {
            const again = { ...self, attested, pointCid, price, units }
            return { claim: yield* scope.create(Templates.SubscriptionClaim, again), lot: null }
          }
          const { orderedUnits: _, required: __, attested: ___, ...claimed } = self
          const lot = yield* scope.create(Templates.Lot, {
            ...claimed,
            units,
            price,
            pointCid,
            valuationTime: point.valuationTime,
            attestors: attested
          })
          return { claim: null, lot }
        })
    },
    Withdraw: {
      controllers: ["venue"],
      guards: [...fittingGuards, "the settlement is of another order"],
      body: ({ self, argument }, scope) => letGo(scope, ordered(self), argument)
    }
  }
})

/** Mints units through the market, by the authority of registrar, venue and attestors together. */
const mint = (
  scope: Scope,
  self: Lot,
  through: {
    readonly marketCid: string
    readonly credentialCid: string
    readonly configurationCid: string | null
  }
) =>
  Result.gen(function* () {
    const { credentialCid, configurationCid } = through
    const credential = yield* scope.fetch(Templates.Credential, credentialCid)
    yield* admits(credential, { ...self, now: scope.now })
    const { holding } = yield* scope.exercise(
      Templates.PrimaryMarket,
      through.marketCid,
      "MintFor",
      {
        subscriptionId: self.subscriptionId,
        units: self.units,
        attestors: self.attestors,
        credentialCid,
        configurationCid
      }
    )
    return holding
  })

/** The credential that a delivery must name. */
const named = (credentialCid: string | null) =>
  credentialCid === null
    ? abort("the delivery names no credential of the holder")
    : Result.succeed(credentialCid)

/** Requests the units of the registrar, for a holder with the venue's valid credential. */
const request = (
  scope: Scope,
  self: Lot,
  {
    credentialCid,
    executeBefore
  }: Pick<Templates.Payload<typeof Templates.MintRequest>, "executeBefore"> & {
    readonly credentialCid: string
  }
) =>
  Result.gen(function* () {
    const credential = yield* scope.fetch(Templates.Credential, credentialCid)
    yield* demand([credential.issuer === self.venue, "the credential is not the venue's"])
    yield* admits(credential, { ...self, now: scope.now })
    return yield* scope.create(Templates.MintRequest, {
      requester: self.venue,
      holder: self.holder,
      instrument: self.instrument,
      amount: self.units,
      reference: { kind: "subscription", id: self.subscriptionId },
      executeBefore
    })
  })

/**
 * Checks the cash of a lot: the amount ordered, or the units' price and the fee on it, each rounded
 * up.
 */
const isWorth = (self: Lot, amount: Decimal.Decimal): boolean => {
  if (self.cash !== null) return self.cash === amount
  if (self.cashDecimals === null) return false
  const price = worth(self)
  const fee = Rational.multiply(price, Rational.of(self.feeRate ?? Decimal.zero))
  const taken = { places: self.cashDecimals, rounding: "ceiling" } as const
  return amount === Decimal.add(Rational.round(price, taken), Rational.round(fee, taken))
}

const pay = (scope: Scope, self: Lot, allocationCid: string) =>
  Result.gen(function* () {
    const { amount } = yield* fitting(scope, ordered(self), allocationCid)
    yield* demand([isWorth(self, amount), "the allocation is not of the lot's cash"])
    const { received } = yield* scope.exercise(
      Templates.Allocation,
      allocationCid,
      "Allocation_ExecuteTransfer",
      { credentialCid: null }
    )
    return { received, amount }
  })

/** Checks whether an amount exceeds the cash that the units' price leaves over. */
const isBeyondChange = (
  self: Lot,
  { cash, refund }: { readonly cash: Decimal.Decimal; readonly refund: Decimal.Decimal }
): boolean =>
  Rational.lessThan(Rational.subtract(Rational.of(cash), worthOf(self)), Rational.of(refund))

/**
 * Pays change, the cash that bought no units, from the fund to the holder, out of the cash just
 * paid.
 */
const giveChange = (
  scope: Scope,
  self: Lot,
  { received, amount: cash }: { readonly received: string; readonly amount: Decimal.Decimal },
  refund: Decimal.Decimal | null
) =>
  Result.gen(function* () {
    if (refund === null) return { cash: received, refund: null }
    yield* demand(
      [Decimal.isPositive(refund), "a refund pays something"],
      [
        !isBeyondChange(self, { cash, refund }),
        "the refund is more than the units leave of the cash"
      ]
    )
    const moved = yield* scope.exercise(Templates.Holding, received, "Transfer", {
      newOwner: self.holder,
      amount: refund,
      credentialCid: null
    })
    if (moved.change === null) return yield* abort("the refund leaves the fund nothing")
    return { cash: moved.change, refund: moved.received }
  })

const lotSignatories = [...bound, "attestors"] as const
const lotObservers = ["holder", "instrument.admin", "custodian"] as const
const lotEnsure = [
  ["an attestor has priced it", (self: Lot) => self.attestors.length > 0],
  isShownPlaces,
  isPaidSomehow
] as const

export const lot = define(Templates.Lot, {
  signatories: lotSignatories,
  observers: lotObservers,
  ensure: lotEnsure,
  choices: {
    Deliver: {
      controllers: ["venue"],
      guards: [
        "the delivery names no credential of the holder",
        "the credential is not the venue's",
        ...admitsGuards
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { marketCid, configurationCid, executeBefore } = argument
          const credentialCid = yield* named(argument.credentialCid)
          const delivered = {
            ...self,
            deliveredAt: scope.now,
            holdingCid: null,
            mintRequestCid: null
          }
          if (marketCid === null) {
            const mintRequest = yield* request(scope, self, { credentialCid, executeBefore })
            const deliveredLot = yield* scope.create(Templates.DeliveredLot, {
              ...delivered,
              mintRequestCid: mintRequest
            })
            return { deliveredLot, holding: null, mintRequest }
          }
          const holding = yield* mint(scope, self, { marketCid, credentialCid, configurationCid })
          const deliveredLot = yield* scope.create(Templates.DeliveredLot, {
            ...delivered,
            holdingCid: holding
          })
          return { deliveredLot, holding, mintRequest: null }
        })
    },
    Settle: {
      controllers: ["venue"],
      guards: [
        "the lot is paid by wire",
        "the allocation is not of the lot's cash",
        ...fittingGuards,
        ...admitsGuards,
        "a refund pays something",
        "the refund is more than the units leave of the cash",
        "the refund leaves the fund nothing",
        "the settlement is of another order"
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          yield* demand([self.mode === "ledger", "the lot is paid by wire"])
          const paid = yield* pay(scope, self, argument.allocationCid)
          const holding = yield* mint(scope, self, argument)
          const { cash, refund } = yield* giveChange(scope, self, paid, argument.refund)
          if (argument.intentCid !== null) yield* complete(scope, ordered(self), argument.intentCid)
          return { holding, cash, refund }
        })
    },
    Release: {
      controllers: ["venue"],
      guards: [...fittingGuards, "the settlement is of another order"],
      body: ({ self, argument }, scope) => letGo(scope, ordered(self), argument)
    }
  }
})

export const deliveredLot = define(Templates.DeliveredLot, {
  signatories: lotSignatories,
  observers: lotObservers,
  ensure: lotEnsure,
  choices: {
    Settle: {
      controllers: ["venue"],
      guards: [
        "the lot is paid by wire",
        "the lot is paid on the ledger",
        "a lot paid on the ledger needs its cash",
        "an order in units leaves no cash over",
        "a refund pays something",
        "the refund is more than the units leave of the cash",
        "the allocation is not of the lot's cash",
        ...fittingGuards
      ],
      body: ({ self, argument: { allocationCid, refunded, owed } }, scope) =>
        Result.gen(function* () {
          if (self.mode === "wire") {
            yield* demand([allocationCid === null, "the lot is paid by wire"])
            return { cash: null, owedRefund: yield* owe(scope, self, { refunded, owed }) }
          }
          yield* demand([refunded === null && owed === null, "the lot is paid on the ledger"])
          if (allocationCid === null) return yield* abort("a lot paid on the ledger needs its cash")
          const { received } = yield* pay(scope, self, allocationCid)
          return { cash: received, owedRefund: null }
        })
    },
    Redeliver: {
      controllers: ["venue"],
      guards: [
        "the units are already minted",
        "the delivery names no credential of the holder",
        "the credential is not the venue's",
        ...admitsGuards
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          yield* demand([self.holdingCid === null, "the units are already minted"])
          const credentialCid = yield* named(argument.credentialCid)
          const { executeBefore } = argument
          const mintRequest = yield* request(scope, self, { credentialCid, executeBefore })
          const again = { ...self, mintRequestCid: mintRequest }
          return { deliveredLot: yield* scope.create(Templates.DeliveredLot, again), mintRequest }
        })
    },
    Release: {
      controllers: ["venue"],
      guards: ["the units are already minted", "the mint request is another lot's"],
      body: ({ self, argument: { mintRequestCid } }, scope) =>
        Result.gen(function* () {
          yield* demand(
            [self.holdingCid === null, "the units are already minted"],
            [
              mintRequestCid === null || mintRequestCid === self.mintRequestCid,
              "the mint request is another lot's"
            ]
          )
          if (mintRequestCid !== null) {
            yield* scope.exercise(Templates.MintRequest, mintRequestCid, "Withdraw", {})
          }
          return {}
        })
    }
  }
})

/** Debt of an order that is paid by wire: at most what the units' price leaves over. */
const owe = (
  scope: Scope,
  self: Lot,
  {
    refunded,
    owed
  }: Pick<Templates.Argument<typeof Templates.DeliveredLot, "Settle">, "refunded" | "owed">
) =>
  Result.gen(function* () {
    if (refunded === null && owed === null) return null
    const { cash } = self
    if (cash === null) return yield* abort("an order in units leaves no cash over")
    const refund = Decimal.add(refunded?.amount ?? Decimal.zero, owed ?? Decimal.zero)
    yield* demand(
      [refunded === null || Decimal.isPositive(refunded.amount), "a refund pays something"],
      [
        !isBeyondChange(self, { cash, refund }),
        "the refund is more than the units leave of the cash"
      ]
    )
    if (owed === null) return null
    const { venue, subscriptionId, orderId, instrument, holder, custodian, currency } = self
    const order = { venue, subscriptionId, orderId, instrument, holder, custodian, currency }
    return yield* scope.create(Templates.OwedRefund, { ...order, amount: owed })
  })

export const owedRefund = define(Templates.OwedRefund, {
  signatories: ["venue"],
  observers: ["holder", "custodian"],
  ensure: [["the amount is above 0", (self) => Decimal.isPositive(self.amount)]],
  choices: {
    Pay: {
      controllers: ["venue"],
      guards: ["a refund pays something", "less is owed"],
      body: ({ self, argument: { amount } }, scope) =>
        Result.gen(function* () {
          yield* demand(
            [Decimal.isPositive(amount), "a refund pays something"],
            [Decimal.atMost(amount, self.amount), "less is owed"]
          )
          const rest = Decimal.subtract(self.amount, amount)
          if (Decimal.isZero(rest)) return { owedRefund: null }
          return {
            owedRefund: yield* scope.create(Templates.OwedRefund, { ...self, amount: rest })
          }
        })
    }
  }
})
