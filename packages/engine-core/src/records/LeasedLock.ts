/**
 * Lock that spans transactions and hosts: the renewed lease of a queue item that is never finished.
 */
import { Duration, Effect, Option } from "effect"
import { Settings } from "../engine/Settings.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import * as LeasedWork from "./LeasedWork.ts"
import { orUnavailable } from "./PortFailure.ts"
import { Records } from "./Records.ts"

interface LockTerms {
  /** Name of the lock, and of its queue, which has no other items. */
  readonly name: string
  /** Milliseconds to wait for the lock; 0: only one try. */
  readonly waitMillis: number
}

/** Milliseconds between tries to take the lock. */
const tryEvery = 50

/** Frees the lock; one that cannot be freed ends with its lease. */
const freed = (lease: Lease) =>
  LeasedWork.release(lease, { delay: 0 }).pipe(
    Effect.catchCause((cause) =>
      Effect.logWarning(`the lock ${lease.queue} ends with its lease`, cause)
    )
  )

/** Runs `effect` under the lock where it is free now. */
const tried = Effect.fnUntraced(function* <A, E, R>(
  name: string,
  effect: (lock: Lease) => Effect.Effect<A, E, R>
) {
  const work = yield* WorkQueue
  const { lease: leaseMillis } = yield* Settings
  return yield* Effect.acquireUseRelease(
    Effect.map(
      orUnavailable(work.lease({ queue: name, worker: "lock", limit: 1, leaseMillis })),
      ([lease]) => Option.fromUndefinedOr(lease)
    ),
    Option.match({
      onNone: () => Effect.succeedNone,
      onSome: (lease) =>
        Effect.asSome(
          Effect.raceFirst(effect(lease), LeasedWork.renewing({ work, lease, leaseMillis }))
        )
    }),
    Option.match({ onNone: () => Effect.void, onSome: freed })
  )
})

/**
 * Runs `effect` under the lock, and frees it whatever the end; none: another instance had it for the
 * whole wait. Fails with `LeaseLost` once another instance has it. What `effect` writes must be fenced
 * by the lease that it is given (`LeasedWork.fence`).
 */
export const within = <A, E, R>(
  { name, waitMillis }: LockTerms,
  effect: (lock: Lease) => Effect.Effect<A, E, R>
): Effect.Effect<Option.Option<A>, E | LeaseLost | Unavailable, R | Records | WorkQueue> =>
  Effect.gen(function* () {
    const records = yield* Records
    const first = yield* tried(name, effect)
    if (Option.isSome(first)) return first
    // A lock that was never taken is no item yet.
    const item = { queue: name, itemId: name, resource: name, payload: "", delay: 0 }
    yield* records.transact(records.enqueue([item]))
    for (let waited = 0; ; waited += tryEvery) {
      const done = yield* tried(name, effect)
      if (Option.isSome(done) || waited >= waitMillis) return done
      yield* Effect.sleep(Duration.millis(tryEvery))
    }
  })
