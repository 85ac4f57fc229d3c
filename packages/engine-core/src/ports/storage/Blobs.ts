/**
 * Port: store of raw bytes: small blobs under their hash, and large files in numbered chunks, such as
 * the file that a statement was read from.
 */
import { Context, type Effect, type Option } from "effect"
import type { StorageUnavailable } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** A chunk of a file, counted from 0; a file has a name that no other has. */
interface ChunkKey {
  readonly file: string
  readonly chunk: number
}

/** Port of files, which are kept as they came. */
export class Blobs extends Context.Service<
  Blobs,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    /**
     * Stores bytes under their lower-case hex SHA-256; the same hash twice is one blob. MUST keep a
     * copy: the caller may change its bytes afterwards.
     */
    readonly put: (blob: {
      readonly hash: string
      readonly bytes: Uint8Array
    }) => Effect.Effect<void, StorageUnavailable>
    /** A copy of the bytes, the caller's own; none: nothing was put under this hash. */
    readonly get: (hash: string) => Effect.Effect<Option.Option<Uint8Array>, StorageUnavailable>
    /**
     * Appends a chunk of a file, durable when it answers, apart from any open transaction. A chunk
     * that the file has already is left as it is. For a sealed file it is a defect, and nothing is
     * written. MUST keep a copy of the bytes.
     */
    readonly append: (
      chunk: ChunkKey & { readonly bytes: Uint8Array }
    ) => Effect.Effect<void, StorageUnavailable>
    /** A copy of a chunk's bytes, of a sealed file or of one still written; none: not there. */
    readonly chunk: (key: ChunkKey) => Effect.Effect<Option.Option<Uint8Array>, StorageUnavailable>
    /**
     * Ends a file for good within the caller's transaction. A file that has another number of chunks
     * than this, none among them, and one sealed before, are defects.
     */
    readonly seal: (file: {
      readonly file: string
      readonly chunks: number
    }) => Effect.Effect<void, StorageUnavailable>
    /**
     * Deletes at most `limit` chunks of a file, the first of them before the others, and with the last
     * the file itself; answers how many. From the first on the file can no longer be sealed. Where
     * `sparesSealed` is true it MUST delete nothing of a file that is sealed. Apart from any open
     * transaction.
     */
    readonly discard: (deletion: {
      readonly file: string
      readonly limit: number
      readonly sparesSealed?: boolean
    }) => Effect.Effect<number, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/Blobs") {}
