/** Background fibers of the host: forked when it starts, stopped gracefully when it ends. */
import { Cause, Context, Data, Deferred, Duration, Effect, Exit, Fiber, Layer } from "effect"

/** A background effect, which runs until it is interrupted. */
export interface BackgroundTask<E, R> {
  readonly name: string
  readonly run: Effect.Effect<unknown, E, R>
}

/** A background effect has ended by itself, which stops the host. */
export class BackgroundEnded extends Data.TaggedError("BackgroundEnded")<{
  readonly name: string
  readonly detail: string
}> {
  override get message(): string {
    return `${this.name} ended: ${this.detail}`
  }
}

/** Work of a host beside its calls. */
export class Background extends Context.Service<
  Background,
  {
    /** Fails when anything in the background ends by itself: the host must not go on without it. */
    readonly ended: Effect.Effect<never, BackgroundEnded>
  }
>()("@bursar/http-host/Background") {}

/** The engine gives running work 20 seconds to finish; what is not finished is left for recovery. */
const stopWithin = Duration.seconds(25)

/** Runs work beside the calls for as long as the host is up. */
export const layer = <E, R>(
  running: ReadonlyArray<BackgroundTask<E, R>>
): Layer.Layer<Background, never, R> =>
  Layer.effect(
    Background,
    Effect.gen(function* () {
      const ended = yield* Deferred.make<never, BackgroundEnded>()
      for (const { name, run } of running) {
        const fiber = yield* run.pipe(
          Effect.annotateLogs({ background: name }),
          Effect.onExit((exit) => Deferred.fail(ended, endedBy(name, exit))),
          // Not a child of the layer: it is stopped below, in its own time.
          Effect.forkDetach
        )
        yield* Effect.addFinalizer(() => stop(name, fiber))
      }
      return { ended: Deferred.await(ended) }
    })
  )

const endedBy = (name: string, exit: Exit.Exit<unknown, unknown>): BackgroundEnded =>
  new BackgroundEnded({
    name,
    detail: Exit.isSuccess(exit) ? "it returned" : Cause.pretty(exit.cause)
  })

const stop = (name: string, fiber: Fiber.Fiber<unknown, unknown>): Effect.Effect<void> =>
  Fiber.interrupt(fiber).pipe(
    Effect.timeoutOrElse({
      duration: stopWithin,
      orElse: () => Effect.logWarning(`${name} did not stop in time; its work is left for recovery`)
    })
  )
