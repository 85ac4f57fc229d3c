/** A subscription as the API shows it, with what stands between it and its value date. */
import { Schema } from "effect"
import type * as Instant from "../../kernel/Instant.ts"
import * as RecordView from "../../reads/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { orderStateAt, Subscription, subscriptions } from "./Subscription.ts"
import { SubscriptionOrder } from "./SubscriptionOrder.ts"

export const SubscriptionView = Schema.Struct({
  ...Subscription.fields,
  orderState: SubscriptionOrder.schema,
  ...RecordView.fields
}).annotate({
  identifier: "SubscriptionView",
  description: "A subscription, what it still needs, and whose move it is."
})
export type SubscriptionView = typeof SubscriptionView.Type

export const of = (record: Stored<Subscription>, now: Instant.Instant): SubscriptionView => ({
  ...RecordView.of(subscriptions, record),
  orderState: orderStateAt(record, now)
})
