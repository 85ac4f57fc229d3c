/** Bulk rows in SQLite: a file of their own, whose rows are summed page by page. */
import { Decimal, PlainJson } from "@bursar/engine-core/kernel"
import type { Bulk, BulkEntries, BulkRow, OwnedRow } from "@bursar/engine-core/ports"
import { Effect, Option, Stream } from "effect"
import * as Columns from "./Columns.ts"
import type { Database } from "./Database.ts"
import * as DifferenceSql from "./DifferenceSql.ts"
import type { Owner, Owners } from "./Owners.ts"
import type { Snapshots } from "./Snapshots.ts"
import type { SqliteTransactions } from "./Transactions.ts"

const COLUMNS = `r.key, r.match, r."group", r.amounts, r.body`

/** Rows that are read before others have their turn. */
const PAGE = 2_000
/** Differences of a page of a comparison. */
const FETCH = 500

/** Groups of rows of booked entries, and of those that are reversals. */
const ENTRY = /^(?:credit|debit)(?:-reversal)?\//u
const REVERSAL = /^(?:credit|debit)-reversal\//u

export const make = ({
  transactions,
  owners,
  snapshots
}: {
  readonly transactions: SqliteTransactions
  readonly owners: Owners
  readonly snapshots: Snapshots
}): Bulk["Service"] => {
  const { db } = owners
  const named = (owner: string) => ({ kind: "bulk", owner }) as const
  /** Reads an owner that is sealed, in the open transaction or among what is committed. */
  const ofSealed = <A>(owner: string, f: (found: Owner | undefined) => A) =>
    transactions.read((records) => f(owners.sealed(records, named(owner))))

  return {
    store: transactions.store,
    append: (owner, rows) =>
      rows.length === 0
        ? Effect.void
        : owners.append(named(owner), (number) =>
            rows.reduce((written, row) => written + insert(db, { number, row }), 0)
          ),
    seal: ({ owner, rows }) =>
      owners.seal(named(owner), { parts: rows, mayBeEmpty: true, what: "Bulk.seal" }),
    count: (owner) =>
      ofSealed(owner, (found) => Option.map(Option.fromUndefinedOr(found), ({ parts }) => parts)),
    read: ({ owner, after, limit }) =>
      ofSealed(owner, (found) =>
        found === undefined
          ? []
          : db
              .all(
                `select ${COLUMNS} from bulk_row r where r.owner = ? and (? is null or r.key > ?)
                 order by r.key limit ?`,
                [found.number, after ?? null, after ?? null, Math.max(0, limit)]
              )
              .map(rowOf)
      ),
    find: ({ owner, keys }) =>
      ofSealed(owner, (found) =>
        found === undefined
          ? []
          : db
              .all(
                `select ${COLUMNS} from bulk_row r
                 where r.owner = ? and r.key in (select value from json_each(?)) order by r.key`,
                [found.number, JSON.stringify(keys)]
              )
              .map(rowOf)
      ),
    entries: (wanted) =>
      transactions.read((records) => {
        const found = new Map<string, OwnedRow>()
        const isSealed = new Map<string, boolean>()
        for (const row of wanted.flatMap((entries) => entriesOf(db, entries))) {
          const owner = isSealed.get(row.owner)
          const isShown = owner ?? owners.sealed(records, named(row.owner)) !== undefined
          isSealed.set(row.owner, isShown)
          if (isShown) found.set(JSON.stringify([row.owner, row.key]), row)
        }
        return [...found.values()].toSorted(
          (a, b) => compareTexts(a.owner, b.owner) || compareTexts(a.key, b.key)
        )
      }),
    sum: Effect.fnUntraced(function* (owner) {
      const totals = new Map<string, { rows: number; amounts: ReadonlyArray<Decimal.Decimal> }>()
      const page = (after: string | null) =>
        ofSealed(owner, (found) =>
          found === undefined
            ? []
            : db.all(
                `select r.key, r."group", r.amounts from bulk_row r
                 where r.owner = ? and (? is null or r.key > ?) order by r.key limit ?`,
                [found.number, after, after, PAGE]
              )
        )
      let after: string | null = null
      for (;;) {
        const rows: ReadonlyArray<Columns.Row> = yield* page(after)
        for (const row of rows) {
          const group = Columns.text(row, "group")
          const amounts = Columns.texts(row, "amounts").map(Decimal.of)
          const total = totals.get(group)
          totals.set(group, {
            rows: (total?.rows ?? 0) + 1,
            amounts: amounts.map((amount, index) =>
              Decimal.add(total?.amounts[index] ?? Decimal.zero, amount)
            )
          })
        }
        const last = rows.at(-1)
        if (last === undefined || rows.length < PAGE) break
        after = Columns.text(last, "key")
        yield* Effect.yieldNow
      }
      // Rows of a sealed owner never change: a discard meanwhile hides all of them.
      if ((yield* ofSealed(owner, (found) => found)) === undefined) return []
      return [...totals]
        .toSorted(([a], [b]) => compareTexts(a, b))
        .map(([group, { amounts, rows }]) => ({
          group,
          rows,
          amounts: amounts.map(Decimal.formatPlain)
        }))
    }),
    differences: (comparison) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const snapshot = yield* snapshots.open
          const rows = DifferenceSql.rowsOf(snapshot, comparison)
          yield* Effect.addFinalizer(() => Effect.sync(() => void rows.return?.()))
          yield* transactions.settle
          const page = () =>
            Effect.sync(() => DifferenceSql.taken(rows, { comparison, most: FETCH }))
          return Stream.paginate(undefined, () =>
            Effect.map(page(), ({ differences, isOver }) => [
              differences,
              isOver ? Option.none() : Option.some(undefined)
            ])
          )
        })
      ),
    discard: ({ owner, limit, sparesSealed = false }) =>
      owners.discard(named(owner), {
        sparesSealed,
        remove: (number) =>
          db.run(
            `delete from bulk_row where owner = ? and key in (
               select key from bulk_row where owner = ? order by key limit ?)`,
            [number, number, Math.max(0, limit)]
          )
      })
  }
}

