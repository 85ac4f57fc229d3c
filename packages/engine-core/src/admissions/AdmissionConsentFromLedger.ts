/** Facts from the ledger about admission consents: proposed, answered by the registrar, ended. */
import { Effect } from "effect"
import * as AgreementSteps from "../agreements/AgreementSteps.ts"
import * as Snapshot from "../projection/Snapshot.ts"
import * as TypedFromLedger from "../projection/TypedFromLedger.ts"
import {
  AdmissionConsent as AdmissionConsentTemplate,
  AdmissionConsentProposal
} from "../templates/Admission.ts"
import type { Payload } from "../templates/Template.ts"
import { type AdmissionConsent, admissionConsent } from "./AdmissionConsent.ts"

type Terms = Payload<typeof AdmissionConsentTemplate>

type OpeningMembers = AgreementSteps.OpeningOf<typeof admissionConsent>

const recordOf = ({ venue: _, ...terms }: Terms, opening: OpeningMembers): AdmissionConsent => ({
  ...terms,
  ...opening
})

const proposal = TypedFromLedger.of(AdmissionConsentProposal, {
  created: (payload, node) => {
    const self = recordOf(payload, AgreementSteps.proposing(admissionConsent, node))
    return AgreementSteps.proposed(admissionConsent, self, node)
  },
  exercised: {
    Accept: ({ payload, result: { contractId: contract } }, node) =>
      AgreementSteps.accepted(admissionConsent, payload.admissionConsentId, node, { contract }),
    Decline: ({ payload }, node) =>
      AgreementSteps.declined(admissionConsent, payload.admissionConsentId, node),
    Withdraw: ({ payload }, node) =>
      AgreementSteps.withdrawn(admissionConsent, payload.admissionConsentId, node)
  }
})

const agreed = TypedFromLedger.of(AdmissionConsentTemplate, {
  // Outside a snapshot the last signature has moved the record.
  created: (payload, node) => {
    if (!Snapshot.isOf(node)) return Effect.void
    const self = recordOf(payload, AgreementSteps.agreeing(admissionConsent, node))
    return AgreementSteps.openAgreed(admissionConsent, self, node)
  },
  exercised: {
    Revoke: ({ payload }, node) =>
      AgreementSteps.ended(admissionConsent, payload.admissionConsentId, node)
  }
})

export const fromLedger = [proposal, agreed] as const
