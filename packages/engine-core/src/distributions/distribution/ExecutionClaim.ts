/**
 * Lock of an instrument by the operation that executes its distribution, taken before the first
 * command is sent to the ledger: two operations could each begin the instrument's months there.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"

const claim = {
  distributionId: Schema.String,
  /** The operation that executes the distribution. */
  operationId: Schema.String
} as const

export const ExecutionClaim = Schema.Struct({ instrumentId: Schema.String, ...claim })
export type ExecutionClaim = typeof ExecutionClaim.Type

/** Taken by another operation, after the former one ended. */
export const Fact = Schema.Struct({ on: Schema.Literal("take"), ...claim })
export type Fact = typeof Fact.Type

export const executionClaims = Collection.define<ExecutionClaim, Fact>("execution-claim", {
  doc: "Which operation executes a distribution of an instrument.",
  id: (self) => self.instrumentId,
  record: ExecutionClaim,
  fact: Fact,
  evolve: (self, { distributionId, operationId }) => ({ ...self, distributionId, operationId }),
  keptBy: "engine"
})
