/** Readings of provision settlements: the fund's answer, and the agreement's end. */
import { Effect, Schema } from "effect"
import * as events from "../../feeds/events.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Follow from "../../projection/Follow.ts"
import * as Once from "../../projection/Once.ts"
import type { Node } from "../../projection/Reading.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import { Records } from "../../records/Records.ts"
import {
  ProvisionSettlement as ProvisionSettlementTemplate,
  ProvisionSettlementProposal
} from "../../templates/Settlement.ts"
import type { Payload } from "../../templates/Template.ts"
import { provisionSettlements } from "./ProvisionSettlement.ts"
import { ProvisionSettlementMachine } from "./ProvisionSettlementMachine.ts"

type Provision = Payload<typeof ProvisionSettlementProposal>

const settlement = Follow.of({
  collection: provisionSettlements,
  machine: ProvisionSettlementMachine,
  resourceKind: "provision-settlement"
})

const said = ({ provisionId, fund, instrumentId, cash, limit, until }: Provision, node: Node) => ({
  provisionSettlementId: provisionId,
  instrumentId: Schema.decodeSync(InstrumentId)(instrumentId),
  fund,
  paymentAsset: cash,
  limit,
  until,
  proposedAt: node.effectiveAt,
  offset: node.offset,
  endedAt: null
})

const proposal = TypedReading.of(ProvisionSettlementProposal, {
  created: Effect.fn("ProvisionSettlementProposal.created")(function* (payload, node) {
    const records = yield* Records
    yield* Once.open(
      provisionSettlements,
      {
        ...said(payload, node),
        state: ProvisionSettlementMachine.initial,
        agreedAt: null,
        proposalCid: node.contractId,
        provisionCid: null
      },
      node
    )
    yield* records.announce([proposed(payload, node)])
  }),
  exercised: {
    Accept: ({ payload, result }, node) =>
      settlement.stepped(payload.provisionId, node, {
        on: "agree",
        provisionCid: result.contractId,
        at: node.effectiveAt
      }),
    Decline: ({ payload }, node) =>
      settlement.stepped(payload.provisionId, node, { on: "decline", at: node.effectiveAt }),
    Withdraw: ({ payload }, node) =>
      settlement.stepped(payload.provisionId, node, { on: "replace", at: node.effectiveAt })
  }
})

const provision = TypedReading.of(ProvisionSettlementTemplate, {
  // Elsewhere the acceptance of its proposal has agreed it.
  created: Effect.fn("ProvisionSettlement.created")(function* (payload, node) {
    if (!Snapshot.isOf(node)) return
    yield* Once.open(
      provisionSettlements,
      {
        ...said(payload, node),
        state: "agreed",
        agreedAt: node.effectiveAt,
        proposalCid: null,
        provisionCid: node.contractId
      },
      node
    )
  }),
  exercised: {
    // Past its date the fund only puts the contract away: the clock has ended it.
    End: ({ payload }, node) =>
      settlement.ended(payload.provisionId, node, { on: "end", at: node.effectiveAt }, "ended")
  }
})

export const readings = [proposal, provision] as const

const proposed = ({ fund, instrumentId, provisionId }: Provision, node: Node) => ({
  ...events.make("settlement.proposed", { contractId: node.contractId, reference: provisionId }),
  resourceKind: "contract" as const,
  resourceId: node.contractId,
  instrumentId,
  party: fund,
  holderIds: [],
  journal: {
    at: node.effectiveAt,
    offset: node.offset,
    source: `${node.offset}:${node.nodeId}:settlement.proposed`
  }
})
