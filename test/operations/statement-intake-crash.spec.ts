/** Instances that die while they take a statement in, at each call to the store: it is recorded once. */
import { Engine, Records } from "@bursar/engine-core"
import { Date } from "@bursar/engine-core/kernel"
import { Blobs, Bulk, Feed, Keys, StatementSource, WorkQueue } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { externalStatements } from "#core/statements/external-statement/ExternalStatement.ts"
import { StageSweeper } from "#core/statements/external-statement/IntakeRunner.ts"
import * as StageSteps from "#core/statements/external-statement/StageSteps.ts"
import * as Calls from "../engine/calls.ts"
import { ports } from "../engine/world.ts"
import * as Intakes from "./intakes.ts"
import * as Story from "./story.ts"

interface Death {
  /** Number of the call, from 1. */
  readonly at: number
  readonly side: "before" | "after"
}

/** Files that any engine of the test began to write. */
const files = new Set<string>()

/** An engine that dies at a call to the store: none of its calls is made from then on. */
const engineOf = (death?: Death) => {
  const dead = Deferred.makeUnsafe<void>()
  let calls = 0
  const gone = Effect.andThen(Deferred.succeed(dead, undefined), Effect.interrupt)
  const dying = (effect: Effect.Effect<unknown, unknown, unknown>) =>
    Effect.suspend(() => {
      if (Deferred.isDoneUnsafe(dead)) return Effect.interrupt
      calls += 1
      if (calls !== death?.at) return effect
      return death.side === "before" ? gone : Effect.andThen(effect, gone)
    })
  const counted = <S extends object>(service: S): S =>
    new Proxy(service, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== "function") return member
        return (...given: ReadonlyArray<unknown>) => {
          if (name === "append" && typeof given[0] === "object" && given[0] !== null) {
            if ("file" in given[0]) files.add(String(given[0].file))
          }
          const answer: unknown = Reflect.apply(member, target, given)
          return Effect.isEffect(answer) ? dying(answer) : answer
        }
      }
    })
  const storage = Layer.mergeAll(
    Layer.effect(Blobs, Effect.map(Blobs, counted)),
    Layer.effect(Bulk, Effect.map(Bulk, counted)),
    Layer.effect(Feed, Effect.map(Feed, counted)),
    Layer.effect(Keys, Effect.map(Keys, counted)),
    Layer.effect(WorkQueue, Effect.map(WorkQueue, counted))
  )
  const reader = Layer.succeed(StatementSource.StatementSource, Intakes.reader)
  const engine = Layer.fresh(Engine.layer.pipe(Layer.provide(Layer.merge(storage, reader))))
  return { engine, calls: () => calls }
}

/** Everything that is asked of an engine that does not die. */
const alive = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(effect.pipe(Effect.provide(engineOf().engine)))

const received = Effect.gen(function* () {
  const feed = yield* Feed
  const { events } = yield* feed.read({ order: "asc", limit: 1_000 })
  return events.filter(({ type }) => type === "statement.received").length
})

const settings = {
  ...Intakes.sealing,
  statementSources: [Intakes.source()]
}

describe("an instance that takes a statement in", () => {
  it.effect.each(["before", "after"] as const)(
    "never leaves two of it, none, or a stage, whichever call it dies at (%s the call)",
    (side) =>
      Effect.gen(function* () {
        yield* alive(
          Effect.gen(function* () {
            yield* Story.recorded(yield* Story.cast)
            yield* TestClock.setTime(Date.epochDay(Date.of("2026-07-02")) * 86_400_000)
          })
        )
        files.clear()
        const note = "x".repeat(1_100_000)
        const lines = [{ account: "h1", quantity: "10.5" }]
        let calls = Number.POSITIVE_INFINITY
        let times = 0
        for (let at = 0; at <= calls; at++, times++) {
          const businessDate = Date.addDays(Date.of("2020-01-01"), times)
          const bytes = Intakes.file({ businessDate, lines, note })
          const key = `key-${at}`
          // The first one lives, and says how many calls there are to die at.
          const life = engineOf({ at: at === 0 ? Number.POSITIVE_INFINITY : at, side })
          const died = Effect.scoped(
            Intakes.receive(bytes, { key }).pipe(Effect.provide(life.engine))
          )
          yield* Effect.exit(died)
          if (at === 0) calls = life.calls()
          yield* alive(
            Effect.gen(function* () {
              const again = yield* Intakes.receive(bytes, { key })
              const caller = Calls.person("felix", "feed")
              const other = yield* Intakes.receive(bytes, { key: `felix-${at}`, caller })
              assert.deepEqual([other.id, other.replayed], [again.id, true], `at ${at}`)
              yield* TestClock.adjust("61 minutes")
              const sweeper = yield* StageSweeper
              yield* Effect.repeat(sweeper.runOnce, { while: (count) => count > 0 })
              const work = yield* WorkQueue
              const { leased, waiting } = yield* work.depth(StageSteps.queue)
              assert.deepEqual([waiting, leased], [0, 0], `at ${at}`)
              const records = yield* Records
              const stored = yield* records.list(externalStatements, { limit: 1_000 })
              assert.strictEqual(stored.length, times + 1, `at ${at}`)
              assert.strictEqual(yield* received, times + 1, `at ${at}`)
              const ids = new Set(
                stored.map(({ record }) => StageSteps.fileOf(record.externalStatementId))
              )
              const blobs = yield* Blobs
              for (const file of files) {
                const chunk = yield* blobs.chunk({ file, chunk: 1 })
                assert.strictEqual(Option.isSome(chunk), ids.has(file), `at ${at}: ${file}`)
              }
            })
          )
        }
        assert.isAtLeast(calls, 12)
      }).pipe(Effect.provide(ports({ settings })))
  )
})
