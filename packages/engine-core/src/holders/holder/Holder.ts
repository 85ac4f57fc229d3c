/** Record of a holder: a party that may hold units, and its details at the venue. */
import { Schema } from "effect"
import * as AttributeRules from "../attribute/AttributeRules.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import { ScreeningMachine } from "../screening/ScreeningMachine.ts"
import { Attribute, Consent, Details, Screening, Successor, Terms } from "./HolderDetails.ts"
import { evolve, Fact, HolderMachine } from "./HolderMachine.ts"

export const HolderId = RecordId.make("HolderId")
export type HolderId = typeof HolderId.Type

export const Holder = Schema.Struct({
  holderId: HolderId,
  party: Party.schema,
  state: HolderMachine.schema,
  /** Party that holds the units for the holder on the ledger; null: the holder itself. */
  custodian: Schema.NullOr(Party.schema),
  ...Details.fields,
  registeredAt: Instant.schema,
  /** Instant of the latest acceptance of its registration; null before the first. */
  acceptedAt: Schema.NullOr(Instant.schema),
  validUntil: Schema.NullOr(Instant.schema),
  attributes: Schema.Array(Attribute),
  /**
   * Instant at which its attributes were last set, or began by the clock. One that is valid from a later
   * instant has yet to begin. Null in records that were written before this member: none begins.
   */
  attributesFrom: Field.optional(Instant.schema),
  screening: Schema.NullOr(Screening),
  terms: Schema.NullOr(Terms),
  successor: Schema.NullOr(Successor),
  predecessor: Schema.NullOr(Schema.String),
  consents: Schema.Array(Consent),
  externalAccounts: Schema.Array(Schema.String),
  closedAs: Schema.NullOr(Schema.Literals(["ASIN", "CLIN"])),
  endedAt: Schema.NullOr(Instant.schema),
  /** Its ledger contracts. */
  invitationCid: Schema.NullOr(Field.contractId),
  registrationCid: Schema.NullOr(Field.contractId),
  signedTermsCid: Schema.NullOr(Field.contractId),
  /**
   * Version and time that the holder itself reads: the number of facts that are not concealed from
   * it, and the time of the latest one.
   */
  told: Schema.Struct({ version: Integer.schema, at: Instant.schema })
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
    party: (self) => self.party,
    /** Null once the holder has ended, since it is no longer screened. */
    screening: (self) => (isEnded(self) ? null : (self.screening?.state ?? "none")),
    screenedUnder: (self) => self.screening?.listVersion ?? null,
    screenedAt: (self) =>
      self.screening?.screenedAt == null ? null : Instant.sortable(self.screening.screenedAt)
  },
  ripens: ["state", "screening"],
  due: (self) =>
    [ofLapse(self), ofAttributes(self), ofBeginnings(self), ofScreening(self), ofConsents(self)]
      .filter((next) => next !== undefined)
      .toSorted((a, b) => Instant.compare(a.at, b.at))[0],
  waitingOn: (self) =>
    isEnded(self)
      ? []
      : [
          ...(self.state === "pending" ? [...ofRegistration(self), ...ofTerms(self)] : []),
          ...(self.state === "lapsed" ? [setsAttributes] : []),
          ...(self.attributes.some(({ state }) => state === "pending") ? [setsAttributes] : []),
          ...ofScreener(self)
        ].filter((entry, nth, all) => entry !== setsAttributes || all.indexOf(entry) === nth),
  invariants: {
    "only a pending holder lacks a registration and terms": (self) =>
      self.state === "pending" ||
      Machine.isTerminal(HolderMachine, self.state) ||
      (self.acceptedAt !== null && self.terms !== null),
    "of each scope it shows one consent": ({ consents }) =>
      new Set(consents.map(({ instrumentId }) => instrumentId)).size === consents.length,
    "an ended holder says when it ended": (self) =>
      Machine.isTerminal(HolderMachine, self.state) === (self.endedAt !== null)
  }
})

/** Checks whether the holder has ended. */
export const isEnded = ({ state }: Pick<Holder, "state">): boolean =>
  Machine.isTerminal(HolderMachine, state)

type Next = Collection.Due<Fact> | undefined

const ofLapse = ({ state, validUntil: at }: Holder): Next =>
  state === "active" && at !== null ? { at, fact: { on: "lapse", at } } : undefined

const ofAttributes = (self: Holder): Next => {
  const at = AttributeRules.endsAt(self.attributes)
  return at === null || isEnded(self) ? undefined : { at, fact: { on: "expire-attributes", at } }
}

/** An attribute set ahead of its time changes what it permits at its beginning. */
const ofBeginnings = (self: Holder): Next => {
  const { attributes, attributesFrom } = self
  if (attributesFrom === null || isEnded(self)) return undefined
  const at = AttributeRules.beginsAt(attributes, attributesFrom)
  return at === null ? undefined : { at, fact: { on: "begin-attributes", at } }
}

const ofScreening = (self: Holder): Next => {
  const { screening } = self
  if (screening === null || screening.validUntil === null || isEnded(self)) return undefined
  if (!Machine.allows(ScreeningMachine, screening.state, "age")) return undefined
  const state = Machine.follow(ScreeningMachine, screening.state, "age")
  return { at: screening.validUntil, fact: { on: "screen", screening: { ...screening, state } } }
}

/** A consent has a contract of its own, so it expires even after the holder has ended. */
const ofConsents = ({ consents }: Holder): Next => {
  const [first, ...rest] = consents.flatMap(({ endsAt }) => (endsAt === null ? [] : [endsAt]))
  if (first === undefined) return undefined
  const at = rest.reduce((a, b) => Instant.min(a, b), first)
  return { at, fact: { on: "expire-consents", at } }
}

/** The write that both verifies evidence and renews a registration. */
const setsAttributes: Collection.WaitingOn = {
  role: "compliance",
  action: "holder.set-attributes",
  by: null
}

/** Next act on the screening: the source's answer, or a person's judgement of a possible hit. */
const ofScreener = ({ screening }: Holder): ReadonlyArray<Collection.WaitingOn> => {
  if (screening?.state === "pending") return [{ action: "screening.answer", by: null }]
  if (screening?.state !== "review") return []
  return [{ role: "compliance", action: "screening.adjudicate", by: null }]
}

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

/** Index of holders by party: a party is one holder at most. */
const HolderParty = Schema.Struct({ party: Party.schema, holderId: HolderId })
export type HolderParty = typeof HolderParty.Type

/**
 * Ledger contracts name parties, never holders: readings find a contract's holder in this index,
 * also within the transaction that opened the holder.
 */
export const holderParties = Collection.define<HolderParty, never>("holder-party", {
  doc: "Which holder a party is.",
  id: (self) => self.party,
  record: HolderParty,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "ledger"
})
