/**
 * SQL of list queries: keyset pages over versions of records, each read in order from an index of one
 * filter column. Where several filters have such an index, the statement itself counts the rows of
 * each up to a limit and reads the rarest, so that no plan hangs on statistics.
 */
import type { Alternatives, Clause, ListQuery } from "@bursar/engine-core/ports"
import * as PinSql from "./PinSql.ts"
import * as Values from "./Values.ts"

export const COLUMNS =
  "d.record_id, d.version, d.body, d.sort_key, d.created_at, d.from_offset, d.from_instant"

/**
 * Filter columns that the lists of the API offer, and their expressions in the index that has each
 * together with the sort key (migrations 0004, 0007 and 0010 to 0019): the planner knows an index by its
 * expression alone. The other columns are for look-ups of a few records, which the index of all filters finds.
 */
const ORDERED: ReadonlyMap<string, string> = new Map([
  ["asset", "d.filters ->> 'asset'"],
  ["state", "d.filters ->> 'state'"],
  ["instrumentId", "d.filters ->> 'instrumentId'"],
  ["holderId", "d.filters ->> 'holderId'"],
  ["party", "d.filters ->> 'party'"],
  ["kind", "d.filters ->> 'kind'"],
  ["resourceKind", "d.filters ->> 'resourceKind'"],
  ["actor", "d.filters ->> 'actor'"],
  ["registrar", "d.filters ->> 'registrar'"],
  ["cycleId", "d.filters ->> 'cycleId'"],
  ["open", "d.filters ->> 'open'"],
  ["live", "d.filters ->> 'live'"],
  ["listed", "d.filters ->> 'listed'"],
  ["mode", "d.filters ->> 'mode'"],
  ["reason", "d.filters ->> 'reason'"],
  ["source", "d.filters ->> 'source'"],
  ["standingSettlementId", "d.filters ->> 'standingSettlementId'"],
  ["reserveId", "d.filters ->> 'reserveId'"],
  ["distributionId", "d.filters ->> 'distributionId'"],
  ["shownState", "d.filters ->> 'shownState'"],
  ["month", "d.filters ->> 'month'"],
  ["trigger", "d.filters ->> 'trigger'"],
  ["verdict", "d.filters ->> 'verdict'"],
  ["covers", "d.filters ->> 'covers'"],
  ["severity", "d.filters ->> 'severity'"],
  ["check", "d.filters ->> 'check'"],
  ["runId", "d.filters ->> 'runId'"],
  ["holdId", "d.filters ->> 'holdId'"],
  ["externalSourceId", "d.filters ->> 'externalSourceId'"],
  ["webhookId", "d.filters ->> 'webhookId'"],
  // Not of a list of the API: the rescreening of holders streams it.
  ["screening", "d.filters ->> 'screening'"],
  // Not of a list of the API either: a party may have very many lots, of which the oldest are read.
  ["entry", "d.filters ->> 'entry'"],
  // Nor is this: retention reads statements that still have lines, oldest first.
  ["kept", "d.filters ->> 'kept'"],
  // Nor are these: the steps of a distribution look hundreds of payees up by one statement.
  ["pair", "d.filters ->> 'pair'"],
  ["payee", "d.filters ->> 'payee'"],
  ["tally", "d.filters ->> 'tally'"],
  // Nor is this one: a restatement streams the orders that a point priced.
  ["pointCid", "d.filters ->> 'pointCid'"],
  // Nor are these: statements read a holder's payments of some months, and a party's instruments.
  ["paidIn", "d.filters ->> 'paidIn'"],
  ["turned", "d.filters ->> 'turned'"]
])

/** Expression of a filter column: that of its index where it has one, else with its name bound. */
export const filterOf = (column: string, { add }: Parameters): string =>
  ORDERED.get(column) ?? `d.filters ->> ${add(column)}`

/**
 * Columns with the instant of a record's next clock moves. The scheduler notes a move soon after it
 * is due, so that few records have one that is due.
 */
