/** Rate limits on a fake clock: every figure an answer shows is that of a reference of ten lines. */
import type { Caller, Vocabulary } from "@bursar/engine-core"
import { RateWindow, StorageUnavailable } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as Counters from "#host/middleware/Counters.ts"
import * as RateLimit from "#host/middleware/RateLimit.ts"

const caller = (
  sub: string,
  roles: ReadonlyArray<Vocabulary.Role> = ["operator"]
): Caller.Caller => ({
  sub,
  name: null,
  email: null,
  roles,
  holderId: null,
  party: null
})

const limiting = (
  rules: Partial<RateLimit.Rules>,
  window: Layer.Layer<RateWindow> = Memory.layer
) =>
  RateLimit.layer({ tenantId: "venue-1", limit: 600, window: 60_000, perRole: {}, ...rules }).pipe(
    Layer.provide(window)
  )

/** A window that notes what it is asked, and answers a turn of the event loop later. */
const slow = (onTake: (cost: Parameters<RateWindow["Service"]["take"]>[0]) => void) =>
  Layer.effect(
    RateWindow,
    Effect.map(RateWindow, (window) => ({
      ...window,
      take: (cost: Parameters<RateWindow["Service"]["take"]>[0]) =>
        Effect.suspend(() => {
          onTake(cost)
          return Effect.andThen(Effect.yieldNow, window.take(cost))
        })
    }))
  ).pipe(Layer.provide(Memory.layer))

/** A bucket of whole calls: a call is `window` parts, and each millisecond gives `limit` of them back. */
const reference = ({ limit, window }: { readonly limit: number; readonly window: number }) => {
  const full = limit * window
  let left = full
  let seen = 0
  return (now: number, cost: number, kind: "call" | "charge") => {
    left = Math.min(full, left + (now - seen) * limit)
    seen = now
    const admitted = kind === "charge" || left >= cost * window
    if (admitted) left -= cost * window
    const seconds = (parts: number) => Math.ceil(parts / (limit * 1000))
    const remaining = Math.max(0, Math.floor(left / window))
    return { admitted, remaining, reset: seconds(full - left), wait: seconds(window - left) }
  }
}

type Step =
  | { readonly does: "wait"; readonly millis: number }
  | { readonly does: "call" }
  | { readonly does: "charge"; readonly calls: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>({ does: "call" }) },
  {
    weight: 3,
    arbitrary: fc.integer({ min: 0, max: 3_000 }).map((millis): Step => ({ does: "wait", millis }))
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 30 }).map((calls): Step => ({ does: "charge", calls }))
  }
)

