/**
 * Facts from the ledger about issuer powers agreements: proposed, answered by issuer and registrar, ended.
 */
import * as AgreementSteps from "../agreements/AgreementSteps.ts"
import type * as Party from "../kernel/Party.ts"
import * as TypedFromLedger from "../projection/TypedFromLedger.ts"
import {
  IssuerPowersAgreementProposal,
  IssuerPowersAgreement as IssuerPowersAgreementTemplate
} from "../templates/Powers.ts"
import type { Payload } from "../templates/Template.ts"
import { issuerPowersAgreement } from "./IssuerPowersAgreement.ts"

/** Terms of both templates: only the proposal lists who has accepted, the agreement both have. */
type Terms = Payload<typeof IssuerPowersAgreementTemplate> & {
  readonly accepted?: ReadonlyArray<Party.Party>
}

const agreement = AgreementSteps.of(issuerPowersAgreement, {
  resourceKind: "issuer-powers-agreement",
  idOf: ({ issuerPowersAgreementId }: Terms) => issuerPowersAgreementId,
  record: ({ venue: _, instrument, accepted, ...terms }: Terms, opening) => ({
    ...terms,
    instrumentId: instrument.id,
    acceptedBy: accepted ?? [...new Set([terms.issuer, terms.registrar])],
    ...opening
  })
})

const proposal = TypedFromLedger.of(IssuerPowersAgreementProposal, {
  created: agreement.proposed,
  exercised: {
    Accept: ({ payload, argument: { party }, result }, node) =>
      agreement.accepted(payload, node, {
        contract: result.agreement,
        by: { party, proposal: result.proposal }
      }),
    Decline: agreement.declined,
    Withdraw: agreement.withdrawn
  }
})

const agreed = TypedFromLedger.of(IssuerPowersAgreementTemplate, {
  created: agreement.fromSnapshot,
  exercised: { End: agreement.ended }
})

export const fromLedger = [proposal, agreed] as const
