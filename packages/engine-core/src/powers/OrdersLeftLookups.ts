/** Loads the open orders of holders, which a forced act lists and does not change. */
import { Effect, Schema, Stream } from "effect"
import * as Machine from "../kernel/Machine.ts"
import { redemptions, RedemptionMachine } from "../orders/redemption/Redemption.ts"
import { subscriptions, SubscriptionMachine } from "../orders/subscription/Subscription.ts"
import { Records } from "../records/Records.ts"
import { OpenOrderKind } from "../vocabulary/sets.ts"

export const OrderLeft = Schema.Struct({
  orderId: Schema.String,
  kind: OpenOrderKind.schema,
  holderId: Schema.String
}).annotate({
  identifier: "OrderLeft",
  description: "An order that stays open with the holder whose units were moved."
})
export type OrderLeft = typeof OrderLeft.Type

const openIn = <S extends string, T extends string>(machine: Machine.Machine<S, T>) =>
  machine.schema.literals.filter((state) => !Machine.isTerminal(machine, state))

/**
 * Loads the open orders of these holders. They stay with their holder: a redemption whose units
 * have moved is not funded and is released by the venue, a subscription of a succeeded holder is
 * not delivered and is released too, and a burned redemption is paid to its holder.
 */
export const ordersOf = Effect.fnUntraced(function* (holderIds: ReadonlyArray<string>) {
  if (holderIds.length === 0) return []
  const records = yield* Records
  const bought = records
    .stream(subscriptions, { where: { holderId: holderIds, state: openIn(SubscriptionMachine) } })
    .pipe(
      Stream.map(
        ({ record: { subscriptionId: orderId, holderId } }): OrderLeft => ({
          orderId,
          kind: "subscription",
          holderId
        })
      )
    )
  const sold = records
    .stream(redemptions, { where: { holderId: holderIds, state: openIn(RedemptionMachine) } })
    .pipe(
      Stream.map(
        ({ record: { redemptionId: orderId, holderId } }): OrderLeft => ({
          orderId,
          kind: "redemption",
          holderId
        })
      )
    )
  return [...(yield* Stream.runCollect(bought)), ...(yield* Stream.runCollect(sold))]
})
