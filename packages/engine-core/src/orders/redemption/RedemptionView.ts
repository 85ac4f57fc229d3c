/** View of a redemption: its public members, its order state, and the basis of its figures. */
import { Schema, Struct } from "effect"
import * as Basis from "../../kernel/Basis.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as LazyStruct from "../../kernel/LazyStruct.ts"
import type * as Offset from "../../kernel/Offset.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { orderStateAt, Redemption, redemptions, RedemptionOrder } from "./Redemption.ts"
import { basisOf } from "./RedemptionBasis.ts"

const shown = Struct.pick(Redemption.fields, [
  "redemptionId",
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
  "proceeds",
  "policyVersion",
  "cutOffAt",
  "dealingDate",
  "cycleId",
  "recovered",
  "lost",
  "cash",
  "settleBy",
  "valueDate",
  "claimedAt",
  "pricedAt",
  "burnRequestCid",
  "fundedAt",
  "burnedAt",
  "settledAt",
  "endedAt",
  "endedAs",
  "remainderOf",
  // The party that settles the order needs the locked units and cash, and the end of their locks.
  "unitsAllocation",
  "allocation"
])

export const RedemptionView = Schema.Struct({
  ...shown,
  orderState: RedemptionOrder.schema,
  /** Formula and inputs of each figure, once it is priced. */
  basis: Schema.Array(Basis.Basis),
  ...RecordView.fields
}).annotate({
  identifier: "RedemptionView",
  description: "A redemption, what it still needs, and who must act next."
})
export type RedemptionView = typeof RedemptionView.Type

/** Makes the view with the order state at an instant; `offset` is the offset of the read, named in the basis. */
export const of = (
  record: Stored<Redemption>,
  now: Instant.Instant,
  offset: Offset.Offset | null = null
): RedemptionView =>
  LazyStruct.extend(RecordView.of(redemptions, shown, record), {
    orderState: orderStateAt(record, now),
    basis: basisOf(record, offset)
  })
