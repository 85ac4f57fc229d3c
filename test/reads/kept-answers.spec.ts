/** Cache of answers: for how long an answer is kept, for whom, and how much of it. */
import {
  type Caller,
  type Read,
  Queries,
  Records,
  Settings,
  settingsDefaults
} from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import { engine, stores } from "../engine/stores.ts"
import { timer, timers } from "../engine/timers.ts"
import * as ToyQueries from "../engine/toy-reads.ts"

const onEngine = (answersKept: number) => {
  const ports = stores[0]!.ports
  const settings = Layer.succeed(Settings, { ...settingsDefaults, answersKept })
  return Effect.provide(engine.pipe(Layer.provideMerge(Layer.merge(ports, settings))))
}
const cached = onEngine(100_000)

let made = 0
const print = (value: unknown) =>
  Effect.sync(() => {
    made += 1
    const text = JSON.stringify(value, (_, member: unknown) =>
      typeof member === "bigint" ? String(member) : member
    )
    return { bytes: new TextEncoder().encode(text), records: 1 }
  })

/** An answer's text, and whether it was made for this call. */
const answered = <E, R>(
  answer: Effect.Effect<{ readonly printed: { readonly bytes: Uint8Array } }, E, R>
) =>
  Effect.gen(function* () {
    made = 0
    const { printed } = yield* answer
    return { text: new TextDecoder().decode(printed.bytes), how: made === 0 ? "kept" : "made" }
  })

const list = (
  params: { readonly state?: ReadonlyArray<string> } = {},
  caller: Caller.Caller = ToyQueries.auditor,
  read: Read.List<never, never, object, unknown> = ToyQueries.listTimers as never
) =>
  Effect.flatMap(Queries, (queries) =>
    answered(
      queries.pagePrinted(read, {
        caller,
        params,
        point: {},
        page: { limit: 10 },
        target: `/v1/toys?${JSON.stringify(params)}`,
        print
      })
    )
  )

const act = Effect.map(Instant.now, (now) => ({
  cause: { by: "request" as const, requestId: "r" },
  now
}))

/** Opens a timer that rings after so many milliseconds, and stops as many later. */
const set = (id: string, millis: number) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = Instant.toEpochMillis(yield* Instant.now)
    yield* records.transact(
      Effect.flatMap(act, (by) =>
        records.open(timers, timer(id, now + millis, now + 2 * millis), by)
      )
    )
  })

const howOf = <E, R>(answer: Effect.Effect<{ readonly how: string }, E, R>, times: number) =>
  Effect.map(Effect.replicateEffect(answer, times), (found) => found.map(({ how }) => how))

