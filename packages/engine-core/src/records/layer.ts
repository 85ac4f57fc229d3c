/** Records over the storage ports: typed records in, encoded rows out, one stamp a transaction. */
import { Effect, Layer, Option, Stream } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Audit from "./Audit.ts"
import type { Announcement } from "../kernel/Announcement.ts"
import * as Collection from "../kernel/Collection.ts"
import { causeText } from "../kernel/Fact.ts"
import * as Instant from "../kernel/Instant.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type * as Pin from "../kernel/Pin.ts"
import { refused, type Unavailable, unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Atomically } from "../ports/storage/Atomically.ts"
import {
  Documents,
  type ListQuery,
  type StoredPin,
  type StoredVersion
} from "../ports/storage/Documents.ts"
import { FactLog } from "../ports/storage/FactLog.ts"
import { type EventRow, Feed, type FeedHead } from "../ports/storage/Feed.ts"
import { type StorageUnavailable, VersionMoved } from "../ports/storage/StorageError.ts"
import { WorkQueue } from "../ports/storage/WorkQueue.ts"
import * as Timely from "./Timely.ts"
import type { Act } from "./Act.ts"
import * as ClockQueue from "./ClockQueue.ts"
import { storeUnavailable, isDeadlock, stored } from "./PortFailure.ts"
import * as RecordView from "./RecordView.ts"
import * as StampPlaceholder from "./StampPlaceholder.ts"
import * as Cache from "./Cache.ts"
import * as Codecs from "./Codecs.ts"
import * as Columns from "./Columns.ts"
import * as GroupCommit from "./GroupCommit.ts"
import * as JudgedAt from "./JudgedAt.ts"
import * as Outbox from "./Outbox.ts"
import { type Query, Records, type Stored } from "./Records.ts"
import * as UnitOfWork from "./UnitOfWork.ts"

/** How often a transaction runs again when another writer was first at a record. */
const attemptsMax = 16

/** Size of the cache of decoded versions; a version never changes, so no entry is ever stale. */
const cacheMax = 10_000

/** The largest payload of an event, in bytes (docs/contract/event-feed.md#payloads). */
const payloadMax = 16_384

/**
 * How many versions are written by one statement. A statement of many thousands joins them with one
 * another, and takes longer than as many statements of some hundreds.
 */
const writtenTogether = 400

const partsOf = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / writtenTogether) }, (_, n) =>
    all.slice(n * writtenTogether, (n + 1) * writtenTogether)
  )

const encoder = new TextEncoder()

/** Shortcut: a character is at most three bytes, so a short text is not encoded to measure it. */
const isTooLarge = (payload: string): boolean =>
  payload.length * 3 > payloadMax && encoder.encode(payload).length > payloadMax

/** Maps a resolved pin to the storage pin, by who keeps the collection. */
export const storedPin = (
  keptBy: "ledger" | "engine" | "own",
  pin: Pin.Resolved | undefined
): StoredPin => {
  if (pin === undefined || pin.select.by === "latest") return { by: "latest" }
  if (pin.select.by === "offset") {
    return keptBy === "own" ? { by: "latest" } : { by: "offset", offset: pin.offset }
  }
  return pin.select.by === "instant" && keptBy === "ledger"
    ? { by: "offset", offset: pin.offset }
    : { by: "instant", instant: Instant.sortable(pin.select.instant) }
}

/** Another writer was first: whoever runs the transaction runs it again, so nobody else sees this. */
const movedAt = (collection: { readonly name: string }, recordId: string, expected: number) =>
  new VersionMoved({ collection: collection.name, recordId, expected }) as unknown as Unavailable

const eventRow = (announcement: Announcement, head: FeedHead, seq: number): EventRow => {
  const payload = PlainJson.stringify(announcement.payload)
  if (isTooLarge(payload)) {
    throw new Error(`the payload of ${announcement.type} is larger than an event may carry`)
  }
  return {
    seq,
    kind: announcement.journal === undefined ? "control" : "journal",
    type: announcement.type,
    at: announcement.journal === undefined ? head.at : Instant.sortable(announcement.journal.at),
    offset: announcement.journal?.offset ?? null,
    instrumentId: announcement.instrumentId,
    party: announcement.party,
    resourceKind: announcement.resourceKind,
    resourceId: announcement.resourceId,
    holderIds: announcement.holderIds,
    payload,
    source: announcement.journal?.source ?? null
  }
}

