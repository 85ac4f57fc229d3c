/** How a market is agreed and how units come of an order: priced by attestors, minted by authority given beforehand. */
import { Decimal, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { abort, define, demand, distinct, type Scope } from "../Entity.ts"
import { admits, sameAsset } from "./Registry.ts"

type Proposal = Templates.Payload<typeof Templates.PrimaryMarketProposal>
type Claim = Templates.Payload<typeof Templates.SubscriptionClaim>
type Lot = Templates.Payload<typeof Templates.Lot>
type Claimed = Pick<
  Claim,
  | "venue"
  | "subscriptionId"
  | "orderId"
  | "holder"
  | "custodian"
  | "fund"
  | "mode"
  | "paymentAsset"
  | "instrument"
>

const ends = () => Result.succeed({})
const made = (contractId: string) => ({ contractId })

const reachable = (self: {
  readonly attestors: ReadonlyArray<Party.Party>
  readonly required: number
}): boolean => self.required >= 1 && self.required <= distinct(self.attestors).length

const counterparties = (self: Proposal) => distinct([self.fund, self.registrar])

export const primaryMarketProposal = define(Templates.PrimaryMarketProposal, {
  signatories: (self) => [self.venue, ...self.accepted],
  observers: counterparties,
  ensure: (self) =>
    reachable(self) &&
    self.instrument.admin === self.registrar &&
    self.accepted.every((party) => counterparties(self).includes(party)),
  choices: {
    Accept: {
      controllers: (_, { party }) => [party],
      body: ({ self, argument: { party } }, scope) =>
        Result.gen(function* () {
          yield* demand(
            [counterparties(self).includes(party), "only the fund and the registrar accept"],
            [!self.accepted.includes(party), "this party has accepted before"],
            [self.until === null || scope.now < self.until, "the market would already be past"]
          )
          const { accepted: before, ...market } = self
          const accepted = [...before, party]
          if (counterparties(self).every((one) => accepted.includes(one))) {
            return { proposal: null, market: yield* scope.create(Templates.PrimaryMarket, market) }
          }
          const proposal = { ...self, accepted }
          return {
            proposal: yield* scope.create(Templates.PrimaryMarketProposal, proposal),
            market: null
          }
        })
    },
    Decline: {
      controllers: (_, { party }) => [party],
      body: ({ self, argument: { party } }) =>
        Result.map(
          demand([counterparties(self).includes(party), "only the fund and the registrar decline"]),
          () => ({})
        )
    },
    Withdraw: { controllers: (self) => [self.venue], body: ends }
  }
})

export const primaryMarket = define(Templates.PrimaryMarket, {
  signatories: (self) => [self.venue, self.fund, self.registrar],
  observers: (self) => [self.oracle, ...self.attestors],
  ensure: (self) => reachable(self) && self.instrument.admin === self.registrar,
  choices: {
    ClaimSubscription: {
      controllers: (self) => [self.venue],
      body: ({ self, argument: { orderCid, ...claimed } }, scope) =>
        Result.gen(function* () {
          const { oracle, attestors, required } = self
          const order = yield* scope.fetch(Templates.SubscriptionOrder, orderCid)
          yield* demand(
            [self.until === null || scope.now < self.until, "the market is past its time"],
            [
              order.venue === self.venue && order.fund === self.fund,
              "the order is not to this market"
            ],
            [sameAsset(order.instrument, self.instrument), "the order is for another instrument"],
            [sameAsset(order.paymentAsset, self.cash), "the order pays in another asset"]
          )
          return yield* scope.exercise(Templates.SubscriptionOrder, orderCid, "Claim", {
            ...claimed,
            oracle,
            attestors,
            required
          })
        })
    },
    MintFor: {
      controllers: (self, { attestors }) => [self.venue, ...attestors],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { subscriptionId, units, credentialCid, configurationCid } = argument
          const attestors = distinct(argument.attestors)
          const credential = yield* scope.fetch(Templates.Credential, credentialCid)
          yield* demand(
            [attestors.length >= self.required, "too few attestors"],
            [
              attestors.every((party) => self.attestors.includes(party)),
              "an attestor is not of this market"
            ],
            [credential.issuer === self.venue, "the credential is not the venue's"],
            [
              credential.registrar === self.instrument.admin &&
                credential.instrumentId === self.instrument.id,
              "the credential is for another instrument"
            ]
          )
          return yield* scope.exercise(Templates.Credential, credentialCid, "Receive", {
            amount: units,
            reference: { kind: "subscription", id: subscriptionId },
            configurationCid
          })
        })
    },
    End: { controllers: (self) => [self.fund], body: ends }
  }
})

