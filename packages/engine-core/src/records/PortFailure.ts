/** Maps failures of ports to `Unavailable`: the same call may succeed later. */
import { Effect } from "effect"
import { type Unavailable, unavailable } from "../kernel/Refusal.ts"
import type { ReadError } from "../ports/Ledger.ts"
import type { StorageUnavailable } from "../ports/storage/StorageError.ts"

/** `Unavailable` values made from a deadlock, on which a transaction runs again before it fails. */
const deadlocks = new WeakSet<object>()

/** Maps an unavailable store to `not-ready`. */
export const storeUnavailable = (error: StorageUnavailable): Unavailable => {
  const made = unavailable("not-ready", "The engine's store is not available.", error.retryAfter)
  if (error.isDeadlock === true) deadlocks.add(made)
  return made
}

/** Checks for a deadlock: the store ended the transaction, and running it again succeeds. */
export const isDeadlock = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  (deadlocks.has(error) || ("isDeadlock" in error && error.isDeadlock === true))

const isStoreUnavailable = (error: unknown): error is StorageUnavailable =>
  typeof error === "object" &&
  error !== null &&
  "_tag" in error &&
  error._tag === "StorageUnavailable"

/** Maps the failures of an effect on storage to `Unavailable`. */
export const orUnavailable: <A, E, R>(
  effect: Effect.Effect<A, E | StorageUnavailable, R>
) => Effect.Effect<A, Exclude<E, StorageUnavailable> | Unavailable, R> = Effect.mapError(
  <E>(error: E) =>
    isStoreUnavailable(error) ? storeUnavailable(error) : (error as Exclude<E, StorageUnavailable>)
)

/** Maps any failed read of the ledger to `ledger-unavailable`. */
export const ledgerUnavailable = (error: ReadError): Unavailable =>
  unavailable("ledger-unavailable", `The ledger could not be read (${error._tag}).`, 5)
