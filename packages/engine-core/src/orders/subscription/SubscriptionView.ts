/** A subscription as the API shows it, with what stands between it and its value date. */
import { Schema, Struct } from "effect"
import * as Basis from "../../kernel/Basis.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Offset from "../../kernel/Offset.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { orderStateAt, Subscription, subscriptions } from "./Subscription.ts"
import { basisOf } from "./SubscriptionBasis.ts"
import { SubscriptionOrder } from "./SubscriptionOrder.ts"

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
  "policyVersion",
  "cutOffAt",
  "dealingDate",
  "cycleId",
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
  // Whoever settles it needs to see the locked cash, and until when the ledger keeps it locked.
  "allocation"
])

export const SubscriptionView = Schema.Struct({
  ...shown,
  orderState: SubscriptionOrder.schema,
  /** Where each figure comes from, once it is priced. */
  basis: Schema.Array(Basis.Basis),
  ...RecordView.fields
}).annotate({
  identifier: "SubscriptionView",
  description: "A subscription, what it still needs, and who must act next."
})
export type SubscriptionView = typeof SubscriptionView.Type

/** The record as it stands at an instant, and at which offset it was read where one is asked for. */
export const of = (
  record: Stored<Subscription>,
  now: Instant.Instant,
  offset: Offset.Offset | null = null
): SubscriptionView => ({
  ...RecordView.of(subscriptions, shown, record),
  orderState: orderStateAt(record, now),
  basis: basisOf(record, offset)
})
