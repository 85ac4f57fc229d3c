/** Record of one screening request about a holder, and of the source's latest answer. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"

export const ScreeningMachine = Machine.declare("ScreeningState", {
  doc: "The screening of a holder against the lists of the screening source.",
  states: {
    unscreened: "Never asked.",
    pending: "Asked; no answer yet.",
    clear: "No hit.",
    review: "A possible hit that somebody must judge.",
    match: "A confirmed hit: the engine restricts the holder.",
    stale: "The answer is too old, or older than the list."
  },
  triggers: {
    ask: { by: ["holder.register", "holder.onboard", "clock", "screening"] },
    clear: { by: ["screening"] },
    doubt: { by: ["screening"] },
    confirm: { by: ["screening"], announces: ["holder.restricted"] },
    age: { by: ["clock", "screening"] }
  },
  initial: "unscreened",
  opens: { by: ["holder.register", "holder.onboard"] },
  moves: {
    unscreened: { ask: "pending" },
    pending: { clear: "clear", doubt: "review", confirm: "match" },
    clear: { age: "stale" },
    review: { clear: "clear", confirm: "match" },
    match: { ask: "pending" },
    stale: { ask: "pending" }
  },
  forward: ["clear"],
  endless: "A holder is screened again for as long as the venue keeps it; it ends with the holder."
})

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
