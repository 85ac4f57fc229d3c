/** Pipeline of synchronous steps over a stream: a step turns each slice of input into output at once. */
import { StatementSource } from "@bursar/engine-core/ports"
import { Array as Arrays, Effect, Stream } from "effect"

/** One stage of a reader, with the state that it keeps between slices. Throws a `StatementFault`. */
export interface Step<in I, out O> {
  readonly write: (input: I) => ReadonlyArray<O>
  readonly end: () => ReadonlyArray<O>
}

const isFault = (cause: unknown): cause is StatementSource.StatementFault =>
  cause instanceof StatementSource.StatementMalformed ||
  cause instanceof StatementSource.StatementRefused ||
  cause instanceof StatementSource.StatementCharset ||
  cause instanceof StatementSource.StatementTooLong

/**
 * Runs a step over a slice. Parsers call back, so a fault within a step is thrown; it becomes the
 * failure of the stream here, and whatever else is thrown stays a defect.
 */
const attempt = <A>(step: () => A): Effect.Effect<A, StatementSource.StatementFault> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(step())
    } catch (cause) {
      return isFault(cause) ? Effect.fail(cause) : Effect.die(cause)
    }
  })

/** Runs a stream through a step that is made anew for each run, and yields after each slice. */
export const run = <I, O, E, R>(
  source: Stream.Stream<I, E, R>,
  make: () => Step<I, O>
): Stream.Stream<O, StatementSource.StatementFault | E, R> =>
  Stream.unwrap(
    Effect.map(attempt(make), (step) =>
      source.pipe(
        Stream.mapEffect((input) =>
          Effect.andThen(
            Effect.yieldNow,
            attempt(() => step.write(input))
          )
        ),
        Stream.concat(Stream.fromEffect(attempt(() => step.end()))),
        flattened
      )
    )
  )

/**
 * Flattens a stream of arrays. `Stream.flattenIterable` would make a stream with a scope of each of
 * them; in measurements the collection of young objects then took several times as long.
 */
const flattened = <A, E, R>(self: Stream.Stream<ReadonlyArray<A>, E, R>): Stream.Stream<A, E, R> =>
  self.pipe(Stream.filter(Arrays.isReadonlyArrayNonEmpty), Stream.flattenArray)

/** Joins two steps into one. */
export const joined = <I, M, O>(first: Step<I, M>, second: Step<M, O>): Step<I, O> => ({
  write: (input) => first.write(input).flatMap((slice) => second.write(slice)),
  end: () => [...first.end().flatMap((slice) => second.write(slice)), ...second.end()]
})

/** Largest number of bytes that one turn of a reader takes, so that others are answered between. */
const sliceBytes = 16_384

/** Cuts the pieces of a stream of bytes into slices. */
export const sliced = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Uint8Array, E, R> =>
  bytes.pipe(
    Stream.map((piece) =>
      Array.from({ length: Math.ceil(piece.length / sliceBytes) }, (_, index) =>
        piece.subarray(index * sliceBytes, (index + 1) * sliceBytes)
      )
    ),
    flattened
  )
