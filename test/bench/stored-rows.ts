/**
 * Bound of a write: the rows that the engine stored in a round, written again by hand-written
 * set-based SQL into tables with the same columns and indexes.
 *
 * A batch is one transaction with one statement a table, which commits with PostgreSQL's default
 * durability. What the engine wrote and deleted again, such as items of the work queue, and triggers
 * are no part of the bound, which makes the bound faster.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Values from "#adapters/storage/postgres/Values.ts"

interface Table {
  readonly name: string
  readonly insert: string
  readonly select: string
}

/** Rows of one table, as a column of texts each. */
interface Stored {
  readonly table: Table
  readonly rows: ReadonlyArray<ReadonlyArray<string | null>>
}

const tableOf = (
  name: string,
  columns: ReadonlyArray<{ readonly column: string; readonly type: string; readonly key: boolean }>
): Table => {
  const names = columns.map(({ column }) => `"${column}"`)
  // In order of the key a record's closed version comes before its open one, which is unique.
  const key = columns.filter((column) => column.key).map(({ column }) => `"${column}"`)
  return {
    name,
    select: `select array[${names.map((column) => `${column}::text`).join(", ")}] as row
      from bursar."${name}" where xmin::text::int8 >= $1::int8
      order by ${key.join(", ")}`,
    insert: `insert into bound."${name}" (${names.join(", ")})
      select ${columns.map(({ column, type }) => `r."${column}"::${type}`).join(", ")}
      from unnest(${names.map((_, n) => `$${n + 1}::text[]`).join(", ")}) as r(${names.join(", ")})
      on conflict (${key.join(", ")}) do update
      set ${names.map((column) => `${column} = excluded.${column}`).join(", ")}`
  }
}

/** Makes an empty copy of every table of the engine, with its defaults, checks and indexes. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create schema bound`
  const columns = yield* sql<{
    readonly table: string
    readonly column: string
    readonly type: string
    readonly key: boolean
  }>`
    select c.relname as "table", a.attname as "column", format_type(a.atttypid, null) as type,
      a.attnum = any (i.indkey) as key
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where n.nspname = 'bursar' and c.relkind = 'r' and c.relpersistence = 'p'
      and a.attgenerated = ''
    order by c.relname, a.attnum`
  const names = [...new Set(columns.map(({ table }) => table))]
  for (const name of names) {
    yield* sql.unsafe(
      `create table bound."${name}" (like bursar."${name}" including all excluding identity)`
    )
  }
  const tables = names.map((name) =>
    tableOf(
      name,
      columns.filter(({ table }) => table === name)
    )
  )

  /** Transaction from which on rows have not been taken. */
  let mark = "0"

  /** Returns the rows that were stored since this was called before. */
  const take = Effect.gen(function* () {
    const [next] = yield* sql<{ readonly id: string }>`select pg_current_xact_id()::xid::text as id`
    const stored = yield* Effect.forEach(tables, (table) =>
      Effect.map(
        sql.unsafe<{ readonly row: ReadonlyArray<string | null> }>(table.select, [mark]),
        (rows): Stored => ({ table, rows: rows.map(({ row }) => row) })
      )
    )
    mark = next?.id ?? mark
    return stored
  })

  /** Writes the rows in so many transactions, one after another. */
  const write = (stored: ReadonlyArray<Stored>, batches: number) =>
    Effect.forEach(
      Array.from({ length: batches }, (_, n) => n),
      (batch) =>
        sql.withTransaction(
          Effect.forEach(
            stored,
            ({ table, rows }) => {
              const from = Math.floor((rows.length * batch) / batches)
              const part = rows.slice(from, Math.floor((rows.length * (batch + 1)) / batches))
              const [first] = part
              if (first === undefined) return Effect.void
              const columns = first.map((_, n) => Values.texts(part.map((row) => row[n] ?? null)))
              return Effect.asVoid(sql.unsafe(table.insert, columns))
            },
            { discard: true }
          )
        ),
      { discard: true }
    )

  /** Copies what was stored before a round, so that the round's rows follow the same ones. */
  const begin = Effect.flatMap(take, (stored) => write(stored, 1))

  return { begin, take, write }
})
