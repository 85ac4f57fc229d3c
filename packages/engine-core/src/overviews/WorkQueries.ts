/**
 * Reads of the work of the venue's people: what waits for their roles in one list, earliest deadline first,
 * and its counts. Both come from the index of waiting records.
 */
import { Effect, Schema } from "effect"
import { awaitedFor, awaitedStatements } from "../findings/AwaitedStatements.ts"
import { HolderId } from "../holders/holder/HolderId.ts"
import { InstrumentId } from "../instruments/instrument/Manifest.ts"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import type * as Pin from "../kernel/Pin.ts"
import { refused } from "../kernel/Refusal.ts"
import type { StoredWait, WaitQuery } from "../ports/storage/Documents.ts"
import * as Read from "../reads/Read.ts"
import { workRoles, type WorkRole } from "../reads/WaitingKinds.ts"
import { Records } from "../records/Records.ts"
import * as Waits from "../records/Waits.ts"
import * as HoldRules from "../restraints/hold/HoldRules.ts"
import { openOn } from "../restraints/hold/OpenHoldLookups.ts"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"
import { Role } from "../vocabulary/Role.ts"
import * as WaitingAction from "../vocabulary/WaitingAction.ts"
import { approvals } from "../writes/Approval.ts"
import { Operations } from "../writes/Operations.ts"
import { Resource } from "../writes/Resource.ts"
import { summaryOf } from "../writes/Summary.ts"

const { NullOr, optionalKey } = Schema

/** Roles that read the list: those whose work it shows, and the auditor, who reads that of one of them. */
const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all"
} as const satisfies Read.Audience

/** A state of a record of any kind: the words of the state sets are lower case. */
const StateWord = Schema.String.check(Schema.isPattern(/^[a-z][a-z-]{0,63}$/))

const Params = Schema.Struct({
  /** Roles whose work is shown; absent: all of the caller's. An auditor names it. */
  role: optionalKey(Schema.Array(Role.schema)),
  action: optionalKey(Schema.Array(WaitingAction.WaitingAction.schema)),
  resourceKind: optionalKey(Schema.Array(ResourceKind.schema)),
  /** States of the records; of an order its state in the list of open orders. */
  state: optionalKey(Schema.Array(StateWord)),
  instrumentId: optionalKey(InstrumentId),
  holderId: optionalKey(HolderId),
  /** True: only what is past its deadline; false: only what is not. */
  overdue: optionalKey(Schema.Literals(["true", "false"]))
})
type Params = typeof Params.Type

export const WorkView = Schema.Struct({
  /** The record that waits, or that the four-eyes action acts on. */
  resource: Resource,
  /** State of the record; of an order its state in the list of open orders; null: it has none. */
  state: NullOr(Schema.String),
  action: WaitingAction.WaitingAction.schema,
  role: Role.schema,
  /** Deadline; null: none. */
  by: NullOr(Instant.schema),
  /** Instant since which the record waits for this act of this role. */
  since: Instant.schema,
  instrumentId: NullOr(InstrumentId),
  holderId: NullOr(HolderId),
  /** One sentence: what a four-eyes action does, else who does what. */
  summary: Schema.String,
  /** Key of the four-eyes action that awaits a decision; null: the record waits for another act. */
  actionKey: NullOr(Schema.String)
}).annotate({
  identifier: "Work",
  description: "An act that waits for a role of the venue's people."
})
export type WorkView = typeof WorkView.Type

/** A row of the index, as the list computes its rows. */
type Row = StoredWait

/** Collection of the list's rows, which are read from the index and stored nowhere else. */
const rows = Collection.define<Row, never>("work", {
  doc: "An act that a record waits for.",
  id: ({ sortKey }) => sortKey,
  record: Schema.Struct({
    sortKey: Schema.String,
    role: Schema.String,
    action: Schema.String,
    resourceKind: Schema.String,
    state: NullOr(Schema.String),
    instrumentId: NullOr(Schema.String),
    holderId: NullOr(Schema.String),
    by: NullOr(Schema.String),
    since: Schema.String,
    body: Schema.String
  }),
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "engine"
})

const isWorkRole = (role: string): role is WorkRole =>
  (workRoles as ReadonlyArray<string>).includes(role)

