/** View of a reconciliation run. */
import { Schema, Struct } from "effect"
import { NotCompared } from "../../findings/NotCompared.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { Run, runs } from "./Run.ts"

const shown = {
  ...Struct.pick(Run.fields, [
    "runId",
    "trigger",
    "startedAt",
    "finishedAt",
    "asOf",
    "scope",
    "checks"
  ]),
  // Stored runs may lack these members; every view has them.
  notCompared: Schema.Array(NotCompared),
  notComparedCount: Integer.schema,
  ...Struct.pick(Run.fields, ["verdict", "holdsOpened", "distributionsCleared"])
} as const

/** Reconciliation run on the wire: the checks that ran, what they found, and what followed. */
export const RunView = RecordView.schemaOf(shown, {
  identifier: "ReconciliationRunView",
  description: "A reconciliation run: which checks ran, what they found, and what followed."
})
export type RunView = typeof RunView.Type

export const of = (run: Stored<Run>): RunView => RecordView.of(runs, shown, run)
