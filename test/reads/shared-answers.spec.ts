/** Reads that wait at the same time share one write of the head, and none shares one begun before it. */
import { Refusal } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import type { FeedHead } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as SharedAnswers from "#core/reads/SharedAnswers.ts"
import * as UnitOfWork from "#core/records/UnitOfWork.ts"

const second = (n: number) => Instant.fromEpochMillis(n * 1_000)

/** Calls of the feed, each of which ends when the test lets it; the head's number counts them. */
const scene = Effect.gen(function* () {
  const calls: Array<{
    readonly now: Instant.Instant
    readonly end: Deferred.Deferred<void, Refusal.Unavailable>
  }> = []
  const answer = yield* SharedAnswers.make((now) =>
    Effect.gen(function* () {
      const end = yield* Deferred.make<void, Refusal.Unavailable>()
      const seq = calls.push({ now, end })
      yield* Deferred.await(end)
      return { seq } as FeedHead
    })
  )
  const ask = (at: number) => Effect.forkChild(Effect.map(answer(second(at)), ({ seq }) => seq))
  /** Until everything that can go on has. */
  const idle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })
  const call = (nth: number) => {
    const made = calls[nth]
    if (made === undefined) throw new Error(`the feed was not asked ${nth + 1} times`)
    return made.end
  }
  const end = (nth: number) => Deferred.succeed(call(nth), undefined)
  return { answer, ask, call, calls, end, idle }
})

describe("the instant that reads of the latest share", () => {
  it.effect("reads that came while a call was under way are answered by the next, together", () =>
    Effect.gen(function* () {
      const { ask, calls, end, idle } = yield* scene
      const first = yield* ask(1)
      yield* idle
      const others = [yield* ask(3), yield* ask(5), yield* ask(4)]
      yield* idle
      assert.strictEqual(calls.length, 1)
      yield* end(0)
      assert.strictEqual(yield* Fiber.join(first), 1)
      yield* idle
      assert.deepStrictEqual(
        calls.map(({ now }) => now),
        [second(1), second(5)]
      )
      yield* end(1)
      for (const other of others) assert.strictEqual(yield* Fiber.join(other), 2)
    })
  )

  it.effect("a call that failed refuses those who waited for it and none that came after", () =>
    Effect.gen(function* () {
      const { ask, call, end, idle } = yield* scene
      const refused = yield* ask(1)
      yield* idle
      const answered = yield* ask(2)
      yield* Deferred.fail(call(0), Refusal.unavailable("overloaded", "The database is away.", 1))
      assert.strictEqual((yield* Effect.flip(Fiber.join(refused))).slug, "overloaded")
      yield* idle
      yield* end(1)
      assert.strictEqual(yield* Fiber.join(answered), 2)
    })
  )

  it.effect("a defect of one call is that of its readers, and the next call is made", () =>
    Effect.gen(function* () {
      const { ask, call, end, idle } = yield* scene
      const broken = yield* ask(1)
      yield* idle
      yield* Deferred.die(call(0), new Error("no such column"))
      const exit = yield* Fiber.await(broken)
      assert.isTrue(
        exit._tag === "Failure" && exit.cause.reasons.some(({ _tag }) => _tag === "Die")
      )
      const answered = yield* ask(2)
      yield* idle
      yield* end(1)
      assert.strictEqual(yield* Fiber.join(answered), 2)
    })
  )

  it.effect("a reader that gave up takes nobody's answer with it", () =>
    Effect.gen(function* () {
      const { ask, end, idle } = yield* scene
      const gone = yield* ask(1)
      yield* idle
      const other = yield* ask(2)
      yield* Fiber.interrupt(gone)
      yield* end(0)
      yield* idle
      yield* end(1)
      assert.strictEqual(yield* Fiber.join(other), 2)
    })
  )

  it.effect("a read inside a transaction, which may hold the head itself, waits for nobody", () =>
    Effect.gen(function* () {
      const { answer, ask, calls, end, idle } = yield* scene
      yield* ask(1)
      yield* idle
      const inside = yield* Effect.forkChild(
        Effect.provideService(answer(second(2)), UnitOfWork.Current, UnitOfWork.make())
      )
      yield* idle
      assert.strictEqual(calls.length, 2)
      yield* end(1)
      assert.strictEqual((yield* Fiber.join(inside)).seq, 2)
    })
  )

  it.effect(
    "reads that wait when the engine stops, or come after, are interrupted and do not hang",
    () =>
      Effect.gen(function* () {
        const stopped = yield* Effect.scoped(
          Effect.gen(function* () {
            const { answer, idle } = yield* scene
            const running = yield* Effect.forkDetach(answer(second(1)))
            yield* idle
            const queued = yield* Effect.forkDetach(answer(second(2)))
            yield* idle
            return { running, queued, answer }
          })
        )
        const late = yield* Effect.forkDetach(stopped.answer(second(3)))
        for (const one of [stopped.running, stopped.queued, late]) {
          assert.strictEqual((yield* Fiber.await(one))._tag, "Failure")
        }
      })
  )
})
