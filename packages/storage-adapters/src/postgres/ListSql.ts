/**
 * SQL of list queries: keyset pages over versions of records, each read in order from an index of one
 * filter column. Where several filters have such an index, the statement itself counts the rows of
 * each up to a limit and reads the rarest, so that no plan hangs on statistics.
 */
import type { Alternatives, Clause, ListQuery, StoredPin } from "@bursar/engine-core/ports"
import * as Values from "./Values.ts"

export const COLUMNS =
  "d.record_id, d.version, d.body, d.sort_key, d.created_at, d.from_offset, d.from_instant"

/**
 * Filter columns that the lists of the API offer, and their expressions in the index that has each
 * together with the sort key (migrations 0004 and 0007): the planner knows an index by its expression
 * alone. The other columns are for look-ups of a few records, which the index of all filters finds.
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
  // Not of a list of the API: the rescreening of holders streams it.
  ["screening", "d.filters ->> 'screening'"]
])

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
}

/**
 * Statement of a list query, of at most `limit` rows where there is one. At a pin in the past
 * these are the open versions that stood there already and the versions closed since: each is found
 * by an index of its own, where one condition on both would read the collection's whole history.
 */
export const select = (query: ListQuery, limit?: number): Statement => {
  const given = parameters()
  const collection = `d.collection = ${given.add(query.collection)}`
  const paths = pathsOf(query, { given, collection })
  const beyond = query.direction === "asc" ? ">" : "<"
  const pinned = pinnedAt(query.pin, given)
  const where = [
    pinned.from,
    ...filters(query, given),
    ...(query.after === undefined ? [] : [`d.sort_key ${beyond} ${given.add(query.after)}`])
  ].join(" and ")
  const order = (rows: string) => `order by ${rows}.sort_key ${query.direction}`
  // A plan for all values alike takes a parameter for a tenth of the rows: it must know a number.
  const atMost = limit === undefined ? "" : ` limit ${2 ** Math.ceil(Math.log2(limit))}`
  const rowsOf = (from: string) => `select ${COLUMNS} from ${from} where ${where}`
  const arms = paths.flatMap((branches, path) => {
    const isChosen = paths.length === 1 ? "" : ` and (select path from chosen) = ${path}`
    return branches.map((branch) => {
      const { from, condition } = branch
      const open = `${rowsOf(from)} and ${condition} and d.to_offset is null${isChosen}`
      // The fence keeps the planner from reading the list in order until rows of the branch are met.
      return branch.order === "d.sort_key"
        ? `${open} ${order("d")}${atMost}`
        : `select * from (${open} offset 0) d ${order("d")}${atMost}`
    })
  })
  const shared = [
    ...(paths.length === 1
      ? []
      : [
          `chosen as materialized (${chosen(paths, limit === undefined ? SORTED_MAX_OF_ALL : SORTED_MAX)})`
        ]),
    ...(pinned.closed === null
      ? []
      : [`closed as materialized (${rowsOf(DOCUMENTS)} and ${collection} and ${pinned.closed})`])
  ]
  const parts = arms.map((arm) => `(${arm})`)
  if (pinned.closed !== null) parts.push("select * from closed")
  const first = limit === undefined ? "" : ` limit ${given.add(String(limit))}::int8`
  const found = `select * from (${parts.join(" union all ")}) found ${order("found")}${first}`
  return {
    sql: shared.length === 0 ? found : `with ${shared.join(", ")} ${found}`,
    values: given.values
  }
}

const DOCUMENTS = "bursar.document d"

const inOrder = (condition: string): Branch => ({ from: DOCUMENTS, condition, order: "d.sort_key" })

/** Checks whether rows of a path are read in the order of the list, but those that are few. */
const isInOrder = (path: Path): boolean => path.some(({ order }) => order === "d.sort_key")

interface Asked {
  readonly given: Parameters
  /** Condition that a row is of the collection. */
  readonly collection: string
}

/** Predicate of the index of changes, which no other query implies: it holds for every row. */
const CHANGED = "d.from_instant > ''"

/**
 * Access paths of a query, of which the statement takes one. A look-up by a column without an index
 * of its own is the only path, since such a column selects few records.
 */
const pathsOf = (query: ListQuery, asked: Asked): ReadonlyArray<Path> => {
  if (query.where.some(({ column }) => !ORDERED.has(column))) {
    const wanted = query.where.map((filter) => contains(filter, asked.given))
    const condition = [asked.collection, ...wanted].join(" and ")
    return [[{ from: DOCUMENTS, condition }]]
  }
  const isOfAsset = query.where.some(({ column }) => column === "asset")
  const groups = [
    // The asset names the instrument, so that the instrument never has fewer rows.
    ...query.where
      .filter(({ column }) => !(isOfAsset && column === "instrumentId"))
      .map((filter) => [[filter]]),
    ...(query.meets ?? [])
  ]
  const paths = groups.flatMap((alternatives) => pathOf(alternatives, asked))
  const changed = changedBetween(query, asked.given)
  if (changed.length > 0) {
    const condition = [asked.collection, CHANGED, ...changed].join(" and ")
    paths.push([{ from: DOCUMENTS, condition, order: "d.from_instant" }])
  }
  return paths.some(isInOrder) ? paths : [[inOrder(asked.collection)], ...paths]
}

