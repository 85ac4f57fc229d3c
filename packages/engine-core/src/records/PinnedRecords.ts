/**
 * Records pinned to a point, so that the code that judges an act now also prechecks it in the past.
 */
import { Effect, Option, Stream } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type * as Pin from "../kernel/Pin.ts"
import { refused } from "../kernel/Refusal.ts"
import type { Query, Records, Stored } from "./Records.ts"

/**
 * A supposition: how each record of a collection would differ, and records that would exist under
 * ids that do not. Filter columns stay those of the stored record.
 */
export interface Supposition {
  readonly collection: string
  /** A method, so that suppositions of different collections can share one list. */
  become(record: unknown): unknown
  readonly absent: (id: string) => unknown
}

/** Supposes every record of a collection to be the result of `become`. */
export const suppose = <R, F>(
  { name }: Collection<R, F>,
  {
    become,
    absent
  }: {
    readonly become: (record: Stored<R>) => Stored<R>
    readonly absent?: (id: string) => Stored<R> | undefined
  }
): Supposition => ({
  collection: name,
  become,
  absent: absent ?? (() => undefined)
})

/**
 * `Records` whose default pin is `pin`: an operation names no pin when it loads records, so it judges
 * an act as it would have at that point. Writing through it is a defect.
 */
export const at = (
  records: Records["Service"],
  pin: Pin.ResolvedPin,
  supposed: ReadonlyArray<Supposition> = []
): Records["Service"] => {
  const by = new Map(supposed.map((supposition) => [supposition.collection, supposition]))
  const become = <R, F>({ name }: Collection<R, F>, record: Stored<R>): Stored<R> => {
    const supposition = by.get(name)
    return supposition === undefined ? record : (supposition.become(record) as Stored<R>)
  }
  const pinned = <Q extends Omit<Query, "after" | "direction">>(query: Q): Q =>
    query.pin === undefined ? { ...query, pin } : query

  const many: Records["Service"]["many"] = <R, F>(
    collection: Collection<R, F>,
    ids: ReadonlyArray<string>,
    own: Pin.ResolvedPin = pin
  ) =>
    Effect.map(records.many(collection, ids, own), (found) => {
      const foundIds = new Set(found.map((record) => collection.id(record)))
      const missing = [...new Set(ids)].filter((id) => !foundIds.has(id))
      const made = missing.flatMap((id) => (by.get(collection.name)?.absent(id) as Stored<R>) ?? [])
      return [...found.map((record) => become(collection, record)), ...made]
    })
  const find: Records["Service"]["find"] = (collection, id, own) =>
    Effect.map(many(collection, [id], own), (found) => Option.fromNullishOr(found[0]))

  return {
    find,
    many,
    get: (collection, id, own) =>
      Effect.flatMap(
        find(collection, id, own),
        Option.match({
          onNone: () =>
            Effect.fail(refused("not-found", { detail: `There is no such ${collection.name}.` })),
          onSome: (record) => Effect.succeed(record)
        })
      ),
    // The range says which versions; a supposition is of the records at the pin.
    versions: records.versions,
    list: (collection, query) =>
      Effect.map(records.list(collection, pinned(query)), (rows) =>
        rows.map(({ sortKey, record }) => ({ sortKey, record: become(collection, record) }))
      ),
    stream: (collection, query) =>
      Stream.map(records.stream(collection, pinned(query)), ({ sortKey, record }) => ({
        sortKey,
        record: become(collection, record)
      })),
    ids: (collection, query) => records.ids(collection, pinned(query)),
    countBy: (collection, column, query) => records.countBy(collection, column, pinned(query)),
    search: records.search,
    // Each of its queries names its pin.
    waits: records.waits,
    // A point of the past has no uncommitted writes.
    uncommitted: () => Effect.succeed([]),
    // Locks are no-ops: the past does not change.
    lock: () => Effect.void,
    prefetch: () => Effect.void,
    whenCommitted: () => Effect.void,
    transact: unwritable,
    transactAlone: unwritable,
    rehearse: unwritable,
    open: unwritable,
    append: unwritable,
    restate: unwritable,
    forget: unwritable,
    announce: unwritable,
    enqueue: unwritable,
    audit: unwritable
  }
}

const unwritable = () => Effect.die(new Error("a record is not written at a point of the past"))
