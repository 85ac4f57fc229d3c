/** Facts from the ledger about provision settlements: the fund's answer, and the consent's end. */
import { Effect, Schema } from "effect"
import * as AgreementSteps from "../../agreements/AgreementSteps.ts"
import * as SettlementEventSteps from "../SettlementEventSteps.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records } from "../../records/Records.ts"
import {
  ProvisionSettlement as ProvisionSettlementTemplate,
  ProvisionSettlementProposal
} from "../../templates/Settlement.ts"
import type { Payload } from "../../templates/Template.ts"
import { provisionSettlement } from "./ProvisionSettlement.ts"

type Terms = Payload<typeof ProvisionSettlementTemplate>

const provision = AgreementSteps.of(provisionSettlement, {
  resourceKind: "provision-settlement",
  idOf: ({ provisionId }: Terms) => provisionId,
  record: ({ provisionId, instrumentId, fund, cash, limit, until }: Terms, opening) => ({
    provisionSettlementId: provisionId,
    instrumentId: Schema.decodeSync(InstrumentId)(instrumentId),
    fund,
    paymentAsset: cash,
    limit,
    until,
    ...opening
  })
})

const proposal = TypedFromLedger.of(ProvisionSettlementProposal, {
  created: Effect.fn("ProvisionSettlementProposal.created")(function* (payload, node) {
    const records = yield* Records
    yield* provision.proposed(payload, node)
    const { fund: party, instrumentId, provisionId: reference } = payload
    const about = { reference, instrumentId, party, holderIds: [] }
    yield* records.announce([SettlementEventSteps.proposed(node, about)])
  }),
  exercised: {
    Accept: ({ payload, result: { contractId: contract } }, node) =>
      provision.accepted(payload, node, { contract }),
    Decline: provision.declined,
    Withdraw: provision.withdrawn
  }
})

const agreed = TypedFromLedger.of(ProvisionSettlementTemplate, {
  created: provision.fromSnapshot,
  exercised: { End: provision.ended }
})

export const fromLedger = [proposal, agreed] as const
