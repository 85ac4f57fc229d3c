/** The event feed in PostgreSQL: the lock of one row makes its numbers gapless and in commit order. */
import type { EventRow, Feed, FeedHead, FeedQuery } from "@bursar/engine-core/ports"
import { Effect, Exit, Fiber } from "effect"
import * as MemoryAudit from "../memory/MemoryAudit.ts"
import { scannedTo } from "../ScannedTo.ts"
import { stamp } from "../memory/Stamp.ts"
import type { Wakes } from "../memory/Wakes.ts"
import * as Restores from "../Restores.ts"
import * as HeadLock from "./HeadLock.ts"
import * as PgAudit from "./PgAudit.ts"
import * as Pruning from "./PgFeedPruning.ts"
import { asking } from "./Scanned.ts"
import type { Flush, Session, Sessions } from "./Sessions.ts"
import * as Values from "./Values.ts"

const FEED = "feed"
const TAKEN = "feed.taken"

/**
 * The row is locked since the head was taken, and only the transaction that took it reaches this
 * statement.
 */
const MOVE = `
update bursar.head set seq = $1::int8, at = $2, audit_seq = $3::int8,
  audit_hash = decode($4, 'hex'), audit_checkpoint = $5::int8, webhooks_moved = webhooks_moved + $6::int8, moves = moves + 1
where id = 1`

const HEAD = `seq, at, moves, projection_offset, ledger_epoch, webhooks_moved, pruned_to,
  journal_pruned_to, restores, audit_seq, encode(audit_hash, 'hex') as audit_hash, audit_checkpoint`

/**
 * Moves the head to the instant of an answer, behind whoever has taken the head: then what comes
 * later is stamped later. Nothing is written where the last answer's instant will do.
 */
const answerOf = (columns: string): string => `
with stood as materialized (
  select ${columns} from bursar.head where id = 1 and answered_last = at and at >= $2
), moved as (
  update bursar.head set at = greatest(at, $1), answered_last = greatest(at, $1),
    answered_first = coalesce(answered_first, greatest(at, $1))
  where id = 1 and not exists (select from stood) returning ${columns}
)
select * from stood union all select * from moved`

const APPEND_ONE = `
insert into bursar.event (seq, kind, type, at, "offset", instrument_id, party, resource_kind,
  resource_id, holder_ids, payload, source)
values ($1::int8, $2, $3, $4, $5::int8, $6, $7, $8, $9, $10::text[], $11, $12)`

const APPEND = `
insert into bursar.event (seq, kind, type, at, "offset", instrument_id, party, resource_kind,
  resource_id, holder_ids, payload, source)
select seq, kind, type, at, "offset", instrument_id, party, resource_kind, resource_id,
  array(select json_array_elements_text(holder_ids::json)), payload, source
from unnest($1::int8[], $2::text[], $3::text[], $4::text[], $5::int8[], $6::text[], $7::text[],
            $8::text[], $9::text[], $10::text[], $11::text[], $12::text[])
  as r(seq, kind, type, at, "offset", instrument_id, party, resource_kind, resource_id, holder_ids,
       payload, source)`

