/**
 * Kit of instances that die while they take a statement in, while they make a run, while retention marks
 * statements, and while a sweep deletes what was marked: at each call to the store and each transaction,
 * before it and after it, over storage of any kind.
 */
import { Engine, Records, Workers } from "@bursar/engine-core"
import { Date, Instant } from "@bursar/engine-core/kernel"
import {
  Atomically,
  Blobs,
  Bulk,
  Feed,
  Keys,
  StatementSource,
  WorkQueue
} from "@bursar/engine-core/ports"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { steps } from "#core/reconciliation/statement-retention/StatementRetentionSteps.ts"
import { runsUnderWay } from "#core/reconciliation/run/RunUnderWay.ts"
import {
  externalStatements,
  fileIdOf,
  ownerOf
} from "#core/statements/external-statement/ExternalStatement.ts"
import * as StageSteps from "#core/statements/external-statement/StageSteps.ts"
import * as Calls from "../engine/calls.ts"
import { isLong } from "../long-run.ts"
import * as Intakes from "./intakes.ts"
import * as Reconciling from "./reconciling.ts"
import * as Story from "./story.ts"

export interface Death {
  /** Number of the call, from 1. */
  readonly at: number
  readonly side: "before" | "after"
}

export const settings = { ...Intakes.sealing, statementSources: [Intakes.source()] }

