/** An issuer powers agreement as the API shows it: with its instrument, and in the result of its proposal. */
import { Schema, Struct } from "effect"
import * as RecordView from "../records/RecordView.ts"
import type { Stored } from "../records/Records.ts"
import * as Field from "../templates/Field.ts"
import { IssuerPowersAgreement, issuerPowersAgreements } from "./IssuerPowersAgreement.ts"

const shown = Struct.pick(IssuerPowersAgreement.fields, [
  "issuerPowersAgreementId",
  "instrumentId",
  "issuer",
  "registrar",
  "powers",
  // Whoever proposes the agreement chooses this one and `until`, and reads them here again.
  "consentRevocable",
  "state",
  // When it was agreed, as of a primary market.
  "from",
  "until"
])

/**
 * The issuer powers agreement as a caller reads it, under its instrument
 * (docs/domain/agreements.md#issuer-powers).
 */
export const fields = {
  ...shown,
  /** The agreement's contract, once there is one. */
  cid: Schema.NullOr(Field.contractId)
} as const

export const IssuerPowersAgreementView = RecordView.schemaOf(fields, {
  identifier: "IssuerPowersAgreementView",
  description: "An issuer powers agreement, and whom it waits on."
})
export type IssuerPowersAgreementView = typeof IssuerPowersAgreementView.Type

export const membersOf = (agreement: IssuerPowersAgreement) => ({
  ...Struct.pick(agreement, Struct.keys(shown)),
  cid: agreement.agreementCid
})

export const of = (agreement: Stored<IssuerPowersAgreement>): IssuerPowersAgreementView => ({
  ...membersOf(agreement),
  ...RecordView.commonOf(issuerPowersAgreements, agreement)
})
