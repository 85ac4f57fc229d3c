/** View of a registrar's consent to admissions: the proposal's terms, and its state. */
import { Struct } from "effect"
import * as RecordView from "../records/RecordView.ts"
import type { Stored } from "../records/Records.ts"
import { AdmissionConsent, admissionConsents } from "./AdmissionConsent.ts"

const shown = Struct.pick(AdmissionConsent.fields, [
  "admissionConsentId",
  "instrumentId",
  "registrar",
  "fund",
  "terms",
  "state"
])

export const AdmissionConsentView = RecordView.schemaOf(shown, {
  identifier: "AdmissionConsentView",
  description: "A registrar's consent to admissions, and whom it waits on."
})
export type AdmissionConsentView = typeof AdmissionConsentView.Type

export const of = (consent: Stored<AdmissionConsent>): AdmissionConsentView =>
  RecordView.of(admissionConsents, shown, consent)
