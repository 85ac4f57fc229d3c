/** Counts and takes the units of claims of redemptions that are under way. */
import { Effect, Option } from "effect"
import { unavailable } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { operations } from "../../writes/OperationRecord.ts"
import { claimedUnits, claimsMax, type UnitsClaim } from "./ClaimedUnits.ts"
import { pairOf, redemptions } from "./Redemption.ts"

/** Seconds after which a caller tries again while too many claims are under way. */
const retryAfter = 5

/** A holder, and the instrument whose units it claims to redeem. */
type Pair = Parameters<typeof pairOf>[0]

/**
 * Loads the claims under way of a holder's units, but for that of the operation itself. A claim is under
 * way until its order is recorded or its operation has failed; an operation that retention has deleted
 * had ended, and of one that succeeded the order is recorded. They are read before the orders, so that none
 * is missed: one that is recorded in between is among both, and whoever adds them up leaves it out once.
 */
export const underWayOf = Effect.fnUntraced(function* (pair: Pair, operationId: string | null) {
  const records = yield* Records
  const found = yield* records.find(claimedUnits, pairOf(pair))
  const claims = Option.match(found, {
    onNone: () => [],
    onSome: (self) => self.claims.filter((claim) => claim.operationId !== operationId)
  })
  if (claims.length === 0) return claims
  const ids = claims.map(({ redemptionId }) => redemptionId)
  const recorded = new Set(
    (yield* records.many(redemptions, ids)).map(({ redemptionId }): string => redemptionId)
  )
  const waiting = claims.filter(({ redemptionId }) => !recorded.has(redemptionId))
  if (waiting.length === 0) return waiting
  const started = yield* records.many(
    operations,
    waiting.map((claim) => claim.operationId)
  )
  const inForce = new Set(
    started.filter(({ state }) => state !== "failed").map((operation) => operation.operationId)
  )
  return waiting.filter((claim) => inForce.has(claim.operationId))
})

/**
 * Takes the units of a claim in the transaction that plans it. Answers `Unavailable` (overloaded) where
 * too many claims of the holder are under way.
 */
export const take = Effect.fnUntraced(function* (
  pair: Pair,
  claim: Omit<UnitsClaim, "operationId">,
  act: OperationAct
) {
  const records = yield* Records
  const underWay = yield* underWayOf(pair, act.operationId)
  if (underWay.length >= claimsMax) {
    return yield* Effect.fail(
      unavailable("overloaded", "Too many claims of this holder are under way.", retryAfter)
    )
  }
  const claims = [...underWay, { ...claim, operationId: act.operationId }]
  const before = yield* records.find(claimedUnits, pairOf(pair))
  if (Option.isSome(before)) {
    yield* records.append(claimedUnits, before.value, { on: "claim", claims }, act)
    return
  }
  const { holderId, instrumentId } = pair
  yield* records
    .open(claimedUnits, { holderId, instrumentId, claims }, act)
    .pipe(Effect.catchTag("Refused", (again) => Effect.die(new Error(again.slug))))
})
