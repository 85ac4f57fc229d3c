/**
 * Port: rate limiter state of each subject, shared by all instances. Of all that the storage ports hold
 * it alone may be forgotten when the store is closed or crashes.
 */
import { Context, type Effect } from "effect"
import type { StorageUnavailable } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** Port of the windows that count the calls of each caller. */
export class RateWindow extends Context.Service<
  RateWindow,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    /**
     * The generic cell rate algorithm, in microseconds of the store's clock: admits `cost` calls if
     * the theoretical arrival time stays within `tolerance`, and moves it; a refusal moves nothing. An
     * admitted cost stays counted, also when a transaction around the call is rolled back.
     */
    readonly take: (call: {
      readonly subject: string
      readonly cost: number
      /** Microseconds one call takes from the budget. */
      readonly interval: number
      /** Microseconds the theoretical arrival time may run ahead of now. */
      readonly tolerance: number
    }) => Effect.Effect<
      {
        readonly admitted: boolean
        /** max(0, theoretical arrival − now) after this call, in microseconds. */
        readonly ahead: number
      },
      StorageUnavailable
    >
    /** Deletes subjects whose budget has been full for this many microseconds; at most `limit`. */
    readonly forget: (deletion: {
      readonly idle: number
      readonly limit: number
    }) => Effect.Effect<number, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/RateWindow") {}
