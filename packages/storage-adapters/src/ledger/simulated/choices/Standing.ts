/** Choice bodies of standing settlements: commitments, and the iterations that draw on them. */
import { Decimal, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { abort, define, demand, type Scope } from "../Entity.ts"
import { sameAsset } from "./Registry.ts"

type StandingSettlement = Templates.Payload<typeof Templates.StandingSettlement>
type Commitment = Templates.Payload<typeof Templates.StandingCommitment>

type Funding = StandingSettlement["funding"][number]

const isFunded = (self: StandingSettlement, by: Funding): boolean =>
  self.funding.some(
    ({ party, asset, amount }) =>
      party === by.party && sameAsset(asset, by.asset) && Decimal.atMost(by.amount, amount)
  )

export const standingSettlement = define(Templates.StandingSettlement, {
  signatories: ["venue", "fund"],
  observers: ["registrar", "funding.party"],
  ensure: [
    ["it asks for funding", (self) => self.funding.length > 0],
    [
      "each funding is above 0",
      (self) => self.funding.every(({ amount }) => Decimal.isPositive(amount))
    ],
    [
      "each funding is of the cash or of the units",
      (self) =>
        self.funding.every(
          ({ asset }) => sameAsset(asset, self.cash) || sameAsset(asset, self.instrument)
        )
    ]
  ],
  choices: {
    Commit: {
      controllers: ["argument.party"],
      guards: [
        "the standing settlement is past its time",
        "the holding is another's",
        "nobody asked for this funding"
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { party, holdingCid, amount } = argument
          const holding = yield* scope.fetch(Templates.Holding, holdingCid)
          const by = { party, asset: holding.instrument, amount }
          yield* demand(
            [scope.now < self.expiresAt, "the standing settlement is past its time"],
            [holding.owner === party, "the holding is another's"],
            [isFunded(self, by), "nobody asked for this funding"]
          )
          const { allocation, change } = yield* commit(scope, self, { holdingCid, amount })
          const commitment = yield* scope.create(Templates.StandingCommitment, {
            venue: self.venue,
            fund: self.fund,
            party,
            standingSettlementId: self.standingSettlementId,
            asset: holding.instrument,
            allocationCid: allocation,
            amount,
            expiresAt: self.expiresAt
          })
          return { commitment, change }
        })
    },
    Settle: {
      controllers: ["venue"],
      guards: [
        "the standing settlement is paused",
        "the standing settlement is past its time",
        "an iteration settles something",
        "two commitments of one party and asset",
        "an order's payer has committed nothing",
        "a lot is of another fund",
        "a lot is of another instrument",
        "a redemption is of another fund",
        "a redemption is of another instrument",
        "a commitment is another settlement's"
      ],
      body: ({ self, argument }, scope) => iterate(scope, self, argument)
    },
    Pause: {
      controllers: ["venue"],
      guards: ["it is paused"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          yield* demand([!self.paused, "it is paused"])
          const paused = { ...self, paused: true }
          return { contractId: yield* scope.create(Templates.StandingSettlement, paused) }
        })
    },
    Resume: {
      controllers: ["venue"],
      guards: ["it is not paused"],
      body: ({ self }, scope) =>
        Result.gen(function* () {
          yield* demand([self.paused, "it is not paused"])
          const open = { ...self, paused: false }
          return { contractId: yield* scope.create(Templates.StandingSettlement, open) }
        })
    },
    Close: {
      controllers: ["venue"],
      guards: ["a commitment is another settlement's"],
      body: ({ self, argument }, scope) => giveBack(scope, self, argument.commitments)
    },
    End: {
      controllers: ["fund"],
      guards: ["a commitment is another settlement's"],
      body: ({ self, argument }, scope) => giveBack(scope, self, argument.commitments)
    }
  }
})

/**
 * Locks a party's commitment. It goes to the fund, or stays the fund's own until an order names a
 * holder.
 */
const commit = (
  scope: Scope,
  self: Pick<Commitment, "venue" | "fund" | "standingSettlementId" | "expiresAt">,
  { holdingCid, amount }: { readonly holdingCid: string; readonly amount: Decimal.Decimal }
) =>
  scope.exercise(Templates.Holding, holdingCid, "Allocate", {
    allocationId: self.standingSettlementId,
    executor: self.venue,
    receiver: self.fund,
    amount,
    settleBefore: self.expiresAt
  })

const ofThis = (scope: Scope, self: StandingSettlement, contractId: string) =>
  Result.gen(function* () {
    const commitment = yield* scope.fetch(Templates.StandingCommitment, contractId)
    yield* demand([
      commitment.standingSettlementId === self.standingSettlementId &&
        commitment.venue === self.venue &&
        commitment.fund === self.fund,
      "a commitment is another settlement's"
    ])
    return commitment
  })

/** Returns commitments to their parties, by the settlement's authority. */
const giveBack = (scope: Scope, self: StandingSettlement, commitments: ReadonlyArray<string>) =>
  Result.gen(function* () {
    for (const contractId of commitments) {
      yield* ofThis(scope, self, contractId)
      yield* scope.exercise(Templates.StandingCommitment, contractId, "Cancel", {})
    }
    return {}
  })

