/** SQL of comparisons: both sides summed by match or name in one pass over a snapshot of both files. */
import { Decimal } from "@bursar/engine-core/kernel"
import type {
  Bulk,
  BulkDifference,
  BulkNames,
  BulkRecords,
  BulkSide,
  StoredPin
} from "@bursar/engine-core/ports"
import * as Columns from "./Columns.ts"
import type { Database } from "./Database.ts"
import * as Bindings from "./Parameters.ts"
import * as PinSql from "./PinSql.ts"

type Comparison = Parameters<Bulk["Service"]["differences"]>[0]

/** Sums of both sides, in the order of the answer; decimals are summed as texts, exactly. */
export const rowsOf = (db: Database, { left, right }: Comparison): Iterator<Columns.Row> => {
  db.aggregate("decimal_sum", (total, amount) =>
    amount === null ? total : Decimal.formatPlain(Decimal.add(decimalOf(total), decimalOf(amount)))
  )
  db.define("decimal_times", (amount = null, factor = null, places = null) =>
    Decimal.formatPlain(
      Decimal.multiplyRounded(decimalOf(amount), decimalOf(factor), {
        places: Number(places),
        rounding: "half-up"
      })
    )
  )
  const bindings = Bindings.make()
  const sql = `
    select named, match, decimal_sum("left") as "left", decimal_sum("right") as "right" from (
      select named, match, amount as "left", null as "right" from (${side(left, bindings)})
      union all
      select named, match, null, amount from (${side(right, bindings)})
    ) group by named, match order by named, match`
  return db.iterate(sql, bindings.values)
}

/** The next differences of sums: those of a page of rows, which may be none. */
export const taken = (
  rows: Iterator<Columns.Row>,
  { comparison, most }: { readonly comparison: Comparison; readonly most: number }
): { readonly differences: ReadonlyArray<BulkDifference>; readonly isOver: boolean } => {
  const { always = [], tolerance } = comparison
  const differences: Array<BulkDifference> = []
  for (let read = 0; read < most; read++) {
    const next = rows.next()
    if (next.done === true) return { differences, isOver: true }
    const row = next.value
    const match = Columns.text(row, "match")
    const isNamed = Columns.number(row, "named") === 1
    const left = Columns.textOrNull(row, "left")
    const right = Columns.textOrNull(row, "right")
    const difference = Decimal.subtract(decimalOf(right), decimalOf(left))
    const isWithin = Decimal.atMost(Decimal.abs(difference), Decimal.of(tolerance))
    const isAsked = isNamed && always.includes(match)
    if (left !== null && right !== null && isWithin && !isAsked) continue
    differences.push({ match, isNamed, left, right, difference: Decimal.formatPlain(difference) })
  }
  return { differences, isOver: false }
}

const decimalOf = (text: string | null): Decimal.Decimal =>
  text === null ? Decimal.zero : Decimal.of(text)

/** Amounts of a side by key: the match, or its name where it has one. */
const side = (source: BulkSide, bindings: Bindings.Parameters): string => {
  const amounts =
    "owner" in source ? amountsOfRows(source, bindings) : amountsOfRecords(source, bindings)
  if (source.names === undefined) return `select 0 as named, match, amount from (${amounts})`
  return `
    select n.name is not null as named, coalesce(n.name, a.match) as match, a.amount
    from (${amounts}) a left join (${namesOf(source.names, bindings)}) n on n.match = a.match`
}

const amountsOfRows = (
  { amount, groups, owner }: Extract<BulkSide, { readonly owner: string }>,
  { add }: Bindings.Parameters
): string => {
  const isOfGroups =
    groups === undefined
      ? ""
      : ` and r."group" in (select value from json_each(${add(JSON.stringify(groups))}))`
  return `
    select r.match, coalesce(r.amounts ->> cast(${add(amount)} as integer), '0') as amount
    from rows.bulk_row r where r.owner = (
      select o.number from rows.owner o
      join sealed s on s.kind = o.kind and s.owner = o.owner and s.number = o.number
        and s.state = o.state
      where o.kind = 'bulk' and o.owner = ${add(owner)})${isOfGroups}`
}

const amountsOfRecords = (
  { collection, match, member, pin, times, where }: BulkRecords,
  bindings: Bindings.Parameters
): string => {
  const { add } = bindings
  const stored = `coalesce(${textOf(add(member))}, '0')`
  const amount =
    times === undefined
      ? stored
      : `decimal_times(${stored}, ${add(times.factor)}, ${add(String(times.places))})`
  const matched = `(d.filters ->> ${add(match)})`
  return `
    select ${matched} as match, ${amount} as amount ${versionsAt({ collection, pin }, bindings)}
    and ${matched} is not null and (d.filters ->> ${add(where.column)}) = ${add(where.is)}`
}

/** Names by matched text, one for a match. */
const namesOf = (source: BulkNames, bindings: Bindings.Parameters): string => {
  const { add } = bindings
  const { collection, column, member, pin } = source
  const match = column === null ? "d.record_id" : `(d.filters ->> ${add(column)})`
  const name = textOf(add(member))
  const names = `
    select match, min(name) as name from (
      select ${match} as match, ${name} as name ${versionsAt({ collection, pin }, bindings)}
    ) where match is not null and name is not null group by match`
  if (source.then === undefined) return names
  return `
    select m.match, o.name from (${names}) m
    join (${namesOf(source.then, bindings)}) o on o.match = m.name`
}

/** Versions of a collection at a pin, with their condition begun. */
const versionsAt = (
  { collection, pin }: { readonly collection: string; readonly pin: StoredPin },
  bindings: Bindings.Parameters
): string => {
  const pinned = PinSql.pinnedAt(pin, bindings)
  const from = `from document d where d.collection = ${bindings.add(collection)}`
  if (pinned === undefined) return `${from} and d.to_offset is null`
  return `${from} and d.${pinned.from} <= ${pinned.point}
    and (d.${pinned.to} is null or d.${pinned.to} > ${pinned.point})`
}

/** Text of a member of a record's body: a number keeps the digits that it was written with. */
const textOf = (member: string): string =>
  `(case when json_type(d.body -> ${member}) = 'text' then d.body ->> ${member}
    else nullif(d.body -> ${member}, 'null') end)`
