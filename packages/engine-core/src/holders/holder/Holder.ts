/** A holder: a party that may hold units, with what the venue knows of it. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import { Attribute, Consent, Details, Screening, Successor, Terms } from "./HolderDetails.ts"
import { evolve, Fact, HolderMachine } from "./HolderMachine.ts"

export const HolderId = RecordId.make("HolderId")
export type HolderId = typeof HolderId.Type

export const Holder = Schema.Struct({
  holderId: HolderId,
  party: Party.schema,
  state: HolderMachine.schema,
  /** Who holds the units for it on the ledger, where somebody does. */
  custodian: Schema.NullOr(Party.schema),
  ...Details.fields,
  registeredAt: Instant.schema,
  /** When it accepted its registration last; null before the first time. */
  acceptedAt: Schema.NullOr(Instant.schema),
  validUntil: Schema.NullOr(Instant.schema),
  attributes: Schema.Array(Attribute),
  screening: Schema.NullOr(Screening),
  terms: Schema.NullOr(Terms),
  successor: Schema.NullOr(Successor),
  predecessor: Schema.NullOr(Schema.String),
  consents: Schema.Array(Consent),
  externalAccounts: Schema.Array(Schema.String),
  closedAs: Schema.NullOr(Schema.Literals(["ASIN", "CLIN"])),
  endedAt: Schema.NullOr(Instant.schema),
  /** The ledger contracts it stands on. */
  invitationCid: Schema.NullOr(Field.contractId),
  registrationCid: Schema.NullOr(Field.contractId),
  signedTermsCid: Schema.NullOr(Field.contractId)
}).annotate({ identifier: "Holder", description: "A party that may hold units at this venue." })
export type Holder = typeof Holder.Type

export const holders = Collection.define<Holder, Fact>("holder", {
  doc: "A party that may hold units at this venue.",
  id: (self) => self.holderId,
  record: Holder,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  filters: {
    state: (self) => self.state,
    holderId: (self) => self.holderId,
    party: (self) => self.party
  },
  ripens: ["state"],
  due: (self) =>
    self.state === "active" && self.validUntil !== null
      ? { at: self.validUntil, fact: { on: "lapse" } }
      : undefined,
  waitingOn: (self) => {
    if (self.state === "pending") return [...ofRegistration(self), ...ofTerms(self)]
    if (self.state === "lapsed") return [{ party: self.party, action: "renew", by: null }]
    return []
  },
  invariants: {
    "only a pending holder lacks a registration and terms": (self) =>
      self.state === "pending" ||
      Machine.isTerminal(HolderMachine, self.state) ||
      (self.acceptedAt !== null && self.terms !== null),
    "an ended holder says when it ended": (self) =>
      Machine.isTerminal(HolderMachine, self.state) === (self.endedAt !== null)
  }
})

const ofRegistration = (self: Holder): ReadonlyArray<Collection.WaitingOn> => {
  if (self.registrationCid !== null) return []
  return self.invitationCid === null
    ? [{ role: "operator", action: "holder.close", by: null }]
    : [{ party: self.party, action: "HolderInvitation.Accept", by: null }]
}

const ofTerms = (self: Holder): ReadonlyArray<Collection.WaitingOn> => {
  if (self.terms !== null) return []
  return self.signedTermsCid === null
    ? [{ party: self.party, action: "SignedTerms", by: null }]
    : [{ role: "operator", action: "accepted-terms.accept", by: null }]
}

/** Which holder a party is: every party is at most one. */
const HolderParty = Schema.Struct({ party: Party.schema, holderId: HolderId })
export type HolderParty = typeof HolderParty.Type

/**
 * Ledger contracts name parties, never holders; this is where a reading finds whose they are, also
 * in the very transaction that opened the holder.
 */
export const holderParties = Collection.define<HolderParty, never>("holder-party", {
  doc: "Which holder a party is.",
  id: (self) => self.party,
  record: HolderParty,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "ledger"
})
