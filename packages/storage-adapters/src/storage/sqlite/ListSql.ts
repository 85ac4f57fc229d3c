/**
 * SQL of list queries: keyset pages over versions of records, each read in order from the inverted index
 * of their filters. Where several filters serve, the rows of each are counted up to a limit, and the
 * rarest is read: no plan hangs on statistics.
 */
import type { Alternatives, Clause, ListQuery } from "@bursar/engine-core/ports"
import * as Columns from "./Columns.ts"
import type { Database, Value } from "./Database.ts"
import * as Parameters from "./Parameters.ts"
import * as PinSql from "./PinSql.ts"

export const COLUMNS =
  "d.record_id, d.version, d.body, d.sort_key, d.created_at, d.from_offset, d.from_instant"

/** Largest number of values whose rows are read in order one by one; the rows of more are sorted. */
const MERGED_MAX = 32
/** As many rows of a filter are counted before it is taken for a common one. */
const COUNTED_MAX = 256
/** Largest number of rows that are sorted for a page in place of reading the list in its order. */
const SORTED_MAX = 1_000
/** The same for a whole list, which gains nothing from an order that needs all rows to be read. */
const SORTED_MAX_OF_ALL = 100_000
/** As many pages of records are read, in the order of the list, for a page at a pin in the past. */
const NEAR_PAGES = 4
/** Cost of the seek of a record's version at a pin, in rows that are read in order. */
const SEEK_COST = 4

/** Condition that no row meets, which no plan takes for a constant: it would drop the named index. */
const NEVER = "d.version < 0"

interface Statement {
  readonly sql: string
  readonly values: Readonly<Record<string, Value>>
}

type Query = Omit<ListQuery, "direction" | "after"> &
  Partial<Pick<ListQuery, "direction" | "after">>

/** Access path of a list query: branches of which exactly one has each row that matches. */
type Path = ReadonlyArray<Branch>

interface Branch {
  /** Rows of the branch, its open versions being `d`. */
  readonly from: string
  readonly condition: string
  /** Column that the branch is sorted by and continued after; absent: its rows have to be sorted. */
  readonly key?: "d.sort_key" | "f.sort_key"
  /** Part of the query that all rows of the branch meet, by its index or its condition. */
  readonly met?: Part
}

/** Part of a query that one access path reads by: a filter, a disjunction, or the instants of change. */
type Part = Filter | Alternatives | "changed"

interface Parts {
  readonly parameters: Parameters.Parameters
  /** Placeholder of the collection. */
  readonly collection: string
  /**
   * Condition on the columns of the query, in a form that no index serves. A part that the rows which are
   * read meet already is left out: it would be taken from the JSON of each row again.
   */
  readonly matching: (met?: Part) => string
}

const partsOf = (query: Query): Parts => {
  const parameters = Parameters.make()
  const conditions = new Map<Part | undefined, string>()
  return {
    parameters,
    collection: parameters.add(query.collection),
    matching: (met) => {
      const condition =
        conditions.get(met) ?? ["1", ...filters(query, parameters, met)].join(" and ")
      conditions.set(met, condition)
      return condition
    }
  }
}

/**
 * Statement of a list, of at most `limit` rows where that is given, in the order of the sort key. Reads
 * the database to choose; both run on one snapshot.
 */
export const list = (db: Database, query: ListQuery, limit?: number): Statement => {
  const { pin } = query
  if (pin.by === "latest") return ofOpen(db, query, limit)
  const closed = closedSince(db, query)
  if (closed <= COUNTED_MAX) return ofSince(db, query, limit)
  if (limit !== undefined) {
    const near = walk(query, { limit, records: NEAR_PAGES * limit })
    const isEnough =
      db.all(near.sql, near.values).length >= limit ||
      recordsOf(db, query, NEAR_PAGES * limit) < NEAR_PAGES * limit
    if (isEnough) return near
  }
  return isRead(db, query) ? ofSince(db, query, limit) : walk(query, { limit })
}

