/** The events that the room of feeds announces: webhooks and retention. */
import { Schema } from "effect"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import { about, announcing } from "../records/EventDeclaration.ts"

const { String: Text, Struct } = Schema
const Count = Integer.schema
const Counts = Schema.Record(Text, Count)

export const events = {
  "retention.pruned": about("any", Struct({ counts: Counts, before: Instant.schema })),
  "webhook.test": about("webhook", Struct({ operationId: Text }))
} as const

export const make = announcing(events)
