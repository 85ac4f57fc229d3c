/** Write that settles a dealing cycle: four eyes on its figures, one ledger transaction. */
import { Effect, Schema } from "effect"
import { configurationOf } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import * as PlainJson from "../../kernel/PlainJson.ts"
import { Crypto } from "../../ports/Crypto.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { DealingCycle as DealingCycleTemplate } from "../../templates/DealingCycle.ts"
import { type Argument, exercise } from "../../templates/Template.ts"
import type { Figure, Figures } from "../../writes/Figures.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, count, nothing, phrase, type Phrase, sentence } from "../../writes/Summary.ts"
import { toPayBack } from "../subscription/Subscription.ts"
import { CycleId, type DealingCycle, dealingCycles, admitted } from "./DealingCycle.ts"
import * as Gates from "./DealingCycleGates.ts"
import { idsOf, isNone, type Orders } from "./DealingCycleOrders.ts"
import { endingOf } from "./OrderEndCommands.ts"
import * as Rules from "./DealingCycleRules.ts"
import type { Fill } from "./DealingCycleRules.ts"
import * as DealingCycleView from "./DealingCycleView.ts"
import type { Redemption } from "../redemption/Redemption.ts"
import { viewOf } from "./CycleViewLookups.ts"
import { type CycleSettlementContext, contextOf } from "./CycleSettlementLookups.ts"
import { inputsOf } from "./TransactionSize.ts"

const ById = Schema.Struct({ cycleId: CycleId })

export const settle = Operation.defineOnLedger("dealing-cycle.settle", {
  doc: "Settles every order of a dealing cycle and the fund's net in one transaction, at one price.",
  summary: (_, subject) =>
    sentence`Settles dealing cycle ${subject.resource.id}${concerning(subject)}${settledFigures(subject.figures)}.`,
  route: "POST /v1/dealing-cycles/{cycleId}:settle",
  makers: ["operator"],
  approvers: 1,
  figuresFor: "every-role",
  resource: {
    kind: "dealing-cycle",
    id: ({ cycleId }) => cycleId,
    href: ({ cycleId }) => `/v1/dealing-cycles/${cycleId}`,
    concerns: Concerns.ofRecord(dealingCycles, ({ cycleId }) => cycleId)
  },
  input: ById,
  result: DealingCycleView.DealingCycleView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  figures: Effect.fn("dealing-cycle.settle.figures")(function* ({ cycleId }, act) {
    const records = yield* Records
    const cycle = yield* records.get(dealingCycles, cycleId)
    const context = yield* contextBy(act, cycle)
    const crypto = yield* Crypto
    return {
      figures: figuresOf(context, crypto.sha256),
      tolerance: context.terms.tolerances.figures ?? Decimal.zero
    }
  }),
  gates: ({ cycleId }, act) => Effect.map(settling(cycleId, act), ({ rows }) => rows),
  plan: Effect.fn("dealing-cycle.settle.plan")(function* ({ cycleId }, act) {
    const { context, rows } = yield* settling(cycleId, act)
    yield* Effect.fromResult(judge(rows))
    const crypto = yield* Crypto
    const remainderIdOf = remainderIdBy(act.operationId, crypto.sha256)
    const argument = settlingOf(context, remainderIdOf)
    return {
      // The cycle settles first, so that what comes to nothing has left it before it ends.
      commands: [
        exercise(DealingCycleTemplate, contractOf(context.cycle), "Settle", argument),
        ...endingOf(context.tooSmall)
      ],
      last: true
    }
  }),
  finish: ({ cycleId }) => viewOf(cycleId)
})

/** Loads and checks a settlement: first the cycle's state, which is no gate, then the rows. */
const settling = Effect.fnUntraced(function* (cycleId: CycleId, act: OperationAct) {
  const records = yield* Records
  const cycle = yield* records.get(dealingCycles, cycleId)
  yield* Effect.fromResult(admitted(cycle, "settle"))
  const context = yield* contextBy(act, cycle)
  return { context, rows: Gates.againstSettling(context) }
})

/**
 * Memo of contexts by act, so that plan, gates and figures of one judgement load the orders once. An
 * act is made anew by each attempt of a transaction, and all three only read.
 */
const contexts = new WeakMap<
  OperationAct,
  { readonly version: number; readonly context: CycleSettlementContext }
>()

/** Returns the context of a cycle's settlement under an act, loaded where the memo does not have it. */
const contextBy = Effect.fnUntraced(function* (act: OperationAct, cycle: Stored<DealingCycle>) {
  const memo = contexts.get(act)
  if (memo?.context.cycle.cycleId === cycle.cycleId && memo.version === cycle.version) {
    return memo.context
  }
  const context = yield* contextOf(cycle, act.now)
  contexts.set(act, { version: cycle.version, context })
  return context
})

/** Figures of a settlement that its summary names; before there are any, none. */
const settledFigures = ({ price, redemptions, subscriptions, swungPrice }: Figures): Phrase =>
  price === undefined || subscriptions === undefined || redemptions === undefined
    ? nothing
    : phrase` at ${swungPrice ?? price}: ${count(Number(subscriptions), "subscription")} and ${count(Number(redemptions), "redemption")}`

