/** Index of waiting records in PostgreSQL: rows that the record's next version closes, listed by keyset. */
import type {
  Documents,
  FilledWait,
  KeptBy,
  StoredPin,
  StoredWait,
  VersionRow,
  VersionWaits,
  WaitQuery,
  WaitRow
} from "@bursar/engine-core/ports"
import { waitSortKey } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import * as ListSql from "./ListSql.ts"
import * as PinSql from "./PinSql.ts"
import type { Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

/** Closes the waits of a record that its new version does not repeat. */
const CLOSE = `
update bursar.waiting w set to_offset = $3::int8, to_instant = $4
where w.collection = $1 and w.record_id = $2 and w.to_instant is null`

/** A row of the table that a new version repeats: all but `begun` is the same, which `since` continues. */
const SAME = `r.role = w.role and r.action = w.action and r.resource_kind = w.resource_kind
  and r.body = w.body and w.sort_key = coalesce(r.by_at, '~') || ' ' || w.since || ' ' || r.tie
  and (r.state, r.instrument_id, r.holder_id, r.clock_from, r.clock_until, r.condition,
    r.condition_holds, r.hidden_from) is not distinct from (w.state, w.instrument_id, w.holder_id,
    w.clock_from, w.clock_until, w.condition, w.condition_holds, w.hidden_from)`

const COLUMNS_WRITTEN = `collection, record_id, kept_by, role, action, resource_kind, state,
  instrument_id, holder_id, by_at, since, sort_key, clock_from, clock_until, condition,
  condition_holds, hidden_from, body, from_offset, from_instant`

/**
 * Opens waits of records that have none, all of one call in one statement; the waits of records that were
 * written before the index may have ended.
 */
const OPEN = `
insert into bursar.waiting (${COLUMNS_WRITTEN}, to_offset, to_instant)
select r.collection, r.record_id, r.kept_by, r.role, r.action, r.resource_kind, r.state,
  r.instrument_id, r.holder_id, r.by_at, r.since, r.sort_key, r.clock_from, r.clock_until,
  r.condition, r.condition_holds::boolean, r.hidden_from::text[], r.body, r.from_offset,
  r.from_instant, r.to_offset, r.to_instant
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
    $15::text[], $16::text[], $17::text[], $18::text[], $19::int8[], $20::text[], $21::int8[],
    $22::text[])
  as r(body, role, action, resource_kind, state, instrument_id, holder_id, by_at, clock_from,
    clock_until, condition, condition_holds, hidden_from, since, sort_key, collection, record_id,
    kept_by, from_offset, from_instant, to_offset, to_instant)`

/**
 * Closes the waits of a record that its new version does not repeat, and opens those that it adds. A wait
 * for an act that the version before waited for too keeps the instant since which it did.
 */
const PUT = `
with r as (
  select body, role, action, resource_kind, state, instrument_id, holder_id, by_at, clock_from,
    clock_until, condition, condition_holds::boolean, hidden_from::text[], tie, begun
  from unnest($6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
      $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[],
      $19::text[], $20::text[])
    as r(body, role, action, resource_kind, state, instrument_id, holder_id, by_at, clock_from,
      clock_until, condition, condition_holds, hidden_from, tie, begun)
), before as materialized (
  select * from bursar.waiting w
  where w.collection = $1 and w.record_id = $2 and w.to_instant is null
), closed as (${CLOSE} and not exists (select from r where ${SAME}))
insert into bursar.waiting (${COLUMNS_WRITTEN})
select $1, $2, $5, r.role, r.action, r.resource_kind, r.state, r.instrument_id, r.holder_id, r.by_at,
  s.since, coalesce(r.by_at, '~') || ' ' || s.since || ' ' || r.tie, r.clock_from, r.clock_until,
  r.condition, r.condition_holds, r.hidden_from, r.body, $3::int8, $4
from r cross join lateral (select coalesce(r.begun, (
    select max(w.since) from before w
    where w.role = r.role and w.action = r.action and w.since <= $4), $4) as since) s
where not exists (select from before w where ${SAME})`

/** Waits that ended at or before an offset are deleted so many at a time for each version. */
const PRUNED_PER_VERSION = 8

/** A closed wait never changes again, so it still lies where it was found. */
const PRUNE = `
delete from bursar.waiting where ctid = any (array(
  select ctid from bursar.waiting
  where collection = $1 and to_offset is not null and to_offset <= $2::int8
  order by to_offset limit $3::int8))`

const COLUMNS = `w.role, w.action, w.resource_kind, w.state, w.instrument_id, w.holder_id, w.by_at, w.since,
  w.sort_key, w.body`

type Parts = Pick<
  Documents["Service"],
  "waits" | "countWaits" | "waitConditions" | "waitMarks" | "markWaits" | "history" | "fillWaits"
>

/** Parts of the port of documents that read and write waits, and what its other parts do to them. */
export interface PgWaits {
  readonly service: Parts
  /** Statements that write the waits of new versions; none for versions without any. */
  readonly put: (rows: ReadonlyArray<VersionRow>) => ReadonlyArray<ListSql.Statement>
  readonly forget: (records: {
    readonly collection: string
    readonly recordIds: ReadonlyArray<string>
  }) => ListSql.Statement
  readonly prune: (deletion: {
    readonly collection: string
    readonly through: number
    readonly limit: number
  }) => ListSql.Statement
}

/** `look` reads rows that a pin selects. */
export const make = (sessions: Sessions, look: (pin: StoredPin) => Sessions["look"]): PgWaits => {
  const read = (query: Pick<WaitQuery, "pins">, { sql, values }: ListSql.Statement) =>
    Effect.map(look(latestOf(query.pins))(sql, values), ({ rows }) => rows)
  return {
    service: {
      waits: ({ after, limit, ...query }) =>
        limit < 1 || query.audience.length === 0
          ? Effect.succeed([])
          : Effect.map(read(query, listed(query, { after, limit })), (rows) => rows.map(waitOf)),
      countWaits: ({ most, ...query }) =>
        query.audience.length === 0
          ? Effect.succeed([])
          : Effect.map(read(query, counted(query, most)), (rows) =>
              rows.map((row) => ({
                role: Values.text(row, "role"),
                resourceKind: Values.text(row, "resource_kind"),
                waiting: Values.number(row, "waiting"),
                overdue: Values.number(row, "overdue"),
                by: Values.textOrNull(row, "by_at")
              }))
            ),
      waitConditions: ({ pins }) =>
        Effect.map(read({ pins }, conditions(pins)), (rows) =>
          rows.map((row) => Values.text(row, "condition"))
        ),
      waitMarks: Effect.suspend(() =>
        Effect.map(sessions.look("select mark from bursar.waiting_mark", []), ({ rows }) =>
          rows.map((row) => Values.text(row, "mark"))
        )
      ),
      markWaits: (mark) =>
        sessions.send(
          "insert into bursar.waiting_mark (mark) values ($1) on conflict (mark) do nothing",
          [mark]
        ),
      history: ({ collection, after, limit }) =>
        Effect.map(
          sessions.look(HISTORY, [collection, after, String(Math.max(0, limit))]),
          ({ rows }) =>
            rows.map((row) => ({
              recordId: Values.text(row, "record_id"),
              version: Values.number(row, "version"),
              body: Values.text(row, "body"),
              sortKey: Values.text(row, "sort_key"),
              createdAt: Values.text(row, "created_at"),
              fromOffset: Values.number(row, "from_offset"),
              fromInstant: Values.text(row, "from_instant"),
              toOffset: Values.numberOrNull(row, "to_offset"),
              toInstant: Values.textOrNull(row, "to_instant")
            }))
        ),
      fillWaits: ({ collection, keptBy, recordIds, rows }) =>
        Effect.andThen(
          sessions.send(
            "delete from bursar.waiting where collection = $1 and record_id = any ($2::text[])",
            [collection, Values.texts(recordIds)]
          ),
          rows.length === 0
            ? Effect.void
            : sessions.send(
                OPEN,
                openedColumns(rows.map((row) => ({ ...row, collection, keptBy })))
              )
        )
    },
    put: written,
    forget: ({ collection, recordIds }) => ({
      sql: "delete from bursar.waiting where collection = $1 and record_id = any ($2::text[])",
      values: [collection, Values.texts(recordIds)]
    }),
    prune: ({ collection, through, limit }) => ({
      sql: PRUNE,
      values: [collection, String(through), String(Math.max(0, limit) * PRUNED_PER_VERSION)]
    })
  }
}

const HISTORY = `
select d.record_id, d.version, d.body, d.sort_key, d.created_at, d.from_offset, d.from_instant,
  d.to_offset, d.to_instant
from bursar.document d
where d.collection = $1 and d.record_id > $2 and d.record_id <= (
  select max(record_id) from (
    select distinct record_id from bursar.document
    where collection = $1 and record_id > $2 order by record_id limit $3::int8) r)
order by d.record_id, d.version`

/** The pin of a query that shows the latest of its rows. */
const latestOf = (pins: WaitQuery["pins"]): StoredPin =>
  pins.own ?? pins.engine ?? pins.ledger ?? { by: "latest" }

/**
 * Waits of records that have none before are opened in one statement, ahead of the others: each of those is
 * of a record that has waits already, or of its second version in the call.
 */
const written: PgWaits["put"] = (rows) => {
  const opened: Array<OpenedWait> = []
  const others: Array<ListSql.Statement> = []
  const records = new Set<string>()
  for (const row of rows) {
    if (row.waits === undefined) continue
    const record = JSON.stringify([row.collection, row.recordId])
    if (row.waits.follow || records.has(record)) others.push(moved(row, row.waits))
    else opened.push(...openedOf(row, row.waits))
    records.add(record)
  }
  return opened.length === 0 ? others : [{ sql: OPEN, values: openedColumns(opened) }, ...others]
}

/** A wait to insert, with the record that it is of. */
interface OpenedWait extends FilledWait {
  readonly collection: string
  readonly keptBy: KeptBy
}

const openedOf = (
  { collection, fromInstant, fromOffset, recordId }: VersionRow,
  { keptBy, rows }: VersionWaits
): ReadonlyArray<OpenedWait> =>
  rows.map((row) => ({
    ...row,
    ...{ collection, recordId, keptBy, fromOffset, fromInstant, toOffset: null, toInstant: null },
    since: row.since ?? fromInstant
  }))

/** The waits of a version after one that has waits. */
const moved = (
  { collection, fromInstant, fromOffset, recordId }: VersionRow,
  { keptBy, rows }: VersionWaits
): ListSql.Statement => {
  const record = [collection, recordId, String(fromOffset), fromInstant]
  if (rows.length === 0) return { sql: CLOSE, values: record }
  return {
    sql: PUT,
    values: [
      ...record,
      keptBy,
      ...columnsOf(rows),
      Values.texts(rows.map(({ tie }) => tie)),
      Values.texts(rows.map(({ since }) => since))
    ]
  }
}

const openedColumns = (rows: ReadonlyArray<OpenedWait>): ReadonlyArray<unknown> => [
  ...columnsOf(rows),
  Values.texts(rows.map(({ since }) => since)),
  Values.texts(rows.map(waitSortKey)),
  Values.texts(rows.map(({ collection }) => collection)),
  Values.texts(rows.map(({ recordId }) => recordId)),
  Values.texts(rows.map(({ keptBy }) => keptBy)),
  Values.integers(rows.map(({ fromOffset }) => fromOffset)),
  Values.texts(rows.map(({ fromInstant }) => fromInstant)),
  Values.integers(rows.map(({ toOffset }) => toOffset)),
  Values.texts(rows.map(({ toInstant }) => toInstant))
]

type Row = Omit<WaitRow, "since">

/** The columns that both statements begin with, in their order. */
const columnsOf = (rows: ReadonlyArray<Row>): ReadonlyArray<unknown> => [
  Values.texts(rows.map(({ body }) => body)),
  Values.texts(rows.map(({ role }) => role)),
  Values.texts(rows.map(({ action }) => action)),
  Values.texts(rows.map(({ resourceKind }) => resourceKind)),
  Values.texts(rows.map(({ state }) => state)),
  Values.texts(rows.map(({ instrumentId }) => instrumentId)),
  Values.texts(rows.map(({ holderId }) => holderId)),
  Values.texts(rows.map(({ by }) => by)),
  Values.texts(rows.map(({ from }) => from)),
  Values.texts(rows.map(({ until }) => until)),
  Values.texts(rows.map(({ condition }) => condition?.key ?? null)),
  Values.texts(rows.map(({ condition }) => (condition === null ? null : String(condition.holds)))),
  Values.texts(
    rows.map(({ hiddenFrom }) => (hiddenFrom.length === 0 ? null : arrayText(hiddenFrom)))
  )
]

/** Text of an array of texts, as the database reads it. */
const arrayText = (texts: ReadonlyArray<string>): string =>
  `{${texts.map((text) => `"${text.replaceAll(/[\\"]/g, String.raw`\$&`)}"`).join(",")}}`

