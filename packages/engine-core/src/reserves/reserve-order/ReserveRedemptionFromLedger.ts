/** Facts from the ledger about reserve redemptions: started, accepted with locked units, settled, ended. */
import { Effect, Schema } from "effect"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { ReserveRedemptionOrder, type Reserve as ReserveTemplate } from "../../templates/Reserve.ts"
import type { Payload } from "../../templates/Template.ts"
import { ReserveRedemptionId, reserveRedemptions } from "./ReserveRedemption.ts"
import * as StartedSteps from "./StartedSteps.ts"

type Order = Omit<
  Payload<typeof ReserveRedemptionOrder>,
  "venue" | "issuer" | "holder" | "instrument"
>

const redemption = StartedSteps.follow(reserveRedemptions)

const opened = Effect.fnUntraced(function* (
  { reserveRedemptionId, reserveId, owner, asset, units, payout, ...order }: Order,
  start: Parameters<typeof StartedSteps.membersOf>[2],
  node: Node
) {
  const contractMembers = {
    id: reserveRedemptionId,
    ...{ reserveId, party: owner, asset, units },
    partyName: "owner",
    deadline: order.executeBefore,
    heldCid: order.lockedUnitsCid
  } as const
  const members = yield* StartedSteps.membersOf(reserveRedemptions, contractMembers, start, node)
  if (members === null) return
  const self = {
    reserveRedemptionId: Schema.decodeSync(ReserveRedemptionId)(reserveRedemptionId),
    ...members,
    payout
  }
  yield* LedgerRecord.open(reserveRedemptions, self, node)
})

/** Opens the redemption that the reserve starts, at the prices that the ledger used. */
export const started = Effect.fnUntraced(function* (
  choosing: TypedFromLedger.ChoiceExercise<typeof ReserveTemplate, "StartRedemption">,
  node: Node
) {
  const { argument, payload, result } = choosing
  const { sharePrice, ...prices } = yield* StartedSteps.pricesOf(choosing, node)
  // Units are paid out at the share price that is rounded down.
  const start = { ...prices, sharePrice: sharePrice?.down ?? null, orderCid: result.contractId }
  const order = { ...argument, reserveId: payload.reserveId, lockedUnitsCid: null }
  yield* opened(order, start, node)
})

/** Records that the units of a redemption are no longer locked. */
export const unlocked = (id: string, node: Node) => StartedSteps.lost(reserveRedemptions, id, node)

const order = TypedFromLedger.of(ReserveRedemptionOrder, {
  created: Effect.fn("ReserveRedemptionOrder.created")(function* (payload, node) {
    if (Snapshot.isOf(node)) {
      const start = { ...StartedSteps.unpriced, orderCid: node.contractId }
      return yield* opened(payload, start, node)
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
    Decline: ({ payload }, node) =>
      StartedSteps.ended(reserveRedemptions, payload.reserveRedemptionId, "decline", node),
    Settle: ({ payload, result }, node) =>
      StartedSteps.settled(reserveRedemptions, payload.reserveRedemptionId, result, node),
    Cancel: ({ payload }, node) =>
      StartedSteps.ended(reserveRedemptions, payload.reserveRedemptionId, "cancel", node)
  }
})

export const fromLedger: ReadonlyArray<FromLedger> = [
  {
    ...order,
    looks: ({ reserveRedemptionId: id }) =>
      typeof id === "string" ? [{ collection: reserveRedemptions, id }] : [],
    whole: (update) => {
      const made = TypedFromLedger.madeIn(ReserveRedemptionOrder, update)
      const orders = made.map(({ node, payload }) => ({
        id: payload.reserveRedemptionId,
        heldCid: payload.lockedUnitsCid,
        node
      }))
      return StartedSteps.lostBefore(reserveRedemptions, orders, update)
    }
  }
]
