/** Look-up of an open order of a holder; a holder that has one cannot be closed. */
import { Effect } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import { Records } from "../../records/Records.ts"
import { redemptions, RedemptionMachine } from "../redemption/Redemption.ts"
import { subscriptions, SubscriptionMachine } from "../subscription/Subscription.ts"

const openStates = {
  subscription: SubscriptionMachine.schema.literals.filter(
    (state) => !Machine.isTerminal(SubscriptionMachine, state)
  ),
  redemption: RedemptionMachine.schema.literals.filter(
    (state) => !Machine.isTerminal(RedemptionMachine, state)
  )
} as const

/** Finds the id of an open order of a holder; null: none. A burned redemption is open: its cash is owed. */
export const openOrderOf = Effect.fnUntraced(function* (holderId: string) {
  const records = yield* Records
  const queryOf = (state: ReadonlyArray<string>) =>
    ({ where: { holderId: [holderId], state }, limit: 1 }) as const
  const [bought] = yield* records.list(subscriptions, queryOf(openStates.subscription))
  if (bought !== undefined) return bought.record.subscriptionId
  const [sold] = yield* records.list(redemptions, queryOf(openStates.redemption))
  return sold?.record.redemptionId ?? null
})
