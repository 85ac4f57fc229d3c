/** Index of waiting records in SQLite: rows that the record's next version closes, listed by keyset. */
import type {
  Documents,
  KeptBy,
  StoredPin,
  StoredWait,
  VersionRow,
  WaitQuery,
  WaitRow
} from "@bursar/engine-core/ports"
import { waitSortKey } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import * as WaitItem from "../WaitItem.ts"
import * as Columns from "./Columns.ts"
import type { Database, Value } from "./Database.ts"
import * as Parameters from "./Parameters.ts"
import * as PinSql from "./PinSql.ts"
import type { SqliteTransactions } from "./Transactions.ts"

/** Waits that ended at or before an offset are deleted so many at a time for each version. */
const PRUNED_PER_VERSION = 8

const INSERT = `
insert into waiting (collection, record_id, kept_by, role, action, resource_kind, state,
  instrument_id, holder_id, by_at, since, sort_key, clock_from, clock_until, condition,
  condition_holds, hidden_from, item, from_offset, from_instant, to_offset, to_instant)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

type Parts = Pick<
  Documents["Service"],
  "waits" | "countWaits" | "waitConditions" | "waitMarks" | "markWaits" | "history" | "fillWaits"
>

export const make = (transactions: SqliteTransactions): Parts => ({
  waits: ({ after, limit, ...query }) =>
    limit < 1 || query.audience.length === 0
      ? Effect.succeed([])
      : transactions.read((db) => {
          const parameters = Parameters.make()
          const sql = rowsOf(query, parameters, { pairs: query.audience, after, limit })
          return db.all(sql, parameters.values).map(waitOf)
        }),
  countWaits: ({ most, ...query }) =>
    transactions.read((db) =>
      query.audience.flatMap((pair) => {
        const parameters = Parameters.make()
        const rows = rowsOf(query, parameters, { pairs: [pair], after: undefined, limit: most })
        const sql = `select count(*) as waiting,
            count(case when by_at <= ${parameters.add(query.judgedAt)} then 1 end) as overdue,
            min(by_at) as by_at from (${rows})`
        const row = db.get(sql, parameters.values) ?? {}
        const waiting = Columns.number(row, "waiting")
        return waiting === 0
          ? []
          : [
              {
                ...pair,
                waiting,
                overdue: Columns.number(row, "overdue"),
                by: Columns.textOrNull(row, "by_at")
              }
            ]
      })
    ),
  waitConditions: ({ pins }) =>
    transactions.read((db) => {
      const parameters = Parameters.make()
      const { closed, open } = pointsOf(pins, parameters)
      const arms = [`w.to_instant is null and ${open}`, ...closed].map(
        (condition) =>
          `select w.condition from waiting w where w.condition is not null and ${condition}`
      )
      return db
        .all(arms.join(" union "), parameters.values)
        .map((row) => Columns.text(row, "condition"))
    }),
  waitMarks: transactions.read((db) =>
    db.all("select mark from waiting_mark").map((row) => Columns.text(row, "mark"))
  ),
  markWaits: (mark) =>
    transactions.write(({ db }) => {
      db.run("insert or ignore into waiting_mark (mark) values (?)", [mark])
    }),
  history: ({ after, collection, limit }) =>
    transactions.read((db) =>
      db
        .all(
          `select record_id, version, body, sort_key, created_at, from_offset, from_instant,
             to_offset, to_instant
           from document where collection = :collection and record_id in (
             select distinct record_id from document
             where collection = :collection and record_id > :after
             order by record_id limit :limit)
           order by record_id, version`,
          { collection, after, limit: Math.max(0, limit) }
        )
        .map((row) => ({
          recordId: Columns.text(row, "record_id"),
          version: Columns.number(row, "version"),
          body: Columns.text(row, "body"),
          sortKey: Columns.text(row, "sort_key"),
          createdAt: Columns.text(row, "created_at"),
          fromOffset: Columns.number(row, "from_offset"),
          fromInstant: Columns.text(row, "from_instant"),
          toOffset: Columns.numberOrNull(row, "to_offset"),
          toInstant: Columns.textOrNull(row, "to_instant")
        }))
    ),
  fillWaits: ({ collection, keptBy, recordIds, rows }) =>
    transactions.write(({ db }) => {
      for (const recordId of recordIds) forget(db, { collection, recordId })
      for (const row of rows) insert(db, { ...row, collection, keptBy })
    })
})

/** Deletes the waits of a record. */
export const forget = (
  db: Database,
  { collection, recordId }: { readonly collection: string; readonly recordId: string }
): void =>
  void db.run("delete from waiting where collection = ? and record_id = ?", [collection, recordId])

/** Deletes waits of a collection that ended at or before an offset. */
export const prune = (
  db: Database,
  {
    collection,
    limit,
    through
  }: { readonly collection: string; readonly through: number; readonly limit: number }
): void =>
  void db.run(
    `delete from waiting where id in (
       select id from waiting where collection = ? and to_offset is not null and to_offset <= ?
       order by to_offset limit ?)`,
    [collection, through, Math.max(0, limit) * PRUNED_PER_VERSION]
  )

/** Closes the waits of a record that its new version does not repeat, and opens those that it adds. */
export const put = (db: Database, row: VersionRow): void => {
  const { collection, fromInstant, fromOffset, recordId, waits } = row
  if (waits === undefined) return
  const open = db.all(
    `select id, role, action, since, item from waiting
     where collection = ? and record_id = ? and to_instant is null`,
    [collection, recordId]
  )
  const items = waits.rows.map(WaitItem.print)
  for (const wait of open) {
    if (items.includes(Columns.text(wait, "item"))) continue
    db.run("update waiting set to_offset = ?, to_instant = ? where id = ?", [
      fromOffset,
      fromInstant,
      Columns.number(wait, "id")
    ])
  }
  const openItems = new Set(open.map((wait) => Columns.text(wait, "item")))
  for (const [index, wait] of waits.rows.entries()) {
    if (openItems.has(items[index]!)) continue
    const since = wait.since ?? continuedSince(open, wait, fromInstant)
    insert(db, {
      ...wait,
      ...{ collection, recordId, keptBy: waits.keptBy, since, fromOffset, fromInstant },
      ...{ toOffset: null, toInstant: null }
    })
  }
}

/** Instant since which the record waits for an act of a role, if it did in the version before. */
const continuedSince = (
  open: ReadonlyArray<Columns.Row>,
  { action, role }: Pick<WaitRow, "action" | "role">,
  fromInstant: string
): string =>
  open
    .filter(
      (wait) => Columns.text(wait, "role") === role && Columns.text(wait, "action") === action
    )
    .map((wait) => Columns.text(wait, "since"))
    .filter((since) => since <= fromInstant)
    .toSorted()
    .at(-1) ?? fromInstant

interface InsertedWait extends Omit<WaitRow, "since"> {
  readonly collection: string
  readonly recordId: string
  readonly keptBy: KeptBy
  readonly since: string
  readonly fromOffset: number
  readonly fromInstant: string
  readonly toOffset: number | null
  readonly toInstant: string | null
}

const insert = (db: Database, wait: InsertedWait): void =>
  void db.run(INSERT, [
    wait.collection,
    wait.recordId,
    wait.keptBy,
    wait.role,
    wait.action,
    wait.resourceKind,
    wait.state,
    wait.instrumentId,
    wait.holderId,
    wait.by,
    wait.since,
    waitSortKey(wait),
    wait.from,
    wait.until,
    wait.condition?.key ?? null,
    wait.condition === null ? null : Number(wait.condition.holds),
    wait.hiddenFrom.length === 0 ? null : JSON.stringify(wait.hiddenFrom),
    WaitItem.print(wait),
    wait.fromOffset,
    wait.fromInstant,
    wait.toOffset,
    wait.toInstant
  ])

const waitOf = (row: Columns.Row): StoredWait =>
  WaitItem.read(Columns.text(row, "item"), {
    since: Columns.text(row, "since"),
    sortKey: Columns.text(row, "sort_key")
  })

/** Rows at the points of a query: those that are open, and those that ended after a point. */
interface Points {
  readonly open: string
  /** Condition of each point in the past. */
  readonly closed: ReadonlyArray<string>
}

const oneOf = (values: ReadonlyArray<Value>, { add }: Parameters.Parameters): string =>
  values.length === 1
    ? `= ${add(values[0]!)}`
    : `in (select value from json_each(${add(JSON.stringify(values))}))`

const pointsOf = (pins: WaitQuery["pins"], parameters: Parameters.Parameters): Points => {
  const groups = Map.groupBy(
    (Object.entries(pins) as ReadonlyArray<[KeptBy, StoredPin | undefined]>).filter(
      (entry): entry is [KeptBy, StoredPin] => entry[1] !== undefined
    ),
    ([, pin]) => JSON.stringify(pin)
  )
  const open: Array<string> = []
  const closed: Array<string> = []
  for (const entries of groups.values()) {
    const [, pin] = entries[0]!
    const ofKeepers = `w.kept_by ${oneOf(
      entries.map(([keeper]) => keeper),
      parameters
    )}`
    const pinned = PinSql.pinnedAt(pin, parameters)
    if (pinned === undefined) open.push(ofKeepers)
    else {
      const begun = `${ofKeepers} and w.${pinned.from} <= ${pinned.point}`
      open.push(`(${begun})`)
      closed.push(`${begun} and w.${pinned.to} > ${pinned.point}`)
    }
  }
  return { open: open.length === 0 ? "0" : `(${open.join(" or ")})`, closed }
}

const COLUMN_NAMES = {
  action: "w.action",
  state: "w.state",
  instrumentId: "w.instrument_id",
  holderId: "w.holder_id"
} as const

const filtersOf = (
  { conditions, judgedAt, overdue, subject, where }: WaitQuery,
  parameters: Parameters.Parameters
): ReadonlyArray<string> => {
  const { add } = parameters
  const at = add(judgedAt)
  return [
    `(w.clock_from is null or w.clock_from <= ${at})`,
    `(w.clock_until is null or w.clock_until > ${at})`,
    `(w.hidden_from is null
      or ${add(subject)} not in (select value from json_each(w.hidden_from)))`,
    `(w.condition is null or (w.condition in (
      select value from json_each(${add(JSON.stringify(conditions))}))) = w.condition_holds)`,
    ...where.map(({ anyOf, column }) => `${COLUMN_NAMES[column]} ${oneOf(anyOf, parameters)}`),
    // The sort key begins with the deadline, so that the index ends the rows that are overdue.
    ...(overdue === true ? [`w.sort_key < ${add(`${judgedAt}!`)}`] : []),
    ...(overdue === false ? [`w.sort_key >= ${add(`${judgedAt}!`)}`] : [])
  ]
}

/** Rows of pairs of role and kind, in their order, so many at most: of each pair as many from the index. */
const rowsOf = (
  query: WaitQuery,
  parameters: Parameters.Parameters,
  {
    after,
    limit,
    pairs
  }: {
    readonly pairs: WaitQuery["audience"]
    readonly after: string | undefined
    readonly limit: number
  }
): string => {
  const { add } = parameters
  const { closed, open } = pointsOf(query.pins, parameters)
  const common = [
    ...filtersOf(query, parameters),
    ...(after === undefined ? [] : [`w.sort_key > ${add(after)}`])
  ].join(" and ")
  const first = `order by sort_key limit ${add(limit)}`
  const arms = pairs.flatMap(({ resourceKind, role }) => {
    const pair = `w.role = ${add(role)} and w.resource_kind = ${add(resourceKind)}`
    return [`w.to_instant is null and ${open}`, ...closed].map(
      (condition) => `select * from (
        select w.by_at, w.since, w.sort_key, w.item from waiting w
        where ${pair} and ${condition} and ${common} ${first})`
    )
  })
  return `select * from (${arms.join(" union all ")}) ${first}`
}
