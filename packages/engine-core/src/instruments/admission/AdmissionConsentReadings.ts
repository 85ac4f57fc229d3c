/** What a registrar answers to the venue's wish to admit holders. */
import { Effect, Option } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import * as Once from "../../projection/Once.ts"
import type { Node } from "../../projection/Reading.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records } from "../../records/Records.ts"
import {
  AdmissionConsent as AdmissionConsentTemplate,
  AdmissionConsentProposal
} from "../../templates/Admission.ts"
import type { Payload } from "../../templates/Template.ts"
import { admissionConsents } from "./AdmissionConsent.ts"
import { AdmissionConsentMachine, type Fact } from "./AdmissionConsentMachine.ts"

type Consent = Payload<typeof AdmissionConsentProposal>

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
      moved(payload, node, {
        on: "agree",
        consentCid: result.contractId,
        at: node.effectiveAt
      }),
    Decline: ({ payload }, node) => moved(payload, node, { on: "decline", at: node.effectiveAt }),
    Withdraw: ({ payload }, node) => moved(payload, node, { on: "replace", at: node.effectiveAt })
  }
})

const consent = TypedReading.of(AdmissionConsentTemplate, {
  // Elsewhere its proposal's acceptance has agreed it.
  created: Effect.fn("AdmissionConsent.created")(function* ({ venue: _, ...agreed }, node) {
    if (!Snapshot.isOf(node)) return
    yield* Once.open(
      admissionConsents,
      {
        ...agreed,
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
    Revoke: ({ payload }, node) => moved(payload, node, { on: "end", at: node.effectiveAt })
  }
})

export const readings = [proposal, consent] as const

const moved = Effect.fnUntraced(function* (payload: Consent, node: Node, fact: Fact) {
  const records = yield* Records
  const found = yield* records.find(admissionConsents, payload.admissionConsentId)
  if (Option.isSome(found) && Machine.allows(AdmissionConsentMachine, found.value.state, fact.on)) {
    yield* records.record(admissionConsents, found.value, fact, node.act)
    return
  }
  yield* Unexpected.keep(node, {
    resourceKind: "admission-consent",
    resourceId: payload.admissionConsentId,
    on: fact.on,
    detail: Option.match(found, {
      onNone: () => "There is no such consent.",
      onSome: ({ state }) => `The consent is ${state}.`
    })
  })
})
