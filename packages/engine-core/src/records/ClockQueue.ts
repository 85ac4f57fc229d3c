/** Queue `clock`: holds each record until its next clock move or `Timely` write is due. */
import type { Collection } from "../kernel/Collection.ts"
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

/** The instants of the record's next clock move and of each `Timely` write. */
const instantsOf = <R, F>(
  collection: Collection<R, F>,
  record: R,
  timely: ReadonlyArray<Timely>
): ReadonlyArray<Instant.Instant> =>
  [
    collection.due(record)?.at,
    ...timely.map((write) =>
      write.collection.name === collection.name ? write.at(record) : undefined
    )
  ].filter((at) => at !== undefined)

const firstOf = (instants: ReadonlyArray<Instant.Instant>): Instant.Instant | undefined =>
  instants.reduce<Instant.Instant | undefined>(
    (first, at) => (first === undefined || at < first ? at : first),
    undefined
  )

/** The instant of the record's next clock move or `Timely` write; undefined: none comes. */
export const next = <R, F>(
  collection: Collection<R, F>,
  record: R,
  timely: ReadonlyArray<Timely>
): Instant.Instant | undefined => firstOf(instantsOf(collection, record, timely))

/** The first of these instants that is still to come; undefined: all have come. */
export const nextAfter = <R, F>(
  collection: Collection<R, F>,
  record: R,
  { timely, now }: { readonly timely: ReadonlyArray<Timely>; readonly now: Instant.Instant }
): Instant.Instant | undefined =>
  firstOf(instantsOf(collection, record, timely).filter((at) => at > now))

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

/**
 * The queue item of a version, where its next instant differs from that of the version before; else
 * the earlier item serves both. Items are not removed: one whose record has ended does nothing when
 * it is due.
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
  return { queue, itemId: id, resource: id, payload: "", delay: until(now, next) }
}
