/** Record of a holder: a party that may hold units, and its details at the venue. */
import { Schema, Result } from "effect"
import * as AttributeRules from "../attribute/AttributeRules.ts"
import { HolderId } from "./HolderId.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { ScreeningMachine } from "../screening/Screening.ts"
import { Attribute } from "../attribute/Attribute.ts"
import { Consent, Details, Screening, Successor, HolderTerms } from "./HolderDetails.ts"
import { match } from "ts-pattern"
import { refuse } from "../../kernel/Refusal.ts"

export const HolderMachine = Machine.declare("HolderState", {
  doc: "A holder at the venue. Restriction and screening are sets of their own, never holder states; a venue without a screening source asks for no screening.",
  states: {
    pending: "Registered; not everything is accepted yet.",
    active: "May be admitted and dealt with.",
    lapsed: "Its registration ran out.",
    succeeded: "Its successor holds everything it held.",
    closed: "Ended for good."
  },
  triggers: {
    activate: { by: ["ledger", "accepted-terms.accept", "screening"] },
    lapse: { by: ["clock"] },
    renew: { by: ["ledger"] },
    succeed: { by: ["holder.recover", "instrument.recover"], announces: ["holder.recovered"] },
    close: { by: ["holder.close"] }
  },
  initial: "pending",
  opens: { by: ["holder.register", "holder.onboard", "ledger"] },
  moves: {
    pending: { activate: "active", close: "closed" },
    active: { lapse: "lapsed", succeed: "succeeded", close: "closed" },
    lapsed: { renew: "active", succeed: "succeeded", close: "closed" },
    succeeded: {},
    closed: {}
  },
  forward: ["activate", "renew"]
})

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
  terms: Schema.NullOr(HolderTerms),
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

const registered = {
  registrationCid: Field.contractId,
  at: Instant.schema,
  validUntil: Schema.NullOr(Instant.schema)
} as const

/**
 * Time of the fact; absent where a member of the fact holds it, and in facts stored before it was
 * added.
 */
const at = Schema.optionalKey(Instant.schema)

/** Details of the holder that only the venue keeps: none of them is on the ledger. */
const Describe = Schema.Struct({
  on: Schema.Literal("describe"),
  at,
  ...Details.fields,
  attributes: Schema.Array(Attribute)
})
/** The holder accepted its registration, or the venue set its attributes on it. */
const Accept = Schema.Struct({ on: Schema.Literal("accept"), ...registered })
/**
 * The venue invited the holder again: it declined, or its attributes changed before it answered.
 */
