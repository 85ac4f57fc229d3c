/** Queries of the event feed: filters, a cursor that never ends, and the redaction for monitors. */
import { Context, Effect, Layer } from "effect"
import * as Concealment from "../writes/Concealment.ts"
import * as OwnWords from "../engine/OwnWords.ts"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import { refused, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import { Feed, type FeedQuery } from "../ports/storage/Feed.ts"
import { sightOf } from "../reads/Access.ts"
import { cursorsOf } from "../reads/layer.ts"
import { storeUnavailable } from "../records/PortFailure.ts"
import type { Caller } from "../writes/Caller.ts"
import type { Event } from "../records/Event.ts"
import { ofRow } from "../records/StoredEvent.ts"
import { EventParams } from "./EventParams.ts"
import type { EventKind } from "../vocabulary/EventKind.ts"
import { kindOf } from "../vocabulary/EventType.ts"
import * as FeedPages from "./FeedPages.ts"
import { hiddenResources, redact } from "./Redaction.ts"

/**
 * Roles that read the feed, and those that read it redacted. An app speaks for investors and reads
 * nothing about restrictions. A caller that holds a staff role as well reads as staff, so the
 * staff roles come first.
 */
export const audience = {
  approver: "all",
  auditor: "all",
  operator: "all",
  risk: "all",
  app: "all",
  monitor: "redacted"
} as const

export { Event } from "../records/Event.ts"
export { print } from "../records/StoredEvent.ts"
export { EventParams } from "./EventParams.ts"
export { limitDefault } from "./FeedPages.ts"

/** Service of the reads of the feed of events. */
export class EventQueries extends Context.Service<
  EventQueries,
  {
    /** A page of the feed; `next` is never null: a reader polls again with the last one. */
    readonly page: (request: {
      readonly caller: Caller
      readonly params: EventParams
      readonly limit: number
      readonly after?: string
    }) => Effect.Effect<
      {
        readonly offset: Offset.Offset
        readonly now: Instant.Instant
        readonly value: ReadonlyArray<Event>
        readonly next: string
      },
      Refused | Unavailable
    >
  }
>()("@bursar/engine-core/feeds/EventQueries") {}

const fault = (pointer: string, detail: string) =>
  Effect.fail(refused("invalid-request", { errors: [{ pointer, detail }] }))

/**
 * Refuses filters that a monitor may not use: it reads control events, and must not find a holder
 * by filtering.
 */
const monitorMay = Effect.fnUntraced(function* (params: EventParams) {
  if (params.holderId !== undefined || params.kind?.includes("journal") === true) {
    return yield* Effect.fail(
      refused("permission-denied", { detail: "A monitor reads control events, of no one holder." })
    )
  }
  if (params.resourceId === undefined) return
  const kinds = params.resourceKind ?? []
  if (kinds.length === 0 || kinds.some((kind) => hiddenResources.has(kind))) {
    return yield* fault(
      "/query/resourceId",
      "A monitor names the kind of the record, one whose ids its feed keeps."
    )
  }
})

/** Whether the filters select any event of a kind. */
const mayRead = (
  { type }: EventParams,
  kinds: ReadonlyArray<string> | undefined,
  kind: EventKind
): boolean =>
  (kinds?.includes(kind) ?? true) && (type?.some((word) => kindOf(word) === kind) ?? true)

/** The filters as the store takes them. */
const filtersOf = (
  { type, resourceKind, instrumentId, holderId, resourceId, from, to }: EventParams,
  kind: ReadonlyArray<string> | undefined
): Omit<FeedQuery, "order" | "limit" | "after"> => ({
  ...(kind === undefined ? {} : { kind }),
  ...(type === undefined ? {} : { type }),
  ...(resourceKind === undefined ? {} : { resourceKind }),
  ...(instrumentId === undefined ? {} : { instrumentId }),
  ...(holderId === undefined ? {} : { holderId }),
  ...(resourceId === undefined ? {} : { resourceId }),
  ...(from === undefined ? {} : { from: Instant.sortable(from) }),
  ...(to === undefined ? {} : { to: Instant.sortable(to) })
})

const make = Effect.gen(function* () {
  const feed = yield* Feed
  const settings = yield* Settings
  const concealed = yield* Concealment.ConcealedRecord
  const judge = yield* OwnWords.judging
  const pages = FeedPages.make({
    list: "events",
    tenantId: settings.tenantId,
    cursors: yield* cursorsOf,
    lostAfter: ({ seq }) => seq
  })

  const page: EventQueries["Service"]["page"] = Effect.fnUntraced(function* (request) {
    const reader = sightOf(audience, request.caller)
    if (reader === undefined) {
      return yield* Effect.fail(
        refused("permission-denied", { detail: "None of the caller's roles reads the feed." })
      )
    }
    const redacted = reader.sight === "redacted"
    const { params } = request
    yield* Effect.fromResult(judge(EventParams, params, ([name]) => `/query/${name}`))
    if (redacted) yield* monitorMay(params)
    if (params.from !== undefined && params.to !== undefined && params.from >= params.to) {
      return yield* fault("/query/from", "from is before to.")
    }
    const now = yield* Instant.now
    const shownTo = (event: Event) => Concealment.eventFor(concealed, reader.role, event)
    const kind = redacted ? ["control"] : params.kind
    const { rows, next } = yield* pages.page(
      { ...request, order: params.order ?? "asc" },
      {
        cursorBinding: {
          kind: kind ?? null,
          type: params.type ?? null,
          resourceKind: params.resourceKind ?? null,
          instrumentId: params.instrumentId ?? null,
          holderId: params.holderId ?? null,
          resourceId: params.resourceId ?? null,
          from: params.from === undefined ? null : String(params.from),
          to: params.to === undefined ? null : String(params.to),
          redacted
        },
        scan: (scan) =>
          Effect.mapBoth(feed.read({ ...scan, ...filtersOf(params, kind) }), {
            onSuccess: ({ events: found, journalPrunedTo, prunedTo, ...where }) => ({
              ...where,
              rows: found.map(ofRow),
              // A reader misses nothing of a kind that its filters leave out.
              prunedTo: mayRead(params, kind, "control") ? prunedTo : 0,
              journalPrunedTo: mayRead(params, kind, "journal") ? journalPrunedTo : 0
            }),
            onFailure: storeUnavailable
          }),
        ...(Concealment.isConcealedFrom(reader.role)
          ? { shows: (event: Event) => shownTo(event) !== null }
          : {})
      }
    )
    const value = redacted
      ? rows.flatMap((event) => {
          const shown = redact(event)
          return shown === null ? [] : [shown]
        })
      : rows.flatMap((event) => shownTo(event) ?? [])
    return { offset: Offset.zero, now, value, next }
  })

  return EventQueries.of({ page })
})

/** Reads of the feed over the storage provided to it. */
export const layer = Layer.effect(EventQueries, make)