/** Files that any engine began to write, and owners of lines. */
const files = new Set<string>()
const owners = new Set<string>()
const forget = () => {
  files.clear()
  owners.clear()
}

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
          if (name === "append" && typeof given[0] === "string") owners.add(given[0])
          const answer: unknown = Reflect.apply(member, target, given)
          return Effect.isEffect(answer) ? dying(answer) : answer
        }
      }
    })
  const storage = Layer.mergeAll(
    Layer.effect(Atomically, Effect.map(Atomically, counted)),
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

/** Runs an effect with an engine that does not die. */
const alive = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(effect.pipe(Effect.provide(engineOf().engine)))

/** Number of events of a type. */
const announced = (wanted: string) =>
  Effect.gen(function* () {
    const feed = yield* Feed
    const { events } = yield* feed.read({ order: "asc", limit: 1_000 })
    return events.filter(({ type }) => type === wanted).length
  })

const begins = alive(
  Effect.gen(function* () {
    yield* Story.recorded(yield* Story.cast)
    yield* TestClock.setTime(Date.epochDay(Date.of("2026-07-02")) * 86_400_000)
  })
)

/** Time after which an abandoned stage is swept, and the lease of a dead host has ended. */
export interface Passing {
  readonly hour: Effect.Effect<void, unknown>
}

const sweeps = Effect.flatMap(Workers.runnerOf("stages"), ({ runOnce }) =>
  Effect.repeat(runOnce, { while: (count) => count > 0 })
)

const lines = [{ account: "h1", quantity: "10.5" }]
const others = [{ account: "h2", quantity: "4" }]
/**
 * Distance of the calls at which an intake dies: every call in the long run. Otherwise every sixth on
 * either side, three apart, since the store is the same after a call and before the next.
 */
const stride = isLong ? 1 : 6
/** Two chunks of bytes. */
const note = "x".repeat(1_100_000)

/** A file of two statements, of days that no other number has. */
const fileOf = (nth: number): Uint8Array => {
  const [businessDate, next] = [2 * nth, 2 * nth + 1].map((days) =>
    Date.addDays(Date.of("2020-01-01"), days)
  )
  return Intakes.file({
    ...(businessDate === undefined ? {} : { businessDate }),
    ...{ lines, note },
    more: [{ ...(next === undefined ? {} : { businessDate: next }), lines: [...lines, ...others] }]
  })
}

/** Instances die at every call of the intake of a file, which is then handed in again under its key. */
export const intakes = Effect.fnUntraced(function* (side: Death["side"], { hour }: Passing) {
  yield* begins
  forget()
  let calls = Number.POSITIVE_INFINITY
  let times = 0
  const first = isLong || side === "before" ? 1 : 1 + stride / 2
  for (let at = 0; at <= calls; at = at === 0 ? first : at + stride, times++) {
    const bytes = fileOf(times)
    const key = `key-${at}`
    // The first run does not die, and counts the calls at which later ones die.
    const life = engineOf({ at: at === 0 ? Number.POSITIVE_INFINITY : at, side })
    yield* Effect.exit(
      Effect.scoped(Intakes.receive(bytes, { key }).pipe(Effect.provide(life.engine)))
    )
    if (at === 0) calls = life.calls()
    yield* alive(
      Effect.gen(function* () {
        const again = yield* Intakes.receive(bytes, { key })
        const caller = Calls.person("felix", "feed")
        const other = yield* Intakes.receive(bytes, { key: `felix-${at}`, caller })
        assert.deepEqual([other.id, other.replayed], [again.id, true], `at ${at}`)
        yield* hour
        yield* sweeps
        yield* demandWhole(2 * (times + 1), `at ${at}`)
        assert.strictEqual(yield* announced("statement.received"), 2 * (times + 1), `at ${at}`)
      })
    )
  }
  assert.isAtLeast(calls, 12)
})

/**
 * Instances die at every call of a run that a caller asked for, also between its commit and its
 * answer; the call is then repeated under its key, and twice.
 */
export const calledRuns = Effect.fnUntraced(function* (side: Death["side"], { hour }: Passing) {
  yield* begins
  const ends = new Set<string>()
  let calls = Number.POSITIVE_INFINITY
  for (let at = 0; at <= calls; at++) {
    const life = engineOf({ at: at === 0 ? Number.POSITIVE_INFINITY : at, side })
    const run = Reconciling.run("{}", { key: `run-${at}` })
    const answer = yield* Effect.exit(Effect.scoped(run.pipe(Effect.provide(life.engine))))
    if (at === 0) calls = life.calls()
    yield* hour
    yield* alive(
      Effect.gen(function* () {
        const records = yield* Records
        const isMade = (yield* Reconciling.allRuns).length > at
        const isUnderWay = (yield* records.list(runsUnderWay, { limit: 2 })).length > 0
        const left = isMade ? "committed" : isUnderWay ? "under way" : "nothing"
        ends.add(Exit.isSuccess(answer) ? "answered" : left)
        const again = yield* run
        // A run that the earlier call began is continued, and answered as that call's.
        assert.strictEqual(again.replayed, left !== "nothing", `at ${at}`)
        assert.strictEqual((yield* run).value.runId, again.value.runId, `at ${at}`)
        assert.strictEqual((yield* Reconciling.allRuns).length, at + 1, `at ${at}`)
        assert.strictEqual(yield* announced("reconciliation.run"), at + 1, `at ${at}`)
      })
    )
  }
  assert.isAtLeast(calls, 10)
  // After its commit only a call that was made can be the last: what follows frees the lock alone.
  const expected = ["nothing", "under way", "answered", ...(side === "after" ? ["committed"] : [])]
  assert.sameMembers([...ends], expected)
})

/** Asserts that nothing waits to be swept, and that files and lines are those of so many statements. */
const demandWhole = Effect.fnUntraced(function* (count: number, when: string) {
  const work = yield* WorkQueue
  const { leased, waiting } = yield* work.depth(StageSteps.queue)
  assert.deepEqual([waiting, leased], [0, 0], when)
  const records = yield* Records
  const rows = yield* records.list(externalStatements, { limit: 1_000 })
  const kept = rows.filter(({ record }) => record.prunedAt === undefined)
  assert.strictEqual(kept.length, count, when)
  const ids = new Set(kept.map(({ record }) => ownerOf(record)))
  const fileIds = new Set(kept.map(({ record }) => StageSteps.fileOf(fileIdOf(record))))
  const blobs = yield* Blobs
  const bulk = yield* Bulk
  for (const file of files) {
    const chunks = yield* Effect.forEach([0, 1], (chunk) => blobs.chunk({ file, chunk }))
    assert.deepEqual(
      chunks.map(Option.isSome),
      [0, 1].map(() => fileIds.has(file)),
      `${when}: ${file}`
    )
  }
  for (const owner of owners) {
    const isThere = Option.isSome(yield* bulk.count(owner))
    assert.strictEqual(isThere, ids.has(owner), `${when}: ${owner}`)
  }
})

const retains = Effect.gen(function* () {
  const records = yield* Records
  const now = yield* Instant.now
  for (const step of steps) yield* records.transactAlone(step.run({ now, after: null }))
})

/**
 * Instances die at every call of a retention step and of the sweep that follows it; another one ends
 * what they began. The newest statement alone stays, and of its file the other one goes without the bytes.
 */
export const retentions = Effect.fnUntraced(function* (side: Death["side"], { hour }: Passing) {
  yield* begins
  forget()
  const hands = (nth: number) => Intakes.receive(fileOf(nth))
  yield* alive(hands(0))
  yield* TestClock.setTime(Date.epochDay(Date.of("2037-01-01")) * 86_400_000)
  let [retention, sweep] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let at = 0; at <= Math.max(retention, sweep); at++) {
    const when = `at ${at}`
    // The statement of before is not the newest any more, and is past its period.
    yield* alive(hands(at + 1))
    yield* TestClock.adjust("4000 days")
    const death = { at: at === 0 ? Number.POSITIVE_INFINITY : at, side }
    const marking = engineOf(death)
    yield* Effect.exit(Effect.scoped(retains.pipe(Effect.provide(marking.engine))))
    yield* alive(retains)
    yield* hour
    const sweeping = engineOf(death)
    yield* Effect.exit(Effect.scoped(sweeps.pipe(Effect.provide(sweeping.engine))))
    if (at === 0) [retention, sweep] = [marking.calls(), sweeping.calls()]
    yield* hour
    yield* alive(Effect.andThen(sweeps, demandWhole(1, when)))
  }
  assert.isAtLeast(retention, 3)
  assert.isAtLeast(sweep, 8)
})
