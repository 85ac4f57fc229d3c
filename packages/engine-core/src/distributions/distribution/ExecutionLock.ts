/**
 * Lock of an instrument by the operation that executes its distribution, taken before the first
 * command is sent to the ledger: two operations could each begin the instrument's months there.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"

const execution = {
  distributionId: Schema.String,
  /** The operation that executes the distribution. */
  operationId: Schema.String
} as const

export const ExecutionLock = Schema.Struct({ instrumentId: Schema.String, ...execution })
export type ExecutionLock = typeof ExecutionLock.Type

/** Taken by another operation, after the former one ended. */
export const Fact = Schema.Struct({ on: Schema.Literal("take"), ...execution })
export type Fact = typeof Fact.Type

// Stores of earlier versions keep its records under this name.
export const executionLocks = Collection.define<ExecutionLock, Fact>("execution-claim", {
  doc: "Which operation executes a distribution of an instrument.",
  id: (self) => self.instrumentId,
  record: ExecutionLock,
  fact: Fact,
  evolve: (self, { distributionId, operationId }) => ({ ...self, distributionId, operationId }),
  keptBy: "engine"
})
