/** Facts from the ledger about a dealing cycle: opened, allocated to by the fund, settled, released. */
import { Effect, Option, Result, Schema } from "effect"
import { awaitingTerms } from "../../instruments/instrument/AwaitingTermsSteps.ts"
import { instruments, isRecorded } from "../../instruments/instrument/Instrument.ts"
import { pricePoints } from "../../instruments/price/PricePoint.ts"
import type { Collection } from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { contracts } from "../../projection/Contract.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node } from "../../projection/FromLedger.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { DealingCycle as DealingCycleTemplate } from "../../templates/DealingCycle.ts"
import { Lot } from "../../templates/Market.ts"
import { PricedRedemption } from "../../templates/Redemption.ts"
import { Allocation } from "../../templates/Registry.ts"
import {
  type Argument,
  decodePayload,
  type LfRecord,
  type Payload,
  type Template
} from "../../templates/Template.ts"
import { isWorthWithinLimit } from "../../kernel/Amount.ts"
import * as Currency from "../../kernel/Currency.ts"
import * as Cycle from "./DealingCycle.ts"
import { allocationsMax, CycleId, type DealingCycle, dealingCycles } from "./DealingCycle.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { type Subscription, subscriptions } from "../subscription/Subscription.ts"
import type { FormerCycle } from "./FormerCycle.ts"
import { leftIn } from "./CycleOrderLookups.ts"

type CyclePayload = Payload<typeof DealingCycleTemplate>
type SettleArgument = Argument<typeof DealingCycleTemplate, "Settle">

const dealing = LedgerRecord.transitionsOf({
  collection: dealingCycles,
  machine: Cycle.DealingCycleMachine,
  resourceKind: "dealing-cycle"
})

const cycle = TypedFromLedger.of(DealingCycleTemplate, {
  created: Effect.fn("DealingCycle.created")(function* (payload, node) {
    const records = yield* Records
    if (Option.isSome(yield* records.find(dealingCycles, payload.cycleId))) {
      return yield* dealing.keepBreach(node, payload.cycleId, {
        on: "open",
        detail: "A cycle of this id exists."
      })
    }
    yield* opened(payload, node)
  }),
  concluded: {
    Settle: ({ payload, argument }, node) =>
      ofOpenCycle(payload.cycleId, node, "settle", (self) => settled(self, argument, node)),
    Release: ({ payload }, node) =>
      ofOpenCycle(payload.cycleId, node, "release", (self) =>
        Effect.andThen(
          dealing.record(self, node, { on: "release", at: node.effectiveAt, uid: node.updateId }),
          leftBehind({ cycleId: self.cycleId, endedAs: "released" }, node)
        )
      )
  }
})

/**
 * Records an allocation that a fund made to itself for its cycle; ignores any other. One that is not the
 * cycle's cash moves nothing: its fund can take it back, so that it only warns.
 */
export const allocatedByFund = Effect.fn("Allocation.createdForCycle")(function* (
  payload: Payload<typeof Allocation>,
  node: Node
) {
  const self = yield* funded(payload, node)
  if (self === null) return
  const misfit = misfitOf(self, payload)
  if (misfit !== null) {
    return yield* dealing.keepIdle(node, self.cycleId, { on: "allocate", detail: misfit })
  }
  yield* dealing.record(self, node, {
    on: "allocate",
    cid: node.contractId,
    amount: payload.amount,
    settleBefore: payload.settleBefore
  })
})

const allocation = TypedFromLedger.of(Allocation, {
  created: allocatedByFund,
  exercised: {
    Allocation_ExecuteTransfer: ({ payload }, node) => unallocated(payload, node),
    Allocation_Cancel: ({ payload }, node) => unallocated(payload, node),
    Allocation_Withdraw: ({ payload }, node) => unallocated(payload, node)
  }
})

export const fromLedger = [awaitingTerms(cycle), allocation] as const

// ---- opened

