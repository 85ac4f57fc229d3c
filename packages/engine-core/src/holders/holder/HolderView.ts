/** A holder as the API shows it. An investor's view, and an app's, is built without what its screening found. */
import * as Instant from "../../kernel/Instant.ts"
import { Schema } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { Holder, holders } from "./Holder.ts"

const { told: _, ...shown } = Holder.fields

export const HolderView = Schema.Struct({ ...shown, ...RecordView.fields }).annotate({
  identifier: "HolderView",
  description: "A holder, when it changed last, and whose move it is."
})
export type HolderView = typeof HolderView.Type

export const of = (holder: Stored<Holder>): HolderView => {
  const { told: __, ...view } = RecordView.of(holders, holder)
  return view
}

/**
 * The holder as it and an app that speaks for it read it: nothing of the venue's screening, not
 * even that it changed, and nobody's name (docs/domain/holders.md#concealment).
 */
export const ofOwn = (holder: Stored<Holder>): HolderView =>
  of({
    ...holder,
    version: holder.told.version,
    // The call's statement has the call's time, the record that of its writing.
    updatedAt: Instant.max(holder.told.at, holder.createdAt),
    screening: null,
    attributes: holder.attributes.map((attribute) => ({ ...attribute, setBy: "venue" }))
  })
