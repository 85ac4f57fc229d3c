/** Write of admission consents: the venue proposes one to a registrar. */
import { Effect, Schema } from "effect"
import * as ProposalSteps from "../agreements/ProposalSteps.ts"
import * as Party from "../kernel/Party.ts"
import { Records } from "../records/Records.ts"
import { AdmissionConsentProposal } from "../templates/Admission.ts"
import { create, exercise } from "../templates/Template.ts"
import * as ReadableText from "../kernel/ReadableText.ts"
import * as Lasting from "../writes/LastingLookups.ts"
import * as Operation from "../writes/Operation.ts"
import { sentence } from "../writes/Summary.ts"
import { InstrumentId, instruments } from "../instruments/instrument/Instrument.ts"
import { recorded } from "../instruments/instrument/InstrumentGates.ts"
import { admissionConsent, admissionConsents } from "./AdmissionConsent.ts"
import * as AdmissionConsentView from "./AdmissionConsentView.ts"

const idOf = (operationId: string): string => operationId.replace(/^op_/, "acn_")

export const propose = Operation.defineOnLedger("admission-consent.propose", {
  doc: "Asks an instrument's registrar to consent that the venue admits holders to it.",
  summary: ({ instrumentId }) =>
    sentence`Asks the registrar of instrument ${instrumentId} to consent that the venue admits holders.`,
  route: "POST /v1/instruments/{instrumentId}/admission-consent:propose",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "instrument",
    id: ({ instrumentId }) => instrumentId,
    href: ({ instrumentId }) => `/v1/instruments/${instrumentId}`,
    instrumentId: ({ instrumentId }) => instrumentId
  },
  input: Schema.Struct({
    instrumentId: InstrumentId,
    fund: Party.schema,
    terms: ReadableText.prose(500)
  }),
  lasts: Lasting.whileIn(admissionConsents, (_, { operationId }) => [idOf(operationId)], [
    "proposed",
    "agreed"
  ]),
  result: AdmissionConsentView.AdmissionConsentView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  plan: Effect.fn("admission-consent.propose")(function* ({ instrumentId, fund, terms }, act) {
    const records = yield* Records
    const instrument = yield* records.get(instruments, instrumentId)
    const { registrar } = yield* Effect.fromResult(recorded(instrument))
    const replaced = yield* ProposalSteps.replacedBy(admissionConsent, {
      instrumentId,
      detail: "The registrar's consent stands already."
    })
    const proposal = create(AdmissionConsentProposal, {
      venue: act.venue,
      admissionConsentId: idOf(act.operationId),
      registrar,
      fund,
      instrumentId,
      terms
    })
    return ProposalSteps.replacing(proposal, replaced, (cid) =>
      exercise(AdmissionConsentProposal, cid, "Withdraw", {})
    )
  }),
  finish: (_, act) =>
    Effect.map(
      ProposalSteps.opened(admissionConsents, idOf(act.operationId)),
      AdmissionConsentView.of
    )
})
