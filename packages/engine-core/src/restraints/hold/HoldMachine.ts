/** State machine of a hold on an instrument. */
import { Result, Schema } from "effect"
import { match } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Hold } from "./Hold.ts"

export const HoldMachine = Machine.declare("HoldState", {
  doc: "A hold on an instrument. Many may be open at once; what is blocked is their union.",
  states: {
    open: "Blocks what it names.",
    released: "Ended by two approvers."
  },
  triggers: {
    release: { by: ["hold.release"], announces: ["hold.released"] }
  },
  initial: "open",
  opens: {
    by: ["instrument.pause", "run"],
    announces: ["instrument.paused", "reconciliation.hold", "reserve.cover-low"]
  },
  moves: {
    open: { release: "released" },
    released: {}
  },
  forward: ["release"]
})

const Findings = Schema.Array(Schema.String)

/** Override of a release: the findings that were still open, and the reason. */
export const Override = Schema.Struct({ findings: Findings, reason: Schema.String })

/** A later run added findings; the state does not change. */
const Join = Schema.Struct({ on: Schema.Literal("join"), runId: Schema.String, findings: Findings })
const Release = Schema.Struct({
  on: Schema.Literal("release"),
  at: Instant.schema,
  /** Subject claims of the approvers, in the order of their signatures. */
  by: Schema.Array(Schema.String),
  override: Schema.NullOr(Override),
  operationId: Schema.String
})

export const Fact = Schema.Union([Join, Release])
export type Fact = typeof Fact.Type

/** Decides whether the hold's state allows its release. */
export const decide = (self: Pick<Hold, "state">, on: "release") =>
  Machine.admit(HoldMachine, self, on).pipe(Result.map(() => on))

/** Fold: the hold after `fact`. */
export const evolve = (self: Hold, fact: Fact): Hold =>
  match(fact)
    .with({ on: "join" }, ({ findings }) => ({
      ...self,
      findings: [...new Set([...self.findings, ...findings])]
    }))
    .with({ on: "release" }, ({ on, at, by, override }) => ({
      ...self,
      state: Machine.follow(HoldMachine, self.state, on),
      releasedAt: at,
      releasedBy: by,
      override
    }))
    .exhaustive()
