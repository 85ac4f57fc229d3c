/** What fund and registrar answer to a market's proposal, and how a market ends. */
import { Effect, Option } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import * as Once from "../../projection/Once.ts"
import type { Node } from "../../projection/Reading.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records } from "../../records/Records.ts"
import {
  PrimaryMarketProposal,
  PrimaryMarket as PrimaryMarketTemplate
} from "../../templates/Market.ts"
import { primaryMarkets } from "./PrimaryMarket.ts"
import { type Fact, PrimaryMarketMachine } from "./PrimaryMarketMachine.ts"

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
      if (marketCid !== null) {
        return moved(payload, node, { on: "agree", party, marketCid, at: node.effectiveAt })
      }
      return proposalCid === null
        ? Effect.die(new Error("an acceptance made neither a proposal nor a market"))
        : moved(payload, node, { on: "accept", party, proposalCid })
    },
    Decline: ({ payload }, node) => moved(payload, node, { on: "decline", at: node.effectiveAt }),
    Withdraw: ({ payload }, node) => moved(payload, node, { on: "replace", at: node.effectiveAt })
  }
})

const market = TypedReading.of(PrimaryMarketTemplate, {
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
      moved(payload, node, { on: "end", marketCid, at: node.effectiveAt })
  }
})

export const readings = [proposal, market] as const

/** The trigger that a fact is; an acceptance is a step towards agreement. */
const triggerOf = (fact: Fact) => (fact.on === "accept" ? "agree" : fact.on)

const moved = Effect.fnUntraced(function* (
  { marketId }: { readonly marketId: string },
  node: Node,
  fact: Fact
) {
  const records = yield* Records
  const found = yield* records.find(primaryMarkets, marketId)
  if (
    Option.isSome(found) &&
    Machine.allows(PrimaryMarketMachine, found.value.state, triggerOf(fact))
  ) {
    yield* records.record(primaryMarkets, found.value, fact, node.act)
    return
  }
  yield* Unexpected.keep(node, {
    resourceKind: "primary-market",
    resourceId: marketId,
    on: fact.on,
    detail: Option.match(found, {
      onNone: () => "There is no such market.",
      onSome: ({ state }) => `The market is ${state}.`
    })
  })
})
