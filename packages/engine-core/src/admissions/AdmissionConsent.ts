/** Agreement by which a registrar consents that the venue admits holders to an instrument. */
import { Schema } from "effect"
import * as Agreement from "../agreements/Agreement.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import * as Party from "../kernel/Party.ts"
import * as Field from "../templates/Field.ts"

const { NullOr, String: Text } = Schema

const doc = "A registrar's consent that the venue admits holders to an instrument."

export const AdmissionConsentMachine = Agreement.declareStates("AdmissionConsentState", {
  doc,
  means: {
    proposed: "Asked of the registrar.",
    agreed: "The venue may offer admissions.",
    declined: "The registrar declined.",
    ended: "The registrar revoked it."
  },
  proposedBy: "admission-consent.propose",
  endedBy: ["ledger"]
})

export const AdmissionConsent = Schema.Struct({
  admissionConsentId: Text,
  instrumentId: Text,
  registrar: Party.schema,
  /** Party that may read the consent besides the registrar. */
  fund: Party.schema,
  terms: Text,
  state: AdmissionConsentMachine.schema,
  proposedAt: Instant.schema,
  /** The offset of the proposal. */
  offset: Offset.schema,
  agreedAt: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  proposalCid: NullOr(Field.contractId),
  consentCid: NullOr(Field.contractId)
}).annotate({ identifier: "AdmissionConsent", description: doc })
export type AdmissionConsent = typeof AdmissionConsent.Type

export const admissionConsent = Agreement.declare("admission-consent", {
  doc,
  machine: AdmissionConsentMachine,
  record: AdmissionConsent,
  names: { cid: "consentCid", agreedAt: "agreedAt" },
  id: (self) => self.admissionConsentId,
  signers: ({ registrar }) => [registrar],
  accept: "AdmissionConsentProposal.Accept"
})
export const admissionConsents = admissionConsent.collection
