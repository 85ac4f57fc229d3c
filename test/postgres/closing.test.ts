/** Closing of the store while commits wait for the flush of the write-ahead log: each of them ends. */
import { Atomically, FactLog } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { Socket } from "node:net"
import { afterEach, beforeEach, expect, vi } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import { pollLimit } from "../waiting.ts"

/** Called at each flush that was not sent, because the connection keeps it back. */
let onFlush = () => {}

beforeEach(() => {
  const write = Socket.prototype.write
  vi.spyOn(Socket.prototype, "write").mockImplementation(function (this: Socket, ...given) {
    if (Buffer.from(given[0] as Uint8Array).includes("pg_logical_emit_message")) {
      onFlush()
      return true
    }
    return Reflect.apply(write, this, given) as boolean
  })
})

afterEach(() => {
  vi.restoreAllMocks()
})

const recordedAt = "2026-01-01T00:00:00.000000000Z"

// Switched off to see it red: `Effect.onExit` or the finalizer in Durability.ts.
it.live("ends the commits that wait for a flush, for the next one, and those that come after", () =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    const scope = yield* Scope.make()
    // Without prepared statements each is on the wire with its text.
    const store = yield* Layer.buildWithScope(
      Layer.fresh(Postgres.layer({ url, prepare: false })),
      scope
    )
    const facts = Context.get(store, FactLog)
    const { run } = Context.get(store, Atomically)
    const committed = (recordId: string) => {
      const row = { collection: "c", recordId, version: 1, fact: "{}", cause: "clock" }
      return Effect.exit(run(facts.append([{ ...row, offset: 0, recordedAt }])))
    }
    const begun = yield* Deferred.make<void>()
    onFlush = () => Deferred.doneUnsafe(begun, Effect.void)
    const first = yield* Effect.forkChild(committed("first"))
    yield* Deferred.await(begun)
    const second = yield* Effect.forkChild(committed("second"))
    yield* Effect.sleep(200)
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    const exits = yield* Effect.timeout(Fiber.joinAll([first, second]), pollLimit)
    expect(exits.map(Exit.isFailure)).toEqual([true, true])
    yield* Effect.timeout(Fiber.join(closing), pollLimit)
    expect(Exit.isFailure(yield* Effect.timeout(committed("third"), pollLimit))).toBe(true)
  }).pipe(Effect.scoped)
)