/** Statement that counts the records of a query for each value of a column. */
export const countBy = (
  db: Database,
  { column, ...query }: Omit<ListQuery, "after" | "direction"> & { readonly column: string }
): Statement => {
  const { meets = [], pin, updatedFrom, updatedTo, where } = query
  const parts = partsOf(query)
  const { collection, matching, parameters } = parts
  const isPlain =
    pin.by === "latest" &&
    [...where, ...meets].length === 0 &&
    [updatedFrom, updatedTo].every((instant) => instant === undefined)
  if (isPlain) {
    return {
      sql: `select value, count(*) as records from document_filter
        where collection = ${collection} and name = ${parameters.add(column)} group by value`,
      values: parameters.values
    }
  }
  const value = `d.filters ->> ${parameters.add(column)} as value`
  const pinned = PinSql.pinnedAt(pin, parameters)
  const branches = branchOfCount(db, query, parts)
  const open = (more: string) =>
    branches.map(
      ({ condition, from, met }) =>
        `select ${value} from ${from} where ${condition} and ${matching(met)} and ${more}`
    )
  const counted = (arms: ReadonlyArray<string>): Statement => ({
    sql: `select value, count(*) as records from (${arms.join(" union all ")})
      where value is not null group by value`,
    values: parameters.values
  })
  if (pinned === undefined) return counted(open("1"))
  if (closedSince(db, query) <= COUNTED_MAX || isRead(db, query)) {
    return counted([
      ...open(`d.${pinned.from} <= ${pinned.point}`),
      `select ${value} ${closedRows(pinned, collection)} and ${matching()}`
    ])
  }
  return counted([`select ${value} ${walkedRows(pinned, { collection, matching: matching() })}`])
}

/** Branches that a count reads: those of its rarest filter, or the whole collection. */
const branchOfCount = (db: Database, query: Query, parts: Parts): Path => {
  const paths = query.where.map((filter) => ({
    path: pathOfFilter(filter, parts),
    rows: countFilter(db, query.collection, filter)
  }))
  const rarest = paths.toSorted((a, b) => a.rows - b.rows)[0]
  return rarest?.path ?? [inOrder(parts)]
}

/** Page or whole of the open versions. */
const ofOpen = (db: Database, query: ListQuery, limit: number | undefined): Statement => {
  const parts = partsOf(query)
  return merged(query, openArms(db, query, { parts, limit, more: "1" }), { parts, limit })
}

/** Page or whole of the open versions that had begun, and of those that were closed since the pin. */
const ofSince = (db: Database, query: ListQuery, limit: number | undefined): Statement => {
  const parts = partsOf(query)
  const { collection, matching, parameters } = parts
  const pinned = PinSql.pinnedAt(query.pin, parameters)
  if (pinned === undefined) return ofOpen(db, query, limit)
  const begun = `d.${pinned.from} <= ${pinned.point}`
  const closed = `select ${COLUMNS} ${closedRows(pinned, collection)} and ${matching()}
    ${beyond(query, parameters, "d.sort_key")}`
  return merged(query, [...openArms(db, query, { parts, limit, more: begun }), closed], {
    parts,
    limit
  })
}

/** Versions at a pin record by record, in the order of the list, of so many records at most. */
const walk = (
  query: ListQuery,
  { limit, records }: { readonly limit: number | undefined; readonly records?: number }
): Statement => {
  const { collection, matching, parameters } = partsOf(query)
  const pinned = PinSql.pinnedAt(query.pin, parameters)
  if (pinned === undefined)
    throw new Error("ListSql.walk: the latest versions are read as they are")
  const after = beyond(query, parameters, "sort_key")
  const rows = walkedRows(pinned, {
    collection,
    matching: matching(),
    after,
    order: `order by sort_key ${query.direction}`,
    records: records === undefined ? "" : `limit ${parameters.add(records)}`
  })
  return {
    sql: `select ${COLUMNS} ${rows} order by r.sort_key ${query.direction}${limited(limit, parameters)}`,
    values: parameters.values
  }
}

const closedRows = (pinned: PinSql.PinColumns, collection: string): string =>
  `from document d indexed by ${pinned.closedIndex} where d.collection = ${collection}
   and d.${pinned.to} is not null and d.${pinned.to} > ${pinned.point}
   and d.${pinned.from} <= ${pinned.point}`

const walkedRows = (
  pinned: PinSql.PinColumns,
  {
    collection,
    matching,
    after = "",
    order = "",
    records = ""
  }: {
    readonly collection: string
    readonly matching: string
    readonly after?: string
    readonly order?: string
    readonly records?: string
  }
): string => `from (
    select collection, record_id, sort_key, id, ${pinned.from} from document indexed by document_open
    where collection = ${collection} and to_offset is null${after} ${order} ${records}) r
  cross join document d on d.id = case when r.${pinned.from} <= ${pinned.point} then r.id
    else ${PinSql.inForce(pinned, { collection: "r.collection", recordId: "r.record_id" })} end
  where ${matching}`

