/**
 * Port: names that are bound once: idempotency keys, each to the target of its first call, and nonces.
 */
import { Context, type Effect, type Option } from "effect"
import type { StorageUnavailable } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** Idempotency key as the storage has it, with the fingerprint of its call. */
export interface KeyRow {
  /** Owner of the key: tenant and subject in one text. */
  readonly scope: string
  readonly key: string
  /** Fingerprint of the write; another fingerprint under the same key is another write. */
  readonly fingerprint: string
  /** Target of the key: the operation, action or record that the write became. */
  readonly target: string
  /** After this recorded instant (sortable text) the key may be bound anew; null: never. */
  readonly bindsUntil: string | null
}

/** Port of idempotency keys. */
export class Keys extends Context.Service<
  Keys,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    /**
     * Binds a key to a target. Of any number of parallel calls exactly one MUST bind it; the others
     * wait for that one's transaction and read its row, the earlier binding. A row whose `bindsUntil`
     * is before `now` is replaced.
     */
    readonly bind: (
      row: KeyRow & { readonly now: string }
    ) => Effect.Effect<
      { readonly isBound: true } | { readonly isBound: false; readonly earlier: KeyRow },
      StorageUnavailable
    >
    readonly find: (lookup: {
      readonly scope: string
      readonly key: string
      readonly now: string
    }) => Effect.Effect<Option.Option<KeyRow>, StorageUnavailable>
    /** Replaces the target of a bound key; a defect for a key that is not bound. */
    readonly retarget: (change: {
      readonly scope: string
      readonly key: string
      readonly target: string
    }) => Effect.Effect<void, StorageUnavailable>
    /** Deletes every key of these targets, whose records are being deleted. Answers how many. */
    readonly free: (targets: ReadonlyArray<string>) => Effect.Effect<number, StorageUnavailable>
    /**
     * True for the first use of the nonce in its scope. It MUST be remembered for `keep`
     * milliseconds of the store's own clock: no host whose clock is wrong can shorten that.
     */
    readonly useNonce: (use: {
      readonly scope: string
      readonly nonce: string
      readonly keep: number
    }) => Effect.Effect<boolean, StorageUnavailable>
    /**
     * Deletes keys that lapsed before this instant, and nonces that expired by the store's own clock,
     * at most `limit`; answers how many.
     */
    readonly forget: (deletion: {
      readonly before: string
      readonly limit: number
    }) => Effect.Effect<number, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/Keys") {}