export const subscriptionOrder = define(Templates.SubscriptionOrder, {
  signatories: (self) => [self.holder],
  observers: (self) => [self.venue, self.fund],
  ensure: (self) => (self.amount === null) !== (self.units === null),
  choices: {
    Claim: {
      controllers: (self) => [self.venue, self.fund],
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
    Withdraw: { controllers: (self) => [self.holder], body: ends }
  }
})

/** Paid on the ledger, the fund and the holder have signed; paid by wire, the venue alone. */
const bound = (self: Claimed) =>
  self.mode === "ledger" && self.fund !== null ? [self.venue, self.fund, self.holder] : [self.venue]

const custodian = (self: Claimed) => (self.custodian === null ? [] : [self.custodian])

/** The venue lets the cash of an order go back, and takes back its request for it. */
const letGo = (
  scope: Scope,
  self: Claimed,
  of: { readonly allocationCid: string | null; readonly intentCid: string | null }
) =>
  Result.gen(function* () {
    if (of.allocationCid !== null) {
      yield* fitting(scope, self, of.allocationCid)
      yield* scope.exercise(Templates.Allocation, of.allocationCid, "Allocation_Cancel", {})
    }
    if (of.intentCid !== null) {
      yield* ownIntent(scope, self, of.intentCid)
      yield* scope.exercise(
        Templates.SettlementIntent,
        of.intentCid,
        "AllocationRequest_Withdraw",
        {}
      )
    }
    return {}
  })

const isOrders = (self: Claimed, id: string): boolean =>
  id === self.subscriptionId || id === self.orderId

/** The allocation, if it is this order's cash on its way from holder to fund. */
const fitting = (scope: Scope, self: Claimed, allocationCid: string) =>
  Result.gen(function* () {
    const allocation = yield* scope.fetch(Templates.Allocation, allocationCid)
    yield* demand(
      [isOrders(self, allocation.reference), "the allocation is for another order"],
      [allocation.executor === self.venue, "the venue does not execute the allocation"],
      [allocation.sender === self.holder, "the allocation is not the holder's"],
      [allocation.receiver === self.fund, "the allocation does not go to the fund"],
      [
        self.paymentAsset !== null && sameAsset(allocation.instrument, self.paymentAsset),
        "the allocation is of another asset"
      ]
    )
    return allocation
  })

const ownIntent = (scope: Scope, self: Claimed, intentCid: string) =>
  Result.flatMap(scope.fetch(Templates.SettlementIntent, intentCid), (intent) =>
    demand([isOrders(self, intent.reference.id), "the settlement is of another order"])
  )

export const subscriptionClaim = define(Templates.SubscriptionClaim, {
  signatories: (self) => [...bound(self), ...self.attested],
  observers: (self) => [self.holder, ...self.attestors, ...custodian(self)],
  ensure: (self) =>
    reachable(self) &&
    self.attested.length < self.required &&
    self.attested.every((party) => self.attestors.includes(party)) &&
    (self.mode === "wire" || (self.fund !== null && self.paymentAsset !== null)),
  choices: {
    Attest: {
      controllers: (_, { attestor }) => [attestor],
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
            [self.pointCid === null || self.pointCid === pointCid, "another point than before"],
            [self.price === null || self.price === price, "another price than before"],
            [self.units === null || self.units === units, "other units than before"],
            [self.orderedUnits === null || self.orderedUnits === units, "other units than ordered"]
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
      controllers: (self) => [self.venue],
      body: ({ self, argument }, scope) => letGo(scope, self, argument)
    }
  }
})

/** Units come through the market: its registrar's word, the venue's and the attestors' together. */
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

const request = (
  scope: Scope,
  self: Lot,
  executeBefore: Templates.Payload<typeof Templates.MintRequest>["executeBefore"]
) =>
  scope.create(Templates.MintRequest, {
    requester: self.venue,
    holder: self.holder,
    instrument: self.instrument,
    amount: self.units,
    reference: { kind: "subscription", id: self.subscriptionId },
    executeBefore
  })

/** The cash a lot is worth: what was ordered, or units times price in whatever places the cash has. */
const isWorth = (self: Lot, amount: Decimal.Decimal): boolean =>
  self.cash === null
    ? Array.from({ length: Decimal.places + 1 }, (_, places) =>
        Decimal.multiplyRounded(self.units, self.price, { places, rounding: "half-up" })
      ).includes(amount)
    : self.cash === amount

const pay = (scope: Scope, self: Lot, allocationCid: string) =>
  Result.gen(function* () {
    const { amount } = yield* fitting(scope, self, allocationCid)
    yield* demand([isWorth(self, amount), "the allocation is not of the lot's cash"])
    const { received } = yield* scope.exercise(
      Templates.Allocation,
      allocationCid,
      "Allocation_ExecuteTransfer",
      { credentialCid: null }
    )
    return received
  })

const lotSignatories = (self: Lot) => [...bound(self), ...self.attestors]
const lotObservers = (self: Lot) => [self.holder, self.instrument.admin, ...custodian(self)]
const lotEnsure = (self: Lot) =>
  self.attestors.length > 0 &&
  (self.mode === "wire" || (self.fund !== null && self.paymentAsset !== null))

export const lot = define(Templates.Lot, {
  signatories: lotSignatories,
  observers: lotObservers,
  ensure: lotEnsure,
  choices: {
    Deliver: {
      controllers: (self) => [self.venue],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { marketCid, credentialCid, configurationCid, executeBefore } = argument
          const delivered = {
            ...self,
            deliveredAt: scope.now,
            holdingCid: null,
            mintRequestCid: null
          }
          if (marketCid === null) {
            const mintRequest = yield* request(scope, self, executeBefore)
            const deliveredLot = yield* scope.create(Templates.DeliveredLot, {
              ...delivered,
              mintRequestCid: mintRequest
            })
            return { deliveredLot, holding: null, mintRequest }
          }
          if (credentialCid === null) return yield* abort("minting needs the holder's credential")
          const holding = yield* mint(scope, self, { marketCid, credentialCid, configurationCid })
          const deliveredLot = yield* scope.create(Templates.DeliveredLot, {
            ...delivered,
            holdingCid: holding
          })
          return { deliveredLot, holding, mintRequest: null }
        })
    },
    Settle: {
      controllers: (self) => [self.venue],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          yield* demand([self.mode === "ledger", "the lot is paid by wire"])
          const cash = yield* pay(scope, self, argument.allocationCid)
          const holding = yield* mint(scope, self, argument)
          if (argument.intentCid !== null) {
            yield* ownIntent(scope, self, argument.intentCid)
            yield* scope.exercise(Templates.SettlementIntent, argument.intentCid, "Complete", {})
          }
          return { holding, cash }
        })
    },
    Release: {
      controllers: (self) => [self.venue],
      body: ({ self, argument }, scope) => letGo(scope, self, argument)
    }
  }
})

export const deliveredLot = define(Templates.DeliveredLot, {
  signatories: lotSignatories,
  observers: lotObservers,
  ensure: lotEnsure,
  choices: {
    Settle: {
      controllers: (self) => [self.venue],
      body: ({ self, argument: { allocationCid } }, scope) =>
        Result.gen(function* () {
          if (self.mode === "wire") {
            yield* demand([allocationCid === null, "the lot is paid by wire"])
            return { cash: null }
          }
          if (allocationCid === null) return yield* abort("a lot paid on the ledger needs its cash")
          return { cash: yield* pay(scope, self, allocationCid) }
        })
    },
    Redeliver: {
      controllers: (self) => [self.venue],
      body: ({ self, argument: { executeBefore } }, scope) =>
        Result.gen(function* () {
          yield* demand([self.holdingCid === null, "the units are already minted"])
          const mintRequest = yield* request(scope, self, executeBefore)
          const again = { ...self, mintRequestCid: mintRequest }
          return { deliveredLot: yield* scope.create(Templates.DeliveredLot, again), mintRequest }
        })
    }
  }
})
