/** Distribution lines that a ledger epoch lost before their store knew it, in both stores that keep files. */
import { Documents } from "@bursar/engine-core/ports"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as Sqlite from "@bursar/storage-adapters/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { statements as migration } from "#adapters/storage/postgres/migrations/0024-lost-lines/up.ts"

const at = "2026-01-01T00:00:00.000000000Z"

/** A line as a version before wrote it, its filters by name. */
const line = (n: number, lost: boolean) => ({
  id: `d-1.${n}`,
  body: JSON.stringify({ lineId: `d-1.${n}`, state: "due", lost }),
  filters: {
    ...{ tally: "d-1 due", open: "fund-a", owedTo: `h${n}`, undirected: "d-1" },
    payee: `d-1/h${n}`
  } as Readonly<Record<string, string>>
})
const lines = [line(1, true), line(2, false)]
const lostRecord = {
  id: "distribution-line/d-1.1",
  body: "{}",
  filters: { instrumentId: "fund-a" }
}

const rows = [
  ...lines.map((each) => ({ ...each, collection: "distribution-line" })),
  { ...lostRecord, collection: "lost-record" }
]

/** The lines that each filter lists, after the migration. */
const listed = (documents: Documents["Service"]) =>
  Effect.gen(function* () {
    const found: Record<string, ReadonlyArray<string>> = {}
    const values = {
      open: ["fund-a"],
      owedTo: ["h1", "h2"],
      undirected: ["d-1"],
      tally: ["d-1 due"],
      payee: ["d-1/h1", "d-1/h2"],
      lostTally: ["d-1 due"]
    }
    for (const [column, anyOf] of Object.entries(values)) {
      const read = documents.stream({
        collection: "distribution-line",
        pin: { by: "latest" },
        direction: "asc",
        where: [{ column, anyOf }]
      })
      found[column] = (yield* Stream.runCollect(read)).map(({ recordId }) => recordId)
    }
    return found
  })

const expected = {
  open: ["d-1.2"],
  owedTo: ["d-1.2"],
  undirected: ["d-1.2"],
  tally: ["d-1.1", "d-1.2"],
  payee: ["d-1.1", "d-1.2"],
  lostTally: ["d-1.1"]
}

describe("a line that an epoch lost before its store knew it", () => {
  it.live("is waited for by nobody in PostgreSQL", () =>
    Effect.gen(function* () {
      const store = yield* Layer.build(
        Postgres.layer({ url: Redacted.make(yield* TestDatabase.url) })
      )
      const sql = Context.get(store, SqlClient.SqlClient)
      for (const { id, body, filters, collection } of rows) {
        yield* sql`insert into bursar.document (collection, record_id, version, sort_key, body,
          filters, created_at, from_offset, from_instant)
          values (${collection}, ${id}, 1, ${id}, ${body}, ${JSON.stringify(filters)}::jsonb,
            ${at}, 1, ${at})`
      }
      for (const statement of migration) yield* sql.unsafe(statement)
      assert.deepEqual(yield* listed(Context.get(store, Documents)), expected)
    }).pipe(Effect.scoped)
  )

  it.live("is waited for by nobody in SQLite", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "bursar-lost-lines-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      yield* Effect.scoped(Layer.build(Layer.fresh(Sqlite.layer({ folder }))))
      const file = new DatabaseSync(join(folder, "records.sqlite"))
      for (const { id, body, filters, collection } of rows) {
        file
          .prepare(
            `insert into document (collection, record_id, version, sort_key, body, filters,
               created_at, from_offset, from_instant) values (?, ?, 1, ?, ?, ?, ?, 1, ?)`
          )
          .run(collection, id, id, body, JSON.stringify(filters), at, at)
        for (const [name, value] of Object.entries(filters)) {
          file
            .prepare(
              "insert into document_filter (collection, name, value, sort_key) values (?, ?, ?, ?)"
            )
            .run(collection, name, value, id)
        }
      }
      // The file of the version before.
      file.exec(
        "drop table term; drop table term_mark; drop table waiting; drop table waiting_mark"
      )
      file.exec("pragma user_version = 2")
      file.close()
      const store = yield* Layer.build(Layer.fresh(Sqlite.layer({ folder })))
      assert.deepEqual(yield* listed(Context.get(store, Documents)), expected)
    }).pipe(Effect.scoped)
  )
})
