/** View of a finding. */
import { Schema, Struct } from "effect"
import * as Date from "../kernel/Date.ts"
import * as Basis from "../kernel/Basis.ts"
import * as LazyStruct from "../kernel/LazyStruct.ts"
import * as RecordView from "../records/RecordView.ts"
import type { Stored } from "../records/Records.ts"
import { basisOf } from "./FindingBasis.ts"
import { Finding, findings, FoundEntry, Moment } from "./Finding.ts"

const shown = {
  ...Struct.pick(Finding.fields, [
    "findingId",
    "runId",
    "check",
    "severity",
    "instrumentId",
    "subject",
    "holderId",
    "expected",
    "actual",
    "difference",
    "unit",
    "tolerance",
    "explained",
    "unexplained",
    "asOf"
  ]),
  // Stored findings may lack the member; every view has it.
  comparedAt: Schema.NullOr(Moment),
  /** Business dates whose statements did not come and may explain the difference. */
  missingDates: Schema.Array(Date.schema),
  /** Line of a bank statement whose entry the finding is about; null: it is about none. */
  entry: Schema.NullOr(FoundEntry),
  ...Struct.pick(Finding.fields, [
    "statementId",
    "firstSeenRunId",
    "firstSeenAt",
    "seenRuns",
    "ageDays",
    "state",
    "holdId",
    "accepted"
  ])
} as const

export const FindingView = RecordView.schemaOf(
  {
    ...shown,
    /** Computation of the difference and its parts; empty for a finding without amounts. */
    basis: Schema.Array(Basis.Basis)
  },
  {
    identifier: "FindingView",
    description: "A difference that reconciliation found, what explains it, and how old it is."
  }
)
export type FindingView = typeof FindingView.Type

export const of = (finding: Stored<Finding>): FindingView =>
  LazyStruct.extend(RecordView.of(findings, shown, finding), { basis: basisOf(finding) })
