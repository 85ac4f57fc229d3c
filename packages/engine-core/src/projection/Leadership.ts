/** Leader election by a lease: one instance at a time follows the ledger, the others wait. */
import { Duration, Effect } from "effect"
import { Settings } from "../engine/Settings.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { WorkQueue } from "../ports/storage/WorkQueue.ts"
import * as LeasedWork from "../records/LeasedWork.ts"
import { orUnavailable } from "../records/PortFailure.ts"

/** The queue whose single item is leased by the instance that follows. */
const queue = "projection"

/** Most milliseconds after which another instance replaces a follower that was killed. */
const leaseMax = 10_000

/**
 * Runs `follow` while this instance holds the lease, and returns when the lease is lost. While
 * another instance holds it, waits for one poll and returns.
 */
export const lead = Effect.fnUntraced(function* <E, R>(
  follow: Effect.Effect<never, E | LeaseLost, R>
) {
  const work = yield* WorkQueue
  const settings = yield* Settings
  const leaseMillis = Math.min(leaseMax, settings.lease)
  yield* orUnavailable(
    work.enqueue([{ queue, itemId: "follower", resource: "ledger", payload: "", delay: 0 }])
  )
  const [lease] = yield* orUnavailable(
    work.lease({ queue, worker: "follower", limit: 1, leaseMillis })
  )
  if (lease === undefined) return yield* Effect.sleep(Duration.millis(settings.poll))
  yield* Effect.raceFirst(follow, LeasedWork.renewing({ work, lease, leaseMillis })).pipe(
    Effect.catchTag("LeaseLost", () => Effect.logInfo("another instance follows the ledger")),
    Effect.ensuring(Effect.ignore(work.release(lease, { delay: 0 })))
  )
})
