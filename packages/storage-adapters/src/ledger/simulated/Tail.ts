/**
 * Tail of the update stream from an offset: matches in order, and checkpoints over quiet stretches.
 */
import { Offset } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Clock, Duration, Effect, Option, Stream } from "effect"
import * as Core from "./Core.ts"
import type { LedgerError } from "./LedgerError.ts"
import type { Range } from "./SimStore.ts"

export interface Source<A> {
  readonly end: () => Offset.Offset
  readonly pruned: () => Offset.Offset
  readonly moved: () => Effect.Effect<void>
  /** Returns the matches in the range, and the offset up to which it was read. */
  readonly read: (
    range: Range
  ) => Effect.Effect<
    { readonly matched: ReadonlyArray<A>; readonly readTo: Offset.Offset },
    LedgerError
  >
  readonly checkpointAfter: Duration.Duration
}

interface Query {
  readonly after: Offset.Offset
  readonly through: Option.Option<Offset.Offset>
}

interface Position {
  readonly at: Offset.Offset
  /** Last offset that was sent to the reader. */
  readonly reportedTo: Offset.Offset
  /** Instant in milliseconds at which the reader was last sent anything. */
  readonly silentSince: number
}

const pageSize = 256

const checkpoint = (offset: Offset.Offset): Ledger.Checkpoint => ({
  _tag: "Checkpoint",
  offset,
  recordTime: Option.none()
})

type Step<A> = readonly [ReadonlyArray<A | Ledger.Checkpoint>, Option.Option<Position>]

export const follow = <A extends { readonly offset: Offset.Offset }>(
  source: Source<A>,
  query: Query
): Stream.Stream<A | Ledger.Checkpoint, LedgerError> => {
  const through = Option.getOrNull(query.through)

  const step = (position: Position): Effect.Effect<Step<A>, LedgerError> =>
    Effect.suspend((): Effect.Effect<Step<A>, LedgerError> => {
      const end = through === null ? source.end() : Offset.min(through, source.end())
      // Subscribed together with the read of the end, so that no change in between is missed.
      const moved = source.moved()
      const { at, reportedTo } = position
      if (at < source.pruned()) return Effect.fail(Core.pruned(source.pruned()))
      if (at < end) return advance(position, end)
      if (through !== null && at >= through) {
        return Effect.succeed([reportedTo < at ? [checkpoint(at)] : [], Option.none()])
      }
      return reportedTo < at
        ? remind(position, moved)
        : Effect.as(moved, [[], Option.some(position)])
    })

  const advance = (position: Position, end: Offset.Offset): Effect.Effect<Step<A>, LedgerError> =>
    Effect.gen(function* () {
      const { matched, readTo } = yield* source.read({
        after: position.at,
        through: end,
        limit: pageSize
      })
      const now = yield* Clock.currentTimeMillis
      const last = matched.at(-1)
      const reportedTo = last?.offset ?? position.reportedTo
      const silentSince = last === undefined ? (position.silentSince ?? now) : now
      return [matched, Option.some({ at: readTo, reportedTo, silentSince })]
    })

  /** Waits for a new end, at most until the next checkpoint is due. */
  const remind = (position: Position, moved: Effect.Effect<void>): Effect.Effect<Step<A>> =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const due = position.silentSince + Duration.toMillis(source.checkpointAfter)
      const more =
        due > now ? yield* Effect.timeoutOption(moved, Duration.millis(due - now)) : Option.none()
      if (Option.isSome(more)) return [[], Option.some(position)]
      const { at } = position
      return [[checkpoint(at)], Option.some({ at, reportedTo: at, silentSince: now })]
    })

  return Stream.unwrap(
    Effect.gen(function* () {
      if (query.after < source.pruned()) return yield* Core.pruned(source.pruned())
      if (Offset.max(query.after, through ?? query.after) > source.end()) {
        return yield* Core.afterEnd(source.end())
      }
      const silentSince = yield* Clock.currentTimeMillis
      return Stream.paginate({ at: query.after, reportedTo: query.after, silentSince }, step)
    })
  )
}
