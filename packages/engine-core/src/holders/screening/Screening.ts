/** A screening of a holder: what was asked of the screening source, and what it answered. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"

const { NullOr, String: Text } = Schema

const Finding = Schema.Struct({
  found: Schema.Literals(["none", "possible", "confirmed"]),
  screenedAt: Instant.schema,
  listVersion: Text,
  reason: NullOr(Text),
  answeredAt: Instant.schema
})

export const Screening = Schema.Struct({
  requestId: Text,
  holderId: Text,
  askedAt: Instant.schema,
  /** The last answer; null: none yet. */
  finding: NullOr(Finding)
}).annotate({
  identifier: "Screening",
  description: "What was asked of the screening source about a holder, and what it answered."
})
export type Screening = typeof Screening.Type

const Answered = Schema.Struct({ on: Schema.Literal("answer"), finding: Finding })

/** Every answer is kept as a fact, with its reason: a possible hit and what a person made of it. */
export const screenings = Collection.define<Screening, typeof Answered.Type>("screening", {
  doc: "What was asked of the screening source about a holder, and what it answered.",
  id: ({ requestId }) => requestId,
  record: Screening,
  fact: Answered,
  evolve: (self, { finding }) => ({ ...self, finding }),
  keptBy: "engine",
  filters: { holderId: ({ holderId }) => holderId },
  waitingOn: ({ finding }) => {
    if (finding === null) return [{ action: "screening.answer", by: null }]
    return finding.found === "possible"
      ? [{ role: "compliance", action: "screening.adjudicate", by: null }]
      : []
  }
})
