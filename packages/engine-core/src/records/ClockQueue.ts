/** Queue `clock`: holds each record until its next clock move or `Timely` write is due. */
import { Effect } from "effect"
import type { Collection, Steps } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import type { WorkItem } from "../ports/storage/WorkQueue.ts"
import type { Timely } from "./Timely.ts"

/** Name of the queue. */
export const queue = "clock"

/** Longest delay of a queue item in milliseconds; a record that waits longer is queued again. */
const waitMax = 30 * 24 * 3_600_000

/** Milliseconds from `now` until an instant, at most `waitMax`; 0 when the instant has passed. */
export const until = (now: Instant.Instant, then: Instant.Instant): number =>
  Math.min(waitMax, Math.max(0, Instant.toEpochMillis(then) - Instant.toEpochMillis(now)))

/** The instants of the record's next clock move and of each `Timely` write that it has. */
const instantsOf = <R, F>(
  collection: Collection<R, F>,
  record: R,
  timely: ReadonlyArray<Timely>
): ReadonlyArray<Instant.Instant | undefined> => {
  const instants = [collection.due(record)?.at]
  for (const write of timely) {
    if (write.collection.name === collection.name) instants.push(write.at(record))
  }
  return instants
}

const firstOf = (
  instants: ReadonlyArray<Instant.Instant | undefined>,
  after?: Instant.Instant
): Instant.Instant | undefined => {
  let first: Instant.Instant | undefined
  for (const at of instants) {
    if (at === undefined || (after !== undefined && at <= after)) continue
    if (first === undefined || at < first) first = at
  }
  return first
}

/**
 * The instant of the record's next clock move or `Timely` write; undefined: none comes. With `after`, the
 * first of these instants that is later.
 */
export const next = <R, F>(
  collection: Collection<R, F>,
  record: R,
  { after, timely }: { readonly timely: ReadonlyArray<Timely>; readonly after?: Instant.Instant }
): Instant.Instant | undefined => firstOf(instantsOf(collection, record, timely), after)

/**
 * The instant for which a changed record is queued; undefined: the items of earlier versions serve it.
 * It is the first instant that its move or write did not have before, also where another one had it, since
 * an earlier item may pause until much later; and the first of all where that has moved, as versions of the
 * engine beside this one do.
 */
const queuedFor = (
  before: ReadonlyArray<Instant.Instant | undefined>,
  after: ReadonlyArray<Instant.Instant | undefined>
): Instant.Instant | undefined => {
  const first = firstOf(after)
  return first === firstOf(before) ? firstOf(after.filter((at, nth) => at !== before[nth])) : first
}

/** Id of the queue item of a version; each version is queued at most once. */
export const itemId = (collection: string, recordId: string, version: number): string =>
  `${collection}/${recordId}/${version}`

/** Parses the record out of a queue item id; a record id may itself contain slashes. */
export const recordOf = (
  item: string
): { readonly collection: string; readonly recordId: string } => {
  const first = item.indexOf("/")
  return {
    collection: item.slice(0, first),
    recordId: item.slice(first + 1, item.lastIndexOf("/"))
  }
}

const awaitedPrefix = "at:"

/** Payload of an item that waits for an instant of its record. */
export const payloadFor = (awaited: Instant.Instant): string =>
  `${awaitedPrefix}${Instant.sortable(awaited)}`

/**
 * Checks whether an item may go because its record no longer comes to the instant that the item waited
 * for: the change which moved that instant has queued an item for the record's next one. Without this rule
 * a record whose instant moves with each change would keep an item for every version. An item without an
 * instant in its payload, as earlier versions of the engine queued it, stays.
 */
export const isObsolete = <R, F>(
  collection: Collection<R, F>,
  record: R,
  { payload, timely }: { readonly payload: string; readonly timely: ReadonlyArray<Timely> }
): boolean =>
  payload.startsWith(awaitedPrefix) &&
  instantsOf(collection, record, timely).every(
    (at) => at === undefined || payloadFor(at) !== payload
  )

/**
 * The queue item of a version for the instant to which its record comes next. A change does not remove the
 * items of earlier versions: one whose record has ended, or comes to another instant by then, ends when it
 * is due.
 */
export const itemOf = (
  {
    collection,
    recordId,
    version,
    next
  }: {
    readonly collection: string
    readonly recordId: string
    readonly version: number
    readonly next: Instant.Instant
  },
  now: Instant.Instant
): WorkItem => {
  const id = itemId(collection, recordId, version)
  return { queue, itemId: id, resource: id, payload: payloadFor(next), delay: until(now, next) }
}

/**
 * The queue item of a change of a record, where a move or a write of the record comes to an instant that it
 * did not have before; the items of earlier versions serve both otherwise.
 */
export const itemsOf = Effect.fnUntraced(function* <R, F>(
  collection: Collection<R, F>,
  {
    before,
    recordId,
    steps,
    version
  }: {
    readonly recordId: string
    /** The version before the change. */
    readonly version: number
    /** Undefined: the change opens the record. */
    readonly before: R | undefined
    readonly steps: Steps<R, F>
  },
  timely: ReadonlyArray<Timely>
): Effect.fn.Return<ReadonlyArray<WorkItem>> {
  const instants = instantsOf(collection, steps[steps.length - 1]!.record, timely)
  const earlier = before === undefined ? [] : instantsOf(collection, before, timely)
  const at = queuedFor(earlier, instants)
  if (at === undefined) return []
  const due = { collection: collection.name, recordId, version: version + steps.length, next: at }
  // The clock, and not the act's own now: a fact of a ledger update is judged at its effective time.
  return [itemOf(due, yield* Instant.now)]
})

/** The queue item of a record of which no version could be read: its first turn reads it. */
export const unreadItem = (collection: string, recordId: string): WorkItem => {
  const id = itemId(collection, recordId, 0)
  return { queue, itemId: id, resource: id, payload: "", delay: 0 }
}
