/** Look-up of the payment of a cycle that no cash of one provider reaches, with two queries for all orders. */
import { Effect, Result } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import { contracts } from "../../projection/Contract.ts"
import { Records } from "../../records/Records.ts"
import { Allocation, Holding } from "../../templates/Registry.ts"
import { decodePayload, type LfRecord, type Template } from "../../templates/Template.ts"
import { toPayBack } from "../subscription/Subscription.ts"
import type { DealingCycle } from "./DealingCycle.ts"
import type { Orders } from "./DealingCycleOrders.ts"
import type { Settlement } from "./DealingCycleRules.ts"
import type { Provision } from "./HoldingSelectionRules.ts"
import { type PursePayment, unpaidOf } from "./PurseRules.ts"

/**
 * Finds the first redemption whose payment no cash of one provider reaches, although all cash together does;
 * null: there is none, or a holding is not visible and nothing can be said of it.
 */
export const unpaidIn = Effect.fnUntraced(function* (
  cycle: Pick<DealingCycle, "allocations">,
  {
    orders,
    provision,
    settlement
  }: {
    readonly orders: Orders
    readonly provision: Provision | null
    readonly settlement: Pick<Settlement, "fills">
  }
) {
  const payments = paymentsOf(orders, settlement)
  if (payments.length === 0) return null
  const allocated = [
    ...orders.subscriptions.flatMap(({ allocation, refund }) =>
      allocation === null
        ? []
        : [
            {
              cid: allocation.cid,
              amount: Decimal.subtract(allocation.amount, toPayBack({ refund }) ?? Decimal.zero)
            }
          ]
    ),
    ...cycle.allocations
  ]
  const allocations = yield* payloadsOf(
    Allocation,
    allocated.map(({ cid }) => cid)
  )
  const drawn = provision?.holdingCids[0]
  const holdings = yield* payloadsOf(Holding, [
    ...[...allocations.values()].map(({ holdingCid }) => holdingCid),
    ...(drawn === undefined ? [] : [drawn])
  ])
  const purseOf = (holdingCid: string | undefined, amount: Decimal.Decimal) => {
    const holding = holdings.get(holdingCid ?? "")
    return holding === undefined
      ? null
      : { kind: JSON.stringify([holding.provider, holding.restricted]), amount }
  }
  const purses = [
    ...allocated.map(({ amount, cid }) => purseOf(allocations.get(cid)?.holdingCid, amount)),
    ...(provision === null ? [] : [purseOf(drawn, provision.amount)])
  ]
  const visible = purses.filter((purse) => purse !== null)
  return visible.length < purses.length ? null : unpaidOf(visible, payments)
})

/** Payments out of the cycle's cash, in the order of the settlement: those without an allocation of their own. */
const paymentsOf = (
  { redemptions }: Orders,
  { fills }: Pick<Settlement, "fills">
): ReadonlyArray<PursePayment> =>
  redemptions.flatMap(({ allocation, proceeds, redemptionId }) => {
    const fill = fills.get(redemptionId)
    if (fill === undefined && allocation !== null) return []
    return [{ redemptionId, amount: fill?.proceeds ?? proceeds ?? Decimal.zero }]
  })

/** Loads the payloads of these contracts by id; one that is unknown or of another form is left out. */
const payloadsOf = Effect.fnUntraced(function* <T extends Template>(
  template: T,
  cids: ReadonlyArray<string>
) {
  const records = yield* Records
  const found = yield* records.many(contracts, [...new Set(cids)])
  return new Map(
    found.flatMap(({ contractId, payload }) => {
      const decoded = decodePayload(template, payload as LfRecord)
      return Result.isFailure(decoded) ? [] : [[contractId as string, decoded.success] as const]
    })
  )
})
