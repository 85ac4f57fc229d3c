/** Memoises which collections are empty at a pin, for the length of one whole list. */
import { Effect } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Records } from "../records/Records.ts"

/**
 * `Records` that ask the store once whether a collection has any record at the pin. A streamed list
 * looks up holds, consents and agreements for each batch of its records, and many venues have none.
 */
export const memoised = (records: Records["Service"], pin: Pin.ResolvedPin): Records["Service"] => {
  const isEmptyById = new Map<string, Effect.Effect<boolean, Unavailable>>()

  const isEmpty = <R, F>(
    collection: Collection<R, F>,
    queryPin: Pin.ResolvedPin | undefined
  ): Effect.Effect<boolean, Unavailable> => {
    if (queryPin !== pin || !isFixed(collection, pin)) return Effect.succeed(false)
    // The memo is read when the effect runs: look-ups of one batch are made before any of them runs.
    return Effect.suspend(() => {
      const memo = isEmptyById.get(collection.name)
      if (memo !== undefined) return memo
      const found = records.list(collection, { pin, limit: 1 })
      return Effect.flatMap(
        Effect.cached(Effect.map(found, ({ length }) => length === 0)),
        (cached) => {
          isEmptyById.set(collection.name, cached)
          return cached
        }
      )
    })
  }

  return {
    ...records,
    many: (collection, ids, queryPin) =>
      Effect.flatMap(isEmpty(collection, queryPin), (empty) =>
        empty ? Effect.succeed([]) : records.many(collection, ids, queryPin)
      ),
    list: (collection, query) =>
      Effect.flatMap(isEmpty(collection, query.pin), (empty) =>
        empty ? Effect.succeed([]) : records.list(collection, query)
      )
  }
}

/** Checks whether the records of a collection at a pin can no longer change. */
const isFixed = ({ keptBy }: Pick<Collection, "keptBy">, { select }: Pin.ResolvedPin): boolean =>
  select.by !== "latest" && !(select.by === "offset" && keptBy === "own")
