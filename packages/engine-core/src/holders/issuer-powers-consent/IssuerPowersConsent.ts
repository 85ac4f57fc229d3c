/** A holder's consent that its units are moved by an issuer's powers: on one instrument, or on all. */
import { Schema } from "effect"
import { HolderId } from "../holder/Holder.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { IssuerPower } from "../../vocabulary/sets.ts"
import { evolve, Fact, IssuerPowersConsentMachine } from "./IssuerPowersConsentMachine.ts"

const { NullOr, String: Text } = Schema

export const IssuerPowersConsent = Schema.Struct({
  issuerPowersConsentId: Text,
  holderId: HolderId,
  party: Party.schema,
  /** Null: every instrument, also one that comes later. */
  instrumentId: NullOr(Text),
  /** Of one instrument, the one issuer whose powers it lets in; of all, those who are told of it. */
  issuers: Schema.Array(Party.schema),
  /** What the holder consents to: an agreement that is widened later does not widen it. */
  powers: Schema.Array(IssuerPower.schema),
  /** Whether the holder may take it back by itself. */
  revocable: Schema.Boolean,
  state: IssuerPowersConsentMachine.schema,
  offeredAt: Instant.schema,
  /** The offset of the offer. */
  offset: Offset.schema,
  /** When an unanswered offer ends. */
  expiresAt: NullOr(Instant.schema),
  grantedAt: NullOr(Instant.schema),
  /** It allows nothing at or after it. */
  validUntil: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  /** The contract it stands on, or stood on last: its offer, then the consent. */
  cid: Field.contractId
}).annotate({
  identifier: "IssuerPowersConsent",
  description:
    "A holder's consent to forced acts on its units. It counts at the ledger time of the act."
})
export type IssuerPowersConsent = typeof IssuerPowersConsent.Type

/** When the clock ends it as it stands; null: it does not. */
export const endsAt = ({ state, expiresAt, validUntil }: IssuerPowersConsent) => {
  if (state === "granted") return validUntil
  if (state !== "offered") return null
  return expiresAt === null || validUntil === null
    ? (expiresAt ?? validUntil)
    : Instant.min(expiresAt, validUntil)
}

/** Whether it lets this issuer's powers in: for one instrument it names its issuer. */
export const isTo = (
  { instrumentId, issuers }: Pick<IssuerPowersConsent, "instrumentId" | "issuers">,
  issuer: Party.Party
): boolean => instrumentId === null || issuers.includes(issuer)

/** The value of `reach` of a consent on all; no instrument is called so. */
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
    // Sorted by the offer's offset: ids made within one millisecond have no order.
    sortKey: (self) => `${Offset.sortable(self.offset)}:${self.issuerPowersConsentId}`,
    filters: {
      holderId: (self) => self.holderId,
      /** What it is on: an instrument, or everything. */
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