const make = Effect.gen(function* () {
  const atomically = yield* Atomically
  const factLog = yield* FactLog
  const documents = yield* Documents
  const feed = yield* Feed
  const queue = yield* WorkQueue
  const { sha256 } = yield* Crypto
  const { tenantId } = yield* Settings
  const timely = yield* Timely.Declared
  const cache = Cache.make<unknown>(cacheMax)
  const outbox = Outbox.make(documents)
  /** The stored record behind one that the clock has ripened, and until when it did. */
  const unripened = new WeakMap<object, { readonly stored: object; readonly at: Instant.Instant }>()

  const current = Effect.map(Effect.serviceOption(UnitOfWork.Current), Option.getOrUndefined)

  const within = Effect.flatMap(current, (work) =>
    work === undefined
      ? Effect.die(new Error("a record was written outside Records.transact"))
      : Effect.succeed(work)
  )

  /** Without what the feed has told before: a journal event is told once, however often it is read. */
  const notTold = Effect.fnUntraced(function* (announcements: ReadonlyArray<Announcement>) {
    const sources = announcements.flatMap(({ journal }) => journal?.source ?? [])
    if (sources.length === 0) return announcements
    const told = new Set(yield* feed.known(sources))
    return announcements.filter(({ journal }) => {
      if (journal === undefined) return true
      if (told.has(journal.source)) return false
      told.add(journal.source)
      return true
    })
  })

  const flush = Effect.fnUntraced(function* (work: UnitOfWork.UnitOfWork) {
    const { announcements, audit } = work
    if (work.drafts.length + announcements.length + work.work.length + audit.length === 0) return
    const head = yield* feed.take(Instant.sortable(yield* Instant.now))
    const stamp = Instant.of(head.at)
    const next = head.projectionOffset + 1
    const untold = yield* notTold(announcements)
    const events = untold.map((announcement, index) =>
      eventRow(announcement, head, head.seq + 1 + index)
    )
    const traces = untold.map(({ trace }) => trace ?? null)
    const owed = yield* outbox.owed({ work, head, events, traces })
    const stamped = StampPlaceholder.stamped(work.awaited, stamp)
    const drafts = [...work.drafts, ...owed.drafts].map((draft) => ({
      ...draft,
      fact: stamped(draft.fact),
      body: stamped(draft.body)
    }))
    for (const part of partsOf(drafts)) {
      yield* factLog.append(
        part.map((draft) => ({
          collection: draft.collection,
          recordId: draft.recordId,
          version: draft.version,
          fact: draft.fact,
          cause: draft.cause,
          offset: draft.offset ?? next,
          recordedAt: head.at
        }))
      )
      yield* documents.put(
        part.map((draft) => ({
          collection: draft.collection,
          recordId: draft.recordId,
          version: draft.version,
          body: draft.body,
          sortKey: draft.sortKey(draft.createdAt ?? stamp),
          filters: draft.filters,
          createdAt: draft.createdAt === undefined ? head.at : Instant.sortable(draft.createdAt),
          fromOffset: draft.offset ?? next,
          fromInstant: head.at
        }))
      )
    }
    yield* queue.enqueue([...work.work, ...owed.items])
    const logged = Audit.chain({ tenantId, head: head.audit, at: stamp, sha256 }, audit)
    const checkpoint = Audit.checkpointOf(logged)
    yield* feed.append(head, {
      events,
      audit: logged,
      webhooks: owed.webhooks,
      ...(checkpoint === undefined ? {} : { checkpoint })
    })
  })

  /** One transaction by itself, again when another writer was first, or it was in another's way. */
  const alone = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> => {
    const attempt: Effect.Effect<A, E | VersionMoved | StorageUnavailable, R> = Effect.suspend(
      () => {
        const work = UnitOfWork.make()
        return Effect.tap(
          atomically.run(
            Effect.tap(Effect.provideService(effect, UnitOfWork.Current, work), () => flush(work))
          ),
          () => Effect.all(work.committed, { discard: true })
        )
      }
    )
    const again = (left: number): Effect.Effect<A, E | Unavailable, R> =>
      attempt.pipe(
        Effect.catchIf(
          (error): error is Exclude<typeof error, E> =>
            isMoved(error) || isAway(error) || isDeadlock(error),
          (error): Effect.Effect<A, E | Unavailable, R> => {
            if (isAway(error) && !isDeadlock(error)) return Effect.fail(storeUnavailable(error))
            return left > 0
              ? again(left - 1)
              : Effect.fail(
                  unavailable("overloaded", "Too many writers are at the same record.", 1)
                )
          }
        )
      ) as Effect.Effect<A, E | Unavailable, R>
    return again(attemptsMax - 1)
  }

  const groupCommit = GroupCommit.make({ scope: yield* Effect.scope, atomically, flush, alone })

  const joining =
    (by: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> =>
      Effect.flatMap(current, (outer) => (outer === undefined ? by(effect) : effect))

  const transact = joining(groupCommit.join)
  const transactAlone = joining(alone)

  const lock = Effect.fnUntraced(function* (name: string) {
    const work = yield* within
    if (work.locks.has(name)) return
    const whole = UnitOfWork.wholeOf(work)
    if (whole.locks.has(name)) return yield* Effect.die(new GroupCommit.LockHeldInGroup(name))
    work.locks.add(name)
    whole.locks.add(name)
    yield* atomically.lock(name)
  }, stored)

  const rehearse = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(current, (outer) =>
      Effect.provideService(effect, UnitOfWork.Current, UnitOfWork.rehearsal(outer))
    )

  /** The record as the clock makes it at an instant; the very same value while nothing is due. */
  const ripened = <R, F>(
    collection: Collection.Collection<R, F>,
    stored: Stored<R>,
    judgedAt: Instant.Instant
  ): Stored<R> => {
    const ripe = Collection.ripen(collection, stored as R, judgedAt)
    if (ripe === (stored as R)) return stored
    const { version, createdAt, updatedAt } = stored
    const changed = { ...ripe, version, createdAt, updatedAt } as Stored<R>
    unripened.set(changed as object, { stored: stored as object, at: judgedAt })
    return changed
  }

  const decode = <R, F>(
    collection: Collection.Collection<R, F>,
    row: StoredVersion
  ): Stored<R> => ({
    ...Codecs.of(collection).decodeRecord(row.body),
    version: row.version,
    createdAt: Instant.of(row.createdAt),
    updatedAt: Instant.of(row.fromInstant)
  })

  /** A version never changes, so every read of it gives the very same value: views may be kept by it. */
  const fromRow = <R, F>(
    collection: Collection.Collection<R, F>,
    row: StoredVersion,
    judgedAt: Instant.Instant
  ): Stored<R> => {
    const key = `${collection.name}/${row.recordId}/${row.version}`
    const known = cache.get(key) as Stored<R> | undefined
    const stored = known ?? decode(collection, row)
    if (known === undefined) {
      cache.set(key, stored)
      RecordView.keep(stored)
    }
    return ripened(collection, stored, judgedAt)
  }

  const judgedAt = (pin: Pin.Resolved | undefined) =>
    pin === undefined ? JudgedAt.judgedAt : Effect.succeed(pin.judgedAt)

  const many = Effect.fnUntraced(function* <R, F>(
    collection: Collection.Collection<R, F>,
    ids: ReadonlyArray<string>,
    pin?: Pin.Resolved
  ) {
    const work = pin === undefined ? yield* current : undefined
    const at = yield* judgedAt(pin)
    const found: Array<Stored<R>> = []
    const missing: Array<string> = []
    for (const id of new Set(ids)) {
      const key = UnitOfWork.keyOf(collection, id)
      const own = UnitOfWork.writtenAt(work, key)
      if (own === undefined) {
        const ahead = work?.prefetched.get(key)
        if (ahead === undefined) missing.push(id)
        else if (ahead === null) work?.absent.add(key)
        else found.push(fromRow(collection, ahead, at))
      } else {
        const updatedAt = awaited(work, at)
        const stored = {
          ...(own.record as R),
          version: own.version,
          createdAt: own.createdAt ?? updatedAt,
          updatedAt
        } as Stored<R>
        found.push(ripened(collection, stored, at))
      }
    }
    if (missing.length > 0) {
      const rows = yield* documents.get({
        collection: collection.name,
        recordIds: missing,
        pin: storedPin(collection.keptBy, pin)
      })
      for (const row of rows) found.push(fromRow(collection, row, at))
      const there = new Set(rows.map(({ recordId }) => recordId))
      for (const id of missing) {
        if (!there.has(id)) work?.absent.add(UnitOfWork.keyOf(collection, id))
      }
    }
    return found
  }, stored)

  const prefetch: Records["Service"]["prefetch"] = Effect.fnUntraced(function* (asked) {
    const work = yield* within
    work.prefetched.clear()
    for (const [collection, of] of Map.groupBy(asked, ({ collection }) => collection.name)) {
      const recordIds = [...new Set(of.map(({ id }) => id))]
      const rows = yield* documents.get({ collection, recordIds, pin: { by: "latest" } })
      for (const id of recordIds) work.prefetched.set(`${collection}/${id}`, null)
      for (const row of rows) work.prefetched.set(`${collection}/${row.recordId}`, row)
    }
  }, stored)

  const find = <R, F>(
    collection: Collection.Collection<R, F>,
    id: string,
    pin?: Pin.Resolved
  ): Effect.Effect<Option.Option<Stored<R>>, Unavailable> =>
    Effect.map(many(collection, [id], pin), (found) => Option.fromNullishOr(found[0]))

  const get = <R, F>(collection: Collection.Collection<R, F>, id: string, pin?: Pin.Resolved) =>
    Effect.flatMap(
      find(collection, id, pin),
      Option.match({
        onNone: () =>
          Effect.fail(refused("not-found", { detail: `There is no such ${collection.name}.` })),
        onSome: (record) => Effect.succeed(record)
      })
    )

  const queryOf = <R, F>(
    collection: Collection.Collection<R, F>,
    query: Query,
    at: Instant.Instant
  ): ListQuery => ({
    collection: collection.name,
    pin: storedPin(collection.keptBy, query.pin),
    where: Object.entries(query.where ?? {})
      .filter(([column]) => !collection.ripens.includes(column))
      .map(([column, anyOf]) => ({ column, anyOf })),
    meets: [
      ...Object.entries(query.where ?? {})
        .filter(([column]) => collection.ripens.includes(column))
        .map(([column, anyOf]) => Columns.ripened(column, anyOf, at)),
      ...Object.entries(query.ranges ?? {}).map(([column, range]) => Columns.within(column, range))
    ],
    direction: query.direction ?? "asc",
    ...(query.updatedFrom === undefined
      ? {}
      : { updatedFrom: Instant.sortable(query.updatedFrom) }),
    ...(query.updatedTo === undefined ? {} : { updatedTo: Instant.sortable(query.updatedTo) }),
    ...(query.after === undefined ? {} : { after: query.after })
  })

  const list = Effect.fnUntraced(function* <R, F>(
    collection: Collection.Collection<R, F>,
    query: Query & { readonly limit: number }
  ) {
    const at = yield* judgedAt(query.pin)
    const rows = yield* documents.list({ ...queryOf(collection, query, at), limit: query.limit })
    return rows.map((row) => ({
      sortKey: row.sortKey,
      record: fromRow(collection, row, at)
    }))
  }, stored)

  const stream = <R, F>(collection: Collection.Collection<R, F>, query: Query) =>
    Stream.unwrap(
      Effect.map(judgedAt(query.pin), (at) =>
        documents.stream(queryOf(collection, query, at)).pipe(
          Stream.map((row) => ({
            sortKey: row.sortKey,
            // A whole collection passes here once: it would only push out what pages need.
            record: ripened(collection, decode(collection, row), at)
          })),
          Stream.mapError(storeUnavailable)
        )
      )
    )

  const countBy = Effect.fnUntraced(function* <R, F>(
    collection: Collection.Collection<R, F>,
    column: string,
    query: Omit<Query, "after" | "direction">
  ) {
    const at = yield* judgedAt(query.pin)
    if (collection.ripens.includes(column)) {
      return yield* Effect.die(new Error(`${collection.name}: the clock moves what is counted by`))
    }
    const { direction: _, ...asked } = queryOf(collection, query, at)
    return yield* documents.countBy({ ...asked, column })
  }, stored)

  /** The stamp of a transaction, which its flush puts in the place of this. */
  const awaited = (work: UnitOfWork.UnitOfWork | undefined, now: Instant.Instant) => {
    const stamp = StampPlaceholder.stamp(now)
    work?.awaited.add(stamp)
    return stamp
  }

  const draft = <R, F>(
    work: UnitOfWork.UnitOfWork,
    collection: Collection.Collection<R, F>,
    record: R,
    of: {
      readonly version: number
      readonly fact: string
      readonly cause: string
      readonly act: Act
      readonly body: string
      readonly createdAt: Instant.Instant | undefined
    }
  ) => {
    const id = collection.id(record)
    work.drafts.push({
      collection: collection.name,
      recordId: id,
      version: of.version,
      fact: of.fact,
      cause: of.cause,
      offset: offsetOf(collection.keptBy, of.act),
      body: of.body,
      sortKey: (createdAt) => collection.sortKey(record, createdAt),
      filters: Columns.of(collection, record),
      createdAt: of.createdAt
    })
    work.written.set(UnitOfWork.keyOf(collection, id), {
      record,
      version: of.version,
      createdAt: of.createdAt
    })
  }

  /** Sets a record down to be looked at when the clock alone will have done something to it. */
  const rouse = Effect.fnUntraced(function* <R, F>(
    work: UnitOfWork.UnitOfWork,
    collection: Collection.Collection<R, F>,
    of: { readonly before: R | undefined; readonly after: R; readonly version: number }
  ) {
    const next = ClockQueue.next(collection, of.after, timely)
    if (next === undefined) return
    if (of.before !== undefined && ClockQueue.next(collection, of.before, timely) === next) return
    const at = { collection: collection.name, recordId: collection.id(of.after), next }
    // The act's own now may be of long ago: what an update says is judged at its effective time.
    work.work.push(ClockQueue.itemOf({ ...at, version: of.version }, yield* Instant.now))
  })

  const open = Effect.fnUntraced(function* <R, F>(
    collection: Collection.Collection<R, F>,
    record: R,
    act: Act
  ) {
    const work = yield* within
    const id = collection.id(record)
    const wasAbsent = work.absent.has(UnitOfWork.keyOf(collection, id))
    if (collection.ids === "given" && Option.isSome(yield* find(collection, id))) {
      // It was not there when this transaction looked: another writer was first meanwhile.
      if (wasAbsent) return yield* Effect.fail(movedAt(collection, id, 0))
      return yield* Effect.fail(
        refused("already-exists", { detail: `A ${collection.name} of this id exists.` })
      )
    }
    const body = Codecs.of(collection).encodeRecord(record)
    draft(work, collection, record, {
      version: 1,
      fact: Codecs.openedText(body),
      cause: causeText(act.cause),
      act,
      body,
      // What a call opened is answered before the stamp is known, and must not change by it.
      createdAt: collection.keptBy === "own" ? act.now : undefined
    })
    work.announcements.push(...traced(collection.announce(record, undefined), act))
    yield* rouse(work, collection, { before: undefined, after: record, version: 1 })
    const updatedAt = awaited(work, act.now)
    const createdAt = collection.keptBy === "own" ? act.now : updatedAt
    return { ...record, version: 1, createdAt, updatedAt } as Stored<R>
  })

  const record = Effect.fnUntraced(function* <R, F>(
    collection: Collection.Collection<R, F>,
    before: Stored<R>,
    fact: F,
    act: Act
  ) {
    const work = yield* within
    const codecs = Codecs.of(collection)
    const own = UnitOfWork.writtenAt(work, UnitOfWork.keyOf(collection, collection.id(before)))
    if (own !== undefined && own.version !== before.version) {
      // Loaded before this transaction began, and moved meanwhile: loaded and decided again.
      return yield* Effect.fail(movedAt(collection, collection.id(before), before.version))
    }
    // A record opened in this transaction has no stamp yet: the flush gives it one.
    const createdAt = own === undefined ? before.createdAt : own.createdAt
    const ripe = unripened.get(before as object)
    const kept = (ripe?.stored ?? before) as R
    let self = kept
    let version = before.version
    const add = (one: F, cause: string) => {
      self = collection.evolve(self, one)
      version += 1
      draft(work, collection, self, {
        version,
        fact: codecs.encodeFact(one),
        cause,
        act,
        body: codecs.encodeRecord(self),
        createdAt
      })
      work.announcements.push(...traced(collection.announce(self, one), act))
    }
    if (ripe !== undefined) {
      // Decided upon as the clock had made it: those moves stand, though the act's own now is older.
      const until = Instant.max(act.now, ripe.at)
      for (let due = collection.due(self); due !== undefined && due.at <= until; ) {
        add(due.fact, "clock")
        due = collection.due(self)
      }
    }
    add(fact, causeText(act.cause))
    yield* rouse(work, collection, { before: kept, after: self, version })
    const updatedAt = awaited(work, act.now)
    return { ...self, version, createdAt: createdAt ?? updatedAt, updatedAt } as Stored<R>
  })

  return Records.of({
    transact,
    transactAlone,
    lock,
    rehearse,
    get,
    find,
    many,
    prefetch,
    list,
    stream,
    countBy,
    uncommitted: ({ name }, { column, value }) =>
      Effect.map(within, (work) => [
        ...new Set(
          UnitOfWork.draftsOf(work)
            .filter((one) => one.collection === name && one.filters[column] === value)
            .map(({ recordId }) => recordId)
        )
      ]),
    open,
    record,
    announce: (announcements) =>
      Effect.map(within, (work) => void work.announcements.push(...announcements)),
    enqueue: (items) => Effect.map(within, (work) => void work.work.push(...items)),
    whenCommitted: (effect) => Effect.map(within, (work) => void work.committed.push(effect)),
    forget: (collection, recordIds) => {
      const of = { collection: collection.name, recordIds }
      return recordIds.length === 0
        ? Effect.void
        : within.pipe(
            Effect.andThen(documents.forget(of)),
            Effect.andThen(factLog.forget(of)),
            Effect.asVoid,
            stored
          )
    },
    audit: (entries) => Effect.map(within, (work) => void work.audit.push(...entries))
  })
})

const traced = (
  announcements: ReadonlyArray<Announcement>,
  { trace }: Act
): ReadonlyArray<Announcement> =>
  trace === undefined ? announcements : announcements.map((one) => ({ ...one, trace }))

/** A record that no offset dates is at 0; an update's fact holds from its own offset. */
const offsetOf = (keptBy: "ledger" | "engine" | "own", act: Act): number | undefined => {
  if (keptBy === "own") return 0
  if (act.offset !== undefined) return act.offset
  return act.cause.by === "update" ? act.cause.offset : undefined
}

const isMoved = (error: unknown): error is VersionMoved =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "VersionMoved"

const isAway = (error: unknown): error is StorageUnavailable =>
  typeof error === "object" &&
  error !== null &&
  "_tag" in error &&
  error._tag === "StorageUnavailable"

export const layer: Layer.Layer<
  Records,
  never,
  Atomically | FactLog | Documents | Feed | WorkQueue | Crypto
> = Layer.effect(Records, make)
