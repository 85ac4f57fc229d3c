/** Loads records by id: from the transaction's own writes, from prefetched versions, from the store. */
import { Effect, Option } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import type * as Pin from "../kernel/Pin.ts"
import { refused, type Unavailable } from "../kernel/Refusal.ts"
import type { Documents } from "../ports/storage/Documents.ts"
import * as JudgedAt from "./JudgedAt.ts"
import { orUnavailable } from "./PortFailure.ts"
import type { Records, Stored } from "./Records.ts"
import * as StorageQuery from "./StorageQuery.ts"
import { current, within } from "./Transactions.ts"
import * as UnitOfWork from "./UnitOfWork.ts"
import * as Versions from "./Versions.ts"

/** The instant at which a read judges clock states: its pin's, else that of the act. */
export const judgedAt = (pin: Pin.ResolvedPin | undefined): Effect.Effect<Instant.Instant> =>
  pin === undefined ? JudgedAt.judgedAt : Effect.succeed(pin.judgedAt)

interface Parts {
  readonly documents: Documents["Service"]
  readonly versions: Versions.Versions
}

/** Fetches records from the store, and notes in the unit of work which of them do not exist. */
const fetched = Effect.fnUntraced(function* <R, F>(
  { documents, versions }: Parts,
  collection: Collection<R, F>,
  {
    recordIds,
    work,
    pin,
    at
  }: {
    readonly recordIds: ReadonlyArray<string>
    readonly work: UnitOfWork.UnitOfWork | undefined
    readonly pin: Pin.ResolvedPin | undefined
    readonly at: Instant.Instant
  }
) {
  const rows = yield* documents.get({
    collection: collection.name,
    recordIds,
    pin: StorageQuery.storedPin(collection.keptBy, pin)
  })
  if (work !== undefined) {
    const found = new Set(rows.map(({ recordId }) => recordId))
    for (const id of recordIds) {
      if (!found.has(id)) work.absent.add(UnitOfWork.keyOf(collection, id))
    }
  }
  return yield* Versions.fromRows(versions, { collection, rows, judgedAt: at })
})

const prefetching = ({ documents }: Parts): Records["Service"]["prefetch"] =>
  Effect.fnUntraced(function* (asked) {
    const work = yield* within
    const before = new Map(work.prefetched)
    work.prefetched.clear()
    const missing = asked.filter(({ collection, id }) => {
      const key = UnitOfWork.keyOf(collection, id)
      const row = before.get(key)
      if (row !== undefined) work.prefetched.set(key, row)
      return row === undefined && UnitOfWork.writtenAt(work, key) === undefined
    })
    yield* Effect.forEach(
      Map.groupBy(missing, ({ collection }) => collection.name),
      ([collection, members]) => {
        const recordIds = [...new Set(members.map(({ id }) => id))]
        return Effect.map(
          documents.get({ collection, recordIds, pin: { by: "latest" } }),
          (rows) => {
            for (const id of recordIds) work.prefetched.set(`${collection}/${id}`, null)
            for (const row of rows) work.prefetched.set(`${collection}/${row.recordId}`, row)
          }
        )
      },
      // The store answers what a transaction asks at the same time by one look-up.
      { concurrency: "unbounded", discard: true }
    )
  }, orUnavailable)

/** The look-up of a record that has to be there, by the look-up of one that may be. */
export const getting =
  (find: Records["Service"]["find"]): Records["Service"]["get"] =>
  (collection, id, pin) =>
    Effect.flatMap(
      find(collection, id, pin),
      Option.match({
        onNone: () =>
          Effect.fail(refused("not-found", { detail: `There is no such ${collection.name}.` })),
        onSome: (record) => Effect.succeed(record)
      })
    )

/** The members of `Records` that load by id. */
export const make = (
  parts: Parts
): Pick<Records["Service"], "get" | "find" | "many" | "versions" | "prefetch"> => {
  const { versions } = parts

  const many = Effect.fnUntraced(function* <R, F>(
    collection: Collection<R, F>,
    ids: ReadonlyArray<string>,
    pin?: Pin.ResolvedPin
  ) {
    const work = pin === undefined ? yield* current : undefined
    const at = yield* judgedAt(pin)
    const found: Array<Stored<R>> = []
    const missing: Array<string> = []
    for (const id of new Set(ids)) {
      const key = UnitOfWork.keyOf(collection, id)
      const written = UnitOfWork.writtenAt(work, key)
      if (written !== undefined) {
        found.push(versions.ripened(collection, UnitOfWork.asStored<R>(work, written, at), at))
        continue
      }
      const prefetched = work?.prefetched.get(key)
      if (prefetched === undefined) missing.push(id)
      else if (prefetched === null) work?.absent.add(key)
      else found.push(versions.fromRow(collection, prefetched, at))
    }
    if (missing.length === 0) return found
    const rest = yield* fetched(parts, collection, { recordIds: missing, work, pin, at })
    return found.length === 0 ? rest : [...found, ...rest]
  }, orUnavailable)

  const find = <R, F>(
    collection: Collection<R, F>,
    id: string,
    pin?: Pin.ResolvedPin
  ): Effect.Effect<Option.Option<Stored<R>>, Unavailable> =>
    Effect.map(many(collection, [id], pin), (found) => Option.fromNullishOr(found[0]))

  return {
    many,
    find,
    get: getting(find),
    versions: Effect.fnUntraced(function* (collection, ids, { from, through }) {
      const rows = yield* parts.documents.versions({
        collection: collection.name,
        recordIds: ids,
        from,
        through
      })
      return rows.map((row) => ({
        fromOffset: Offset.of(row.fromOffset),
        record: versions.unripe(collection, row)
      }))
    }, orUnavailable),
    prefetch: prefetching(parts)
  }
}
