/** Transactions of records: all or nothing, once, in order, and never an invalid record. */
import { Records } from "@bursar/engine-core"
import { type Collection, Instant } from "@bursar/engine-core/kernel"
import { Documents, FactLog, Feed, VersionMoved, WorkQueue } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Columns from "#core/records/Columns.ts"
import * as RecordsLayer from "#core/records/layer.ts"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Calls from "../engine/calls.ts"
import { timer, timers } from "../engine/timers.ts"
import * as Toys from "../engine/toys.ts"

const store = () =>
  Effect.provide(
    RecordsLayer.layer.pipe(Layer.provide(NodeCrypto.layerCrypto), Layer.provideMerge(Memory.layer))
  )

const act = Effect.map(Instant.now, (now) => ({
  cause: { by: "request" as const, requestId: "req-1" },
  now
}))

/** Rows that the stores hold of these collections. */
const everything = (names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const documents = yield* Documents
    const facts = yield* FactLog
    const feed = yield* Feed
    const queue = yield* WorkQueue
    const versionsOf = (collection: string) =>
      Effect.all([
        Stream.runCollect(
          documents.stream({ collection, pin: { by: "latest" }, where: [], direction: "asc" })
        ),
        facts.scan({ collection, limit: 1_000 })
      ])
    return {
      kept: yield* Effect.forEach(names, versionsOf),
      events: yield* feed.read({ order: "asc", limit: 1_000 }),
      head: yield* feed.head,
      work: yield* queue.depth("operations")
    }
  })
const whole = everything(["timer", "counter"])

const announcement = {
  type: "hold.released" as const,
  resourceKind: "hold" as const,
  resourceId: "h",
  instrumentId: null,
  party: null,
  holderIds: [],
  payload: {}
}
const item = { queue: "operations", itemId: "i", resource: "r", payload: "", delay: 0 }

/** Writes of every kind, in one effect. */
const writes = Effect.gen(function* () {
  const records = yield* Records
  const now = yield* act
  const opened = yield* records.open(timers, timer("new", 1_000, 2_000), now)
  yield* records.append(timers, opened, { on: "touch" }, now)
  const old = yield* records.get(timers, "old")
  yield* records.append(timers, old, { on: "touch" }, now)
  yield* records.announce([announcement])
  yield* records.enqueue([item])
})

const prepared = Effect.gen(function* () {
  const records = yield* Records
  yield* records.transact(
    Effect.flatMap(act, (now) => records.open(timers, timer("old", 60_000, 90_000), now))
  )
  return yield* whole
})

