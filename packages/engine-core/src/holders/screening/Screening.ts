/** Record of one screening request about a holder, and of the source's latest answer. */
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
  /** The latest answer; null before the first. */
  finding: NullOr(Finding)
}).annotate({
  identifier: "Screening",
  description: "What was asked of the screening source about a holder, and what it answered."
})
export type Screening = typeof Screening.Type

const Answered = Schema.Struct({ on: Schema.Literal("answer"), finding: Finding })

/** Every answer is stored as a fact with its reason: the possible hit, and a person's judgement. */
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