const DUE: ReadonlyMap<string, string> = new Map([
  ["clock:1", `(d.filters ->> 'clock:1') collate "C"`],
  ["clock:2", `(d.filters ->> 'clock:2') collate "C"`]
])

/** Largest number of values whose rows are merged; the rows of more values are sorted. */
const MERGED_MAX = 32
/** As many rows of a filter are counted before it is taken for a common one. */
const COUNTED_MAX = 256
/** Largest number of rows that are sorted for a page in place of reading the list in its order. */
const SORTED_MAX = 1_000
/** The same for a whole list, which gains nothing from an order that needs all rows to be read. */
const SORTED_MAX_OF_ALL = 100_000
/** As many pages of records are walked, in the order of the list, for a page at a pin in the past. */
const NEAR_PAGES = 4
/** Cost of the seek of a record's version at a pin, in rows that are read in order. */
const SEEK_COST = 4

export interface Statement {
  readonly sql: string
  readonly values: ReadonlyArray<unknown>
}

export interface Parameters {
  readonly values: Array<unknown>
  /** Adds a value and returns its placeholder. */
  readonly add: (value: unknown) => string
}

export const parameters = (): Parameters => {
  const values: Array<unknown> = []
  return { values, add: (value) => `$${values.push(value)}` }
}

/** Access path of a list query: branches of which exactly one has each row that matches. */
type Path = ReadonlyArray<Branch>

interface Branch {
  /** Rows that the condition is asked of. */
  readonly from: string
  readonly condition: string
  /** Column by which the branch's index sorts the rows; absent: none. */
  readonly order?: "d.sort_key" | "d.from_instant"
  /** Filter of the query that every row of the branch meets; absent: none. */
  readonly filterMet?: Filter
}

/** Parts that the statements of one query have in common. */
interface Parts {
  readonly sqlParameters: Parameters
  /** Condition that a row is of the collection. */
  readonly collection: string
  /** Condition that a row comes after the cursor, with an `and` before it. */
  readonly after: string
  /** Filters of the query but one that is met already, in a form that no index serves. */
  readonly matching: (filterMet?: Filter) => string
  readonly order: (rows: string) => string
  /** Limit of an arm of the statement: at least that of the statement, and known to the planner. */
  readonly armLimit: number | undefined
  /** Limit of the statement. */
  readonly first: string
}

const partsOf = (
  query: ListQuery,
  limit: number | undefined,
  sqlParameters = parameters()
): Parts => {
  const beyond = query.direction === "asc" ? ">" : "<"
  return {
    sqlParameters,
    collection: `d.collection = ${sqlParameters.add(query.collection)}`,
    after:
      query.after === undefined
        ? ""
        : ` and d.sort_key ${beyond} ${sqlParameters.add(query.after)}`,
    matching: (filterMet) => ["true", ...filters(query, sqlParameters, filterMet)].join(" and "),
    order: (rows) => `order by ${rows}.sort_key ${query.direction}`,
    // A plan for all values alike takes a parameter for a tenth of the rows: it must know a number.
    armLimit: limit === undefined ? undefined : 2 ** Math.ceil(Math.log2(limit)),
    first: limit === undefined ? "" : ` limit ${sqlParameters.add(String(limit))}::int8`
  }
}

const limited = (limit: number | undefined): string =>
  limit === undefined ? "" : ` limit ${limit}`

