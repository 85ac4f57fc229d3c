/**
 * Cost of a batch in the database: proportional to its rows, counted in rows and pages, not by a
 * clock.
 */
import { Atomically, Documents, FactLog, Feed, WorkQueue } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { expect } from "vitest"
import * as Plans from "./plans.ts"

const sizes = [400, 8_000] as const
const now = "2026-01-01T00:00:00.000000000Z"

const idsOf = (collection: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    collection,
    recordId: `${collection}-${String(n % Math.ceil(count / 2)).padStart(6, "0")}`,
    version: n < count / 2 ? 1 : 2
  }))

/** Writes one batch of `count` versions as a transaction does: facts, documents, work and events. Half of the versions are second ones. */
const batch = Effect.fnUntraced(function* (
  store: Context.Context<Postgres.ProvidedPorts>,
  collection: string,
  count: number
) {
  const ids = idsOf(collection, count)
  yield* Context.get(store, Atomically).run(
    Effect.gen(function* () {
      const feed = Context.get(store, Feed)
      const head = yield* feed.take(now)
      yield* Context.get(store, FactLog).append(
        ids.map((id) => ({ ...id, fact: "{}", cause: "clock", offset: 1, recordedAt: head.at }))
      )
      yield* Context.get(store, Documents).put(
        ids.map((id) => ({
          ...id,
          closes: id.version - 1,
          body: "{}",
          sortKey: id.recordId,
          filters: { state: "open" },
          createdAt: head.at,
          fromOffset: 1,
          fromInstant: head.at
        }))
      )
      yield* Context.get(store, WorkQueue).enqueue(
        ids.map(({ recordId, version }) => ({
          queue: "q",
          itemId: `${recordId}/${version}`,
          resource: recordId,
          payload: "",
          delay: 0
        }))
      )
      yield* feed.append(head, {
        events: ids.map(({ recordId }, n) => ({
          seq: head.seq + 1 + n,
          kind: "control",
          type: "t",
          at: head.at,
          offset: null,
          instrumentId: null,
          party: null,
          resourceKind: "k",
          resourceId: recordId,
          holderIds: [],
          payload: "{}",
          source: null
        })),
        audit: [],
        webhooks: "same"
      })
    })
  )
})

const tables = ["fact", "document", "work", "event"] as const

it.live("costs as much a row at 8,000 rows as at 400, in one statement a table", () =>
  Effect.gen(function* () {
    const { url, statements } = yield* Plans.server
    const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
    const costs = []
    for (const size of sizes) {
      const { statements: run } = yield* statements(batch(store, `c${size}`, size))
      costs.push(
        tables.map((table) => {
          const own = run.filter(({ sql }) => sql.includes(`insert into bursar.${table} `))
          return {
            table,
            statements: own.length,
            rows: own.reduce((sum, { plan }) => sum + Plans.rowsOf(plan), 0) / size,
            pages: own.reduce((sum, { plan }) => sum + Plans.pagesOf(plan), 0) / size
          }
        })
      )
    }
    const [small = [], large = []] = costs
    for (const [n, { table, statements: count, rows, pages }] of large.entries()) {
      expect({ table, statements: count }).toEqual({ table, statements: 1 })
      expect(rows, `rows a row of ${table}`).toBeLessThan(1.5 * (small[n]?.rows ?? 0))
      // The depth of the indexes grows by a page or two.
      expect(pages, `pages a row of ${table}`).toBeLessThan(2 * (small[n]?.pages ?? 0))
    }
  }).pipe(Effect.scoped)
)
