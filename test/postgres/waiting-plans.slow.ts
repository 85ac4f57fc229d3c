/**
 * Plans in PostgreSQL of the index of waiting records: a page of the list of work and its counts read about
 * as many rows as they show, and a version's waits are written without reading those of other records.
 */
import { Documents, type StorageUnavailable, type WaitQuery } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import * as Plans from "./plans.ts"

/** Rows that wait; every hundredth has a rare instrument and holder. */
const many = 20_000
/** Rows of records that wait no more. */
const ended = many
const page = 51
const countedMost = 1_001
/** Runs of a prepared statement: later ones may have a plan for all values. */
const times = 7

const latest = { by: "latest" } as const

const audience = ["operator", "approver", "risk", "compliance"].flatMap((role) =>
  ["order", "hold", "finding", "holder", "proposal"].map((resourceKind) => ({ role, resourceKind }))
)

const base: WaitQuery = {
  pins: { ledger: latest, engine: latest, own: latest },
  judgedAt: "2026-07-01",
  audience,
  where: [],
  subject: "ann",
  conditions: []
}

const equals = (column: "instrumentId" | "holderId", value: string) => ({
  where: [{ column, anyOf: [value] }]
})

const queries: ReadonlyArray<Partial<WaitQuery>> = [
  {},
  { overdue: true },
  { overdue: false },
  { audience: [{ role: "operator", resourceKind: "order" }] },
  equals("instrumentId", "first"),
  equals("instrumentId", "rare"),
  equals("instrumentId", "none"),
  equals("holderId", "rare"),
  equals("holderId", "none")
]

/** Rows that a list may read: a page of each pair that has rows, each through the nodes of its plan. */
const listedMax = 2_000
/** Rows that a count may read: those that it counts, in two pairs, through the nodes of its plan. */
const countedMax = 12_000

const seed = (
  sql: SqlClient.SqlClient,
  { from, isOpen, to }: { readonly from: number; readonly to: number; readonly isOpen: boolean }
) =>
  sql.unsafe(`
    insert into bursar.waiting (collection, record_id, kept_by, role, action, resource_kind, state,
      instrument_id, holder_id, by_at, since, sort_key, body, from_offset, from_instant, to_offset,
      to_instant)
    select 'order', n::text, 'ledger', case when n % 2 = 0 then 'operator' else 'risk' end, 'settle',
      'order', 'priced', case when n % 1000 = 7 then 'rare' when n % 3 = 0 then 'first' else 'second' end,
      case when n % 1000 = 7 then 'rare' else 'holder ' || n % 5000 end, by_at, '2026',
      by_at || ' 2026 ' || lpad(n::text, 9, '0'), '["1","/orders/1",null]', 1, '2026',
      ${isOpen ? "null, null" : "2, '2026'"}
    from (
      select n, case when n % 2 = 0 then '2026-01' else '2026-12' end as by_at
      from generate_series(${from}, ${to}) n) row`)

it.live("reads about the rows of a page, and closes waits by their record", () =>
  Effect.gen(function* () {
    const { url, statements } = yield* Plans.server
    const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
    const sql = Context.get(store, SqlClient.SqlClient)
    const { countWaits, put, waitConditions, waits } = Context.get(store, Documents)
    const costly: Array<unknown> = []
    const checked = Effect.fnUntraced(function* <A>(
      what: unknown,
      { most, run }: { readonly most: number; readonly run: Effect.Effect<A, StorageUnavailable> }
    ) {
      const { statements: all } = yield* statements(run)
      const plans = all.filter(({ sql }) => sql.includes("bursar.waiting"))
      expect(plans.length).toBeGreaterThan(0)
      for (const { plan } of plans) {
        const scans = Plans.nodes(plan).filter(
          (node) => node["Node Type"] === "Seq Scan" && node["Relation Name"] === "waiting"
        )
        const rows = Plans.rowsOf(plan)
        if (scans.length > 0 || rows > most) costly.push({ what, rows, scans: scans.length })
      }
    })
    let versions = 0
    const explainAll = Effect.fnUntraced(function* (when: string) {
      for (const query of queries) {
        const whole = { ...base, ...query }
        const second = { ...whole, after: "2026-12 2026 000000100" }
        for (let time = 0; time < times; time++) {
          const what = [when, query, time]
          yield* checked(what, { most: listedMax, run: waits({ ...whole, limit: page }) })
          yield* checked(what, { most: listedMax, run: waits({ ...second, limit: page }) })
          yield* checked(what, {
            most: countedMax,
            run: countWaits({ ...whole, most: countedMost })
          })
        }
      }
      yield* checked([when, "conditions"], { most: page, run: waitConditions(base) })
      for (let time = 0; time < times; time++) {
        for (const hasRows of [true, false]) {
          versions += 1
          const row = {
            ...{ role: "operator", action: "settle", resourceKind: "order", state: "priced" },
            ...{ instrumentId: "first", holderId: null, by: null, from: null, until: null },
            ...{ since: null, condition: null, hiddenFrom: [], tie: `t${versions}`, body: "[]" }
          }
          yield* checked([when, "put", hasRows], {
            most: page,
            run: put([
              {
                ...{ collection: "order", recordId: "new", version: versions, body: "{}" },
                ...{ closes: versions - 1, sortKey: "new", filters: {}, createdAt: "2026" },
                ...{ fromOffset: 1, fromInstant: "2026" },
                waits: { keptBy: "ledger", follow: true, rows: hasRows ? [row] : [] }
              }
            ])
          })
        }
      }
    })
    yield* seed(sql, { from: 1, to: many, isOpen: true })
    yield* seed(sql, { from: many + 1, to: many + ended, isOpen: false })
    yield* explainAll("many rows, statistics absent")
    yield* sql`analyze bursar.waiting`
    yield* explainAll("many rows, statistics fresh")
    expect(costly).toEqual([])
  }).pipe(Effect.scoped)
)
