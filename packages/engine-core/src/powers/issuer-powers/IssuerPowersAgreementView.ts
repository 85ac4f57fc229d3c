/** An issuer powers agreement as it is shown with its instrument. */
import { Schema } from "effect"
import * as Field from "../../templates/Field.ts"
import { IssuerPowersAgreement } from "./IssuerPowersAgreement.ts"

const { issuerPowersAgreementId, issuer, registrar, powers, consentRevocable, state, from, until } =
  IssuerPowersAgreement.fields

/**
 * The issuer powers agreement as a caller reads it, under its instrument
 * (docs/domain/agreements.md#issuer-powers).
 */
export const fields = {
  issuerPowersAgreementId,
  issuer,
  registrar,
  powers,
  consentRevocable,
  state,
  /** The contract it stands on, once it is agreed. */
  cid: Schema.NullOr(Field.contractId),
  from,
  until
} as const

export const of = (self: IssuerPowersAgreement) => ({
  issuerPowersAgreementId: self.issuerPowersAgreementId,
  issuer: self.issuer,
  registrar: self.registrar,
  powers: self.powers,
  consentRevocable: self.consentRevocable,
  state: self.state,
  cid: self.agreementCid,
  from: self.from,
  until: self.until
})
