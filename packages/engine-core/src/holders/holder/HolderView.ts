/** A holder as the API shows it. An investor's view, and an app's, is built without what its screening found. */
import * as Instant from "../../kernel/Instant.ts"
import { Struct } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { Holder, holders } from "./Holder.ts"

const shown = Struct.pick(Holder.fields, [
  "holderId",
  "party",
  "state",
  "legalName",
  "lei",
  "classification",
  "taxResidences",
  "registeredAt",
  "validUntil",
  "attributes",
  "screening",
  "terms",
  "successor",
  "predecessor",
  "consents",
  "externalAccounts",
  "closedAs",
  // Whoever registers a holder names its custodian, and reads it here again.
  "custodian"
])

export const HolderView = RecordView.schemaOf(shown, {
  identifier: "HolderView",
  description: "A holder, when it changed last, and who must act next."
})
export type HolderView = typeof HolderView.Type

export const of = (holder: Stored<Holder>): HolderView => RecordView.of(holders, shown, holder)

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
