/** View of a hold. */
import { Struct } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { Hold, holds } from "./Hold.ts"

const shown = Struct.pick(Hold.fields, [
  "holdId",
  "instrumentId",
  "source",
  "blocks",
  "reason",
  "findings",
  "runId",
  // The only member that names the reserve whose cover was low.
  "cover",
  "state",
  "openedAt",
  // The opener of a manual hold, as the view of a restriction has it.
  "by",
  "until",
  "releasedAt",
  "releasedBy",
  "override"
])

export const HoldView = RecordView.schemaOf(shown, {
  identifier: "HoldView",
  description: "A hold on an instrument, what it blocks, and who must act next."
})
export type HoldView = typeof HoldView.Type

export const of = (hold: Stored<Hold>): HoldView => RecordView.of(holds, shown, hold)