/** Arms that read the open versions of a query in its order, and what they share. */
const openArms = (query: ListQuery, parts: Parts, condition: string) => {
  const { armLimit, order } = parts
  const paths = pathsOf(query, parts)
  const sortedMax = armLimit === undefined ? SORTED_MAX_OF_ALL : SORTED_MAX
  const rows = `select ${COLUMNS} from`
  const where = (filterMet: Filter | undefined) =>
    `${parts.matching(filterMet)}${parts.after} and ${condition} and d.to_offset is null`
  return {
    shared: paths.length === 1 ? [] : [`chosen as materialized (${chosen(paths, sortedMax)})`],
    arms: paths.flatMap((branches, path) => {
      const isChosen = paths.length === 1 ? "" : ` and (select path from chosen) = ${path}`
      return branches.map((branch) => {
        const rest = `${where(branch.filterMet)} and ${branch.condition}${isChosen}`
        const open = `${rows} ${branch.from} where ${rest}`
        // The fence keeps the planner from reading the list in order until rows of the branch are met.
        return branch.order === "d.sort_key"
          ? `${open} ${order("d")}${limited(armLimit)}`
          : `select * from (${open} offset 0) d ${order("d")}${limited(armLimit)}`
      })
    })
  }
}

/** Statement that gives the rows of its arms in order. */
const merged = (
  { shared, arms }: ReturnType<typeof openArms>,
  { sqlParameters, order, first }: Parts
): Statement => {
  const found = `select * from (${arms.map((arm) => `(${arm})`).join(" union all ")}) found`
  const common = shared.length === 0 ? "" : `with ${shared.join(", ")} `
  return { sql: `${common}${found} ${order("found")}${first}`, values: sqlParameters.values }
}

/**
 * Statements of a list query, of at most `limit` rows, each tried where the one before it answered
 * the row `TRY_NEXT` alone. The latest versions take one. At a pin in the past they are: the open
 * versions and those closed since the pin, if these are few; the versions of the records next in the
 * list, if these make a page; the whole list.
 */
export const pages = (
  query: ListQuery,
  limit: number
): readonly [() => Statement, ...ReadonlyArray<() => Statement>] =>
  query.pin.by === "latest"
    ? [() => firstOf(query, limit)]
    : [() => firstOf(query, limit), () => near(query, limit), () => whole(query, limit)]

/** The first of `pages`. */
const firstOf = (query: ListQuery, limit: number, sqlParameters = parameters()): Statement =>
  (query.pin.by === "latest" ? whole : recent)(query, limit, sqlParameters)

/**
 * One statement of the first of `pages` of several queries in the same direction: the rows of each in
 * its order, with the number of their query as `n`.
 */
export const firstPages = (
  queries: readonly [LimitedQuery, ...ReadonlyArray<LimitedQuery>]
): Statement => {
  const bindings = parameters()
  const parts = queries.map((query, n) => {
    const { sql } = firstOf(query, query.limit, bindings)
    return `select ${bindings.add(String(n))}::int4 as n, part.* from (${sql}) part`
  })
  const [query] = queries
  return {
    sql: `select * from (${parts.join(" union all ")}) found order by n, sort_key ${query.direction}`,
    values: bindings.values
  }
}

type LimitedQuery = ListQuery & { readonly limit: number }

/** Columns of the row that says that another statement has to be tried. */
const TRY_NEXT =
  "null::text, null::int8, null::text, null::text, null::text, null::int8, null::text"

/** Checks whether a row of a statement says that another one has to be tried. */
export const isTryNext = (row: Values.Row): boolean => row["record_id"] === null

/** Page of the open versions and of those closed since the pin, if these are few. */
const recent = (query: ListQuery, limit: number, sqlParameters = parameters()): Statement => {
  const parts = partsOf(query, limit, sqlParameters)
  const pinned = PinSql.pinnedAt(query.pin, parts.sqlParameters)!
  const { collection, after } = parts
  const matches = parts.matching()
  const closed = `${collection} and ${PinSql.closedSince(pinned)}`
  const isFew = "(select is_few from few)"
  const begun = `${PinSql.begunAt(pinned)} and ${isFew}`
  const open = openArms(query, parts, begun)
  return merged(
    {
      shared: [
        `few as materialized (select ${areAtMost(COUNTED_MAX, closed)} as is_few)`,
        ...open.shared,
        `closed as materialized (select ${COLUMNS} from ${DOCUMENTS}
          where ${closed} and ${begun} and ${matches}${after})`
      ],
      arms: [...open.arms, "select * from closed", `select ${TRY_NEXT} where not ${isFew}`]
    },
    parts
  )
}

