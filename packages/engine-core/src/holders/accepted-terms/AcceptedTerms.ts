/** Record of terms that a holder's wallet signed, and of the venue's countersignature. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { HolderId } from "../holder/HolderId.ts"

export const AcceptedTerms = Schema.Struct({
  /** Contract of the holder's signature; a holder may sign several documents. */
  signedCid: Field.contractId,
  holderId: HolderId,
  party: Party.schema,
  documentHash: Field.digest,
  signedAt: Instant.schema,
  state: Schema.Literals(["signed", "accepted", "withdrawn"]),
  acceptedAt: Schema.NullOr(Instant.schema),
  acceptedCid: Schema.NullOr(Field.contractId)
}).annotate({
  identifier: "AcceptedTerms",
  description: "Terms that a holder signed, and whether the venue countersigned them."
})
export type AcceptedTerms = typeof AcceptedTerms.Type

export const Fact = Schema.Union([
  Schema.Struct({
    on: Schema.Literal("accept"),
    at: Instant.schema,
    acceptedCid: Field.contractId
  }),
  Schema.Struct({ on: Schema.Literal("withdraw") })
])
export type Fact = typeof Fact.Type

const evolve = (self: AcceptedTerms, fact: Fact): AcceptedTerms =>
  match(fact)
    .with({ on: "accept" }, ({ at, acceptedCid }) => ({
      ...self,
      state: "accepted" as const,
      acceptedAt: at,
      acceptedCid
    }))
    .with({ on: "withdraw" }, () => ({ ...self, state: "withdrawn" as const }))
    .exhaustive()

export const acceptedTerms = Collection.define<AcceptedTerms, Fact>("accepted-terms", {
  doc: "Terms that a holder signed, and whether the venue countersigned them.",
  id: (self) => self.signedCid,
  record: AcceptedTerms,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  sortKey: (self) => `${Instant.sortable(self.signedAt)} ${self.signedCid}`,
  filters: {
    holderId: (self) => self.holderId,
    state: (self) => self.state,
    documentHash: (self) => self.documentHash
  },
  waitingOn: (self) =>
    self.state === "signed"
      ? [{ role: "operator", action: "accepted-terms.accept", by: null }]
      : [],
  invariants: {
    "accepted terms name their contract": (self) =>
      (self.state === "accepted") === (self.acceptedCid !== null)
  }
})