describe("an answer is kept", () => {
  it.effect("until any record is written or deleted", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* set("a", 60_000)
      assert.deepStrictEqual(yield* howOf(list(), 3), ["made", "kept", "kept"])
      yield* set("b", 60_000)
      assert.include((yield* list()).text, `"b"`)
      assert.deepStrictEqual(yield* howOf(list(), 1), ["kept"])
      yield* records.transact(records.forget(timers, ["b"]))
      const { text, how } = yield* list()
      assert.strictEqual(how, "made")
      assert.notInclude(text, `"b"`)
    }).pipe(cached)
  )

  it.effect("until the clock moves a record that it shows", () =>
    Effect.gen(function* () {
      yield* set("a", 60_000)
      assert.include((yield* list()).text, "set 0 0")
      yield* TestClock.adjust(59_000)
      assert.strictEqual((yield* list()).how, "kept")
      yield* TestClock.adjust(1_000)
      const rung = yield* list()
      assert.strictEqual(rung.how, "made")
      assert.include(rung.text, "rung 1 0")
      assert.strictEqual((yield* list()).how, "kept")
      yield* TestClock.adjust(60_000)
      assert.include((yield* list()).text, "stopped 1 0")
    }).pipe(cached)
  )

  it.effect("at the instant of the answer before it, for less than 50 milliseconds", () =>
    Effect.gen(function* () {
      const queries = yield* Queries
      const { now: start } = yield* act
      const page = Effect.map(
        queries.pagePrinted(ToyQueries.listTimers, {
          caller: ToyQueries.auditor,
          params: {},
          point: {},
          page: { limit: 10 },
          target: "/v1/toys",
          print
        }),
        ({ now }) => Number((now - start) / 1_000_000n)
      )
      yield* set("a", 60)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* page, 1)
      yield* TestClock.adjust(48)
      assert.strictEqual(yield* page, 1)
      yield* TestClock.adjust(2)
      assert.strictEqual(yield* page, 51)
      // The timer rings, and what shows it stands for an instant of its own.
      yield* TestClock.adjust(10)
      assert.strictEqual(yield* page, 61)
      yield* TestClock.adjust(10)
      assert.strictEqual(yield* page, 61)
      yield* set("b", 60_000)
      assert.strictEqual(yield* page, 71)
    }).pipe(cached)
  )

  it.effect("at an instant of its own for who must not see that nobody has written", () =>
    Effect.gen(function* () {
      const queries = yield* Queries
      const page = queries.pagePrinted(ToyQueries.listTimers, {
        caller: { ...Calls.person("h", "investor"), holderId: "h" },
        params: {},
        point: {},
        page: { limit: 10 },
        target: "/v1/toys",
        print
      })
      yield* set("h-1", 60_000)
      const first = yield* page
      yield* TestClock.adjust(10)
      const second = yield* page
      assert.strictEqual(second.printed, first.printed)
      assert.strictEqual(second.now - first.now, 10_000_000n)
    }).pipe(cached)
  )

  it.effect("not at all where the clock may bring in a record that it does not show", () =>
    Effect.gen(function* () {
      const rung = list({ state: ["rung"] })
      yield* set("a", 60_000)
      assert.deepStrictEqual(yield* rung, { text: "[]", how: "made" })
      yield* TestClock.adjust(60_000)
      assert.include((yield* rung).text, "rung 1 0")
    }).pipe(cached)
  )

  it.effect("not at all where it says the instant at which it was judged", () =>
    Effect.gen(function* () {
      const queries = yield* Queries
      const caller = ToyQueries.auditor
      const sum = answered(
        queries.onePrinted(ToyQueries.sum, { caller, params: {}, point: {}, target: "/sum", print })
      )
      const first = yield* sum
      yield* TestClock.adjust(1_000)
      const second = yield* sum
      assert.deepStrictEqual([first.how, second.how], ["made", "made"])
      assert.notStrictEqual(first.text, second.text)
    }).pipe(cached)
  )

  it.effect("for all callers of a role that sees everything, and else for its caller alone", () =>
    Effect.gen(function* () {
      const investor = (sub: string, holderId: string) => ({
        ...Calls.person(sub, "investor"),
        holderId
      })
      yield* set("h-1", 60_000)
      yield* set("i-1", 60_000)
      const howFor = (caller: Caller.Caller) => Effect.map(list({}, caller), ({ how }) => how)
      assert.strictEqual(yield* howFor(ToyQueries.auditor), "made")
      assert.strictEqual(yield* howFor(Calls.person("other", "auditor")), "kept")
      assert.strictEqual(yield* howFor(Calls.person("olga", "operator")), "made")
      const [first, second] = [investor("h", "h"), investor("i", "i")]
      for (const [caller, own, foreign] of [
        [first, "h-1", "i-1"],
        [second, "i-1", "h-1"],
        [investor("h", "i"), "i-1", "h-1"]
      ] as const) {
        const { text, how } = yield* list({}, caller)
        assert.strictEqual(how, "made")
        assert.include(text, own)
        assert.notInclude(text, foreign)
      }
      assert.strictEqual(yield* howFor(first), "kept")
    }).pipe(cached)
  )
})

describe("a cache of answers", () => {
  const notes = list({}, ToyQueries.auditor, ToyQueries.listNotes as never)
  const both = Effect.all([howOf(list(), 2), howOf(notes, 2), howOf(list(), 1)])

  it.effect("of no bytes keeps nothing", () =>
    Effect.map(both, (how) =>
      assert.deepStrictEqual(how, [["made", "made"], ["made", "made"], ["made"]])
    ).pipe(onEngine(0))
  )

  it.effect("of one answer keeps the one that was asked for last", () =>
    Effect.map(both, (how) =>
      assert.deepStrictEqual(how, [["made", "kept"], ["made", "kept"], ["made"]])
    ).pipe(onEngine(600))
  )
})
