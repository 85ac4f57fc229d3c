/** The events that the room of findings announces: reconciliation runs and statements. */
import { Schema } from "effect"
import * as Date from "../kernel/Date.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import { about } from "../records/EventDeclaration.ts"
import * as sets from "../vocabulary/sets.ts"

const { String: Text, Struct } = Schema
const Count = Integer.schema
const Counts = Schema.Record(Text, Count)

export const events = {
  "reconciliation.run": about(
    "reconciliation-run",
    Struct({ trigger: sets.RunTrigger.schema, verdict: sets.Verdict.schema, findings: Count })
  ),
  "reconciliation.finding": about("reconciliation-run", Struct({ counts: Counts })),
  "statement.received": about(
    "external-statement",
    Struct({
      externalSourceId: Text,
      kind: sets.StatementKind.schema,
      businessDate: Date.schema,
      contentHash: Text
    })
  ),
  "statement.overdue": about(
    "external-source",
    Struct({
      kind: sets.StatementKind.schema,
      businessDate: Date.schema,
      dueBy: Instant.schema,
      runId: Text
    })
  )
} as const
