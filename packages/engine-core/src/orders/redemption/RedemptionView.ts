/** A redemption as the API shows it, with what stands between it and its value date. */
import { Schema } from "effect"
import type * as Instant from "../../kernel/Instant.ts"
import * as RecordView from "../../reads/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { orderStateAt, Redemption, redemptions } from "./Redemption.ts"
import { RedemptionOrder } from "./RedemptionOrder.ts"

export const RedemptionView = Schema.Struct({
  ...Redemption.fields,
  orderState: RedemptionOrder.schema,
  ...RecordView.fields
}).annotate({
  identifier: "RedemptionView",
  description: "A redemption, what it still needs, and whose move it is."
})
export type RedemptionView = typeof RedemptionView.Type

export const of = (record: Stored<Redemption>, now: Instant.Instant): RedemptionView => ({
  ...RecordView.of(redemptions, record),
  orderState: orderStateAt(record, now)
})