const contractOf = ({ cycleCid, cycleId }: DealingCycle): string => {
  if (cycleCid === null) throw new Error(`the open cycle ${cycleId} has no contract`)
  return cycleCid
}

/** Figures that the approvers sign: price, sums of both sides, the fund's net, partial fills, members. */
const figuresOf = (
  { orders, tooSmall, point, dealingPrice, settlement, terms }: CycleSettlementContext,
  sha256: (text: string) => string
): Readonly<Record<string, Figure>> => {
  const { gross, fundNet, gate } = settlement
  const figures: Readonly<Record<string, Figure | null>> = {
    point: point?.contractId ?? null,
    price: point?.price ?? null,
    swungPrice: dealingPrice === point?.price ? null : dealingPrice,
    subscribed: gross.subscribed,
    refunded: gross.refunded,
    redeemed: gross.redeemed,
    minted: gross.minted,
    burned: gross.burned,
    fundCash: fundNet.cash,
    fundUnits: fundNet.units,
    gateFactor: gate?.factor ?? null,
    gateCapacity: gate?.capacity ?? null,
    subscriptions: Decimal.fromInteger(orders.subscriptions.length),
    redemptions: Decimal.fromInteger(orders.redemptions.length),
    tooSmall: namesOf(tooSmall),
    orders: sha256(PlainJson.canonical({ ...idsOf(orders) })),
    policyVersion: String(terms.policyVersion)
  }
  return Object.fromEntries(
    Object.entries(figures).flatMap(([name, figure]) => (figure === null ? [] : [[name, figure]]))
  )
}

/** Ids of orders that end with the settlement and get nothing of it; null: there are none. */
const namesOf = (orders: Orders): string | null => {
  const { subscriptions, redemptions } = idsOf(orders)
  return isNone(orders) ? null : [...subscriptions, ...redemptions].join(" ")
}

type SettleArgument = Argument<typeof DealingCycleTemplate, "Settle">

const settlingOf = (
  context: CycleSettlementContext,
  remainderIdOf: RemainderIdOf
): SettleArgument => ({
  marketCid: context.market?.marketCid ?? missing("market"),
  lots: lotsOf(context),
  redemptions: redemptionsOf(context, remainderIdOf),
  allocations: context.cycle.allocations.map(({ cid }) => cid),
  provision: context.provision
})

const lotsOf = ({
  orders,
  admissions,
  instrument
}: CycleSettlementContext): SettleArgument["lots"] =>
  orders.subscriptions.map(({ holderId, lot, allocation, intentCid, refund }) => ({
    lotCid: lot?.cid ?? missing("lot"),
    allocationCid: allocation?.cid ?? missing("allocation"),
    credentialCid: admissions.get(holderId)?.credentialCid ?? missing("credential"),
    configurationCid: configurationOf(instrument),
    intentCid,
    refund: toPayBack({ refund })
  }))

/** Redemptions with their partial fills; the remainders deal on the next dealing day. */
const redemptionsOf = (
  context: CycleSettlementContext,
  remainderIdOf: RemainderIdOf
): SettleArgument["redemptions"] => {
  const { fills } = context.settlement
  const nextCycleCid = nextCycleOf(context)
  return context.orders.redemptions.map((order) => {
    const fill = fills.get(order.redemptionId)
    return {
      redemptionCid: order.pricedCid ?? missing("priced redemption"),
      unitsAllocationCid: order.unitsAllocation?.cid ?? missing("units"),
      intentCid: order.intentCid,
      // An allocation of the whole proceeds cannot pay a part of them.
      allocationCid: fill === undefined ? (order.allocation?.cid ?? null) : null,
      fill:
        fill === undefined
          ? null
          : {
              units: fill.units,
              proceeds: fill.proceeds,
              remainderId: remainderIdOf(order.redemptionId),
              cutOffAt: context.nextCutOffAt,
              // A remainder whose proceeds are zero at this price joins no cycle.
              cycleCid: isRestPayable(fill, order) ? nextCycleCid : null
            }
    }
  })
}

type RemainderIdOf = (redemptionId: string) => string

/**
 * Makes the id of a remainder: a digest of the operation and the original order, so that no caller can
 * choose it, and it discloses neither the number nor the sequence of other partial fills.
 */
const remainderIdBy =
  (operationId: string, sha256: (text: string) => string): RemainderIdOf =>
  (redemptionId) =>
    `red_${sha256(PlainJson.canonical([operationId, redemptionId])).slice(0, 32)}`

const isRestPayable = ({ rest }: Fill, order: Redemption): boolean =>
  order.price !== null && Rules.isPayable({ ...order, units: rest }, order.price)

/**
 * Returns the contract of the next dealing day's open cycle, if it has room for the remainders, and its orders
 * deal at the point of that day, as remainders do: historic orders have an earlier one.
 */
const nextCycleOf = ({
  next,
  settlement,
  inputsMax,
  terms
}: CycleSettlementContext): string | null => {
  if (next === null) return null
  const { subscriptions, redemptions } = next.members
  if (terms.manifest.pricing === "historic" && subscriptions + redemptions > 0) return null
  const joined = { subscriptions, redemptions: redemptions + settlement.fills.size }
  return inputsOf(joined) <= inputsMax ? next.cycleCid : null
}

const missing = (contract: string): never => {
  throw new Error(`a cycle that may settle has the ${contract} of every order`)
}
