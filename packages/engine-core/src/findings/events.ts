/** The events that the room of findings announces: statements of outside sources. */
import { Schema } from "effect"
import * as Date from "../kernel/Date.ts"
import * as Instant from "../kernel/Instant.ts"
import { about, announcing } from "../records/EventDeclaration.ts"
import * as sets from "../vocabulary/sets.ts"

const { String: Text, Struct } = Schema

export const events = {
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

export const make = announcing(events)
