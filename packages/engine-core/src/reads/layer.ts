/** Layer of `Reads`: answers declared reads from `Records`, as one value, a page, or a stream. */
import { Effect, Layer, Stream } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import type * as Pin from "../kernel/Pin.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { Ledger } from "../ports/Ledger.ts"
import { Atomically } from "../ports/storage/Atomically.ts"
import { Feed } from "../ports/storage/Feed.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import { stored } from "../records/PortFailure.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { Caller } from "../writes/Caller.ts"
import * as Access from "./Access.ts"
import * as AwaitingActionLookups from "./AwaitingActionLookups.ts"
import * as Cursor from "./Cursor.ts"
import * as ListCursor from "./ListCursor.ts"
import * as MergedPages from "./MergedPages.ts"
import * as Point from "./Point.ts"
import * as Prepared from "./Prepared.ts"
import type { Asking, List, One } from "./Read.ts"
import { type Around, type PointAsked, Reads } from "./Reads.ts"

/** Number of records whose views are made together while a whole list is streamed. */
const viewBatch = 200

/**
 * The deployment's cursors. Without configured keys an instance makes its own: then a cursor holds
 * only at the instance that issued it, until it stops.
 */
export const cursorsOf = Effect.gen(function* () {
  const crypto = yield* Crypto
  const ids = yield* Ids
  const settings = yield* Settings
  const own = { id: 0, secret: yield* ids.bytes(32) }
  const [first = own, ...older] = settings.cursorKeys
  return Cursor.make(crypto, [first, ...older])
})

const around = (
  { pinned }: { readonly pinned: boolean },
  { offset, ledgerTime }: Pin.Resolved,
  now: Instant.Instant
): Around => (pinned ? { offset, ledgerTime, now } : { offset: Offset.zero, now })

/** Checks whether waiting actions are looked up: at an instant, where a write acts on the records. */
const mayAwait = (read: Pick<List, "pinned" | "acted">, { select }: Pin.Resolved): boolean =>
  read.pinned && read.acted !== "never" && select.by !== "offset"

const answering = (services: Prepared.Services): Reads["Service"]["one"] =>
  Effect.fnUntraced(function* <P, V>(
    read: One<P, V>,
    of: { readonly caller: Caller; readonly params: P; readonly point: PointAsked }
  ) {
    const { params, point, caller } = of
    const provided = Prepared.provided(services)
    const clock = yield* Instant.now
    const { venue, points } = services
    const asker = yield* Effect.fromResult(
      Access.askerOf(read.audience, { caller, venue, now: clock })
    )
    // One answer is of one moment, however many records it is made of.
    const run = (pin: Pin.Resolved) =>
      provided(
        read.run(params, { ...asker, pin, now: Prepared.nowOf(read, { point, pin, clock }) })
      )
    const latest = read.pinned ? "answered" : "as-it-is"
    const pin = yield* Prepared.resolveInSight(points, point, { now: clock, latest, look: run })
    const value = yield* run(pin)
    const [shown = value] = yield* provided(
      AwaitingActionLookups.shown([value], {
        role: asker.role,
        pin: read.pinned ? pin : undefined,
        href: () => AwaitingActionLookups.pathOf(read.route, params)
      })
    )
    return { ...around(read, pin, Prepared.nowOf(read, { point, pin, clock })), value: shown }
  })

/** Views of records for the caller, with the four-eyes actions that await them where any may. */
const viewed = <R, F, P, V>(
  read: List<R, F, P, V>,
  rows: ReadonlyArray<Stored<R>>,
  of: {
    readonly asking: Asking
    readonly params: P
    readonly awaits: boolean
    readonly withMemo: Prepared.WithMemo
  }
): Effect.Effect<ReadonlyArray<V>, Unavailable> => {
  const { asking, params } = of
  const path = AwaitingActionLookups.pathOf(read.route, params)
  return of.withMemo(
    Effect.flatMap(read.view(rows, asking, params), (views) =>
      AwaitingActionLookups.shown(views, {
        role: asking.role,
        pin: of.awaits ? asking.pin : undefined,
        href: (index) => {
          const row = rows[index]
          return row === undefined ? path : `${path}/${read.collection.id(row)}`
        }
      })
    )
  )
}

const paging = (services: Prepared.Services): Reads["Service"]["page"] =>
  Effect.fnUntraced(function* <R, F, P, V>(
    read: List<R, F, P, V>,
    of: Prepared.ListAsked<P> & { readonly page: { readonly limit: number } }
  ) {
    const { records, cursors } = services
    const { asking, pin, now, bound, withMemo, ...prepared } = yield* Prepared.prepare(
      services,
      read,
      of
    )
    const { limit } = of.page
    const query = { ...prepared.query, limit: limit + 1 }
    const rows =
      read.beside === undefined
        ? yield* records.list(read.collection, query)
        : yield* MergedPages.page(records, [read.collection, ...read.beside], query)
    const shown = rows.slice(0, limit)
    const value = yield* viewed(
      read,
      shown.map((row) => row.record),
      { asking, params: of.params, awaits: mayAwait(read, pin), withMemo }
    )
    const final = shown.at(-1)
    const next =
      rows.length > limit && final !== undefined
        ? cursors.write({
            list: read.name,
            bound,
            ...Cursor.goingOn(ListCursor.placeAfter(read, pin, final.sortKey))
          })
        : null
    return { ...around(read, pin, now), value, next }
  })

const streaming = (services: Prepared.Services): Reads["Service"]["all"] =>
  Effect.fnUntraced(function* <R, F, P, V>(read: List<R, F, P, V>, of: Prepared.ListAsked<P>) {
    const { records } = services
    const { params } = of
    const { asking, pin, now, query, withMemo } = yield* Prepared.prepare(services, read, of)
    const rows =
      read.beside === undefined
        ? records.stream(read.collection, query)
        : MergedPages.stream(records, [read.collection, ...read.beside], query)
    const path = AwaitingActionLookups.pathOf(read.route, params)
    const awaits =
      mayAwait(read, pin) &&
      (yield* Prepared.provided(services)(AwaitingActionLookups.any(path, pin)))
    const value: Stream.Stream<V, Unavailable> = rows.pipe(
      Stream.grouped(viewBatch),
      // The next batch is looked up while this one is printed and sent.
      Stream.mapEffect(
        (batch) =>
          viewed(
            read,
            batch.map((row): Stored<R> => row.record),
            { asking, params, awaits, withMemo }
          ),
        { concurrency: 2 }
      ),
      Stream.flatMap((views) => Stream.fromIterable(views))
    )
    return { ...around(read, pin, now), value }
  })

const make = Effect.gen(function* () {
  const records = yield* Records
  const crypto = yield* Crypto
  const { tenantId } = yield* Settings
  const ledger = yield* Ledger
  const points = yield* Point.make({ log: yield* ProjectionLog, feed: yield* Feed, ledger })
  const cursors = yield* cursorsOf
  const services = { records, crypto, points, cursors, venue: ledger.venue, tenantId }
  const { reading } = yield* Atomically
  const [one, page, all] = [answering(services), paging(services), streaming(services)]
  return Reads.of({
    one: (read, of) => stored(reading(one(read, of))),
    page: (read, of) => stored(reading(page(read, of))),
    // The stream settles what it reads; the reading scope is that of its preparation.
    all: (read, of) => stored(reading(all(read, of)))
  })
})

export const layer = Layer.effect(Reads, make)
