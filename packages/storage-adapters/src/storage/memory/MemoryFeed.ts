/** In-memory event feed, and the head that it shares with the projection log. */
import type {
  AuditHead,
  EventRow,
  Feed,
  FeedHead,
  FeedQuery,
  LegalHold,
  ProjectionHead,
  StoreRestore
} from "@bursar/engine-core/ports"
import { Effect } from "effect"
import * as MemoryAudit from "./MemoryAudit.ts"
import * as Restores from "../Restores.ts"
import { stamp } from "./Stamp.ts"
import type { Transaction, Transactions } from "./Transactions.ts"
import * as Undo from "./Undo.ts"
import type { Wakes } from "./Wakes.ts"

/** Head that feed and projection share: one record, so that one read of it is consistent. */
export interface MemoryHead {
  seq: number
  at: string
  moves: number
  webhooksMoved: number
  prunedTo: number
  journalPrunedTo: number
  restores: ReadonlyArray<StoreRestore>
  audit: AuditHead
  projection: ProjectionHead
  /** Ledger time of the horizon, where the history begins with a snapshot. */
  horizonLedgerTime: string | null
  /** Instants of the first and the last answer at the projected offset; null: none. */
  answered: { readonly first: string; readonly last: string } | null
  /** Id of the last transaction that locked the head. */
  takenBy: number
}

export const makeHead = (): MemoryHead => ({
  seq: 0,
  at: "",
  moves: 0,
  webhooksMoved: 0,
  prunedTo: 0,
  journalPrunedTo: 0,
  restores: [],
  audit: MemoryAudit.EMPTY,
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
  answered: null,
  takenBy: 0
})

const FEED = "feed"

