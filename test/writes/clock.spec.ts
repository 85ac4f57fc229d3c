/**
 * Clock of the engine: events of states that the clock ends, and writes that no caller asks for.
 */
import { EventQueries, Records, Timely, Workers } from "@bursar/engine-core"
import { type Collection, Instant, PlainNumber } from "@bursar/engine-core/kernel"
import { Ledger, ProjectionLog, WorkQueue } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ClockQueue from "#core/records/ClockQueue.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Killable from "../engine/killable.ts"
import * as Notes from "../engine/ledger-toys.ts"
import { timer, type Timer, timers } from "../engine/timers.ts"
import * as Toys from "../engine/toys.ts"
import { ports, world, type WorldOptions } from "../engine/world.ts"

const auditor = Calls.person("aud", "auditor")
const turns = Workers.runOnce("schedules")

/** The tasks are set, and have had their first turn. */
const begun = Effect.gen(function* () {
  yield* turns
  yield* minutes(1)
  yield* turns
})

const minutes = (count: number) => TestClock.adjust(count * 60_000)

/** Records that ring after so many minutes and stop after so many. */
const set = Effect.fnUntraced(function* (
  timerId: string,
  rings: number,
  stops: number,
  collection: Collection.Collection<
    typeof Timer.Type,
    { readonly on: "ring" | "stop" | "touch" }
  > = timers
) {
  const records = yield* Records
  const now = yield* Instant.now
  const from = Instant.toEpochMillis(now)
  const act = { cause: { by: "request" as const, requestId: "r" }, now }
  const made = timer(timerId, from + rings * 60_000, from + stops * 60_000)
  yield* records.transact(records.open(collection, made, act))
})

const touch = Effect.fnUntraced(function* (timerId: string, collection = timers) {
  const records = yield* Records
  const act = { cause: { by: "request" as const, requestId: "r" }, now: yield* Instant.now }
  yield* records.transact(
    Effect.flatMap(records.get(collection, timerId), (self) =>
      records.append(collection, self, { on: "touch" }, act)
    )
  )
})

/** Events of timers in the feed. */
const timerEvents = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const { value } = yield* feed.page({
    caller: auditor,
    params: { type: ["hold.released"] },
    limit: 1000
  })
  return value.map(({ payload, resourceId }) => {
    const { on } = payload as unknown as { readonly on: string }
    return `${resourceId} ${on}`
  })
})

const waiting = Effect.flatMap(WorkQueue, (work) =>
  Effect.map(work.depth(ClockQueue.queue), ({ leased, waiting }) => leased + waiting)
)

const opened = Effect.flatMap(Records, (records) =>
  Effect.map(records.list(operations, { limit: 1000 }), (rows) => rows.map(({ record }) => record))
)

/**
 * Counts timers that have stopped, unless they were touched; a timer called `zero` counts nothing.
 */
const counting = Timely.define({
  name: "count-stopped",
  doc: "Counts a timer that rang, when it is to stop and nobody has touched it.",
  collection: timers,
  operation: Toys.single,
  at: ({ state, stopsAt, touched }) => (touched === 0 && state !== "set" ? stopsAt : undefined),
  request: ({ timerId }) => ({
    counterId: timerId,
    by: PlainNumber.of(timerId === "zero" ? "0" : "1")
  })
})

const engine = (options: WorldOptions = {}) =>
  Effect.provide(world({ operations: Toys.toys, clocked: [timers], ...options }))