/** Page of the records next in the list, if so many of them match or if there are no more. */
const near = (query: ListQuery, limit: number): Statement => {
  const parts = partsOf(query, limit)
  const most = NEAR_PAGES * parts.armLimit!
  const { collection, after, sqlParameters } = parts
  const isEnough = "(select is_enough from enough)"
  return merged(
    {
      shared: [
        `near as materialized (${walk(query, parts, { limit: most, condition: "true" })})`,
        `enough as materialized (select (select count(*) from near) >= ${sqlParameters.add(String(limit))}::int8
          or ${areAtMost(most, `${collection}${after} and d.to_offset is null`)} as is_enough)`
      ],
      arms: [`select * from near where ${isEnough}`, `select ${TRY_NEXT} where not ${isEnough}`]
    },
    parts
  )
}

/**
 * Statement of a whole list query. At a pin in the past it reads the open versions and those closed
 * since, or goes from record to record if that reads fewer rows.
 */
export const whole = (
  query: ListQuery,
  limit?: number,
  sqlParameters = parameters()
): Statement => {
  const parts = partsOf(query, limit, sqlParameters)
  const pinned = PinSql.pinnedAt(query.pin, parts.sqlParameters)
  if (pinned === undefined) return merged(openArms(query, parts, "true"), parts)
  const { collection, after } = parts
  const matches = parts.matching()
  const since = `${PinSql.begunAt(pinned)} and ${isSince}`
  const open = openArms(query, parts, since)
  return merged(
    {
      shared: [
        planned(pinned, collection),
        ...open.shared,
        `closed as materialized (select ${COLUMNS} from ${DOCUMENTS}
          where ${collection} and ${PinSql.closedSince(pinned)} and ${since} and ${matches}${after})`
      ],
      arms: [
        ...open.arms,
        "select * from closed",
        walk(query, parts, { limit: undefined, condition: `not ${isSince}` })
      ]
    },
    parts
  )
}

/** Versions at a pin record by record, in the order of the list, of so many records at most. */
const walk = (
  query: ListQuery,
  { collection, after, order, matching, armLimit, sqlParameters }: Parts,
  { limit, condition }: { readonly limit: number | undefined; readonly condition: string }
): string => {
  const matches = matching()
  return `
  select ${COLUMNS} from (
    select d.* from ${DOCUMENTS} where ${collection}${after} and d.to_offset is null
    ${order("d")}${limited(limit)}) r
  cross join lateral (${PinSql.inForce(PinSql.pinnedAt(query.pin, sqlParameters)!, collection)}) d
  where ${matches} and ${condition} ${order("r")}${limited(armLimit)}`
}

