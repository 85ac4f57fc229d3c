/** Keyset pages of a feed: one gapless sequence, read on from a signed cursor, without an end. */
import { Effect, Option, Stream } from "effect"
import * as Offset from "../kernel/Offset.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import { refused, type Refused } from "../kernel/Refusal.ts"
import * as Instant from "../kernel/Instant.ts"
import type { FeedBounds, StoreRestore } from "../ports/storage/Feed.ts"
import type { Cursors } from "../reads/Cursor.ts"

/** Page size of the event feed where the caller names no limit. */
export const limitDefault = 100

/** Page parameters of a feed, besides its filters. */
interface PageRequest {
  readonly order: "asc" | "desc"
  readonly limit: number
  /** The last `next`; absent: from the feed's own end in that order. */
  readonly after?: string
}

/** Query to the store. */
export interface Scan {
  readonly order: "asc" | "desc"
  readonly limit: number
  /** The number of the last record scanned before. */
  readonly after?: number
}

/** A row with its number in the feed. */
interface NumberedRow {
  readonly seq: number
}

/** Answer of a scan: the rows that match, how far the feed was scanned, and its bounds then. */
interface ScannedRows<A> extends FeedBounds {
  readonly rows: ReadonlyArray<A>
  /**
   * The last number scanned, also where a filter left it out; the place that was asked after, if
   * none was.
   */
  readonly scanned: number
  /** The last journal event that was pruned, where the reader may read journal events; 0: none. */
  readonly journalPrunedTo: number
}

interface Page<A> {
  readonly rows: ReadonlyArray<A>
  /** Never null: a reader asks again with the last one. */
  readonly next: string
}

/** Scan of a feed for a caller, and what binds its cursors. */
interface FeedSource<A, E> {
  /** Filters and sight that the cursor is bound to, besides the order. */
  readonly cursorBinding: Readonly<Record<string, PlainJson.Plain>>
  readonly scan: (scan: Scan) => Effect.Effect<ScannedRows<A>, E>
  /**
   * Whether the reader may see a row that its filters match; absent: it sees all. A page is filled
   * with rows that the reader sees, so that neither its length nor its place tells of the others.
   */
  readonly shows?: (row: A) => boolean
}

/** Every row from a place on to the end that the feed had, and the place after them. */
interface Rest<A, E> {
  readonly rows: Stream.Stream<A, E | Refused<"cursor-expired">>
  /** Cursor of the place after the rows; to be read once they have all been taken. Never null. */
  readonly next: () => string
}

/** Rows that `rest` reads at a time. */
const restAtOnce = 1_000

interface FeedPages {
  /**
   * Every row after a place, up to the end that the feed has now: read page by page as the rows are
   * taken, so that one page is in memory. Refuses as `page` does before the first row; a feed that is
   * pruned past the reader meanwhile fails the stream, which is never cut short in silence.
   */
  readonly rest: <A extends NumberedRow, E>(
    request: Omit<PageRequest, "limit"> & {
      /** The last number of the feed now: later rows are those of the next call. */
      readonly end: number
    },
    source: FeedSource<A, E>
  ) => Effect.Effect<Rest<A, E>, E | Refused<"invalid-request" | "cursor-expired">>

  /**
   * The page after a place. A cursor holds only with the list, the filters and the sight it was
   * issued for. Refuses `invalid-request` on a cursor this feed did not issue, and `cursor-expired`
   * to a forward reader whose next rows were deleted by retention, or who has passed rows that a
   * restore of the store lost (docs/contract/pages-and-cursors.md#feeds).
   */
  readonly page: <A extends NumberedRow, E>(
    request: PageRequest,
    source: FeedSource<A, E>
  ) => Effect.Effect<Page<A>, E | Refused<"invalid-request" | "cursor-expired">>
}

/**
 * The pages of one feed of one venue; `list` names it in its cursors, and `lostAfter` is the last number
 * of the feed that a restore kept.
 */