/** Roles whose work a caller asks for; none: an auditor has to name one. */
const rolesOf = ({ caller }: Pick<Read.ReadCaller, "caller">, { role }: Params) =>
  (role ?? caller.roles).filter(isWorkRole)

/** Refuses roles that are not the caller's own, unless it is an auditor. */
const checkRoles = ({ caller }: Pick<Read.ReadCaller, "caller">, { role = [] }: Params) =>
  caller.roles.includes("auditor") || role.every((each) => caller.roles.includes(each))
    ? Effect.void
    : Effect.fail(refused("permission-denied", { detail: "The work of other roles is not shown." }))

/** Refuses a request that leaves open whose work is asked for. */
const checkNamed = (asking: Pick<Read.ReadCaller, "caller">, params: Params) =>
  rolesOf(asking, params).length > 0 || (params.role ?? []).length > 0
    ? Effect.void
    : Effect.fail(
        refused("invalid-request", {
          errors: [{ pointer: "/query/role", detail: "An auditor names whose work it reads." }]
        })
      )

/** Query of the index for a caller and its filters. */
const indexQuery = Effect.fnUntraced(function* (params: Params, asking: Read.ReadContext) {
  const { waits } = yield* Records
  yield* waits.checkFilled
  const namedKinds = new Set(params.resourceKind ?? [])
  const pairs = new Map<string, WaitQuery["audience"][number]>()
  for (const role of rolesOf(asking, params)) {
    for (const { resourceKinds, roles } of waits.kinds.values()) {
      if (!roles.has(role)) continue
      for (const resourceKind of resourceKinds) {
        if (namedKinds.size > 0 && !namedKinds.has(resourceKind as ResourceKind)) continue
        pairs.set(`${role} ${resourceKind}`, { role, resourceKind })
      }
    }
  }
  const { action, holderId, instrumentId, overdue, state } = params
  const oneOf = (
    column: WaitQuery["where"][number]["column"],
    anyOf: ReadonlyArray<string> | undefined
  ) => (anyOf === undefined ? [] : [{ column, anyOf }])
  return {
    pin: asking.pin,
    audience: [...pairs.values()],
    where: [
      ...oneOf("action", action),
      ...oneOf("state", state),
      ...oneOf("instrumentId", instrumentId === undefined ? undefined : [instrumentId]),
      ...oneOf("holderId", holderId === undefined ? undefined : [holderId])
    ],
    ...(overdue === undefined ? {} : { overdue: overdue === "true" }),
    subject: asking.caller.sub,
    conditions: yield* holding(yield* waits.conditions(asking.pin), asking.pin)
  }
})

/** Keys of those conditions that hold at the pin. */
const holding = Effect.fnUntraced(function* (keys: ReadonlyArray<string>, pin: Pin.ResolvedPin) {
  if (keys.length === 0) return []
  const stops = keys.flatMap((key) => HoldRules.stoppedBy(key) ?? [])
  const awaited = keys.flatMap((key) => awaitedFor(key) ?? [])
  const records = yield* Records
  const [open, statements] = yield* Effect.all(
    [
      openOn([...new Set(stops.map(({ instrumentId }) => instrumentId))], pin),
      records.many(awaitedStatements, awaited, pin)
    ],
    { concurrency: 2 }
  )
  const unanswered = new Set(
    statements.flatMap(({ instrumentId, statements: some }) =>
      some.length === 0 ? [] : [instrumentId]
    )
  )
  return keys.filter((key) => {
    const stop = HoldRules.stoppedBy(key)
    return stop === undefined
      ? unanswered.has(awaitedFor(key) ?? "")
      : open.some(
          (hold) => hold.instrumentId === stop.instrumentId && HoldRules.stops(hold, stop.act)
        )
  })
})

