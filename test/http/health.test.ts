/**
 * Readiness and liveness: a ledger that stops degrades the venue, a process that hangs is not
 * alive.
 */
import { Refusal } from "@bursar/engine-core"
import { Offset } from "@bursar/engine-core/kernel"
import { Ledger, ProjectionLog } from "@bursar/engine-core/ports"
import { Management, Readiness, ReadinessPoll } from "@bursar/http-host"
import * as Memory from "@bursar/storage-adapters/memory"
import { Clock, Duration, Effect, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "@effect/vitest"

/** A ledger of which nothing but its end is asked, and that can be stopped. */
const stoppable = () => {
  let end: number | "stopped" | "hung" = 0
  const unasked = Effect.die(new Error("this is not asked"))
  const ledger: Partial<Ledger.Ledger["Service"]> = {
    updates: () => Stream.never,
    outcome: () => Effect.succeed(Option.none()),
    submit: () => unasked,
    ledgerEnd: Effect.suspend(() =>
      end === "stopped"
        ? Effect.fail(
            new Ledger.Unreachable({ detail: "stopped", retryAfter: Duration.seconds(1) })
          )
        : end === "hung"
          ? Effect.never
          : Effect.succeed(Offset.of(end))
    )
  }
  return {
    set: (to: typeof end) => {
      end = to
    },
    layer: Layer.succeed(Ledger.Ledger, ledger as Ledger.Ledger["Service"])
  }
}

const away = Refusal.unavailable("not-ready", "away", 5)

const readinessStatus = Effect.flatMap(Readiness.Readiness, ({ current }) =>
  Effect.map(current, (now) => (now._tag === "Ready" ? now.status : now.slug))
)

describe("readiness", () => {
  it.effect("is degraded while the ledger is stopped, and up again with it", () => {
    const ledger = stoppable()
    return Effect.gen(function* () {
      expect(yield* readinessStatus).toBe("up")
      ledger.set("stopped")
      yield* TestClock.adjust("2 seconds")
      expect(yield* readinessStatus).toBe("degraded")
      yield* TestClock.adjust("1 hour")
      expect(yield* readinessStatus).toBe("degraded")
      ledger.set(0)
      yield* TestClock.adjust("2 seconds")
      expect(yield* readinessStatus).toBe("up")
    }).pipe(Effect.provide(readinessOf(ledger.layer)))
  })

  // Red without a time of its own for the ledger's answer: the whole look ran out, as if the store were away.
  it.effect("is degraded while the ledger hangs, and neither slow nor away because of it", () => {
    const ledger = stoppable()
    return Effect.gen(function* () {
      ledger.set("hung")
      yield* TestClock.adjust("1 minute")
      expect(yield* readinessStatus).toBe("degraded")
      ledger.set(0)
      yield* TestClock.adjust("4 seconds")
      expect(yield* readinessStatus).toBe("up")
    }).pipe(Effect.provide(readinessOf(ledger.layer)))
  })

  // Red when the lag is counted from when the projection last was at the very end.
  it.effect(
    "is up though the ledger is always a little ahead, and degraded when one offset waits",
    () => {
      const ledger = stoppable()
      return Effect.gen(function* () {
        const log = yield* ProjectionLog
        const { epoch } = yield* Effect.map(log.takeOver({ participant: "p" }), (head) => ({
          epoch: head.writerEpoch
        }))
        for (let offset = 1; offset <= 60; offset++) {
          ledger.set(offset)
          yield* TestClock.adjust("2 seconds")
          yield* log.advance({ epoch, from: offset - 1, to: offset, ledgerTime: null, updates: [] })
        }
        expect(yield* readinessStatus).toBe("up")
        for (let offset = 61; offset <= 100; offset++) {
          ledger.set(offset)
          yield* TestClock.adjust("2 seconds")
        }
        expect(yield* readinessStatus).toBe("degraded")
      }).pipe(Effect.provide(readinessOf(ledger.layer)))
    }
  )

  it.effect(
    "is degraded once the projection has been behind for more than a minute, not before",
    () => {
      const ledger = stoppable()
      return Effect.gen(function* () {
        ledger.set(5)
        yield* TestClock.adjust("58 seconds")
        expect(yield* readinessStatus).toBe("up")
        yield* TestClock.adjust("10 seconds")
        expect(yield* readinessStatus).toBe("degraded")
        ledger.set(0)
        yield* TestClock.adjust("2 seconds")
        expect(yield* readinessStatus).toBe("up")
      }).pipe(Effect.provide(readinessOf(ledger.layer)))
    }
  )
})

const readinessOf = (ledger: Layer.Layer<Ledger.Ledger>) =>
  Readiness.layer({ version: "1" }).pipe(
    Layer.provide(ReadinessPoll.layer),
    Layer.provide(ledger),
    Layer.provideMerge(Memory.layer)
  )

describe("the management listener", () => {
  // Red when /livez answers without looking at the beat.
  it.live("says that the process does not live when its loop has not turned for five seconds", () =>
    Effect.gen(function* () {
      let port = 0
      let now = 1_000_000
      const real = yield* Clock.Clock
      /** A clock whose sleeps never end: nothing that waits goes on. */
      const stuck: Clock.Clock = {
        ...real,
        currentTimeMillisUnsafe: () => now,
        currentTimeMillis: Effect.sync(() => now),
        sleep: () => Effect.never
      }
      const opened = (open: number) => {
        port = open
      }
      const up = Readiness.layer({ version: "1" }).pipe(
        Layer.provide(Layer.succeed(Readiness.Vital, { look: Effect.fail(away) }))
      )
      yield* Effect.forkScoped(
        Layer.launch(
          Management.layer({ host: "127.0.0.1", port: 0, opened }).pipe(
            Layer.provide(Layer.succeed(Clock.Clock, stuck)),
            Layer.provide(up)
          )
        )
      )
      yield* Effect.promise(() => expect.poll(() => port).toBeGreaterThan(0))
      const alive = Effect.promise(
        async () => (await fetch(`http://127.0.0.1:${port}/livez`)).status
      )
      expect(yield* alive).toBe(200)
      now += 4_999
      expect(yield* alive).toBe(200)
      now += 1
      expect(yield* alive).toBe(503)
    }).pipe(Effect.scoped)
  )
})
