/** The store on SQLite beside its ports: its files, its lock and its flushes. */
import { Atomically, FactLog, Feed, RateWindow } from "@bursar/engine-core/ports"
import * as Sqlite from "@bursar/storage-adapters/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Flushes from "#adapters/storage/sqlite/Flushes.ts"
import * as Rows from "#adapters/conformance/storage-checks/rows.ts"

/** A folder of a test, which is removed with it. */
const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "bursar-sqlite-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

/** Message of the refusal to start on a folder, or that the store started. */
const startOf = (name: string) =>
  Effect.map(Effect.result(Effect.scoped(Layer.build(Sqlite.layer({ folder: name })))), (result) =>
    result._tag === "Success" ? "started" : result.failure.message
  )

const opened = (name: string, lockMillis: number) =>
  Layer.build(Layer.fresh(Sqlite.layer({ folder: name, lockMillis })))

const written = (recordId: string) =>
  Effect.flatMap(FactLog, ({ append }) => append([Rows.fact({ recordId })]))

const at = "2026-01-01T00:00:00.000000000Z"

/** A flush that ends when the test says so. */
const controlled = () => {
  let commits = 0
  const flushes: Array<{ readonly end: () => void; readonly fail: (error: Error) => void }> = []
  const made = Flushes.make({
    version: () => commits,
    flush: () =>
      new Promise<void>((resolve, reject) => {
        flushes.push({ end: resolve, fail: reject })
      })
  })
  return {
    settle: made.settle,
    commit: () => {
      commits += 1
    },
    flushes
  }
}

const turns = Effect.forEach(Array.from({ length: 5 }), () => Effect.yieldNow, { discard: true })

describe("a flush", () => {
  it.live("is waited for by all that committed before it, and by nobody once it has ended", () =>
    Effect.gen(function* () {
      const { commit, flushes, settle } = controlled()
      commit()
      const first = yield* Effect.forkChild(settle)
      yield* turns
      assert.strictEqual(flushes.length, 1)
      // Whoever commits during a flush waits for the next one.
      commit()
      const later = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(settle))
      yield* turns
      assert.strictEqual(flushes.length, 1)
      flushes[0]?.end()
      yield* Fiber.join(first)
      yield* turns
      assert.deepStrictEqual(
        later.map((fiber) => fiber.pollUnsafe() === undefined),
        [true, true, true]
      )
      assert.strictEqual(flushes.length, 2)
      flushes[1]?.end()
      yield* Effect.forEach(later, Fiber.join)
      yield* settle
      assert.strictEqual(flushes.length, 2)
    })
  )

  it.live("that fails is no answer, and is tried again", () =>
    Effect.gen(function* () {
      const { commit, flushes, settle } = controlled()
      commit()
      const first = yield* Effect.forkChild(Effect.exit(settle))
      yield* turns
      flushes[0]?.fail(new Error("EIO"))
      assert.isTrue(Exit.isFailure(yield* Fiber.join(first)))
      const second = yield* Effect.forkChild(settle)
      yield* turns
      flushes[1]?.end()
      yield* Fiber.join(second)
    })
  )
})

describe("a folder of a store", () => {
  it.effect("is never one with the database of another application", () =>
    Effect.gen(function* () {
      const name = yield* folder
      const other = new DatabaseSync(join(name, "records.sqlite"))
      other.exec("create table customer (id integer)")
      other.close()
      assert.include(yield* startOf(name), "records.sqlite is a database of another application")
    })
  )

  it.effect("is never one that a newer program wrote", () =>
    Effect.gen(function* () {
      const name = yield* folder
      assert.strictEqual(yield* startOf(name), "started")
      const newer = new DatabaseSync(join(name, "rows.sqlite"))
      newer.exec("pragma user_version = 99")
      newer.close()
      assert.include(yield* startOf(name), "rows.sqlite is newer than this program")
    })
  )

  it.effect("is never one with a file that is no database, nor a file itself", () =>
    Effect.gen(function* () {
      const name = yield* folder
      writeFileSync(
        join(name, "records.sqlite"),
        "no database, but long enough to be read".repeat(9)
      )
      assert.include(yield* startOf(name), "file is not a database")
      assert.include(yield* startOf(join(name, "records.sqlite")), "cannot be used")
    })
  )
})

describe("a process", () => {
  it.live("reads beside a transaction of another, and says in time that it cannot write", () =>
    Effect.gen(function* () {
      const name = yield* folder
      const store = yield* opened(name, 60)
      const on = Effect.provideContext
      yield* on(written("before"), store)
      const other = new DatabaseSync(join(name, "records.sqlite"))
      other.exec("begin immediate")
      const refused = yield* Effect.flip(on(written("during"), store))
      assert.strictEqual(refused._tag, "StorageUnavailable")
      const { run } = yield* on(Atomically, store)
      const inRun = yield* Effect.flip(run(on(written("during"), store)))
      assert.strictEqual(inRun._tag, "StorageUnavailable")
      const { read } = yield* on(FactLog, store)
      const factsOf = (recordId: string) => read({ collection: "c", recordId })
      assert.strictEqual((yield* factsOf("before")).length, 1)
      // A file of its own: no transaction of the records holds it up.
      const { take } = yield* on(RateWindow, store)
      const call = { subject: "s", cost: 1, interval: 1, tolerance: 9 }
      assert.isTrue((yield* take(call)).admitted)
      other.exec("rollback")
      other.close()
      yield* on(written("after"), store)
      assert.deepStrictEqual(
        [(yield* factsOf("during")).length, (yield* factsOf("after")).length],
        [0, 1]
      )
    })
  )

  it.live("with other tools never changes the audit log, nor cuts it behind a checkpoint", () =>
    Effect.gen(function* () {
      const name = yield* folder
      const store = yield* opened(name, 1_000)
      yield* Effect.provideContext(
        Effect.gen(function* () {
          const { run } = yield* Atomically
          const feed = yield* Feed
          yield* run(
            Effect.flatMap(feed.take(at), (head) => {
              const audit = Rows.audit(head, [{}, { action: "audit.checkpoint" }, {}])
              return feed.append(head, Rows.entries([], { audit }))
            })
          )
        }),
        store
      )
      const tool = new DatabaseSync(join(name, "records.sqlite"))
      assert.throws(() => tool.exec("update audit set text = 'x'"), /never changed/u)
      assert.throws(
        () => tool.exec("delete from audit where seq = 3"),
        /before a checkpoint alone/u
      )
      assert.throws(() => tool.exec("delete from audit"), /before a checkpoint alone/u)
      tool.close()
    })
  )
})
