/** Announces actions that waited longer than their deployment lets one wait: nobody's call does. */
import { Effect, Option } from "effect"
import { Settings } from "../engine/Settings.ts"
import type { Task } from "../feeds/Schedule.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { type Lease, type WorkItem, WorkQueue } from "../ports/storage/WorkQueue.ts"
import { stored } from "../records/Away.ts"
import { JudgedAt } from "../records/JudgedAt.ts"
import { Records } from "../records/Records.ts"
import * as Approval from "./Approval.ts"

/** The queue in which actions wait for the end of their time. */
const queue = "lapses"

/** Actions that are looked at in one go. */
const batchMax = 100

/** Milliseconds from an instant to another; 0 when that has passed. */
const until = (now: Instant.Instant, then: Instant.Instant): number =>
  Math.max(0, Instant.toEpochMillis(then) - Instant.toEpochMillis(now))

/** What stands in the queue for an action that may lapse; nothing for one that may wait for ever. */
export const itemsOf = (
  { actionKey, expiresAt }: Approval.Approval,
  now: Instant.Instant
): ReadonlyArray<WorkItem> =>
  expiresAt === null
    ? []
    : [{ queue, itemId: actionKey, resource: actionKey, payload: "", delay: until(now, expiresAt) }]

/** Notes that an action has lapsed, unless somebody decided it in time. */
const lapse = Effect.fnUntraced(function* (lease: Lease) {
  const records = yield* Records
  const work = yield* WorkQueue
  const { tenantId } = yield* Settings
  const actionKey = lease.itemId
  yield* stored(work.hold(lease))
  // The lock of a signature: an action is decided or lapses, never both.
  yield* records.lock(`action:${tenantId}:${actionKey}`)
  const now = yield* Instant.now
  // As it was kept: a read shows the clock's move, which is still to be written.
  const kept = yield* records
    .find(Approval.approvals, actionKey)
    .pipe(Effect.provideService(JudgedAt, Instant.fromNanos(0n)))
  const awaiting = Option.filter(kept, ({ state }) => state === "awaiting")
  if (Option.isNone(awaiting) || awaiting.value.expiresAt === null) {
    return yield* stored(work.finish(lease))
  }
  const { expiresAt } = awaiting.value
  // The queue goes by the store's clock, an action by the engine's.
  if (expiresAt > now) {
    return yield* stored(work.release(lease, { delay: Math.max(1, until(now, expiresAt)) }))
  }
  const act = { cause: { by: "clock" }, now } as const
  yield* records.record(Approval.approvals, awaiting.value, { on: "lapse" }, act)
  yield* stored(work.finish(lease))
})

const batch = Effect.gen(function* () {
  const records = yield* Records
  const work = yield* WorkQueue
  const { lease: leaseMillis } = yield* Settings
  const leases = yield* stored(
    work.lease({ queue, worker: "lapses", limit: batchMax, leaseMillis })
  )
  yield* Effect.forEach(
    leases,
    (lease): Effect.Effect<void, Unavailable, Records | WorkQueue> =>
      records.transact(lapse(lease)).pipe(
        // Another instance has it by now, and does the same.
        Effect.catchTag("LeaseLost", (_: LeaseLost) => Effect.void)
      ),
    { discard: true }
  )
  return leases.length
})

/** Looks every minute for actions whose time is over (contract.md section 4.8). */
export const lapses: Task<Records | WorkQueue> = {
  name: "lapses",
  doc: "Announces four-eyes actions that waited longer than the deployment lets one wait.",
  every: 60_000,
  run: () => Effect.asVoid(Effect.repeat(batch, { while: (leased: number) => leased === batchMax }))
}
