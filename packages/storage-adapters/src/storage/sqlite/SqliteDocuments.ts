/** Versions of records in SQLite: rows that the next version closes, listed by keyset. */
import type {
  Documents,
  ListQuery,
  StorageUnavailable,
  StoredVersion,
  VersionRow
} from "@bursar/engine-core/ports"
import { Effect, Option, Stream } from "effect"
import * as Columns from "./Columns.ts"
import type { Database, Values } from "./Database.ts"
import * as ListSql from "./ListSql.ts"
import * as Parameters from "./Parameters.ts"
import * as PinSql from "./PinSql.ts"
import * as SqliteWaits from "./SqliteWaits.ts"
import type { Snapshots } from "./Snapshots.ts"
import type { SqliteTransaction, SqliteTransactions } from "./Transactions.ts"

/** Rows of a page of a stream. */
const PAGE = 500

export const make = ({
  transactions,
  snapshots
}: {
  readonly transactions: SqliteTransactions
  readonly snapshots: Snapshots
}): Documents["Service"] => ({
  ...SqliteWaits.make(transactions),
  store: transactions.store,
  put: (rows) =>
    transactions.write(({ db }) => {
      for (const row of rows) {
        putOne(db, row)
        SqliteWaits.put(db, row)
      }
    }),
  get: ({ collection, recordIds, pin }) =>
    transactions.read((db) => {
      const parameters = Parameters.make()
      const pinned = PinSql.pinnedAt(pin, parameters)
      const record = { collection: parameters.add(collection), recordId: ":record" }
      const which =
        pinned === undefined
          ? `d.collection = ${record.collection} and d.record_id = :record`
          : `d.id = ${PinSql.inForce(pinned, record)}`
      // The latest version is the one with the highest number: no need to ask whether it is open.
      const sql = `select ${ListSql.COLUMNS} from document d where ${which}
        order by d.version desc limit 1`
      return [...new Set(recordIds)].flatMap((recordId) => {
        const row = db.get(sql, { ...parameters.values, record: recordId })
        return row === undefined ? [] : [versionOf(row)]
      })
    }),
  versions: ({ collection, recordIds, from, through }) =>
    transactions.read((db) => {
      const parameters = Parameters.make()
      const record = { collection: parameters.add(collection), recordId: ":record" }
      const [first, last] = [from, through].map((offset) => {
        const pinned = PinSql.pinnedAt({ by: "offset", offset }, parameters)
        if (pinned === undefined) throw new Error("an offset pins versions")
        return `(select x.version from document x where x.id = ${PinSql.inForce(pinned, record)})`
      })
      const sql = `select ${ListSql.COLUMNS} from document d
        where d.collection = ${record.collection} and d.record_id = :record
          and d.version >= coalesce(${first}, 0) and d.version <= ${last}
          and (d.to_offset is null or (d.to_offset > d.from_offset
            and d.to_offset > ${parameters.add(from)}))
        order by d.version`
      return [...new Set(recordIds)].flatMap((recordId) =>
        db.all(sql, { ...parameters.values, record: recordId }).map(versionOf)
      )
    }),
  list: ({ limit, ...query }) =>
    limit < 1 ? Effect.succeed([]) : transactions.read((db) => page(db, query, limit)),
  stream: (query) => Stream.unwrap(streaming({ transactions, snapshots }, query)),
  countBy: (query) =>
    transactions.read((db) => {
      const { sql, values } = ListSql.countBy(db, query)
      return new Map(
        db
          .all(sql, values)
          .map((row) => [Columns.text(row, "value"), Columns.number(row, "records")])
      )
    }),
  forget: ({ collection, recordIds }) =>
    transactions.write(({ db }) => {
      for (const recordId of recordIds) {
        const open = openOf(db, { collection, recordId })
        if (open === undefined) continue
        index(db, { collection, sortKey: open.sortKey, before: open.filters, after: {} })
        db.run("delete from document where collection = ? and record_id = ?", [
          collection,
          recordId
        ])
        SqliteWaits.forget(db, { collection, recordId })
      }
    }),
  prune: ({ collection, through, limit }) =>
    transactions.write(({ db }) => {
      SqliteWaits.prune(db, { collection, through, limit })
      return db.run(
        `delete from document where id in (
           select id from document indexed by document_closed_offset
           where collection = ? and to_offset is not null and to_offset <= ?
           order by to_offset limit ?)`,
        [collection, through, Math.max(0, limit)]
      )
    })
})

const page = (db: Database, query: ListQuery, limit: number): ReadonlyArray<StoredVersion> => {
  const { sql, values } = ListSql.list(db, query, limit)
  return db.all(sql, values).map(versionOf)
}

/**
 * Streams versions. Most lists end within the first page, which is a look-up as that of a list. A longer
 * one is read from its beginning on a connection of its own, whose snapshot lasts as long as the stream;
 * in a transaction from a temporary table, since later writes of the transaction are no part of it.
 */
const streaming = Effect.fnUntraced(function* (
  {
    transactions,
    snapshots
  }: { readonly transactions: SqliteTransactions; readonly snapshots: Snapshots },
  query: ListQuery
) {
  const first = yield* transactions.read((db) => page(db, query, PAGE))
  if (first.length < PAGE) return Stream.fromIterable(first)
  const open = yield* transactions.current
  if (open !== undefined) return yield* ofCopy(transactions, open, query)
  const db = yield* snapshots.open
  const { sql, values } = ListSql.list(db, query)
  const rows = db.iterate(sql, values)
  yield* Effect.addFinalizer(() => Effect.sync(() => void rows.return?.()))
  yield* transactions.settle
  return pages(() => Effect.sync(() => taken(rows)))
})

