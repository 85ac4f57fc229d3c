/** A look-up of the records of fifty others is planned without these, and served by the index of all filters. */
import { Documents } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import * as Plans from "./plans.ts"

const rows = 20_000
const values = Array.from({ length: 50 }, (_, n) => `i-${n * 7}`)
const pin = { by: "instant", instant: "2026-01-01T00:00:00.000000000Z" } as const
/** More often than a prepared statement is planned for its own values. */
const times = 8

const seed = (sql: SqlClient.SqlClient) => sql`
  insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
    from_offset, from_instant)
  select 'market', n::text, 1, lpad(n::text, 12, '0'), '{}',
    jsonb_build_object('shown', 'i-' || n), '2020-01-01T00:00:00.000000000Z', 1,
    '2020-01-01T00:00:00.000000000Z'
  from generate_series(1, ${rows}::int4) n`

it.live("plans a look-up of many values whatever these are, and reads the rows of these", () =>
  Effect.gen(function* () {
    const { url, statements } = yield* Plans.server
    const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
    const sql = Context.get(store, SqlClient.SqlClient)
    const documents = Context.get(store, Documents)
    yield* seed(sql)
    yield* sql`analyze bursar.document`
    const where = [{ column: "shown", anyOf: values }]
    const list = documents.list({
      collection: "market",
      pin,
      direction: "asc",
      limit: 1_000,
      where
    })
    expect(yield* list).toHaveLength(values.length - 1)
    // One connection of several, each of which prepares the statement for itself.
    const { statements: run } = yield* statements(Effect.replicateEffect(list, 4 * times))
    const last = run.findLast((statement) => statement.sql.includes("bursar.document"))!
    const found = Plans.nodes(last.plan)
    expect(found.map((node) => node["Index Name"])).toContain("document_filters")
    expect(found.map((node) => node["Node Type"])).not.toContain("Seq Scan")
    // Nine nodes pass each row on: one of them decides whether the versions closed since are few.
    expect(Plans.rowsOf(last.plan)).toBeLessThanOrEqual(9 * values.length)
    // Values that are no part of the plan cost the planner nothing.
    expect(JSON.stringify(last.plan)).not.toContain(values[1])
  }).pipe(Effect.scoped)
)
