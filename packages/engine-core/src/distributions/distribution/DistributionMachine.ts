/** State machine of an executed distribution: moves, who makes each, and its facts. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Distribution } from "./Distribution.ts"
import { Totals } from "./DistributionTerms.ts"

export const DistributionMachine = Machine.declare("DistributionState", {
  doc: "An executed distribution. Carried, suspended and void lines do not keep it from paid.",
  states: {
    executed: "Its lines are computed.",
    held: "Its instrument is under a hold.",
    payable: "A reconciliation run found nothing that stops it.",
    paid: "Every line that was delivered is rolled."
  },
  triggers: {
    clear: { by: ["run"], announces: ["distribution.payable"] },
    hold: {
      by: ["instrument.pause", "run", "distribution.execute"],
      announces: ["distribution.held"]
    },
    pay: { by: ["distribution.roll", "run"], announces: ["distribution.paid"] }
  },
  initial: "executed",
  opens: {
    by: ["distribution.execute"],
    announces: ["distribution.rate-changed", "distribution.carried"]
  },
  moves: {
    executed: { clear: "payable", hold: "held" },
    held: { clear: "payable" },
    payable: { hold: "held", pay: "paid" },
    paid: {}
  },
  forward: ["clear", "pay"]
})

/** Every line was added on the ledger; no further one can be added. */
const Seal = Schema.Struct({
  on: Schema.Literal("seal"),
  at: Instant.schema,
  /** Sums of the lines as the ledger sealed them, and the net of those that are suspended. */
  totals: Totals
})
const Clear = Schema.Struct({
  on: Schema.Literal("clear"),
  at: Instant.schema,
  runId: Schema.String
})
const Held = Schema.Struct({
  on: Schema.Literal("hold"),
  at: Instant.schema,
  holdId: Schema.String
})
const Pay = Schema.Struct({
  on: Schema.Literal("pay"),
  at: Instant.schema,
  /** Number of lines that are rolled. */
  rolled: Integer.schema
})

export const Fact = Schema.Union([Seal, Clear, Held, Pay])
export type Fact = typeof Fact.Type

/** Fold: the distribution after `fact`. */
export const evolve = (self: Distribution, fact: Fact): Distribution =>
  match(fact)
    .with({ on: "seal" }, ({ at, totals }) => ({ ...self, sealedAt: at, totals }))
    .with({ on: "clear" }, ({ on, runId }) => ({
      ...self,
      state: Machine.follow(DistributionMachine, self.state, on),
      clearedByRun: runId,
      holdId: null
    }))
    .with({ on: "hold" }, ({ on, holdId }) => ({
      ...self,
      state: Machine.follow(DistributionMachine, self.state, on),
      holdId
    }))
    .with({ on: "pay" }, ({ on }) => ({
      ...self,
      state: Machine.follow(DistributionMachine, self.state, on)
    }))
    .exhaustive()
