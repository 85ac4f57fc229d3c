/** Readings of reserve redemptions: started, accepted with locked units, settled, ended. */
import { Effect, Option, Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, Reading } from "../../projection/Reading.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import { Records } from "../../records/Records.ts"
import { ReserveRedemptionOrder, type Reserve as ReserveTemplate } from "../../templates/Reserve.ts"
import type { Payload } from "../../templates/Template.ts"
import { reserves } from "../reserve/Reserve.ts"
import { ReserveOrderMachine } from "./ReserveOrderMachine.ts"
import {
  type ReserveRedemption,
  ReserveRedemptionId,
  reserveRedemptions
} from "./ReserveRedemption.ts"
import { holderOf, pricesOf } from "./StartedSteps.ts"

type Order = Payload<typeof ReserveRedemptionOrder>

const redemption = LedgerRecord.transitionsOf({
  collection: reserveRedemptions,
  machine: ReserveOrderMachine,
  resourceKind: "reserve-redemption"
})

/** Opens the redemption that the reserve starts, at the prices that the ledger judged it by. */
export const started = Effect.fn("Reserve.StartRedemption")(function* (
  { payload, argument, result }: TypedReading.Choosing<typeof ReserveTemplate, "StartRedemption">,
  node: Node
) {
  const { price, pointCid, sharePrice } = yield* pricesOf(payload, argument, node)
  yield* opened(
    { ...argument, reserveId: payload.reserveId, lockedUnitsCid: null },
    { orderCid: result.contractId, price, pointCid, sharePrice: sharePrice?.down ?? null },
    node
  )
})

const opened = Effect.fnUntraced(function* (
  order: Pick<
    Order,
    | "reserveRedemptionId"
    | "reserveId"
    | "owner"
    | "asset"
    | "payout"
    | "units"
    | "executeBefore"
    | "lockedUnitsCid"
  >,
  of: Pick<ReserveRedemption, "orderCid" | "price" | "pointCid" | "sharePrice">,
  node: Node
) {
  const records = yield* Records
  const reserve = Option.getOrNull(yield* records.find(reserves, order.reserveId))
  const holderId = yield* holderOf(order.owner)
  if (reserve === null || holderId === null) {
    return yield* redemption.keepBreach(node, order.reserveRedemptionId, {
      on: "open",
      detail: reserve === null ? "There is no such reserve." : "The owner is no holder."
    })
  }
  const isReady = order.lockedUnitsCid !== null
  yield* LedgerRecord.open(
    reserveRedemptions,
    {
      reserveRedemptionId: Schema.decodeSync(ReserveRedemptionId)(order.reserveRedemptionId),
      reserveId: order.reserveId,
      instrumentId: Schema.decodeSync(InstrumentId)(reserve.instrumentId),
      registrar: reserve.issuer,
      holder: reserve.holder,
      state: isReady ? "ready" : "started",
      endedAs: null,
      holderId,
      party: order.owner,
      asset: order.asset,
      units: order.units,
      payout: order.payout,
      decimals: reserve.decimals,
      unit: reserve.unit,
      coverBefore: null,
      coverAfter: null,
      deadline: order.executeBefore,
      readyAt: isReady ? node.effectiveAt : null,
      endedAt: null,
      updateId: null,
      heldCid: order.lockedUnitsCid,
      ...of
    },
    node
  )
})

const order = TypedReading.of(ReserveRedemptionOrder, {
  created: Effect.fn("ReserveRedemptionOrder.created")(function* (payload, node) {
    if (Snapshot.isOf(node)) {
      const unpriced = { price: null, pointCid: null, sharePrice: null }
      return yield* opened(payload, { orderCid: node.contractId, ...unpriced }, node)
    }
    // The reserve's choice has opened the record; the acceptance creates the order again.
    const { lockedUnitsCid: heldCid, reserveRedemptionId } = payload
    if (heldCid === null) return
    yield* redemption.moveBy(reserveRedemptionId, node, {
      on: "allocate",
      orderCid: node.contractId,
      heldCid,
      at: node.effectiveAt
    })
  }),
  exercised: {
    Decline: ({ payload }, node) => ended(payload, "decline", node),
    Settle: ({ payload, result: { coverBefore, coverAfter } }, node) =>
      redemption.moveBy(payload.reserveRedemptionId, node, {
        on: "settle",
        at: node.effectiveAt,
        coverBefore: coverBefore.ratio,
        coverAfter: coverAfter.ratio,
        updateId: node.updateId
      }),
    Cancel: ({ payload }, node) => ended(payload, "cancel", node)
  }
})

/** An order that is past its deadline ends as expired, whoever ends it. */
const ended = ({ reserveRedemptionId }: Order, on: "decline" | "cancel", node: Node) =>
  redemption.withRecord(reserveRedemptionId, node, on, ({ state }) =>
    redemption.moveBy(reserveRedemptionId, node, {
      on: state === "expired" ? "release" : on,
      at: node.effectiveAt
    })
  )

export const readings: ReadonlyArray<Reading> = [
  {
    ...order,
    looks: ({ reserveRedemptionId: id }) =>
      typeof id === "string" ? [{ collection: reserveRedemptions, id }] : []
  }
]
