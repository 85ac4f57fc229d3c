/** Facts from the ledger about primary markets: answers of fund and registrar, and the market's end. */
import { Effect } from "effect"
import * as AgreementSteps from "../../agreements/AgreementSteps.ts"
import type * as Party from "../../kernel/Party.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import {
  PrimaryMarketProposal,
  PrimaryMarket as PrimaryMarketTemplate
} from "../../templates/Market.ts"
import type { Payload } from "../../templates/Template.ts"
import { type PrimaryMarket, primaryMarket } from "./PrimaryMarket.ts"

/** Terms of a proposal or a market; the market's contract omits `accepted`, since both have accepted it. */
type Terms = Payload<typeof PrimaryMarketTemplate> & {
  readonly accepted?: ReadonlyArray<Party.Party>
}

type OpeningMembers = AgreementSteps.OpeningOf<typeof primaryMarket>

const recordOf = (terms: Terms, opening: OpeningMembers): PrimaryMarket => ({
  marketId: terms.marketId,
  instrumentId: terms.instrument.id,
  registrar: terms.registrar,
  fund: terms.fund,
  paymentAsset: terms.cash,
  terms: { attestors: terms.attestors, required: terms.required, oracle: terms.oracle },
  acceptedBy: terms.accepted ?? [...new Set([terms.fund, terms.registrar])],
  until: terms.until,
  ...opening
})

const proposal = TypedFromLedger.of(PrimaryMarketProposal, {
  created: (payload, node) => {
    const self = recordOf(payload, AgreementSteps.proposing(primaryMarket, node))
    return AgreementSteps.proposed(primaryMarket, self, node)
  },
  exercised: {
    Accept: ({ payload, argument: { party }, result: { proposal, market: contract } }, node) =>
      AgreementSteps.accepted(primaryMarket, payload.marketId, node, {
        contract,
        by: { party, proposal }
      }),
    Decline: ({ payload }, node) => AgreementSteps.declined(primaryMarket, payload.marketId, node),
    Withdraw: ({ payload }, node) => AgreementSteps.withdrawn(primaryMarket, payload.marketId, node)
  }
})

const agreed = TypedFromLedger.of(PrimaryMarketTemplate, {
  // Outside a snapshot the last signature has moved the record.
  created: (payload, node) => {
    if (!Snapshot.isOf(node)) return Effect.void
    const self = recordOf(payload, AgreementSteps.agreeing(primaryMarket, node))
    return AgreementSteps.openAgreed(primaryMarket, self, node)
  },
  exercised: {
    // Orders claimed while the market was agreed settle under the contract that `End` creates.
    End: ({ payload, result: { contractId } }, node) =>
      AgreementSteps.succeeded(primaryMarket, payload.marketId, node, contractId)
  }
})

export const fromLedger = [proposal, agreed] as const