/** Statement that counts the records of a query for each value of a column. */
export const countBy = ({
  column,
  ...query
}: Omit<ListQuery, "after" | "direction"> & { readonly column: string }): Statement => {
  const bindings = parameters()
  const collection = `d.collection = ${bindings.add(query.collection)}`
  const pinned = PinSql.pinnedAt(query.pin, bindings)
  const counted = `d.filters ->> ${bindings.add(column)}`
  const besides = [
    ...(query.meets ?? []).map((alternatives) => some(alternatives, bindings)),
    ...changedBetween(query, bindings),
    `${counted} is not null`
  ]
  const counts = (from: string, conditions: ReadonlyArray<string>) => {
    const matches = [...conditions, ...besides].join(" and ")
    return `select ${counted} as value, count(*) as records from ${from} where ${matches} group by 1`
  }
  const isOpen = `${collection} and d.to_offset is null`
  const contained = () => query.where.map((filter) => contains(filter, bindings))
  const [only, ...others] = query.where
  const value = others.length === 0 && only !== undefined ? ORDERED.get(only.column) : undefined
  // The index of a column has the open versions alone. It is read where it has no rows but those that
  // match, whatever the planner thinks of their number.
  const open =
    value === undefined || only === undefined
      ? { from: DOCUMENTS, matches: contained() }
      : { from: eachOf({ ...only, value, collection }, bindings), matches: [] }
  if (pinned === undefined) {
    return { sql: counts(open.from, [...open.matches, isOpen]), values: bindings.values }
  }
  const since = `${collection} and ${PinSql.begunAt(pinned)} and ${isSince}`
  const records = `(select d.* from ${DOCUMENTS} where ${isOpen}) r
    cross join lateral (${PinSql.inForce(pinned, collection)}) d`
  const sql = `
    with ${planned(pinned, collection)},
      closed as materialized (${counts(DOCUMENTS, [...contained(), since, PinSql.closedSince(pinned)])})
    select value, sum(records)::int8 as records from (
      (${counts(open.from, [...open.matches, since, "d.to_offset is null"])})
      union all (select * from closed)
      union all (${counts(records, [...contained(), `not ${isSince}`])})
    ) found group by 1`
  return { sql, values: bindings.values }
}

/** Condition that at most `max` rows meet another condition; reading stops at the row after these. */
const areAtMost = (max: number | string, condition: string): string =>
  `not exists (select from ${DOCUMENTS} where ${condition} offset ${max})`

/** Condition that versions closed since the pin are read, and not record by record. */
const isSince = "(select is_since from planned)"

/** Common table expression of the choice: fewer versions were closed than the seeks of all records cost. */
const planned = (pinned: PinSql.PinColumns, collection: string): string => {
  const closed = `${collection} and ${PinSql.closedSince(pinned)}`
  const records = `(select count(*) from ${DOCUMENTS} where ${collection} and d.to_offset is null)`
  return `planned as materialized (select case
    when ${areAtMost(COUNTED_MAX, closed)} then true
    else ${areAtMost(`${SEEK_COST} * ${records}`, closed)} end as is_since)`
}

const DOCUMENTS = "bursar.document d"

const inOrder = (condition: string): Branch => ({ from: DOCUMENTS, condition, order: "d.sort_key" })

/** Checks whether rows of a path are read in the order of the list, but those that are few. */
const isInOrder = (path: Path): boolean => path.some(({ order }) => order === "d.sort_key")

interface CollectionCondition {
  readonly sqlParameters: Parameters
  /** Condition that a row is of the collection. */
  readonly collection: string
}

/** Predicate of the index of changes, which no other query implies: it holds for every row. */
const CHANGED = "d.from_instant > ''"

/**
 * Access paths of a query, of which the statement takes one. A look-up by a column without an index
 * of its own is the only path, since such a column selects few records.
 */
const pathsOf = (
  query: ListQuery,
  collectionCondition: CollectionCondition
): ReadonlyArray<Path> => {
  if (query.where.some(({ column }) => !ORDERED.has(column))) {
    const wanted = query.where.map((filter) => contains(filter, collectionCondition.sqlParameters))
    const condition = [collectionCondition.collection, ...wanted].join(" and ")
    return [[{ from: DOCUMENTS, condition }]]
  }
  const isOfAsset = query.where.some(({ column }) => column === "asset")
  const paths = [
    // The asset names the instrument, so that the instrument never has fewer rows.
    ...query.where
      .filter(({ column }) => !(isOfAsset && column === "instrumentId"))
      .flatMap((filter) => pathOf([[filter]], collectionCondition).map(meeting(filter))),
    ...(query.meets ?? []).flatMap((alternatives) => pathOf(alternatives, collectionCondition))
  ]
  const changed = changedBetween(query, collectionCondition.sqlParameters)
  if (changed.length > 0) {
    const condition = [collectionCondition.collection, CHANGED, ...changed].join(" and ")
    paths.push([{ from: DOCUMENTS, condition, order: "d.from_instant" }])
  }
  return paths.some(isInOrder) ? paths : [[inOrder(collectionCondition.collection)], ...paths]
}

