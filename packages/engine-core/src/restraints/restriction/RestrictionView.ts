/** View of a restriction, for roles that read restrictions. */
import { Struct } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { Restriction, restrictions } from "./Restriction.ts"

const shown = Struct.pick(Restriction.fields, [
  "restrictionId",
  "holderId",
  "instrumentId",
  "mode",
  "reason",
  "order",
  "state",
  "by",
  "from",
  "autoReleaseAt",
  "liftedBy",
  // The reason of the lift, as the override of a hold has one.
  "liftReason",
  // The end by the clock precedes the notice that changes `updatedAt`.
  "endedAt",
  "supersedes",
  // The operation that opened it: a batch opens many restrictions.
  "operationId"
])

export const RestrictionView = RecordView.schemaOf(shown, {
  identifier: "RestrictionView",
  description: "A restriction of a holder, with the order it cites."
})
export type RestrictionView = typeof RestrictionView.Type

export const of = (record: Stored<Restriction>): RestrictionView =>
  RecordView.of(restrictions, shown, record)
