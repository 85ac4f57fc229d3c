/** Prepares a list: who asks, at which point, for which records, after which place of which cursor. */
import { type Context, Effect } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type * as Pin from "../kernel/Pin.ts"
import type * as Party from "../kernel/Party.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import type { Ledger } from "../ports/Ledger.ts"
import type { Feed } from "../ports/storage/Feed.ts"
import type { ProjectionLog } from "../ports/storage/ProjectionLog.ts"
import { Blobs } from "../ports/storage/Blobs.ts"
import { Bulk } from "../ports/storage/Bulk.ts"
import { LedgerReach } from "../records/LedgerReach.ts"
import * as FindMemo from "../records/FindMemo.ts"
import { type Query, Records } from "../records/Records.ts"
import type { Caller } from "../writes/Caller.ts"
import { Operations } from "../writes/Operations.ts"
import * as Access from "./Access.ts"
import type * as Cursor from "./Cursor.ts"
import * as ListCursor from "./ListCursor.ts"
import type * as Point from "./Point.ts"
import type { PointParams } from "./Point.ts"
import {
  type List,
  publishedName,
  type Ranges,
  type ReadCaller,
  type ReadContext,
  type RowServices,
  type Scope
} from "./Read.ts"
import type { PageParams } from "./Queries.ts"

/** The services that reads are answered from. */
export interface ReadServices {
  readonly records: Records["Service"]
  readonly bulk: Bulk["Service"]
  readonly blobs: Blobs["Service"]
  readonly crypto: Crypto["Service"]
  readonly reach: LedgerReach["Service"]
  readonly operations: Operations["Service"]
  /** Facts beside the row that rows are computed from. */
  readonly compared: Context.Context<Ledger | Feed | ProjectionLog>
  readonly points: Point.Points
  readonly cursors: Cursor.Cursors
  readonly venue: Party.Party
  readonly tenantId: string
}

/** Runs an effect on memoised records: one that the path names is looked at twice, and loaded once. */
export type WithMemo = <A, E>(effect: Effect.Effect<A, E, RowServices>) => Effect.Effect<A, E>

/** Memoises records that are found by id for the length of one read. */
export const memoised = (unmemoised: ReadServices): WithMemo => {
  const services = { ...unmemoised, records: FindMemo.of(unmemoised.records) }
  return (effect) => provided(services, Effect.provideContext(effect, unmemoised.compared))
}

/** A request for a list after the checks that precede its point: role, scope, cursor. */
interface ListRequest {
  readonly clock: Instant.Instant
  readonly reader: ReadCaller
  readonly where: Scope
  readonly ranges: Ranges
  /** Text that the list's cursors are bound to. */
  readonly binding: string
  readonly place: Cursor.Place | undefined
}

/** A list that is ready to be read, page by page or as a whole. */
export interface PreparedList {
  /** The engine's clock, as the answer shows it. */
  readonly now: Instant.Instant
  readonly asking: ReadContext
  readonly pin: Point.ResolvedPoint
  readonly withMemo: WithMemo
  readonly binding: string
  readonly query: Query
}

/** Provides the services that `run`, `scope` and look-ups of a read ask for. */
export const provided = <A, E>(
  { records, bulk, blobs, crypto, operations, reach }: ReadServices,
  effect: Effect.Effect<A, E, Records | Bulk | Blobs | Crypto | LedgerReach | Operations>
): Effect.Effect<A, E> =>
  effect.pipe(
    Effect.provideService(Records, records),
    Effect.provideService(Bulk, bulk),
    Effect.provideService(Blobs, blobs),
    Effect.provideService(Crypto, crypto),
    Effect.provideService(LedgerReach, reach),
    Effect.provideService(Operations, operations)
  )

/** Request for a list: caller, parameters, point and page. */
export interface ListQuestion<P> {
  readonly caller: Caller
  readonly params: P
  readonly point: PointParams
  readonly page: Omit<PageParams, "limit">
}

/**
 * Prepares a list, in the order in which a caller may learn what is wrong: its role, its scope, the
 * cursor, the point, the record that the path names, and whether the cursor's offset is still held
 * (docs/contract/order-of-checks.md#fourteen-steps).
 */
export const prepare = Effect.fnUntraced(function* <R, F, P, V>(
  services: ReadServices,
  read: List<R, F, P, V>,
  question: ListQuestion<P>
) {
  const requested = yield* request(services, read, question)
  const pin = yield* locate(services, read, { ...question, requested, latest: "answered" })
  const asking = contextAt(read, { ...question, requested, pin })
  const withMemo = memoised(services)
  const query = yield* queried(services, read, { ...question, requested, asking, withMemo })
  const { now } = asking
  return { now, asking, pin, withMemo, binding: requested.binding, query } satisfies PreparedList
})