export const make = ({
  list,
  tenantId,
  cursors,
  lostAfter
}: {
  readonly list: string
  readonly tenantId: string
  readonly cursors: Cursors
  readonly lostAfter: (restore: StoreRestore) => number
}): FeedPages => {
  const bindingOf = (
    cursorBinding: FeedSource<never, never>["cursorBinding"],
    order: PageRequest["order"]
  ): string => PlainJson.canonical({ ...cursorBinding, tenant: tenantId, order })

  const readPlace = (binding: string, after: string | undefined) =>
    after === undefined
      ? Effect.undefined
      : Effect.map(
          Effect.fromResult(cursors.read({ list, binding, count: keyCounts, text: after })),
          placeOf
        )

  /** The restore after which a number of the feed was used; empty: none. */
  const restoredBefore = (seq: number, { restores }: Bounds): string =>
    restores.findLast((restore) => lostAfter(restore) < seq)?.at ?? neverRestored

  /** Place after a number, for a reader that was told of nothing deleted after it. */
  const untoldPlaceAt = (scanned: number, found: Bounds): Place => ({
    scanned,
    prunedTo: 0,
    journalPrunedTo: 0,
    restoredAt: restoredBefore(scanned, found),
    prunedRestoredAt: neverRestored
  })

  /** Place after a number, as the feed was then. What is deleted before the number says nothing. */
  const placeAt = (scanned: number, found: Bounds): Place => {
    const ahead = (prunedTo: number): number => (prunedTo > scanned ? prunedTo : 0)
    const prunings = {
      prunedTo: ahead(found.prunedTo),
      journalPrunedTo: ahead(found.journalPrunedTo)
    }
    return {
      ...untoldPlaceAt(scanned, found),
      ...prunings,
      prunedRestoredAt: restoredBefore(lastPruned(prunings), found)
    }
  }

  /**
   * Checks whether retention deleted events that the reader had not reached. What was pruned before its
   * cursor was issued does not count: other events in that prefix may remain, and it reads them. Where
   * a restore lost a part of that prefix, all of it counts: other events have the numbers.
   */
  const isPrunedPast = (place: Place, found: Bounds): boolean => {
    const isSamePrefix = restoredBefore(lastPruned(place), found) === place.prunedRestoredAt
    const isPast = (prunedTo: number, toldTo: number): boolean =>
      prunedTo > Math.max(place.scanned, isSamePrefix ? toldTo : 0)
    return (
      isPast(found.prunedTo, place.prunedTo) || isPast(found.journalPrunedTo, place.journalPrunedTo)
    )
  }

  const cursorOf = (binding: string, place: Place): string =>
    cursors.write({ list, binding, offset: Offset.zero, keys: keysOf(place) })

  /** Refuses a forward reader who has passed rows that are lost, or whose next rows are pruned. */
  const unmissed = (
    { binding, order, place }: FeedRead,
    found: Bounds
  ): Effect.Effect<void, Refused<"cursor-expired">> => {
    if (place === undefined || order === "desc") return Effect.void
    const restore = found.restores.findLast(({ at }) => at > place.restoredAt)
    const isOfThisHistory = restoredBefore(place.scanned, found) === place.restoredAt
    if (!isOfThisHistory && restore !== undefined) {
      // The copy is of before the cursor's own restore, of which nobody knows any more what it lost.
      if (!found.restores.some(({ at }) => [at, neverRestored].includes(place.restoredAt))) {
        return expired(
          `The venue was restored at ${printed(restore.at)} from a backup of another history than this cursor's: records that it has passed are lost. Compare what was read with the feed, read anew without a cursor.`
        )
      }
      const later = found.restores.filter(({ at }) => at > place.restoredAt)
      const shared = Math.min(...later.map(lostAfter))
      const next = cursorOf(binding, untoldPlaceAt(shared, found))
      return expired(
        `The venue was restored from a backup at ${printed(restore.at)}: what this cursor has passed after number ${shared} is lost, and other records have those numbers. Drop what was read after number ${shared}, and read on with after=${next}`
      )
    }
    if (!isOfThisHistory || place.scanned > found.end) {
      return expired(
        `The feed ends with number ${found.end} and is older than this cursor: records that it has passed are lost. Compare what was read with the feed, read anew without a cursor.`
      )
    }
    return isPrunedPast(place, found)
      ? expired(
          `What followed is pruned; the oldest seq is ${Math.max(found.prunedTo, found.journalPrunedTo) + 1}.`
        )
      : Effect.void
  }

  return {
    page: Effect.fnUntraced(function* <A extends NumberedRow, E>(
      { order, limit, after }: PageRequest,
      source: FeedSource<A, E>
    ) {
      const binding = bindingOf(source.cursorBinding, order)
      const place = yield* readPlace(binding, after)
      const found = yield* filled(source, { order, limit, ...afterOf(place) })
      yield* unmissed({ binding, order, place }, found)
      return { rows: found.rows, next: cursorOf(binding, placeAt(found.scanned, found)) }
    }),

    rest: Effect.fnUntraced(function* <A extends NumberedRow, E>(
      { order, after, end }: Omit<PageRequest, "limit"> & { readonly end: number },
      source: FeedSource<A, E>
    ) {
      const binding = bindingOf(source.cursorBinding, order)
      const start = yield* readPlace(binding, after)
      const scan = Effect.fnUntraced(function* (place: Place | undefined) {
        const found = yield* source.scan({ order, limit: restAtOnce, ...afterOf(place) })
        yield* unmissed({ binding, order, place }, found)
        return found
      })
      const first = yield* scan(start)
      let reached = first
      const isLast = (found: ScannedRows<A>): boolean =>
        found.rows.length < restAtOnce || (order === "asc" && found.scanned >= end)
      const within = ({ rows }: ScannedRows<A>): ReadonlyArray<A> =>
        order === "asc" ? rows.filter(({ seq }) => seq <= end) : rows
      const later = Stream.paginate(first, (before) =>
        isLast(before)
          ? Effect.succeed([[], Option.none()] as const)
          : Effect.map(scan(placeAt(before.scanned, before)), (found) => {
              reached = found
              return [within(found), Option.some(found)] as const
            })
      )
      return {
        rows: Stream.concat(Stream.fromIterable(within(first)), later),
        next: () =>
          cursorOf(
            binding,
            placeAt(
              // Rows that came meanwhile are those of the next call.
              order === "asc" ? Math.max(start?.scanned ?? 0, end) : reached.scanned,
              reached
            )
          )
      }
    })
  }
}

