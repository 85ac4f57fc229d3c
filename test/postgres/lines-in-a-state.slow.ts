/** Plans in PostgreSQL of the lines of a distribution in a state, as the read of these lines asks for them. */
import { Instant } from "@bursar/engine-core/kernel"
import { Documents } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import { lines } from "#core/distributions/distribution/DistributionQueries.ts"
import * as Access from "#core/reads/Access.ts"
import { Records } from "#core/records/Records.ts"
import * as StorageQuery from "#core/records/StorageQuery.ts"
import * as Plans from "./plans.ts"

const many = 20_000
const page = 51
/** For each filter the rows that are counted before one of them is read, and the page. */
const rowsMax = 1_000

/**
 * Writes many delivered lines of a distribution and after them due ones, every second of which waits for
 * concealed causes, beside many due lines of another distribution: neither the distribution nor the state
 * has few rows.
 */
const seeded = (sql: SqlClient.SqlClient) =>
  sql.unsafe(`
    insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
      from_offset, from_instant)
    select '${distributionLines.name}', key, 1, key, '{}', jsonb_build_object(
      'distributionId', distribution, 'state', state, 'shownState', shown,
      'tally', distribution || ' ' || state),
      '2020', 1, '2020'
    from (
      select 'first' as distribution,
        case when n <= ${many} then 'delivered' when n % 2 = 0 then 'suspended' else 'due' end as state,
        case when n <= ${many} then 'delivered' else 'due' end as shown,
        'first ' || lpad(n::text, 7, '0') as key from generate_series(1, ${many + 2 * page}) n
      union all
      select 'second', 'due', 'due', 'second ' || lpad(n::text, 7, '0')
      from generate_series(1, ${many}) n
    ) line`)

/** Numbers from one line to the next that a role is shown as due. */
const roles = [
  { role: "operator", step: 2 },
  { role: "app", step: 1 },
  { role: "investor", step: 1 }
] as const

it.live.each(roles)(
  "reads the due lines of a distribution for $role without its delivered lines",
  ({ role, step }) =>
    Effect.gen(function* () {
      const { url, statements } = yield* Plans.server
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
      const sql = Context.get(store, SqlClient.SqlClient)
      const { list } = Context.get(store, Documents)
      yield* seeded(sql)
      yield* sql`analyze bursar.document`
      const params = { distributionId: "first", state: ["due"] } as never
      const narrow = yield* lines.narrow!(params, { role } as never).pipe(
        Effect.provideService(Records, {} as never)
      )
      const where = Access.intersectionOf(lines.where(params), narrow)
      const { direction } = lines
      const judgedAt = Instant.of("2027-01-01T00:00:00Z")
      const query = StorageQuery.of(distributionLines, { where, direction }, judgedAt)
      const { value, statements: run } = yield* statements(list({ ...query, limit: page }))
      expect(value.map(({ sortKey }) => sortKey)).toEqual(
        Array.from(
          { length: page },
          (_, n) => `first ${String(many + 1 + step * n).padStart(7, "0")}`
        )
      )
      const read = run.reduce((sum, { plan }) => sum + Plans.rowsOf(plan), 0)
      expect(read).toBeLessThan(rowsMax * Object.keys(where).length)
    }).pipe(Effect.scoped)
)
