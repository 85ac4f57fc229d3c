/** Port: transactions around storage calls, all or nothing, and named locks. */
import { Context, type Effect } from "effect"
import type { StorageUnavailable } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** Port of transactions: all that an effect writes, or nothing of it. */
export class Atomically extends Context.Service<
  Atomically,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    /**
     * Runs `effect` in one transaction (read committed). It MUST leave nothing behind when the
     * effect fails, dies or is interrupted, and MUST have made everything durable when it
     * succeeds. A call inside another joins the outer transaction: the failure of the outer one
     * takes back what the inner one did. An inner one that fails MUST take back what it did itself,
     * and nothing else: the outer one may go on, and what it did before and does after stays.
     */
    readonly run: <A, E, R>(
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | StorageUnavailable, R>
    /**
     * Reading scope of one answer: the commits that the storage calls inside it have read MUST be
     * durable once `effect` has succeeded or failed; the adapter may wait for them once, at the end.
     * Until then the caller sends nothing of the answer to anybody. The scope is no transaction: its
     * reads may see different moments, and writes inside it behave as without the scope.
     */
    readonly reading: <A, E, R>(
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | StorageUnavailable, R>
    /**
     * Waits for and takes the lock of this name until the transaction ends. MUST be exclusive
     * over every process that shares the store. Only inside `run`; outside it is a defect.
     */
    readonly lock: (name: string) => Effect.Effect<void, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/Atomically") {}
