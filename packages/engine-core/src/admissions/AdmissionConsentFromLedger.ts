/** Facts from the ledger about admission consents: proposed, answered by the registrar, ended. */
import * as AgreementSteps from "../agreements/AgreementSteps.ts"
import * as TypedFromLedger from "../projection/TypedFromLedger.ts"
import {
  AdmissionConsent as AdmissionConsentTemplate,
  AdmissionConsentProposal
} from "../templates/Admission.ts"
import type { Payload } from "../templates/Template.ts"
import { admissionConsent } from "./AdmissionConsent.ts"

type Terms = Payload<typeof AdmissionConsentTemplate>

const consent = AgreementSteps.of(admissionConsent, {
  resourceKind: "admission-consent",
  idOf: ({ admissionConsentId }: Terms) => admissionConsentId,
  record: ({ venue: _, ...terms }: Terms, opening) => ({ ...terms, ...opening })
})

const proposal = TypedFromLedger.of(AdmissionConsentProposal, {
  created: consent.proposed,
  exercised: {
    Accept: ({ payload, result: { contractId: contract } }, node) =>
      consent.accepted(payload, node, { contract }),
    Decline: consent.declined,
    Withdraw: consent.withdrawn
  }
})

const agreed = TypedFromLedger.of(AdmissionConsentTemplate, {
  created: consent.fromSnapshot,
  exercised: { Revoke: consent.ended }
})

export const fromLedger = [proposal, agreed] as const
