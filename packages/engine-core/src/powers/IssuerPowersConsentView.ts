/** View of a holder's consent to forced acts: the offer's terms, its state and contract. */
import { Struct } from "effect"
import * as RecordView from "../records/RecordView.ts"
import type { Stored } from "../records/Records.ts"
import {
  IssuerPowersConsent,
  issuerPowersConsents
} from "../holders/issuer-powers-consent/IssuerPowersConsent.ts"

const shown = Struct.pick(IssuerPowersConsent.fields, [
  "issuerPowersConsentId",
  "holderId",
  "instrumentId",
  "powers",
  "state",
  "expiresAt",
  "validUntil",
  "cid"
])

export const IssuerPowersConsentView = RecordView.schemaOf(shown, {
  identifier: "IssuerPowersConsentView",
  description: "A holder's consent to issuer powers, and whom it waits on."
})
export type IssuerPowersConsentView = typeof IssuerPowersConsentView.Type

export const of = (consent: Stored<IssuerPowersConsent>): IssuerPowersConsentView =>
  RecordView.of(issuerPowersConsents, shown, consent)
