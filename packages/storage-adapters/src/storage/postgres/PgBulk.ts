/** Bulk rows in PostgreSQL: a table of rows beside the records, summed and joined by the database. */
import type {
  Bulk,
  BulkDifference,
  BulkEntries,
  BulkNames,
  BulkRow,
  BulkSide,
  OwnedRow
} from "@bursar/engine-core/ports"
import { PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Option, Stream } from "effect"
import * as EntryIndexes from "./migrations/0021-entries-of-accounts/expressions.ts"
import * as ListSql from "./ListSql.ts"
import * as PinSql from "./PinSql.ts"
import type { Session, Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

/** Reads of whole owners: memory for hashing and sorting, and cursors that are read to their end. */
export const PLANNING = {
  work_mem: "64MB",
  cursor_tuple_fraction: "1",
  jit: "off"
}

/** Makes the owner where it is missing; a lock keeps it from being sealed or counted meanwhile. */
const OPEN = `
insert into bursar.bulk (owner) values ($1)
on conflict (owner) do update set rows = bulk.rows where bulk.sealed_at is null
returning number`

const APPEND = `
with written as (
  insert into bursar.bulk_row (owner, key, match, "group", amounts, body)
  select $1::int8, key, match, "group", amounts::numeric[], body
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    as r(key, match, "group", amounts, body)
  on conflict do nothing
  returning 1
)
update bursar.bulk set rows = rows + (select count(*) from written) where number = $1::int8`

const SEAL = `
update bursar.bulk set sealed_at = clock_timestamp()
where owner = $1 and rows = $2::int8 and sealed_at is null
returning 1`

const SEALED = "(select number from bursar.bulk where owner = $1 and sealed_at is not null)"

const READ = `
select key, match, "group", amounts::text[] as amounts, body from bursar.bulk_row
where owner = ${SEALED} and ($2::text is null or key > $2) order by key limit $3::int8`

const FIND = `
select key, match, "group", amounts::text[] as amounts, body from bursar.bulk_row
where owner = ${SEALED} and key = any ($2::text[]) order by key`

const SUM = `
select "group", max(rows) as rows,
  coalesce(array_agg(total order by n) filter (where n is not null), '{}') as amounts
from (
  select r."group", a.n, count(*) as rows, trim_scale(sum(a.amount))::text as total
  from bursar.bulk_row r left join lateral unnest(r.amounts) with ordinality as a(amount, n) on true
  where r.owner = ${SEALED}
  group by r."group", a.n
) totals
group by "group" order by "group"`

const FOUND = `
  select b.owner as owner_name, r.key, r.match, r."group", r.amounts::text[] as amounts, r.body`

/** Owners that are sealed, beside their rows. */
const OF_SEALED = "join bursar.bulk b on b.number = r.owner and b.sealed_at is not null"

/** Index of entries: the first characters find rows, and the whole text is compared. */
const OF_MATCH = `${EntryIndexes.MATCH} = left(wanted, ${EntryIndexes.CHARACTERS}) and match = wanted`

const ENTRIES = {
  match: `${FOUND} from unnest($1::text[]) as w(wanted)
    join bursar.bulk_row r on ${EntryIndexes.IS_ENTRY} and ${OF_MATCH} ${OF_SEALED}`,
  amount: `${FOUND} from unnest($1::text[], $2::numeric[]) as w(wanted, amount)
    join bursar.bulk_row r on ${EntryIndexes.IS_ENTRY} and ${OF_MATCH}
      and ${EntryIndexes.AMOUNT} = w.amount ${OF_SEALED}`,
  day: `${FOUND} from unnest($1::text[], $2::numeric[], $3::text[]) as w(wanted, amount, day)
    join bursar.bulk_row r on ${EntryIndexes.IS_ENTRY} and ${OF_MATCH}
      and ${EntryIndexes.AMOUNT} = w.amount and ${EntryIndexes.DAY} = w.day ${OF_SEALED}`,
  reversalOf: `${FOUND} from unnest($1::numeric[]) as w(amount)
    join bursar.bulk_row r on ${EntryIndexes.IS_REVERSAL}
      and ${EntryIndexes.AMOUNT} = w.amount ${OF_SEALED}`,
  reversalsIn: `${FOUND} from bursar.bulk b
    join bursar.bulk_row r on r.owner = b.number and ${EntryIndexes.IS_REVERSAL}
    where b.owner = any ($1::text[]) and b.sealed_at is not null`,
  reference: `${FOUND} from bursar.bulk b
    join bursar.bulk_row r on r.owner = b.number and ${EntryIndexes.IS_ENTRY}
    where b.owner = any ($1::text[]) and b.sealed_at is not null
      and ${EntryIndexes.AMOUNT} = $2::numeric and strpos(r.body, $3) > 0`
}

/** Statements that find the rows of entries: one for each form of what is wanted. */
const selecting = (wanted: ReadonlyArray<BulkEntries>): ReadonlyArray<ListSql.Statement> => {
  const matching = wanted.filter((each) => "match" in each)
  const byForm = Map.groupBy(matching, ({ amount, day }) =>
    amount === undefined ? "match" : day === undefined ? "amount" : "day"
  )
  const columns = (texts: ReadonlyArray<string | undefined>) =>
    Values.texts(texts.map((text) => text ?? null))
  const ofMatch = [...byForm].map(([form, each]) => {
    const values = [
      columns(each.map(({ match }) => match)),
      columns(each.map(({ amount }) => amount)),
      columns(each.map(({ day }) => day))
    ]
    return { sql: ENTRIES[form], values: values.slice(0, { match: 1, amount: 2, day: 3 }[form]) }
  })
  const amounts = wanted.flatMap((each) => ("reversalOf" in each ? [each.reversalOf] : []))
  const owners = wanted.flatMap((each) => ("reversalsIn" in each ? [each.reversalsIn] : []))
  return [
    ...ofMatch,
    ...(amounts.length === 0 ? [] : [{ sql: ENTRIES.reversalOf, values: [columns(amounts)] }]),
    ...(owners.length === 0 ? [] : [{ sql: ENTRIES.reversalsIn, values: [columns(owners)] }]),
    ...wanted.flatMap((each) =>
      "owners" in each
        ? [
            {
              sql: ENTRIES.reference,
              values: [
                columns(each.owners),
                each.amount,
                `"reference":${PlainJson.stringify(each.reference)}`
              ]
            }
          ]
        : []
    )
  ]
}

/** Amounts of a side with their matched text: `match`, `amount`. */
const amountsOf = (side: BulkSide, sqlParameters: ListSql.Parameters): string => {
  const { add } = sqlParameters
  if ("owner" in side) {
    const groups = add(side.groups === undefined ? null : Values.texts(side.groups))
    return `
      select match, coalesce(amounts[${add(String(side.amount + 1))}::int4], 0) as amount
      from bursar.bulk_row
      where owner = (
          select number from bursar.bulk where owner = ${add(side.owner)} and sealed_at is not null)
        and (${groups}::text[] is null or "group" = any (${groups}::text[]))`
  }
  const { collection, pin, where, match, member, times } = side
  const stored = `(d.body::json ->> ${add(member)})::numeric`
  const amount =
    times === undefined
      ? stored
      : `round(${stored} * ${add(times.factor)}::numeric, ${add(String(times.places))}::int4)`
  const filter = `${ListSql.filterOf(where.column, sqlParameters)} = ${add(where.is)}`
  return PinSql.versions(
    { collection, pin, condition: filter },
    sqlParameters
  )(`${ListSql.filterOf(match, sqlParameters)} as match, ${amount} as amount`)
}

/** Names by matched text: `match`, `name`; one for a match. */
const namesOf = (source: BulkNames, sqlParameters: ListSql.Parameters): string => {
  const { collection, column, member, pin } = source
  const versions = PinSql.versions({ collection, pin, condition: "true" }, sqlParameters)
  const name = `(d.body::json ->> ${sqlParameters.add(member)}) collate "C"`
  const names =
    column === null
      ? versions(`d.record_id as match, ${name} as name`)
      : `select match, min(name) as name from (
          ${versions(`${ListSql.filterOf(column, sqlParameters)} as match, ${name} as name`)}
        ) named where match is not null group by match`
  if (source.then === undefined) return names
  return `
    select m.match, o.name from (${names}) m
    join (${namesOf(source.then, sqlParameters)}) o on o.match = m.name collate "C"`
}

/** Amounts of a side by key: the match, or its name where it has one. */
const side = (source: BulkSide, sqlParameters: ListSql.Parameters): string => {
  const amounts = amountsOf(source, sqlParameters)
  if (source.names === undefined)
    return `select false as named, match collate "C" as match, amount from (${amounts}) a`
  const names = namesOf(source.names, sqlParameters)
  return `
    select n.name is not null as named, coalesce(n.name, a.match) collate "C" as match, a.amount
    from (${amounts}) a left join (${names}) n on n.match = a.match collate "C"`
}

/** Sums both sides in one pass: a join of two sums would be planned without statistics of either. */
const differencesOf = ({
  left,
  right,
  tolerance,
  always
}: {
  readonly left: BulkSide
  readonly right: BulkSide
  readonly tolerance: string
  readonly always?: ReadonlyArray<string>
}): ListSql.Statement => {
  const bindings = ListSql.parameters()
  const sql = `
    select match, named, trim_scale("left")::text as "left", trim_scale("right")::text as "right",
      trim_scale(coalesce("right", 0) - coalesce("left", 0))::text as difference
    from (
      select named, match, sum("left") as "left", sum("right") as "right" from (
        select named, match, amount as "left", null::numeric as "right" from (${side(left, bindings)}) l
        union all
        select named, match, null, amount from (${side(right, bindings)}) r
      ) amounts where match is not null group by named, match
    ) sums
    where "left" is null or "right" is null
      or abs("right" - "left") > ${bindings.add(tolerance)}::numeric
      or (named and match = any (${bindings.add(Values.texts(always ?? []))}::text[]))
    order by named, match`
  return { sql, values: bindings.values }
}

const DISCARD = `
with gone as (
  delete from bursar.bulk_row where owner = $1::int8 and key = any (array(
    select key from bursar.bulk_row where owner = $1::int8 order by key limit $2::int8))
  returning 1
)
update bursar.bulk set rows = rows - (select count(*) from gone), sealed_at = null
where number = $1::int8
returning (select count(*) from gone) as gone`

const FETCH = 1_000

export const make = ({
  sessions,
  bulk
}: {
  readonly sessions: Sessions
  /** Sessions with plans and time limits for many rows. */
  readonly bulk: Sessions
}): Bulk["Service"] => {
  return {
    store: sessions.store,
    append: (owner, rows) =>
      rows.length === 0
        ? Effect.void
        : bulk.run(
            Effect.gen(function* () {
              const { rows: found } = yield* bulk.ask(OPEN, [owner])
              if (found[0] === undefined) {
                return yield* Effect.die(new Error(`Bulk.append: ${owner} is sealed`))
              }
              const number = String(Values.number(found[0], "number"))
              yield* bulk.send(APPEND, [number, ...columnsOf(rows)])
            })
          ),
    seal: ({ owner, rows }) =>
      Effect.gen(function* () {
        if (rows === 0) yield* sessions.ask(OPEN, [owner])
        const { rows: sealed } = yield* sessions.ask(SEAL, [owner, String(rows)])
        if (sealed.length > 0) return
        return yield* Effect.die(
          new Error(`Bulk.seal: ${owner} is sealed, or has not ${rows} rows`)
        )
      }),
    count: (owner) =>
      Effect.map(
        sessions.look("select rows from bursar.bulk where owner = $1 and sealed_at is not null", [
          owner
        ]),
        ({ rows }) =>
          Option.map(Option.fromUndefinedOr(rows[0]), (row) => Values.number(row, "rows"))
      ),
    read: ({ owner, after, limit }) =>
      Effect.map(
        sessions.look(READ, [owner, after ?? null, String(Math.max(0, limit))]),
        ({ rows }) => rows.map(rowOf)
      ),
    find: ({ owner, keys }) =>
      keys.length === 0
        ? Effect.succeed([])
        : Effect.map(sessions.look(FIND, [owner, Values.texts(keys)]), ({ rows }) =>
            rows.map(rowOf)
          ),
    entries: Effect.fnUntraced(function* (wanted) {
      const found = new Map<string, OwnedRow>()
      for (const { sql, values } of selecting(wanted)) {
        const { rows } = yield* sessions.look(sql, values)
        for (const row of rows) {
          const owned = { ...rowOf(row), owner: Values.text(row, "owner_name") }
          found.set(`${owned.owner}/${owned.key}`, owned)
        }
      }
      return [...found.values()].toSorted(
        (a, b) => compareTexts(a.owner, b.owner) || compareTexts(a.key, b.key)
      )
    }),
    sum: (owner) =>
      Effect.map(bulk.look(SUM, [owner]), ({ rows }) =>
        rows.map((row) => ({
          group: Values.text(row, "group"),
          rows: Values.number(row, "rows"),
          amounts: Values.textList(row, "amounts")
        }))
      ),
    differences: (comparison) =>
      Stream.unwrap(
        Effect.flatMap(bulk.scoped, (session) => cursor(session, differencesOf(comparison)))
      ),
    discard: ({ owner, limit, sparesSealed = false }) =>
      bulk.run(
        Effect.gen(function* () {
          const { rows: found } = yield* bulk.ask(
            "select number, sealed_at is not null as sealed from bursar.bulk where owner = $1 for no key update",
            [owner]
          )
          if (found[0] === undefined || (sparesSealed && Values.boolean(found[0], "sealed")))
            return 0
          const number = String(Values.number(found[0], "number"))
          const { rows } = yield* bulk.ask(DISCARD, [number, String(Math.max(0, limit))])
          yield* bulk.send("delete from bursar.bulk where number = $1::int8 and rows = 0", [number])
          return Values.number(rows[0] ?? {}, "gone")
        })
      )
  }
}

/** By code unit. */
const compareTexts = (a: string, b: string): -1 | 0 | 1 => (a < b ? -1 : a > b ? 1 : 0)

/** Reads by a cursor, so that memory is that of a page. */
const cursor = (session: Session, { sql, values }: ListSql.Statement) =>
  Effect.gen(function* () {
    yield* session.look(`declare differences no scroll cursor for ${sql}`, values)
    yield* session.settled
    return Stream.paginate(undefined, () =>
      Effect.map(session.look(`fetch ${FETCH} from differences`, []), ({ rows }) => [
        rows.map(differenceOf),
        rows.length === FETCH ? Option.some(undefined) : Option.none()
      ])
    )
  })

const columnsOf = (rows: ReadonlyArray<BulkRow>): ReadonlyArray<unknown> => [
  Values.texts(rows.map((row) => row.key)),
  Values.texts(rows.map((row) => row.match)),
  Values.texts(rows.map((row) => row.group)),
  Values.texts(rows.map((row) => `{${row.amounts.join(",")}}`)),
  Values.texts(rows.map((row) => row.body))
]

const rowOf = (row: Values.Row): BulkRow => ({
  key: Values.text(row, "key"),
  match: Values.text(row, "match"),
  group: Values.text(row, "group"),
  amounts: Values.textList(row, "amounts"),
  body: Values.text(row, "body")
})

const differenceOf = (row: Values.Row): BulkDifference => ({
  match: Values.text(row, "match"),
  isNamed: row["named"] === true || row["named"] === "t",
  left: Values.textOrNull(row, "left"),
  right: Values.textOrNull(row, "right"),
  difference: Values.text(row, "difference")
})
