/** What a fund answers to the venue's wish to pay from cash the fund names. */
import { Effect, Option, Schema } from "effect"
import * as events from "../../feeds/events.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Once from "../../projection/Once.ts"
import type { Node } from "../../projection/Reading.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records } from "../../records/Records.ts"
import {
  ProvisionSettlement as ProvisionSettlementTemplate,
  ProvisionSettlementProposal
} from "../../templates/Settlement.ts"
import type { Payload } from "../../templates/Template.ts"
import { provisionSettlements } from "./ProvisionSettlement.ts"
import { type Fact, ProvisionSettlementMachine } from "./ProvisionSettlementMachine.ts"

type Provision = Payload<typeof ProvisionSettlementProposal>

const proposal = TypedReading.of(ProvisionSettlementProposal, {
  created: Effect.fn("ProvisionSettlementProposal.created")(function* (payload, node) {
    const records = yield* Records
    yield* Once.open(
      provisionSettlements,
      {
        provisionSettlementId: payload.provisionId,
        instrumentId: Schema.decodeSync(InstrumentId)(payload.instrumentId),
        fund: payload.fund,
        paymentAsset: payload.cash,
        limit: payload.limit,
        until: payload.until,
        state: ProvisionSettlementMachine.initial,
        proposedAt: node.effectiveAt,
        offset: node.offset,
        agreedAt: null,
        endedAt: null,
        proposalCid: node.contractId,
        provisionCid: null
      },
      node
    )
    yield* records.announce([proposed(payload, node)])
  }),
  exercised: {
    Accept: ({ payload, result }, node) =>
      moved(payload, node, {
        on: "agree",
        provisionCid: result.contractId,
        at: node.effectiveAt
      }),
    Decline: ({ payload }, node) => moved(payload, node, { on: "decline", at: node.effectiveAt }),
    Withdraw: ({ payload }, node) => moved(payload, node, { on: "replace", at: node.effectiveAt })
  }
})

const provision = TypedReading.of(ProvisionSettlementTemplate, {
  exercised: {
    End: ({ payload }, node) => moved(payload, node, { on: "end", at: node.effectiveAt })
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

const moved = Effect.fnUntraced(function* (payload: Provision, node: Node, fact: Fact) {
  const records = yield* Records
  const found = yield* records.find(provisionSettlements, payload.provisionId)
  if (
    Option.isSome(found) &&
    Machine.allows(ProvisionSettlementMachine, found.value.state, fact.on)
  ) {
    yield* records.record(provisionSettlements, found.value, fact, node.act)
    return
  }
  // Past its date the fund only puts the contract away: the clock has ended it.
  if (fact.on === "end" && Option.isSome(found) && found.value.state === "ended") return
  yield* Unexpected.keep(node, {
    resourceKind: "provision-settlement",
    resourceId: payload.provisionId,
    on: fact.on,
    detail: Option.match(found, {
      onNone: () => "There is no such provision settlement.",
      onSome: ({ state }) => `The provision settlement is ${state}.`
    })
  })
})
