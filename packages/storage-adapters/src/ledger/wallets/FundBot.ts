/**
 * Bot of a fund: answers proposals, accepts offered cash, pays the legs, redemptions and nets it
 * owes.
 */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Agreements from "./Agreements.ts"
import * as Commitments from "./Commitments.ts"
import * as Orders from "./Orders.ts"
import * as Policy from "./Policy.ts"
import * as Powers from "./Powers.ts"
import * as Reserves from "./Reserves.ts"
import * as World from "./World.ts"

/** Options of a fund's program. */
export interface Options {
  readonly policy: Policy.Policy
}

/** Plan of a fund: it signs what its policy accepts. */
export const plan = ({ policy }: Options): World.Plan =>
  Agreements.all(
    markets(policy),
    provisions(policy),
    Powers.agreements(policy),
    Reserves.issuing(policy),
    Agreements.transferOffers(policy),
    Agreements.legs(policy),
    Commitments.commitments(policy),
    redemptions(policy),
    nets(policy)
  )

/** Accepts markets of the instruments that it issues. */
export const markets = (policy: Policy.Policy): World.Plan =>
  Agreements.primaryMarkets(policy, ({ fund }, party) => fund === party)

/** Accepts that the venue pays the fund's legs out of cash that the fund names. */
export const provisions =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.ProvisionSettlementProposal).flatMap(({ contractId, payload }) => {
      const { fund, provisionId, instrumentId, until } = payload
      if (fund !== world.party || (until !== null && world.now >= until)) return []
      const to = { template: Templates.ProvisionSettlementProposal, contractId } as const
      const details = { provisionId, instrumentId }
      switch (Policy.judge(policy, [contractId, provisionId, instrumentId])) {
        case "accept":
          return [World.answer("accept-provision", { ...to, choice: "Accept" }, {}, details)]
        case "reject":
          return [World.answer("decline-provision", { ...to, choice: "Decline" }, {}, details)]
        case "wait":
          return []
      }
    })

/** Time that the venue has to use an allocation. */
const within = Duration.days(7)

/**
 * Pays the proceeds of redemptions that are settled singly; those of a cycle are part of its net.
 */
export const redemptions =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.PricedRedemption).flatMap(({ contractId, payload }) => {
      const { redemptionId, orderId, instrument, paymentAsset, holder } = payload
      const mine = payload.mode === "ledger" && payload.fund === world.party
      if (!mine || payload.cycleId !== null || paymentAsset === null) return []
      const ids = [contractId, redemptionId, orderId ?? redemptionId, instrument.id, holder]
      if (Policy.judge(policy, ids) !== "accept") return []
      return Agreements.put(world, {
        about: contractId,
        ids: [redemptionId, orderId],
        venue: payload.venue,
        receiver: holder,
        instrument: paymentAsset,
        amount: payload.proceeds,
        settleBefore: Instant.add(world.now, within)
      })
    })

type Cycle = World.FoundContract<typeof Templates.DealingCycle>

/** Plan that pays the fund's net of a cycle past its cut-off, once all orders are priced. */
export const nets =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.DealingCycle).flatMap((cycle) => {
      const { contractId, payload } = cycle
      const { cycleId, instrument, cash, settleBy } = payload
      const open = world.now < payload.cutOffAt || world.now >= settleBy
      if (payload.fund !== world.party || open || !isPriced(world, cycleId)) return []
      if (Policy.judge(policy, [contractId, cycleId, instrument.id]) !== "accept") return []
      const owed = owedTo(world, cycle)
      if (!Decimal.isPositive(owed)) return []
      return Agreements.put(world, {
        about: contractId,
        ids: [cycleId],
        venue: payload.venue,
        receiver: world.party,
        instrument: cash,
        amount: owed,
        settleBefore: settleBy
      })
    })

const isPriced = (world: World.World, cycleId: string): boolean =>
  ![
    ...World.find(world, Templates.SubscriptionClaim),
    ...World.find(world, Templates.RedemptionClaim)
  ].some(({ payload }) => payload.cycleId === cycleId)

/** Cash of the cycle's redemptions less that of its subscriptions. */
const owedTo = (world: World.World, { payload: { cycleId } }: Cycle): Decimal.Decimal => {
  const taken = World.find(world, Templates.PricedRedemption)
    .filter(({ payload }) => payload.cycleId === cycleId)
    .map(({ payload }) => payload.proceeds)
  const brought = World.find(world, Templates.Lot)
    .filter(({ payload }) => payload.cycleId === cycleId)
    .map(({ payload }) => Orders.dueOf(payload) ?? Decimal.zero)
  return Decimal.subtract(Decimal.sum(taken), Decimal.sum(brought))
}
