/**
 * Orders of a point in PostgreSQL: found by an index among very many others, also those that were
 * stored before their point was a filter.
 */
import { Documents } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import { statements as migration } from "../../packages/storage-adapters/src/storage/postgres/migrations/0016-orders-of-a-point/up.ts"
import * as Plans from "./plans.ts"

const rows = 20_000
const points = 40

it.live("are read by their index, also where they were stored before it", () =>
  Effect.gen(function* () {
    const { url, statements } = yield* Plans.server
    const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
    const sql = Context.get(store, SqlClient.SqlClient)
    const documents = Context.get(store, Documents)
    yield* sql`
      insert into bursar.document (collection, record_id, version, sort_key, body, filters,
        created_at, from_offset, from_instant)
      select 'subscription', n::text, 1, lpad(n::text, 12, '0'),
        jsonb_build_object('pointCid', case when n % 2 = 0 then 'p-' || (n % ${points}::int4) end),
        jsonb_build_object('state', 'delivered', 'instrumentId', 'fund-a'),
        '2020-01-01T00:00:00.000000000Z', 1, '2020-01-01T00:00:00.000000000Z'
      from generate_series(1, ${rows}::int4) n`
    const query = {
      collection: "subscription",
      pin: { by: "latest" },
      direction: "asc",
      where: [{ column: "pointCid", anyOf: ["p-2", "p-4"] }]
    } as const
    const read = Stream.runCollect(documents.stream(query))
    expect(yield* read).toHaveLength(0)
    yield* sql.unsafe(migration[0]!)
    yield* sql`analyze bursar.document`
    const { value, statements: run } = yield* statements(read)
    const found = value.map(({ recordId }) => Number(recordId))
    const wanted = Array.from({ length: rows }, (_, n) => n + 1).filter(
      (n) => n % points === 2 || n % points === 4
    )
    expect(found).toEqual(wanted)
    // An order without a price is in no index of points.
    const kept = yield* sql`
      select count(*)::int4 as n from bursar.document where filters ? 'pointCid'`
    expect(kept).toEqual([{ n: rows / 2 }])
    const nodes = run
      .filter((statement) => statement.sql.includes("from bursar.document"))
      .flatMap(({ plan }) => Plans.nodes(plan))
    expect(nodes.map((node) => node["Index Name"])).toContain("document_point")
    expect(nodes.map((node) => node["Node Type"])).not.toContain("Seq Scan")
  }).pipe(Effect.scoped)
)
