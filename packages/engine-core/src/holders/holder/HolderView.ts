/** A holder as the API shows it. An investor's view is built without what its screening found. */
import { Schema } from "effect"
import * as RecordView from "../../reads/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { Holder, holders } from "./Holder.ts"

export const HolderView = Schema.Struct({ ...Holder.fields, ...RecordView.fields }).annotate({
  identifier: "HolderView",
  description: "A holder, when it changed last, and whose move it is."
})
export type HolderView = typeof HolderView.Type

export const of = (holder: Stored<Holder>): HolderView => RecordView.of(holders, holder)

/** What the holder itself may see: nothing of the venue's screening, and nobody's name. */
export const ofOwn = (holder: Stored<Holder>): HolderView =>
  of({
    ...holder,
    screening: null,
    attributes: holder.attributes.map((attribute) => ({ ...attribute, setBy: "venue" }))
  })
