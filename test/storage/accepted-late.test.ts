/** Credentials that were accepted past their offer's time before their store counted them, in both stores that keep files. */
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
import { statements as migration } from "#adapters/storage/postgres/migrations/0027-credentials-accepted-late/up.ts"

const at = "2026-01-01T00:00:00.000000000Z"
const later = "2026-01-02T00:00:00.000000000Z"

interface Version {
  readonly id: string
  readonly state: string
  readonly admittedAt: string | null
  readonly credentialCid: string | null
  /** Offset and instant of the version after it; null: it is the latest. */
  readonly until: readonly [number, string] | null
}

const version = (id: string, changed: Partial<Version>): Version => ({
  ...{ id, state: "expired", admittedAt: null, credentialCid: null, until: null },
  ...changed
})

const versions = [
  version("late", { credentialCid: "c-1" }),
  version("unanswered", {}),
  version("lapsed", { admittedAt: at, credentialCid: "c-2" }),
  version("admitted", { state: "admitted", admittedAt: at, credentialCid: "c-3" }),
  version("offered", { state: "offered" }),
  // Its credential was revoked in its next version, which a store of before wrote too.
  version("revoked", { credentialCid: "c-4", until: [2, later] }),
  version("revoked", {})
]

/** The columns of a version as a store of before wrote them. */
const columns = ({ id, state, admittedAt, credentialCid, until }: Version, n: number) => ({
  id,
  number: n,
  body: JSON.stringify({ admissionId: id, state, admittedAt, credentialCid }),
  filters: { instrumentId: "fund-a", state } as Readonly<Record<string, string>>,
  from: n === 1 ? ([1, at] as const) : ([2, later] as const),
  until
})
const rows = versions.map((each, index) =>
  columns(each, versions.slice(0, index).filter(({ id }) => id === each.id).length + 1)
)

/** The admissions that are counted as accepted late at each offset, after the migration. */
const counted = (documents: Documents["Service"]) =>
  Effect.gen(function* () {
    const found: Array<ReadonlyArray<string>> = []
    for (const pin of [{ by: "latest" }, { by: "offset", offset: 1 }] as const) {
      const read = documents.stream({
        ...{ collection: "admission", pin, direction: "asc" },
        where: [{ column: "acceptedLate", anyOf: ["fund-a"] }]
      })
      found.push((yield* Stream.runCollect(read)).map(({ recordId }) => recordId))
    }
    return found
  })

const expected = [["late"], ["late", "revoked"]]

describe("a credential that was accepted late before its store counted it", () => {
  it.live("is counted in PostgreSQL", () =>
    Effect.gen(function* () {
      const store = yield* Layer.build(
        Postgres.layer({ url: Redacted.make(yield* TestDatabase.url) })
      )
      const sql = Context.get(store, SqlClient.SqlClient)
      for (const { id, number, body, filters, from, until } of rows) {
        yield* sql`insert into bursar.document (collection, record_id, version, sort_key, body,
          filters, created_at, from_offset, from_instant, to_offset, to_instant)
          values ('admission', ${id}, ${number}, ${id}, ${body}, ${JSON.stringify(filters)}::jsonb,
            ${at}, ${from[0]}, ${from[1]}, ${until?.[0] ?? null}, ${until?.[1] ?? null})`
      }
      for (const statement of migration) yield* sql.unsafe(statement)
      assert.deepEqual(yield* counted(Context.get(store, Documents)), expected)
    }).pipe(Effect.scoped)
  )

  it.live("is counted in SQLite", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "bursar-accepted-late-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      yield* Effect.scoped(Layer.build(Layer.fresh(Sqlite.layer({ folder }))))
      const file = new DatabaseSync(join(folder, "records.sqlite"))
      for (const { id, number, body, filters, from, until } of rows) {
        file
          .prepare(
            `insert into document (collection, record_id, version, sort_key, body, filters,
               created_at, from_offset, from_instant, to_offset, to_instant)
             values ('admission', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
          )
          .run(
            ...[id, number, id, body, JSON.stringify(filters), at],
            ...[from[0], from[1], until?.[0] ?? null, until?.[1] ?? null]
          )
        for (const [name, value] of Object.entries(until === null ? filters : {})) {
          file
            .prepare(
              "insert into document_filter (collection, name, value, sort_key) values ('admission', ?, ?, ?)"
            )
            .run(name, value, id)
        }
      }
      // The file of the version before.
      file.exec("pragma user_version = 5")
      file.close()
      const store = yield* Layer.build(Layer.fresh(Sqlite.layer({ folder })))
      assert.deepEqual(yield* counted(Context.get(store, Documents)), expected)
    }).pipe(Effect.scoped)
  )
})