/** Opens the cycle of this contract; one whose instrument is not recorded is kept as a breach. */
export const opened = Effect.fnUntraced(function* (payload: CyclePayload, node: Node) {
  const records = yield* Records
  const instrument = Option.getOrNull(yield* records.find(instruments, payload.instrument.id))
  const cycleId = Schema.decodeUnknownOption(CycleId)(payload.cycleId)
  if (instrument === null || !isRecorded(instrument) || Option.isNone(cycleId)) {
    return yield* dealing.keepBreach(node, payload.cycleId, {
      on: "open",
      detail: "Its instrument is not recorded, or its id is not valid."
    })
  }
  const { instrumentId, manifest } = instrument
  yield* LedgerRecord.open(
    dealingCycles,
    {
      cycleId: cycleId.value,
      instrumentId,
      state: Cycle.DealingCycleMachine.initial,
      endedAs: null,
      cutOffAt: payload.cutOffAt,
      acceptsOrders: true,
      lost: false,
      settleBy: payload.settleBy,
      pointCid: null,
      price: null,
      swungPrice: null,
      orders: { subscriptions: [], redemptions: [] },
      members: { subscriptions: 0, redemptions: 0 },
      gross: Cycle.nothing,
      fundNet: Cycle.netOf(Cycle.nothing),
      gate: null,
      fills: [],
      policyVersion: null,
      uid: null,
      openedAt: node.effectiveAt,
      endedAt: null,
      fund: payload.fund,
      paymentAsset: payload.cash,
      registrar: payload.registrar,
      currency: manifest.currency,
      unitDecimals: manifest.unitDecimals,
      cashDecimals: Currency.decimals(manifest.currency),
      allocations: [],
      cycleCid: node.contractId
    },
    node
  )
})

// ---- settled

/** Records the settlement of a cycle: its orders, their sums, the gate and the fills. */
const settled = Effect.fnUntraced(function* (
  self: Stored<DealingCycle>,
  argument: SettleArgument,
  node: Node
) {
  const records = yield* Records
  const { lots, sold } = yield* settledOrders(argument)
  const [first] = [...lots, ...sold]
  if (first === undefined) {
    return yield* dealing.keepBreach(node, self.cycleId, {
      on: "settle",
      detail: "It settled nothing."
    })
  }
  const point = Option.getOrNull(yield* records.find(pricePoints, first.pointCid))
  const price = point?.price ?? first.price
  const instrument = Option.getOrNull(yield* records.find(instruments, self.instrumentId))
  const gross = {
    subscribed: Decimal.sum(lots.map(({ paid }) => paid)),
    refunded: Decimal.sum(lots.map(({ refund }) => refund ?? Decimal.zero)),
    redeemed: Decimal.sum(sold.map(({ filled }) => filled.proceeds)),
    minted: Decimal.sum(lots.map(({ units }) => units)),
    burned: Decimal.sum(sold.map(({ filled }) => filled.units))
  }
  yield* dealing.record(self, node, {
    on: "settle",
    at: node.effectiveAt,
    uid: node.updateId,
    policyVersion: instrument?.policyVersion ?? 1,
    pointCid: first.pointCid,
    price,
    swungPrice: first.price === price ? null : first.price,
    gross,
    fundNet: Cycle.netOf(gross),
    gate: Cycle.gatingOf({
      ordered: Decimal.sum(sold.map(({ units }) => units)),
      filled: gross.burned
    }),
    fills: sold.some(({ rest }) => rest !== null)
      ? sold.map(({ redemptionId, units, filled, rest }) => ({
          redemptionId,
          ordered: units,
          filled: filled.units,
          remainderId: rest?.remainderId ?? null
        }))
      : [],
    orders: {
      subscriptions: lots.map(({ subscriptionId }) => subscriptionId).toSorted(),
      redemptions: sold.map(({ redemptionId }) => redemptionId).toSorted()
    }
  })
  yield* leftBehind({ cycleId: self.cycleId, endedAs: "settled" }, node)
})

/**
 * Loads the payloads of the orders that a cycle settled, by their contracts. The same update created or
 * consumed all of these contracts before this choice, so they are in the transaction.
 */
