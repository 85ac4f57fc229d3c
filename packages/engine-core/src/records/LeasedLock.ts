/**
 * Lock that spans transactions and hosts: the renewed lease of a queue item that is never finished.
 */
import { Duration, Effect, Option } from "effect"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import type { Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import * as LeasedWork from "./LeasedWork.ts"
import { orUnavailable } from "./PortFailure.ts"
import type { Records } from "./Records.ts"

export interface LockTerms {
  readonly work: WorkQueue["Service"]
  readonly records: Records["Service"]
  /** Name of the lock, and of its queue, which has no other items. */
  readonly name: string
  readonly worker: string
  readonly leaseMillis: number
  /** Milliseconds to wait for the lock; 0: only one try. */
  readonly waitMillis: number
}

/** Milliseconds between tries to take the lock. */
const tryEvery = 50

/** Frees the lock; one that cannot be freed ends with its lease. */
const freed = ({ work }: LockTerms, lease: Lease): Effect.Effect<void> =>
  orUnavailable(work.release(lease, { delay: 0 })).pipe(
    Effect.catchCause((cause) =>
      Effect.logWarning(`the lock ${lease.queue} ends with its lease`, cause)
    )
  )

/** Runs `effect` under the lock where it is free now. */
const tried = <A, E, R>(
  terms: LockTerms,
  effect: (lock: Lease) => Effect.Effect<A, E, R>
): Effect.Effect<Option.Option<A>, E | LeaseLost | Unavailable, R> =>
  Effect.acquireUseRelease(
    Effect.map(
      orUnavailable(
        terms.work.lease({
          queue: terms.name,
          worker: terms.worker,
          limit: 1,
          leaseMillis: terms.leaseMillis
        })
      ),
      ([lease]) => Option.fromUndefinedOr(lease)
    ),
    Option.match({
      onNone: () => Effect.succeedNone,
      onSome: (lease) =>
        Effect.asSome(Effect.raceFirst(effect(lease), LeasedWork.kept({ ...terms, lease })))
    }),
    Option.match({ onNone: () => Effect.void, onSome: (lease) => freed(terms, lease) })
  )

/**
 * Runs `effect` under the lock, and frees it whatever the end; none: another holder kept it for the
 * whole wait. Fails with `LeaseLost` once another holder has it. What `effect` writes must be fenced
 * by `hold` of the lease that it is given.
 */
export const within = <A, E, R>(
  terms: LockTerms,
  effect: (lock: Lease) => Effect.Effect<A, E, R>
): Effect.Effect<Option.Option<A>, E | LeaseLost | Unavailable, R> =>
  Effect.gen(function* () {
    const { name, records } = terms
    const first = yield* tried(terms, effect)
    if (Option.isSome(first)) return first
    // A lock that was never taken is no item yet.
    const item = { queue: name, itemId: name, resource: name, payload: "", delay: 0 }
    yield* records.transact(records.enqueue([item]))
    for (let waited = 0; ; waited += tryEvery) {
      const done = yield* tried(terms, effect)
      if (Option.isSome(done) || waited >= terms.waitMillis) return done
      yield* Effect.sleep(Duration.millis(tryEvery))
    }
  })