/** Arms that read the open versions of a query, each in the order of the list. */
const openArms = (
  db: Database,
  query: ListQuery,
  {
    parts,
    limit,
    more
  }: { readonly parts: Parts; readonly limit: number | undefined; readonly more: string }
): ReadonlyArray<string> => {
  const { matching, parameters } = parts
  const path = chosen(db, query, { parts, limit })
  return path.map(({ condition, from, key, met }) => {
    const after = beyond(query, parameters, key ?? "d.sort_key")
    const rows = `select ${COLUMNS} from ${from} where ${condition}${after} and ${matching(met)} and ${more}`
    if (limit === undefined) {
      // One arm in order is the order of the whole; several are sorted together.
      return path.length === 1 && key !== undefined
        ? `${rows} order by ${key} ${query.direction}`
        : rows
    }
    return `${rows} order by ${key ?? "d.sort_key"} ${query.direction}${limited(limit, parameters)}`
  })
}

/** Statement that gives the rows of its arms in order. */
const merged = (
  { direction }: ListQuery,
  arms: ReadonlyArray<string>,
  { parts, limit }: { readonly parts: Parts; readonly limit: number | undefined }
): Statement => {
  const { parameters } = parts
  const [only, ...others] = arms
  if (only !== undefined && others.length === 0 && only.includes(" order by ")) {
    return { sql: only, values: parameters.values }
  }
  const all = arms.map((arm) => `select * from (${arm})`).join(" union all ")
  return {
    sql: `select * from (${all}) order by sort_key ${direction}${limited(limit, parameters)}`,
    values: parameters.values
  }
}

const limited = (limit: number | undefined, { add }: Parameters.Parameters): string =>
  limit === undefined ? "" : ` limit ${add(Math.max(0, limit))}`

/** Condition that a row comes after the cursor, with an `and` before it. */
const beyond = (
  { after, direction }: Query,
  { add }: Parameters.Parameters,
  key: string
): string =>
  after === undefined ? "" : ` and ${key} ${direction === "desc" ? "<" : ">"} ${add(after)}`

/** Number of versions closed since the pin, counted up to a limit. */
const closedSince = (db: Database, query: Query, max = COUNTED_MAX + 1): number => {
  const parameters = Parameters.make()
  const pinned = PinSql.pinnedAt(query.pin, parameters)
  if (pinned === undefined) return 0
  const rows = closedRows(pinned, parameters.add(query.collection))
  return countOf(db, `select 1 ${rows} limit ${parameters.add(max)}`, parameters)
}

/** Number of records of a collection, counted up to a limit. */
const recordsOf = (db: Database, query: Query, max?: number): number => {
  const parameters = Parameters.make()
  const after = beyond(query, parameters, "sort_key")
  const limit = max === undefined ? "" : ` limit ${parameters.add(max)}`
  const sql = `select 1 from document indexed by document_open
    where collection = ${parameters.add(query.collection)} and to_offset is null${after}${limit}`
  return countOf(db, sql, parameters)
}

/** Fewer versions were closed since the pin than the seeks of all records cost. */
const isRead = (db: Database, { after: _, ...query }: Query): boolean => {
  const seeks = SEEK_COST * recordsOf(db, query)
  return closedSince(db, query, seeks + 1) <= seeks
}

const countOf = (db: Database, rows: string, { values }: Parameters.Parameters): number =>
  Columns.number(db.get(`select count(*) as n from (${rows})`, values) ?? {}, "n")

const inOrder = ({ collection }: Pick<Parts, "collection">): Branch => ({
  from: "document d indexed by document_open",
  condition: `d.collection = ${collection} and d.to_offset is null`,
  key: "d.sort_key"
})

/** Branch that no row meets. */
const nothing = (collection: string): Branch => {
  const all = inOrder({ collection })
  return { ...all, condition: `${all.condition} and ${NEVER}` }
}

const JOINED = `document_filter f cross join document d indexed by document_open
  on d.collection = f.collection and d.sort_key = f.sort_key and d.to_offset is null`

/** Branches of a filter: each value in order, or many of them sorted. */
const pathOfFilter = (filter: Filter, { collection, parameters }: Parts): Path => {
  const { anyOf, column } = filter
  const values = [...new Set(anyOf)]
  const named = `f.collection = ${collection} and f.name = ${parameters.add(column)}`
  if (values.length > MERGED_MAX) {
    const all = parameters.add(JSON.stringify(values))
    return [
      {
        from: JOINED,
        condition: `${named} and f.value in (select value from json_each(${all}))`,
        met: filter
      }
    ]
  }
  if (values.length === 0) return [nothing(collection)]
  return values.map((value) => ({
    from: JOINED,
    condition: `${named} and f.value = ${parameters.add(value)}`,
    key: "f.sort_key" as const,
    met: filter
  }))
}