export const make = ({
  transactions,
  head,
  wakes
}: {
  readonly transactions: Transactions
  readonly head: MemoryHead
  readonly wakes: Wakes
}): Feed["Service"] => {
  // A pruned event leaves an empty slot: the event with number n is at index n - 1.
  const events: Array<EventRow | undefined> = []
  const audit = MemoryAudit.make({ transactions, head })
  const sources = new Map<string, number>()
  const headNow = (at: string): FeedHead => ({
    seq: head.seq,
    at,
    moves: head.moves,
    projectionOffset: head.projection.offset,
    ledgerEpoch: head.projection.ledgerEpoch,
    webhooksMoved: head.webhooksMoved,
    prunedTo: head.prunedTo,
    journalPrunedTo: head.journalPrunedTo,
    restores: head.restores,
    audit: head.audit
  })
  const forget = (transaction: Transaction, event: EventRow): void => {
    Undo.put(transaction, events, event.seq - 1, undefined)
    if (event.source !== null) Undo.remove(transaction, sources, event.source)
  }

  return {
    store: transactions.store,
    take: (now) =>
      transactions.inside("Feed.take", (transaction) => {
        head.takenBy = transaction.id
        return headNow(stamp(head.at, now))
      }),
    append: (takenHead, entries) =>
      transactions.inside("Feed.append", (transaction) => {
        if (
          head.takenBy !== transaction.id ||
          head.seq !== takenHead.seq ||
          takenHead.at < head.at
        ) {
          throw new Error("Feed.append: the head was not taken in this transaction")
        }
        // The lock is used up: a further append of this transaction must take it again.
        head.takenBy = 0
        const moved = audit.append(transaction, entries)
        const rows = entries.events
        rows.forEach((row, index) => {
          if (row.seq !== takenHead.seq + index + 1) {
            throw new Error(`Feed.append: ${row.seq} does not follow ${takenHead.seq + index}`)
          }
          if (row.source !== null) {
            if (sources.has(row.source)) throw new Error(`Feed.append: ${row.source} is known`)
            Undo.set(transaction, sources, row.source, row.seq)
          }
          Undo.push(transaction, events, row)
        })
        Undo.patch(transaction, head, {
          seq: takenHead.seq + rows.length,
          at: takenHead.at,
          moves: head.moves + 1,
          audit: moved,
          webhooksMoved: head.webhooksMoved + (entries.webhooks === "moved" ? 1 : 0)
        })
        if (rows.length > 0) transaction.afterCommit.push(() => wakes.wake(FEED))
      }),
    read: (query) =>
      transactions.read(() => ({
        ...readEvents(events, query),
        prunedTo: head.prunedTo,
        journalPrunedTo: head.journalPrunedTo,
        end: head.seq,
        restores: head.restores
      })),
    head: transactions.read(() => headNow(head.at)),
    answersSettled: Effect.void,
    answer: ({ now, since }) =>
      transactions.write((transaction) => {
        const again = head.answered?.last === head.at && head.at >= since
        const at = again || head.at > now ? head.at : now
        const answered = { first: head.answered?.first ?? at, last: at }
        Undo.patch(transaction, head, { at, answered })
        return headNow(at)
      }),
    pass: (instant) =>
      transactions.write((transaction) => {
        if (instant > head.at) Undo.patch(transaction, head, { at: instant })
      }),
    published: (sourceNames) =>
      transactions.read(() => sourceNames.filter((source) => sources.has(source))),
    readAudit: audit.read,
    prune: ({ before, hold, limit }) =>
      transactions.write((transaction) => {
        const due = events
          .slice(head.prunedTo)
          .filter((event) => event?.kind === "control")
          .slice(0, Math.max(0, limit))
        const end = due.findIndex((event) => event?.at !== null && (event?.at ?? "") >= before)
        const passed = (end < 0 ? due : due.slice(0, end)).flatMap((event) => event ?? [])
        const expired = passed.filter((event) => event.at !== null && !isHeld(event, hold))
        for (const event of expired) forget(transaction, event)
        const last = passed[passed.length - 1]
        if (last !== undefined) Undo.patch(transaction, head, { prunedTo: last.seq })
        return { deleted: expired.length, passed: passed.length }
      }),
    pruneJournal: ({ through, limit }) =>
      transactions.write((transaction) => {
        const expired = events
          .filter((event) => event !== undefined)
          .filter((event) => event.kind === "journal" && (event.offset ?? through + 1) <= through)
          .slice(0, Math.max(0, limit))
        for (const event of expired) forget(transaction, event)
        const journalPrunedTo = Math.max(head.journalPrunedTo, ...expired.map(({ seq }) => seq))
        Undo.patch(transaction, head, { journalPrunedTo })
        return expired.length
      }),
    pruneAudit: audit.prune,
    noteRestore: (at) =>
      transactions.write((transaction) => {
        const { audit: log, restores, seq } = head
        const restore = { seq, auditSeq: log.seq, at }
        Undo.patch(transaction, head, { restores: Restores.added(restores, restore) })
      }),
    wakes: wakes.stream(FEED)
  }
}

const isHeld = (event: EventRow, hold: LegalHold): boolean =>
  event.holderIds.some((holderId) => hold.holderIds.includes(holderId)) ||
  (event.instrumentId !== null && hold.instrumentIds.includes(event.instrumentId))

const readEvents = (
  events: ReadonlyArray<EventRow | undefined>,
  query: FeedQuery
): { readonly events: ReadonlyArray<EventRow>; readonly scanned: number } => {
  const step = query.order === "asc" ? 1 : -1
  const start =
    query.after === undefined ? (step === 1 ? 0 : events.length - 1) : query.after - 1 + step
  const found: Array<EventRow> = []
  let scanned = query.after ?? 0
  for (let index = Math.min(start, step === 1 ? start : events.length - 1); ; index += step) {
    if (index < 0 || index >= events.length || found.length === query.limit) {
      return { events: found, scanned }
    }
    const event = events[index]
    scanned = index + 1
    if (event !== undefined && matches(event, query)) found.push(event)
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
