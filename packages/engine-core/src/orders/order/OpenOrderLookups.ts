/** Look-up of an open order of a holder; a holder that has one cannot be closed. */
import { Effect } from "effect"
import { Records } from "../../records/Records.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { subscriptions } from "../subscription/Subscription.ts"
import * as OpenOrder from "./OpenOrder.ts"

/**
 * Finds the id of an open order of a holder; null: none. A burned redemption is open, and so is a closed
 * subscription whose refund is owed: the fund still has the holder's cash. An order that a new ledger epoch
 * lost is none, since no act can end it.
 */
export const openOrderOf = Effect.fnUntraced(function* (holderId: string) {
  const records = yield* Records
  const queryOf = (kind: "subscription" | "redemption") =>
    ({ where: { holderId: [holderId], open: OpenOrder.openTexts(kind) }, limit: 1 }) as const
  const [bought] = yield* records.list(subscriptions, queryOf("subscription"))
  if (bought !== undefined) return bought.record.subscriptionId
  const [sold] = yield* records.list(redemptions, queryOf("redemption"))
  return sold?.record.redemptionId ?? null
})
