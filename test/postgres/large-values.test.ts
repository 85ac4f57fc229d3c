/**
 * Values larger than the driver's own limit of a message, 16 MiB: a ledger transaction of many orders,
 * and the operation that sends it.
 */
import { Atomically, Documents, ProjectionLog } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { expect } from "vitest"
import { update } from "#adapters/conformance/storage-checks/rows.ts"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"

const text = JSON.stringify("x".repeat(17 * 1_048_576))

const opened = Effect.gen(function* () {
  const url = Redacted.make(yield* TestDatabase.url)
  return yield* Layer.build(Layer.fresh(Postgres.layer({ url })))
})

// Switched off to see it red: `maxMessageSize` in Connections.ts.
it.live("reads a ledger update that is larger than a message may be by default", () =>
  Effect.gen(function* () {
    const log = Context.get(yield* opened, ProjectionLog)
    const { offset, writerEpoch: epoch } = yield* log.takeOver({ participant: "p" })
    const row = update({ offset: offset + 1, commandId: "c", raw: text })
    yield* log.advance({ epoch, from: offset, to: offset + 1, ledgerTime: null, updates: [row] })
    const [logged] = yield* log.read({ after: offset, limit: 1 })
    expect(logged?.raw).toHaveLength(text.length)
  }).pipe(Effect.scoped)
)

it.live(
  "reads a record that is larger than a message may be by default, alone and in a stream",
  () =>
    Effect.gen(function* () {
      const store = yield* opened
      const documents = Context.get(store, Documents)
      const { run } = Context.get(store, Atomically)
      const instant = "2026-01-01T00:00:00.000000000Z"
      const [collection, recordId] = ["c", "r"]
      const key = { collection, recordId, version: 1, closes: 0, sortKey: "r" }
      const from = { createdAt: instant, fromOffset: 0, fromInstant: instant }
      yield* documents.put([{ ...key, ...from, body: text, filters: {} }])
      const pin = { by: "latest" } as const
      const get = documents.get({ collection, recordIds: [recordId], pin })
      const streamed = documents.stream({ collection, pin, where: [], direction: "asc" })
      const found = [...(yield* get), ...(yield* run(get)), ...(yield* Stream.runCollect(streamed))]
      expect(found.map(({ body }) => body.length)).toEqual(Array(3).fill(text.length))
    }).pipe(Effect.scoped)
)
