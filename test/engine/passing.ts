/** Lets the test's clock run while an engine works in the background. */
import { Engine } from "@bursar/engine-core"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

/** Lets other fibers run until they wait. */
export const breathe = Effect.promise(() => new Promise<void>((done) => setImmediate(done)))

/** Passes seconds, one by one at first, until `done` holds; true if it came to hold. */
export const until = <E, R>(done: Effect.Effect<boolean, E, R>, seconds: number) =>
  Effect.gen(function* () {
    for (let passed = 0; passed < seconds; ) {
      if (yield* done) return true
      const step = passed < 100 ? 1 : 15
      yield* TestClock.adjust(step * 1_000)
      yield* breathe
      yield* breathe
      passed += step
    }
    return yield* done
  })

export const seconds = (count: number) => until(Effect.succeed(false), count)

/** A graceful stop takes the time that running operations take. */
export const stop = <A, E>(fiber: Fiber.Fiber<A, E>) =>
  Effect.gen(function* () {
    const stopping = yield* Effect.forkDetach(Fiber.interrupt(fiber))
    yield* until(
      Effect.sync(() => stopping.pollUnsafe() !== undefined),
      60
    )
  })

/** The engine at work; interrupting the fiber is a graceful stop, and so is the end of the test. */
export const working = Effect.gen(function* () {
  const engine = yield* Engine.Engine
  const fiber = yield* Effect.forkScoped(engine.run)
  yield* Effect.addFinalizer(() => stop(fiber))
  return fiber
})
