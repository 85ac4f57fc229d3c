/**
 * Agreement of issuer and registrar on the venue's powers over the units of consenting holders.
 */
import { Schema } from "effect"
import * as Agreement from "../agreements/Agreement.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import * as Party from "../kernel/Party.ts"
import * as Field from "../templates/Field.ts"
import { IssuerPower } from "../vocabulary/sets.ts"

const { NullOr, String: Text } = Schema

const doc = "What an issuer and its registrar let the venue do with consenting holders' units."

/** The powers that a request names: at least one, each once. */
export const powers = Schema.Array(IssuerPower.schema).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(IssuerPower.members.length),
  Schema.isUnique({ expected: "powers that do not repeat" })
)

export const IssuerPowersAgreementMachine = Agreement.declareStates("IssuerPowersAgreementState", {
  doc: "The agreement of issuer and registrar that forced acts may be asked for on an instrument.",
  means: {
    proposed: "Asked of the issuer and the registrar.",
    agreed: "Both agreed: holders may be asked for their consent.",
    declined: "One of them declined.",
    ended: "One of them revoked it, or its date passed."
  },
  proposedBy: "issuer-powers-agreement.propose",
  endedBy: ["ledger", "clock"]
})

export const IssuerPowersAgreement = Schema.Struct({
  issuerPowersAgreementId: Text,
  instrumentId: Text,
  issuer: Party.schema,
  registrar: Party.schema,
  powers: Schema.Array(IssuerPower.schema),
  /** True if a holder may revoke its consent without the venue. */
  consentRevocable: Schema.Boolean,
  state: IssuerPowersAgreementMachine.schema,
  acceptedBy: Schema.Array(Party.schema),
  proposedAt: Instant.schema,
  /** The offset of the proposal. */
  offset: Offset.schema,
  /** Instant of the agreement. */
  from: NullOr(Instant.schema),
  until: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  proposalCid: NullOr(Field.contractId),
  agreementCid: NullOr(Field.contractId)
}).annotate({
  identifier: "IssuerPowersAgreement",
  description: doc
})
export type IssuerPowersAgreement = typeof IssuerPowersAgreement.Type

export const issuerPowersAgreement = Agreement.declare("issuer-powers-agreement", {
  doc,
  machine: IssuerPowersAgreementMachine,
  record: IssuerPowersAgreement,
  names: { cid: "agreementCid", agreedAt: "from" },
  id: (self) => self.issuerPowersAgreementId,
  // An issuer that is its own registrar signs once.
  signers: ({ issuer, registrar }) => [issuer, registrar],
  accept: "IssuerPowersAgreementProposal.Accept"
})
export const issuerPowersAgreements = issuerPowersAgreement.collection
