/** Memoises `find` for the length of one read. */
import { Effect, Option } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { Records, Stored } from "./Records.ts"

/**
 * Memoised `Records`: caches records found at a pin by collection, id and pin, for the length of
 * one read.
 */
export const of = (records: Records["Service"]): Records["Service"] => {
  const known = new WeakMap<Pin.Resolved, Map<string, unknown>>()
  const find: Records["Service"]["find"] = <R, F>(
    collection: Collection<R, F>,
    id: string,
    pin?: Pin.Resolved
  ) => {
    if (pin === undefined) return records.find(collection, id)
    const kept = known.get(pin) ?? new Map<string, unknown>()
    known.set(pin, kept)
    const key = `${collection.name}/${id}`
    const before = kept.get(key) as Option.Option<Stored<R>> | undefined
    if (before !== undefined) return Effect.succeed(before)
    return Effect.tap(records.find(collection, id, pin), (found) =>
      Effect.sync(() => void kept.set(key, found))
    )
  }
  return {
    ...records,
    find,
    get: (collection, id, pin) =>
      Effect.flatMap(
        find(collection, id, pin),
        Option.match({
          onNone: () => records.get(collection, id, pin),
          onSome: (record) => Effect.succeed(record)
        })
      )
  }
}
