/**
 * Index of a distribution's current contract on the ledger. It moves with each step of the execution,
 * so that the distribution itself has a version only where its state moves.
 */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Field from "../../templates/Field.ts"
import { DistributionId } from "./DistributionTerms.ts"

export const DistributionContract = Schema.Struct({
  distributionId: DistributionId,
  cid: Field.contractId,
  /** Number of lines added so far. */
  lineCount: Integer.schema,
  isSealed: Schema.Boolean,
  /** True: the registrar may deliver lines that do not wait. */
  isOpen: Schema.Boolean
})
export type DistributionContract = typeof DistributionContract.Type

const cid = Field.contractId
export const Fact = Schema.Union([
  Schema.Struct({ on: Schema.Literal("add"), cid, lineCount: Integer.schema }),
  Schema.Struct({ on: Schema.Literal("seal"), cid }),
  Schema.Struct({ on: Schema.Literal("open"), cid }),
  Schema.Struct({ on: Schema.Literal("close"), cid })
])
export type Fact = typeof Fact.Type

/** Fold: the index after `fact`. */
const evolve = (self: DistributionContract, fact: Fact): DistributionContract =>
  match(fact)
    .with({ on: "add" }, ({ cid, lineCount }) => ({ ...self, cid, lineCount }))
    .with({ on: "seal" }, ({ cid }) => ({ ...self, cid, isSealed: true }))
    .with({ on: "open" }, ({ cid }) => ({ ...self, cid, isOpen: true }))
    .with({ on: "close" }, ({ cid }) => ({ ...self, cid, isOpen: false }))
    .exhaustive()

export const distributionContracts = Collection.define<DistributionContract, Fact>(
  "distribution-contract",
  {
    doc: "The current contract of a distribution on the ledger.",
    id: (self) => self.distributionId,
    record: DistributionContract,
    fact: Fact,
    evolve,
    keptBy: "ledger",
    invariants: {
      "only a sealed distribution is open": ({ isOpen, isSealed }) => !isOpen || isSealed
    }
  }
)