const taken = (rows: Iterator<Columns.Row>): ReadonlyArray<StoredVersion> => {
  const found: Array<StoredVersion> = []
  while (found.length < PAGE) {
    const next = rows.next()
    if (next.done === true) break
    found.push(versionOf(next.value))
  }
  return found
}

const pages = <E>(
  next: () => Effect.Effect<ReadonlyArray<StoredVersion>, E>
): Stream.Stream<StoredVersion, E> =>
  Stream.paginate(undefined, () =>
    Effect.map(next(), (rows) => [
      rows,
      rows.length === PAGE ? Option.some(undefined) : Option.none()
    ])
  )

let copies = 0

const ofCopy = Effect.fnUntraced(function* (
  transactions: SqliteTransactions,
  { db }: SqliteTransaction,
  query: ListQuery
) {
  const name = `copy_${++copies}`
  const { sql, values } = ListSql.list(db, query)
  const create = (columns: string, bound: Values) => {
    db.run(`create temp table ${name} as select * from (${columns})`, bound)
  }
  yield* transactions.read(() => create(sql, values))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => void db.run(`drop table if exists temp.${name}`))
  )
  let after = 0
  return pages(
    (): Effect.Effect<ReadonlyArray<StoredVersion>, StorageUnavailable> =>
      transactions.read(() => {
        const rows = db.all(
          `select rowid as place, * from temp.${name} where rowid > ? order by rowid limit ?`,
          [after, PAGE]
        )
        const last = rows.at(-1)
        if (last !== undefined) after = Columns.number(last, "place")
        return rows.map(versionOf)
      })
  )
})

interface OpenVersion {
  readonly id: number
  readonly version: number
  readonly sortKey: string
  readonly fromOffset: number
  readonly fromInstant: string
  readonly filters: VersionRow["filters"]
}

const openOf = (
  db: Database,
  { collection, recordId }: { readonly collection: string; readonly recordId: string }
): OpenVersion | undefined => {
  const row = db.get(
    `select id, version, sort_key, from_offset, from_instant, filters from document
     where collection = ? and record_id = ? order by version desc limit 1`,
    [collection, recordId]
  )
  if (row === undefined) return undefined
  return {
    id: Columns.number(row, "id"),
    version: Columns.number(row, "version"),
    sortKey: Columns.text(row, "sort_key"),
    fromOffset: Columns.number(row, "from_offset"),
    fromInstant: Columns.text(row, "from_instant"),
    filters: JSON.parse(Columns.text(row, "filters")) as VersionRow["filters"]
  }
}

/** Closes the record's open version and opens the new one; a version that does not follow is a defect. */
const putOne = (db: Database, row: VersionRow): void => {
  const { collection, recordId, sortKey } = row
  const open = openOf(db, row)
  if (row.closes !== (open?.version ?? 0) || row.version <= row.closes) {
    throw new Error(
      `Documents.put: version ${row.version} of ${collection} ${recordId} does not follow ${open?.version ?? 0}`
    )
  }
  if (open !== undefined) {
    if (row.fromOffset < open.fromOffset || row.fromInstant < open.fromInstant) {
      throw new Error(`Documents.put: ${collection} ${recordId} would end before it began`)
    }
    if (sortKey !== open.sortKey) {
      throw new Error(`Documents.put: ${collection} ${recordId} changes its sort key`)
    }
    db.run("update document set to_offset = ?, to_instant = ? where id = ?", [
      row.fromOffset,
      row.fromInstant,
      open.id
    ])
  }
  db.run(
    `insert into document (collection, record_id, version, sort_key, body, filters, created_at,
       from_offset, from_instant) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      collection,
      recordId,
      row.version,
      sortKey,
      row.body,
      JSON.stringify(row.filters),
      row.createdAt,
      row.fromOffset,
      row.fromInstant
    ]
  )
  index(db, { collection, sortKey, before: open?.filters ?? {}, after: row.filters })
}

/** Moves a record's entries of the inverted index: those that changed alone. */
const index = (
  db: Database,
  {
    collection,
    sortKey,
    before,
    after
  }: {
    readonly collection: string
    readonly sortKey: string
    readonly before: VersionRow["filters"]
    readonly after: VersionRow["filters"]
  }
): void => {
  for (const [name, value] of Object.entries(before)) {
    if (value === null || after[name] === value) continue
    db.run(
      `delete from document_filter
       where collection = ? and name = ? and value = ? and sort_key = ?`,
      [collection, name, value, sortKey]
    )
  }
  for (const [name, value] of Object.entries(after)) {
    if (value === null || before[name] === value) continue
    db.run("insert into document_filter (collection, name, value, sort_key) values (?, ?, ?, ?)", [
      collection,
      name,
      value,
      sortKey
    ])
  }
}

const versionOf = (row: Columns.Row): StoredVersion => ({
  recordId: Columns.text(row, "record_id"),
  version: Columns.number(row, "version"),
  body: Columns.text(row, "body"),
  sortKey: Columns.text(row, "sort_key"),
  createdAt: Columns.text(row, "created_at"),
  fromOffset: Columns.number(row, "from_offset"),
  fromInstant: Columns.text(row, "from_instant")
})
