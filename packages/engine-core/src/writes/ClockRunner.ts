/** Scheduler: appends notices of clock moves, and opens the engine's own writes (`Timely`). */
import { Cause, Effect, Exit, Option, Stream } from "effect"
import { Settings } from "../engine/Settings.ts"
import type { Task } from "../engine/Schedule.ts"
import { type Collection, never } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import { Ledger } from "../ports/Ledger.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import type { LeaseLost } from "../ports/storage/StorageError.ts"
import { type Lease, WorkQueue } from "../ports/storage/WorkQueue.ts"
import { together } from "../records/BatchedWork.ts"
import * as ClockQueue from "../records/ClockQueue.ts"
import { orUnavailable, ledgerUnavailable } from "../records/PortFailure.ts"
import { JudgedAt } from "../records/JudgedAt.ts"
import { Records, type Stored } from "../records/Records.ts"
import * as Approval from "./Approval.ts"
import { FourEyes } from "./FourEyes.ts"
import { operations } from "./OperationRecord.ts"
import * as Timely from "../records/Timely.ts"
import * as TimelyTries from "./TimelyTries.ts"

/** Records of one batch. */
const batchMax = 100

/** Milliseconds between polls of the queue. */
const every = 5_000

/**
 * Milliseconds by which a transaction's effective time may precede its offset: until then the
 * ledger may still show an update that happened before the clock's move
 * (docs/domain/ledger-writes.md#clock-tolerance).
 */
const tolerance = 60_000

/** Milliseconds until the projection is polled again. */
const projectedFor = 1_000

/** Milliseconds until a record whose processing failed is retried. */
const failedFor = 60_000

/** Operations of one write that a turn looks at: more than one only where the counts were lost. */
const looksMax = 20

/** Milliseconds for which a kind of record unknown to this version is left to newer versions. */
const unknownFor = 3_600_000

type Needs = Records | WorkQueue | Ledger | ProjectionLog | FourEyes

/** The stored record, not ripened: its due clock moves are still to be written. */
const keptOf = <R, F>(collection: Collection<R, F>, recordId: string) =>
  Effect.flatMap(Records, (records) => records.find(collection, recordId)).pipe(
    Effect.provideService(JudgedAt, Instant.fromNanos(0n))
  )

/**
 * Delay before the clock move of a ledger record may be noted: every update that could have come
 * before the move must be projected first. The ledger's end to wait for is read once and kept in
 * the queue item, so that a busy ledger does not delay the notice for ever.
 */
const unprojected = Effect.fnUntraced(function* (
  lease: Lease,
  { due, now }: { readonly due: Instant.Instant; readonly now: Instant.Instant }
) {
  const settled = Instant.fromEpochMillis(Instant.toEpochMillis(due) + tolerance)
  if (settled > now) return { delay: Math.max(1, ClockQueue.until(now, settled)) }
  const ledger = yield* Ledger
  const { head } = yield* ProjectionLog
  const end = endOf(lease.payload) ?? (yield* Effect.mapError(ledger.ledgerEnd, ledgerUnavailable))
  return (yield* orUnavailable(head)).offset >= end
    ? undefined
    : { delay: projectedFor, payload: `end:${end}` }
})

/** Decodes an item's payload: the ledger's end to wait for. */
const endOf = (payload: string): number | undefined =>
  payload.startsWith("end:") ? Number(payload.slice(4)) : undefined

/** Appends a notice for each clock move that is due; reads compute the moves without notices. */
const noted = Effect.fnUntraced(function* <R, F>(
  collection: Collection<R, F>,
  before: Stored<R>,
  now: Instant.Instant
) {
  const records = yield* Records
  let self = before
  for (let due = collection.due(self); due !== undefined && due.at <= now; ) {
    self = yield* records.append(collection, self, due.fact, { cause: { by: "clock" }, now })
    due = collection.due(self)
  }
  return self
})

/**
 * Opens the scheduled writes that are due, each under a key of record, instant and number of earlier
 * tries, so that a repeated turn finds the same operation. A write whose pause lasts is left as it is.
 * Returns the tries of each write that is due.
 */
const opened = Effect.fnUntraced(function* <R, F>(
  collection: Collection<R, F>,
  record: R,
  { now, payload }: { readonly now: Instant.Instant; readonly payload: string }
) {
  const fourEyes = yield* FourEyes
  const records = yield* Records
  const timelyWrites = yield* Timely.Declared
  const before = TimelyTries.decode(payload)
  const tries: Array<TimelyTries.TimelyTry> = []
  for (const write of timelyWrites) {
    if (write.collection.name !== collection.name) continue
    const at = write.at(record)
    if (at === undefined || at > now) continue
    const about = `${write.name}:${collection.id(record)}@${Instant.sortable(at)}`
    let self = before.get(about) ?? { about, times: 0, againAt: at }
    for (let looks = 0; self.againAt <= now && looks < looksMax; looks++) {
      const answer = yield* fourEyes
        .open(write.operation, write.request(record), `${about}#${self.times}`)
        .pipe(Effect.catchTag("Refused", broken(about)))
      const id = answer.location.slice(answer.location.lastIndexOf("/") + 1)
      const operation = Option.getOrUndefined(yield* records.find(operations, id))
      const failedAt = operation?.state === "failed" ? (operation.finishedAt ?? now) : undefined
      self = TimelyTries.looked(self, { failedAt, now })
    }
    tries.push(self)
  }
  return tries
})