describe("a transaction", () => {
  it.effect("keeps everything it wrote, under one stamp", () =>
    Effect.gen(function* () {
      yield* prepared
      const records = yield* Records
      yield* TestClock.adjust("1 second")
      yield* records.transact(writes)
      const { events, head, work } = yield* whole
      const made = yield* records.many(timers, ["new", "old"])
      assert.deepStrictEqual(
        made.map((one) => one.touched),
        [1, 1]
      )
      assert.deepStrictEqual([...new Set(events.events.map(({ at }) => at))], [head.at])
      assert.deepStrictEqual(
        [...new Set(made.map(({ updatedAt }) => Instant.sortable(updatedAt)))],
        [head.at]
      )
      assert.strictEqual(events.events.length, 3)
      assert.strictEqual(work.waiting, 1)
    }).pipe(store())
  )

  it.effect("that only deletes records moves the head, which answers are cached by", () =>
    Effect.gen(function* () {
      const before = yield* prepared
      const records = yield* Records
      yield* records.transact(records.forget(timers, ["old"]))
      const { head, kept } = yield* whole
      assert.deepStrictEqual(kept[0], [[], []])
      assert.strictEqual(head.moves, before.head.moves + 1)
    }).pipe(store())
  )

  it.effect("that fails, dies or is interrupted after some writes leaves nothing", () =>
    Effect.gen(function* () {
      const before = yield* prepared
      const records = yield* Records
      for (const end of [Effect.fail("no"), Effect.die("a bug"), Effect.interrupt]) {
        const exit = yield* Effect.exit(records.transact(Effect.andThen(writes, end)))
        assert.isTrue(Exit.isFailure(exit))
        assert.deepStrictEqual(yield* whole, before)
      }
      // Several at once: one fails, the others are kept.
      const exits = yield* Effect.forEach(
        [Effect.void, Effect.fail("no"), Effect.die("a bug"), Effect.void],
        (end, index) =>
          Effect.exit(
            records.transact(
              Effect.gen(function* () {
                yield* records.open(timers, timer(`t${index}`, 1_000, 2_000), yield* act)
                yield* Effect.yieldNow
                yield* end
              })
            )
          ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, false, true])
      const kept = yield* records.list(timers, { limit: 10 })
      assert.deepStrictEqual(
        kept.map(({ record }) => record.timerId),
        ["old", "t0", "t3"]
      )
    }).pipe(store())
  )

  it.effect(
    "finds what it is about to write by a filter's value, and nothing of another value",
    () =>
      Effect.gen(function* () {
        const records = yield* Records
        const [filter = ""] = Object.keys(timers.filters)
        const found = yield* records.transact(
          Effect.gen(function* () {
            yield* records.open(timers, timer("t1", 1_000, 2_000), yield* act)
            const idsOf = (value: string) =>
              records.uncommitted(timers, { column: filter, anyOf: [value] })
            const value = Columns.of(timers, timer("t1", 1_000, 2_000))[filter]
            assert.isString(value)
            return [yield* idsOf(value as string), yield* idsOf(`${value}-other`)]
          })
        )
        assert.deepStrictEqual(found, [["t1"], []])
      }).pipe(store())
  )

  it.effect("looks among what it is about to write at no record of another collection", () =>
    Effect.gen(function* () {
      const records = yield* Records
      let looked = 0
      const watched = Object.defineProperty({ ...timers }, "name", {
        get: () => {
          looked += 1
          return timers.name
        }
      })
      yield* records.transact(
        Effect.gen(function* () {
          for (const id of ["t1", "t2", "t3"]) {
            yield* records.open(watched, timer(id, 1_000, 2_000), yield* act)
          }
          looked = 0
          const by = { column: "any", anyOf: ["any"] }
          assert.deepStrictEqual(yield* records.uncommitted(Toys.counters, by), [])
          assert.strictEqual(looked, 0)
        })
      )
    }).pipe(store())
  )

  it.effect("that is only rehearsed is judged alike and leaves nothing", () =>
    Effect.gen(function* () {
      const before = yield* prepared
      const records = yield* Records
      yield* records.rehearse(writes)
      assert.deepStrictEqual(yield* whole, before)
      yield* records.transact(
        Effect.gen(function* () {
          yield* records.rehearse(writes)
          // Later steps of the transaction do not see the rehearsed writes.
          assert.isTrue(Option.isNone(yield* records.find(timers, "new")))
          assert.strictEqual((yield* records.get(timers, "old")).touched, 0)
        })
      )
      assert.deepStrictEqual(yield* whole, before)
      yield* records.transact(writes)
      assert.strictEqual(yield* Calls.slug(records.rehearse(writes)), "already-exists")
    }).pipe(store())
  )

  it.effect("sees what it wrote itself, and a rehearsal in it as well", () =>
    Effect.gen(function* () {
      yield* prepared
      const records = yield* Records
      yield* records.transact(
        Effect.gen(function* () {
          yield* writes
          assert.strictEqual((yield* records.get(timers, "new")).version, 2)
          yield* records.rehearse(
            Effect.gen(function* () {
              const inner = yield* records.get(timers, "new")
              assert.strictEqual(inner.version, 2)
              yield* records.append(timers, inner, { on: "touch" }, yield* act)
              assert.strictEqual((yield* records.get(timers, "new")).version, 3)
            })
          )
          assert.strictEqual((yield* records.get(timers, "new")).version, 2)
        })
      )
    }).pipe(store())
  )

  it.effect("inside another is a part of it", () =>
    Effect.gen(function* () {
      const before = yield* prepared
      const records = yield* Records
      yield* Effect.exit(
        records.transact(Effect.andThen(records.transact(writes), Effect.fail("no")))
      )
      assert.deepStrictEqual(yield* whole, before)
    }).pipe(store())
  )

  it.effect("is what writing needs: outside one, writing dies", () =>
    Effect.gen(function* () {
      yield* prepared
      const exit = yield* Effect.exit(writes)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }).pipe(store())
  )

  it.effect("locks a name as often as it likes, and keeps others from it", () =>
    Effect.gen(function* () {
      const records = yield* Records
      const order: Array<string> = []
      const holding = (name: string) =>
        records.transact(
          Effect.gen(function* () {
            yield* records.lock("l")
            yield* records.rehearse(records.lock("l"))
            yield* records.lock("l")
            order.push(`in ${name}`)
            yield* Effect.yieldNow
            yield* records.announce([announcement])
            order.push(`out ${name}`)
          })
        )
      const all = yield* Effect.forEach(["a", "b", "c"], holding, {
        concurrency: "unbounded"
      }).pipe(Effect.timeoutOption("10 seconds"), Effect.forkChild)
      for (let breaths = 0; breaths < 20; breaths++) {
        yield* Effect.promise(() => new Promise<void>((done) => setImmediate(done)))
      }
      yield* TestClock.adjust("11 seconds")
      assert.isTrue(Option.isSome(yield* Fiber.join(all)))
      // A transaction committed in a group with one that waits for the lock may run again; two
      // holders of the lock never overlap.
      for (let at = 0; at < order.length; at += 2) {
        assert.strictEqual(order[at + 1], order[at]?.replace("in", "out"))
      }
      assert.deepStrictEqual([...new Set(order)].toSorted(), [
        "in a",
        "in b",
        "in c",
        "out a",
        "out b",
        "out c"
      ])
      const feed = yield* Feed
      assert.strictEqual((yield* feed.head).seq, 3)
    }).pipe(store())
  )
})

