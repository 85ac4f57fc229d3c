/**
 * Plans of every list of the API in PostgreSQL, by each of its filters and, in the long run, by pairs
 * of them: a page reads about as many rows of the store as it shows, whether a value is rare or common.
 * A read at an old pin does not read the versions written since.
 */
import {
  Documents,
  type ListQuery,
  type StoredPin,
  type StorageUnavailable
} from "@bursar/engine-core/ports"
import { Instant } from "@bursar/engine-core/kernel"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect } from "vitest"
import { queries } from "#core/catalogue.ts"
import type { Collection } from "#core/kernel/Collection.ts"
import type * as Read from "#core/reads/Read.ts"
import type { Query } from "#core/records/Records.ts"
import * as StorageQuery from "#core/records/StorageQuery.ts"
import { Role } from "#core/vocabulary/Role.ts"
import { OpenOrderKind, OpenOrderState, ProposalKind } from "#core/vocabulary/sets.ts"
import { isLong } from "../long-run.ts"
import * as Plans from "./plans.ts"

/**
 * Rows of each collection. The long run has more, filters by each pair beside each alone, and plans
 * before there are many rows.
 */
const many = Number(process.env["PLANNED_ROWS"] ?? 5_000)
const page = 51
/** Rows that all nodes of a plan may pass on: those counted of some filters, and those of pages. */
const rowsMax = 6_000
/** Rows that a plan may sort: pages of several values, or records that changed of late. */
const sortedMax = 1_000
/** Versions of each record that is read at an old pin. */
const versions = 200
/** Largest number of rows that a read at an old pin may read, all its statements together. */
const pinnedMax = 2_000
/** Records with a rare value, with a clock move that is due, and changed of late. */
const few = 20

/** Lists whose rows are stored; those computed from keys have no statement of their own. */
const lists = queries.filter(
  (read): read is Read.List => read.shape === "list" && read.rows === undefined
)

/** Filter columns that a list is narrowed by for what the caller may see, or by other records. */
const narrowedBy: Readonly<Record<string, ReadonlyArray<string>>> = {
  "operations.list": ["actor"],
  "holders.list": ["holderId"],
  "holders.admissions": ["holderId", "registrar"],
  "holders.movements": ["party"],
  "holds.list": ["registrar"],
  "instruments.movements": ["asset"],
  "instruments.prices": ["source"],
  "subscriptions.list": ["holderId", "registrar"],
  "redemptions.list": ["holderId", "registrar"],
  "open-orders.list": ["holderId", "registrar"],
  "reserves.list": ["registrar"],
  "reserves.amendments": ["registrar"],
  "reserves.reports": ["registrar"],
  "proposals.list": ["holderId", "registrar"],
  "dealing-cycles.list": ["cycleId"],
  "reconciliation-runs.list": ["covers"],
  "distributions.list": ["distributionId", "registrar", "state"],
  "distributions.lines": ["holderId", "distributionId", "tally", "shownState"],
  "standing-settlements.list": ["standingSettlementId"]
}

/** Values of parameters from which a list makes the values of a column. */
const words: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<string>>>>> = {
  "open-orders.list": { kind: OpenOrderKind.members, state: OpenOrderState.members },
  "proposals.list": { kind: ProposalKind.members }
}

type Where = Readonly<Record<string, ReadonlyArray<string>>>

/** Columns that a list always filters by, with the values that it takes by default. */
const alwaysOf = (read: Read.List): Where => read.where({ ...required(read) } as never)

const fieldsOf = (read: Read.List): ReadonlyArray<string> =>
  Object.keys((read.params as unknown as { readonly fields: object }).fields)

const required = (read: Read.List): Readonly<Record<string, string>> =>
  Object.fromEntries([...read.route.matchAll(/\{(\w+)\}/gu)].map(([, name]) => [name!, "first"]))

/** Filters of a parameter by these values; a parameter of one value takes the first. */
const whereOf = (read: Read.List, field: string, values: ReadonlyArray<string>): Where => {
  const whereWith = (value: unknown) => read.where({ ...required(read), [field]: value } as never)
  const where = whereWith(values)
  return Object.values(where).flat().some(Array.isArray) ? whereWith(values[0]) : where
}

/** Filters of a list that are asked for alone, each with rare and with common values. */
const singlesOf = (read: Read.List): ReadonlyArray<Where> => {
  const own = fieldsOf(read).flatMap((field) => {
    const members = words[read.name]?.[field]
    const valueSets =
      members === undefined
        ? [["rare"], ["first"], ["none"], ["rare", "first", "second"]]
        : [[members[0]!], members]
    return valueSets.map((values) => whereOf(read, field, values))
  })
  const narrowed = (narrowedBy[read.name] ?? []).flatMap((column) =>
    [["rare"], ["first"], ["none"], ["rare", "first", "second"], several].map((values) => ({
      [column]: values
    }))
  )
  return [...own, ...narrowed].map((where) => ({ ...alwaysOf(read), ...where }))
}

/** Values of one filter, more than a list merges. */
const several = Array.from({ length: 40 }, (_, n) => `value ${n}`).concat("rare")

