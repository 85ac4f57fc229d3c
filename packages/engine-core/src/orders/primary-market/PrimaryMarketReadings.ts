/** Readings of primary markets: answers of fund and registrar, and the market's end. */
import { Effect, Option } from "effect"
import * as Follow from "../../projection/Follow.ts"
import * as Once from "../../projection/Once.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import { Records } from "../../records/Records.ts"
import {
  PrimaryMarketProposal,
  PrimaryMarket as PrimaryMarketTemplate
} from "../../templates/Market.ts"
import { primaryMarkets } from "./PrimaryMarket.ts"
import { PrimaryMarketMachine } from "./PrimaryMarketMachine.ts"

const market = Follow.of({
  collection: primaryMarkets,
  machine: PrimaryMarketMachine,
  resourceKind: "primary-market"
})

const proposal = TypedReading.of(PrimaryMarketProposal, {
  created: Effect.fn("PrimaryMarketProposal.created")(function* (payload, node) {
    const records = yield* Records
    // An acceptance makes the proposal anew, and was read before what it made.
    if (Option.isSome(yield* records.find(primaryMarkets, payload.marketId))) return
    const { marketId, instrument, registrar, fund, cash, attestors, required, oracle, until } =
      payload
    yield* Once.open(
      primaryMarkets,
      {
        marketId,
        instrumentId: instrument.id,
        registrar,
        fund,
        paymentAsset: cash,
        terms: { attestors, required, oracle },
        state: PrimaryMarketMachine.initial,
        acceptedBy: payload.accepted,
        proposedAt: node.effectiveAt,
        offset: node.offset,
        from: null,
        until,
        endedAt: null,
        proposalCid: node.contractId,
        marketCid: null
      },
      node
    )
  }),
  exercised: {
    Accept: (
      { payload, argument: { party }, result: { proposal: proposalCid, market: marketCid } },
      node
    ) => {
      const { marketId } = payload
      if (marketCid !== null) {
        return market.stepped(marketId, node, {
          on: "agree",
          party,
          marketCid,
          at: node.effectiveAt
        })
      }
      return proposalCid === null
        ? Effect.die(new Error("an acceptance made neither a proposal nor a market"))
        : // A step towards agreement: what may be agreed may be accepted.
          market.moved(marketId, node, "agree", () => ({ on: "accept", party, proposalCid }))
    },
    Decline: ({ payload }, node) =>
      market.stepped(payload.marketId, node, { on: "decline", at: node.effectiveAt }),
    Withdraw: ({ payload }, node) =>
      market.stepped(payload.marketId, node, { on: "replace", at: node.effectiveAt })
  }
})

const agreed = TypedReading.of(PrimaryMarketTemplate, {
  // Elsewhere the last acceptance of its proposal has agreed it.
  created: Effect.fn("PrimaryMarket.created")(function* (payload, node) {
    if (!Snapshot.isOf(node)) return
    const { marketId, instrument, registrar, fund, cash, attestors, required, oracle, until } =
      payload
    yield* Once.open(
      primaryMarkets,
      {
        marketId,
        instrumentId: instrument.id,
        registrar,
        fund,
        paymentAsset: cash,
        terms: { attestors, required, oracle },
        state: "agreed",
        acceptedBy: [...new Set([fund, registrar])],
        proposedAt: node.effectiveAt,
        offset: node.offset,
        from: node.effectiveAt,
        until,
        endedAt: null,
        proposalCid: null,
        marketCid: node.contractId
      },
      node
    )
  }),
  exercised: {
    End: ({ payload, result: { contractId: marketCid } }, node) =>
      market.stepped(payload.marketId, node, { on: "end", marketCid, at: node.effectiveAt })
  }
})

export const readings = [proposal, agreed] as const
