/** Readings of mints: started, accepted with an allocation, settled, ended; and the deposit's request. */
import { Effect, Option, Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, Reading } from "../../projection/Reading.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import { Records } from "../../records/Records.ts"
import { Allocation } from "../../templates/Registry.ts"
import { MintOrder, type Reserve as ReserveTemplate } from "../../templates/Reserve.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import type { Payload } from "../../templates/Template.ts"
import { make as makeOrderEvent } from "../../orders/events.ts"
import { reserves } from "../reserve/Reserve.ts"
import { type Mint, MintId, mints } from "./Mint.ts"
import { ReserveOrderMachine } from "./ReserveOrderMachine.ts"
import { holderOf, pricesOf } from "./StartedSteps.ts"

type Order = Payload<typeof MintOrder>
type Intent = Payload<typeof SettlementIntent>

const mint = LedgerRecord.transitionsOf({
  collection: mints,
  machine: ReserveOrderMachine,
  resourceKind: "mint"
})

/** Opens the mint that the reserve starts, at the prices that the ledger judged it by. */
export const started = Effect.fn("Reserve.StartMint")(function* (
  { payload, argument, result }: TypedReading.Choosing<typeof ReserveTemplate, "StartMint">,
  node: Node
) {
  const { price, pointCid, sharePrice } = yield* pricesOf(payload, argument, node)
  yield* opened(
    { ...argument, reserveId: payload.reserveId, allocationCid: null },
    { orderCid: result.contractId, price, pointCid, sharePrice: sharePrice?.up ?? null },
    node
  )
})

const opened = Effect.fnUntraced(function* (
  order: Pick<
    Order,
    | "mintId"
    | "reserveId"
    | "depositor"
    | "asset"
    | "deposit"
    | "units"
    | "executeBefore"
    | "allocationCid"
  >,
  of: Pick<Mint, "orderCid" | "price" | "pointCid" | "sharePrice">,
  node: Node
) {
  const records = yield* Records
  const reserve = Option.getOrNull(yield* records.find(reserves, order.reserveId))
  const holderId = yield* holderOf(order.depositor)
  if (reserve === null || holderId === null) {
    return yield* mint.keepBreach(node, order.mintId, {
      on: "open",
      detail: reserve === null ? "There is no such reserve." : "The depositor is no holder."
    })
  }
  const isReady = order.allocationCid !== null
  yield* LedgerRecord.open(
    mints,
    {
      mintId: Schema.decodeSync(MintId)(order.mintId),
      reserveId: order.reserveId,
      instrumentId: Schema.decodeSync(InstrumentId)(reserve.instrumentId),
      registrar: reserve.issuer,
      holder: reserve.holder,
      state: isReady ? "ready" : "started",
      endedAs: null,
      holderId,
      party: order.depositor,
      asset: order.asset,
      units: order.units,
      deposit: order.deposit,
      decimals: reserve.decimals,
      unit: reserve.unit,
      coverBefore: null,
      coverAfter: null,
      deadline: order.executeBefore,
      readyAt: isReady ? node.effectiveAt : null,
      endedAt: null,
      updateId: null,
      heldCid: order.allocationCid,
      intentCid: null,
      ...of
    },
    node
  )
})

const order = TypedReading.of(MintOrder, {
  created: Effect.fn("MintOrder.created")(function* (payload, node) {
    if (Snapshot.isOf(node)) {
      const unpriced = { price: null, pointCid: null, sharePrice: null }
      return yield* opened(payload, { orderCid: node.contractId, ...unpriced }, node)
    }
    // The reserve's choice has opened the record; an acceptance creates the order again.
    const { allocationCid: heldCid, mintId } = payload
    if (heldCid === null) return
    const accepted = { orderCid: node.contractId, heldCid, at: node.effectiveAt }
    yield* mint.withRecord(mintId, node, "allocate", ({ state }) =>
      mint.moveBy(mintId, node, {
        on: state === "ready" ? "reallocate" : "allocate",
        ...accepted
      })
    )
  }),
  exercised: {
    Decline: ({ payload }, node) =>
      mint.withRecord(payload.mintId, node, "decline", ({ state }) =>
        mint.moveBy(payload.mintId, node, {
          on: state === "expired" ? "release" : "decline",
          at: node.effectiveAt
        })
      ),
    Settle: ({ payload, result: { coverBefore, coverAfter } }, node) =>
      mint.moveBy(payload.mintId, node, {
        on: "settle",
        at: node.effectiveAt,
        coverBefore: coverBefore.ratio,
        coverAfter: coverAfter.ratio,
        updateId: node.updateId
      }),
    Cancel: ({ payload }, node) =>
      mint.withRecord(payload.mintId, node, "cancel", ({ state }) =>
        mint.moveBy(payload.mintId, node, {
          on: state === "expired" ? "release" : "cancel",
          at: node.effectiveAt
        })
      )
  }
})

const intent = TypedReading.of(SettlementIntent, {
  created: Effect.fn("SettlementIntent.ofMint")(function* (payload, node) {
    const found = yield* requestedFor(payload)
    if (found === null) return
    const records = yield* Records
    yield* records.record(mints, found, { on: "request", intentCid: node.contractId }, node.act)
    yield* records.announce([
      {
        ...makeOrderEvent("settlement.proposed", {
          contractId: node.contractId,
          reference: found.mintId
        }),
        resourceKind: "contract",
        resourceId: node.contractId,
        instrumentId: found.instrumentId,
        party: found.party,
        holderIds: [found.holderId],
        journal: {
          at: node.effectiveAt,
          offset: node.offset,
          source: `${node.offset}:${node.nodeId}:settlement.proposed`
        }
      }
    ])
  }),
  exercised: {
    Complete: ({ payload }, node) => requestEnded(payload, node),
    AllocationRequest_Withdraw: ({ payload }, node) => requestEnded(payload, node),
    AllocationRequest_Reject: ({ payload }, node) => requestEnded(payload, node)
  }
})

/** Finds the mint whose deposit is requested; null: the request settles something else. */
const requestedFor = ({ reference: { kind, id } }: Intent) =>
  kind === "mint" ? found(id) : Effect.succeed(null)

const found = (mintId: string) =>
  Effect.flatMap(Records, (records) => Effect.map(records.find(mints, mintId), Option.getOrNull))

const requestEnded = Effect.fnUntraced(function* (payload: Intent, node: Node) {
  const self = yield* requestedFor(payload)
  if (self?.intentCid !== node.contractId) return
  const records = yield* Records
  yield* records.record(mints, self, { on: "request", intentCid: null }, node.act)
})

/** An allocation that ends without its mint leaves a ready order without a deposit. */
const allocationEnded = Effect.fnUntraced(function* (
  { reference }: Payload<typeof Allocation>,
  node: Node
) {
  const self = yield* found(reference)
  if (self?.heldCid !== node.contractId) return
  const records = yield* Records
  yield* records.record(mints, self, { on: "lose" }, node.act)
})

const allocation = TypedReading.of(Allocation, {
  exercised: {
    Allocation_ExecuteTransfer: ({ payload }, node) => allocationEnded(payload, node),
    Allocation_Cancel: ({ payload }, node) => allocationEnded(payload, node),
    Allocation_Withdraw: ({ payload }, node) => allocationEnded(payload, node)
  }
})

export const readings: ReadonlyArray<Reading> = [
  {
    ...order,
    looks: ({ mintId }) => (typeof mintId === "string" ? [{ collection: mints, id: mintId }] : [])
  },
  intent,
  {
    ...allocation,
    looks: ({ reference }) =>
      typeof reference === "string" ? [{ collection: mints, id: reference }] : []
  }
]