/** Dies on a refusal of the engine's own request: its declaration is wrong. */
const broken = (about: string) => (refusal: Refused) =>
  Effect.die(new Error(`${about} could not be opened: ${refusal.slug}`))

/** Processes one record whose alarm is due. */
const look = Effect.fnUntraced(function* (
  lease: Lease,
  collections: ReadonlyMap<string, Collection>
) {
  const work = yield* WorkQueue
  const timely = yield* Timely.Declared
  yield* orUnavailable(work.fence(lease))
  const about = ClockQueue.recordOf(lease.itemId)
  const collection = collections.get(about.collection)
  const release = (next: { readonly delay: number; readonly payload?: string }) =>
    orUnavailable(work.release(lease, next))
  if (collection === undefined) return yield* release({ delay: unknownFor })
  yield* locked(about)
  const storedRecord = yield* keptOf(collection, about.recordId)
  if (Option.isNone(storedRecord)) return yield* orUnavailable(work.finish(lease))
  const now = yield* Instant.now
  const before = ClockQueue.next(collection, storedRecord.value, { timely })
  if (before === undefined) return yield* orUnavailable(work.finish(lease))
  if (before > now) {
    const { payload } = lease
    if (ClockQueue.isObsolete(collection, storedRecord.value, { payload, timely })) {
      return yield* orUnavailable(work.finish(lease))
    }
    // The queue uses the store's clock, a record the engine's.
    return yield* release({
      delay: Math.max(1, ClockQueue.until(now, before)),
      payload: ClockQueue.payloadFor(before)
    })
  }
  const due = collection.due(storedRecord.value)
  if (collection.keptBy === "ledger" && due !== undefined && due.at <= now) {
    const wait = yield* unprojected(lease, { due: due.at, now })
    if (wait !== undefined) return yield* release(wait)
  }
  const after = yield* noted(collection, storedRecord.value, now)
  const tries = yield* opened(collection, after, { now, payload: lease.payload })
  const next = ClockQueue.next(collection, after, { timely })
  // The written version has an item of its own, unless it waits for the same instant.
  const waits =
    next !== undefined && (after.version === storedRecord.value.version || next === before)
  if (!waits) return yield* orUnavailable(work.finish(lease))
  // Each refused write pauses by itself; what comes at another instant does not wait for it.
  const nextInstant = ClockQueue.next(collection, after, { timely, after: now })
  const instants = [
    ...tries.map(({ againAt }) => againAt),
    ...(nextInstant === undefined ? [] : [nextInstant])
  ]
  const until = instants.reduce(Instant.min, instants[0] ?? next)
  yield* release({
    delay: Math.max(1, ClockQueue.until(now, until)),
    payload: tries.length === 0 ? ClockQueue.payloadFor(until) : TimelyTries.encode(tries)
  })
})

/** Takes the lock that signatures take, so that an action is decided or lapses, never both. */
const locked = Effect.fnUntraced(function* ({
  collection,
  recordId
}: {
  readonly collection: string
  readonly recordId: string
}) {
  if (collection !== Approval.approvals.name) return
  const records = yield* Records
  const { tenantId } = yield* Settings
  yield* records.lock(`action:${tenantId}:${recordId}`)
})

/** Processes one record; its failure does not stop the others. */
const processed = (
  lease: Lease,
  collections: ReadonlyMap<string, Collection>
): Effect.Effect<void, Unavailable, Needs> =>
  Effect.gen(function* () {
    const records = yield* Records
    const work = yield* WorkQueue
    const exit = yield* Effect.exit(records.transact(look(lease, collections)))
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return yield* exit
    if (isLost(exit.cause)) return
    yield* Effect.logError(`the clock's moves of ${lease.itemId} could not be noted`, exit.cause)
    yield* orUnavailable(work.release(lease, { delay: failedFor })).pipe(
      // Another instance has taken the lease, and processes the record.
      Effect.catchTag("LeaseLost", () => Effect.void)
    )
  }).pipe(Effect.catchTag("LeaseLost", () => Effect.void))

const isLost = (cause: Cause.Cause<LeaseLost | Unavailable>): boolean =>
  cause.reasons.every((reason) => Cause.isFailReason(reason) && reason.error._tag === "LeaseLost")

