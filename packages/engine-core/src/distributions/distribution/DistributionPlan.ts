/**
 * Plan of an execution: its terms, pins and totals, kept before the first ledger step is sent, from
 * which every later step computes its own lines.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import { fields } from "./DistributionTerms.ts"
import { sourceFields, termsOf, type LineSource } from "./LineSource.ts"

const members = { ...fields, ...sourceFields } as const

export const PlanMembers = Schema.Struct(members)
export type PlanMembers = typeof PlanMembers.Type

export const DistributionPlan = Schema.Struct({
  /** The operation that executes the distribution. */
  operationId: Schema.String,
  ...members
})
export type DistributionPlan = typeof DistributionPlan.Type

/** The first step is planned anew, after the ledger refused the one before. */
export const Fact = Schema.Struct({ on: Schema.Literal("set"), planned: PlanMembers })
export type Fact = typeof Fact.Type

export const distributionPlans = Collection.define<DistributionPlan, Fact>("distribution-plan", {
  doc: "Terms, pins and totals of an execution, fixed before its first ledger step.",
  id: (self) => self.operationId,
  record: DistributionPlan,
  fact: Fact,
  evolve: (self, fact) => ({ ...self, ...fact.planned }),
  keptBy: "engine"
})

/** Returns the inputs of the lines of a plan. */
export const sourceOfPlan = (plan: DistributionPlan): LineSource => {
  if (plan.recordOffset === null) throw new Error("a plan reads the register of record")
  return { ...plan, recordOffset: plan.recordOffset, terms: termsOf(plan) }
}
