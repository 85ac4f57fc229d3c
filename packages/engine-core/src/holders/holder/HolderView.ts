/** View of a holder; the view for an investor or an app conceals the screening. */
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
  // Public because the caller who registers a holder names its custodian.
  "custodian"
])

export const HolderView = RecordView.schemaOf(shown, {
  identifier: "HolderView",
  description: "A holder, when it changed last, and who must act next."
})
export type HolderView = typeof HolderView.Type

export const of = (holder: Stored<Holder>): HolderView => RecordView.of(holders, shown, holder)

/**
 * View for the holder itself and for an app: without the screening, without the version and time of
 * its changes, and without the names of the venue's staff (docs/domain/holders.md#concealment).
 */
export const ofOwn = (holder: Stored<Holder>): HolderView =>
  of({
    ...holder,
    version: holder.told.version,
    // Facts of a call have the time of the call, which may lie before the record was created.
    updatedAt: Instant.max(holder.told.at, holder.createdAt),
    screening: null,
    attributes: holder.attributes.map((attribute) => ({ ...attribute, setBy: "venue" }))
  })
