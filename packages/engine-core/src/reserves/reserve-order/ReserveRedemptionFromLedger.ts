/** Facts from the ledger about reserve redemptions: started, accepted with locked units, settled, ended. */
import { Effect, Schema } from "effect"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
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

const redemption = StartedSteps.of({
  collection: reserveRedemptions,
  resourceKind: "reserve-redemption",
  partyName: "owner",
  side: "down",
  stated: ({ reserveRedemptionId, reserveId, owner, asset, units, ...order }: Order) => ({
    id: reserveRedemptionId,
    ...{ reserveId, party: owner, asset, units },
    deadline: order.executeBefore,
    heldCid: order.lockedUnitsCid
  }),
  record: ({ reserveRedemptionId: id, payout }, members) => ({
    reserveRedemptionId: Schema.decodeSync(ReserveRedemptionId)(id),
    ...members,
    payout
  })
})

/** Opens the redemption that the reserve starts, at the prices that the ledger used. */
export const started = (
  choosing: TypedFromLedger.ChoiceExercise<typeof ReserveTemplate, "StartRedemption">,
  node: Node
) => {
  const { reserveId } = choosing.payload
  return redemption.started(
    { ...choosing.argument, reserveId, lockedUnitsCid: null },
    choosing,
    node
  )
}

/** Records that the units of a redemption are no longer locked. */
export const unlocked = redemption.lost

const order = TypedFromLedger.of(ReserveRedemptionOrder, {
  created: Effect.fn("ReserveRedemptionOrder.created")(function* (payload, node) {
    if (Snapshot.isOf(node)) return yield* redemption.fromSnapshot(payload, node)
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
    Decline: ({ payload }, node) => redemption.ended(payload.reserveRedemptionId, "decline", node),
    Settle: ({ payload, result }, node) =>
      redemption.settled(payload.reserveRedemptionId, result, node),
    Cancel: ({ payload }, node) => redemption.ended(payload.reserveRedemptionId, "cancel", node)
  }
})

export const fromLedger: ReadonlyArray<FromLedger> = [
  {
    ...order,
    looks: ({ reserveRedemptionId: id }) =>
      typeof id === "string" ? [{ collection: reserveRedemptions, id }] : [],
    whole: (update) =>
      redemption.lostBefore(TypedFromLedger.madeIn(ReserveRedemptionOrder, update), update)
  }
]
