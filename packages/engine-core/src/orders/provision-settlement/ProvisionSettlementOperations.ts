/** Write that proposes a provision settlement to a fund. */
import { Effect, Schema } from "effect"
import * as ProposalSteps from "../../agreements/ProposalSteps.ts"
import { InstrumentId, instruments } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Party from "../../kernel/Party.ts"
import { condition, judge } from "../../kernel/Gates.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { ProvisionSettlementProposal } from "../../templates/Settlement.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { ending, optionally, phrase, sentence } from "../../writes/Summary.ts"
import { provisionSettlement, provisionSettlements } from "./ProvisionSettlement.ts"
import * as ProvisionSettlementView from "./ProvisionSettlementView.ts"
import * as Amount from "../../kernel/Amount.ts"

const idOf = (operationId: string): string => operationId.replace(/^op_/, "prv_")

/**
 * Proposes a provision settlement: until it is revoked it covers all that a fund owes under one
 * instrument, the proceeds of redemptions and the net of a cycle
 * (docs/domain/agreements.md#provision-settlements). An instrument has at most one at a time.
 */
export const propose = Operation.defineOnLedger("provision-settlement.propose", {
  doc: "Asks a fund to let the venue pay the fund's legs from cash the fund names.",
  summary: ({ instrumentId, limit, paymentAsset, until }) =>
    sentence`Asks the fund of instrument ${instrumentId} to let the venue pay its legs from ${optionally(limit, (limit) => phrase`at most ${limit} of `)}asset ${paymentAsset.id}${ending(until)}.`,
  route: "POST /v1/instruments/{instrumentId}/provision-settlement:propose",
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
    paymentAsset: Field.asset,
    limit: Field.optional(Amount.cashLimit),
    until: Field.optional(Instant.schema)
  }),
  lasts: Lasting.whileIn(provisionSettlements, (_, { operationId }) => [idOf(operationId)], [
    "proposed",
    "agreed"
  ]),
  result: ProvisionSettlementView.ProvisionSettlementView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  plan: Effect.fn("provision-settlement.propose")(function* (body, act) {
    const records = yield* Records
    yield* Effect.fromResult(recorded(yield* records.get(instruments, body.instrumentId)))
    const replaced = yield* ProposalSteps.replacedBy(provisionSettlement, {
      instrumentId: body.instrumentId,
      detail: "The fund's consent stands already."
    })
    yield* Effect.fromResult(
      judge([
        condition("provision-in-time", body.until === null || Instant.isAfter(body.until, act.now))
      ])
    )
    const proposal = create(ProvisionSettlementProposal, {
      venue: act.venue,
      fund: body.fund,
      provisionId: idOf(act.operationId),
      instrumentId: body.instrumentId,
      cash: body.paymentAsset,
      limit: body.limit,
      until: body.until
    })
    return ProposalSteps.replacing(proposal, replaced, (cid) =>
      exercise(ProvisionSettlementProposal, cid, "Withdraw", {})
    )
  }),
  finish: (_, act) =>
    Effect.map(
      ProposalSteps.opened(provisionSettlements, idOf(act.operationId)),
      ProvisionSettlementView.of
    )
})
