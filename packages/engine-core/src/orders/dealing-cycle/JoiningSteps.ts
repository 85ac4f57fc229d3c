/** Counts and takes the room of claims under way in their dealing cycle. */
import { Effect, Option } from "effect"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { operations } from "../../writes/OperationRecord.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { subscriptions } from "../subscription/Subscription.ts"
import { cycleJoinings, type JoiningClaim } from "./CycleJoinings.ts"

/**
 * Loads the claims under way that join a cycle, but for that of the operation itself. They are read before
 * the cycle, so that none is missed; `stillUnderWay` tells which were recorded in between.
 */
export const underWayIn = Effect.fnUntraced(function* (cycleId: string, operationId: string) {
  const records = yield* Records
  const found = yield* records.find(cycleJoinings, cycleId)
  const joinings = Option.match(found, {
    onNone: () => [],
    onSome: (self) => self.joinings.filter((joining) => joining.operationId !== operationId)
  })
  return yield* stillUnderWay(joinings)
})

/**
 * Claims of these that are under way: until their order is recorded or their operation has failed. An
 * operation that retention has deleted had ended, and of one that succeeded the order is recorded.
 */
export const stillUnderWay = Effect.fnUntraced(function* (joinings: ReadonlyArray<JoiningClaim>) {
  if (joinings.length === 0) return joinings
  const records = yield* Records
  const idsOf = (kind: JoiningClaim["kind"]) =>
    joinings.flatMap((joining) => (joining.kind === kind ? [joining.orderId] : []))
  const bought = yield* records.many(subscriptions, idsOf("subscriptions"))
  const sold = yield* records.many(redemptions, idsOf("redemptions"))
  const recorded = new Set([
    ...bought.map(({ subscriptionId }) => `subscriptions/${subscriptionId}`),
    ...sold.map(({ redemptionId }) => `redemptions/${redemptionId}`)
  ])
  const waiting = joinings.filter(({ kind, orderId }) => !recorded.has(`${kind}/${orderId}`))
  const started = yield* records.many(
    operations,
    waiting.map((joining) => joining.operationId)
  )
  const inForce = new Set(
    started.filter(({ state }) => state !== "failed").map((operation) => operation.operationId)
  )
  return waiting.filter((joining) => inForce.has(joining.operationId))
})

/** Takes the room of an order in the transaction that plans its claim. */
export const join = Effect.fnUntraced(function* (
  cycleId: string,
  order: Omit<JoiningClaim, "operationId">,
  act: OperationAct
) {
  const records = yield* Records
  const underWay = yield* underWayIn(cycleId, act.operationId)
  const joinings = [...underWay, { ...order, operationId: act.operationId }]
  const before = yield* records.find(cycleJoinings, cycleId)
  if (Option.isSome(before)) {
    yield* records.append(cycleJoinings, before.value, { on: "join", joinings }, act)
    return
  }
  yield* records
    .open(cycleJoinings, { cycleId, joinings }, act)
    .pipe(Effect.catchTag("Refused", (again) => Effect.die(new Error(again.slug))))
})