/** Path that a filter was made into: its rows need not be compared with each of the filter's values. */
const meeting =
  (filterMet: Filter) =>
  (path: Path): Path =>
    path.map((branch) => ({ ...branch, filterMet }))

/**
 * Access path of a disjunction; none where an index does not serve each of its alternatives. An
 * alternative that no row meets is left out with its parameters: PostgreSQL refuses a statement with a
 * parameter that stands nowhere in it.
 */
const pathOf = (
  alternatives: Alternatives,
  collectionCondition: CollectionCondition
): ReadonlyArray<Path> => {
  const possible = alternatives.filter((clauses) => !clauses.some(isNever))
  if (!possible.every((clauses) => clauses.some((clause) => isDue(clause) || isOrdered(clause)))) {
    return []
  }
  const branches = possible.flatMap((clauses, index) => {
    // A row that meets an earlier alternative is in the branch of that one.
    const earlier = possible
      .slice(0, index)
      .map((other) => `not (${all(other, collectionCondition.sqlParameters)})`)
    const own = possible.length === 1 ? [] : [all(clauses, collectionCondition.sqlParameters)]
    return branchesOf(clauses, collectionCondition).map((branch) => ({
      ...branch,
      condition: [branch.condition, ...own, ...earlier].join(" and ")
    }))
  })
  return [
    branches.length === 0 ? [inOrder(`${collectionCondition.collection} and false`)] : branches
  ]
}

/** Checks whether no row meets a clause: it names no value. */
const isNever = (clause: Clause): boolean => "anyOf" in clause && clause.anyOf.length === 0

type WantedValues = Extract<Clause, { readonly anyOf: unknown }>

const isOrdered = (clause: Clause): clause is WantedValues =>
  "anyOf" in clause && ORDERED.has(clause.column)

/** The index of a column has no row where it is null. */
const isDue = (clause: Clause): clause is Exclude<Clause, WantedValues> =>
  "is" in clause && clause.is === "at-most" && clause.nulls === "fail" && DUE.has(clause.column)

/** Branches of a conjunction by a clause that an index serves. */
const branchesOf = (
  clauses: ReadonlyArray<Clause>,
  { sqlParameters, collection }: CollectionCondition
): ReadonlyArray<Branch> => {
  const due = clauses.find(isDue)
  if (due !== undefined) {
    const condition = `${collection} and ${DUE.get(due.column)!} <= ${sqlParameters.add(due.than)}`
    return [{ from: DOCUMENTS, condition }]
  }
  const { column, anyOf } = clauses.find(isOrdered)!
  const values = [...new Set(anyOf)]
  const value = ORDERED.get(column)!
  if (values.length <= MERGED_MAX) {
    return values.map((wanted) =>
      inOrder(`${collection} and ${value} = ${sqlParameters.add(wanted)}`)
    )
  }
  return [{ from: eachOf({ anyOf, value, collection }, sqlParameters), condition: "true" }]
}

/**
 * Open versions of each value of a column, by the column's index: a condition on all values might be
 * read off the list.
 */
const eachOf = (
  {
    anyOf,
    value,
    collection
  }: {
    readonly anyOf: ReadonlyArray<string>
    /** Expression of the column in its index. */
    readonly value: string
    readonly collection: string
  },
  sqlParameters: Parameters
): string => `unnest(${sqlParameters.add(Values.texts([...new Set(anyOf)]))}::text[]) wanted(value)
    cross join lateral (select * from bursar.document d where ${collection}
      and ${value} = wanted.value and d.to_offset is null offset 0) d`

/**
 * Number of the path that is read: the one in order that has the fewest rows. Rows are counted up to
 * a limit; where no filter is rare, rows that have to be sorted are taken if they are few enough.
 */
