/** View of an amendment of a reserve's terms. */
import { Struct } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { Amendment, amendments } from "./Amendment.ts"

const shown = Struct.pick(Amendment.fields, [
  "amendmentId",
  "reserveId",
  "instrumentId",
  "state",
  "terms",
  "change",
  "loosens",
  "acceptedAt",
  "effectiveAt"
])

export const AmendmentView = RecordView.schemaOf(shown, {
  identifier: "AmendmentView",
  description: "Other terms of a reserve, their changes, and when they are in force."
})
export type AmendmentView = typeof AmendmentView.Type

export const of = (self: Stored<Amendment>): AmendmentView => RecordView.of(amendments, shown, self)
