/**
 * Choice bodies of primary markets: an agreed market authorizes the venue to claim, open, mint and
 * burn.
 */
import { Decimal, type Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { define, demand, distinct, type Scope } from "../Entity.ts"
import { sameAsset } from "./Registry.ts"

/** Guards of `takes`. */
const takesGuards = [
  "the market is past its time",
  "the order is not to this market",
  "the order is for another instrument",
  "the order pays in another asset"
] as const

/** Guards of `joined`. */
export const joinedGuards = [
  "the cycle is another market's",
  "the cycle is of another instrument",
  "the cycle takes no more orders",
  "the cycle is of another day"
] as const

type Proposal = Templates.Payload<typeof Templates.PrimaryMarketProposal>
type Market = Templates.Payload<typeof Templates.PrimaryMarket>

const ends = () => Result.succeed({})

/** Precondition of what attestors price: so many of them exist. */
export const reachable = [
  "at least one attestor is required, and no more than there are",
  (self: { readonly attestors: ReadonlyArray<Party.Party>; readonly required: number }): boolean =>
    self.required >= 1 && self.required <= distinct(self.attestors).length
] as const

const counterparties = (self: Proposal) => distinct([self.fund, self.registrar])

export const primaryMarketProposal = define(Templates.PrimaryMarketProposal, {
  signatories: ["venue", "accepted"],
  observers: ["fund", "registrar"],
  ensure: [
    reachable,
    ["the registrar is the instrument's own", (self) => self.instrument.admin === self.registrar],
    [
      "only the fund and the registrar have accepted",
      (self) => self.accepted.every((party) => counterparties(self).includes(party))
    ]
  ],
  choices: {
    Accept: {
      controllers: ["argument.party"],
      guards: [
        "only the fund and the registrar accept",
        "this party has accepted before",
        "the market would already be past"
      ],
      body: ({ self, argument: { party } }, scope) =>
        Result.gen(function* () {
          yield* demand(
            [counterparties(self).includes(party), "only the fund and the registrar accept"],
            [!self.accepted.includes(party), "this party has accepted before"],
            [self.until === null || scope.now < self.until, "the market would already be past"]
          )
          const { accepted: before, ...market } = self
          const accepted = [...before, party]
          if (counterparties(self).every((party) => accepted.includes(party))) {
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
      controllers: ["argument.party"],
      guards: ["only the fund and the registrar decline"],
      body: ({ self, argument: { party } }) =>
        Result.map(
          demand([counterparties(self).includes(party), "only the fund and the registrar decline"]),
          () => ({})
        )
    },
    Withdraw: { controllers: ["venue"], body: ends }
  }
})

export const primaryMarket = define(Templates.PrimaryMarket, {
  signatories: ["venue", "fund", "registrar"],
  observers: ["oracle", "attestors"],
  ensure: [
    reachable,
    ["the registrar is the instrument's own", (self) => self.instrument.admin === self.registrar]
  ],
  choices: {
    ClaimSubscription: {
      controllers: ["venue"],
      guards: [...takesGuards, ...joinedGuards],
      body: ({ self, argument: { orderCid, cycleCid, ...claimed } }, scope) =>
        Result.gen(function* () {
          const { oracle, attestors, required } = self
          yield* takes(scope, self, yield* scope.fetch(Templates.SubscriptionOrder, orderCid))
          const cycleId = yield* joined(scope, self, cycleCid)
          return yield* scope.exercise(Templates.SubscriptionOrder, orderCid, "Claim", {
            ...claimed,
            cycleId,
            oracle,
            attestors,
            required
          })
        })
    },
    ClaimRedemption: {
      controllers: ["venue"],
      guards: [...takesGuards, ...joinedGuards],
      body: ({ self, argument: { orderCid, cycleCid, ...claimed } }, scope) =>
        Result.gen(function* () {
          yield* takes(scope, self, yield* scope.fetch(Templates.RedemptionOrder, orderCid))
          const cycleId = yield* joined(scope, self, cycleCid)
          return yield* scope.exercise(Templates.RedemptionOrder, orderCid, "Claim", {
            ...claimed,
            cycleId,
            oracle: self.oracle
          })
        })
    },
    OpenCycle: {
      controllers: ["venue"],
      guards: [
        "the market is past its time",
        "the cut-off is past",
        "it would settle before its cut-off"
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { venue, fund, registrar, instrument, cash } = self
          const { remainders, ...opened } = argument
          yield* demand(
            [isOpen(self, scope), "the market is past its time"],
            [scope.now < argument.cutOffAt, "the cut-off is past"],
            [argument.cutOffAt <= argument.settleBy, "it would settle before its cut-off"]
          )
          const cycle = { venue, fund, registrar, instrument, cash, ...opened }
          const cycleCid = yield* scope.create(Templates.DealingCycle, cycle)
          for (const claimCid of remainders ?? []) {
            yield* scope.exercise(Templates.RedemptionClaim, claimCid, "Join", { cycleCid })
          }
          return { contractId: cycleCid }
        })
    },
    OpenStanding: {
      controllers: ["venue"],
      guards: [
        "the market is past its time",
        "it would already be past",
        "its deadline is after its end"
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { venue, fund, registrar, instrument, cash } = self
          yield* demand(
            [isOpen(self, scope), "the market is past its time"],
            [scope.now < argument.expiresAt, "it would already be past"],
            [
              argument.deadline === null || argument.deadline <= argument.expiresAt,
              "its deadline is after its end"
            ]
          )
          const settlement = {
            venue,
            fund,
            registrar,
            instrument,
            cash,
            ...argument,
            paused: false
          }
          return { contractId: yield* scope.create(Templates.StandingSettlement, settlement) }
        })
    },
    MintFor: {
      controllers: ["venue", "argument.attestors"],
      guards: [
        "too few attestors",
        "an attestor is not of this market",
        "the credential is not the venue's",
        "the credential is for another instrument"
      ],
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
    BurnFor: {
      controllers: ["venue", "argument.holder"],
      guards: [
        "the units are another holder's",
        "the venue does not execute the allocation",
        "the units are not allocated to the fund",
        "the allocation is past its time",
        "the units are of another instrument",
        "nothing to burn",
        "fewer units are allocated"
      ],
      body: ({ self, argument }, scope) => burn(scope, self, argument)
    },
    End: {
      controllers: ["fund"],
      guards: ["the market is past its time"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          yield* demand([isOpen(self, scope), "the market is past its time"])
          const ended = { ...self, until: scope.now }
          return { contractId: yield* scope.create(Templates.PrimaryMarket, ended) }
        })
    }
  }
})

const isOpen = (self: Market, { now }: Scope): boolean => self.until === null || now < self.until

/** Checks whether a signed order is one for this market. */
const takes = (
  scope: Scope,
  self: Market,
  order: Pick<
    Templates.Payload<typeof Templates.SubscriptionOrder>,
    "venue" | "fund" | "instrument" | "paymentAsset"
  >
) =>
  demand(
    [isOpen(self, scope), "the market is past its time"],
    [order.venue === self.venue && order.fund === self.fund, "the order is not to this market"],
    [sameAsset(order.instrument, self.instrument), "the order is for another instrument"],
    [sameAsset(order.paymentAsset, self.cash), "the order pays in another asset"]
  )

/**
 * Name of the cycle that an order joins: of its market's instrument, fund and payment asset, before its
 * cut-off, and on the order's own day where it has one.
 */
export const joined = (
  scope: Scope,
  order: Pick<Market, "venue" | "instrument"> & {
    readonly fund: Party.Party | null
    readonly cash: Templates.Asset | null
    readonly cutOffAt?: Instant.Instant | null
  },
  cycleCid: string | null
) =>
  Result.gen(function* () {
    if (cycleCid === null) return null
    const cycle = yield* scope.fetch(Templates.DealingCycle, cycleCid)
    yield* demand(
      [
        cycle.venue === order.venue &&
          cycle.fund === order.fund &&
          order.cash !== null &&
          sameAsset(cycle.cash, order.cash),
        "the cycle is another market's"
      ],
      [sameAsset(cycle.instrument, order.instrument), "the cycle is of another instrument"],
      [scope.now < cycle.cutOffAt, "the cycle takes no more orders"],
      [(order.cutOffAt ?? cycle.cutOffAt) === cycle.cutOffAt, "the cycle is of another day"]
    )
    return cycle.cycleId
  })

/**
 * Burns the requested part of the units that a holder allocated, and returns the rest to the
 * holder.
 */
const burn = (
  scope: Scope,
  self: Market,
  burnArgument: Templates.Argument<typeof Templates.PrimaryMarket, "BurnFor">
) =>
  Result.gen(function* () {
    const { unitsAllocationCid, holder, units } = burnArgument
    const allocation = yield* scope.fetch(Templates.Allocation, unitsAllocationCid)
    yield* demand(
      [allocation.sender === holder, "the units are another holder's"],
      [allocation.executor === self.venue, "the venue does not execute the allocation"],
      [allocation.receiver === self.fund, "the units are not allocated to the fund"],
      [scope.now < allocation.settleBefore, "the allocation is past its time"],
      [sameAsset(allocation.instrument, self.instrument), "the units are of another instrument"],
      [Decimal.isPositive(units), "nothing to burn"],
      [Decimal.atMost(units, allocation.amount), "fewer units are allocated"]
    )
    const { contractId } = yield* scope.exercise(
      Templates.Allocation,
      unitsAllocationCid,
      "Allocation_Cancel",
      {}
    )
    const { locked, change } = yield* scope.exercise(Templates.Holding, contractId, "Lock", {
      holders: [self.registrar],
      observers: [],
      context: burnArgument.redemptionId,
      expiresAt: null,
      amount: units
    })
    yield* scope.exercise(Templates.Holding, locked, "Burn", {})
    return { change }
  })