/** Checks role, scope and cursor of a request for a list. */
export const request = Effect.fnUntraced(function* <R, F, P, V>(
  services: ReadServices,
  read: List<R, F, P, V>,
  { caller, params, point, page }: ListQuestion<P>
) {
  const { cursors, venue, tenantId } = services
  const clock = yield* Instant.now
  const reader = yield* Effect.fromResult(
    Access.askerOf(read.audience, { caller, venue, now: clock })
  )
  const selected = read.where(params)
  const scope =
    read.scope === undefined ? {} : yield* provided(services, read.scope(reader, params))
  const where = Access.intersectionOf(selected, scope)
  const ranges = read.ranges?.(params) ?? {}
  const binding = ListCursor.boundOf({ read, tenantId, where, ranges, point, page })
  const place = yield* Effect.fromResult(
    ListCursor.placeOf(cursors, {
      list: publishedName(read.name),
      binding,
      text: page.after,
      point
    })
  )
  return { clock, reader, where, ranges, binding, place } satisfies ListRequest
})

/** Resolves the point of a list: that of its cursor, or the one asked for. */
export const locate = <R, F, P, V>(
  services: ReadServices,
  read: List<R, F, P, V>,
  {
    params,
    point,
    requested,
    latest
  }: ListQuestion<P> & { readonly requested: ListRequest; readonly latest: "answered" | "kept" }
): Effect.Effect<Point.ResolvedPoint, Refused | Unavailable> => {
  const { reader, clock, place } = requested
  if (place !== undefined) return Effect.succeed(ListCursor.pinOf(place))
  return resolveInSight(services.points, point, {
    now: clock,
    latest: read.pinned ? latest : "snapshot",
    look: (pin) => provided(services, read.parent?.(params, { ...reader, pin }) ?? Effect.void)
  })
}

/** The caller at the point of a list. */
export const contextAt = (
  read: Pick<List, "pinned">,
  {
    pin,
    point,
    requested
  }: {
    readonly requested: ListRequest
    readonly point: PointParams
    readonly pin: Point.ResolvedPoint
  }
): ReadContext => {
  const { reader, clock, place } = requested
  return { ...reader, pin, now: place === undefined ? nowOf(read, { point, pin, clock }) : clock }
}

/** Query of a list at its point, after the checks of the record that the path names and of the cursor's offset. */
export const queried = Effect.fnUntraced(function* <R, F, P, V>(
  { points }: Pick<ReadServices, "points">,
  read: List<R, F, P, V>,
  {
    params,
    page,
    asking,
    withMemo,
    requested
  }: ListQuestion<P> & {
    readonly requested: ListRequest
    readonly asking: ReadContext
    readonly withMemo: WithMemo
  }
) {
  const { where, ranges, place } = requested
  const { pin } = asking
  if (read.parent !== undefined) yield* withMemo(read.parent(params, asking))
  if (place !== undefined && read.pinned) yield* points.checkHeld(place)
  const narrowed =
    read.narrow === undefined
      ? where
      : Access.intersectionOf(where, yield* withMemo(read.narrow(params, asking)))
  const judged = read.judged?.(pin.judgedAt) ?? {}
  return queryOf(read, {
    pin,
    where: narrowed,
    ranges: { ...ranges, ...judged },
    place,
    page
  })
})

const queryOf = (
  { direction }: { readonly direction: "asc" | "desc" },
  {
    pin,
    where,
    ranges,
    place,
    page
  }: {
    readonly pin: Pin.ResolvedPin
    readonly where: Scope
    readonly ranges: Ranges
    readonly place: Cursor.Place | undefined
    readonly page: Omit<PageParams, "limit">
  }
): Query => {
  const { updatedFrom, updatedTo } = page
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
  pointParams: PointParams,
  {
    now,
    latest,
    look
  }: {
    readonly now: Instant.Instant
    readonly latest: Point.Latest
    readonly look: (pin: Pin.ResolvedPin) => Effect.Effect<unknown, Refused | Unavailable>
  }
): Effect.Effect<Point.ResolvedPoint, Refused | Unavailable> => {
  const point = points.resolve(pointParams, now, { latest })
  if (pointParams.at === undefined && pointParams.asOf === undefined) return point
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

/** Checks whether a read is answered at an instant that is given out for its answer. */
export const isLatest = (
  { pinned }: { readonly pinned: boolean },
  { at, asOf }: PointParams
): boolean => pinned && at === undefined && asOf === undefined

/**
 * The engine's clock as an answer shows it: an answer at the latest point is as of the instant at
 * which it is given.
 */
export const nowOf = (
  read: { readonly pinned: boolean },
  {
    point,
    pin,
    clock
  }: {
    readonly point: PointParams
    readonly pin: Pick<Pin.ResolvedPin, "judgedAt">
    readonly clock: Instant.Instant
  }
): Instant.Instant => (isLatest(read, point) ? pin.judgedAt : clock)
