/** Facts from the ledger about primary markets: answers of fund and registrar, and the market's end. */
import * as AgreementSteps from "../../agreements/AgreementSteps.ts"
import type * as Party from "../../kernel/Party.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import {
  PrimaryMarketProposal,
  PrimaryMarket as PrimaryMarketTemplate
} from "../../templates/Market.ts"
import type { Payload } from "../../templates/Template.ts"
import { primaryMarket } from "./PrimaryMarket.ts"

/** Terms of a proposal or a market; the market's contract omits `accepted`, since both have accepted it. */
type Terms = Payload<typeof PrimaryMarketTemplate> & {
  readonly accepted?: ReadonlyArray<Party.Party>
}

const market = AgreementSteps.of(primaryMarket, {
  resourceKind: "primary-market",
  idOf: ({ marketId }: Terms) => marketId,
  record: (terms: Terms, opening) => ({
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
})

const proposal = TypedFromLedger.of(PrimaryMarketProposal, {
  created: market.proposed,
  exercised: {
    Accept: ({ payload, argument: { party }, result: { proposal, market: contract } }, node) =>
      market.accepted(payload, node, { contract, by: { party, proposal } }),
    Decline: market.declined,
    Withdraw: market.withdrawn
  }
})

const agreed = TypedFromLedger.of(PrimaryMarketTemplate, {
  created: market.fromSnapshot,
  exercised: {
    // Orders claimed while the market was agreed settle under the contract that `End` creates.
    End: ({ payload, result: { contractId } }, node) => market.succeeded(payload, node, contractId)
  }
})

export const fromLedger = [proposal, agreed] as const
