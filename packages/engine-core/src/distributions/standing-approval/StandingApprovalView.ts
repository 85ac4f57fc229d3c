/** View of a standing approval. */
import { Struct } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { StandingApproval, standingApprovals } from "./StandingApproval.ts"

const shown = Struct.omit(StandingApproval.fields, ["judgedAt"])

export const StandingApprovalView = RecordView.schemaOf(shown, {
  identifier: "StandingApprovalView",
  description: "A standing approval, what it still allows, and who granted it."
})
export type StandingApprovalView = typeof StandingApprovalView.Type

export const of = (self: Stored<StandingApproval>): StandingApprovalView =>
  RecordView.of(standingApprovals, shown, self)
