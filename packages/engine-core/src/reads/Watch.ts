/** Guard of the cache of answers: watches what an answer is made from, and until when it stays true. */
import { Effect, Option, Stream } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { Query, Records } from "../records/Records.ts"
import type * as Point from "./Point.ts"
import type { ReadContext } from "./Read.ts"

/** A read at work, whose records and asking are watched. */
export interface Watch {
  /**
   * The asking, whose clock and pinned instant note that they are read, and whose caller does
   * where all callers of the role share the answer.
   */
  readonly asking: ReadContext
  readonly records: Records["Service"]
  /** True: the answer is the same for every instant before `until`, at the same head. */
  readonly isTimeless: () => boolean
  /** The earliest clock move of any record that was read; undefined: none is to come. */
  readonly until: () => Instant.Instant | undefined
}

export const make = (
  records: Records["Service"],
  asking: ReadContext & { readonly pin: Point.ResolvedPoint }
): Watch => {
  let isTimeless = true
  let until: Instant.Instant | undefined
  const depends = <A>(value: A): A => {
    isTimeless = false
    return value
  }
  const pin: Point.ResolvedPoint = Object.defineProperty({ ...asking.pin }, "judgedAt", {
    enumerable: true,
    get: () => depends(asking.pin.judgedAt)
  })
  const watched: ReadContext = Object.defineProperties(
    { ...asking, pin },
    {
      now: { enumerable: true, get: () => depends(asking.now) },
      caller: {
        enumerable: true,
        get: () => (asking.sight === "all" ? depends(asking.caller) : asking.caller)
      }
    }
  )

  /** The pin of a look-up: one without a pin, or at another point, is not of this head. */
  const pinned = (queryPin: Pin.ResolvedPin | undefined): Pin.ResolvedPin | undefined =>
    queryPin === pin || queryPin === asking.pin ? asking.pin : depends(queryPin)
  const noted = <R, F>({ due }: Collection<R, F>, record: R): void => {
    const next = due(record)?.at
    if (next !== undefined && (until === undefined || next < until)) until = next
  }
  const queried = <R, F, Q extends Omit<Query, "after" | "direction">>(
    collection: Collection<R, F>,
    query: Q
  ): Q => {
    for (const [column, anyOf] of Object.entries(query.where ?? {})) {
      if (mayEnter(collection, { column, anyOf })) isTimeless = false
    }
    const own = pinned(query.pin)
    return own === undefined ? query : { ...query, pin: own }
  }
  return {
    asking: watched,
    isTimeless: () => isTimeless,
    until: () => until,
    records: {
      ...records,
      find: (collection, id, queryPin) =>
        Effect.tap(records.find(collection, id, pinned(queryPin)), (found) =>
          Effect.sync(() => Option.map(found, (record) => noted(collection, record)))
        ),
      get: (collection, id, queryPin) =>
        Effect.tap(records.get(collection, id, pinned(queryPin)), (record) =>
          Effect.sync(() => noted(collection, record))
        ),
      many: (collection, ids, queryPin) =>
        Effect.tap(records.many(collection, ids, pinned(queryPin)), (found) =>
          Effect.sync(() => found.forEach((record) => noted(collection, record)))
        ),
      list: (collection, query) =>
        Effect.tap(records.list(collection, queried(collection, query)), (rows) =>
          Effect.sync(() => rows.forEach(({ record }) => noted(collection, record)))
        ),
      stream: (collection, query) =>
        // In arrays as they arrive: an effect for each of a million records would be felt.
        Stream.mapArray(records.stream(collection, queried(collection, query)), (rows) => {
          for (const { record } of rows) noted(collection, record)
          return rows
        }),
      ids: (collection, query) => records.ids(collection, queried(collection, query)),
      countBy: (collection, column, query) =>
        records.countBy(collection, column, queried(collection, query)),
      // A file's terms are there before its statement, without a move of the head.
      search: {
        ...records.search,
        page: (query) => Effect.suspend(() => depends(records.search.page(query)))
      },
      // A deadline that passes changes the rows, and no record is read by which that is noted.
      waits: {
        ...records.waits,
        list: (query) => Effect.suspend(() => depends(records.waits.list(query))),
        counts: (query) => Effect.suspend(() => depends(records.waits.counts(query))),
        conditions: (queryPin) => Effect.suspend(() => depends(records.waits.conditions(queryPin)))
      },
      // The range is not that of this head, whatever the offsets.
      versions: (collection, ids, range) =>
        Effect.suspend(() => depends(records.versions(collection, ids, range)))
    }
  }
}

/** Checks whether a clock move may bring a record into a query that it is not in yet. */
const mayEnter = <R, F>(
  { ripens, ripensTo }: Collection<R, F>,
  { column, anyOf }: { readonly column: string; readonly anyOf: ReadonlyArray<string> }
): boolean =>
  ripens.includes(column) &&
  (ripensTo[column] === undefined || anyOf.some((value) => ripensTo[column]?.includes(value)))
