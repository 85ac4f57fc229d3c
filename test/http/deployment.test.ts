/** Deployment around the interface: readiness, the management port, background tasks. */
import { Refusal } from "@bursar/engine-core"
import { Offset } from "@bursar/engine-core/kernel"
import { Background, Management, Metrics, Readiness } from "@bursar/http-host"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Metric, Scope } from "effect"
import { TestClock } from "effect/testing"

const vitals: Readiness.Vitals = {
  projectionOffset: Offset.of(3),
  ledgerEnd: Offset.of(5),
  oldestQueuedSeconds: 0,
  lagSeconds: 0,
  migrationsPending: false
}

const away = Refusal.unavailable("not-ready", "away", 5)

const readiness = (look: Effect.Effect<Readiness.Vitals, Refusal.Unavailable>) =>
  Readiness.layer({ version: "1" }).pipe(Layer.provide(Layer.succeed(Readiness.Vital, { look })))

const state = Effect.flatMap(Readiness.Readiness, ({ current }) =>
  Effect.map(current, (seen) => (seen._tag === "Ready" ? seen.status : seen.slug))
)

describe("readiness", () => {
  const judged: ReadonlyArray<readonly [string, Partial<Readiness.Vitals>, string]> = [
    ["all is well", {}, "up"],
    ["the ledger is away", { ledgerEnd: null }, "degraded"],
    ["an operation waits 61 s", { oldestQueuedSeconds: 61 }, "degraded"],
    ["the projection is 61 s behind", { lagSeconds: 61 }, "degraded"],
    ["migrations are pending", { migrationsPending: true }, "not-ready"]
  ]
  for (const [what, change, expected] of judged) {
    it.effect(`is ${expected} when ${what}`, () =>
      Effect.map(
        Effect.provide(state, readiness(Effect.succeed({ ...vitals, ...change }))),
        (seen) => expect(seen).toBe(expected)
      )
    )
  }

  const absences: ReadonlyArray<readonly [string, Effect.Effect<never, Refusal.Unavailable>]> = [
    ["refuses every look", Effect.fail(away)],
    ["says nothing any more", Effect.never]
  ]
  for (const [what, without] of absences) {
    // The clock stands between two looks when the store goes: the later the look, the later it is known.
    it.effect(
      `is not-ready one second after the store ${what}, and up one second after it is back`,
      () => {
        let looks = 0
        let look: Effect.Effect<Readiness.Vitals, Refusal.Unavailable> = Effect.succeed(vitals)
        const counted = Effect.suspend(() => {
          looks += 1
          return look
        })
        return Effect.gen(function* () {
          for (const millis of [0, 1, 100, 249, 250, 333]) {
            yield* TestClock.adjust(millis)
            expect(yield* state).toBe("up")
            look = without
            yield* TestClock.adjust("1 second")
            expect(yield* state).toBe("not-ready")
            look = Effect.succeed(vitals)
            yield* TestClock.adjust("1 second")
            expect(yield* state).toBe("up")
          }
          // Readiness is cached: a request for it does not query the stores.
          const before = looks
          for (let attempt = 0; attempt < 1_000; attempt++) yield* state
          expect(looks).toBe(before)
        }).pipe(Effect.provide(readiness(counted)))
      }
    )
  }

  it.effect(
    "is not-ready from the moment that a write is refused, before anybody has looked",
    () => {
      let refused = false
      let looks = 0
      const vital = Layer.succeed(Readiness.Vital, {
        look: Effect.suspend(() => {
          looks += 1
          return Effect.succeed(vitals)
        }),
        refusesWrites: () => refused
      })
      return Effect.gen(function* () {
        expect(yield* state).toBe("up")
        const before = looks
        refused = true
        expect([yield* state, looks]).toEqual(["not-ready", before])
        refused = false
        expect(yield* state).toBe("up")
      }).pipe(Effect.provide(Readiness.layer({ version: "1" }).pipe(Layer.provide(vital))))
    }
  )

  it.effect("never waits for a store that does not answer", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const building = yield* Effect.forkChild(Layer.buildWithScope(readiness(Effect.never), scope))
      yield* TestClock.adjust("2 seconds")
      const context = yield* Fiber.join(building)
      expect(yield* Effect.provideContext(state, context)).toBe("not-ready")
      yield* Scope.close(scope, Exit.void)
    })
  )

  it.effect("ends when the host is told to stop", () =>
    Effect.gen(function* () {
      const { stopping } = yield* Readiness.Readiness
      yield* stopping
      expect(yield* state).toBe("not-ready")
    }).pipe(Effect.provide(readiness(Effect.succeed(vitals))))
  )
})

