/** Program that is killed while it writes to a store on SQLite: each write says when it was answered. */
import {
  Atomically,
  Blobs,
  Bulk,
  Documents,
  FactLog,
  Feed,
  Keys,
  WorkQueue
} from "@bursar/engine-core/ports"
import * as Sqlite from "@bursar/storage-adapters/sqlite"
import { Effect } from "effect"
import * as Rows from "#adapters/conformance/storage-checks/rows.ts"
import { callers, collection, fileOf, instant, ownerOf, recordOf, rowsOf } from "./sqlite.ts"

/** One transaction over every port, and rows and a chunk that it seals. */
const write = (n: number) =>
  Effect.gen(function* () {
    const { run } = yield* Atomically
    const blobs = yield* Blobs
    const bulk = yield* Bulk
    const documents = yield* Documents
    const facts = yield* FactLog
    const feed = yield* Feed
    const keys = yield* Keys
    const work = yield* WorkQueue
    const recordId = recordOf(n)
    yield* blobs.append({ file: fileOf(n), chunk: 0, bytes: new Uint8Array([n % 256]) })
    yield* bulk.append(ownerOf(n), rowsOf(n))
    yield* run(
      Effect.gen(function* () {
        yield* facts.append([Rows.fact({ collection, recordId })])
        yield* documents.put([
          Rows.version({ collection, recordId, filters: { state: "open" }, fromInstant: instant })
        ])
        const key = { scope: collection, key: recordId, fingerprint: "f", target: recordId }
        yield* keys.bind({ ...key, bindsUntil: null, now: instant })
        yield* work.enqueue([
          Rows.item({ queue: collection, itemId: recordId, resource: recordId })
        ])
        yield* blobs.seal({ file: fileOf(n), chunks: 1 })
        yield* bulk.seal({ owner: ownerOf(n), rows: rowsOf(n).length })
        const head = yield* feed.take(instant)
        const event = Rows.event({ seq: head.seq + 1, at: head.at, resourceId: recordId })
        yield* feed.append(
          head,
          Rows.entries([event], { audit: Rows.audit(head, [{ resourceId: recordId }]) })
        )
      })
    )
    yield* Effect.sync(() => process.send?.(n))
  })

const [folder = "", from = "0"] = process.argv.slice(2)
let next = Number(from)
const caller = Effect.forever(Effect.suspend(() => write(next++)))

await Effect.all(
  Array.from({ length: callers }, () => caller),
  { concurrency: "unbounded" }
).pipe(Effect.provide(Sqlite.layer({ folder })), Effect.scoped, Effect.runPromise)