/** Checks whether each column is filtered by at most two values. */
const isShort = (where: Where): boolean => Object.values(where).every((values) => values.length < 3)

/** Each filter alone, and in the long run each pair of filters on two columns. */
const filtersOf = (read: Read.List): ReadonlyArray<Where> => {
  const singles = [alwaysOf(read), ...singlesOf(read)]
  const paired = isLong ? singles : []
  const pairs = paired.flatMap((first, n) =>
    paired.slice(n + 1).map((second) => ({ ...first, ...second }))
  )
  const all = [...singles, ...pairs.filter(isShort)]
  return [...new Map(all.map((where) => [JSON.stringify(where), where])).values()]
}

const judgedAt = Instant.of("2027-01-01T00:00:00Z")
const day = (text: string) => Instant.sortable(Instant.of(`${text}T00:00:00Z`))

/** Collections whose records some role reads in a list. */
const collectionsOf = (read: Read.List): ReadonlyArray<Collection> => [
  ...new Set(Role.members.map((role) => read.collectionFor?.(role) ?? read.collection)),
  ...(read.beside ?? [])
]

const collections = [
  ...new Map(lists.flatMap(collectionsOf).map((found) => [found.name, found])).values()
]

/** Words that lists of a collection filter a column by without being asked to. */
const wordsOf = (collection: Collection, column: string): ReadonlyArray<string> => [
  ...new Set(
    lists
      .filter((read) => collectionsOf(read).includes(collection))
      .flatMap((read) => alwaysOf(read)[column] ?? [])
      .filter((word) => word !== "first")
  )
]

/**
 * Filter columns of a row as an expression of its number `n`: each column has common and rare values,
 * independently of the others.
 */
const columnsOf = ({ name, ...collection }: Collection): string => {
  const columns = Object.keys(collection.filters).map((column, index) => {
    const found = wordsOf({ name, ...collection }, column)
    const spread = `abs(hashint4(n + ${index * 1_000_003})) % ${many}`
    const value =
      found.length > 0
        ? `(array[${found.map((word) => `'${word}'`).join(", ")}])[1 + ${spread} % ${found.length}]`
        : `case when ${spread} < ${few} then 'rare' when ${spread} % 2 = 0 then 'first' else 'second' end`
    return `'${column}', ${value}`
  })
  const moves = collection.ripens.map((column) => `'${column}:1', 'first'`)
  const due = `case when n % ${Math.floor(many / few)} = 3 then '${day("2026-06-01")}' else '${day("2036-01-01")}' end`
  if (moves.length > 0) moves.push(`'clock:1', ${due}`)
  return `jsonb_build_object(${[...columns, ...moves].join(", ")})`
}

/** Records of one version each, with ids as long as sort keys: by the size of an index the planner decides. */
const seed = (
  sql: SqlClient.SqlClient,
  collection: Collection,
  range: { readonly from: number; readonly to: number }
) => {
  const changed = `case when n % ${Math.floor(many / few)} = 5 then '${day("2026-06-01")}' else '${day("2020-01-01")}' end`
  return sql.unsafe(`
    insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
      from_offset, from_instant)
    select '${collection.name}', lpad(n::text, 12, '0'), 1, lpad(n::text, 12, '0'), '{}',
      ${columnsOf(collection)}, '${day("2020-01-01")}', 1, ${changed}
    from generate_series(${range.from}, ${range.to}) n`)
}

/** Writes few records of many versions each; the records change in turn. */
const seedVersions = (sql: SqlClient.SqlClient, collection: Collection) => {
  const instant = (offset: string) => `lpad((${offset})::text, 12, '0')`
  return sql.unsafe(`
    insert into bursar.document (collection, record_id, version, sort_key, body, filters, created_at,
      from_offset, from_instant, to_offset, to_instant)
    select '${collection.name}', record::text, version, lpad(record::text, 12, '0'), '{}',
      ${columnsOf(collection)}, ${instant("record")}, n, ${instant("n")},
      case when version < ${versions} then n + ${few} end,
      case when version < ${versions} then ${instant(`n + ${few}`)} end
    from generate_series(1, ${few}) record, generate_series(1, ${versions}) version,
      lateral (select (version - 1) * ${few} + record as n) numbered`)
}

/** Points soon after the last record began, and in the middle of the histories. */
const oldPins = [3, versions / 2].flatMap((version): ReadonlyArray<StoredPin> => {
  const offset = version * few
  return [
    { by: "offset", offset },
    { by: "instant", instant: String(offset).padStart(12, "0") }
  ]
})

const queriesOf = (read: Read.List): ReadonlyArray<Query> => {
  const wheres = filtersOf(read)
  const ranges = read.judged?.(judgedAt)
  const base = { direction: read.direction, ...(ranges === undefined ? {} : { ranges }) } as const
  const queries = wheres.map((where): Query => ({ ...base, where }))
  if (!read.changes) return queries
  const since = (from: string) => (query: Query) => ({
    ...query,
    updatedFrom: Instant.of(`${from}T00:00:00Z`)
  })
  return [...queries, ...queries.map(since("2026-01-01")), ...queries.map(since("2019-01-01"))]
}

