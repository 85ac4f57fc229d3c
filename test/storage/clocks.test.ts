/** Hosts whose clocks are an hour apart work one queue: only the database's clock counts. */
import { WorkQueue, RateWindow } from "@bursar/engine-core/ports"
import { storageChecks, TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import { Clock, Context, Effect, Exit, Layer, ManagedRuntime } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { wrongBy } from "../engine/clocks.ts"

const HOUR_MILLIS = 3_600_000

/** Each call comes from another host: from one that is fast by an hour, then from one that is slow. */
const fromWrongHosts = <I, S extends object>(
  port: Context.Key<I, S>,
  all: Context.Context<Memory.Storage>
): Context.Context<Memory.Storage> => {
  let calls = 0
  const wrongly = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.Clock, (clock) =>
      Effect.provideService(
        effect,
        Clock.Clock,
        wrongBy(clock, calls++ % 2 === 0 ? HOUR_MILLIS : -HOUR_MILLIS)
      )
    )
  const sound = Context.getUnsafe(all as Context.Context<I>, port)
  const spoiled = Object.fromEntries(
    Object.entries(sound).map(([name, member]: [string, unknown]) => [
      name,
      typeof member !== "function" || name === "wakes"
        ? member
        : (...given: ReadonlyArray<unknown>) => wrongly(Reflect.apply(member, sound, given))
    ])
  )
  return Context.merge(all, Context.make(port, spoiled as S) as Context.Context<never>)
}

const on = <E>(layer: Layer.Layer<Memory.Storage, E>) =>
  ManagedRuntime.make(
    Layer.effectContext(
      Effect.map(Layer.build(layer), (all) =>
        fromWrongHosts(RateWindow, fromWrongHosts(WorkQueue, all))
      )
    )
  )

const timed = storageChecks.filter(({ port }) => port === "WorkQueue" || port === "RateWindow")

describe("hosts whose clocks are an hour fast and an hour slow", () => {
  const postgres = on(TestDatabase.layer)
  const memory = on(Memory.layer)
  afterAll(() => Promise.all([postgres.dispose(), memory.dispose()]))

  for (const check of timed) {
    it(`never break a promise of ${check.port}: it ${check.name}`, () =>
      postgres.runPromise(Effect.scoped(check.run)))
  }

  // The guard of the others: a store that does count by its caller's clock is noticed.
  for (const beginning of ["gives an item to another when its lease", "does not lease an item"]) {
    it(`never are not noticed where the store counts by the caller's clock: ${beginning}`, async () => {
      const checks = timed.filter(({ name }) => name.startsWith(beginning))
      expect(checks).toHaveLength(1)
      for (const check of checks) {
        expect(Exit.isFailure(await memory.runPromiseExit(Effect.scoped(check.run)))).toBe(true)
      }
    })
  }
})