/** Number of open versions that a filter selects, counted up to a limit. */
const countFilter = (
  db: Database,
  collection: string,
  { anyOf, column }: Filter,
  max = COUNTED_MAX
): number => {
  const parameters = Parameters.make()
  const all = parameters.add(JSON.stringify([...new Set(anyOf)]))
  const sql = `select 1 from document_filter where collection = ${parameters.add(collection)}
    and name = ${parameters.add(column)} and value in (select value from json_each(${all}))
    limit ${parameters.add(max)}`
  return countOf(db, sql, parameters)
}

/** Number of open versions with a clock move that is due, counted up to a limit. */
const countDue = (
  db: Database,
  collection: string,
  { column, than }: Extract<Clause, { readonly is: unknown }>,
  max: number
): number => {
  const parameters = Parameters.make()
  const sql = `select 1 from document_filter where collection = ${parameters.add(collection)}
    and name = ${parameters.add(column)} and value <= ${parameters.add(than)}
    limit ${parameters.add(max)}`
  return countOf(db, sql, parameters)
}

/** An access path before it is made into SQL: how its rows are counted, and how they are read. */
interface Candidate {
  readonly isInOrder: boolean
  readonly rows: (max: number) => number
  readonly path: () => Path
}

/**
 * The path that is read: the one in order that has the fewest rows; where no filter is rare, rows that
 * have to be sorted are taken if they are few enough.
 */
const chosen = (
  db: Database,
  query: ListQuery,
  { parts, limit }: { readonly parts: Parts; readonly limit: number | undefined }
): Path => {
  const candidates: ReadonlyArray<Candidate> = [
    ...query.where.map((filter) => ({
      isInOrder: new Set(filter.anyOf).size <= MERGED_MAX,
      rows: (max: number) => countFilter(db, query.collection, filter, max),
      path: () => pathOfFilter(filter, parts)
    })),
    ...(query.meets ?? []).flatMap((alternatives) =>
      candidateOf(db, query, { alternatives, parts })
    ),
    ...changed(db, query, parts)
  ]
  const inOrders = candidates.filter(({ isInOrder }) => isInOrder)
  const rarest = inOrders
    .map((candidate) => ({ candidate, rows: candidate.rows(COUNTED_MAX) }))
    .toSorted((a, b) => a.rows - b.rows)[0]
  if (rarest !== undefined && rarest.rows < COUNTED_MAX) return rarest.candidate.path()
  const max = limit === undefined ? SORTED_MAX_OF_ALL : SORTED_MAX
  const sorted = candidates.find(({ isInOrder, rows }) => !isInOrder && rows(max) < max)
  return (sorted ?? rarest?.candidate)?.path() ?? [inOrder(parts)]
}

/** Path by the instants at which the open versions began. */
const changed = (db: Database, query: ListQuery, parts: Parts): ReadonlyArray<Candidate> => {
  if (query.updatedFrom === undefined && query.updatedTo === undefined) return []
  const conditionOf = (collection: string, parameters: Parameters.Parameters) =>
    [
      `d.collection = ${collection}`,
      "d.to_offset is null",
      ...changedBetween(query, parameters)
    ].join(" and ")
  const from = "document d indexed by document_changed"
  return [
    {
      isInOrder: false,
      rows: (max) => {
        const parameters = Parameters.make()
        const condition = conditionOf(parameters.add(query.collection), parameters)
        return countOf(
          db,
          `select 1 from ${from} where ${condition} limit ${parameters.add(max)}`,
          parameters
        )
      },
      path: () => [
        { from, condition: conditionOf(parts.collection, parts.parameters), met: "changed" }
      ]
    }
  ]
}

