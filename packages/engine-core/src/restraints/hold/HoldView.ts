/** View of a hold; the view for an app conceals the findings. */
import { Struct } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import type { Role } from "../../vocabulary/Role.ts"
import { isConcealedFrom } from "../../writes/Concealment.ts"
import { Hold, holds } from "./Hold.ts"
import { neutralReason } from "./HoldOpeningRules.ts"

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

/**
 * View of a hold for a role. To investors and apps a run's hold names neither its checks nor its findings,
 * whose ids are digests of check and holder, nor why people accepted them: a check may have read a
 * restriction (docs/domain/holders.md#concealment).
 */
export const ofRole = (hold: Stored<Hold>, role: Role): HoldView =>
  isConcealedFrom(role) && hold.runId !== null
    ? of({ ...hold, reason: neutralReason, findings: [], override: null })
    : of(hold)
