/** Look-ups that the fibers of a reading scope begin together: one write to the socket for all of them. */
import { Atomically, Documents, ProjectionLog } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { Socket } from "node:net"
import { afterEach, beforeEach, expect, vi } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"

/** Writes to sockets that carry statements of the ports. */
let writes = 0

const carriesStatement = (bytes: unknown): boolean =>
  Buffer.from(bytes as Uint8Array)
    .toString("latin1")
    .includes(" bursar.")

beforeEach(() => {
  const { _write: write, _writev: writev } = Socket.prototype
  vi.spyOn(Socket.prototype, "_write").mockImplementation(function (this: Socket, ...given) {
    if (carriesStatement(given[0])) writes++
    Reflect.apply(write, this, given)
  })
  vi.spyOn(Socket.prototype, "_writev").mockImplementation(function (this: Socket, ...given) {
    if (given[0].some(({ chunk }) => carriesStatement(chunk))) writes++
    if (writev !== undefined) Reflect.apply(writev, this, given)
  })
})

afterEach(() => {
  vi.restoreAllMocks()
})

it.effect("sends look-ups of every kind that begin together in one write, in a reading scope", () =>
  Effect.gen(function* () {
    const url = Redacted.make(yield* TestDatabase.url)
    const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, prepare: false })))
    const [documents, log] = [Context.get(store, Documents), Context.get(store, ProjectionLog)]
    const { reading } = Context.get(store, Atomically)
    yield* log.head
    const collection = "c"
    const pin = { by: "offset", offset: 1 } as const
    const list = documents.list({ collection, pin, where: [], direction: "asc", limit: 9 })
    const get = (id: string) => documents.get({ collection, recordIds: [id], pin })
    const lookUps = Effect.all(
      [
        get("a"),
        list,
        documents.countBy({ collection, column: "kind", pin, where: [] }),
        documents.versions({ collection, recordIds: ["a"], from: 0, through: 1 }),
        log.offsetBefore({ instant: "2026-01-01T00:00:00.000000000Z", through: 1 }),
        list,
        get("b")
      ],
      { concurrency: "unbounded" }
    )
    writes = 0
    const found = yield* reading(lookUps)
    expect(writes).toBe(1)
    expect(yield* lookUps).toEqual(found)
  }).pipe(Effect.scoped)
)
