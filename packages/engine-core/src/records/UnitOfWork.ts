/** Unit of work: writes collected during a transaction and flushed under one stamp. */
import { Cause, Context, Effect, Option } from "effect"
import type { Entry, Late } from "./Audit.ts"
import type { Announcement } from "../kernel/Announcement.ts"
import type { Collection, Steps } from "../kernel/Collection.ts"
import { causeText } from "../kernel/Fact.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { StoredVersion } from "../ports/storage/Documents.ts"
import { VersionMoved } from "../ports/storage/StorageError.ts"
import type { WorkItem } from "../ports/storage/WorkQueue.ts"
import type { Act } from "./Act.ts"
import type { Consequence } from "./Consequence.ts"
import type { Records, Stored } from "./Records.ts"
import type * as Waits from "./Waits.ts"

/**
 * One fact to append and the version it makes, as plain data without closures: a large transaction
 * holds many. The flush encodes them, a batch at a time, so that the texts of all are never held.
 */
export interface Draft {
  readonly collection: Collection
  readonly recordId: string
  readonly version: number
  readonly cause: string
  /** Undefined: one past the projection's head, which the flush takes from the feed. */
  readonly offset: number | undefined
  /** The record after the fact. */
  readonly record: unknown
  /** Undefined: the fact that opens the record. */
  readonly fact: unknown
  /** The record before the fact, where it is searched; undefined: it opens. */
  readonly before?: unknown
  /** Undefined for a record that opens here: it is created at the stamp. */
  readonly createdAt: Instant.Instant | undefined
  /** Waits of the version that is stored before this change; absent: it has none. */
  readonly waited?: Waits.Before
}

/** A record as this transaction has written it last. */
export interface WrittenRecord {
  readonly record: unknown
  readonly version: number
  readonly createdAt: Instant.Instant | undefined
  readonly waited?: Waits.Before
}

/** A consequence of a change, and what the change concerns. */
interface PendingConsequence {
  readonly consequence: Consequence
  readonly key: string
  readonly subject: unknown
  readonly act: Act
}

export interface UnitOfWork {
  readonly outer: UnitOfWork | undefined
  readonly drafts: Array<Draft>
  /** The drafts by the name of their collection: a look-up among them reads those of no other. */
  readonly draftsIn: Map<string, Array<Draft>>
  readonly writtenRecords: Map<string, WrittenRecord>
  /** Keys that this transaction has looked up without a record: its decision may depend on that. */
  readonly absent: Set<string>
  /** Prefetched versions; null: the record does not exist. */
  readonly prefetched: Map<string, StoredVersion | null>
  readonly announcements: Array<Announcement>
  readonly work: Array<WorkItem>
  /** Audit records of this transaction. */
  readonly audit: Array<Entry | Late>
  /** Ids of the records that this transaction deletes for retention. */
  readonly forgotten: Array<string>
  /** Effects to run after the commit. */
  readonly committed: Array<Effect.Effect<void>>
  /**
   * Placeholders of this transaction's stamp in results that were read before the stamp was known.
   */
  readonly placeholders: Set<Instant.Instant>
  /** Queue of the consequences that this transaction still has to run. */
  readonly pending: Array<PendingConsequence>
  /** Names this transaction, or a part of it, has locked. */
  readonly locks: Set<string>
}

export const make = (outer?: UnitOfWork): UnitOfWork => ({
  outer,
  drafts: [],
  draftsIn: new Map(),
  writtenRecords: new Map(),
  absent: new Set(),
  prefetched: new Map(),
  announcements: [],
  work: [],
  audit: [],
  forgotten: [],
  committed: [],
  placeholders: new Set(),
  pending: [],
  locks: new Set()
})

/** Adds a draft after all others; later loads of the transaction find its record. */
export const addDraft = ({ drafts, draftsIn, writtenRecords }: UnitOfWork, draft: Draft): void => {
  const { name } = draft.collection
  const before = draftsIn.get(name)
  if (before === undefined) draftsIn.set(name, [draft])
  else before.push(draft)
  drafts.push(draft)
  // The draft itself: a large transaction holds one object a version.
  writtenRecords.set(keyOf(draft.collection, draft.recordId), draft)
}

/** A change of one record by an act, and all that follows from it. */
interface Change<R, F> extends Pick<Draft, "recordId" | "offset" | "createdAt"> {
  /** The version before the change; 0: the change opens the record. */
  readonly version: number
  /** The record before the change; undefined: it opens. */
  readonly before: R | undefined
  readonly steps: Steps<R, F>
  /** Waits of the record before the change; undefined: it has none. */
  readonly waited: Waits.Before | undefined
  readonly act: Act
  readonly items: ReadonlyArray<WorkItem>
  readonly consequences: ReadonlyArray<Consequence>
  /** True: records of the collection are searched by their terms. */
  readonly isSearched: boolean
}

/**
 * Adds a change to the fiber's unit of work: a draft for each step, events, queue items, and what the
 * change concerns. Returns the record as later loads of the transaction find it. Fails where the
 * transaction has moved the record since it was loaded: it is loaded and decided again.
 */
