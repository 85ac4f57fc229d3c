/** A restriction as the API shows it to those who may know of it. */
import { Schema } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { Restriction, restrictions } from "./Restriction.ts"

export const RestrictionView = Schema.Struct({
  ...Restriction.fields,
  ...RecordView.fields
}).annotate({
  identifier: "RestrictionView",
  description: "A restriction of a holder, with the order it cites."
})
export type RestrictionView = typeof RestrictionView.Type

export const of = (record: Stored<Restriction>): RestrictionView =>
  RecordView.of(restrictions, record)
