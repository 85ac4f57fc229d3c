/**
 * Record of a holder's consent to an issuer's powers over its units: of one instrument, or of all.
 */
import { Schema } from "effect"
import { HolderId } from "../holder/HolderId.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { IssuerPower } from "../../vocabulary/sets.ts"
import { match } from "ts-pattern"

export const IssuerPowersConsentMachine = Machine.declare("IssuerPowersConsentState", {
  doc: "A holder's consent to forced acts. It must be granted at the ledger time of the act.",
  states: {
    offered: "Asked of the holder.",
    granted: "Forced acts on the holder's units are allowed.",
    declined: "The holder declined.",
    withdrawn: "The offer was taken back.",
    revoked: "The holder ended it.",
    expired: "It ran out."
  },
  triggers: {
    grant: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    replace: { by: ["issuer-powers-consent.offer"] },
    expire: { by: ["clock"] },
    revoke: { by: ["ledger"] }
  },
  initial: "offered",
  // A consent granted before the snapshot that the projection began with opens as granted.
  opensIn: ["offered", "granted"],
  opens: { by: ["issuer-powers-consent.offer", "ledger"] },
  moves: {
    offered: { grant: "granted", decline: "declined", replace: "withdrawn", expire: "expired" },
    granted: { revoke: "revoked", expire: "expired" },
    declined: {},
    withdrawn: {},
    revoked: {},
    expired: {}
  },
  forward: ["grant"]
})

const { NullOr, String: Text } = Schema

export const IssuerPowersConsent = Schema.Struct({
  issuerPowersConsentId: Text,
  holderId: HolderId,
  party: Party.schema,
  /** Null: every instrument, those recorded later included. */
  instrumentId: NullOr(Text),
  /** For one instrument, its issuer; for all instruments, the issuers that can read the consent. */
  issuers: Schema.Array(Party.schema),
  /** Powers that the holder consents to; a later, wider agreement does not widen the consent. */
  powers: Schema.Array(IssuerPower.schema),
  /** True if the holder may revoke the consent without the venue. */
  revocable: Schema.Boolean,
  state: IssuerPowersConsentMachine.schema,
  offeredAt: Instant.schema,
  /** The offset of the offer. */
  offset: Offset.schema,
  /** Instant at which an unanswered offer expires. */
  expiresAt: NullOr(Instant.schema),
  grantedAt: NullOr(Instant.schema),
  /** Instant from which on the consent allows nothing. */
  validUntil: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  /** The consent's latest ledger contract: the offer's, then the consent's own. */
  cid: Field.contractId
}).annotate({
  identifier: "IssuerPowersConsent",
  description:
    "A holder's consent to forced acts on its units. It counts at the ledger time of the act."
})
export type IssuerPowersConsent = typeof IssuerPowersConsent.Type

const at = Instant.schema
const Grant = Schema.Struct({ on: Schema.Literal("grant"), cid: Field.contractId, at })
const ended = <const T extends string>(on: T) => Schema.Struct({ on: Schema.Literal(on), at })

export const Fact = Schema.Union([
  Grant,
  ended("decline"),
  ended("replace"),
  ended("expire"),
  ended("revoke")
])
export type Fact = typeof Fact.Type

/** Fold: the consent after `fact`. */
export const evolve = (self: IssuerPowersConsent, fact: Fact): IssuerPowersConsent => ({
  ...self,
  ...match(fact)
    .with({ on: "grant" }, ({ cid, at: grantedAt }) => ({ cid, grantedAt }))
    .with(
      { on: "decline" },
      { on: "replace" },
      { on: "expire" },
      { on: "revoke" },
      ({ at: endedAt }) => ({ endedAt })
    )
    .exhaustive(),
  state: Machine.follow(IssuerPowersConsentMachine, self.state, fact.on)
})

/** Instant at which the clock ends the consent in its present state; null: never. */
export const endsAt = ({ state, expiresAt, validUntil }: IssuerPowersConsent) => {
  if (state === "granted") return validUntil
  if (state !== "offered") return null
  return expiresAt === null || validUntil === null
    ? (expiresAt ?? validUntil)
    : Instant.min(expiresAt, validUntil)
}

/**
 * Checks whether the consent covers this issuer's powers: one for a single instrument names its issuer.
 */
export const coversIssuer = (
  { instrumentId, issuers }: Pick<IssuerPowersConsent, "instrumentId" | "issuers">,
  issuer: Party.Party
): boolean => instrumentId === null || issuers.includes(issuer)

/** Value of the filter `reach` of a consent on all instruments; no instrument has this id. */
export const everything = "*"

export const issuerPowersConsents = Collection.define<IssuerPowersConsent, Fact>(
  "issuer-powers-consent",
  {
    doc: "A holder's consent to forced acts on its units. A later offer is a new consent.",
    id: (self) => self.issuerPowersConsentId,
    record: IssuerPowersConsent,
    fact: Fact,
    evolve,
    keptBy: "ledger",
    // Its contract was the permission: without one it has ended, whoever ended it.
    lost: (self, { at }) => {
      if (self.state === "granted") return evolve(self, { on: "revoke", at })
      return self.state === "offered" ? evolve(self, { on: "replace", at }) : self
    },
    // Sorted by the offer's offset: ids made within one millisecond have no order.
    sortKey: (self) => `${Offset.sortable(self.offset)}:${self.issuerPowersConsentId}`,
    filters: {
      holderId: (self) => self.holderId,
      /** The instrument of the consent, or `everything`. */
      reach: (self) => self.instrumentId ?? everything,
      state: (self) => self.state
    },
    ripens: ["state"],
    due: (self) => {
      const at = endsAt(self)
      return at === null ? undefined : { at, fact: { on: "expire", at } }
    },
    waitingOn: (self) =>
      self.state === "offered"
        ? [{ party: self.party, action: "IssuerPowersConsentOffer.Accept", by: endsAt(self) }]
        : [],
    invariants: {
      "only what ended says when": (self) =>
        Machine.isTerminal(IssuerPowersConsentMachine, self.state) === (self.endedAt !== null),
      "only what was granted was revoked": (self) =>
        self.state !== "revoked" || self.grantedAt !== null
    }
  }
)
