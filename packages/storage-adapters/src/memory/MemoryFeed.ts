/** The event feed in memory, and the head that it shares with the projection's book. */
import type { EventRow, Feed, FeedHead, FeedQuery, ProjectionHead } from "@bursar/engine-core/ports"
import { stamp } from "./Stamp.ts"
import type { Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"
import type { Wakes } from "./Wakes.ts"

/** What the feed and the projection both move: one record, so that one read of it is consistent. */
export interface Head {
  seq: number
  at: string
  projection: ProjectionHead
  /** The ledger time at the horizon, where the history begins with a snapshot. */
  horizonLedgerTime: string | null
  /** The transaction that took the head last. */
  takenBy: number
}

export const makeHead = (): Head => ({
  seq: 0,
  at: "",
  projection: {
    offset: 0,
    ledgerTime: null,
    horizonOffset: 0,
    horizonTime: null,
    writerEpoch: 0,
    participant: null,
    ledgerEpoch: 1
  },
  horizonLedgerTime: null,
  takenBy: 0
})

export const FEED = "feed"

export const make = (of: {
  readonly transactions: Transactions
  readonly head: Head
  readonly wakes: Wakes
}): Feed["Service"] => {
  const { transactions, head, wakes } = of
  const events: Array<EventRow> = []
  const sources = new Map<string, number>()
  const headNow = (at: string): FeedHead => ({
    seq: head.seq,
    at,
    projectionOffset: head.projection.offset
  })

  return {
    take: (now) =>
      transactions.inside("Feed.take", (transaction) => {
        head.takenBy = transaction.id
        return headNow(stamp(head.at, now))
      }),
    append: (taken, rows) =>
      transactions.inside("Feed.append", (transaction) => {
        if (head.takenBy !== transaction.id || head.seq !== taken.seq || taken.at < head.at) {
          throw new Error("Feed.append: the head was not taken in this transaction")
        }
        rows.forEach((row, index) => {
          if (row.seq !== taken.seq + index + 1) {
            throw new Error(`Feed.append: ${row.seq} does not follow ${taken.seq + index}`)
          }
          if (row.source !== null) {
            if (sources.has(row.source)) throw new Error(`Feed.append: ${row.source} is known`)
            Undo.set(transaction, sources, row.source, row.seq)
          }
          Undo.push(transaction, events, row)
        })
        Undo.patch(transaction, head, { seq: taken.seq + rows.length, at: taken.at })
        if (rows.length > 0) transaction.afterCommit.push(() => wakes.wake(FEED))
      }),
    read: (query) => transactions.read(() => readEvents(events, query)),
    head: transactions.read(() => headNow(head.at)),
    known: (asked) => transactions.read(() => asked.filter((source) => sources.has(source))),
    wakes: wakes.stream(FEED)
  }
}

const readEvents = (
  events: ReadonlyArray<EventRow>,
  query: FeedQuery
): { readonly events: ReadonlyArray<EventRow>; readonly scanned: number } => {
  const step = query.order === "asc" ? 1 : -1
  // The event with number n lies at n - 1.
  const start =
    query.after === undefined ? (step === 1 ? 0 : events.length - 1) : query.after - 1 + step
  const found: Array<EventRow> = []
  let scanned = query.after ?? 0
  for (let index = Math.min(start, step === 1 ? start : events.length - 1); ; index += step) {
    const event = events[index]
    if (event === undefined || found.length === query.limit) return { events: found, scanned }
    scanned = event.seq
    if (matches(event, query)) found.push(event)
  }
}

const matches = (event: EventRow, query: FeedQuery): boolean =>
  (query.kind === undefined || query.kind.includes(event.kind)) &&
  (query.type === undefined || query.type.includes(event.type)) &&
  (query.resourceKind === undefined || query.resourceKind.includes(event.resourceKind)) &&
  (query.instrumentId === undefined || query.instrumentId === event.instrumentId) &&
  (query.holderId === undefined || event.holderIds.includes(query.holderId)) &&
  (query.resourceId === undefined || query.resourceId === event.resourceId) &&
  (query.from === undefined || (event.at !== null && event.at >= query.from)) &&
  (query.to === undefined || (event.at !== null && event.at < query.to))