const keyOf = (party: Party.Party, asset: Templates.Asset): string =>
  `${party}/${asset.admin}/${asset.id}`

type Iteration = Templates.Argument<typeof Templates.StandingSettlement, "Settle">

const iterate = (scope: Scope, self: StandingSettlement, argument: Iteration) =>
  Result.gen(function* () {
    const { commitments, lots, redemptions, marketCid } = argument
    yield* demand(
      [!self.paused, "the standing settlement is paused"],
      [scope.now < self.expiresAt, "the standing settlement is past its time"],
      [lots.length + redemptions.length > 0, "an iteration settles something"]
    )
    const committed = new Map<string, string>()
    for (const contractId of commitments) {
      const { party, asset } = yield* ofThis(scope, self, contractId)
      const key = keyOf(party, asset)
      yield* demand([!committed.has(key), "two commitments of one party and asset"])
      committed.set(key, contractId)
    }
    /** Takes an order's leg out of the commitment of its payer. */
    const draw = (
      from: { readonly party: Party.Party; readonly asset: Templates.Asset },
      leg: Templates.Argument<typeof Templates.StandingCommitment, "Use">
    ) =>
      Result.gen(function* () {
        const key = keyOf(from.party, from.asset)
        const contractId = committed.get(key)
        if (contractId === undefined) return yield* abort("an order's payer has committed nothing")
        const used = yield* scope.exercise(Templates.StandingCommitment, contractId, "Use", leg)
        if (used.commitment === null) committed.delete(key)
        else committed.set(key, used.commitment)
        return used.allocation
      })
    for (const { lotCid, due, ...handed } of lots) {
      const lot = yield* scope.fetch(Templates.Lot, lotCid)
      yield* demand(
        [lot.fund === self.fund, "a lot is of another fund"],
        [sameAsset(lot.instrument, self.instrument), "a lot is of another instrument"]
      )
      const allocationCid = yield* draw(
        { party: lot.holder, asset: self.cash },
        { reference: lot.subscriptionId, receiver: self.fund, amount: due }
      )
      yield* scope.exercise(Templates.Lot, lotCid, "Settle", {
        ...handed,
        marketCid,
        allocationCid,
        intentCid: null
      })
    }
    for (const { redemptionCid, unitsAllocationCid } of redemptions) {
      const order = yield* scope.fetch(Templates.PricedRedemption, redemptionCid)
      yield* demand(
        [order.fund === self.fund, "a redemption is of another fund"],
        [sameAsset(order.instrument, self.instrument), "a redemption is of another instrument"]
      )
      const units =
        unitsAllocationCid ??
        (yield* draw(
          { party: order.holder, asset: self.instrument },
          { reference: order.redemptionId, receiver: self.fund, amount: order.units }
        ))
      const allocationCid = yield* draw(
        { party: self.fund, asset: self.cash },
        { reference: order.redemptionId, receiver: order.holder, amount: order.proceeds }
      )
      yield* scope.exercise(Templates.PricedRedemption, redemptionCid, "Settle", {
        marketCid,
        unitsAllocationCid: units,
        allocationCid,
        holdingCids: [],
        intentCid: null,
        evidence: null,
        fill: null
      })
    }
    return { commitments: [...committed.values()] }
  })

export const standingCommitment = define(Templates.StandingCommitment, {
  signatories: ["venue", "fund", "party"],
  observers: [],
  ensure: [["the amount is above 0", (self) => Decimal.isPositive(self.amount)]],
  choices: {
    Use: {
      controllers: ["venue", "fund"],
      guards: ["less is committed than the order takes"],
      body: ({ self, argument: { reference, receiver, amount } }, scope) =>
        Result.gen(function* () {
          yield* demand([
            Decimal.atMost(amount, self.amount),
            "less is committed than the order takes"
          ])
          const holdingCid = yield* free(scope, self)
          const { allocation, change } = yield* scope.exercise(
            Templates.Holding,
            holdingCid,
            "Allocate",
            {
              allocationId: reference,
              executor: self.venue,
              receiver,
              amount,
              settleBefore: self.expiresAt
            }
          )
          if (change === null) return { allocation, commitment: null }
          const rest = Decimal.subtract(self.amount, amount)
          const again = yield* commit(scope, self, { holdingCid: change, amount: rest })
          const commitment = yield* scope.create(Templates.StandingCommitment, {
            ...self,
            amount: rest,
            allocationCid: again.allocation
          })
          return { allocation, commitment }
        })
    },
    Cancel: {
      controllers: ["venue"],
      body: ({ self }, scope) => Result.map(free(scope, self), (contractId) => ({ contractId }))
    },
    Withdraw: {
      controllers: ["party"],
      body: ({ self }, scope) => Result.map(free(scope, self), (contractId) => ({ contractId }))
    }
  }
})

/** Releases a commitment into a free holding. */
const free = (scope: Scope, self: Commitment) =>
  Result.gen(function* () {
    const { contractId } = yield* scope.exercise(
      Templates.Allocation,
      self.allocationCid,
      "Allocation_Cancel",
      {}
    )
    return contractId
  })