export const make = ({
  sessions,
  wakes
}: {
  readonly sessions: Sessions
  readonly wakes: Wakes
}): Feed["Service"] => {
  return {
    store: sessions.store,
    take: (now) =>
      sessions.inside("Feed.take", (session) =>
        Effect.gen(function* () {
          yield* HeadLock.take(session)
          const { rows } = yield* session.ask(
            `select ${HEAD} from bursar.head where id = 1 for no key update`,
            []
          )
          const last = headOf(rows[0] ?? {})
          const head = { ...last, at: stamp(last.at, now) }
          session.notes.set(TAKEN, head)
          return head
        })
      ),
    append: (head, entries) =>
      sessions.inside("Feed.append", (session) =>
        Effect.suspend(() => {
          if (session.notes.get(TAKEN) !== head) {
            return Effect.die(new Error("Feed.append: the head was not taken in this transaction"))
          }
          const { events, audit, webhooks } = entries
          const fault = faultOf(head, events) ?? MemoryAudit.faultOf(head.audit, audit)
          if (fault !== undefined) return Effect.die(new Error(`Feed.append: ${fault}`))
          // The head is used up: another append of this transaction takes it again.
          session.notes.set(TAKEN, undefined)
          if (events.length > 0) session.afterCommit.push(() => wakes.wake(FEED))
          const after = MemoryAudit.after(head.audit, entries)
          const moved = session.send(MOVE, [
            String(head.seq + events.length),
            head.at,
            String(after.seq),
            after.hash,
            String(after.checkpoint),
            webhooks === "moved" ? "1" : "0"
          ])
          return moved.pipe(
            Effect.andThen(send(session, events)),
            Effect.andThen(PgAudit.append(session, audit))
          )
        })
      ),
    read: (query) => read(sessions, query),
    head: Effect.map(
      sessions.look(`select ${HEAD}${sessions.headColumns} from bursar.head where id = 1`, []),
      (found) => {
        sessions.noteHead(found)
        return headOf(found.rows[0] ?? {})
      }
    ),
    ...answering(sessions),
    pass: (instant) =>
      Effect.asVoid(
        HeadLock.ask(sessions, "update bursar.head set at = $1 where id = 1 and at < $1", [instant])
      ),
    published: (sources) =>
      sources.length === 0
        ? Effect.succeed([])
        : Effect.map(
            sessions.look("select source from bursar.event where source = any ($1::text[])", [
              Values.texts(sources)
            ]),
            ({ rows }) => rows.map((row) => Values.text(row, "source"))
          ),
    readAudit: (query) => PgAudit.read(sessions, query),
    prune: (request) => Pruning.prune(sessions, request),
    pruneJournal: (request) => Pruning.pruneJournal(sessions, request),
    pruneAudit: (request) => PgAudit.prune(sessions, request),
    noteRestore: (at) =>
      sessions.run(
        Effect.gen(function* () {
          const { rows } = yield* HeadLock.ask(
            sessions,
            `select ${HEAD} from bursar.head where id = 1 for no key update`,
            []
          )
          const { audit, restores, seq } = headOf(rows[0] ?? {})
          const after = Restores.added(restores, { seq, auditSeq: audit.seq, at })
          yield* sessions.ask("update bursar.head set restores = $1 where id = 1", [
            JSON.stringify(after)
          ])
        })
      ),
    wakes: wakes.stream(FEED)
  }
}

/**
 * Gives out the instant of an answer, and begins the flush of what was stamped by then. Memoises the
 * last flush and its head: another answer of the same instant, since which nothing was written, needs
 * no flush of its own, and neither do the look-ups at that instant or at an earlier offset.
 */
const answering = (sessions: Sessions): Pick<Feed["Service"], "answer" | "answersSettled"> => {
  const statement = answerOf(`${HEAD}${sessions.headColumns}`)
  let last: (Flush & { readonly head: string; failed: boolean }) | undefined
  const begin = ({ at: instant, projectionOffset: offset }: FeedHead, text: string) =>
    Effect.map(
      Effect.forkDetach(sessions.settleTo({ instant, offset }), { startImmediately: true }),
      (fiber) => {
        const flush = { head: text, instant, offset, settled: Fiber.join(fiber), failed: false }
        last = flush
        fiber.addObserver((exit) => {
          flush.failed = Exit.isFailure(exit)
        })
      }
    )
  return {
    answer: ({ now, since }) =>
      Effect.gen(function* () {
        const isAlone = (yield* sessions.current) === undefined
        const found = yield* isAlone
          ? sessions.askApart(statement, [now, since])
          : HeadLock.ask(sessions, statement, [now, since])
        sessions.noteHead(found)
        const head = headOf(found.rows[0] ?? {})
        const text = JSON.stringify(head)
        if (isAlone && (text !== last?.head || last.failed)) yield* begin(head, text)
        return head
      }),
    answersSettled: Effect.flatMap(sessions.current, (open) =>
      open === undefined && last !== undefined ? sessions.awaitSettled(last) : Effect.void
    )
  }
}

const faultOf = (head: FeedHead, events: ReadonlyArray<EventRow>): string | undefined => {
  const gap = events.findIndex((row, index) => row.seq !== head.seq + index + 1)
  return gap < 0 ? undefined : `${events[gap]?.seq} is not the next number`
}

