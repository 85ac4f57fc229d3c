/** Flush of a unit of work: writes what a transaction has collected, under one stamp of the feed. */
import { Effect } from "effect"
import type { Announcement } from "../kernel/Announcement.ts"
import * as Instant from "../kernel/Instant.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { Documents, VersionRow } from "../ports/storage/Documents.ts"
import type { FactLog, FactRow } from "../ports/storage/FactLog.ts"
import type { EventRow, Feed, FeedHead } from "../ports/storage/Feed.ts"
import type { WorkQueue } from "../ports/storage/WorkQueue.ts"
import * as Audit from "./Audit.ts"
import type { Outbox } from "./Outbox.ts"
import * as StampPlaceholder from "./StampPlaceholder.ts"
import type { Draft, UnitOfWork } from "./UnitOfWork.ts"

/** The largest payload of an event, in bytes (docs/contract/event-feed.md#payloads). */
const payloadMax = 16_384

/**
 * Largest number of versions that one call of a port writes: bounds its memory and the bytes of one
 * statement. The cost of a call is linear in its rows.
 */
const batchMax = 10_000

/** The ports that a flush writes to, and what it puts into events and audit records. */
export interface Ports {
  readonly feed: Feed["Service"]
  readonly factLog: FactLog["Service"]
  readonly documents: Documents["Service"]
  readonly queue: WorkQueue["Service"]
  readonly outbox: Outbox
  readonly sha256: Crypto["Service"]["sha256"]
  readonly tenantId: string
}

/**
 * Writes a unit of work inside the open transaction. Takes the head of the feed, which gives the
 * stamp, then writes events' deliveries, facts and versions, queue items, audit records and events,
 * always in this order. A unit of work without any of them writes nothing.
 */
export const flush = Effect.fnUntraced(function* (ports: Ports, work: UnitOfWork) {
  if (isEmpty(work)) return
  const { feed, queue, outbox, tenantId, sha256 } = ports
  const head = yield* feed.take(Instant.sortable(yield* Instant.now))
  const instant = Instant.of(head.at)
  const stamp = { instant, at: head.at, nextOffset: head.projectionOffset + 1 }
  const announcements = yield* unpublished(feed, work.announcements)
  const events = announcements.map((announcement, index) =>
    eventRow(announcement, head, head.seq + 1 + index)
  )
  const traces = announcements.map(({ trace }) => trace ?? null)
  const owed = yield* outbox.owed({ work, head, events, traces })
  const drafts = stampedDrafts(work, [...work.drafts, ...owed.drafts], instant)
  yield* writeDrafts(ports, drafts, stamp)
  yield* queue.enqueue([...work.work, ...owed.items])
  const audit = Audit.chain({ tenantId, head: head.audit, at: instant, sha256 }, work.audit)
  const checkpoint = Audit.checkpointOf(audit)
  yield* feed.append(head, {
    events,
    audit,
    webhooks: owed.webhooks,
    ...(checkpoint === undefined ? {} : { checkpoint })
  })
})

const isEmpty = ({ drafts, announcements, work, audit }: UnitOfWork): boolean =>
  drafts.length + announcements.length + work.length + audit.length === 0

/** Drops journal events that the feed has: an event is published once, however often its update is read. */
const unpublished = Effect.fnUntraced(function* (
  feed: Feed["Service"],
  announcements: ReadonlyArray<Announcement>
) {
  const sources = announcements.flatMap(({ journal }) => journal?.source ?? [])
  if (sources.length === 0) return announcements
  return withoutSources(announcements, yield* feed.known(sources))
})

/** Announcements whose source is not among the published ones, the first of each source only. */
export const withoutSources = (
  announcements: ReadonlyArray<Announcement>,
  publishedSources: Iterable<string>
): ReadonlyArray<Announcement> => {
  const published = new Set(publishedSources)
  return announcements.filter(({ journal }) => {
    if (journal === undefined) return true
    if (published.has(journal.source)) return false
    published.add(journal.source)
    return true
  })
}

/** Replaces the placeholders of the stamp in what is stored. */
const stampedDrafts = (
  { placeholders }: UnitOfWork,
  drafts: ReadonlyArray<Draft>,
  stamp: Instant.Instant
): ReadonlyArray<Draft> => {
  const stamped = StampPlaceholder.stamped(placeholders, stamp)
  return drafts.map((draft) => ({
    ...draft,
    fact: stamped(draft.fact),
    body: stamped(draft.body)
  }))
}

/** The stamp of a transaction, as its rows take it from the head of the feed. */
export interface Stamp {
  readonly instant: Instant.Instant
  /** The instant as sortable text. */
  readonly at: string
  /** One past what the projection has reached: from there facts hold that have no offset. */
  readonly nextOffset: number
}

const writeDrafts = Effect.fnUntraced(function* (
  { factLog, documents }: Ports,
  drafts: ReadonlyArray<Draft>,
  stamp: Stamp
) {
  for (const batch of batchesOf(drafts)) {
    yield* factLog.append(batch.map((draft) => factRow(draft, stamp)))
    yield* documents.put(batch.map((draft) => versionRow(draft, stamp)))
  }
})

const batchesOf = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / batchMax) }, (_, n) =>
    all.slice(n * batchMax, (n + 1) * batchMax)
  )

/** Row of the fact log for a draft. */
export const factRow = (draft: Draft, stamp: Stamp): FactRow => ({
  collection: draft.collection,
  recordId: draft.recordId,
  version: draft.version,
  fact: draft.fact,
  cause: draft.cause,
  offset: draft.offset ?? stamp.nextOffset,
  recordedAt: stamp.at
})

/** Row of the documents for a draft; a record that opens here is created at the stamp. */
export const versionRow = (draft: Draft, stamp: Stamp): VersionRow => ({
  collection: draft.collection,
  recordId: draft.recordId,
  version: draft.version,
  body: draft.body,
  sortKey: draft.sortKey(draft.createdAt ?? stamp.instant),
  filters: draft.filters,
  createdAt: draft.createdAt === undefined ? stamp.at : Instant.sortable(draft.createdAt),
  fromOffset: draft.offset ?? stamp.nextOffset,
  fromInstant: stamp.at
})

/**
 * Row of the feed for an announcement: a journal event has the time and offset of the ledger, a
 * control event the stamp. Throws on a payload that is too large, which is a bug.
 */
export const eventRow = (announcement: Announcement, head: FeedHead, seq: number): EventRow => {
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

const encoder = new TextEncoder()

/** Shortcut: a character is at most three bytes, so a short text is not encoded to measure it. */
const isTooLarge = (payload: string): boolean =>
  payload.length * 3 > payloadMax && encoder.encode(payload).length > payloadMax
