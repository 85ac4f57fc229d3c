/** Runs work under a lease: renews the lease, releases it when the work fails, stops when it is lost. */
import { Cause, Duration, Effect } from "effect"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import type { Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import { orUnavailable } from "./PortFailure.ts"

export interface HeldLease {
  readonly work: WorkQueue["Service"]
  readonly lease: Lease
  /** Milliseconds after which the lease ends unless it is renewed. */
  readonly leaseMillis: number
}

/** Renews the lease for ever; fails with `LeaseLost` once another worker holds it. */
export const kept = ({
  work,
  lease,
  leaseMillis
}: HeldLease): Effect.Effect<never, LeaseLost | Unavailable> =>
  orUnavailable(work.renew(lease, leaseMillis)).pipe(
    Effect.delay(Duration.millis(leaseMillis / 3)),
    Effect.forever
  )

/**
 * Runs the work of an item while its lease is renewed; it never fails. Work that fails is logged and
 * released for `failedFor` milliseconds; work that is interrupted is released at once.
 */
export const under = <R>(
  heldLease: HeldLease & { readonly failed: string; readonly failedFor: number },
  doing: Effect.Effect<void, Unavailable | LeaseLost, R>
): Effect.Effect<void, never, R> => {
  const { work, lease } = heldLease
  return Effect.raceFirst(doing, kept(heldLease)).pipe(
    Effect.catchTag("LeaseLost", () =>
      Effect.logDebug(`the lease of ${lease.itemId} is somebody else's`)
    ),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.logError(heldLease.failed, cause).pipe(
            Effect.andThen(orUnavailable(work.release(lease, { delay: heldLease.failedFor }))),
            Effect.catchCause((again) =>
              Effect.logError(`the lease of ${lease.itemId} runs out by itself`, again)
            )
          )
    ),
    Effect.orDie,
    Effect.onInterrupt(() => Effect.ignore(work.release(lease, { delay: 0 })))
  )
}

/** One cycle of a runner, which never ends the runner: a failure is logged and followed by a pause. */
export const round = <E, R>(
  cycle: Effect.Effect<void, E, R>,
  { failed, pause }: { readonly failed: string; readonly pause: Effect.Effect<void> }
): Effect.Effect<void, never, R> =>
  cycle.pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(Effect.logError(failed, cause), pause)
    ),
    Effect.orDie
  )
