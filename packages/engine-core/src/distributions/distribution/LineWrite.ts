/**
 * Record of an operation that touches many lines of a distribution: how many lines each of its ledger
 * steps has, for its result.
 */
import { Schema, Struct } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Integer from "../../kernel/Integer.ts"
import { DistributionId } from "./DistributionTerms.ts"
import { DistributionView } from "./DistributionView.ts"

const LineWriteStep = Schema.Struct({ step: Integer.schema, lines: Integer.schema })
export type LineWriteStep = typeof LineWriteStep.Type

export const LineWrite = Schema.Struct({
  operationId: Schema.String,
  steps: Schema.Array(LineWriteStep)
})
export type LineWrite = typeof LineWrite.Type

/** A step was planned, or planned anew after the ledger refused it. */
export const Fact = Schema.Struct({ on: Schema.Literal("plan"), ...LineWriteStep.fields })
export type Fact = typeof Fact.Type

/** Fold: the write after `fact`, which replaces an earlier plan of the same step. */
const evolve = (self: LineWrite, { step, lines }: Fact): LineWrite => ({
  ...self,
  steps: [...self.steps.filter((planned) => planned.step !== step), { step, lines }]
})

export const lineWrites = Collection.define<LineWrite, Fact>("distribution-line-write", {
  doc: "How many lines of a distribution the steps of an operation touch.",
  id: (self) => self.operationId,
  record: LineWrite,
  fact: Fact,
  evolve,
  keptBy: "engine"
})

/**
 * A distribution, and how many of its lines a write touched. Lines by state are counted at a read,
 * and not in the transaction that moves them.
 */
const Touched = Schema.Struct({
  ...Struct.omit(DistributionView.fields, ["counts", "rollState"]),
  lines: Integer.schema
}).annotate({
  identifier: "DistributionTouched",
  description: "A distribution, and how many of its lines the operation touched."
})

const ById = Schema.Struct({ distributionId: DistributionId })

/** Members that the declarations of these operations share: resource, input, result and refusals. */
export const commonMembers = {
  resource: {
    kind: "distribution",
    id: ({ distributionId }: typeof ById.Type) => distributionId,
    href: ({ distributionId }: typeof ById.Type) => `/v1/distributions/${distributionId}` as const
  },
  input: ById,
  result: Touched,
  refuses: ["not-found", "state-conflict"]
} as const
