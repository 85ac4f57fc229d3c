/**
 * Look-ups of many records by one filter: one of fifty values is planned without these and served by
 * the index of all filters; those of a distribution's steps read their own rows by an index each.
 */
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
/**
 * Runs of a prepared statement: more than the database plans for the values given before it may use
 * a generic plan.
 */
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

const payees = 500

it.live("reads the payees of a distribution's step without the other holders of the venue", () =>
  Effect.gen(function* () {
    const { url, statements } = yield* Plans.server
    const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
    const sql = Context.get(store, SqlClient.SqlClient)
    const documents = Context.get(store, Documents)
    // Written after statistics were taken, and too few for a vacuum to sort them into the index of all.
    yield* sql`analyze bursar.document`
    yield* sql`
      insert into bursar.document (collection, record_id, version, sort_key, body, filters,
        created_at, from_offset, from_instant)
      select 'line', n::text, 1, lpad(n::text, 12, '0'), '{}',
        jsonb_build_object('pair', 'p-' || n, 'payee', 'd/p-' || n, 'tally', 'd/' || (n % 2)),
        '2020-01-01T00:00:00.000000000Z', 1, '2020-01-01T00:00:00.000000000Z'
      from generate_series(1, ${rows}::int4) n`
    const read = Effect.fnUntraced(function* (
      where: { readonly column: string; readonly anyOf: ReadonlyArray<string> },
      limit: number
    ) {
      const { value, statements: run } = yield* statements(
        documents.list({
          collection: "line",
          pin: { by: "latest" },
          direction: "asc",
          limit,
          where: [where]
        })
      )
      expect(value).toHaveLength(payees)
      const { plan } = run.findLast((statement) => statement.sql.includes("bursar.document"))!
      expect(Plans.nodes(plan).map((node) => node["Index Name"])).not.toContain("document_filters")
      return Plans.rowsOf(plan)
    })
    const idsOf = (prefix: string) =>
      Array.from({ length: payees }, (_, n) => `${prefix}${n * 7 + 1}`)
    // Each row is counted and then read, and up to eight nodes pass it on either time.
    const most = payees * 20
    expect(yield* read({ column: "pair", anyOf: idsOf("p-") }, 2 * payees)).toBeLessThan(most)
    expect(yield* read({ column: "payee", anyOf: idsOf("d/p-") }, 2 * payees)).toBeLessThan(most)
    expect(yield* read({ column: "tally", anyOf: ["d/1"] }, payees)).toBeLessThan(most)
  }).pipe(Effect.scoped)
)

it.live(
  "counts the records of many payees without the other holders of the venue, now and at a pin",
  () =>
    Effect.gen(function* () {
      const { url, statements } = yield* Plans.server
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
      const sql = Context.get(store, SqlClient.SqlClient)
      const documents = Context.get(store, Documents)
      yield* sql`analyze bursar.document`
      yield* sql`
      insert into bursar.document (collection, record_id, version, sort_key, body, filters,
        created_at, from_offset, from_instant)
      select 'line', n::text, 1, lpad(n::text, 12, '0'), '{}',
        jsonb_build_object('pair', 'p-' || n % 3000, 'state', 'due'),
        '2020-01-01T00:00:00.000000000Z', 1, '2020-01-01T00:00:00.000000000Z'
      from generate_series(1, ${rows}::int4) n`
      const anyOf = Array.from({ length: payees }, (_, n) => `p-${n * 5}`)
      const counted = yield* sql<{ readonly records: number }>`
      select count(*)::int4 as records from bursar.document
      where filters ->> 'pair' in ${sql.in(anyOf)}`
      const pages: Array<number> = []
      for (const at of [{ by: "latest" } as const, pin]) {
        const { value, statements: run } = yield* statements(
          documents.countBy({
            collection: "line",
            pin: at,
            where: [{ column: "pair", anyOf }],
            column: "state"
          })
        )
        expect([...value]).toEqual([["due", counted[0]!.records]])
        const { plan } = run.findLast((statement) => statement.sql.includes("bursar.document"))!
        expect(Plans.nodes(plan).map((node) => node["Index Name"])).toContain("document_pair")
        pages.push(Plans.pagesOf(plan))
      }
      // A search of the index for each payee, and a page for each of its lines at most.
      const most = 4 * payees + counted[0]!.records
      expect(pages.filter((read) => read > most)).toEqual([])
    }).pipe(Effect.scoped)
)