const Invite = Schema.Struct({
  on: Schema.Literal("invite"),
  invitationCid: Field.contractId,
  at,
  validUntil: Schema.NullOr(Instant.schema)
})
/** The invitation was declined or withdrawn. */
const Decline = Schema.Struct({ on: Schema.Literal("decline"), at })
/** The holder's wallet signed terms, or withdrew its signature (null). */
const Sign = Schema.Struct({
  on: Schema.Literal("sign"),
  at,
  signedTermsCid: Schema.NullOr(Field.contractId)
})
const AcceptTerms = Schema.Struct({ on: Schema.Literal("accept-terms"), terms: HolderTerms })
const Screened = Schema.Struct({ on: Schema.Literal("screen"), screening: Screening })
/** The holder's whole list of attributes after a change. */
const SetAttributes = Schema.Struct({
  on: Schema.Literal("set-attributes"),
  attributes: Schema.Array(Attribute),
  at: Instant.schema
})
/** The clock expired attributes. */
const ExpireAttributes = Schema.Struct({
  on: Schema.Literal("expire-attributes"),
  at: Instant.schema
})
/** Attributes that were set ahead of their time began, by the clock. */
const BeginAttributes = Schema.Struct({
  on: Schema.Literal("begin-attributes"),
  at: Instant.schema
})
const NameSuccessor = Schema.Struct({
  on: Schema.Literal("name-successor"),
  successor: Successor,
  at: Instant.schema
})
const MapAccount = Schema.Struct({
  on: Schema.Literal("map-account"),
  externalAccountId: Schema.String,
  at: Instant.schema
})
/** The holder's consent to forced acts was offered, answered or revoked. */
const Consented = Schema.Struct({
  on: Schema.Literal("consent"),
  consent: Consent,
  at: Instant.schema
})
/** The clock expired consents or their offers. */
const ExpireConsents = Schema.Struct({
  on: Schema.Literal("expire-consents"),
  at: Instant.schema
})
/** Initiator of the closing, the venue (ASIN) or the holder (CLIN), by the codes of ISO 20022. */
const CloseAs = Schema.Struct({
  on: Schema.Literal("close-as"),
  closedAs: Schema.Literals(["ASIN", "CLIN"]),
  at: Instant.schema
})
const Activate = Schema.Struct({ on: Schema.Literal("activate"), at })
const Lapse = Schema.Struct({ on: Schema.Literal("lapse"), at })
const Renew = Schema.Struct({ on: Schema.Literal("renew"), ...registered })
const Succeed = Schema.Struct({ on: Schema.Literal("succeed"), at: Instant.schema })
const Close = Schema.Struct({ on: Schema.Literal("close"), at: Instant.schema })

/**
 * Facts of a holder. The last five are triggers of the machine; the others leave the state as it
 * is.
 */
export const Fact = Schema.Union([
  Describe,
  Invite,
  Accept,
  Decline,
  Sign,
  AcceptTerms,
  Screened,
  SetAttributes,
  ExpireAttributes,
  BeginAttributes,
  NameSuccessor,
  MapAccount,
  Consented,
  ExpireConsents,
  CloseAs,
  Activate,
  Lapse,
  Renew,
  Succeed,
  Close
])
export type Fact = typeof Fact.Type

/** Commands of the venue on a holder's record. */
interface Command {
  readonly on:
    | "accept-terms"
    | "admit"
    | "set-attributes"
    | "invite-successor"
    | "ask-consent"
    | "close"
}

/** States in which each command is allowed, and the detail of its refusal in others. */
const allowed = {
  "accept-terms": { states: ["pending", "active", "lapsed"], not: "signs no terms" },
  admit: { states: ["active"], not: "is not admitted" },
  "set-attributes": { states: ["pending", "active", "lapsed"], not: "has no attributes set" },
  "invite-successor": { states: ["active", "lapsed"], not: "names no successor" },
  "ask-consent": { states: ["active", "lapsed"], not: "is asked for no consent" },
  close: { states: ["pending", "active", "lapsed"], not: "is not closed" }
} as const satisfies Readonly<
  Record<
    Command["on"],
    {
      readonly states: ReadonlyArray<Machine.State<typeof HolderMachine>>
      readonly not: string
    }
  >
>

/**
 * Decides whether the holder's state allows the command; the move follows from the ledger's fact.
 */
export const decide = (self: Pick<Holder, "state">, { on }: Command) => {
  const { states, not }: { readonly states: ReadonlyArray<string>; readonly not: string } =
    allowed[on]
  return states.includes(self.state)
    ? Result.succeed({ on })
    : refuse("state-conflict", {
        check: HolderMachine.name,
        detail: `A holder in state ${self.state} ${not}.`
      })
}

/**
 * Checks whether the holder's screening is clear, or the deployment does not screen: without a screening
 * source a holder has no screening, and the condition counts as met.
 */
export const isScreened = (self: Pick<Holder, "screening">): boolean =>
  self.screening === null || self.screening.state === "clear"

/** Checks whether a pending holder can become active: registered, terms accepted, screening clear. */
export const isReady = (self: Holder): boolean =>
  self.state === "pending" &&
  self.registrationCid !== null &&
  self.terms !== null &&
  isScreened(self)

