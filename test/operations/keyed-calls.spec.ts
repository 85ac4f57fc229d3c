/**
 * Every kind of call under an idempotency key: a repeat is answered with what the first made, another
 * call is refused, and of several at once one is first (docs/contract/idempotency.md#replays).
 */
import { type Engine, FourEyes, Records } from "@bursar/engine-core"
import { Date, PlainJson } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { externalStatements } from "#core/statements/external-statement/ExternalStatement.ts"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Toys from "../engine/toys.ts"
import { type ports, world } from "../engine/world.ts"
import * as Intakes from "./intakes.ts"
import * as Reconciling from "./reconciling.ts"
import * as Story from "./story.ts"

type World = Engine.Services | Layer.Success<ReturnType<typeof ports>>

/** Record that a call names in its answer, and whether an earlier call had made it. */
interface Named {
  readonly target: string
  readonly replayed: boolean
}

interface KeyedCase {
  readonly engine: Layer.Layer<World>
  /** Prepares two calls of this kind, of different content. */
  readonly calls: Effect.Effect<
    readonly [
      first: (key: string) => Effect.Effect<Named, unknown, World>,
      other: (key: string) => Effect.Effect<Named, unknown, World>
    ],
    unknown,
    World
  >
  /** Number of things that calls of this kind have made. */
  readonly made: Effect.Effect<number, unknown, World>
}

const olga = Calls.person("olga", "operator")
const ann = Calls.person("ann", "approver")
const bodies = ['{"by":1}', '{"by":2}'] as const
const params = { counterId: "c" }
const toys = world({ operations: Toys.toys })

const written = (answer: { readonly location: string; readonly replayed: boolean }): Named => ({
  target: answer.location,
  replayed: answer.replayed
})

const pair = <A, B>([first, other]: readonly [A, A], make: (value: A) => B) =>
  [make(first), make(other)] as const

const listed = Effect.flatMap(Records, (records) => records.list(approvals, { limit: 100 }))

/** Two actions that await three people. */
const actions = Effect.forEach(bodies, (body) =>
  Effect.map(Calls.submit(Toys.triple, olga, { params, body }), (answer) =>
    String(Calls.field(answer, "actionKey"))
  )
)

const actionCalls = (
  call: (actionKey: string, key: string) => Effect.Effect<Named, unknown, World>
) =>
  Effect.map(actions, ([first = "", other = ""]) =>
    pair([first, other], (actionKey) => (key: string) => call(actionKey, key))
  )

const recorded = Effect.gen(function* () {
  const cast = yield* Story.cast
  for (const instrumentId of ["fund-a", "fund-b", "fund-c"]) {
    yield* Story.recorded(cast, { instrumentId })
  }
})

const runCalls = (first: ReadonlyArray<string>, other: ReadonlyArray<string>) =>
  Effect.as(
    recorded,
    pair(
      [first, other],
      (instrumentIds) => (key: string) =>
        Effect.map(Reconciling.run(JSON.stringify({ scope: { instrumentIds } }), { key }), written)
    )
  )

const runsMade = Effect.map(Reconciling.allRuns, ({ length }) => length)

const cases: Readonly<Record<string, KeyedCase>> = {
  "a write of one person": {
    engine: toys,
    calls: Effect.succeed(
      pair(
        bodies,
        (body) => (key: string) =>
          Effect.map(Calls.submit(Toys.single, olga, { params, body, key }), written)
      )
    ),
    made: Effect.flatMap(Records, (records) =>
      Effect.map(records.list(operations, { limit: 100 }), ({ length }) => length)
    )
  },
  "a write that others sign": {
    engine: toys,
    calls: Effect.succeed(
      pair(
        bodies,
        (body) => (key: string) =>
          Effect.map(Calls.submit(Toys.double, olga, { params, body, key }), written)
      )
    ),
    made: Effect.map(listed, ({ length }) => length)
  },
  "a signature": {
    engine: toys,
    calls: actionCalls((actionKey, key) => Effect.map(Calls.approve(actionKey, ann, key), written)),
    made: Effect.map(listed, (rows) =>
      rows.reduce((sum, { record }) => sum + record.signatures.length, 0)
    )
  },
  "a rejection": {
    engine: toys,
    calls: actionCalls((actionKey, key) =>
      Effect.map(Calls.reject(actionKey, ann, key), ({ replayed, value }) => ({
        target: PlainJson.stringify(value),
        replayed
      }))
    ),
    made: Effect.map(
      listed,
      (rows) => rows.filter(({ record }) => record.rejectedAt !== null).length
    )
  },
  "a write of the engine's own": {
    engine: toys,
    calls: Effect.succeed(
      pair(
        bodies,
        (body) => (key: string) =>
          Effect.flatMap(FourEyes, (door) => {
            const request = Result.getOrThrow(
              PlainJson.parse(body.replace("{", '{"counterId":"c",'))
            )
            return Effect.map(door.open(Toys.single, request, key), written)
          })
      )
    ),
    made: Effect.flatMap(Records, (records) =>
      Effect.map(records.list(operations, { limit: 100 }), ({ length }) => length)
    )
  },
  "a reconciliation run of one instrument": {
    engine: world(),
    calls: runCalls(["fund-a"], ["fund-b"]),
    made: runsMade
  },
  "a reconciliation run of several instruments": {
    engine: world(),
    calls: runCalls(["fund-a", "fund-b"], ["fund-b", "fund-c"]),
    made: runsMade
  },
  "a file of a statement": {
    engine: Intakes.engine({}),
    calls: Effect.gen(function* () {
      yield* Story.recorded(yield* Story.cast)
      yield* TestClock.setTime(Date.epochDay(Date.of("2026-07-02")) * 86_400_000 + 36_000_000)
      return pair(["2020-01-02", "2020-01-03"] as const, (businessDate) => (key: string) => {
        const lines = [{ account: "h1", quantity: "10.5" }]
        return Effect.map(Intakes.receive(Intakes.file({ lines, businessDate }), { key }), written)
      })
    }),
    made: Effect.flatMap(Records, (records) =>
      Effect.map(records.list(externalStatements, { limit: 100 }), ({ length }) => length)
    )
  }
}

/** Number of calls at once. */
const atOnce = 5

describe.each(Object.entries(cases))("%s", (_, { calls, engine, made }) => {
  it.effect(
    "under one key is made once, in turn and at once; another one under it is refused",
    () =>
      Effect.gen(function* () {
        const [first, other] = yield* calls
        const before = yield* made

        const racing = yield* Effect.forkChild(
          Effect.all(
            Array.from({ length: atOnce }, () => first("k")),
            { concurrency: "unbounded" }
          )
        )
        yield* Effect.repeat(TestClock.adjust("50 millis"), { times: 60 })
        const answers = yield* Fiber.join(racing)
        assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
        assert.strictEqual(new Set(answers.map(({ target }) => target)).size, 1)
        assert.strictEqual((yield* made) - before, 1)

        const repeated = yield* first("k")
        assert.deepStrictEqual(repeated, { target: answers[0]?.target ?? "", replayed: true })
        assert.strictEqual(yield* Calls.slug(other("k")), "idempotency-key-reused")
        assert.strictEqual((yield* made) - before, 1)

        assert.isFalse((yield* other("l")).replayed)
        assert.strictEqual(yield* Calls.slug(first("l")), "idempotency-key-reused")
      }).pipe(Effect.provide(engine))
  )
})
