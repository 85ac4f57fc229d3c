/** Events that the room of reconciliation announces: runs, and their findings. */
import { Schema } from "effect"
import * as Integer from "../kernel/Integer.ts"
import { about, announcing } from "../records/EventDeclaration.ts"
import * as sets from "../vocabulary/sets.ts"

const { String: Text, Struct } = Schema
const Count = Integer.schema

export const events = {
  "reconciliation.run": about(
    "reconciliation-run",
    Struct({ trigger: sets.RunTrigger.schema, verdict: sets.Verdict.schema, findings: Count })
  ),
  "reconciliation.finding": about(
    "reconciliation-run",
    Struct({ counts: Schema.Record(Text, Count) })
  )
} as const

export const make = announcing(events)