describe("the limit", () => {
  // Whole milliseconds a call, so that a double is exact in the reference too.
  const rules = fc.constantFrom(
    { limit: 10, window: 10_000 },
    { limit: 5, window: 60_000 },
    { limit: 1, window: 1_000 },
    { limit: 40, window: 2_000 }
  )

  it.effect("shows on every answer what the reference has left, whatever came before", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(rules, fc.array(step, { maxLength: 60 }), (rule, steps) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const { take, charge } = yield* RateLimit.RateLimit
              const expected = reference(rule)
              let now = 0
              for (const one of steps) {
                if (one.does === "wait") {
                  now += one.millis
                  yield* TestClock.adjust(one.millis)
                } else if (one.does === "charge") {
                  expected(now, one.calls, "charge")
                  yield* charge(caller("a"), one.calls)
                } else {
                  const { admitted, remaining, reset, wait } = expected(now, 1, "call")
                  const { refused, headers } = yield* take(caller("a"))
                  expect({ refused: refused !== undefined, ...headers }).toEqual({
                    refused: !admitted,
                    "x-ratelimit-limit": String(rule.limit),
                    "x-ratelimit-remaining": String(remaining),
                    "x-ratelimit-reset": String(reset)
                  })
                  if (refused !== undefined) {
                    expect(refused.details.retryAfter).toBe(wait)
                    expect(wait).toBeLessThanOrEqual(reset)
                  }
                }
              }
            }).pipe(Effect.provide([limiting(rule), TestClock.layer()]))
          )
        ),
        { numRuns: 60 }
      )
    )
  )

  /** Calls of one subject that arrive together, and the milliseconds before the next ones. */
  const bursts = fc.array(
    fc.record({
      calls: fc.integer({ min: 1, max: 12 }),
      millis: fc.integer({ min: 0, max: 9_000 })
    }),
    { maxLength: 12 }
  )

  it.effect("shows calls that share a count what the reference shows them one after another", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(rules, bursts, (rule, given) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const { take } = yield* RateLimit.RateLimit
              const expected = reference(rule)
              let now = 0
              for (const { calls, millis } of given) {
                const answers = yield* Effect.forEach(
                  Array.from({ length: calls }, () => "a"),
                  (sub) => take(caller(sub)),
                  { concurrency: "unbounded" }
                )
                for (const { refused, headers } of answers) {
                  const { admitted, remaining, reset } = expected(now, 1, "call")
                  expect([refused === undefined, headers]).toEqual([
                    admitted,
                    {
                      "x-ratelimit-limit": String(rule.limit),
                      "x-ratelimit-remaining": String(remaining),
                      "x-ratelimit-reset": String(reset)
                    }
                  ])
                }
                now += millis
                yield* TestClock.adjust(millis)
              }
            }).pipe(
              Effect.provide([
                limiting(
                  rule,
                  slow(() => {})
                ),
                TestClock.layer()
              ])
            )
          )
        ),
        { numRuns: 60 }
      )
    )
  )

  it.effect(
    "is asked for twice by many calls of one subject, and apart for another subject",
    () => {
      const takes: Array<string> = []
      return Effect.gen(function* () {
        const { take } = yield* RateLimit.RateLimit
        const subs = [...Array.from({ length: 64 }, () => "a"), "b"]
        const answers = yield* Effect.forEach(subs, (sub) => take(caller(sub)), {
          concurrency: "unbounded"
        })
        expect(answers.every(({ refused }) => refused === undefined)).toBe(true)
        expect(takes).toEqual(["venue-1/a 1", "venue-1/b 1", "venue-1/a 63"])
      }).pipe(
        Effect.provide(
          limiting(
            {},
            slow(({ subject, cost }) => takes.push(`${subject} ${cost}`))
          )
        )
      )
    }
  )

  it.effect("counts the others where the call that began the count ends early", () =>
    Effect.gen(function* () {
      const { take } = yield* RateLimit.RateLimit
      const first = yield* Effect.forkScoped(take(caller("a")), { startImmediately: true })
      const second = yield* Effect.forkScoped(take(caller("a")), { startImmediately: true })
      yield* Fiber.interrupt(first)
      expect((yield* Fiber.join(second)).headers["x-ratelimit-remaining"]).toBe("598")
    }).pipe(
      Effect.scoped,
      Effect.provide(
        limiting(
          {},
          slow(() => {})
        )
      )
    )
  )

  it.effect(
    "has room for exactly its number at once, also where it does not divide the window",
    () =>
      Effect.gen(function* () {
        for (const [limit, window] of [
          [600, 60_000],
          [7, 60_000],
          [999, 1_000],
          [1, 1]
        ] as const) {
          yield* Effect.gen(function* () {
            const { take } = yield* RateLimit.RateLimit
            let admitted = 0
            for (let i = 0; i < limit + 5; i++) {
              if ((yield* take(caller("a"))).refused === undefined) admitted++
            }
            expect([limit, admitted]).toEqual([limit, limit])
          }).pipe(Effect.provide(limiting({ limit, window })))
        }
      })
  )

  it.effect("is each subject's own", () =>
    Effect.gen(function* () {
      const { take } = yield* RateLimit.RateLimit
      expect((yield* take(caller("a"))).refused).toBeUndefined()
      expect((yield* take(caller("a"))).refused?.slug).toBe("rate-limited")
      expect((yield* take(caller("b"))).refused).toBeUndefined()
    }).pipe(Effect.provide(limiting({ limit: 1 })))
  )

  it.effect(
    "of a role counts where it is the caller's largest; a role without one has everybody's",
    () =>
      Effect.gen(function* () {
        const { take } = yield* RateLimit.RateLimit
        const limitOf = (sub: string, roles: ReadonlyArray<Vocabulary.Role>) =>
          Effect.map(take(caller(sub, roles)), ({ headers }) => headers["x-ratelimit-limit"])
        expect(yield* limitOf("a", ["app"])).toBe("6000")
        expect(yield* limitOf("b", ["operator", "app", "feed"])).toBe("6000")
        expect(yield* limitOf("c", ["feed"])).toBe("10")
        expect(yield* limitOf("d", ["feed", "operator"])).toBe("600")
        expect(yield* limitOf("e", [])).toBe("600")
      }).pipe(Effect.provide(limiting({ perRole: { app: 6000, feed: 10 } })))
  )

  it.effect("counts its refusals by the role whose limit it was", () =>
    Effect.gen(function* () {
      const counted = Metric.value(Metric.withAttributes(Counters.rateLimited, { role: "feed" }))
      const before = (yield* counted).count
      const { take } = yield* RateLimit.RateLimit
      for (let i = 0; i < 3; i++) yield* take(caller("f", ["feed"]))
      expect(Number((yield* counted).count) - Number(before)).toBe(2)
    }).pipe(Effect.provide(limiting({ limit: 1 })))
  )
})

