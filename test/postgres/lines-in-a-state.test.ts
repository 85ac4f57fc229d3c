/** Plans in PostgreSQL of the lines of a distribution in a state, as the read of these lines asks for them. */
import { Instant } from "@bursar/engine-core/kernel"
import { Documents } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import { lines } from "#core/distributions/distribution/DistributionReads.ts"
import * as Access from "#core/reads/Access.ts"
import { Records } from "#core/records/Records.ts"
import * as StorageQuery from "#core/records/StorageQuery.ts"
import * as Plans from "./plans.ts"

const many = 20_000
const page = 51
/** The page, and the rows of each filter that are counted before one of them is read. */
const rowsMax = 1_000

/**
 * Writes many delivered lines of a distribution and after them a page of due ones, beside many due
 * lines of another distribution: neither the distribution nor the state has few rows.
 */
const seeded = (sql: SqlClient.SqlClient) =>
  sql.unsafe(`
    insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
      from_offset, from_instant)
    select '${distributionLines.name}', key, 1, key, '{}', jsonb_build_object(
      'distributionId', distribution, 'state', state, 'tally', distribution || ' ' || state),
      '2020', 1, '2020'
    from (
      select 'first' as distribution, case when n <= ${many} then 'delivered' else 'due' end as state,
        'first ' || lpad(n::text, 7, '0') as key from generate_series(1, ${many + page}) n
      union all
      select 'second', 'due', 'second ' || lpad(n::text, 7, '0') from generate_series(1, ${many}) n
    ) line`)

it.live("reads the due lines of a distribution without its delivered lines", () =>
  Effect.gen(function* () {
    const { url, statements } = yield* Plans.server
    const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
    const sql = Context.get(store, SqlClient.SqlClient)
    const { list } = Context.get(store, Documents)
    yield* seeded(sql)
    yield* sql`analyze bursar.document`
    const params = { distributionId: "first", state: ["due"] } as never
    const narrow = yield* lines.narrow!(params, { role: "operator" } as never).pipe(
      Effect.provideService(Records, {} as never)
    )
    const where = Access.intersectionOf(lines.where(params), narrow)
    const { direction } = lines
    const judgedAt = Instant.of("2027-01-01T00:00:00Z")
    const query = StorageQuery.of(distributionLines, { where, direction }, judgedAt)
    const { value, statements: run } = yield* statements(list({ ...query, limit: page }))
    expect(value.map(({ sortKey }) => sortKey.slice(0, 5))).toEqual(Array(page).fill("first"))
    const read = run.reduce((sum, { plan }) => sum + Plans.rowsOf(plan), 0)
    expect(read).toBeLessThan(rowsMax)
  }).pipe(Effect.scoped)
)