/** Records that are queued in one batch. */
const adoptedMax = 200

/** A collection with clock moves, and its scheduled writes. */
const kindsOf = (
  { name }: Collection,
  timely: ReadonlyArray<Timely.Timely>
): ReadonlyArray<string> => [
  name,
  ...timely.flatMap(({ collection, name: write }) =>
    collection.name === name ? [`+${write}`] : []
  )
]

/**
 * Queues the records that were written before their kind had clock moves or a `Timely` of this
 * version. Items that are queued already are left as they are, so that an interrupted sweep is
 * simply repeated.
 */
const adopted = Effect.fnUntraced(
  function* (clocked: ReadonlyArray<Collection>) {
    const records = yield* Records
    const timely = yield* Timely.Declared
    const setDown = (collection: Collection, ids: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const found = yield* records.many(collection, ids)
        const now = yield* Instant.now
        yield* records.transact(
          records.enqueue(
            found.flatMap((record) => {
              const next = ClockQueue.next(collection, record, { timely })
              if (next === undefined) return []
              const recordId = collection.id(record)
              const move = { collection: collection.name, recordId, version: record.version, next }
              return [ClockQueue.itemOf(move, now)]
            })
          )
        )
      })
    // A record that cannot be read keeps no other one from its clock moves, and is queued unread: its
    // item is tried again until it can be read, while its kind counts as swept.
    const setDownUnread = (collection: Collection, recordId: string, defect: unknown) =>
      Effect.gen(function* () {
        yield* Effect.logError(
          `the clock of ${collection.name} ${recordId} could not be read`,
          defect
        )
        yield* records.transact(records.enqueue([ClockQueue.unreadItem(collection.name, recordId)]))
      })
    const sweeps = clocked.map((collection) => {
      const sweep = records.ids(collection, {}).pipe(
        Stream.grouped(adoptedMax),
        Stream.runForEach((ids) =>
          together(
            ids,
            (some) =>
              Effect.catchDefect(setDown(collection, some), (defect) => {
                const [recordId, ...others] = some
                return recordId === undefined || others.length > 0
                  ? Effect.die(defect)
                  : setDownUnread(collection, recordId, defect)
              }),
            (recordId) => `the clock of ${collection.name} ${recordId}`
          )
        ),
        Effect.as(kindsOf(collection, timely))
      )
      // A kind whose ids cannot be listed is swept again in the next turn, and keeps back no other.
      return Effect.catchDefect(sweep, (defect) =>
        Effect.as(Effect.logError(`the clock of ${collection.name} could not be swept`, defect), [])
      )
    })
    return (yield* Effect.all(sweeps)).flat()
  },
  // As stored, not ripened: the due clock moves are what the sweep queues.
  Effect.provideService(JudgedAt, Instant.fromNanos(0n))
)

/**
 * Notes clock moves (docs/domain/every-record.md#clock-states) of these collections and opens what
 * is Timely, some seconds after its time. A record is queued by the version that will come to the
 * move, so that no search is needed; a deployment that was down catches up in batches. The turn's
 * state lists the kinds of record whose records are queued: a version with further kinds sweeps
 * them once.
 */
export const clock = (collections: ReadonlyArray<Collection>): Task<Needs> => {
  const byName = new Map(collections.map((collection) => [collection.name, collection]))
  const batch = Effect.gen(function* () {
    const work = yield* WorkQueue
    const { lease: leaseMillis } = yield* Settings
    const leases = yield* orUnavailable(
      work.lease({ queue: ClockQueue.queue, worker: "clock", limit: batchMax, leaseMillis })
    )
    yield* Effect.forEach(leases, (lease) => processed(lease, byName), {
      concurrency: "unbounded",
      discard: true
    })
    return leases.length
  })
  return {
    name: "clock",
    doc: "Announces what the clock has done to records, and opens the writes whose time has come.",
    every,
    run: Effect.fnUntraced(function* (turn) {
      const timely = yield* Timely.Declared
      const names = new Set(timely.map(({ collection }) => collection.name))
      const clocked = collections.filter(({ due, name }) => due !== never || names.has(name))
      const swept = new Set(turn.state.split(" ").filter((kind) => kind !== ""))
      const isNew = (collection: Collection) =>
        kindsOf(collection, timely).some((kind) => !swept.has(kind))
      const kinds = yield* adopted(clocked.filter(isNew))
      // The kinds of other versions stay listed, so that two versions running side by side do not
      // sweep for each other's.
      const state = [...new Set([...swept, ...kinds])].toSorted().join(" ")
      yield* Effect.repeat(batch, { while: (leasedCount: number) => leasedCount === batchMax })
      yield* turn.next({ delay: every, state })
    })
  }
}