const waitOf = (row: Values.Row): StoredWait => ({
  role: Values.text(row, "role"),
  action: Values.text(row, "action"),
  resourceKind: Values.text(row, "resource_kind"),
  state: Values.textOrNull(row, "state"),
  instrumentId: Values.textOrNull(row, "instrument_id"),
  holderId: Values.textOrNull(row, "holder_id"),
  by: Values.textOrNull(row, "by_at"),
  since: Values.text(row, "since"),
  sortKey: Values.text(row, "sort_key"),
  body: Values.text(row, "body")
})

/** Rows at the points of a query: those that are open, and those that ended after a point. */
interface Points {
  readonly open: string
  /** Condition of each point in the past. */
  readonly closed: ReadonlyArray<string>
}

const pointsOf = (pins: WaitQuery["pins"], bindings: ListSql.Parameters): Points => {
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
    const ofKeepers = `w.kept_by = any (${bindings.add(Values.texts(entries.map(([keeper]) => keeper)))}::text[])`
    const pinned = PinSql.pinnedAt(pin, bindings)
    if (pinned === undefined) open.push(ofKeepers)
    else {
      const begun = `${ofKeepers} and w.${pinned.from} <= ${pinned.point}`
      open.push(`(${begun})`)
      closed.push(`${begun} and w.${pinned.to} > ${pinned.point}`)
    }
  }
  return { open: open.length === 0 ? "false" : `(${open.join(" or ")})`, closed }
}

