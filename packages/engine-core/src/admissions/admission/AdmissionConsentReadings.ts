/** Readings of admission consents: the registrar's answer, and the consent's end. */
import { Effect } from "effect"
import * as Follow from "../../projection/Follow.ts"
import * as Once from "../../projection/Once.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import {
  AdmissionConsent as AdmissionConsentTemplate,
  AdmissionConsentProposal
} from "../../templates/Admission.ts"
import { admissionConsents } from "./AdmissionConsent.ts"
import { AdmissionConsentMachine } from "./AdmissionConsentMachine.ts"

const consent = Follow.of({
  collection: admissionConsents,
  machine: AdmissionConsentMachine,
  resourceKind: "admission-consent"
})

const proposal = TypedReading.of(AdmissionConsentProposal, {
  created: Effect.fn("AdmissionConsentProposal.created")(function* ({ venue: _, ...asked }, node) {
    yield* Once.open(
      admissionConsents,
      {
        ...asked,
        state: AdmissionConsentMachine.initial,
        proposedAt: node.effectiveAt,
        offset: node.offset,
        agreedAt: null,
        endedAt: null,
        proposalCid: node.contractId,
        consentCid: null
      },
      node
    )
  }),
  exercised: {
    Accept: ({ payload, result }, node) =>
      consent.stepped(payload.admissionConsentId, node, {
        on: "agree",
        consentCid: result.contractId,
        at: node.effectiveAt
      }),
    Decline: ({ payload }, node) =>
      consent.stepped(payload.admissionConsentId, node, { on: "decline", at: node.effectiveAt }),
    Withdraw: ({ payload }, node) =>
      consent.stepped(payload.admissionConsentId, node, { on: "replace", at: node.effectiveAt })
  }
})

const agreed = TypedReading.of(AdmissionConsentTemplate, {
  // Outside a snapshot the acceptance of its proposal has agreed it.
  created: Effect.fn("AdmissionConsent.created")(function* ({ venue: _, ...said }, node) {
    if (!Snapshot.isOf(node)) return
    yield* Once.open(
      admissionConsents,
      {
        ...said,
        state: "agreed",
        proposedAt: node.effectiveAt,
        offset: node.offset,
        agreedAt: node.effectiveAt,
        endedAt: null,
        proposalCid: null,
        consentCid: node.contractId
      },
      node
    )
  }),
  exercised: {
    Revoke: ({ payload }, node) =>
      consent.stepped(payload.admissionConsentId, node, { on: "end", at: node.effectiveAt })
  }
})

export const readings = [proposal, agreed] as const
