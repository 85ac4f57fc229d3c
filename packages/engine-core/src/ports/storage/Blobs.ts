/** Port: content-addressed store of raw bytes, such as the file a statement was read from. */
import { Context, type Effect, type Option } from "effect"
import type { StorageUnavailable } from "./StorageError.ts"

export class Blobs extends Context.Service<
  Blobs,
  {
    /**
     * Stores bytes under their lower-case hex SHA-256; the same hash twice is one blob. MUST keep a
     * copy: the caller may change its bytes afterwards.
     */
    readonly put: (of: {
      readonly hash: string
      readonly bytes: Uint8Array
    }) => Effect.Effect<void, StorageUnavailable>
    /** A copy of the bytes, the caller's own; none: nothing was put under this hash. */
    readonly get: (hash: string) => Effect.Effect<Option.Option<Uint8Array>, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/Blobs") {}