const COLUMN_NAMES = {
  action: "w.action",
  state: "w.state",
  instrumentId: "w.instrument_id",
  holderId: "w.holder_id"
} as const

const filtersOf = (
  { conditions, judgedAt, overdue, subject, where }: WaitQuery,
  { add }: ListSql.Parameters
): ReadonlyArray<string> => {
  const at = add(judgedAt)
  return [
    `(w.clock_from is null or w.clock_from <= ${at})`,
    `(w.clock_until is null or w.clock_until > ${at})`,
    `(w.hidden_from is null or not (${add(subject)} = any (w.hidden_from)))`,
    `(w.condition is null
      or (w.condition = any (${add(Values.texts(conditions))}::text[])) = w.condition_holds)`,
    ...where.map(({ anyOf, column }) =>
      anyOf.length === 1
        ? `${COLUMN_NAMES[column]} = ${add(anyOf[0])}`
        : `${COLUMN_NAMES[column]} = any (${add(Values.texts(anyOf))}::text[])`
    ),
    // The sort key begins with the deadline, so that the index ends the rows that are overdue.
    ...(overdue === true ? [`w.sort_key < ${add(`${judgedAt}!`)}`] : []),
    ...(overdue === false ? [`w.sort_key >= ${add(`${judgedAt}!`)}`] : [])
  ]
}

