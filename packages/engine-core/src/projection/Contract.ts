/** A contract on the ledger as the venue saw it: what it said, and when it was used up. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import { PlainSchema } from "../kernel/PlainSchema.ts"

export const Contract = Schema.Struct({
  contractId: Schema.String,
  /** `package:module:entity`. */
  template: Schema.String,
  packageId: Schema.String,
  payload: PlainSchema,
  signatories: Schema.Array(Schema.String),
  observers: Schema.Array(Schema.String),
  /** The effective time of its creation. */
  contractCreatedAt: Instant.schema,
  createdOffset: Offset.schema,
  archivedOffset: Schema.NullOr(Offset.schema)
})
export type Contract = typeof Contract.Type

export const Fact = Schema.Struct({ on: Schema.Literal("archive"), offset: Offset.schema })
export type Fact = typeof Fact.Type

export const contracts = Collection.define<Contract, Fact>("contract", {
  doc: "A contract on the ledger that the venue may see.",
  id: (self) => self.contractId,
  record: Contract,
  fact: Fact,
  evolve: (self, fact) =>
    match(fact)
      .with({ on: "archive" }, ({ offset }) => ({ ...self, archivedOffset: offset }))
      .exhaustive(),
  keptBy: "ledger",
  filters: {
    template: (self) => self.template,
    active: (self) => (self.archivedOffset === null ? "true" : "false")
  },
  invariants: {
    "it is archived once, and not before it was created": (self) =>
      self.archivedOffset === null || self.archivedOffset >= self.createdOffset
  }
})
