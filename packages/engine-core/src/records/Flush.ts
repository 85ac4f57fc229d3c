/** Flush of a unit of work: writes the drafts of a transaction under one stamp of the feed. */
import { Effect } from "effect"
import type { Announcement } from "../kernel/Announcement.ts"
import * as Instant from "../kernel/Instant.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { Documents, VersionRow } from "../ports/storage/Documents.ts"
import type { FactLog, FactRow } from "../ports/storage/FactLog.ts"
import type { EventRow, Feed, FeedHead } from "../ports/storage/Feed.ts"
import type { Terms } from "../ports/storage/Terms.ts"
import type { WorkQueue } from "../ports/storage/WorkQueue.ts"
import * as Audit from "./Audit.ts"
import * as Codecs from "./Codecs.ts"
import * as Columns from "./Columns.ts"
import type { Outbox } from "./Outbox.ts"
import * as SearchTerms from "./SearchTerms.ts"
import { type Draft, stamping, type UnitOfWork } from "./UnitOfWork.ts"
import * as Waits from "./Waits.ts"

/** The largest payload of an event, in bytes (docs/contract/event-feed.md#payloads). */
const payloadMax = 16_384

/**
 * Largest number of drafts that one call of a port writes: bounds the bytes of one statement, and the
 * memory of a flush, which holds the texts of two such batches.
 */
const batchMax = 500

/** The ports that a flush writes to, and its inputs of events and audit records. */
export interface Ports {
  readonly feed: Feed["Service"]
  readonly factLog: FactLog["Service"]
  readonly documents: Documents["Service"]
  readonly queue: WorkQueue["Service"]
  readonly outbox: Outbox
  readonly terms: Terms["Service"]
  /** The kinds of record that are searched. */
  readonly kinds: SearchTerms.SearchedKinds
  readonly sha256: Crypto["Service"]["sha256"]
  readonly tenantId: string
  /** The kinds of record whose waits are indexed. */
  readonly waiting: ReadonlyMap<string, Waits.WaitingKind>
}

/**
 * Writes a unit of work inside the open transaction. Takes the head of the feed, which gives the
 * stamp, then writes events' deliveries, facts and versions, search terms, queue items, audit records and
 * events, always in this order. A unit of work without any of them writes nothing; one that only deletes
 * records moves the head, which answers are cached by.
 */