export const list = Read.list({
  name: "work.list",
  doc: "Lists what waits for the caller: an entry for each record and role of the caller that must act on it.",
  route: "GET /v1/work",
  audience,
  pinned: true,
  collection: rows,
  params: Params,
  item: WorkView,
  direction: "asc",
  order:
    "by deadline, those without one last, then by the instant since which it waits, then by path",
  changes: false,
  acted: "never",
  // Bound to the cursor: the rows come from the index.
  where: ({ action, holderId, instrumentId, overdue, resourceKind, role, state }) => ({
    ...(role === undefined ? {} : { role }),
    ...(action === undefined ? {} : { action }),
    ...(resourceKind === undefined ? {} : { resourceKind }),
    ...(state === undefined ? {} : { state }),
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
    ...(holderId === undefined ? {} : { holderId: [holderId] }),
    ...(overdue === undefined ? {} : { overdue: [overdue] })
  }),
  scope: (who, params) =>
    Effect.as(checkRoles(who, params), {
      subject: [who.caller.sub],
      roles: rolesOf(who, params)
    } as Read.Scope),
  parent: (params, asking) => checkNamed(asking, params),
  rows: Effect.fn("work.list.rows")(function* ({ after, limit }, asking, params) {
    const { waits } = yield* Records
    const query = yield* indexQuery(params, asking)
    const found = yield* waits.list({ ...query, after, limit })
    return found.map((row) => ({ sortKey: row.sortKey, row }))
  }),
  view: Effect.fnUntraced(function* (found, { pin }) {
    const records = yield* Records
    const kinds = yield* Operations
    const keys = found.flatMap(({ body }) => Waits.bodyOf(body).actionKey ?? [])
    const actions = new Map(
      (yield* records.many(approvals, [...new Set(keys)], pin)).map((self) => [
        self.actionKey,
        self
      ])
    )
    return found.map((row) => {
      const action = actions.get(Waits.bodyOf(row.body).actionKey ?? "")
      const summary =
        action === undefined
          ? WaitingAction.moveSentenceOf(row.action)
          : summaryOf(kinds.find(action.kind), action)
      return viewOf(row, summary)
    })
  })
})

const viewOf = (
  { action, body, by, holderId, instrumentId, resourceKind, role, since, state }: Row,
  summary: string
): WorkView => {
  const { actionKey, href, id } = Waits.bodyOf(body)
  return {
    resource: { kind: resourceKind as ResourceKind, id, href },
    state,
    action: action as WaitingAction.WaitingAction,
    role: role as Role,
    by: by === null ? null : Instant.of(by),
    since: Instant.of(since),
    instrumentId: instrumentId as InstrumentId | null,
    holderId: holderId as HolderId | null,
    summary,
    actionKey
  }
}

/** Largest number of entries of a role and kind that are counted. */
const countedMax = 1_000

export const WorkCounts = Schema.Struct({
  counts: Schema.Array(
    Schema.Struct({
      role: Role.schema,
      resourceKind: ResourceKind.schema,
      /** Entries, at most 1,000. */
      waiting: Integer.schema,
      /** Entries among them that are past their deadline, at most 1,000. */
      overdue: Integer.schema,
      /** Earliest deadline; null: none has one. */
      by: NullOr(Instant.schema),
      /** True: there are more than were counted. */
      capped: Schema.Boolean
    })
  )
}).annotate({
  identifier: "WorkCounts",
  description: "How much waits for each role of the caller, by kind of record."
})
export type WorkCounts = typeof WorkCounts.Type

export const counts = Read.one({
  name: "work-counts.list",
  doc: "Counts what waits for the caller, by role and kind of record, up to 1,000 of each.",
  route: "GET /v1/work-counts",
  audience,
  pinned: true,
  params: Params,
  value: WorkCounts,
  refuses: ["permission-denied", "invalid-request"],
  run: Effect.fn("work-counts.list")(function* (params, asking) {
    yield* checkRoles(asking, params)
    yield* checkNamed(asking, params)
    const { waits } = yield* Records
    const query = yield* indexQuery(params, asking)
    const found = yield* waits.counts({ ...query, most: countedMax + 1 })
    const counts = found
      .map(({ by, overdue, resourceKind, role, waiting }) => ({
        role: role as Role,
        resourceKind: resourceKind as ResourceKind,
        waiting: Math.min(waiting, countedMax),
        overdue: Math.min(overdue, countedMax),
        by: by === null ? null : Instant.of(by),
        capped: waiting > countedMax
      }))
      .toSorted(
        (a, b) =>
          workRoles.indexOf(a.role as WorkRole) - workRoles.indexOf(b.role as WorkRole) ||
          (a.resourceKind < b.resourceKind ? -1 : 1)
      )
    return { counts }
  })
})

export const queries = [list, counts] as const