const afterOf = (place: Place | undefined) => (place === undefined ? {} : { after: place.scanned })

/** Call of a page, for the judgement of its cursor. */
interface FeedRead {
  readonly binding: string
  readonly order: PageRequest["order"]
  readonly place: Place | undefined
}

const printed = (at: string): string => Instant.format(Instant.toMicros(Instant.of(at)))

const expired = (detail: string) => Effect.fail(refused("cursor-expired", { detail }))

/** Rows of one scan past rows that the reader does not see. */
const scannedOn = 1_000

/** Most scans of one page; past so many rows that the reader does not see it has what was found. */
const scansMax = 100

/**
 * Scans past rows that the reader does not see, until the page is full or the feed has ended. The
 * place after a full page is that of its last row: what the reader does not see moves it nowhere.
 */
const filled = Effect.fnUntraced(function* <A extends NumberedRow, E>(
  { scan, shows }: FeedSource<A, E>,
  feedScan: Scan
) {
  let limit = feedScan.limit
  let found = yield* scan(feedScan)
  if (shows === undefined) return found
  const rows = found.rows.filter(shows)
  for (let scans = 1; rows.length < feedScan.limit && found.rows.length >= limit; scans += 1) {
    if (scans === scansMax) break
    limit = scannedOn
    found = yield* scan({ ...feedScan, after: found.scanned, limit })
    rows.push(...found.rows.filter(shows))
  }
  const last = rows[feedScan.limit - 1]
  return last === undefined
    ? { ...found, rows }
    : { ...found, rows: rows.slice(0, feedScan.limit), scanned: last.seq }
})

/** Bounds of the feed as of a scan. */
type Bounds = Omit<ScannedRows<never>, "rows" | "scanned">

/** A reader's place in the sequence, and what was pruned after it when the cursor was issued. */
interface Place extends Pick<Bounds, "prunedTo" | "journalPrunedTo"> {
  readonly scanned: number
  /** The restore after which the last number scanned was used; empty: none. */
  readonly restoredAt: string
  /** The restore after which the last number pruned was used; empty: none. */
  readonly prunedRestoredAt: string
}

const lastPruned = ({
  journalPrunedTo,
  prunedTo
}: Pick<Place, "prunedTo" | "journalPrunedTo">): number => Math.max(prunedTo, journalPrunedTo)

const neverRestored = ""

/**
 * Keys that a cursor need not have, with what they are then, in order. A place that needs none has the
 * two keys of the versions before, so that a host of such a version reads it (a rolling start).
 */
const defaultKeys = ["0", neverRestored, neverRestored]
const leastKeys = 2

const keyCounts = [2, 3, 4, 5]

const keysOf = ({ journalPrunedTo, prunedRestoredAt, prunedTo, restoredAt, scanned }: Place) => {
  const keys = [scanned, prunedTo, journalPrunedTo, restoredAt, prunedRestoredAt].map(String)
  const last = keys.findLastIndex((key, index) => key !== defaultKeys[index - leastKeys])
  return keys.slice(0, Math.max(leastKeys, last + 1))
}

/**
 * Reads the place of a cursor. One of the versions before is of the time before all restores, and was
 * told of no deleted journal event.
 */
const placeOf = ({
  keys: [
    scanned,
    prunedTo,
    journalPrunedTo = "0",
    restoredAt = neverRestored,
    prunedRestoredAt = neverRestored
  ]
}: {
  readonly keys: ReadonlyArray<string>
}): Place => ({
  scanned: Number(scanned),
  prunedTo: Number(prunedTo),
  journalPrunedTo: Number(journalPrunedTo),
  restoredAt,
  prunedRestoredAt
})