/** Access path of a disjunction; none where an index does not serve each of its alternatives. */
const pathOf = (alternatives: Alternatives, asked: Asked): ReadonlyArray<Path> => {
  if (
    !alternatives.every((clauses) => clauses.some((clause) => isDue(clause) || isOrdered(clause)))
  ) {
    return []
  }
  const branches = alternatives.flatMap((clauses, index) => {
    // A row that meets an earlier alternative is in the branch of that one.
    const earlier = alternatives.slice(0, index).map((other) => `not (${all(other, asked.given)})`)
    const own = alternatives.length === 1 ? [] : [all(clauses, asked.given)]
    return branchesOf(clauses, asked).map((branch) => ({
      ...branch,
      condition: [branch.condition, ...own, ...earlier].join(" and ")
    }))
  })
  return [branches.length === 0 ? [inOrder(`${asked.collection} and false`)] : branches]
}

type Wanted = Extract<Clause, { readonly anyOf: unknown }>

const isOrdered = (clause: Clause): clause is Wanted =>
  "anyOf" in clause && ORDERED.has(clause.column)

/** The index of a column has no row where it is null. */
const isDue = (clause: Clause): clause is Exclude<Clause, Wanted> =>
  "is" in clause && clause.is === "at-most" && clause.nulls === "fail" && DUE.has(clause.column)

/** Branches of a conjunction by a clause that an index serves. */
const branchesOf = (
  clauses: ReadonlyArray<Clause>,
  { given, collection }: Asked
): ReadonlyArray<Branch> => {
  const due = clauses.find(isDue)
  if (due !== undefined) {
    const condition = `${collection} and ${DUE.get(due.column)!} <= ${given.add(due.than)}`
    return [{ from: DOCUMENTS, condition }]
  }
  const { column, anyOf } = clauses.find(isOrdered)!
  const values = [...new Set(anyOf)]
  const value = ORDERED.get(column)!
  if (values.length <= MERGED_MAX) {
    return values.map((wanted) => inOrder(`${collection} and ${value} = ${given.add(wanted)}`))
  }
  // The rows of each value, by an index: a condition on all values might be read off the list.
  const from = `unnest(${given.add(Values.texts(values))}::text[]) wanted(value)
    cross join lateral (select * from bursar.document d where ${collection}
      and ${value} = wanted.value and d.to_offset is null offset 0) d`
  return [{ from, condition: "true" }]
}

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

/** Conditions of a query besides its collection and its pin, in a form that no index serves. */
const filters = (query: ListQuery, given: Parameters): ReadonlyArray<string> => [
  ...query.where.map((filter) => isOneOf(filter, given)),
  ...(query.meets ?? []).map((alternatives) => some(alternatives, given)),
  ...changedBetween(query, given).map((condition) => `(${condition}) is true`)
]

/** Conditions of a query besides its collection and its pin, for the index of all filters. */
export const containing = (
  query: Omit<ListQuery, "direction">,
  given: Parameters
): ReadonlyArray<string> => [
  ...query.where.map((filter) => contains(filter, given)),
  ...(query.meets ?? []).map((alternatives) => some(alternatives, given)),
  ...changedBetween(query, given)
]

const changedBetween = (
  { updatedFrom, updatedTo }: Pick<ListQuery, "updatedFrom" | "updatedTo">,
  given: Parameters
): ReadonlyArray<string> => [
  ...(updatedFrom === undefined ? [] : [`d.from_instant >= ${given.add(updatedFrom)}`]),
  ...(updatedTo === undefined ? [] : [`d.from_instant < ${given.add(updatedTo)}`])
]

/** No alternative at all is one that nothing meets; one without a clause is met by everything. */
const some = (alternatives: Alternatives, given: Parameters): string =>
  `(${["false", ...alternatives.map((clauses) => all(clauses, given))].join(" or ")})`

const all = (clauses: ReadonlyArray<Clause>, given: Parameters): string =>
  ["true", ...clauses.map((clause) => meets(clause, given))].join(" and ")

const comparisons = { before: "<", "at-most": "<=", from: ">=", after: ">" } as const

const meets = (clause: Clause, given: Parameters): string => {
  if ("anyOf" in clause) return isOneOf(clause, given)
  const value = `(d.filters ->> ${given.add(clause.column)}) collate "C"`
  const compared = `${value} ${comparisons[clause.is]} ${given.add(clause.than)}`
  return `coalesce(${compared}, ${clause.nulls === "pass"})`
}

interface Filter {
  readonly column: string
  readonly anyOf: ReadonlyArray<string>
}

/** Values that the statement itself reads: the planner would look up statistics of each, every time. */
const unplanned = (texts: string): string => `array(select unnest(${texts}))`

const isOneOf = ({ column, anyOf }: Filter, given: Parameters): string => {
  const wanted = unplanned(`${given.add(Values.texts(anyOf))}::text[]`)
  return `(d.filters ->> ${given.add(column)} = any (${wanted})) is true`
}

const contains = ({ column, anyOf }: Filter, given: Parameters): string => {
  const wanted = Values.texts(anyOf.map((value) => JSON.stringify({ [column]: value })))
  return `d.filters @> any (${unplanned(`${given.add(wanted)}::jsonb[]`)})`
}

/** When a version began, and what one that has been closed since meets; null at the latest. */
export const pinnedAt = (
  pin: StoredPin,
  given: Parameters
): { readonly from: string; readonly closed: string | null } => {
  switch (pin.by) {
    case "latest":
      return { from: "true", closed: null }
    case "offset": {
      const offset = `${given.add(String(pin.offset))}::int8`
      return { from: `d.from_offset <= ${offset}`, closed: `d.to_offset > ${offset}` }
    }
    case "instant": {
      const instant = given.add(pin.instant)
      return { from: `d.from_instant <= ${instant}`, closed: `d.to_instant > ${instant}` }
    }
  }
}
