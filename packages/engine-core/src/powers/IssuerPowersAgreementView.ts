/** View of an issuer powers agreement, with its instrument and in the result of its proposal. */
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
  // Public because the caller who proposes the agreement names this one and `until`.
  "consentRevocable",
  "state",
  // The instant of the agreement, as in the view of a primary market.
  "from",
  "until"
])

/**
 * Public members of an issuer powers agreement (docs/domain/agreements.md#issuer-powers).
 */
export const fields = {
  ...shown,
  /** Contract of the agreement; null before it is agreed. */
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
