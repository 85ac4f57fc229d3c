/** A restriction as the API shows it to those who may know of it. */
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
  // Why it was lifted, as the override of a hold shows it.
  "liftReason",
  // The clock ends a restriction before its lapse is noted and `updatedAt` moves.
  "endedAt",
  "supersedes",
  // The operation that made it: a batch makes many restrictions.
  "operationId"
])

export const RestrictionView = RecordView.schemaOf(shown, {
  identifier: "RestrictionView",
  description: "A restriction of a holder, with the order it cites."
})
export type RestrictionView = typeof RestrictionView.Type

export const of = (record: Stored<Restriction>): RestrictionView =>
  RecordView.of(restrictions, shown, record)