describe("a shared count that is away", () => {
  const broken = (onTake: () => void, answer: Effect.Effect<never, StorageUnavailable>) =>
    Layer.effect(
      RateWindow,
      Effect.map(RateWindow, (window) => ({
        ...window,
        take: () => Effect.suspend(() => (onTake(), answer))
      }))
    ).pipe(Layer.provide(Memory.layer))

  const away = Effect.fail(new StorageUnavailable({ detail: "away", retryAfter: 1 }))

  it.effect("lets calls in, counted by this instance alone, and is counted itself", () =>
    Effect.gen(function* () {
      const counted = Metric.value(Counters.rateLimitAlone)
      const before = (yield* counted).count
      const { take } = yield* RateLimit.RateLimit
      const answers = yield* Effect.forEach([1, 2, 3, 4], () => take(caller("a")))
      expect(answers.map(({ refused }) => refused?.slug)).toEqual([
        undefined,
        undefined,
        undefined,
        "rate-limited"
      ])
      expect(answers[0]?.headers["x-ratelimit-remaining"]).toBe("2")
      expect(Number((yield* counted).count) - Number(before)).toBe(4)
    }).pipe(
      Effect.provide(
        limiting(
          { limit: 3 },
          broken(() => {}, away)
        )
      )
    )
  )

  it.effect("is asked again once a second, not by every call", () => {
    let takes = 0
    return Effect.gen(function* () {
      const { take } = yield* RateLimit.RateLimit
      for (let i = 0; i < 20; i++) yield* take(caller("a"))
      expect(takes).toBe(1)
      yield* TestClock.adjust("1 second")
      yield* take(caller("a"))
      expect(takes).toBe(2)
    }).pipe(
      Effect.provide(
        limiting(
          {},
          broken(() => takes++, away)
        )
      )
    )
  })

  it.effect("that does not answer is waited for no longer than a second", () =>
    Effect.gen(function* () {
      const { take } = yield* RateLimit.RateLimit
      const waiting = yield* Effect.forkChild(take(caller("a")))
      yield* TestClock.adjust("999 millis")
      expect(waiting.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 millis")
      expect(waiting.pollUnsafe()?._tag).toBe("Success")
    }).pipe(
      Effect.provide(
        limiting(
          {},
          broken(() => {}, Effect.never)
        )
      )
    )
  )
})