/** A log that reports a given number of times that another writer was first. */
const contended = (times: number) => {
  let left = times
  return RecordsLayer.layer.pipe(
    Layer.provide(NodeCrypto.layerCrypto),
    Layer.provide(
      Layer.effect(
        FactLog,
        Effect.map(FactLog, (log) => ({
          ...log,
          append: (rows: Parameters<typeof log.append>[0]) =>
            left-- > 0
              ? Effect.fail(new VersionMoved({ collection: "timer", recordId: "old", expected: 1 }))
              : log.append(rows)
        }))
      )
    ),
    Layer.provideMerge(Memory.layer)
  )
}

describe("another writer who was first", () => {
  it.effect("makes the whole effect run again, and its writes count once", () =>
    Effect.gen(function* () {
      const records = yield* Records
      let ran = 0
      yield* records.transact(
        Effect.gen(function* () {
          ran += 1
          yield* records.open(timers, timer("t", 1_000, 2_000), yield* act)
          yield* records.announce([announcement])
        })
      )
      assert.strictEqual(ran, 6)
      const { events, kept } = yield* whole
      assert.strictEqual(events.events.length, 1)
      assert.strictEqual(kept[0]?.[1].length, 1)
    }).pipe(Effect.provide(contended(5)))
  )

  it.effect("sixteen times is too often: the caller is told to come again", () =>
    Effect.gen(function* () {
      const records = yield* Records
      const slug = yield* Calls.slug(
        records.transact(
          Effect.flatMap(act, (now) => records.open(timers, timer("t", 1_000, 2_000), now))
        )
      )
      assert.strictEqual(slug, "overloaded")
      assert.strictEqual((yield* whole).head.seq, 0)
    }).pipe(Effect.provide(contended(1_000)))
  )

  it.effect("moves a record that was loaded before: it is never written from what it was", () =>
    Effect.gen(function* () {
      yield* prepared
      const records = yield* Records
      const stale = yield* records.get(timers, "old")
      yield* records.transact(
        Effect.flatMap(act, (now) => records.append(timers, stale, { on: "touch" }, now))
      )
      const slug = yield* Calls.slug(
        records.transact(
          Effect.flatMap(act, (now) => records.append(timers, stale, { on: "touch" }, now))
        )
      )
      assert.strictEqual(slug, "overloaded")
      assert.strictEqual((yield* records.get(timers, "old")).touched, 1)
    }).pipe(store())
  )

  it.effect("of the same transaction counts as well", () =>
    Effect.gen(function* () {
      yield* prepared
      const records = yield* Records
      const slug = yield* Calls.slug(
        records.transact(
          Effect.gen(function* () {
            const before = yield* records.get(timers, "old")
            yield* records.append(timers, before, { on: "touch" }, yield* act)
            yield* records.append(timers, before, { on: "touch" }, yield* act)
          })
        )
      )
      assert.strictEqual(slug, "overloaded")
      assert.strictEqual((yield* records.get(timers, "old")).touched, 0)
    }).pipe(store())
  )

  it.effect("and two who open one record at once: one of them is told that it exists", () =>
    Effect.gen(function* () {
      const records = yield* Records
      const slugs = yield* Effect.forEach(
        [1, 2, 3],
        () =>
          Calls.slug(
            records.transact(
              Effect.flatMap(act, (now) => records.open(timers, timer("t", 1_000, 2_000), now))
            )
          ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(slugs.toSorted(), ["already-exists", "already-exists", "no refusal"])
    }).pipe(store())
  )
})

describe("what is kept beside a record", () => {
  it.effect("versions count, createdAt stays, updatedAt is the stamp and only grows", () =>
    Effect.gen(function* () {
      const records = yield* Records
      const feed = yield* Feed
      yield* records.transact(
        Effect.flatMap(act, (now) => records.open(timers, timer("t", 1e12, 2e12), now))
      )
      const first = yield* records.get(timers, "t")
      assert.strictEqual(first.version, 1)
      assert.strictEqual(first.createdAt, first.updatedAt)
      let before = first
      for (let version = 2; version < 8; version++) {
        // The clock stops now and then; the stamps still rise.
        if (version % 2 === 0) yield* TestClock.adjust("1 second")
        const answered = yield* records.transact(
          Effect.gen(function* () {
            const self = yield* records.get(timers, "t")
            return yield* records.append(timers, self, { on: "touch" }, yield* act)
          })
        )
        const after = yield* records.get(timers, "t")
        assert.strictEqual(answered.version, version)
        assert.strictEqual(after.version, version)
        assert.strictEqual(after.createdAt, first.createdAt)
        assert.isTrue(after.updatedAt > before.updatedAt)
        assert.strictEqual(Instant.sortable(after.updatedAt), (yield* feed.head).at)
        before = after
      }
    }).pipe(store())
  )
})

describe("the clock", () => {
  it.effect("ripens what is read, and is written down as a notice before the next fact", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* records.transact(
        Effect.flatMap(act, (now) => records.open(timers, timer("t", 1_000, 5_000), now))
      )
      yield* TestClock.adjust("10 seconds")
      const ripe = yield* records.get(timers, "t")
      assert.strictEqual(ripe.state, "stopped")
      assert.strictEqual(ripe.version, 1)
      yield* records.transact(
        Effect.gen(function* () {
          const self = yield* records.get(timers, "t")
          const after = yield* records.append(timers, self, { on: "touch" }, yield* act)
          assert.strictEqual(after.version, 4)
        })
      )
      const facts = yield* FactLog
      const log = yield* facts.read({ collection: "timer", recordId: "t" })
      assert.deepStrictEqual(log.map(({ cause, fact }) => [cause, fact.slice(0, 14)]).slice(1), [
        ["clock", '{"on":"ring"}'],
        ["clock", '{"on":"stop"}'],
        ["request:req-1", '{"on":"touch"}']
      ])
      const { events } = yield* whole
      assert.strictEqual(events.events.length, 3)
    }).pipe(store())
  )

  it.effect("that moved a record while the writer waited is not forgotten by its older act", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* records.transact(
        Effect.flatMap(act, (now) => records.open(timers, timer("t", 1_000, 5_000), now))
      )
      yield* records.transact(
        Effect.gen(function* () {
          const older = yield* act
          yield* TestClock.adjust("10 seconds")
          const self = yield* records.get(timers, "t")
          assert.strictEqual(self.state, "stopped")
          const after = yield* records.append(timers, self, { on: "touch" }, older)
          assert.strictEqual(after.state, "stopped")
        })
      )
      assert.strictEqual((yield* records.get(timers, "t")).version, 4)
    }).pipe(store())
  )
})