export const flush = (ports: Ports) =>
  Effect.fnUntraced(function* (work: UnitOfWork) {
    if (isEmpty(work)) return
    const { feed, queue, outbox, tenantId, sha256, waiting } = ports
    // Other writers wait for the head: what one batch holds is encoded before the head is taken.
    const texts = textsOf(work.drafts.slice(0, batchMax), waiting)
    const difference = SearchTerms.differenceOf(searchedChanges(work.drafts, ports.kinds))
    const head = yield* feed.take(Instant.sortable(yield* Instant.now))
    const instant = Instant.of(head.at)
    const stamp = {
      instant,
      at: head.at,
      nextOffset: head.projectionOffset + 1,
      stamped: stamping(work, instant)
    }
    const announcements = yield* unpublished(feed, work.announcements)
    const events = announcements.map((announcement, index) =>
      eventRow(announcement, head, head.seq + 1 + index)
    )
    const traces = announcements.map(({ trace }) => trace ?? null)
    const owed = yield* outbox.owed({ work, head, events, traces })
    yield* writeDrafts(ports, [...work.drafts, ...owed.drafts], { stamp, texts })
    yield* writeTerms(ports.terms, difference)
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

const isEmpty = ({ drafts, announcements, work, audit, forgotten }: UnitOfWork): boolean =>
  drafts.length + announcements.length + work.length + audit.length + forgotten.length === 0

/** The changes of records that are searched. */
const searchedChanges = (
  drafts: ReadonlyArray<Draft>,
  kinds: SearchTerms.SearchedKinds
): ReadonlyArray<SearchTerms.SearchedChange> =>
  drafts.flatMap(({ before, collection, record: after }) => {
    const kind = kinds.get(collection.name)
    return kind === undefined ? [] : [{ kind, before, after }]
  })

/** Largest number of terms that one call of the port writes. */
const termsMax = 2_000

const writeTerms = Effect.fnUntraced(function* (
  terms: Terms["Service"],
  { added, removed }: ReturnType<typeof SearchTerms.differenceOf>
) {
  for (let from = 0; from < removed.length; from += termsMax) {
    yield* terms.delete(removed.slice(from, from + termsMax))
  }
  for (let from = 0; from < added.length; from += termsMax) {
    yield* terms.put(added.slice(from, from + termsMax))
  }
})

/** Drops journal events that the feed has: an event is published once, however often its update is read. */
const unpublished = Effect.fnUntraced(function* (
  feed: Feed["Service"],
  announcements: ReadonlyArray<Announcement>
) {
  const sources = announcements.flatMap(({ journal }) => journal?.source ?? [])
  if (sources.length === 0) return announcements
  return withoutSources(announcements, yield* feed.published(sources))
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

/** A draft as stored text, before its stamp; without `version` where a later draft replaces it. */
interface Texts {
  readonly fact: string
  readonly version?: Pick<VersionRow, "body" | "filters" | "waits">
}

/** Encodes drafts before their stamp exists, which may show more of them to be replaced. */
const textsOf = (
  drafts: ReadonlyArray<Draft>,
  waiting: Ports["waiting"]
): ReadonlyMap<Draft, Texts> =>
  encoded(drafts, { stored: closedBy(drafts, { nextOffset: undefined }), waiting })

/** Encodes the facts of drafts, and the records of those whose version is stored. */
const encoded = (
  drafts: ReadonlyArray<Draft>,
  {
    stored,
    waiting
  }: { readonly stored: ReadonlyMap<Draft, unknown>; readonly waiting: Ports["waiting"] }
): ReadonlyMap<Draft, Texts> => {
  const texts = new Map<Draft, Texts>()
  const bodies = new Map<Draft, string>()
  for (const draft of drafts) {
    const { collection, fact, record } = draft
    const { encodeFact, encodeRecord } = Codecs.of(collection)
    if (!stored.has(draft) && fact !== undefined) {
      texts.set(draft, { fact: encodeFact(fact) })
      continue
    }
    const body = encodeRecord(record)
    bodies.set(draft, body)
    texts.set(draft, { fact: fact === undefined ? Codecs.openedText(body) : encodeFact(fact) })
  }
  for (const [draft, body] of bodies) {
    const filters = Columns.of(draft.collection, draft.record)
    const waits = Waits.written(waiting.get(draft.collection.name), draft)
    texts.set(draft, {
      fact: texts.get(draft)!.fact,
      version: { body, filters, ...(waits === undefined ? {} : { waits }) }
    })
  }
  return texts
}

/** The stamp of a transaction, as its rows take it from the head of the feed. */
export interface Stamp {
  readonly instant: Instant.Instant
  /** The instant as sortable text. */
  readonly at: string
  /** One past what the projection has reached: from there facts hold that have no offset. */
  readonly nextOffset: number
  /** Replaces the placeholders of the stamp in texts that are stored. */
  readonly stamped: (texts: ReadonlyArray<string>) => ReadonlyArray<string>
}

/** Writes drafts batch by batch: the next batch is encoded while the store writes the facts of one. */
const writeDrafts = Effect.fnUntraced(function* (
  { factLog, documents, waiting }: Ports,
  drafts: ReadonlyArray<Draft>,
  { stamp, texts }: { readonly stamp: Stamp; readonly texts: ReadonlyMap<Draft, Texts> }
) {
  const closes = closedBy(drafts, stamp)
  const [first, ...others] = batchesOf(drafts)
  let rows = rowsOf(first ?? [], { closes, stamp, texts, waiting })
  for (const batch of others) {
    // The yield sends the facts before the processor is busy with encoding.
    const encode = Effect.map(Effect.yieldNow, () =>
      rowsOf(batch, { closes, stamp, texts, waiting })
    )
    const [, next] = yield* Effect.all([factLog.append(rows.facts), encode], { concurrency: 2 })
    yield* documents.put(rows.versions)
    rows = next
  }
  yield* factLog.append(rows.facts)
  yield* documents.put(rows.versions)
})

/**
 * Returns the drafts whose versions are stored, each with the version that it closes: of each record
 * the last draft at each offset. All versions of a transaction begin at its stamp, so no pin selects an
 * earlier one at the same offset. Every fact is stored.
 */
export const closedBy = (
  drafts: ReadonlyArray<Draft>,
  { nextOffset }: { readonly nextOffset: number | undefined }
): ReadonlyMap<Draft, number> => {
  const closes = new Map<Draft, number>()
  const latest = new Map<string, Draft>()
  for (const draft of drafts) {
    const record = `${draft.collection.name}/${draft.recordId}`
    const before = latest.get(record)
    latest.set(record, draft)
    const isReplaced =
      before !== undefined && (before.offset ?? nextOffset) === (draft.offset ?? nextOffset)
    const closed = isReplaced ? closes.get(before) : before?.version
    closes.set(draft, closed ?? draft.version - 1)
    if (isReplaced) closes.delete(before)
  }
  return closes
}

const batchesOf = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / batchMax) }, (_, n) =>
    all.slice(n * batchMax, (n + 1) * batchMax)
  )

/**
 * The rows of drafts under their stamp: one of each fact, and one of each version that is stored. Drafts
 * without a text are encoded.
 */
export const rowsOf = (
  drafts: ReadonlyArray<Draft>,
  {
    closes,
    stamp,
    texts,
    waiting
  }: {
    readonly closes: ReadonlyMap<Draft, number>
    readonly stamp: Stamp
    readonly texts: ReadonlyMap<Draft, Texts>
    readonly waiting: Ports["waiting"]
  }
): { readonly facts: ReadonlyArray<FactRow>; readonly versions: ReadonlyArray<VersionRow> } => {
  const others = encoded(
    drafts.filter((draft) => !texts.has(draft)),
    { stored: closes, waiting }
  )
  const factTexts: Array<string> = []
  const bodies: Array<string> = []
  const stored: Array<
    Pick<VersionRow, "closes" | "filters" | "waits"> & { readonly draft: Draft }
  > = []
  for (const draft of drafts) {
    const { fact, version } = (texts.get(draft) ?? others.get(draft))!
    factTexts.push(fact)
    const closed = closes.get(draft)
    if (closed === undefined) continue
    if (version === undefined) {
      throw new Error(`${draft.collection.name} ${draft.recordId}: a stored version is not encoded`)
    }
    const { body, ...rest } = version
    bodies.push(body)
    stored.push({ draft, closes: closed, ...rest })
  }
  const stampedFacts = stamp.stamped(factTexts)
  const stampedBodies = stamp.stamped(bodies)
  const facts: Array<FactRow> = []
  const versions: Array<VersionRow> = []
  for (const [index, draft] of drafts.entries()) {
    facts.push({
      collection: draft.collection.name,
      recordId: draft.recordId,
      version: draft.version,
      fact: stampedFacts[index]!,
      cause: draft.cause,
      offset: draft.offset ?? stamp.nextOffset,
      recordedAt: stamp.at
    })
  }
  for (const [index, { draft, ...row }] of stored.entries()) {
    const { collection, createdAt, record } = draft
    versions.push({
      ...row,
      collection: collection.name,
      recordId: draft.recordId,
      version: draft.version,
      body: stampedBodies[index]!,
      // Created at the stamp, where the draft opens its record.
      sortKey: collection.sortKey(record, createdAt ?? stamp.instant),
      createdAt: createdAt === undefined ? stamp.at : Instant.sortable(createdAt),
      fromOffset: draft.offset ?? stamp.nextOffset,
      fromInstant: stamp.at
    })
  }
  return { facts, versions }
}

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
