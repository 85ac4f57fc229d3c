/** Stored filter columns of lists, with the values that future clock moves will give them. */
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Alternatives, Clause } from "../ports/storage/Documents.ts"
import type { Range } from "./Records.ts"

/** Largest number of future clock transitions kept for filtering. */
const movesMax = 2

/** Number of future clock moves that are computed; those that change no filter column are dropped. */
const computedMax = 8

/** Names of the added columns; a `:` keeps them apart from the columns that a collection declares. */
const afterMove = (column: string, move: number): string => `${column}:${move}`
const moveAt = (move: number): string => `clock:${move}`

type StoredColumns = Readonly<Record<string, string | null>>

/**
 * Filter columns of a record. Where future clock moves change a column, its value after each move
 * and the move's instant are stored beside it, so that a list selects the right one at any pin.
 */
export const of = <R, F>(collection: Collection.Collection<R, F>, record: R): StoredColumns => {
  const columns = valuesOf(collection, record)
  if (collection.due(record) === undefined) return columns
  const stored: Record<string, string | null> = { ...columns }
  let values = columns
  let moves = 0
  let at = Instant.fromNanos(0n)
  for (const ripe of firstOf(Collection.ahead(collection, record))) {
    // A move that is due before its predecessor is made together with it.
    at = Instant.max(at, ripe.at)
    const before = values
    values = valuesOf(collection, ripe.record)
    const changed = Object.keys(values).filter((column) => values[column] !== before[column])
    for (const column of changed) {
      if (!collection.ripens.includes(column)) {
        throw new Error(`${collection.name}: the clock moves ${column}, which is not in ripens`)
      }
      if (collection.ripensTo[column]?.includes(values[column] ?? "") === false) {
        throw new Error(`${collection.name}: the clock moves ${column} to what ripensTo lacks`)
      }
    }
    if (changed.length === 0) continue
    if (++moves > movesMax)
      throw new Error(`${collection.name}: more clock moves than filter columns are kept for`)
    for (const column of collection.ripens)
      stored[afterMove(column, moves)] = values[column] ?? null
    stored[moveAt(moves)] = Instant.sortable(at)
  }
  return stored
}

/** Takes the first moves of a record: some have an endless sequence of them. */
function* firstOf<A>(moves: Iterable<A>): Generator<A> {
  let count = 0
  for (const move of moves) {
    yield move
    if (++count === computedMax) return
  }
}

/** Query clauses for this column to be one of these values at the instant. */
export const ripened = (
  column: string,
  anyOf: ReadonlyArray<string>,
  at: Instant.Instant
): Alternatives => {
  const than = Instant.sortable(at)
  const since = (move: number): ReadonlyArray<Clause> =>
    move === 0 ? [] : [{ column: moveAt(move), is: "at-most", than, nulls: "fail" }]
  const until = (move: number): ReadonlyArray<Clause> =>
    move === movesMax ? [] : [{ column: moveAt(move + 1), is: "after", than, nulls: "pass" }]
  return Array.from({ length: movesMax + 1 }, (_, move) => [
    { column: move === 0 ? column : afterMove(column, move), anyOf },
    ...since(move),
    ...until(move)
  ])
}

/** Query clauses for this column to lie in a range; null lies in none. */
export const within = (column: string, { from, to }: Range): Alternatives => [
  [
    ...(from === undefined ? [] : [{ column, is: "from", than: from, nulls: "fail" } as const]),
    ...(to === undefined ? [] : [{ column, is: "before", than: to, nulls: "fail" } as const])
  ]
]

const valuesOf = <R, F>(collection: Collection.Collection<R, F>, record: R): StoredColumns => {
  const values: Record<string, string | null> = {}
  for (const [column, value] of Object.entries(collection.filters)) values[column] = value(record)
  return values
}