describe("the management listener", () => {
  it.live("says apart whether the process lives and whether it is ready", () =>
    Effect.gen(function* () {
      let port = 0
      const layer = Management.layer({
        host: "127.0.0.1",
        port: 0,
        opened: (open) => {
          port = open
        }
      }).pipe(Layer.provide(readiness(Effect.fail(away))))
      yield* Layer.build(layer)
      const ask = (path: string) =>
        Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}${path}`)).status)
      expect(yield* ask("/livez")).toBe(200)
      expect(yield* ask("/readyz")).toBe(503)
      expect(yield* ask("/v1/health")).toBe(404)
      const taken = Management.layer({ host: "127.0.0.1", port }).pipe(
        Layer.provide(readiness(Effect.succeed(vitals)))
      )
      const failed = yield* Effect.flip(Effect.scoped(Layer.build(taken)))
      expect(failed.message).toContain(`127.0.0.1:${port}`)
    }).pipe(Effect.scoped)
  )
})

describe("the figures of an instance that nobody has called", () => {
  // A counter must exist before its first increment, which a scrape would otherwise miss.
  it.live("are all there with 0, under each value of their labels", () =>
    Effect.gen(function* () {
      let port = 0
      const opened = (open: number) => {
        port = open
      }
      yield* Layer.build(
        Management.layer({ host: "127.0.0.1", port: 0, opened }).pipe(
          Layer.provide(readiness(Effect.succeed(vitals)))
        )
      )
      const text = yield* Effect.promise(async () =>
        (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      )
      const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
      expect(lines.filter((line) => !line.endsWith(" 0"))).toEqual([])
      for (const { labels, metric } of Metrics.measured) {
        const name = Metrics.prometheusName(metric)
        const own = lines.filter((line) => line.startsWith(name))
        expect([name, own.length > 0]).toEqual([name, true])
        // The labels of a request's duration are known when the request ends.
        if (metric.id === "http.server.request.duration") continue
        for (const [label, values] of Object.entries(labels)) {
          for (const value of values) {
            const isExported = own.some((line) => line.includes(`${label}="${value}"`))
            expect([name, value, isExported]).toEqual([name, value, true])
          }
        }
      }
    }).pipe(Effect.scoped, Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})

describe("the background", () => {
  it.effect("is interrupted when the host ends, and given the time it needs to finish", () =>
    Effect.gen(function* () {
      const finished: Array<string> = []
      const run = Effect.never.pipe(
        Effect.onInterrupt(() =>
          Effect.andThen(
            Effect.sleep("10 seconds"),
            Effect.sync(() => finished.push("orderly"))
          )
        )
      )
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Background.layer([{ name: "work", run }]), scope)
      yield* TestClock.adjust("1 second")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("9 seconds")
      expect([finished, closing.pollUnsafe()]).toEqual([[], undefined])
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      expect(finished).toEqual(["orderly"])
    })
  )

  it.effect("that does not stop is left behind after its time", () =>
    Effect.gen(function* () {
      const stuck = yield* Deferred.make<void>()
      const run = Effect.never.pipe(Effect.onInterrupt(() => Deferred.await(stuck)))
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Background.layer([{ name: "stuck", run }]), scope)
      yield* TestClock.adjust("1 second")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("26 seconds")
      yield* Fiber.join(closing)
      yield* Deferred.succeed(stuck, undefined)
    })
  )

  it.effect("that ends by itself is told to whoever runs the host", () =>
    Effect.gen(function* () {
      const { ended } = yield* Background.Background
      const failure = yield* Effect.flip(ended)
      expect([failure.name, failure.detail]).toEqual(["work", expect.stringContaining("broken")])
    }).pipe(
      Effect.provide(Background.layer([{ name: "work", run: Effect.die(new Error("broken")) }]))
    )
  )
})
