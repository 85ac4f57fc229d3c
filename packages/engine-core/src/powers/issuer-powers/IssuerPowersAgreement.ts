/**
 * Issuer powers agreement: what issuer and registrar let the venue do with the units of consenting
 * holders.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import { IssuerPower } from "../../vocabulary/sets.ts"
import { evolve, Fact, IssuerPowersAgreementMachine } from "./IssuerPowersAgreementMachine.ts"

const { NullOr, String: Text } = Schema

export const IssuerPowersAgreement = Schema.Struct({
  issuerPowersAgreementId: Text,
  instrumentId: Text,
  issuer: Party.schema,
  registrar: Party.schema,
  powers: Schema.Array(IssuerPower.schema),
  /** Whether a holder may take back by itself what it consented to. */
  consentRevocable: Schema.Boolean,
  state: IssuerPowersAgreementMachine.schema,
  acceptedBy: Schema.Array(Party.schema),
  proposedAt: Instant.schema,
  /** The offset of the proposal. */
  offset: Offset.schema,
  /** When it was agreed. */
  from: NullOr(Instant.schema),
  until: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  proposalCid: NullOr(Field.contractId),
  agreementCid: NullOr(Field.contractId)
}).annotate({
  identifier: "IssuerPowersAgreement",
  description: "What an issuer and its registrar let the venue do with consenting holders' units."
})
export type IssuerPowersAgreement = typeof IssuerPowersAgreement.Type

export const issuerPowersAgreements = Collection.define<IssuerPowersAgreement, Fact>(
  "issuer-powers-agreement",
  {
    doc: "What an issuer and its registrar let the venue do with consenting holders' units.",
    id: (self) => self.issuerPowersAgreementId,
    record: IssuerPowersAgreement,
    fact: Fact,
    evolve,
    keptBy: "ledger",
    // Sorted by the proposal's offset: ids made within one millisecond have no order.
    sortKey: (self) => `${Offset.sortable(self.offset)}:${self.issuerPowersAgreementId}`,
    filters: {
      instrumentId: (self) => self.instrumentId,
      state: (self) => self.state,
      /** Filter of the agreements shown with an instrument; replaced ones are left out. */
      shown: (self) => (self.state === "withdrawn" ? null : self.instrumentId)
    },
    ripens: ["state"],
    due: (self) =>
      self.state === "agreed" && self.until !== null
        ? { at: self.until, fact: { on: "end", at: self.until } }
        : undefined,
    waitingOn: (self) =>
      self.state === "proposed"
        ? missing(self).map((party) => ({
            party,
            action: "IssuerPowersAgreementProposal.Accept",
            by: self.until
          }))
        : [],
    invariants: {
      "a proposal and an agreement in force stand on their contracts": (self) =>
        (self.state === "proposed") === (self.proposalCid !== null) &&
        (self.state !== "agreed" || self.agreementCid !== null),
      "nobody accepts twice": (self) => new Set(self.acceptedBy).size === self.acceptedBy.length,
      "an agreement in force has been accepted by both": (self) =>
        self.state !== "agreed" || missing(self).length === 0
    }
  }
)

/** Who has not accepted yet; an issuer that keeps its own register is asked once. */
const missing = (self: IssuerPowersAgreement): ReadonlyArray<Party.Party> =>
  [...new Set([self.issuer, self.registrar])].filter((party) => !self.acceptedBy.includes(party))
