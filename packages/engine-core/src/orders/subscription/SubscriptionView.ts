/** View of a subscription: its public members, its order state, and the basis of its figures. */
import { Schema, Struct } from "effect"
import * as Basis from "../../kernel/Basis.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as LazyStruct from "../../kernel/LazyStruct.ts"
import type * as Offset from "../../kernel/Offset.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { orderStateAt, Subscription, subscriptions, SubscriptionOrder } from "./Subscription.ts"
import { basisOf } from "./SubscriptionBasis.ts"

const shown = Struct.pick(Subscription.fields, [
  "subscriptionId",
  "instrumentId",
  "holderId",
  "party",
  "state",
  "payment",
  "orderedAs",
  "amount",
  "units",
  "currency",
  "fee",
  "price",
  "pointCid",
  "index",
  "baseUnits",
  "policyVersion",
  "cutOffAt",
  "dealingDate",
  "cycleId",
  "recovered",
  "lost",
  "residual",
  "refund",
  "refunded",
  "attestors",
  "lot",
  "cash",
  "settleBy",
  "valueDate",
  "claimedAt",
  "pricedAt",
  "deliveredAt",
  "endedAt",
  "endedAs",
  "remainderOf",
  // The party that settles the order needs the locked cash, and the end of its lock.
  "allocation"
])

export const SubscriptionView = Schema.Struct({
  ...shown,
  orderState: SubscriptionOrder.schema,
  /** Formula and inputs of each figure, once it is priced. */
  basis: Schema.Array(Basis.Basis),
  ...RecordView.fields
}).annotate({
  identifier: "SubscriptionView",
  description: "A subscription, what it still needs, and who must act next."
})
export type SubscriptionView = typeof SubscriptionView.Type

/** Makes the view with the order state at an instant; `offset` is the offset of the read, named in the basis. */
export const of = (
  record: Stored<Subscription>,
  now: Instant.Instant,
  offset: Offset.Offset | null = null
): SubscriptionView =>
  LazyStruct.extend(RecordView.of(subscriptions, shown, record), {
    orderState: orderStateAt(record, now),
    basis: basisOf(record, offset)
  })