export const write = Effect.fnUntraced(function* <R, F>(
  collection: Collection<R, F>,
  change: Change<R, F>
) {
  const work = yield* within
  const { act, before, offset, recordId, steps } = change
  const written = writtenAt(work, keyOf(collection, recordId))
  if (written !== undefined && written.version !== change.version) {
    return yield* Effect.fail(movedAt(collection, recordId, change.version))
  }
  // A record opened in this transaction has no stamp yet: the flush gives it one.
  const createdAt = written === undefined ? change.createdAt : written.createdAt
  const { trace } = act
  const waited = waitedBefore(change, written)
  let { version } = change
  let earlier: unknown = before
  for (const { announcements, by, fact, record } of steps) {
    const cause = by === "clock" ? by : causeText(act.cause)
    version += 1
    addDraft(work, {
      ...{ collection, recordId, version, cause, offset, record, fact, createdAt },
      ...(change.isSearched ? { before: earlier } : {}),
      ...(waited === undefined ? {} : { waited })
    })
    earlier = record
    for (const announcement of announcements) {
      work.announcements.push(trace === undefined ? announcement : { ...announcement, trace })
    }
  }
  work.work.push(...change.items)
  const { record } = steps[steps.length - 1]!
  for (const consequence of change.consequences) {
    if (consequence.collection.name !== collection.name) continue
    const concerned = consequence.concerns({ before, after: record })
    if (concerned !== null) work.pending.push({ consequence, ...concerned, act })
  }
  return asStored<R>(work, { record, version, createdAt }, act.now)
})

/** Waits before a change: of a record that the transaction has written itself, the stored ones are not known. */
const waitedBefore = (
  { waited }: { readonly waited: Waits.Before | undefined },
  written: WrittenRecord | undefined
): Waits.Before | undefined => {
  if (written === undefined) return waited
  return waited === undefined && written.waited === undefined ? undefined : "unread"
}

/**
 * The failure of a write whose record another writer has moved: the transaction runs again, so no
 * caller sees it, and its type is that of the failures a caller does see.
 */
export const movedAt = (
  collection: { readonly name: string },
  recordId: string,
  expected: number
): Unavailable =>
  new VersionMoved({ collection: collection.name, recordId, expected }) as unknown as Unavailable

/** Drafts of a collection in this unit of work and in those around it. */
export const draftsOf = (self: UnitOfWork, name: string): ReadonlyArray<Draft> => {
  const own = self.draftsIn.get(name) ?? []
  return self.outer === undefined ? own : [...draftsOf(self.outer, name), ...own]
}

/** A unit of work that is rolled back; its locks stay with the transaction around it. */
export const rehearsal = (outer: UnitOfWork | undefined): UnitOfWork =>
  outer === undefined ? make() : { ...make(outer), locks: outer.locks }

/** The whole transaction that this one is a part of. */
export const wholeOf = (self: UnitOfWork): UnitOfWork =>
  self.outer === undefined ? self : wholeOf(self.outer)

/** Merges the writes of a part that succeeded into the whole. */
export const merge = (whole: UnitOfWork, part: UnitOfWork): void => {
  for (const draft of part.drafts) addDraft(whole, draft)
  whole.announcements.push(...part.announcements)
  whole.work.push(...part.work)
  whole.audit.push(...part.audit)
  whole.forgotten.push(...part.forgotten)
  whole.committed.push(...part.committed)
  for (const placeholder of part.placeholders) whole.placeholders.add(placeholder)
}

export const keyOf = (collection: Pick<Collection<never, never>, "name">, id: string): string =>
  `${collection.name}/${id}`

/** The record that this transaction, or the one around it, wrote under a key. */
export const writtenAt = (self: UnitOfWork | undefined, key: string): WrittenRecord | undefined =>
  self === undefined ? undefined : (self.writtenRecords.get(key) ?? writtenAt(self.outer, key))

/** A record that a transaction has: as it wrote it, or the prefetched row of its version. */
type RecordInTransaction<R> =
  | { readonly writtenRecord: Stored<R> }
  | { readonly row: StoredVersion }

/** The records of these ids that a transaction has, and the ids that it must load. */
export const lookUp = <R, F>(
  self: UnitOfWork,
  collection: Collection<R, F>,
  { ids, now }: { readonly ids: ReadonlyArray<string>; readonly now: Instant.Instant }
): {
  readonly heldRecords: ReadonlyArray<RecordInTransaction<R>>
  readonly missing: ReadonlyArray<string>
} => {
  const heldRecords: Array<RecordInTransaction<R>> = []
  const missing: Array<string> = []
  for (const id of new Set(ids)) {
    const key = keyOf(collection, id)
    const written = writtenAt(self, key)
    const row = self.prefetched.get(key)
    if (written !== undefined) heldRecords.push({ writtenRecord: asStored<R>(self, written, now) })
    else if (row === undefined) missing.push(id)
    else if (row === null) self.absent.add(key)
    else heldRecords.push({ row })
  }
  return { heldRecords, missing }
}

