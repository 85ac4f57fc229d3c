/**
 * Lapse of undecided actions, in a deployment that sets a time for it
 * (docs/contract/four-eyes.md#lapse).
 */
import { EventQueries, Records, Workers } from "@bursar/engine-core"
import { WorkQueue } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ClockQueue from "#core/records/ClockQueue.ts"
import { approvals } from "#core/writes/Approval.ts"
import * as Calls from "../engine/calls.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"

const olga = Calls.person("olga", "operator")
const ann = Calls.person("ann", "approver")

const make = (key: string) =>
  Effect.map(
    Calls.submit(Toys.double, olga, {
      params: { counterId: `c-${key}` },
      body: '{"by":1}',
      key
    }),
    (answer) => String(Calls.field(answer, "actionKey"))
  )

const turns = Workers.runOnce("schedules")

const lapsedEvents = Effect.flatMap(EventQueries.EventQueries, (feed) =>
  Effect.map(
    feed.page({ caller: olga, params: { type: ["approval.lapsed"] }, limit: 1000 }),
    ({ value }) => value.map(({ resourceId, payload }) => ({ resourceId, payload }))
  )
)

const lapsed = (key: string) => ({
  resourceId: `c-${key}`,
  payload: { state: "lapsed", kind: "instrument.record", makerRole: "operator" }
})

const hour = 3_600_000
const engine = (approvalExpiry: number | null = hour) =>
  Effect.provide(world({ operations: Toys.toys, settings: { approvalExpiry } }))

describe("an action whose time is over", () => {
  // Switched off to see it red: that a record opened is set down for the clock; the task in Engine.ts.
  it.effect("never is announced by nobody, or by every turn anew", () =>
    Effect.gen(function* () {
      yield* turns
      const first = yield* make("1")
      yield* TestClock.adjust("30 minutes")
      const second = yield* make("2")
      yield* turns
      assert.deepStrictEqual(yield* lapsedEvents, [])
      yield* TestClock.adjust("30 minutes")
      for (let at = 0; at < 3; at++) {
        yield* turns
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(yield* lapsedEvents, [lapsed("1")])
      yield* TestClock.adjust("1 hour")
      yield* Effect.all([turns, turns, turns], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* lapsedEvents, [lapsed("1"), lapsed("2")])
      for (const action of [first, second]) {
        assert.strictEqual(yield* Calls.slug(Calls.approve(action, ann)), "approval-decided")
      }
    }).pipe(engine())
  )

  it.effect("never is announced as lapsed though it was decided in time", () =>
    Effect.gen(function* () {
      yield* turns
      yield* Calls.approve(yield* make("1"), ann)
      yield* Calls.reject(yield* make("2"), ann)
      yield* Calls.settle
      yield* TestClock.adjust("2 hours")
      yield* turns
      assert.deepStrictEqual(yield* lapsedEvents, [])
      // Nor does it stay in the queue, to be looked at again for ever.
      const { waiting, leased } = yield* (yield* WorkQueue).depth(ClockQueue.queue)
      assert.deepStrictEqual([waiting, leased], [0, 0])
    }).pipe(engine())
  )

  // Switched off to see it red: that `look` goes by the engine's clock.
  it.effect("never is announced before its time because the store's clock runs ahead", () =>
    Effect.gen(function* () {
      yield* turns
      const action = yield* make("1")
      const work = yield* WorkQueue
      const itemId = ClockQueue.itemId("approval", action, 1)
      yield* work.settle({ queue: ClockQueue.queue, itemIds: [itemId] })
      const item = { queue: ClockQueue.queue, itemId, resource: itemId, payload: "", delay: 0 }
      yield* work.enqueue([item])
      yield* TestClock.adjust("59 minutes")
      yield* turns
      assert.deepStrictEqual(yield* lapsedEvents, [])
      yield* TestClock.adjust("1 minute")
      yield* turns
      assert.deepStrictEqual(yield* lapsedEvents, [lapsed("1")])
    }).pipe(engine())
  )

  it.effect("is kept as it is shown: one more version, and the same record", () =>
    Effect.gen(function* () {
      yield* turns
      const action = yield* make("1")
      yield* TestClock.adjust("2 hours")
      const records = yield* Records
      const shown = yield* records.get(approvals, action)
      yield* turns
      const kept = yield* records.get(approvals, action)
      assert.strictEqual(kept.version, shown.version + 1)
      const same = { version: 0, updatedAt: 0 }
      assert.deepStrictEqual({ ...kept, ...same }, { ...shown, ...same })
    }).pipe(engine())
  )

  // Switched off to see it red: the repeat in `clock`.
  it.effect("never waits another minute behind a hundred others", () =>
    Effect.gen(function* () {
      yield* turns
      yield* Effect.forEach(Array.from({ length: 150 }), (_, at) => make(String(at)))
      yield* TestClock.adjust("2 hours")
      yield* turns
      assert.strictEqual((yield* lapsedEvents).length, 150)
    }).pipe(engine())
  )
})

describe("a deployment without an end to waiting", () => {
  it.effect("lets an action lapse", () =>
    Effect.gen(function* () {
      yield* turns
      const action = yield* make("1")
      yield* TestClock.adjust("4000 days")
      yield* turns
      assert.deepStrictEqual(yield* lapsedEvents, [])
      assert.strictEqual(yield* Calls.slug(Calls.approve(action, ann)), "no refusal")
    }).pipe(engine(null))
  )
})
