/** Versions of records in memory, with an index for each column and value that lists filter by. */
import { Stream } from "effect"
import type {
  Clause,
  Documents,
  ListQuery,
  StoredPin,
  StoredVersion,
  VersionRow
} from "@bursar/engine-core/ports"
import * as MemoryWaits from "./MemoryWaits.ts"
import * as SortedRows from "./SortedRows.ts"
import type { Transaction, Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"

interface Version extends VersionRow {
  toOffset: number | null
  toInstant: string | null
}

/**
 * Open versions are indexed apart from closed ones, so a list at the latest point never scans
 * history.
 */
interface Index {
  readonly open: SortedRows.SortedRows<Version>
  readonly closed: SortedRows.SortedRows<Version>
}

interface Collection {
  readonly records: Map<string, Array<Version>>
  readonly all: Index
  readonly byValue: Map<string, Index>
}

type UnorderedQuery = Omit<ListQuery, "direction">

/** The port, and the versions of a query for bulk comparisons in the same store. */
interface MemoryDocuments {
  readonly service: Documents["Service"]
  readonly matching: (query: ListQuery) => Iterable<VersionRow>
}

export const make = (transactions: Transactions): MemoryDocuments => {
  const waits = MemoryWaits.make(transactions)
  const collections = new Map<string, Collection>()
  const collection = (name: string): Collection => {
    const existing = collections.get(name)
    if (existing !== undefined) return existing
    const made = { records: new Map(), all: makeIndex(), byValue: new Map() }
    collections.set(name, made)
    return made
  }

  const matches = (query: ListQuery): Generator<Version> => {
    const versions = collections.get(query.collection)
    return versions === undefined ? none() : matchesIn(versions, query)
  }

  const service: Documents["Service"] = {
    store: transactions.store,
    put: (rows) =>
      transactions.write((transaction) => {
        for (const row of rows) {
          putOne(transaction, collection(row.collection), row)
          waits.put(transaction, row)
        }
      }),
    get: ({ collection: name, recordIds, pin }) =>
      transactions.read(() =>
        [...new Set(recordIds)].flatMap((recordId) => {
          const found = at(collections.get(name)?.records.get(recordId) ?? [], pin)
          return found === undefined ? [] : [stored(found)]
        })
      ),
    versions: ({ collection: name, recordIds, from, through }) =>
      transactions.read(() =>
        [...new Set(recordIds)].flatMap((recordId) =>
          (collections.get(name)?.records.get(recordId) ?? [])
            .filter(
              ({ fromOffset, toOffset }) =>
                fromOffset <= through &&
                (toOffset === null || (toOffset > from && toOffset > fromOffset))
            )
            .map(stored)
        )
      ),
    list: (query) =>
      transactions.read(() => {
        const found: Array<StoredVersion> = []
        if (query.limit < 1) return found
        for (const version of matches(query)) {
          found.push(stored(version))
          if (found.length === query.limit) break
        }
        return found
      }),
    // The snapshot is a list of references: versions are immutable once read.
    stream: (query) =>
      Stream.unwrap(transactions.read(() => Stream.fromIterable([...matches(query)].map(stored)))),
    countBy: ({ column, ...query }) =>
      transactions.read(() => {
        const counts = new Map<string, number>()
        for (const version of matches({ ...query, direction: "asc" })) {
          const value = version.filters[column] ?? null
          if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
        }
        return counts
      }),
    forget: ({ collection: name, recordIds }) =>
      transactions.write((transaction) => {
        const from = collection(name)
        for (const recordId of recordIds) {
          for (const version of from.records.get(recordId) ?? []) {
            move(
              transaction,
              from,
              version,
              version.toOffset === null ? "open" : "closed",
              "remove"
            )
          }
          Undo.remove(transaction, from.records, recordId)
          waits.forget(transaction, name, recordId)
        }
      }),
    prune: ({ collection: name, through, limit }) =>
      transactions.write((transaction) => {
        const from = collection(name)
        let pruned = 0
        for (const versions of from.records.values()) {
          // Versions end in the order in which they began, so ended versions are at the front.
          const begun = versions.findIndex((v) => v.toOffset === null || v.toOffset > through)
          const count = Math.min(begun, limit - pruned)
          if (count < 1) continue
          for (const version of versions.slice(0, count)) {
            move(transaction, from, version, "closed", "remove")
          }
          Undo.cut(transaction, versions, { from: 0, count })
          pruned += count
        }
        waits.prune(transaction, { collection: name, through })
        return pruned
      }),
    history: ({ collection: name, after, limit }) =>
      transactions.read(() => {
        const records = collections.get(name)?.records ?? new Map<string, Array<Version>>()
        return [...records.keys()]
          .filter((recordId) => recordId > after)
          .toSorted()
          .slice(0, Math.max(0, limit))
          .flatMap((recordId) =>
            (records.get(recordId) ?? []).map((version) => ({
              ...stored(version),
              toOffset: version.toOffset,
              toInstant: version.toInstant
            }))
          )
      }),
    ...waits.service
  }
  return { service, matching: matches }
}

const putOne = (transaction: Transaction, into: Collection, row: VersionRow): void => {
  const versions = into.records.get(row.recordId)
  const open = versions?.[versions.length - 1]
  if (row.closes !== (open?.version ?? 0) || row.version <= row.closes) {
    throw new Error(
      `Documents.put: version ${row.version} of ${row.collection} ${row.recordId} does not follow ${open?.version ?? 0}`
    )
  }
  if (open !== undefined) {
    if (row.fromOffset < open.fromOffset || row.fromInstant < open.fromInstant) {
      throw new Error(`Documents.put: ${row.collection} ${row.recordId} would end before it began`)
    }
    if (row.sortKey !== open.sortKey) {
      throw new Error(`Documents.put: ${row.collection} ${row.recordId} changes its sort key`)
    }
    move(transaction, into, open, "open", "remove")
    Undo.patch(transaction, open, { toOffset: row.fromOffset, toInstant: row.fromInstant })
    move(transaction, into, open, "closed", "add")
  }
  const version: Version = { ...row, toOffset: null, toInstant: null }
  if (versions === undefined) Undo.set(transaction, into.records, row.recordId, [version])
  else Undo.push(transaction, versions, version)
  move(transaction, into, version, "open", "add")
}

/** Adds a version to the indexes, or removes it. */
const move = (
  transaction: Transaction,
  into: Collection,
  version: Version,
  side: keyof Index,
  how: "add" | "remove"
): void => {
  const back = how === "add" ? "remove" : "add"
  for (const index of indexesOf(into, version)) {
    index[side][how](version)
    transaction.undo.push(() => index[side][back](version))
  }
}

const indexesOf = (into: Collection, version: Version): ReadonlyArray<Index> => {
  const found = [into.all]
  for (const [column, value] of Object.entries(version.filters)) {
    if (value === null) continue
    const key = valueKey(column, value)
    const index = into.byValue.get(key) ?? makeIndex()
    into.byValue.set(key, index)
    found.push(index)
  }
  return found
}

function* none(): Generator<Version> {}

/** Scans the smallest candidate set of any index, in order, and filters it. */
function* matchesIn(from: Collection, query: ListQuery): Generator<Version> {
  const after = query.after
  const sides: ReadonlyArray<keyof Index> =
    query.pin.by === "latest" ? ["open"] : ["open", "closed"]
  const size = (candidates: ReadonlyArray<Index>): number =>
    candidates.reduce((sum, index) => sum + sides.reduce((s, side) => s + index[side].size(), 0), 0)
  const sets = query.where.map(({ column, anyOf }) =>
    [...new Set(anyOf)].flatMap((value) => from.byValue.get(valueKey(column, value)) ?? [])
  )
  const least = [[from.all], ...sets].reduce((a, b) => (size(b) < size(a) ? b : a))
  const walk = {
    direction: query.direction,
    ...(after === undefined ? {} : { from: (row: Version) => compareText(row.sortKey, after) })
  }
  const compare = query.direction === "asc" ? inOrder : (a: Version, b: Version) => inOrder(b, a)
  const candidates = SortedRows.merge(
    least.flatMap((index) => sides.map((side) => index[side].walk(walk))),
    compare
  )
  for (const version of candidates) {
    if (version.sortKey !== after && matchesQuery(version, query)) yield version
  }
}

const matchesQuery = (version: Version, query: UnorderedQuery): boolean =>
  covers(version, query.pin) &&
  query.where.every(({ column, anyOf }) => {
    const value = version.filters[column]
    return value !== undefined && value !== null && anyOf.includes(value)
  }) &&
  (query.meets ?? []).every((alternatives) =>
    alternatives.some((clauses) => clauses.every((clause) => meets(version, clause)))
  ) &&
  (query.updatedFrom === undefined || query.updatedFrom <= version.fromInstant) &&
  (query.updatedTo === undefined || version.fromInstant < query.updatedTo)

const meets = (version: Version, clause: Clause): boolean => {
  const value = version.filters[clause.column] ?? null
  if ("anyOf" in clause) return value !== null && clause.anyOf.includes(value)
  if (value === null) return clause.nulls === "pass"
  switch (clause.is) {
    case "before":
      return value < clause.than
    case "at-most":
      return value <= clause.than
    case "from":
      return value >= clause.than
    case "after":
      return value > clause.than
  }
}

const covers = (version: Version, pin: StoredPin): boolean => {
  switch (pin.by) {
    case "latest":
      return version.toOffset === null
    case "offset":
      return (
        version.fromOffset <= pin.offset &&
        (version.toOffset === null || pin.offset < version.toOffset)
      )
    case "instant":
      return (
        version.fromInstant <= pin.instant &&
        (version.toInstant === null || pin.instant < version.toInstant)
      )
  }
}

/**
 * Binary search for the last version that had begun at the pin: versions are ordered and without
 * gaps.
 */
const at = (versions: ReadonlyArray<Version>, pin: StoredPin): Version | undefined =>
  versions.findLast((version) => covers(version, pin))

const stored = (version: Version): StoredVersion => ({
  recordId: version.recordId,
  version: version.version,
  body: version.body,
  sortKey: version.sortKey,
  createdAt: version.createdAt,
  fromOffset: version.fromOffset,
  fromInstant: version.fromInstant
})

const makeIndex = (): Index => ({
  open: SortedRows.make<Version>(inOrder),
  closed: SortedRows.make<Version>(inOrder)
})

const valueKey = (column: string, value: string): string => `${column}\u0000${value}`

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const inOrder = (a: Version, b: Version): number =>
  compareText(a.sortKey, b.sortKey) || compareText(a.recordId, b.recordId) || a.version - b.version
