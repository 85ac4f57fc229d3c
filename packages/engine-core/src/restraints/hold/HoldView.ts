/** A hold as the API shows it. */
import { Schema } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { Hold, holds } from "./Hold.ts"

export const HoldView = Schema.Struct({ ...Hold.fields, ...RecordView.fields }).annotate({
  identifier: "HoldView",
  description: "A hold on an instrument, what it blocks, and whose move its release is."
})
export type HoldView = typeof HoldView.Type

export const of = (hold: Stored<Hold>): HoldView => RecordView.of(holds, hold)