describe("an invariant", () => {
  const broken: Collection.Collection<typeof Toys.Counter.Type, { on: "add"; by: number }> = {
    ...Toys.counters,
    invariants: { "it is never six": (self) => self.count !== 6 }
  }

  it.effect("that a fact would break stops the write, and nothing is kept", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* records.transact(
        Effect.flatMap(act, (now) => records.open(broken, { counterId: "c", count: 5 }, now))
      )
      const before = yield* whole
      const exit = yield* Effect.exit(
        records.transact(
          Effect.gen(function* () {
            const self = yield* records.get(broken, "c")
            yield* records.announce([announcement])
            yield* records.append(broken, self, { on: "add", by: 1 }, yield* act)
          })
        )
      )
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.include(String(Exit.isFailure(exit) && Cause.squash(exit.cause)), "it is never six")
      assert.deepStrictEqual(yield* whole, before)
    }).pipe(store())
  )

  it.effect("that a stored record breaks stops whoever loads it", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* records.transact(
        Effect.flatMap(act, (now) => records.open(Toys.counters, { counterId: "c", count: 6 }, now))
      )
      const exit = yield* Effect.exit(records.get(broken, "c"))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }).pipe(store())
  )
})

describe("a journal event", () => {
  it.effect("is told once, however often its update is read", () =>
    Effect.gen(function* () {
      const records = yield* Records
      const feed = yield* Feed
      const one = (source: string) => ({
        ...announcement,
        journal: { at: Instant.fromNanos(0n), offset: 7, source }
      })
      yield* records.transact(records.announce([one("u1:0:x"), one("u1:1:x"), one("u1:0:x")]))
      yield* records.transact(records.announce([one("u1:1:x"), announcement, one("u2:0:x")]))
      const { events } = yield* feed.read({ order: "asc", limit: 100 })
      assert.deepStrictEqual(
        events.map(({ source, seq }) => [seq, source]),
        [
          [1, "u1:0:x"],
          [2, "u1:1:x"],
          [3, null],
          [4, "u2:0:x"]
        ]
      )
    }).pipe(store())
  )

  it.effect("with more payload than an event may carry stops the transaction", () =>
    Effect.gen(function* () {
      const before = yield* prepared
      const records = yield* Records
      const exit = yield* Effect.exit(
        records.transact(
          Effect.andThen(
            writes,
            records.announce([{ ...announcement, payload: { text: "x".repeat(17_000) } }])
          )
        )
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* whole, before)
    }).pipe(store())
  )
})