/**
 * Begins a prefetch: keeps of the rows prefetched before those that are asked for again, and returns the
 * records that the transaction has neither prefetched nor written.
 */
export const beginPrefetch = <
  A extends { readonly collection: { readonly name: string }; readonly id: string }
>(
  self: UnitOfWork,
  references: ReadonlyArray<A>
): ReadonlyArray<A> => {
  const before = new Map(self.prefetched)
  self.prefetched.clear()
  return references.filter(({ collection: { name }, id }) => {
    const key = keyOf({ name }, id)
    const row = before.get(key)
    if (row !== undefined) self.prefetched.set(key, row)
    return row === undefined && writtenAt(self, key) === undefined
  })
}

/** Adds the prefetched rows of records of a collection; an id without a row does not exist. */
export const addPrefetched = (
  { prefetched }: UnitOfWork,
  collection: Pick<Collection, "name">,
  {
    ids,
    rows
  }: { readonly ids: ReadonlyArray<string>; readonly rows: ReadonlyArray<StoredVersion> }
): void => {
  for (const id of ids) prefetched.set(keyOf(collection, id), null)
  for (const row of rows) prefetched.set(keyOf(collection, row.recordId), row)
}

/** Notes which of the ids that a transaction has loaded have no row. */
export const noteAbsent = (
  { absent }: UnitOfWork,
  collection: Pick<Collection, "name">,
  {
    ids,
    rows
  }: { readonly ids: ReadonlyArray<string>; readonly rows: ReadonlyArray<StoredVersion> }
): void => {
  const found = new Set(rows.map(({ recordId }) => recordId))
  for (const id of ids) if (!found.has(id)) absent.add(keyOf(collection, id))
}

/** A record as the transaction has written it, with placeholders for the times it has not yet. */
const asStored = <R>(self: UnitOfWork, written: WrittenRecord, now: Instant.Instant): Stored<R> => {
  const updatedAt = placeholderOf(now)
  self.placeholders.add(updatedAt)
  return {
    ...(written.record as R),
    version: written.version,
    createdAt: written.createdAt ?? updatedAt,
    updatedAt
  } as Stored<R>
}

/**
 * Placeholder of the stamp in `createdAt` and `updatedAt` of a record that is written now, in results that
 * are read before the stamp exists: within the microsecond of the call's own now, and no instant that a
 * store or a ledger keeps, since those have whole microseconds.
 */
export const placeholderOf = (now: Instant.Instant): Instant.Instant =>
  Instant.fromNanos(Instant.toMicros(now) + 999n)

/** Pattern of an instant in a text whose last three digits are those of a placeholder. */
const placeholder = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}999Z/gu

/**
 * Replaces the placeholders of a transaction's stamp in texts that it stores. One pass over each text,
 * however many calls share the transaction and so however many placeholders there are.
 */
export const stamping = (
  { placeholders }: Pick<UnitOfWork, "placeholders">,
  at: Instant.Instant
): ((texts: ReadonlyArray<string>) => ReadonlyArray<string>) => {
  const awaited = new Set([...placeholders].map(Instant.format))
  const stamp = Instant.format(at)
  return (texts) =>
    texts.map((text) =>
      text.includes("999Z")
        ? text.replace(placeholder, (found) => (awaited.has(found) ? stamp : found))
        : text
    )
}

/** The fiber's unit of work; private to Records. */
export class Current extends Context.Service<Current, UnitOfWork>()(
  "@bursar/engine-core/records/UnitOfWork"
) {}

/** The fiber's unit of work; undefined outside a transaction. */
export const current: Effect.Effect<UnitOfWork | undefined> = Effect.map(
  Effect.serviceOption(Current),
  Option.getOrUndefined
)

/** The fiber's unit of work; a write outside a transaction is a defect. */
export const within: Effect.Effect<UnitOfWork> = Effect.flatMap(current, (work) =>
  work === undefined
    ? Effect.die(new Error("a record was written outside Records.transact"))
    : Effect.succeed(work)
)

/** The members of `Records` that add to the fiber's unit of work. */
export const collecting: Pick<
  Records["Service"],
  "announce" | "enqueue" | "whenCommitted" | "audit"
> = {
  announce: Effect.fnUntraced(function* (announcements) {
    const work = yield* within
    work.announcements.push(...announcements)
  }),
  enqueue: Effect.fnUntraced(function* (items) {
    const { work } = yield* within
    work.push(...items)
  }),
  whenCommitted: Effect.fnUntraced(function* (effect) {
    const { committed } = yield* within
    committed.push(effect)
  }),
  audit: Effect.fnUntraced(function* (entries) {
    const { audit } = yield* within
    audit.push(...entries)
  })
}

const moved = (error: unknown): error is VersionMoved =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "VersionMoved"

/** Checks that a transaction failed because another writer was first, and for no other reason. */
export const isMoved = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.length > 0 &&
  cause.reasons.every((reason) => Cause.isFailReason(reason) && moved(reason.error))
