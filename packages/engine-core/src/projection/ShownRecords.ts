/**
 * Overlay of `Records` in memory: what the contracts of a snapshot alone open and move, over the records
 * that the engine keeps. Nothing that is written through it is stored.
 */
import { Effect, Option, Stream } from "effect"
import type { Announcement } from "../kernel/Announcement.ts"
import * as Collection from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { WorkItem } from "../ports/storage/WorkQueue.ts"
import { refused } from "../kernel/Refusal.ts"
import * as Columns from "../records/Columns.ts"
import { judgedAt } from "../records/StorageQuery.ts"
import * as Loading from "../records/Loading.ts"
import type { Records, Stored } from "../records/Records.ts"

/** A record as a snapshot opens it. */
interface ShownRecord {
  readonly collection: Collection.Collection
  readonly id: string
  readonly record: unknown
}

/** Records, announcements and work items that the contracts of a snapshot lead to. */
export interface SnapshotContent {
  readonly records: ReadonlyMap<string, ShownRecord>
  readonly announcements: ReadonlyMap<string, Announcement>
  readonly work: ReadonlyMap<string, WorkItem>
}

/** Text that is equal for equal values: of records, announcements and work of two snapshots. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === "bigint" ? `${member}n` : member
  ) ?? "undefined"

/**
 * Makes an overlay: no record that the ledger keeps is there, as in a store in which a projection
 * begins, and all others are read from `records`.
 */
export const make = (
  records: Records["Service"],
  now: Instant.Instant
): { readonly records: Records["Service"]; readonly content: SnapshotContent } => {
  type WrittenRecord = ShownRecord & { readonly version: number }
  const written = new Map<string, WrittenRecord>()
  /** The written records by the name of their collection: a look-up among them reads those of no other. */
  const writtenIn = new Map<string, Map<string, WrittenRecord>>()
  const announcements = new Map<string, Announcement>()
  const work = new Map<string, WorkItem>()
  const keyOf = ({ name }: { readonly name: string }, id: string): string => `${name}/${id}`

  const announced = (rows: ReadonlyArray<Announcement>): void => {
    for (const each of rows) announcements.set(textOf(each), each)
  }

  const write = <R, F>(
    collection: Collection.Collection<R, F>,
    {
      fact,
      record,
      version
    }: { readonly record: R; readonly version: number; readonly fact: F | undefined }
  ): Stored<R> => {
    const id = collection.id(record)
    const entry = {
      collection: collection as unknown as Collection.Collection,
      ...{ id, record, version }
    }
    written.set(keyOf(collection, id), entry)
    const others = writtenIn.get(collection.name)
    if (others === undefined) writtenIn.set(collection.name, new Map([[id, entry]]))
    else others.set(id, entry)
    announced(collection.announce(record, fact))
    return { ...record, version, createdAt: now, updatedAt: now } as Stored<R>
  }

  const many: Records["Service"]["many"] = <R, F>(
    collection: Collection.Collection<R, F>,
    ids: ReadonlyArray<string>,
    pin?: Parameters<Records["Service"]["many"]>[2]
  ) =>
    Effect.gen(function* () {
      const at = yield* judgedAt(pin)
      const found: Array<Stored<R>> = []
      const missing: Array<string> = []
      for (const id of new Set(ids)) {
        const own = written.get(keyOf(collection, id))
        if (own === undefined) missing.push(id)
        else {
          const { record, version } = own
          const ripe = Collection.ripen(collection, record as R, at)
          found.push({ ...ripe, version, createdAt: now, updatedAt: now } as Stored<R>)
        }
      }
      if (collection.keptBy === "ledger" || missing.length === 0) return found
      return [...found, ...(yield* records.many(collection, missing, pin))]
    })

  const find: Records["Service"]["find"] = (collection, id, pin) =>
    Effect.map(many(collection, [id], pin), (found) => Option.fromNullishOr(found[0]))

  const service: Records["Service"] = {
    transact: (effect) => effect,
    transactAlone: (effect) => effect,
    rehearse: () => Effect.die(new Error("nothing is rehearsed while a snapshot is read")),
    forget: () => Effect.die(new Error("nothing is deleted while a snapshot is read")),
    restate: () => Effect.die(new Error("nothing is restated while a snapshot is read")),
    lock: records.lock,
    search: records.search,
    many,
    find,
    get: Loading.getting(find),
    // Lists read committed records, and a projection that begins has committed none.
    versions: (collection, ids, range) =>
      collection.keptBy === "ledger"
        ? Effect.succeed([])
        : records.versions(collection, ids, range),
    list: (collection, query) =>
      collection.keptBy === "ledger" ? Effect.succeed([]) : records.list(collection, query),
    stream: (collection, query) =>
      collection.keptBy === "ledger" ? Stream.empty : records.stream(collection, query),
    ids: (collection, query) =>
      collection.keptBy === "ledger" ? Stream.empty : records.ids(collection, query),
    countBy: (collection, column, query) =>
      collection.keptBy === "ledger"
        ? Effect.succeed(new Map())
        : records.countBy(collection, column, query),
    waits: records.waits,
    uncommitted: ({ name }, { anyOf, column }) =>
      Effect.sync(() => {
        const values = new Set<string | null | undefined>(anyOf)
        return [...(writtenIn.get(name)?.values() ?? [])]
          .filter(({ collection, record }) => values.has(Columns.of(collection, record)[column]))
          .map(({ id }) => id)
      }),
    prefetch: () => Effect.void,
    open: (collection, record) =>
      Effect.suspend(() =>
        written.has(keyOf(collection, collection.id(record)))
          ? Effect.fail(refused("already-exists", { detail: `A ${collection.name} exists.` }))
          : Effect.succeed(write(collection, { record, version: 1, fact: undefined }))
      ),
    append: (collection, before, fact) =>
      Effect.sync(() => {
        const { createdAt: _, updatedAt: __, version, ...self } = before
        const record = collection.evolve(self as never, fact)
        return write(collection, { record, version: version + 1, fact })
      }),
    announce: (rows) => Effect.sync(() => announced(rows)),
    enqueue: (items) =>
      Effect.sync(() => {
        for (const item of items) work.set(textOf(item), item)
      }),
    whenCommitted: () => Effect.void,
    // An audit record names an act of a caller, which no snapshot is.
    audit: () => Effect.void
  }
  return { records: service, content: { records: written, announcements, work } }
}
