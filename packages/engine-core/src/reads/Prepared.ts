/** Prepares a list: who asks, at which point, for which records, after which place of which cursor. */
import { Effect } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type * as Pin from "../kernel/Pin.ts"
import type * as Party from "../kernel/Party.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import * as FindMemo from "../records/FindMemo.ts"
import { type Query, Records } from "../records/Records.ts"
import type { Caller } from "../writes/Caller.ts"
import * as Access from "./Access.ts"
import type * as Cursor from "./Cursor.ts"
import * as ListCursor from "./ListCursor.ts"
import type * as Point from "./Point.ts"
import type { Asking, List, Ranges, Scope } from "./Read.ts"
import type { PageAsked, PointAsked } from "./Reads.ts"

/** The services that reads are answered from. */
export interface Services {
  readonly records: Records["Service"]
  readonly crypto: Crypto["Service"]
  readonly points: Point.Points
  readonly cursors: Cursor.Cursors
  readonly venue: Party.Party
  readonly tenantId: string
}

/** Runs an effect on memoised records: one that the path names is looked at twice, and loaded once. */
export type WithMemo = <A, E>(effect: Effect.Effect<A, E, Records>) => Effect.Effect<A, E>

/** Memoises records that are found by id for the length of one read. */
export const memoised = (records: Records["Service"]): WithMemo => {
  const memo = FindMemo.of(records)
  return (effect) => Effect.provideService(effect, Records, memo)
}

/** A list that is ready to be read, page by page or as a whole. */
export interface Prepared {
  /** The engine's clock, as the answer says it. */
  readonly now: Instant.Instant
  readonly asking: Asking
  readonly pin: Point.Resolved
  readonly withMemo: WithMemo
  /** Text that the list's cursors are bound to. */
  readonly bound: string
  readonly query: Query
}

/** Provides the services that `run`, `scope` and look-ups of a read ask for. */
export const provided =
  ({ records, crypto }: Services) =>
  <A, E>(effect: Effect.Effect<A, E, Records | Crypto>): Effect.Effect<A, E> =>
    effect.pipe(Effect.provideService(Records, records), Effect.provideService(Crypto, crypto))

/** Request for a list: caller, parameters, point and page. */
export interface ListAsked<P> {
  readonly caller: Caller
  readonly params: P
  readonly point: PointAsked
  readonly page: Omit<PageAsked, "limit">
}

/**
 * Prepares a list, in the order in which a caller may learn what is wrong: its role, its scope, the
 * cursor, the point, the record that the path names, and whether the cursor's offset is still held
 * (docs/contract/order-of-checks.md#fourteen-steps).
 */
export const prepare = Effect.fnUntraced(function* <R, F, P, V>(
  services: Services,
  read: List<R, F, P, V>,
  of: ListAsked<P>
) {
  const { records, points, cursors, venue, tenantId } = services
  const { caller, params, point, page } = of
  const clock = yield* Instant.now
  const asker = yield* Effect.fromResult(
    Access.askerOf(read.audience, { caller, venue, now: clock })
  )
  const scope = read.scope === undefined ? {} : yield* provided(services)(read.scope(asker, params))
  const where = Access.intersectionOf(read.where(params), scope)
  const ranges = read.ranges?.(params) ?? {}
  const bound = ListCursor.boundOf({ read, tenantId, where, ranges, point, page })
  const withMemo = memoised(records)
  const look = (pin: Pin.Resolved) =>
    read.parent === undefined ? Effect.void : withMemo(read.parent(params, { ...asker, pin }))
  const place = yield* Effect.fromResult(
    ListCursor.placeOf(cursors, { list: read.name, bound, text: page.after, point })
  )
  const latest = read.pinned ? "answered" : "snapshot"
  const pin =
    place === undefined
      ? yield* resolveInSight(points, point, { now: clock, latest, look })
      : ListCursor.pinOf(place)
  const now = place === undefined ? nowOf(read, { point, pin, clock }) : clock
  yield* look(pin)
  if (place !== undefined && read.pinned) yield* points.checkHeld(place)
  const asking: Asking = { ...asker, pin, now }
  const narrow = read.narrow === undefined ? {} : yield* withMemo(read.narrow(params, asking))
  const judged = read.judged?.(pin.judgedAt) ?? {}
  const query = queryOf(read, {
    pin,
    where: Access.intersectionOf(where, narrow),
    ranges: { ...ranges, ...judged },
    place,
    page
  })
  return { now, asking, pin, withMemo, bound, query } satisfies Prepared
})

const queryOf = (
  { direction }: { readonly direction: "asc" | "desc" },
  of: {
    readonly pin: Pin.Resolved
    readonly where: Scope
    readonly ranges: Ranges
    readonly place: Cursor.Place | undefined
    readonly page: Omit<PageAsked, "limit">
  }
): Query => {
  const { pin, where, ranges, place } = of
  const { updatedFrom, updatedTo } = of.page
  return {
    pin,
    where,
    ranges,
    direction,
    ...(place === undefined ? {} : { after: place.sortKey }),
    ...(updatedFrom === undefined ? {} : { updatedFrom }),
    ...(updatedTo === undefined ? {} : { updatedTo })
  }
}

/**
 * Resolves the point asked for. That a point cannot be answered is said only of a record that exists
 * and is in the caller's sight, which `look` checks at the latest point
 * (docs/contract/order-of-checks.md#fourteen-steps).
 */
export const resolveInSight = (
  points: Point.Points,
  asked: PointAsked,
  of: {
    readonly now: Instant.Instant
    readonly latest: Point.Latest
    readonly look: (pin: Pin.Resolved) => Effect.Effect<unknown, Refused | Unavailable>
  }
): Effect.Effect<Point.Resolved, Refused | Unavailable> => {
  const { now, latest, look } = of
  const point = points.resolve(asked, now, { latest })
  if (asked.at === undefined && asked.asOf === undefined) return point
  return Effect.catchTag(point, "Refused", (refusal) =>
    refusal.slug === "invalid-request"
      ? Effect.fail(refusal)
      : points.resolve({}, now, { latest: "snapshot" }).pipe(
          Effect.flatMap(look),
          Effect.flip,
          Effect.orElseSucceed(() => refusal),
          Effect.flatMap((found) => Effect.fail(isOutOfSight(found) ? found : refusal))
        )
  )
}

/** Checks whether an answer says no more than that there is nothing here for this caller. */
export const isOutOfSight = (error: Refused | Unavailable): boolean =>
  error._tag === "Refused" && (error.slug === "not-found" || error.slug === "permission-denied")

/** The engine's clock as an answer says it: an answer of the latest is as of the instant it is given at. */
export const nowOf = (
  { pinned }: { readonly pinned: boolean },
  of: {
    readonly point: PointAsked
    readonly pin: Pick<Pin.Resolved, "judgedAt">
    readonly clock: Instant.Instant
  }
): Instant.Instant =>
  pinned && of.point.at === undefined && of.point.asOf === undefined ? of.pin.judgedAt : of.clock
