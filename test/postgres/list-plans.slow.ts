/** A page of a list by asset or by state reads little more than the page, however many rows there are. */
import { Documents, type ListQuery, type StoredPin } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import * as Plans from "./plans.ts"
import { firstOf, isLong } from "../long-run.ts"

/** Rows of the table; a longer run asks for 1,000,000. */
const many = Number(process.env["MOVEMENTS"] ?? (isLong ? 60_000 : 20_000))
const page = 51
/**
 * Runs of a prepared statement: more than the database plans for the values given before it may use
 * a generic plan.
 */
const times = 7

/** Movements of three assets, the third of which has one in a thousand, in two states. */
const seed = (
  sql: SqlClient.SqlClient,
  range: { readonly from: number; readonly to: number }
) => sql`
  insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
    from_offset, from_instant)
  select 'movement', n::text, 1, lpad(n::text, 12, '0'), '{}',
    jsonb_build_object('kind', 'transfer', 'state', case when n % 500 = 0 then 'open' else 'over' end,
      'asset', case when n % 1000 = 7 then 'rare' when n % 2 = 0 then 'even' else 'odd' end),
    '2020-01-01T00:00:00.000000000Z', 1, '2020-01-01T00:00:00.000000000Z'
  from generate_series(${range.from}::int4, ${range.to}::int4) n`

const queries: ReadonlyArray<Pick<ListQuery, "where" | "meets">> = [
  { where: [] },
  { where: [{ column: "asset", anyOf: ["even"] }] },
  { where: [{ column: "asset", anyOf: ["rare"] }] },
  { where: [{ column: "asset", anyOf: ["none"] }] },
  { where: [{ column: "asset", anyOf: ["rare", "odd"] }] },
  { where: [{ column: "state", anyOf: ["open"] }] },
  { where: [], meets: [[[{ column: "state", anyOf: ["open"] }]]] }
]

const pins = firstOf<StoredPin>(2, [
  { by: "latest" },
  { by: "instant", instant: "2026-01-01T00:00:00.000000000Z" },
  { by: "offset", offset: 5 }
])

it.live("reads a page in order from an index, with statistics or without, few rows or many", () =>
  Effect.gen(function* () {
    const { url, statements } = yield* Plans.server
    const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
    const sql = Context.get(store, SqlClient.SqlClient)
    const documents = Context.get(store, Documents)
    const look = (when: string) =>
      Effect.gen(function* () {
        for (const query of queries) {
          for (const pin of pins) {
            for (const direction of ["asc", "desc"] as const) {
              const list = documents.list({
                collection: "movement",
                pin,
                direction,
                limit: page,
                ...query
              })
              const { statements: run } = yield* statements(Effect.replicateEffect(list, times))
              const plans = run.filter(({ sql }) => sql.includes("bursar.document"))
              expect(plans).toHaveLength(times)
              const name = `${when}: ${JSON.stringify({ ...query, pin, direction })}`
              // A plan that names a value is made anew for each: that took longer than the page.
              expect(JSON.stringify(plans), name).not.toContain("'movement'")
              for (const { plan } of plans) {
                const nodes = Plans.nodes(plan)
                expect(
                  nodes.map((node) => node["Node Type"]),
                  name
                ).not.toContain("Seq Scan")
                // Every node above the scan passes the page on, for each branch of the query.
                expect(Plans.rowsOf(plan), name).toBeLessThanOrEqual(8 * page)
              }
            }
          }
        }
      })
    yield* seed(sql, { from: 1, to: 10 })
    yield* look("ten rows")
    yield* seed(sql, { from: 11, to: many })
    yield* look("many rows, statistics absent")
    yield* sql`analyze bursar.document`
    yield* look("many rows, statistics fresh")
  }).pipe(Effect.scoped)
)