/** Rows of a pair of role and kind, in their order, so many at most. */
const rowsOf = (
  query: WaitQuery,
  bindings: ListSql.Parameters,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number }
): string => {
  const { closed, open } = pointsOf(query.pins, bindings)
  const common = [
    ...filtersOf(query, bindings),
    ...(after === undefined ? [] : [`w.sort_key > ${bindings.add(after)}`])
  ].join(" and ")
  const pair = "w.role = a.role and w.resource_kind = a.resource_kind"
  const first = `order by w.sort_key limit ${bindings.add(String(limit))}::int8`
  const arm = (condition: string) =>
    `(select ${COLUMNS} from bursar.waiting w where ${pair} and ${condition} and ${common} ${first})`
  const arms = [
    arm(`w.to_instant is null and ${open}`),
    ...closed.map((condition) => arm(condition))
  ]
  return arms.length === 1 ? arms[0]! : `(select * from (${arms.join(" union all ")}) w ${first})`
}

const audienceOf = ({ audience }: WaitQuery, { add }: ListSql.Parameters): string =>
  `unnest(${add(Values.texts(audience.map(({ role }) => role)))}::text[],
    ${add(Values.texts(audience.map(({ resourceKind }) => resourceKind)))}::text[])
    as a(role, resource_kind)`

const listed = (
  query: WaitQuery,
  page: { readonly after: string | undefined; readonly limit: number }
): ListSql.Statement => {
  const bindings = ListSql.parameters()
  const sql = `select w.* from ${audienceOf(query, bindings)}
    cross join lateral ${rowsOf(query, bindings, page)} w
    order by w.sort_key limit ${bindings.add(String(page.limit))}::int8`
  return { sql, values: bindings.values }
}

const counted = (query: WaitQuery, most: number): ListSql.Statement => {
  const bindings = ListSql.parameters()
  const at = bindings.add(query.judgedAt)
  const sql = `select a.role, a.resource_kind, c.waiting, c.overdue, c.by_at
    from ${audienceOf(query, bindings)}
    cross join lateral (
      select count(*) as waiting, count(*) filter (where w.by_at <= ${at}) as overdue,
        min(w.by_at) as by_at
      from ${rowsOf(query, bindings, { limit: most })} w) c
    where c.waiting > 0`
  return { sql, values: bindings.values }
}

const conditions = (pins: WaitQuery["pins"]): ListSql.Statement => {
  const bindings = ListSql.parameters()
  const { closed, open } = pointsOf(pins, bindings)
  const arms = [`w.to_instant is null and ${open}`, ...closed].map(
    (condition) =>
      `select w.condition from bursar.waiting w where w.condition is not null and ${condition}`
  )
  return { sql: arms.join(" union "), values: bindings.values }
}