/**
 * Fold: the holder after `fact`. A screening does not raise the version and time that the holder
 * itself reads, so that no investor can infer one (docs/domain/holders.md#concealment).
 */
export const evolve = (self: Holder, fact: Fact): Holder => {
  const after = step(self, fact)
  if (fact.on === "screen") return after
  const { version, at: before } = self.told
  return { ...after, told: { version: version + 1, at: instantOf(fact) ?? before } }
}

const instantOf = (fact: Exclude<Fact, { readonly on: "screen" }>): Instant.Instant | undefined =>
  fact.on === "accept-terms" ? fact.terms.acceptedAt : fact.at

const step = (self: Holder, fact: Fact): Holder =>
  match(fact)
    .with({ on: "describe" }, ({ on: _, at: __, ...details }) => ({ ...self, ...details }))
    .with({ on: "invite" }, ({ invitationCid, validUntil }) => ({
      ...self,
      invitationCid,
      validUntil
    }))
    .with({ on: "accept" }, (accepted) => ({ ...self, ...registration(accepted) }))
    .with({ on: "decline" }, () => ({ ...self, invitationCid: null }))
    .with({ on: "sign" }, ({ signedTermsCid }) => ({ ...self, signedTermsCid }))
    .with({ on: "accept-terms" }, ({ terms }) => ({ ...self, terms, signedTermsCid: null }))
    .with({ on: "screen" }, ({ screening }) => ({ ...self, screening }))
    .with({ on: "set-attributes" }, ({ attributes, at: attributesFrom }) => ({
      ...self,
      attributes,
      attributesFrom
    }))
    .with({ on: "expire-attributes" }, ({ at: now }) => ({
      ...self,
      attributes: AttributeRules.expired(self.attributes, now)
    }))
    .with({ on: "begin-attributes" }, ({ at: attributesFrom }) => ({ ...self, attributesFrom }))
    .with({ on: "name-successor" }, ({ successor }) => ({ ...self, successor }))
    .with({ on: "map-account" }, ({ externalAccountId }) => ({
      ...self,
      externalAccounts: [...self.externalAccounts, externalAccountId]
    }))
    .with({ on: "consent" }, ({ consent }) => ({
      ...self,
      consents: [
        ...self.consents.filter(({ instrumentId }) => instrumentId !== consent.instrumentId),
        consent
      ]
    }))
    .with({ on: "expire-consents" }, ({ at: now }) => ({
      ...self,
      consents: self.consents.map((consent) =>
        consent.endsAt !== null && Instant.atOrBefore(consent.endsAt, now)
          ? { ...consent, state: "expired" as const, endsAt: null }
          : consent
      )
    }))
    .with({ on: "close-as" }, ({ closedAs }) => ({ ...self, closedAs }))
    .with({ on: "activate" }, { on: "lapse" }, ({ on }) => moved(self, on))
    .with({ on: "renew" }, (renewed) => ({
      ...moved(self, renewed.on),
      ...registration(renewed)
    }))
    .with({ on: "succeed" }, ({ on, at: endedAt }) => ({ ...moved(self, on), endedAt }))
    .with({ on: "close" }, ({ on, at: endedAt }) => ({
      ...moved(self, on),
      endedAt,
      invitationCid: null,
      registrationCid: null
    }))
    .exhaustive()

const moved = (self: Holder, on: Machine.TriggerOf<typeof HolderMachine>): Holder => ({
  ...self,
  state: Machine.follow(HolderMachine, self.state, on)
})

const registration = (from: Pick<typeof Accept.Type, "registrationCid" | "at" | "validUntil">) => ({
  invitationCid: null,
  registrationCid: from.registrationCid,
  acceptedAt: from.at,
  validUntil: from.validUntil
})

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

type Next = Collection.DueMove<Fact> | undefined

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
type HolderParty = typeof HolderParty.Type

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
