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
  const found = new WeakMap<Pin.ResolvedPin, Map<string, unknown>>()
  const find: Records["Service"]["find"] = <R, F>(
    collection: Collection<R, F>,
    id: string,
    pin?: Pin.ResolvedPin
  ) => {
    if (pin === undefined) return records.find(collection, id)
    const foundAtPin = found.get(pin) ?? new Map<string, unknown>()
    found.set(pin, foundAtPin)
    const key = `${collection.name}/${id}`
    const memo = foundAtPin.get(key) as Option.Option<Stored<R>> | undefined
    if (memo !== undefined) return Effect.succeed(memo)
    return Effect.tap(records.find(collection, id, pin), (record) =>
      Effect.sync(() => void foundAtPin.set(key, record))
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
