/** Queries of the audit log as a feed: filters, and a cursor that never ends. */
import { Context, Effect, Layer, Schema, type Stream } from "effect"
import * as OwnWords from "../engine/OwnWords.ts"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Offset from "../kernel/Offset.ts"
import { refused, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import { type AuditQuery, Feed } from "../ports/storage/Feed.ts"
import { sightOf } from "../reads/Access.ts"
import { cursorsOf } from "../reads/layer.ts"
import { storeUnavailable } from "../records/PortFailure.ts"
import { AuditAction, AuditStage } from "../vocabulary/AuditAction.ts"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"
import { Role } from "../vocabulary/Role.ts"
import { SortOrder } from "../vocabulary/sets.ts"
import type { Caller } from "../writes/Caller.ts"
import * as Audit from "../records/Audit.ts"
import * as FeedPages from "./FeedPages.ts"

const { NullOr, String: Text } = Schema

const Hash = Text.check(Schema.isPattern(/^[0-9a-f]{64}$/))

/** A record as the log answers it; all of it but `hash` is what was hashed. */
export const AuditRecord = Schema.Struct({
  seq: Integer.schema,
  at: Instant.schema,
  action: AuditAction.schema,
  stage: AuditStage.schema,
  actor: NullOr(Text),
  role: NullOr(Role.schema),
  method: NullOr(Text),
  route: NullOr(Text),
  resourceKind: NullOr(Text),
  resourceId: NullOr(Text),
  operationId: NullOr(Text),
  actionKey: NullOr(Text),
  requestId: NullOr(Text),
  traceId: NullOr(Text),
  keyId: NullOr(Text),
  status: NullOr(Integer.schema),
  problem: NullOr(Text),
  bodyHash: NullOr(Text),
  detail: NullOr(Schema.Record(Text, Schema.Union([Text, Integer.schema]))),
  prevHash: Hash,
  hash: Hash
}).annotate({
  identifier: "AuditRecord",
  description: "One record of the audit log, chained to the one before it by its hash."
})

const several = <A, E>(schema: Schema.Codec<A, E>) => Schema.optionalKey(Schema.Array(schema))

/** The log's own parameters; `limit` and `after` are those of every list. */
export const AuditParams = Schema.Struct({
  order: Schema.optionalKey(SortOrder.schema),
  actor: Schema.optionalKey(Text),
  action: several(AuditAction.schema),
  resourceKind: several(ResourceKind.schema),
  resourceId: Schema.optionalKey(Text),
  from: Schema.optionalKey(Instant.schema),
  to: Schema.optionalKey(Instant.schema)
})
export type AuditParams = typeof AuditParams.Type

/** Roles that read the audit log (docs/contract/audit-log.md#readers). */
export const audience = {
  auditor: "all",
  compliance: "all",
  operator: "all",
  risk: "all"
} as const

/** Printed form of an entry, which its hash is of. */
export const { print } = Audit

/** Columns of a record that are enough to print it without decoding its text. */
export type PrintableRecord = Parameters<typeof Audit.print>[0]

/** Service of the reads of the audit log. */
export class AuditQueries extends Context.Service<
  AuditQueries,
  {
    /**
     * A page of the log; `next` is never null: a reader polls again with the last one. Refuses
     * `cursor-expired` where the log was pruned past the reader's place.
     */
    readonly page: (request: {
      readonly caller: Caller
      readonly params: AuditParams
      readonly limit: number
      readonly after?: string
    }) => Effect.Effect<
      {
        readonly offset: Offset.Offset
        readonly now: Instant.Instant
        readonly value: ReadonlyArray<PrintableRecord>
        readonly next: string
      },
      Refused | Unavailable
    >
    /**
     * Every record after a place that the log has now, streamed in constant memory, with the place
     * after them. Refuses as `page` does.
     */
    readonly all: (request: {
      readonly caller: Caller
      readonly params: AuditParams
      readonly after?: string
    }) => Effect.Effect<
      {
        readonly offset: Offset.Offset
        readonly now: Instant.Instant
        readonly value: Stream.Stream<PrintableRecord, Refused | Unavailable>
        /** To be read once all records have been taken. */
        readonly next: () => string
      },
      Refused | Unavailable
    >
  }
>()("@bursar/engine-core/feeds/AuditQueries") {}

/** The filters as the store takes them. */
const filtersOf = ({
  order: _,
  from,
  to,
  ...filters
}: AuditParams): Omit<AuditQuery, "order" | "limit" | "after"> => ({
  ...filters,
  ...(from === undefined ? {} : { from: Instant.sortable(from) }),
  ...(to === undefined ? {} : { to: Instant.sortable(to) })
})

const make = Effect.gen(function* () {
  const feed = yield* Feed
  const { tenantId } = yield* Settings
  const judge = yield* OwnWords.judging
  const pages = FeedPages.make({
    list: "audit-log",
    tenantId,
    cursors: yield* cursorsOf,
    lostAfter: ({ auditSeq }) => auditSeq
  })

  /** Judges a call: the reader's role, and the span of its filters. */
  const scanning = Effect.fnUntraced(function* (caller: Caller, params: AuditParams) {
    if (sightOf(audience, caller) === undefined) {
      return yield* Effect.fail(
        refused("permission-denied", { detail: "None of the caller's roles reads the audit log." })
      )
    }
    yield* Effect.fromResult(judge(AuditParams, params, ([name]) => `/query/${name}`))
    if (params.from !== undefined && params.to !== undefined && params.from >= params.to) {
      const errors = [{ pointer: "/query/from", detail: "from is before to." }]
      return yield* Effect.fail(refused("invalid-request", { errors }))
    }
    const filters = filtersOf(params)
    return {
      cursorBinding: {
        actor: filters.actor ?? null,
        action: filters.action ?? null,
        resourceKind: filters.resourceKind ?? null,
        resourceId: filters.resourceId ?? null,
        from: filters.from ?? null,
        to: filters.to ?? null
      },
      scan: (scan: FeedPages.Scan) =>
        Effect.mapBoth(feed.readAudit({ ...scan, ...filters }), {
          onSuccess: ({ records, ...where }) => ({ ...where, rows: records, journalPrunedTo: 0 }),
          onFailure: storeUnavailable
        })
    }
  })

  const page: AuditQueries["Service"]["page"] = Effect.fnUntraced(function* (request) {
    const { caller, params } = request
    const scan = yield* scanning(caller, params)
    const now = yield* Instant.now
    const { rows, next } = yield* pages.page({ ...request, order: params.order ?? "asc" }, scan)
    return { offset: Offset.zero, now, value: rows, next }
  })

  const all: AuditQueries["Service"]["all"] = Effect.fnUntraced(function* (request) {
    const { caller, params } = request
    const scan = yield* scanning(caller, params)
    const now = yield* Instant.now
    const { audit } = yield* Effect.mapError(feed.head, storeUnavailable)
    const question = { ...request, order: params.order ?? "asc", end: audit.seq } as const
    const { rows, next } = yield* pages.rest(question, scan)
    return { offset: Offset.zero, now, value: rows, next }
  })

  return AuditQueries.of({ page, all })
})

/** Reads of the audit log over the storage provided to it. */
export const layer = Layer.effect(AuditQueries, make)
