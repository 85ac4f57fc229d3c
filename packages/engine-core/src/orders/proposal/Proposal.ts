/** Record and collection of proposals: ledger contracts that wait for a party's consent. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { ResourceKind } from "../../vocabulary/ResourceKind.ts"
import { WaitingAction } from "../../vocabulary/WaitingAction.ts"
import { ProposalKind } from "../../vocabulary/sets.ts"

const { NullOr } = Schema

/** Ends of a proposal; `ended` is by any choice that the engine does not know. */
const ProposalEnd = Schema.Literals(["accepted", "declined", "withdrawn", "ended"])
export type ProposalEnd = typeof ProposalEnd.Type

export const Proposal = Schema.Struct({
  /** Id of its first contract; if each signature creates another contract, the id of the proposed agreement. */
  proposalId: Schema.String,
  kind: ProposalKind.schema,
  from: Party.schema,
  awaiting: Schema.Array(Party.schema),
  cid: Field.contractId,
  at: Instant.schema,
  /** Instant from which it cannot be accepted; null: none. */
  expiresAt: NullOr(Instant.schema),
  resource: Schema.Struct({ kind: ResourceKind.schema, id: Schema.String }),
  instrumentId: NullOr(InstrumentId),
  holderId: NullOr(HolderId),
  /** Registrar of the instrument that it is about. */
  registrar: NullOr(Party.schema),
  /** The act that accepts it: a choice of its contract, or an operation of the venue. */
  action: WaitingAction.schema,
  ended: NullOr(ProposalEnd)
}).annotate({
  identifier: "Proposal",
  description: "A contract that waits for somebody's consent."
})
export type Proposal = typeof Proposal.Type

/** One of several parties signed: another contract waits for the others. */
const Signed = Schema.Struct({
  on: Schema.Literal("sign"),
  cid: Field.contractId,
  awaiting: Schema.Array(Party.schema)
})
const Ended = Schema.Struct({ on: Schema.Literal("end"), as: ProposalEnd })
export const Fact = Schema.Union([Signed, Ended])
export type Fact = typeof Fact.Type

/** Sorts after every instant in a filter column. */
const never = "~"

export const proposals = Collection.define<Proposal, Fact>("proposal", {
  doc: "A contract on the ledger that waits for somebody's consent.",
  id: (self) => self.proposalId,
  record: Proposal,
  fact: Fact,
  evolve: (self, fact) =>
    match(fact)
      .with({ on: "sign" }, ({ cid, awaiting }) => ({ ...self, cid, awaiting }))
      .with({ on: "end" }, ({ as }) => ({ ...self, ended: as, awaiting: [] }))
      .exhaustive(),
  keptBy: "ledger",
  // Its agreement says if it was accepted.
  lost: (self) => (self.ended === null ? { ...self, ended: "ended", awaiting: [] } : self),
  sortKey: (self) => `${Instant.sortable(self.at)} ${self.proposalId}`,
  filters: {
    live: (self) => (self.ended === null ? self.kind : null),
    /** Instant until which it can be accepted. */
    until: (self) => {
      if (self.ended !== null) return null
      return self.expiresAt === null ? never : Instant.sortable(self.expiresAt)
    },
    instrumentId: (self) => self.instrumentId,
    holderId: (self) => self.holderId,
    registrar: (self) => self.registrar
  },
  waitingOn: ({ action, awaiting, expiresAt, kind }) =>
    // The venue countersigns terms that a holder signed, by an operation.
    kind === "accepted-terms" && awaiting.length > 0
      ? [{ role: "operator", action, by: expiresAt }]
      : awaiting.map((party) => ({ party, action, by: expiresAt })),
  invariants: {
    "a live proposal waits for somebody, and an ended one for nobody": (self) =>
      (self.ended === null) === self.awaiting.length > 0,
    "nobody is awaited twice": ({ awaiting }) => new Set(awaiting).size === awaiting.length
  }
})
