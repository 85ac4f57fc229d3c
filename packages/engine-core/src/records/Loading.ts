/** Loads records by id: from the transaction's own writes, from prefetched versions, from the store. */
import { Effect, Option } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import type * as Pin from "../kernel/Pin.ts"
import { refused } from "../kernel/Refusal.ts"
import type { Documents, StoredVersion } from "../ports/storage/Documents.ts"
import * as Codecs from "./Codecs.ts"
import { JudgedAt } from "./JudgedAt.ts"
import { storeUnavailable } from "./PortFailure.ts"
import type { Records, Stored } from "./Records.ts"
import * as StorageQuery from "./StorageQuery.ts"
import * as UnitOfWork from "./UnitOfWork.ts"
import * as Versions from "./Versions.ts"

interface Parts {
  readonly documents: Documents["Service"]
  readonly versions: Versions.Versions
}

/** Pin of the versions that a transaction loads. */
const latest = { by: "latest" } as const

const prefetching = ({ documents }: Parts): Records["Service"]["prefetch"] =>
  Effect.fnUntraced(function* (references) {
    const work = yield* UnitOfWork.within
    const missing = UnitOfWork.beginPrefetch(work, references)
    yield* Effect.forEach(
      Map.groupBy(missing, ({ collection }) => collection.name),
      ([name, members]) => {
        const ids = [...new Set(members.map(({ id }) => id))]
        return Effect.map(
          documents.get({ collection: name, recordIds: ids, pin: latest }),
          (rows) => UnitOfWork.addPrefetched(work, { name }, { ids, rows })
        )
      },
      // The store answers what a transaction asks at the same time by one look-up.
      { concurrency: "unbounded", discard: true }
    )
  }, Effect.mapError(storeUnavailable))

/** The look-up of a record that has to be there, by the look-up of one that may be. */
export const getting = (find: Records["Service"]["find"]): Records["Service"]["get"] =>
  Effect.fnUntraced(function* (collection, id, pin) {
    const found = yield* find(collection, id, pin)
    if (Option.isSome(found)) return found.value
    return yield* Effect.fail(
      refused("not-found", { detail: `There is no such ${collection.name}.` })
    )
  })

/** The members of `Records` that load by id. */
export const make = (
  parts: Parts
): Pick<Records["Service"], "get" | "find" | "many" | "versions" | "prefetch"> => {
  const { documents, versions } = parts

  const many = Effect.fnUntraced(function* <R, F>(
    collection: Collection<R, F>,
    ids: ReadonlyArray<string>,
    pin?: Pin.ResolvedPin
  ) {
    const at = pin?.judgedAt ?? (yield* JudgedAt) ?? (yield* Instant.now)
    const work = pin === undefined ? yield* UnitOfWork.current : undefined
    const { heldRecords, missing } =
      work === undefined
        ? { heldRecords: [], missing: [...new Set(ids)] }
        : UnitOfWork.lookUp<R, F>(work, collection, { ids, now: at })
    const loaded =
      missing.length === 0
        ? []
        : yield* documents.get({
            collection: collection.name,
            recordIds: missing,
            pin: pin === undefined ? latest : StorageQuery.storedPin(collection.keptBy, pin)
          })
    if (work !== undefined && loaded.length < missing.length) {
      UnitOfWork.noteAbsent(work, collection, { ids: missing, rows: loaded })
    }
    const written: Array<Stored<R>> = []
    const prefetched: Array<StoredVersion> = []
    for (const record of heldRecords) {
      if ("row" in record) prefetched.push(record.row)
      else written.push(versions.ripened(collection, record.writtenRecord, at))
    }
    const rows = [...prefetched, ...loaded]
    if (rows.length === 0) return written
    const found = yield* Versions.inSlices(versions, { collection, rows, judgedAt: at })
    return written.length === 0 ? found : [...written, ...found]
  }, Effect.mapError(storeUnavailable))

  const find: Records["Service"]["find"] = Effect.fnUntraced(function* (collection, id, pin) {
    const [record] = yield* many(collection, [id], pin)
    return Option.fromNullishOr(record)
  })

  return {
    many,
    find,
    get: getting(find),
    versions: Effect.fnUntraced(function* (collection, ids, { from, through }) {
      const rows = yield* documents.versions({
        collection: collection.name,
        recordIds: ids,
        from,
        through
      })
      const records = Codecs.of(collection).decodeRows(rows)
      return records.map((record, index) => ({
        fromOffset: Offset.of(rows[index]!.fromOffset),
        record
      }))
    }, Effect.mapError(storeUnavailable)),
    prefetch: prefetching(parts)
  }
}
