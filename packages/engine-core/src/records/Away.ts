/** What it means to the engine that a port is away: the same call may succeed later. */
import { Effect } from "effect"
import { type Unavailable, unavailable } from "../kernel/Refusal.ts"
import type { ReadError } from "../ports/Ledger.ts"
import type { StorageUnavailable } from "../ports/storage/StorageError.ts"

/** A store that is away is the engine not being ready: nothing else is known to be wrong. */
export const away = (error: StorageUnavailable): Unavailable =>
  unavailable("not-ready", "The engine's store is not available.", error.retryAfter)

/** An effect on storage, in the engine's words. */
export const stored = <A, E, R>(
  effect: Effect.Effect<A, E | StorageUnavailable, R>
): Effect.Effect<A, Exclude<E, StorageUnavailable> | Unavailable, R> =>
  Effect.catchTag(
    effect as Effect.Effect<A, StorageUnavailable, R>,
    "StorageUnavailable",
    (error) => Effect.fail(away(error))
  ) as Effect.Effect<A, Exclude<E, StorageUnavailable> | Unavailable, R>

/** A ledger that cannot be read, whatever it said. */
export const unread = (error: ReadError): Unavailable =>
  unavailable("ledger-unavailable", `The ledger could not be read (${error._tag}).`, 5)
