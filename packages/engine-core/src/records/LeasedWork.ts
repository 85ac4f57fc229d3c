/**
 * Work under the lease of a queue item: the lease is renewed meanwhile, fences the transactions of the
 * work, and is given back at its end.
 */
import { Cause, Duration, Effect } from "effect"
import type { JobOutcome } from "../engine/Metrics.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import { orUnavailable } from "./PortFailure.ts"

interface RenewedLease {
  readonly work: WorkQueue["Service"]
  readonly lease: Lease
  /** Milliseconds after which the lease ends unless it is renewed. */
  readonly leaseMillis: number
}

/**
 * Fences the transaction: fails where another worker has taken the item over, and keeps every other
 * worker from it until the transaction ends. Only inside `transact`.
 */
export const fence = (lease: Lease) =>
  Effect.flatMap(WorkQueue, (work) => orUnavailable(work.fence(lease)))

/** Deletes the item of the lease from its queue, its work being done. */
export const finish = (lease: Lease) =>
  Effect.flatMap(WorkQueue, (work) => orUnavailable(work.finish(lease)))

/** Gives the item of the lease back, to be leased again after so many milliseconds. */
export const release = (
  lease: Lease,
  next: { readonly delay: number; readonly payload?: string }
) => Effect.flatMap(WorkQueue, (work) => orUnavailable(work.release(lease, next)))

/** Renews the lease for ever; fails with `LeaseLost` once another worker has it. */
export const renewing = ({
  work,
  lease,
  leaseMillis
}: RenewedLease): Effect.Effect<never, LeaseLost | Unavailable> =>
  orUnavailable(work.renew(lease, leaseMillis)).pipe(
    Effect.delay(Duration.millis(leaseMillis / 3)),
    Effect.forever
  )

/** Logs that another worker has taken the item over. */
export const lost = ({ itemId }: Lease): Effect.Effect<JobOutcome> =>
  Effect.as(Effect.logDebug(`another worker has the lease of ${itemId}`), "lost")

/**
 * Runs the work of an item while its lease is renewed; it never fails. Work that fails is logged and
 * released for `failedFor` milliseconds; work that is interrupted is released at once.
 */
export const under = <R>(
  renewed: RenewedLease & { readonly failed: string; readonly failedFor: number },
  doing: Effect.Effect<void, Unavailable | LeaseLost, R>
): Effect.Effect<JobOutcome, never, R> => {
  const { work, lease } = renewed
  return Effect.raceFirst(Effect.as(doing, "done" as const), renewing(renewed)).pipe(
    Effect.catchTag("LeaseLost", () => lost(lease)),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.logError(renewed.failed, cause).pipe(
            Effect.andThen(orUnavailable(work.release(lease, { delay: renewed.failedFor }))),
            Effect.catchCause((again) =>
              Effect.logError(`the lease of ${lease.itemId} runs out by itself`, again)
            ),
            Effect.as("failed" as const)
          )
    ),
    Effect.orDie,
    Effect.onInterrupt(() => Effect.ignore(work.release(lease, { delay: 0 })))
  )
}
