/** Answers declared reads over Records: scope, point, page, cursor, and streams without a limit. */
import { Effect, Layer, Result, Stream } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type * as Pin from "../kernel/Pin.ts"
import { type Refused, refused, type Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { Ledger } from "../ports/Ledger.ts"
import { Feed } from "../ports/storage/Feed.ts"
import { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import { Records, type Stored } from "../records/Records.ts"
import * as FindMemo from "../records/FindMemo.ts"
import type { Role } from "../vocabulary/Role.ts"
import type { Caller } from "../writes/Caller.ts"
import * as AwaitingActionLookups from "./AwaitingActionLookups.ts"
import * as Cursor from "./Cursor.ts"
import * as MergedPages from "./MergedPages.ts"
import * as Point from "./Point.ts"
import type { Asking, Audience, List, One, Ranges, Scope, Sight, Who } from "./Read.ts"
import { type Around, type PageAsked, type PointAsked, Reads } from "./Reads.ts"

/** Records whose views are made together while a whole list is streamed. */
const viewedTogether = 200

/** The first role of the audience that the caller holds, and what it sees. */
export const sightOf = (
  audience: Audience,
  caller: Caller
): { readonly role: Role; readonly sight: Sight } | undefined => {
  for (const [role, sight] of Object.entries(audience) as ReadonlyArray<[Role, Sight]>) {
    if (caller.roles.includes(role)) return { role, sight }
  }
  return undefined
}

/** Two sets of filter columns at once: inside one column only the values both allow. */
export const both = (one: Scope, other: Scope): Scope => {
  const merged: Record<string, ReadonlyArray<string>> = { ...one }
  for (const [column, values] of Object.entries(other)) {
    const already = merged[column]
    merged[column] = already === undefined ? values : already.filter((v) => values.includes(v))
  }
  return merged
}

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

const make = Effect.gen(function* () {
  const records = yield* Records
  const crypto = yield* Crypto
  const settings = yield* Settings
  const ledger = yield* Ledger
  const points = yield* Point.make({ log: yield* ProjectionLog, feed: yield* Feed, ledger })
  const cursors = yield* cursorsOf

  /** The role comes before anything is looked up. */
  const whoAsks = Effect.fnUntraced(function* (
    audience: Audience,
    caller: Caller,
    now: Instant.Instant
  ) {
    const seen = sightOf(audience, caller)
    if (seen === undefined) {
      return yield* Effect.fail(
        refused("permission-denied", { detail: "None of the caller's roles reads this." })
      )
    }
    return { caller, ...seen, venue: ledger.venue, now } satisfies Who
  })

  const around = (pinned: boolean, pin: Pin.Resolved, now: Instant.Instant): Around =>
    pinned ? { offset: pin.offset, ledgerTime: pin.ledgerTime, now } : { offset: Offset.zero, now }

  const within = <A, E>(effect: Effect.Effect<A, E, Records | Crypto>) =>
    effect.pipe(Effect.provideService(Records, records), Effect.provideService(Crypto, crypto))

  const one: Reads["Service"]["one"] = Effect.fnUntraced(function* <P, V>(
    read: One<P, V>,
    of: { readonly caller: Caller; readonly params: P; readonly point: PointAsked }
  ) {
    const now = yield* Instant.now
    const who = yield* whoAsks(read.audience, of.caller, now)
    // One answer is of one moment, however many records it is made of.
    const run = (pin: Pin.Resolved) =>
      within(read.run(of.params, { ...who, pin, now: nowOf(read, of.point, pin, now) }))
    const latest = read.pinned ? "answered" : "as-it-is"
    const pin = yield* resolve(of.point, now, { latest, look: run })
    const value = yield* run(pin)
    const [shown = value] = yield* within(
      AwaitingActionLookups.shown([value], {
        role: who.role,
        pin: read.pinned ? pin : undefined,
        href: () => AwaitingActionLookups.pathOf(read.route, of.params)
      })
    )
    return { ...around(read.pinned, pin, nowOf(read, of.point, pin, now)), value: shown }
  })

  /** What a list's cursor is bound to: everything that decides which records come in which order. */
  const boundOf = (
    read: { readonly name: string; readonly direction: string },
    { where, ranges }: { readonly where: Scope; readonly ranges: Ranges },
    of: { readonly point: PointAsked; readonly page: Omit<PageAsked, "limit"> }
  ): string =>
    PlainJson.canonical({
      list: read.name,
      tenant: settings.tenantId,
      direction: read.direction,
      where,
      ranges: Object.entries(ranges).map(([column, { from, to }]) => [
        column,
        from ?? null,
        to ?? null
      ]),
      at: of.point.at === undefined ? null : String(of.point.at),
      from: of.page.updatedFrom === undefined ? null : String(of.page.updatedFrom),
      to: of.page.updatedTo === undefined ? null : String(of.page.updatedTo)
    })

  /**
   * The point asked for. One that cannot be answered is told only of a record that is there and in
   * the caller's sight: `look` finds that out at the latest point
   * (docs/contract/order-of-checks.md#fourteen-steps).
   */
  const resolve = (
    asked: PointAsked,
    now: Instant.Instant,
    of: {
      readonly latest: Point.Latest
      readonly look?: (pin: Pin.Resolved) => Effect.Effect<unknown, Refused | Unavailable>
    }
  ): Effect.Effect<Point.Resolved, Refused | Unavailable> => {
    const { look } = of
    const point = points.resolve(asked, now, of)
    if (look === undefined || (asked.at === undefined && asked.asOf === undefined)) return point
    return Effect.catchTag(point, "Refused", (error) =>
      error.slug === "invalid-request"
        ? Effect.fail(error)
        : points.resolve({}, now, { latest: "snapshot" }).pipe(
            Effect.flatMap(look),
            Effect.flip,
            Effect.orElseSucceed(() => error),
            Effect.flatMap((found) => Effect.fail(isOutOfSight(found) ? found : error))
          )
    )
  }

  const pinOf = (place: Cursor.Place): Point.Resolved => {
    const { offset, ledgerEpoch, ledgerTime, judgedAt, instant } = place
    const select: Pin.Resolved["select"] =
      place.select === "offset"
        ? { by: "offset" }
        : place.select === "latest" || instant === null
          ? { by: "latest" }
          : { by: place.select, instant }
    return { offset, ledgerEpoch, ledgerTime, judgedAt, select }
  }

  /** Who may see which records, at which point, after which place. */
  const prepare = Effect.fnUntraced(function* <R, F, P, V>(
    read: List<R, F, P, V>,
    of: {
      readonly caller: Caller
      readonly params: P
      readonly point: PointAsked
      readonly page: Omit<PageAsked, "limit">
    }
  ) {
    const clock = yield* Instant.now
    const asker = yield* whoAsks(read.audience, of.caller, clock)
    const scope = read.scope === undefined ? {} : yield* within(read.scope(asker, of.params))
    const asked = read.where(of.params)
    const where = both(asked, scope)
    const ranges = read.ranges?.(of.params) ?? {}
    const bound = boundOf(read, { where, ranges }, of)
    const { parent } = read
    // The record that the path names is looked at twice, and asked for once.
    const once = FindMemo.of(records)
    const looked = <A, E>(effect: Effect.Effect<A, E, Records>) =>
      Effect.provideService(effect, Records, once)
    const look = (pin: Pin.Resolved) =>
      parent === undefined ? Effect.void : looked(parent(of.params, { ...asker, pin }))
    const place = yield* placeOf(read, bound, of.page.after, of.point)
    const latest = read.pinned ? "answered" : "snapshot"
    const pin =
      place === undefined ? yield* resolve(of.point, clock, { latest, look }) : pinOf(place)
    const now = place === undefined ? nowOf(read, of.point, pin, clock) : clock
    yield* look(pin)
    if (place !== undefined && read.pinned) yield* points.stillHeld(place)
    const who = { ...asker, pin, now }
    const narrow = read.narrow === undefined ? {} : yield* looked(read.narrow(of.params, who))
    const judged = read.judged?.(pin.judgedAt) ?? {}
    const { ledgerEpoch } = pin
    return {
      now,
      who,
      looked,
      ledgerEpoch,
      where: both(where, narrow),
      ranges: { ...ranges, ...judged },
      bound,
      place
    }
  })

  const placeOf = (
    { name }: { readonly name: string },
    bound: string,
    text: string | undefined,
    { asOf }: PointAsked
  ): Effect.Effect<Cursor.Place | undefined, Refused> =>
    text === undefined
      ? Effect.succeed(undefined)
      : Effect.fromResult(
          Result.flatMap(
            cursors.read({ list: name, bound, count: Cursor.placeKeys, text }),
            (going) => Cursor.placeOf(going, asOf)
          )
        )

  /** The cursor of the page after one that ended with this record. */
  const nextOf = Effect.fnUntraced(function* (
    read: { readonly name: string; readonly pinned: boolean },
    of: {
      readonly bound: string
      readonly who: Asking
      readonly ledgerEpoch: number
      readonly sortKey: string
    }
  ) {
    const { offset, select, ledgerTime, judgedAt } = of.who.pin
    // What no offset dates is not lost with a ledger.
    const ledgerEpoch = read.pinned ? of.ledgerEpoch : 0
    return cursors.write({
      list: read.name,
      bound: of.bound,
      ...Cursor.goingOn({
        offset: read.pinned ? offset : Offset.zero,
        ledgerEpoch,
        select: select.by,
        instant: "instant" in select ? select.instant : null,
        ledgerTime,
        judgedAt,
        sortKey: of.sortKey
      })
    })
  })

  const queryOf = (
    read: { readonly direction: "asc" | "desc" },
    prepared: {
      readonly who: Asking
      readonly where: Scope
      readonly ranges: Ranges
      readonly place: Cursor.Place | undefined
    },
    page: Omit<PageAsked, "limit">
  ) => ({
    pin: prepared.who.pin,
    where: prepared.where,
    ranges: prepared.ranges,
    direction: read.direction,
    ...(prepared.place === undefined ? {} : { after: prepared.place.sortKey }),
    ...(page.updatedFrom === undefined ? {} : { updatedFrom: page.updatedFrom }),
    ...(page.updatedTo === undefined ? {} : { updatedTo: page.updatedTo })
  })

  /** What the records look like to the caller, with the actions that await them where any may. */
  const viewed = <R, F, P, V>(
    read: List<R, F, P, V>,
    rows: ReadonlyArray<Stored<R>>,
    of: {
      readonly who: Asking
      readonly params: P
      readonly awaits: boolean
      readonly looked: Looked
    }
  ): Effect.Effect<ReadonlyArray<V>, Unavailable> => {
    const path = AwaitingActionLookups.pathOf(read.route, of.params)
    return of.looked(
      Effect.flatMap(read.view(rows, of.who, of.params), (views) =>
        AwaitingActionLookups.shown(views, {
          role: of.who.role,
          pin: of.awaits ? of.who.pin : undefined,
          href: (index) => {
            const row = rows[index]
            return row === undefined ? path : `${path}/${read.collection.id(row)}`
          }
        })
      )
    )
  }

  const page: Reads["Service"]["page"] = Effect.fnUntraced(function* <R, F, P, V>(
    read: List<R, F, P, V>,
    of: {
      readonly caller: Caller
      readonly params: P
      readonly point: PointAsked
      readonly page: PageAsked & { readonly limit: number }
    }
  ) {
    const prepared = yield* prepare(read, of)
    const { pin } = prepared.who
    const query = { ...queryOf(read, prepared, of.page), limit: of.page.limit + 1 }
    const rows =
      read.beside === undefined
        ? yield* records.list(read.collection, query)
        : yield* MergedPages.page(records, [read.collection, ...read.beside], query)
    const shown = rows.slice(0, of.page.limit)
    const value = yield* viewed(
      read,
      shown.map((row) => row.record),
      { ...prepared, params: of.params, awaits: mayAwait(read, pin) }
    )
    const last = shown.at(-1)
    const next =
      rows.length > of.page.limit && last !== undefined
        ? yield* nextOf(read, { ...prepared, sortKey: last.sortKey })
        : null
    return { ...around(read.pinned, pin, prepared.now), value, next }
  })

  const all: Reads["Service"]["all"] = Effect.fnUntraced(function* <R, F, P, V>(
    read: List<R, F, P, V>,
    of: {
      readonly caller: Caller
      readonly params: P
      readonly point: PointAsked
      readonly page: Omit<PageAsked, "limit">
    }
  ) {
    const prepared = yield* prepare(read, of)
    const query = queryOf(read, prepared, of.page)
    const rows =
      read.beside === undefined
        ? records.stream(read.collection, query)
        : MergedPages.stream(records, [read.collection, ...read.beside], query)
    const { pin } = prepared.who
    const awaits =
      mayAwait(read, pin) &&
      (yield* within(
        AwaitingActionLookups.any(AwaitingActionLookups.pathOf(read.route, of.params), pin)
      ))
    const value: Stream.Stream<V, Unavailable> = rows.pipe(
      Stream.grouped(viewedTogether),
      // The next ones are looked up while these are printed and sent.
      Stream.mapEffect(
        (rows) =>
          viewed(
            read,
            rows.map((row): Stored<R> => row.record),
            { ...prepared, params: of.params, awaits }
          ),
        { concurrency: 2 }
      ),
      Stream.flatMap((views) => Stream.fromIterable(views))
    )
    return { ...around(read.pinned, pin, prepared.now), value }
  })

  return Reads.of({ one, page, all })
})

/** Runs what a read looks up, so that what it names again is not asked for again. */
type Looked = <A, E>(effect: Effect.Effect<A, E, Records>) => Effect.Effect<A, E>

/** Whether actions that wait are looked for: at an instant, and where a write acts on the records. */
const mayAwait = (read: Pick<List, "pinned" | "acted">, { select }: Pin.Resolved): boolean =>
  read.pinned && read.acted !== "never" && select.by !== "offset"

/** The engine's clock as an answer says it: what is answered of the latest is as of this instant. */
const nowOf = (
  { pinned }: Pick<List, "pinned">,
  { at, asOf }: PointAsked,
  { judgedAt }: Pin.Resolved,
  clock: Instant.Instant
): Instant.Instant => (pinned && at === undefined && asOf === undefined ? judgedAt : clock)

/** Whether an answer says no more than that there is nothing here for this caller. */
const isOutOfSight = (error: Refused | Unavailable): boolean =>
  error._tag === "Refused" && (error.slug === "not-found" || error.slug === "permission-denied")

export const layer = Layer.effect(Reads, make)
