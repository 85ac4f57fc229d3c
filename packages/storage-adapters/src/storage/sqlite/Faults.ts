/** Maps errors of SQLite: locked by another connection, temporarily unavailable, or a defect. */
import { RefusedWrites, StorageUnavailable } from "@bursar/engine-core/ports"
import { Data, Effect } from "effect"

/** Another connection, of this process or another one, has the lock. */
export class Locked extends Data.TaggedError("Locked") {}

/** Primary result codes; a code's last byte is its primary one. */
const CODES = { busy: 5, locked: 6, readOnly: 8, inputOutput: 10, full: 13, cannotOpen: 14 }

/** Codes of a file that takes no writes: full or broken, or read-only. */
const REFUSED: ReadonlySet<number> = new Set([CODES.readOnly, CODES.inputOutput, CODES.full])

const RETRY_SECONDS = 1

const codeOf = (error: unknown): number | undefined => {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return undefined
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined
}

/** Runs calls of SQLite; fails where waiting may help, dies on any other error. */
export const attempt = <A>(call: () => A): Effect.Effect<A, Locked | StorageUnavailable> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(call())
    } catch (error) {
      return judge(error)
    }
  })

const judge = (error: unknown): Effect.Effect<never, Locked | StorageUnavailable> => {
  const code = codeOf(error)
  if (code === CODES.busy || code === CODES.locked) return Effect.fail(new Locked())
  if (code === undefined || !(REFUSED.has(code) || code === CODES.cannotOpen)) {
    return Effect.die(error)
  }
  return refused(error)
}

/** Notes that the store refused a write, with the reason of SQLite or the file system. */
export const refused = (error: unknown): Effect.Effect<never, StorageUnavailable> =>
  Effect.flatMap(RefusedWrites.Current, ({ note }) => {
    const reason = error instanceof Error ? error.message : String(error)
    note(reason)
    return Effect.andThen(
      Effect.logError("the database file refused what was written", reason),
      Effect.fail(new StorageUnavailable({ detail: reason, retryAfter: RETRY_SECONDS }))
    )
  })

/** Longest pause between two attempts at a lock. */
const PAUSE_MAX = 20

/**
 * Repeats an effect while another connection has the lock, for so many milliseconds at most. It waits
 * by the machine's timers, whatever clock the program has.
 */
export const untilUnlocked = <A, E, R>(
  effect: Effect.Effect<A, E | Locked, R>,
  millis: number
): Effect.Effect<A, Exclude<E, Locked> | StorageUnavailable, R> => {
  const from = performance.now()
  const again = (
    pauseMillis: number
  ): Effect.Effect<A, Exclude<E, Locked> | StorageUnavailable, R> =>
    Effect.catchIf(
      effect,
      (error): error is Extract<E | Locked, Locked> => error instanceof Locked,
      () =>
        performance.now() - from > millis
          ? Effect.fail(
              new StorageUnavailable({
                detail: `another process has held the lock of the database file for ${millis} ms`,
                retryAfter: RETRY_SECONDS
              })
            )
          : Effect.andThen(
              pause(pauseMillis),
              Effect.suspend(() => again(Math.min(PAUSE_MAX, pauseMillis * 2)))
            )
    ) as Effect.Effect<A, Exclude<E, Locked> | StorageUnavailable, R>
  return Effect.suspend(() => again(1))
}

const pause = (millis: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })
