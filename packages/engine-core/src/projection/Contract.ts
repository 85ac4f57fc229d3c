/** A ledger contract as the projection stores it: payload, creation, archival. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import { PlainSchema } from "../kernel/PlainSchema.ts"
import { Allocation, BurnRequest, TransferOffer } from "../templates/Registry.ts"
import { StandingCommitment } from "../templates/Standing.ts"
import { key } from "../templates/Template.ts"

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

/** Templates that lock a holding, and the payload member that names the holding or allocation. */
const targetMember: Readonly<Record<string, string>> = {
  [key(Allocation.typeRef)]: "holdingCid",
  [key(BurnRequest.typeRef)]: "holdingCid",
  [key(TransferOffer.typeRef)]: "holdingCid",
  [key(StandingCommitment.typeRef)]: "allocationCid"
}

/** Returns the holding that a contract locks, or the allocation that a commitment backs; else null. */
export const standsOn = ({ payload, template }: Contract): string | null => {
  const member = targetMember[template]
  if (member === undefined || typeof payload !== "object" || payload === null) return null
  const target = Object.entries(payload).find(([name]) => name === member)?.[1]
  return typeof target === "string" ? target : null
}

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
    /** While it is active: the holding that it locks, or the allocation that it backs. */
    standsOn: (self) => (self.archivedOffset === null ? standsOn(self) : null),
    active: (self) => (self.archivedOffset === null ? "true" : "false")
  },
  invariants: {
    "it is archived once, and not before it was created": (self) =>
      self.archivedOffset === null || self.archivedOffset >= self.createdOffset
  }
})