const chosen = (paths: ReadonlyArray<Path>, sortedMax: number): string => {
  const counted = (path: Path, max: number): string => {
    const rows = path.map(({ from, condition, order }) => {
      const inOrder = order === undefined ? "" : ` order by ${order}`
      return `(select from ${from} where ${condition} and d.to_offset is null${inOrder})`
    })
    return `(select count(*) from (select from (${rows.join(" union all ")}) branch limit ${max}) few)`
  }
  const numbered = paths.map((path, number) => ({ path, number }))
  const rarest = numbered
    .filter(({ path }) => isInOrder(path))
    .map(({ path, number }) => `(${number}, ${counted(path, COUNTED_MAX)})`)
  const sorted = numbered
    .filter(({ path }) => !isInOrder(path))
    .map(({ path, number }) => `when ${counted(path, sortedMax)} < ${sortedMax} then ${number}`)
  return `select case when few < ${COUNTED_MAX} then path ${sorted.join(" ")} else path end as path
    from (values ${rarest.join(", ")}) counted(path, few) order by few, path limit 1`
}

/**
 * Conditions of a query besides its collection, its pin and a filter that is met already, in a form that
 * no index serves.
 */
const filters = (
  query: ListQuery,
  sqlParameters: Parameters,
  filterMet?: Filter
): ReadonlyArray<string> => [
  ...query.where
    .filter((filter) => filter !== filterMet)
    .map((filter) => isOneOf(filter, sqlParameters)),
  ...(query.meets ?? []).map((alternatives) => some(alternatives, sqlParameters)),
  ...changedBetween(query, sqlParameters).map((condition) => `(${condition}) is true`)
]

const changedBetween = (
  { updatedFrom, updatedTo }: Pick<ListQuery, "updatedFrom" | "updatedTo">,
  sqlParameters: Parameters
): ReadonlyArray<string> => [
  ...(updatedFrom === undefined ? [] : [`d.from_instant >= ${sqlParameters.add(updatedFrom)}`]),
  ...(updatedTo === undefined ? [] : [`d.from_instant < ${sqlParameters.add(updatedTo)}`])
]

/** No alternative at all is one that nothing meets; one without a clause is met by everything. */
const some = (alternatives: Alternatives, sqlParameters: Parameters): string =>
  `(${["false", ...alternatives.map((clauses) => all(clauses, sqlParameters))].join(" or ")})`

const all = (clauses: ReadonlyArray<Clause>, sqlParameters: Parameters): string =>
  ["true", ...clauses.map((clause) => meets(clause, sqlParameters))].join(" and ")

const comparisons = { before: "<", "at-most": "<=", from: ">=", after: ">" } as const

const meets = (clause: Clause, sqlParameters: Parameters): string => {
  if ("anyOf" in clause) return isOneOf(clause, sqlParameters)
  const value = `(d.filters ->> ${sqlParameters.add(clause.column)}) collate "C"`
  const compared = `${value} ${comparisons[clause.is]} ${sqlParameters.add(clause.than)}`
  return `coalesce(${compared}, ${clause.nulls === "pass"})`
}

interface Filter {
  readonly column: string
  readonly anyOf: ReadonlyArray<string>
}

/** Values that the statement itself reads: the planner would look up statistics of each, every time. */
const unplanned = (texts: string): string => `array(select unnest(${texts}))`

const isOneOf = ({ column, anyOf }: Filter, sqlParameters: Parameters): string => {
  const wanted = unplanned(`${sqlParameters.add(Values.texts(anyOf))}::text[]`)
  return `(d.filters ->> ${sqlParameters.add(column)} = any (${wanted})) is true`
}

const contains = ({ column, anyOf }: Filter, sqlParameters: Parameters): string => {
  const wanted = Values.texts(anyOf.map((value) => JSON.stringify({ [column]: value })))
  return `d.filters @> any (${unplanned(`${sqlParameters.add(wanted)}::jsonb[]`)})`
}