describe("a clock state", () => {
  it.effect("moves no updatedAt, and no keeper of changes learns of it", () =>
    Effect.gen(function* () {
      yield* turns
      yield* set("t", 1, 90)
      yield* minutes(2)
      const since = yield* Instant.now
      const records = yield* Records
      const changed = Effect.map(
        records.list(timers, { updatedFrom: since, limit: 10 }),
        (rows) => rows.length
      )
      assert.strictEqual((yield* records.get(timers, "t")).state, "rung")
      assert.strictEqual(yield* changed, 0)
      yield* turns
      assert.strictEqual(yield* changed, 1)
      assert.deepStrictEqual(yield* timerEvents, ["t ring"])
    }).pipe(engine())
  )

  it.effect("never is announced twice because a command came between it and its notice", () =>
    Effect.gen(function* () {
      yield* turns
      yield* set("t", 1, 90)
      yield* minutes(2)
      yield* touch("t")
      yield* turns
      yield* turns
      assert.deepStrictEqual(yield* timerEvents, ["t ring", "t touch"])
    }).pipe(engine())
  )

  // Switched off to see it red: `waitMax`.
  it.effect("never is forgotten where it lies further ahead than one wait", () =>
    Effect.gen(function* () {
      yield* begun
      yield* set("t", 100 * 24 * 60, 101 * 24 * 60)
      for (let day = 0; day < 100; day += 20) {
        yield* minutes(20 * 24 * 60)
        yield* turns
      }
      assert.deepStrictEqual(yield* timerEvents, ["t ring"])
      yield* minutes(24 * 60)
      yield* turns
      assert.deepStrictEqual(yield* timerEvents, ["t ring", "t stop"])
      yield* turns
      assert.strictEqual(yield* waiting, 0)
    }).pipe(engine())
  )

  // Switched off to see it red: `isObsolete`.
  it.effect("never keeps an item in the queue for every change that moved its instant", () => {
    const snoozed: typeof timers = {
      ...timers,
      evolve: (self, fact) => {
        const next = timers.evolve(self, fact)
        if (fact.on !== "touch") return next
        const ringsAt = Instant.toEpochMillis(self.ringsAt) + 10 * 60_000
        return { ...next, ringsAt: Instant.fromEpochMillis(ringsAt) }
      }
    }
    return Effect.gen(function* () {
      yield* begun
      yield* set("t", 5, 200, snoozed)
      for (let change = 0; change < 9; change++) {
        yield* minutes(1)
        yield* touch("t", snoozed)
      }
      assert.strictEqual(yield* waiting, 10)
      // All earlier instants have passed, and the last one has not.
      yield* minutes(80)
      yield* turns
      assert.strictEqual(yield* waiting, 1)
      yield* minutes(10)
      yield* turns
      const events = (yield* timerEvents).filter((event) => event !== "t touch")
      assert.deepStrictEqual(events, ["t ring"])
      yield* minutes(120)
      yield* turns
      assert.strictEqual(yield* waiting, 0)
    }).pipe(engine({ clocked: [snoozed] }))
  })

  it.effect("never waits for another turn behind hundreds of others", () =>
    Effect.gen(function* () {
      yield* turns
      for (let at = 0; at < 350; at++) yield* set(`t${at}`, 1, 9_000)
      yield* minutes(2)
      yield* turns
      assert.strictEqual((yield* timerEvents).length, 350)
    }).pipe(engine())
  )

  // Switched off to see it red: that `one` goes on after a failure.
  it.effect("of a record that cannot be moved does not keep the others from theirs", () => {
    const broken = {
      ...timers,
      announce: (self: typeof Timer.Type, fact?: { readonly on: "ring" | "stop" | "touch" }) => {
        if (self.timerId === "bad" && fact !== undefined) throw new Error("a bug")
        return timers.announce(self, fact)
      }
    }
    return Effect.gen(function* () {
      yield* begun
      yield* set("bad", 1, 90)
      yield* set("good", 1, 90)
      yield* minutes(2)
      yield* turns
      assert.deepStrictEqual(yield* timerEvents, ["good ring"])
      // The item stays in the queue, for a version that can run it.
      assert.strictEqual(yield* waiting, 2)
    }).pipe(engine({ clocked: [broken] }))
  })

  // Switched off to see it red: that an item of an unknown kind is left in the queue.
  it.effect("never is lost once a version that does not know the kind of record has looked", () =>
    Effect.gen(function* () {
      const version = (clocked: ReadonlyArray<Collection.Collection>) =>
        Killable.make({ operations: Toys.toys, fromLedger: [], clocked }).engine
      yield* Effect.gen(function* () {
        yield* turns
        yield* set("t", 1, 9_000)
        yield* minutes(2)
        yield* turns
        assert.deepStrictEqual(yield* timerEvents, [])
      }).pipe(Effect.provide(version([])), Effect.scoped)
      yield* minutes(61)
      yield* Effect.gen(function* () {
        yield* turns
        assert.deepStrictEqual(yield* timerEvents, ["t ring"])
      }).pipe(Effect.provide(version([timers])), Effect.scoped)
    }).pipe(Effect.provide(ports()))
  )
})

describe("an upgrade", () => {
  const forgotten = (version: number) =>
    Effect.flatMap(WorkQueue, (work) =>
      work.settle({ queue: ClockQueue.queue, itemIds: [ClockQueue.itemId("timer", "t", version)] })
    )

  // Switched off to see it red: `adopted`; that it is had again for another kind.
  it.effect("never leaves what was written before it without its clock states", () =>
    Effect.gen(function* () {
      const version = (worldOptions: Pick<WorldOptions, "clocked" | "timely">) =>
        Killable.make({ operations: Toys.toys, fromLedger: [], ...worldOptions }).engine
      yield* Effect.gen(function* () {
        yield* turns
        yield* set("t", 5, 20)
        // Deletes the queue's rows: an engine of the version before had no such queue.
        yield* forgotten(1)
        yield* minutes(2)
        yield* turns
      }).pipe(Effect.provide(version({})), Effect.scoped)
      yield* Effect.gen(function* () {
        yield* minutes(60)
        yield* turns
        yield* minutes(1)
        yield* turns
        assert.deepStrictEqual(yield* timerEvents, ["t ring", "t stop"])
        assert.deepStrictEqual(yield* opened, [])
      }).pipe(Effect.provide(version({ clocked: [timers] })), Effect.scoped)
      // Another one has a write of its own for records that wait for nothing any more.
      yield* Effect.gen(function* () {
        yield* minutes(60)
        yield* turns
        yield* minutes(1)
        yield* turns
        assert.strictEqual((yield* opened).length, 1)
      }).pipe(Effect.provide(version({ clocked: [timers], timely: [counting] })), Effect.scoped)
    }).pipe(Effect.provide(ports()))
  )
})

