/** Clock of a venue in one process: moves the time of day, and runs what falls due on the way. */
import { Engine, Workers } from "@bursar/engine-core"
import { Duration, Instant } from "@bursar/engine-core/kernel"
import { Clock, Context, Duration as Span, Effect, Layer } from "effect"
import { type InstantInput, instantOf, type SettableClock } from "./SettableClock.ts"
import { type WalletError, Wallets } from "./Wallets.ts"

/** A length of time: ISO 8601, such as `P1M` or `PT24H`, or in Effect's form, such as `2 hours`. */
export type LengthOfTime = `P${string}` | Span.Input

/** Clock of a venue in memory, which a program sets. */
export class VenueClock extends Context.Service<
  VenueClock,
  {
    /** Time of day of engine, ledger and wallets alike. */
    readonly now: Effect.Effect<Instant.Instant>
    /**
     * Moves the time of day to an instant, or to the midnight of a date in UTC, and runs what falls due
     * until then. Time passes at once but for the last ten minutes, in which the scheduler, which looks
     * once a minute, has its turns as a running engine gives them. An instant before now is a defect.
     */
    readonly to: (at: InstantInput) => Effect.Effect<void, WalletError>
    /** Moves the time of day forward by a length of time, as `to` does. */
    readonly by: (length: LengthOfTime) => Effect.Effect<void, WalletError>
    /** Moves the time of day alone: nothing that falls due runs before `runDue`, or another move. */
    readonly set: (at: InstantInput) => Effect.Effect<void>
    /**
     * Runs what is due now until nothing is left: scheduled tasks, clock moves and timely writes, the
     * engine's queues, and the duties of the wallets that keep one.
     */
    readonly runDue: Effect.Effect<void, WalletError>
  }
>()("@bursar/storage-adapters/venue/VenueClock") {}

/** Largest number of rounds until nothing is due; more are a defect. */
const roundsMax = 1_000

/** Last part of a move, in which the scheduler has its turns, and the time between them. */
const watched = Duration.of("PT10M")
const turn = Duration.of("PT1M")

/** Layer of the clock whose time of day the engine, the ledger and the wallets have. */
export const layer = (
  settable: SettableClock
): Layer.Layer<VenueClock, never, Engine.Engine | Workers.Workers | Wallets> =>
  Layer.effect(
    VenueClock,
    Effect.gen(function* () {
      const { settle } = yield* Engine.Engine
      const scheduler = yield* Workers.runnerOf("schedules")
      const wallets = yield* Wallets
      // The scheduler queues its tasks at its first turn, from which their intervals count.
      yield* Effect.orDie(scheduler.runOnce)
      const now = Effect.provideService(Instant.now, Clock.Clock, settable.clock)
      const runDue = Effect.gen(function* () {
        for (let round = 0; round < roundsMax; round++) {
          yield* scheduler.runOnce
          yield* settle
          if ((yield* wallets.work) === 0) return
        }
        return yield* Effect.die(new Error("the venue does not come to rest"))
      })
      const set = (at: InstantInput) => Effect.sync(() => settable.set(instantOf(at)))
      const to = Effect.fnUntraced(function* (at: InstantInput) {
        const target = instantOf(at)
        let next = Instant.max(yield* now, Instant.subtract(target, watched))
        while (Instant.isBefore(next, target)) {
          yield* set(next)
          yield* runDue
          next = Instant.add(next, turn)
        }
        yield* set(target)
        yield* runDue
      })
      const by = (length: LengthOfTime) =>
        Effect.flatMap(now, (from) => to(Instant.add(from, lengthOf(length))))
      return VenueClock.of({ now, to, by, set, runDue })
    })
  )

const lengthOf = (length: LengthOfTime): Duration.Duration =>
  typeof length === "string" && length.startsWith("P")
    ? Duration.of(length)
    : Duration.fromNanos(Span.toNanosUnsafe(Span.fromInputUnsafe(length as Span.Input)))
