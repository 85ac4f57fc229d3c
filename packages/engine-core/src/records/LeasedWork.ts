/** Work under a lease: renewed while it runs, given back when it fails, dropped when somebody else has it. */
import { Cause, Duration, Effect } from "effect"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import type { Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import { stored } from "./PortFailure.ts"

export interface Held {
  readonly work: WorkQueue["Service"]
  readonly lease: Lease
  /** Milliseconds for which it is held without renewing. */
  readonly leaseMillis: number
}

/** Renews the lease for as long as the work takes; a lost lease ends the work at once. */
export const kept = ({
  work,
  lease,
  leaseMillis
}: Held): Effect.Effect<never, LeaseLost | Unavailable> =>
  stored(work.renew(lease, leaseMillis)).pipe(
    Effect.delay(Duration.millis(leaseMillis / 3)),
    Effect.forever
  )

/**
 * Does the work of an item and ends with it, whatever comes: work that fails is logged and given
 * back for `failedFor` milliseconds, work that is interrupted at once.
 */
export const under = <R>(
  of: Held & { readonly failed: string; readonly failedFor: number },
  doing: Effect.Effect<void, Unavailable | LeaseLost, R>
): Effect.Effect<void, never, R> => {
  const { work, lease } = of
  return Effect.raceFirst(doing, kept(of)).pipe(
    Effect.catchTag("LeaseLost", () =>
      Effect.logDebug(`the lease of ${lease.itemId} is somebody else's`)
    ),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.logError(of.failed, cause).pipe(
            Effect.andThen(stored(work.release(lease, { delay: of.failedFor }))),
            Effect.catchCause((again) =>
              Effect.logError(`the lease of ${lease.itemId} runs out by itself`, again)
            )
          )
    ),
    Effect.orDie,
    Effect.onInterrupt(() => Effect.ignore(work.release(lease, { delay: 0 })))
  )
}

/** A round of a runner that never ends it: what fails is logged, and the next round waits. */
export const round = <E, R>(
  cycle: Effect.Effect<void, E, R>,
  of: { readonly failed: string; readonly pause: Effect.Effect<void> }
): Effect.Effect<void, never, R> =>
  cycle.pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(Effect.logError(of.failed, cause), of.pause)
    ),
    Effect.orDie
  )