describe("a clock state of a record that the ledger keeps", () => {
  const kept: typeof timers = { ...timers, keptBy: "ledger" }
  const ledgered = engine({
    operations: Toys.toys,
    fromLedger: Notes.fromLedger,
    clocked: [kept]
  })
  const update = Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    yield* ledger.submit({
      commandId: `past:${Instant.sortable(yield* Instant.now)}`,
      commands: [Notes.proposal(ledger.venue, { noteId: "n", registrar: ledger.venue })],
      dedup: { _tag: "Since", offset: yield* ledger.ledgerEnd }
    })
  })

  // Switched off to see it red: `unprojected`, each of its two conditions.
  it.effect("never is announced before every update that could precede it has been read", () =>
    Effect.gen(function* () {
      yield* turns
      yield* Calls.catchUp
      yield* set("t", 10, 900, kept)
      yield* minutes(9)
      // The update is on the ledger before the timer rings, and is read after that.
      yield* update
      yield* TestClock.adjust("90 seconds")
      yield* turns
      assert.deepStrictEqual(yield* timerEvents, [], "within the ledger's tolerance of time")
      yield* minutes(1)
      yield* turns
      assert.deepStrictEqual(yield* timerEvents, [], "while an update is unread")
      // A ledger that goes on does not keep it waiting for what comes later.
      yield* Calls.catchUp
      yield* minutes(1)
      yield* update
      yield* turns
      assert.deepStrictEqual(yield* timerEvents, ["t ring"])
    }).pipe(ledgered)
  )

  it.effect("never is held back on a ledger that nothing happens on", () =>
    Effect.gen(function* () {
      yield* turns
      yield* Calls.catchUp
      yield* set("t", 10, 900, kept)
      yield* minutes(12)
      yield* turns
      assert.deepStrictEqual(yield* timerEvents, ["t ring"])
      const { head } = yield* ProjectionLog
      assert.strictEqual((yield* head).ledgerTime, null)
    }).pipe(ledgered)
  )
})

describe("a write that nobody asks for", () => {
  const timely = { timely: [counting] }

  it.effect("never is opened early, twice, for whom it does not concern, or by somebody", () =>
    Effect.gen(function* () {
      yield* turns
      yield* set("t", 1, 10)
      yield* set("touched", 1, 10)
      yield* minutes(2)
      yield* touch("touched")
      yield* minutes(7)
      yield* turns
      yield* Calls.settle
      assert.deepStrictEqual(yield* opened, [])
      yield* minutes(1)
      for (let n = 0; n < 5; n++) {
        yield* Effect.all([turns, turns], { concurrency: "unbounded" })
        yield* Calls.settle
        yield* minutes(5)
      }
      const [one, ...more] = yield* opened
      assert.deepStrictEqual(more, [])
      assert.deepInclude(one, {
        kind: "instrument.pause",
        state: "succeeded",
        actor: "engine",
        actorName: null,
        actorEmail: null,
        role: null,
        maker: null
      })
      assert.strictEqual(one?.resource.id, "t")
    }).pipe(engine(timely))
  )

  // Switched off to see it red: `times` in the key; that it is asked whether the operation failed.
  it.effect("is tried again after a refusal, and never again and again at once", () =>
    Effect.gen(function* () {
      yield* begun
      yield* set("zero", 1, 10)
      yield* minutes(2)
      yield* turns
      // From now on its stop and the write wait for the same instant.
      yield* minutes(8)
      const counts: Array<number> = []
      for (let at = 0; at < 60; at++) {
        yield* turns
        yield* Calls.settle
        counts.push((yield* opened).length)
        yield* minutes(1)
      }
      const first = counts.map((count) => counts.indexOf(count))
      // After one minute it is seen to have failed; then after 2, 4, 8 and 16 more.
      assert.deepStrictEqual([...new Set(first)].length, counts.at(-1), "one at a time")
      assert.isAtLeast(counts.at(-1) ?? 0, 4)
      assert.isAtMost(counts.at(-1) ?? 0, 6)
      for (const { problem, state } of yield* opened) {
        assert.strictEqual(state, "failed")
        assert.strictEqual(problem?.check, "something-to-add")
      }
      // A person sees the failures and adds what is missing.
      yield* touch("zero")
      const before = (yield* opened).length
      for (let at = 0; at < 30; at++) {
        yield* minutes(60)
        yield* turns
        yield* Calls.settle
      }
      assert.strictEqual((yield* opened).length, before)
      assert.strictEqual(yield* waiting, 0)
    }).pipe(engine(timely))
  )
})

