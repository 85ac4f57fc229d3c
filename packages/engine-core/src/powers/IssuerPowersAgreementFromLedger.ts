/**
 * Facts from the ledger about issuer powers agreements: proposed, answered by issuer and registrar, ended.
 */
import { Effect } from "effect"
import * as AgreementSteps from "../agreements/AgreementSteps.ts"
import type * as Party from "../kernel/Party.ts"
import * as Snapshot from "../projection/Snapshot.ts"
import * as TypedFromLedger from "../projection/TypedFromLedger.ts"
import {
  IssuerPowersAgreementProposal,
  IssuerPowersAgreement as IssuerPowersAgreementTemplate
} from "../templates/Powers.ts"
import type { Payload } from "../templates/Template.ts"
import { type IssuerPowersAgreement, issuerPowersAgreement } from "./IssuerPowersAgreement.ts"

/** Terms of both templates: only the proposal lists who has accepted, the agreement both have. */
type Terms = Payload<typeof IssuerPowersAgreementTemplate> & {
  readonly accepted?: ReadonlyArray<Party.Party>
}

type OpeningMembers = AgreementSteps.OpeningOf<typeof issuerPowersAgreement>

const recordOf = (
  { venue: _, instrument, accepted, ...terms }: Terms,
  opening: OpeningMembers
): IssuerPowersAgreement => ({
  ...terms,
  instrumentId: instrument.id,
  acceptedBy: accepted ?? [...new Set([terms.issuer, terms.registrar])],
  ...opening
})

const proposal = TypedFromLedger.of(IssuerPowersAgreementProposal, {
  created: (payload, node) => {
    const self = recordOf(payload, AgreementSteps.proposing(issuerPowersAgreement, node))
    return AgreementSteps.proposed(issuerPowersAgreement, self, node)
  },
  exercised: {
    Accept: ({ payload, argument: { party }, result }, node) =>
      AgreementSteps.accepted(issuerPowersAgreement, payload.issuerPowersAgreementId, node, {
        contract: result.agreement,
        by: { party, proposal: result.proposal }
      }),
    Decline: ({ payload }, node) =>
      AgreementSteps.declined(issuerPowersAgreement, payload.issuerPowersAgreementId, node),
    Withdraw: ({ payload }, node) =>
      AgreementSteps.withdrawn(issuerPowersAgreement, payload.issuerPowersAgreementId, node)
  }
})

const agreed = TypedFromLedger.of(IssuerPowersAgreementTemplate, {
  // Outside a snapshot the last signature has moved the record.
  created: (payload, node) => {
    if (!Snapshot.isOf(node)) return Effect.void
    const self = recordOf(payload, AgreementSteps.agreeing(issuerPowersAgreement, node))
    return AgreementSteps.openAgreed(issuerPowersAgreement, self, node)
  },
  exercised: {
    End: ({ payload }, node) =>
      AgreementSteps.ended(issuerPowersAgreement, payload.issuerPowersAgreementId, node)
  }
})

export const fromLedger = [proposal, agreed] as const