const settledOrders = Effect.fnUntraced(function* ({ lots, redemptions }: SettleArgument) {
  const payloads = yield* payloadsOf([
    ...lots.flatMap(({ lotCid, allocationCid }) => [lotCid, allocationCid]),
    ...redemptions.map(({ redemptionCid }) => redemptionCid)
  ])
  return {
    lots: lots.flatMap(({ lotCid, allocationCid, refund }) => {
      const lot = payloads.as(Lot, lotCid)
      const cash = payloads.as(Allocation, allocationCid)
      return lot === null || cash === null ? [] : [{ ...lot, paid: cash.amount, refund }]
    }),
    sold: redemptions.flatMap(({ redemptionCid, fill }) => {
      const priced = payloads.as(PricedRedemption, redemptionCid)
      return priced === null ? [] : [{ ...priced, filled: fill ?? priced, rest: fill }]
    })
  }
})

/** Loads the payloads of these contracts by id, with one look-up for all. */
const payloadsOf = Effect.fnUntraced(function* (cids: ReadonlyArray<string>) {
  const records = yield* Records
  const payloadOf = new Map(
    (yield* records.many(contracts, cids)).map(({ contractId, payload }) => [contractId, payload])
  )
  return {
    as: <T extends Template>(template: T, cid: string): Payload<T> | null => {
      const payload = payloadOf.get(cid)
      return payload === undefined
        ? null
        : Result.getOrNull(decodePayload(template, payload as LfRecord))
    }
  }
})

// ---- orders that its end leaves behind

/**
 * Records that orders leave the ended cycle, if they did not end with it: a redemption with a burn
 * request, and an order claimed just before the cycle was released. They settle by themselves.
 */
const leftBehind = (formerCycle: FormerCycle, node: Node) =>
  Effect.andThen(leaving(subscriptions, formerCycle, node), leaving(redemptions, formerCycle, node))

type Member = Pick<Subscription, "cycleId" | "endedAt">
interface LeaveFact {
  readonly on: "leave"
  readonly formerCycle: FormerCycle
}

const leaving = <R extends Member, F>(
  collection: Collection<R, F | LeaveFact>,
  formerCycle: FormerCycle,
  node: Node
) =>
  Effect.gen(function* () {
    const records = yield* Records
    // Includes orders that were claimed in this transaction.
    for (const order of yield* leftIn(collection, formerCycle.cycleId)) {
      if (order.endedAt !== null) continue
      const fact: LeaveFact = { on: "leave", formerCycle }
      yield* records.append(collection, order, fact, node.act)
    }
  })

// ---- allocations of the fund

/** Finds the cycle that a fund's allocation to itself refers to; null: the allocation is of another kind. */
const funded = Effect.fnUntraced(function* (payload: Payload<typeof Allocation>, node: Node) {
  if (payload.executor !== node.venue || payload.sender !== payload.receiver) return null
  const records = yield* Records
  const self = Option.getOrNull(yield* records.find(dealingCycles, payload.reference))
  return self?.fund === payload.sender ? self : null
})

/** Reason why an allocation is not the cycle's cash; null: it is. */
const misfitOf = (self: DealingCycle, payload: Payload<typeof Allocation>): string | null => {
  if (self.state !== "open") return "The cycle has ended."
  const { admin, id } = self.paymentAsset
  if (payload.instrument.admin !== admin || payload.instrument.id !== id) {
    return "It is of another asset."
  }
  if (!isWorthWithinLimit(payload.amount)) return "It is of more cash than a cycle moves."
  return self.allocations.length < allocationsMax
    ? null
    : `The cycle has ${allocationsMax} allocations already.`
}

const unallocated = Effect.fnUntraced(function* (payload: Payload<typeof Allocation>, node: Node) {
  const self = yield* funded(payload, node)
  if (self?.allocations.some(({ cid }) => cid === node.contractId) !== true) return
  yield* dealing.record(self, node, { on: "unallocate", cid: node.contractId })
})

/** Reads a choice on the contract of an open cycle; a choice on any other contract is kept as unexpected. */
const ofOpenCycle = (
  cycleId: string,
  node: Node,
  on: "settle" | "release",
  read: (self: Stored<DealingCycle>) => LedgerRecord.LedgerEffect
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const self = Option.getOrNull(yield* records.find(dealingCycles, cycleId))
    if (self?.cycleCid === node.contractId) return yield* read(self)
    yield* dealing.keepBreach(node, cycleId, {
      on,
      detail: "No open cycle has this contract."
    })
  })
