/**
 * Group commit of one database file: transactions commit without waiting for the disk, and wait
 * together for the next flush of the write-ahead log. No commit is answered, and no row of it is shown,
 * before that flush, so that a crash of the machine loses only what nobody has seen.
 */
import type { StorageUnavailable } from "@bursar/engine-core/ports"
import { Deferred, Effect } from "effect"
import * as Faults from "./Faults.ts"

export interface Flushes {
  /** Waits until all that had been committed when this was called, by any process, is on disk. */
  readonly settle: Effect.Effect<void, StorageUnavailable>
}

export const make = ({
  version,
  flush
}: {
  /** Number that changes with every commit of any connection but the one that is asked. */
  readonly version: () => number
  /** Flushes the write-ahead log to disk. */
  readonly flush: () => Promise<void>
}): Flushes => {
  type Waiting = Deferred.Deferred<void, StorageUnavailable>
  let settledVersion: number | undefined
  let isRunning = false
  /** A caller during a flush may have committed after it began, and waits for the next one. */
  let next: Waiting | undefined

  const flushOnce: Effect.Effect<void, StorageUnavailable> = Effect.suspend(() => {
    const before = version()
    return Effect.catch(
      Effect.tryPromise({ try: flush, catch: (error) => error }),
      Faults.refused
    ).pipe(
      Effect.map(() => {
        settledVersion = before
      })
    )
  })

  const flushOn: Effect.Effect<void> = Effect.suspend(() => {
    const waiting = next
    next = undefined
    if (waiting === undefined) {
      isRunning = false
      return Effect.void
    }
    return Effect.exit(flushOnce).pipe(
      Effect.flatMap((exit) => Deferred.done(waiting, exit)),
      Effect.andThen(flushOn)
    )
  })

  return {
    settle: Effect.suspend(() => {
      if (version() === settledVersion) return Effect.void
      const waiting = next ?? Deferred.makeUnsafe<void, StorageUnavailable>()
      next = waiting
      if (isRunning) return Deferred.await(waiting)
      isRunning = true
      // Detached: a caller that is interrupted stops no flush that others wait for.
      return Effect.andThen(
        Effect.forkDetach(flushOn, { startImmediately: true }),
        Deferred.await(waiting)
      )
    })
  }
}
