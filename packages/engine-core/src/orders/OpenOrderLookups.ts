/** Loads an order of a holder that is not ended: a holder with one is not closed. */
import { Effect } from "effect"
import * as Machine from "../kernel/Machine.ts"
import { Records } from "../records/Records.ts"
import { redemptions } from "./redemption/Redemption.ts"
import { RedemptionMachine } from "./redemption/RedemptionMachine.ts"
import { subscriptions } from "./subscription/Subscription.ts"
import { SubscriptionMachine } from "./subscription/SubscriptionMachine.ts"

const openStates = {
  subscription: SubscriptionMachine.schema.literals.filter(
    (state) => !Machine.isTerminal(SubscriptionMachine, state)
  ),
  redemption: RedemptionMachine.schema.literals.filter(
    (state) => !Machine.isTerminal(RedemptionMachine, state)
  )
} as const

/** A burned redemption is open too: its holder has no units any more and is still owed cash. */
export const openOrderOf = Effect.fnUntraced(function* (holderId: string) {
  const records = yield* Records
  const of = (state: ReadonlyArray<string>) =>
    ({ where: { holderId: [holderId], state }, limit: 1 }) as const
  const [bought] = yield* records.list(subscriptions, of(openStates.subscription))
  if (bought !== undefined) return bought.record.subscriptionId
  const [sold] = yield* records.list(redemptions, of(openStates.redemption))
  return sold?.record.redemptionId ?? null
})