describe("several writes of one record", () => {
  /** A write of a timer whose operation fails, or succeeds where it counts something. */
  const writing = (
    name: string,
    by: string,
    at: (self: typeof Timer.Type) => Instant.Instant | undefined
  ) =>
    Timely.define({
      name,
      doc: "Counts a timer under a name of its own.",
      collection: timers,
      operation: Toys.single,
      at,
      request: ({ timerId }) => ({ counterId: `${timerId}-${name}`, by: PlainNumber.of(by) })
    })
  const openedFor = (name: string) =>
    Effect.map(opened, (all) => all.filter(({ resource }) => resource.id === `t-${name}`).length)
  const passes = (count: number) =>
    Effect.gen(function* () {
      for (let minute = 0; minute < count; minute++) {
        yield* minutes(1)
        yield* turns
        yield* Calls.settle
      }
    })

  it.effect("are counted and paused each by itself, while all of them are due", () => {
    const ringing = writing("ringing", "0", ({ ringsAt }) => ringsAt)
    const stopping = writing("stopping", "0", ({ stopsAt }) => stopsAt)
    return Effect.gen(function* () {
      yield* begun
      yield* set("t", 1, 20)
      yield* passes(80)
      // Opened again after 2, 4, 8, 16 and 32 minutes.
      assert.strictEqual(yield* openedFor("ringing"), 6)
      assert.strictEqual(yield* openedFor("stopping"), 5)
    }).pipe(engine({ timely: [ringing, stopping] }))
  })

  it.effect(
    "never wait for the pause of another one, where the record comes to them meanwhile",
    () => {
      const ringing = writing("ringing", "0", ({ ringsAt }) => ringsAt)
      const touched = writing("touched", "1", ({ ringsAt, touched }) =>
        touched === 0
          ? undefined
          : Instant.fromEpochMillis(Instant.toEpochMillis(ringsAt) + 21_600_000)
      )
      return Effect.gen(function* () {
        yield* begun
        yield* set("t", 1, 9_000)
        yield* passes(300)
        // The failing write pauses for more than four hours by now.
        yield* touch("t")
        yield* passes(63)
        assert.strictEqual(yield* openedFor("touched"), 1)
        const before = yield* openedFor("ringing")
        yield* passes(60)
        assert.strictEqual(yield* openedFor("ringing"), before)
      }).pipe(engine({ timely: [ringing, touched] }))
    }
  )
})

describe("whatever call an instance dies at", () => {
  const declared = {
    operations: Toys.toys,
    fromLedger: [],
    clocked: [timers],
    timely: [counting]
  }
  /** One instance looks and dies; another looks until nothing is left. */
  const lives = (death: Killable.Death) =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* turns
          for (const id of ["a", "b", "c"]) yield* set(id, 1, 1)
        }).pipe(Effect.provide(Killable.make(declared).engine))
      )
      yield* minutes(2)
      const life = Killable.make({ ...declared, death })
      yield* Effect.exit(Effect.scoped(turns.pipe(Effect.provide(life.engine))))
      yield* minutes(2)
      return yield* Effect.gen(function* () {
        for (let n = 0; n < 3; n++) {
          yield* turns
          yield* Calls.settle
          yield* minutes(2)
        }
        const all = yield* opened
        assert.deepStrictEqual((yield* timerEvents).toSorted(), [
          "a ring",
          "a stop",
          "b ring",
          "b stop",
          "c ring",
          "c stop"
        ])
        assert.deepStrictEqual(all.map(({ resource }) => resource.id).toSorted(), ["a", "b", "c"])
        return life.calls()
      }).pipe(Effect.provide(Killable.make(declared).engine), Effect.scoped)
    }).pipe(Effect.provide(ports()))

  it.effect.each(["before", "after"] as const)(
    "never loses a notice or notes it twice, nor forgets a write or opens it twice (%s the call)",
    (side) =>
      Effect.gen(function* () {
        const calls = yield* lives({ at: Number.POSITIVE_INFINITY, side })
        for (let at = 1; at <= calls; at++) yield* lives({ at, side })
        assert.isAtLeast(calls, 5)
      })
  )
})
