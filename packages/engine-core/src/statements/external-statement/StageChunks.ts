/** Chunks of 1 MiB of a stream of bytes, numbered from 0. */
import { Array as Arrays, Effect, Stream } from "effect"

/** Bytes of every chunk but the last. */
export const chunkBytes = 1_048_576

interface Chunk {
  readonly chunk: number
  readonly bytes: Uint8Array
}

/** Cuts a stream of bytes into chunks, in memory that does not grow with the stream. */
export const numberedChunks = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Chunk, E, R> =>
  Stream.suspend(() => {
    let buffer = new Uint8Array(chunkBytes)
    let filled = 0
    let chunk = 0
    const take = (part: Uint8Array): ReadonlyArray<Chunk> => {
      const full: Array<Chunk> = []
      for (let from = 0; from < part.length; ) {
        const fits = Math.min(chunkBytes - filled, part.length - from)
        buffer.set(part.subarray(from, from + fits), filled)
        filled += fits
        from += fits
        if (filled === chunkBytes) {
          full.push({ chunk: chunk++, bytes: buffer })
          buffer = new Uint8Array(chunkBytes)
          filled = 0
        }
      }
      return full
    }
    const rest = Stream.fromIterableEffect(
      Effect.sync(() => (filled === 0 ? [] : [{ chunk, bytes: buffer.subarray(0, filled) }]))
    )
    return bytes.pipe(
      Stream.map(take),
      Stream.filter(Arrays.isReadonlyArrayNonEmpty),
      Stream.flattenArray,
      Stream.concat(rest)
    )
  })