const costOf = (plan: Plans.Node) => {
  const nodes = Plans.nodes(plan)
  const sorts = nodes.filter((node) => node["Node Type"] === "Sort")
  return {
    scans: nodes.filter((node) => node["Node Type"] === "Seq Scan").length,
    rows: Plans.rowsOf(plan),
    sorted: sorts.flatMap(({ Plans: plans = [] }) => plans.map((node) => node["Actual Rows"]))
  }
}

const isCostly = ({ scans, rows, sorted }: ReturnType<typeof costOf>): boolean =>
  scans > 0 || rows > rowsMax || sorted.some((count) => count > sortedMax)

describe("lists in PostgreSQL", () => {
  it("decides by which columns a caller's sight and other records narrow each list", () => {
    const narrowed = lists.filter(
      ({ scope, narrow }) => scope !== undefined || narrow !== undefined
    )
    expect(Object.keys(narrowedBy).toSorted()).toEqual(narrowed.map(({ name }) => name).toSorted())
  })

  it.live("are read by every filter without a scan or a large sort", () =>
    Effect.gen(function* () {
      const { url, statements } = yield* Plans.server
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
      const sql = Context.get(store, SqlClient.SqlClient)
      const documents = Context.get(store, Documents)
      const costly: Array<unknown> = []
      const explain = Effect.fnUntraced(function* (when: string, query: ListQuery) {
        const { statements: run } = yield* statements(documents.list({ ...query, limit: page }))
        const [statement, ...more] = run.filter(({ sql }) => sql.includes("from bursar.document"))
        expect(more).toEqual([])
        const cost = costOf(statement!.plan)
        const { collection, where, updatedFrom } = query
        if (isCostly(cost)) costly.push({ when, ...cost, collection, where, updatedFrom })
      })
      const explainAll = (when: string) =>
        Effect.forEach(lists, (read) =>
          Effect.forEach(collectionsOf(read), (collection) =>
            Effect.forEach(queriesOf(read), (query) =>
              explain(`${when}, ${read.name}`, StorageQuery.of(collection, query, judgedAt))
            )
          )
        )
      const seedAll = (from: number, to: number) =>
        Effect.forEach(collections, (collection) => seed(sql, collection, { from, to }))
      yield* seedAll(1, 10)
      if (isLong) yield* explainAll("ten rows")
      yield* seedAll(11, many)
      yield* explainAll("many rows, statistics absent")
      yield* sql`analyze bursar.document`
      yield* explainAll("many rows, statistics fresh")
      expect(costly).toEqual([])
    }).pipe(Effect.scoped)
  )
  it.live.runIf(isLong)("read few rows at an old pin, however many versions came after it", () =>
    Effect.gen(function* () {
      const { url, statements } = yield* Plans.server
      const store = yield* Layer.build(Postgres.layer({ url: Redacted.make(url) }))
      const sql = Context.get(store, SqlClient.SqlClient)
      const { countBy, get, list, stream } = Context.get(store, Documents)
      const costly: Array<unknown> = []
      const explain = Effect.fnUntraced(function* <A>(
        what: unknown,
        read: Effect.Effect<A, StorageUnavailable>
      ) {
        const { statements: run } = yield* statements(read)
        const costs = run
          .filter((statement) => statement.sql.includes("from bursar.document"))
          .map(({ plan }) => costOf(plan))
        const rows = costs.reduce((sum, cost) => sum + cost.rows, 0)
        if (costs.length === 0 || rows > pinnedMax || costs.some(isCostly)) {
          costly.push({ what, rows, costs })
        }
      })
      for (const collection of collections) yield* seedVersions(sql, collection)
      // Without statistics, the count of the versions closed since the pin reads their index entries
      // by a bitmap, which its limit does not stop.
      yield* sql`analyze bursar.document`
      for (const read of lists) {
        for (const collection of collectionsOf(read)) {
          for (const where of [alwaysOf(read), ...singlesOf(read)].filter(isShort)) {
            const { direction } = read
            const listQuery = StorageQuery.of(collection, { where, direction }, judgedAt)
            for (const pin of oldPins) {
              const query = { ...listQuery, pin }
              yield* explain(["page", query], list({ ...query, limit: page }))
            }
          }
        }
      }
      for (const { name: collection } of collections) {
        for (const pin of oldPins) {
          const whole = { collection, pin, where: [] }
          const recordIds = Array.from({ length: few }, (_, n) => String(n + 1))
          yield* explain(["get", whole], get({ ...whole, recordIds }))
          yield* explain(["find", whole], get({ ...whole, recordIds: ["7"] }))
          yield* explain(["count", whole], countBy({ ...whole, column: "state" }))
          const streamed = stream({ ...whole, direction: "asc" })
          yield* explain(["stream", whole], Stream.runCollect(streamed))
        }
      }
      expect(costly).toEqual([])
    }).pipe(Effect.scoped)
  )
})
