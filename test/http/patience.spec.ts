/**
 * Readiness on a busy machine: what is silent is told from what has answered and has not been read
 * yet, whatever the clock says.
 */
import { Refusal } from "@bursar/engine-core"
import { Offset } from "@bursar/engine-core/kernel"
import { Readiness } from "@bursar/http-host"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Duration, Effect, Layer } from "effect"

const vitals: Readiness.Vitals = {
  projectionOffset: Offset.of(3),
  ledgerEnd: Offset.of(5),
  oldestQueuedSeconds: 0,
  lagSeconds: 0,
  migrationsPending: false
}

/** One turn of the event loop, in which the process reads what has arrived. */
const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/**
 * Clock of a process that is always late: whatever was waited for is over at the next turn of the
 * loop, as after a turn that took longer than any timeout.
 */
const late = (): Clock.Clock => {
  let now = 0
  return {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
    monotonicTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    sleep: (duration) =>
      Effect.tap(turn, () =>
        Effect.sync(() => {
          now += Duration.toMillis(duration)
        })
      )
  }
}

/** The state that the host gives itself with its first look at its store. */
const stateAfter = (look: Effect.Effect<Readiness.Vitals, Refusal.Unavailable>) =>
  Effect.flatMap(Readiness.Readiness, ({ current }) =>
    Effect.map(current, (seen) => (seen._tag === "Ready" ? seen.status : seen.slug))
  ).pipe(
    Effect.provide(
      Readiness.layer({ version: "1" }).pipe(
        Layer.provide(Layer.succeed(Readiness.Vital, { look })),
        Layer.provide(Layer.succeed(Clock.Clock, late()))
      )
    )
  )

describe("readiness of a process whose loop is blocked between two turns", () => {
  for (const turns of [1, 2, 5]) {
    // Red with a timeout that the clock alone ends: it fires before what has arrived is read.
    it.live(`is up where the store's answer takes ${turns} turns to be read`, () =>
      Effect.gen(function* () {
        const look = Effect.as(Effect.repeat(turn, { times: turns }), vitals)
        expect(yield* stateAfter(look)).toBe("up")
      })
    )
  }

  it.live("is not ready where the store never answers, or says that it is away", () =>
    Effect.gen(function* () {
      expect(yield* stateAfter(Effect.never)).toBe("not-ready")
      const away = Refusal.unavailable("not-ready", "away", 5)
      expect(yield* stateAfter(Effect.fail(away))).toBe("not-ready")
    })
  )
})