/** Access path of a disjunction; none where an index does not serve each of its alternatives. */
const candidateOf = (
  db: Database,
  query: ListQuery,
  { alternatives, parts }: { readonly alternatives: Alternatives; readonly parts: Parts }
): ReadonlyArray<Candidate> => {
  const possible = alternatives.filter((clauses) => !clauses.some(isNever))
  const served = possible.map((clauses) => clauses.find(isDue) ?? clauses.find(isFilter))
  if (!served.every((clause) => clause !== undefined)) return []
  const rowsOf = (clause: Clause, max: number) =>
    "anyOf" in clause
      ? countFilter(db, query.collection, clause, max)
      : countDue(db, query.collection, clause, max)
  return [
    {
      isInOrder:
        served.length === 0 ||
        served.some((clause) => isFilter(clause) && new Set(clause.anyOf).size <= MERGED_MAX),
      rows: (max) =>
        served.reduce(
          (rows, clause) => (rows >= max ? rows : rows + rowsOf(clause, max - rows)),
          0
        ),
      path: () => {
        if (served.length === 0) return [nothing(parts.collection)]
        const { collection, parameters } = parts
        return served.flatMap((clause, index) => {
          // A row that meets an earlier alternative is in the branch of that one.
          const earlier = possible.slice(0, index).map((other) => `not (${all(other, parameters)})`)
          const others = (possible[index] ?? []).filter((other) => other !== clause)
          const condition = [all(others, parameters), ...earlier].join(" and ")
          const branches: Path = isFilter(clause)
            ? pathOfFilter(clause, parts)
            : [
                {
                  from: JOINED,
                  condition: `f.collection = ${collection} and f.name = ${parameters.add(clause.column)} and f.value <= ${parameters.add(clause.than)}`
                }
              ]
          return branches.map((branch) => ({
            ...branch,
            condition: `${branch.condition} and ${condition}`,
            met: alternatives
          }))
        })
      }
    }
  ]
}

/** Checks whether no row meets a clause: it names no value. */
const isNever = (clause: Clause): boolean => "anyOf" in clause && clause.anyOf.length === 0

type FilterClause = Extract<Clause, { readonly anyOf: unknown }>

const isFilter = (clause: Clause): clause is FilterClause => "anyOf" in clause

/** Clock moves that are due: the scheduler notes each soon, so that few records have one. */
const isDue = (clause: Clause): clause is Exclude<Clause, FilterClause> =>
  "is" in clause &&
  clause.is === "at-most" &&
  clause.nulls === "fail" &&
  clause.column.startsWith("clock:")

/** Conditions of a query besides its collection and its pin, without the part that is met. */
const filters = (
  query: Query,
  parameters: Parameters.Parameters,
  met: Part | undefined
): ReadonlyArray<string> => [
  ...query.where.filter((filter) => filter !== met).map((filter) => isOneOf(filter, parameters)),
  ...(query.meets ?? [])
    .filter((alternatives) => alternatives !== met)
    .map((alternatives) => some(alternatives, parameters)),
  ...(met === "changed" ? [] : changedBetween(query, parameters))
]

const changedBetween = (
  { updatedFrom, updatedTo }: Pick<Query, "updatedFrom" | "updatedTo">,
  { add }: Parameters.Parameters
): ReadonlyArray<string> => [
  ...(updatedFrom === undefined ? [] : [`d.from_instant >= ${add(updatedFrom)}`]),
  ...(updatedTo === undefined ? [] : [`d.from_instant < ${add(updatedTo)}`])
]

/** No alternative at all is one that nothing meets; one without a clause is met by everything. */
const some = (alternatives: Alternatives, parameters: Parameters.Parameters): string =>
  `(${[NEVER, ...alternatives.map((clauses) => all(clauses, parameters))].join(" or ")})`

const all = (clauses: ReadonlyArray<Clause>, parameters: Parameters.Parameters): string =>
  `(${["1", ...clauses.map((clause) => meets(clause, parameters))].join(" and ")})`

const comparisons = { before: "<", "at-most": "<=", from: ">=", after: ">" } as const

const meets = (clause: Clause, parameters: Parameters.Parameters): string => {
  if ("anyOf" in clause) return isOneOf(clause, parameters)
  const value = `(d.filters ->> ${parameters.add(clause.column)})`
  const compared = `${value} ${comparisons[clause.is]} ${parameters.add(clause.than)}`
  return `coalesce(${compared}, ${clause.nulls === "pass" ? 1 : 0})`
}

interface Filter {
  readonly column: string
  readonly anyOf: ReadonlyArray<string>
}

const isOneOf = ({ anyOf, column }: Filter, { add }: Parameters.Parameters): string => {
  const value = `(d.filters ->> ${add(column)})`
  const [only, ...more] = anyOf
  if (only !== undefined && more.length === 0) return `coalesce(${value} = ${add(only)}, 0)`
  return `coalesce(${value} in (select value from json_each(${add(JSON.stringify(anyOf))})), 0)`
}