const send = (session: Session, events: ReadonlyArray<EventRow>): Effect.Effect<void> => {
  const [first, ...more] = events
  if (first === undefined) return Effect.void
  return more.length > 0
    ? session.send(APPEND, columnsOf(events))
    : session.send(APPEND_ONE, valuesOf(first))
}

const valuesOf = (row: EventRow): ReadonlyArray<unknown> => [
  String(row.seq),
  row.kind,
  row.type,
  row.at,
  row.offset === null ? null : String(row.offset),
  row.instrumentId,
  row.party,
  row.resourceKind,
  row.resourceId,
  Values.texts(row.holderIds),
  row.payload,
  row.source
]

const columnsOf = (rows: ReadonlyArray<EventRow>): ReadonlyArray<unknown> => [
  Values.integers(rows.map((row) => row.seq)),
  Values.texts(rows.map((row) => row.kind)),
  Values.texts(rows.map((row) => row.type)),
  Values.texts(rows.map((row) => row.at)),
  Values.integers(rows.map((row) => row.offset)),
  Values.texts(rows.map((row) => row.instrumentId)),
  Values.texts(rows.map((row) => row.party)),
  Values.texts(rows.map((row) => row.resourceKind)),
  Values.texts(rows.map((row) => row.resourceId)),
  Values.texts(rows.map((row) => JSON.stringify(row.holderIds))),
  Values.texts(rows.map((row) => row.payload)),
  Values.texts(rows.map((row) => row.source))
]

/** One statement, so that the events and the head they were read under are of one moment. */
const read = (sessions: Sessions, query: FeedQuery): ReturnType<Feed["Service"]["read"]> => {
  const conditions = asking(query)
  conditions.anyOf("kind", query.kind)
  conditions.anyOf("type", query.type)
  conditions.is("instrument_id =", query.instrumentId)
  conditions.holds("holder_ids", query.holderId)
  const { where, limit, values } = conditions.done()
  const sql = `
    select h.seq as head, h.pruned_to, h.journal_pruned_to, h.restores, e.* from bursar.head h
    left join lateral (
      select * from bursar.event where ${where}
      order by seq ${query.order} limit ${limit}
    ) e on true
    where h.id = 1
    order by e.seq ${query.order}`
  return Effect.map(sessions.look(sql, values), ({ rows }) => {
    const events = rows.filter((row) => row["seq"] !== null).map(eventOf)
    const head = Values.number(rows[0] ?? {}, "head")
    return {
      events,
      scanned: scannedTo(query, { rows: events, head }),
      prunedTo: Values.number(rows[0] ?? {}, "pruned_to"),
      journalPrunedTo: Values.number(rows[0] ?? {}, "journal_pruned_to"),
      end: head,
      restores: Restores.parse(Values.text(rows[0] ?? {}, "restores"))
    }
  })
}

const headOf = (row: Values.Row): FeedHead => ({
  seq: Values.number(row, "seq"),
  at: Values.text(row, "at"),
  moves: Values.number(row, "moves"),
  projectionOffset: Values.number(row, "projection_offset"),
  ledgerEpoch: Values.number(row, "ledger_epoch"),
  webhooksMoved: Values.number(row, "webhooks_moved"),
  prunedTo: Values.number(row, "pruned_to"),
  journalPrunedTo: Values.number(row, "journal_pruned_to"),
  restores: Restores.parse(Values.text(row, "restores")),
  audit: {
    seq: Values.number(row, "audit_seq"),
    hash: Values.text(row, "audit_hash"),
    checkpoint: Values.number(row, "audit_checkpoint")
  }
})

const eventOf = (row: Values.Row): EventRow => ({
  seq: Values.number(row, "seq"),
  kind: Values.text(row, "kind"),
  type: Values.text(row, "type"),
  at: Values.textOrNull(row, "at"),
  offset: Values.numberOrNull(row, "offset"),
  instrumentId: Values.textOrNull(row, "instrument_id"),
  party: Values.textOrNull(row, "party"),
  resourceKind: Values.text(row, "resource_kind"),
  resourceId: Values.text(row, "resource_id"),
  holderIds: Values.textList(row, "holder_ids"),
  payload: Values.text(row, "payload"),
  source: Values.textOrNull(row, "source")
})