/** By code unit. */
const compareTexts = (a: string, b: string): -1 | 0 | 1 => (a < b ? -1 : a > b ? 1 : 0)

const insert = (
  db: Database,
  { number, row }: { readonly number: number; readonly row: BulkRow }
): number => {
  const isEntry = ENTRY.test(row.group)
  return db.run(
    `insert into bulk_row (owner, key, match, "group", amounts, body, entry, amount, day)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    [
      number,
      row.key,
      row.match,
      row.group,
      JSON.stringify(row.amounts),
      row.body,
      isEntry ? (REVERSAL.test(row.group) ? 2 : 1) : 0,
      isEntry ? (row.amounts[0] ?? null) : null,
      isEntry ? memberOf(row.body, "bookingDate") : null
    ]
  )
}

/** Text of a member of a row's body; null where the body has none. */
const memberOf = (body: string, member: string): string | null => {
  const record = PlainJson.parseTrusted(body) as Readonly<Record<string, unknown>>
  const value = record[member]
  return typeof value === "string" ? value : null
}

/** Rows of entries of one form of what is wanted, by an index. */
const entriesOf = (db: Database, wanted: BulkEntries): ReadonlyArray<OwnedRow> => {
  const select = `select o.owner as owner_name, ${COLUMNS} from`
  const join = "cross join owner o on o.number = r.owner and o.kind = 'bulk'"
  if ("match" in wanted) {
    const { match, amount, day } = wanted
    const values = [
      match,
      ...(amount === undefined ? [] : [amount]),
      ...(day === undefined ? [] : [day])
    ]
    const more = `${amount === undefined ? "" : " and r.amount = ?"}${day === undefined ? "" : " and r.day = ?"}`
    return db
      .all(
        `${select} bulk_row r indexed by bulk_row_entry ${join}
         where r.entry > 0 and r.match = ?${more}`,
        values
      )
      .map(ownedOf)
  }
  if ("reversalOf" in wanted) {
    return db
      .all(
        `${select} bulk_row r indexed by bulk_row_reversal ${join}
         where r.entry = 2 and r.amount = ?`,
        [wanted.reversalOf]
      )
      .map(ownedOf)
  }
  if ("reversalsIn" in wanted) {
    return db
      .all(
        `${select} owner o cross join bulk_row r indexed by bulk_row_reversal_owner
           on r.owner = o.number
         where o.kind = 'bulk' and o.owner = ? and r.entry = 2`,
        [wanted.reversalsIn]
      )
      .map(ownedOf)
  }
  return db
    .all(
      `${select} owner o cross join bulk_row r on r.owner = o.number
       where o.kind = 'bulk' and o.owner in (select value from json_each(?)) and r.entry > 0
         and r.amount = ? and r.body ->> 'reference' = ?`,
      [JSON.stringify(wanted.owners), wanted.amount, wanted.reference]
    )
    .map(ownedOf)
}

const rowOf = (row: Columns.Row): BulkRow => ({
  key: Columns.text(row, "key"),
  match: Columns.text(row, "match"),
  group: Columns.text(row, "group"),
  amounts: Columns.texts(row, "amounts"),
  body: Columns.text(row, "body")
})

const ownedOf = (row: Columns.Row): OwnedRow => ({
  ...rowOf(row),
  owner: Columns.text(row, "owner_name")
})
