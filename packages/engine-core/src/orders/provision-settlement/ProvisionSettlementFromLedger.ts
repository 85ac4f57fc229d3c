/** Facts from the ledger about provision settlements: the fund's answer, and the consent's end. */
import { Effect, Schema } from "effect"
import * as AgreementSteps from "../../agreements/AgreementSteps.ts"
import * as SettlementEventSteps from "../proposal/SettlementEventSteps.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records } from "../../records/Records.ts"
import {
  ProvisionSettlement as ProvisionSettlementTemplate,
  ProvisionSettlementProposal
} from "../../templates/Settlement.ts"
import type { Payload } from "../../templates/Template.ts"
import { type ProvisionSettlement, provisionSettlement } from "./ProvisionSettlement.ts"

type Terms = Payload<typeof ProvisionSettlementTemplate>

type OpeningMembers = AgreementSteps.OpeningOf<typeof provisionSettlement>

const recordOf = (
  { provisionId, instrumentId, fund, cash, limit, until }: Terms,
  opening: OpeningMembers
): ProvisionSettlement => ({
  provisionSettlementId: provisionId,
  instrumentId: Schema.decodeSync(InstrumentId)(instrumentId),
  fund,
  paymentAsset: cash,
  limit,
  until,
  ...opening
})

const proposal = TypedFromLedger.of(ProvisionSettlementProposal, {
  created: Effect.fn("ProvisionSettlementProposal.created")(function* (payload, node) {
    const records = yield* Records
    const self = recordOf(payload, AgreementSteps.proposing(provisionSettlement, node))
    yield* AgreementSteps.proposed(provisionSettlement, self, node)
    const { fund: party, instrumentId, provisionId: reference } = payload
    const about = { reference, instrumentId, party, holderIds: [] }
    yield* records.announce([SettlementEventSteps.proposed(node, about)])
  }),
  exercised: {
    Accept: ({ payload, result: { contractId: contract } }, node) =>
      AgreementSteps.accepted(provisionSettlement, payload.provisionId, node, { contract }),
    Decline: ({ payload }, node) =>
      AgreementSteps.declined(provisionSettlement, payload.provisionId, node),
    Withdraw: ({ payload }, node) =>
      AgreementSteps.withdrawn(provisionSettlement, payload.provisionId, node)
  }
})

const agreed = TypedFromLedger.of(ProvisionSettlementTemplate, {
  // Outside a snapshot the last signature has moved the record.
  created: (payload, node) => {
    if (!Snapshot.isOf(node)) return Effect.void
    const self = recordOf(payload, AgreementSteps.agreeing(provisionSettlement, node))
    return AgreementSteps.openAgreed(provisionSettlement, self, node)
  },
  exercised: {
    End: ({ payload }, node) => AgreementSteps.ended(provisionSettlement, payload.provisionId, node)
  }
})

export const fromLedger = [proposal, agreed] as const
