/** Table of routes, from which document, handlers, gates and client are made. */
import {
  CallRefusals,
  type Catalogue,
  Csv,
  type Operation,
  Read,
  type Refusal,
  Vocabulary
} from "@bursar/engine-core"
import * as FeedsApi from "./FeedsApi.ts"
import { rolesOf } from "./Params.ts"
import type { Admits, ServedRoute } from "./Served.ts"
import * as ReconciliationApi from "./ReconciliationApi.ts"
import * as StatementsApi from "./StatementsApi.ts"
import * as SystemApi from "./SystemApi.ts"
import * as Verb from "./Verb.ts"
import * as Body from "../wire/Body.ts"
import * as WritesApi from "./WritesApi.ts"

export type Answers =
  | { readonly with: "write"; readonly operation: Operation.Operation }
  | { readonly with: "one"; readonly read: Read.One }
  | { readonly with: "list"; readonly read: Read.List }
  | { readonly with: "export"; readonly read: Read.Export }
  | { readonly with: "streamed"; readonly read: Read.StreamedRead }
  | { readonly with: "hand"; readonly served: ServedRoute }

export interface Route {
  /** The operation's kind or the read's published name: unique, and the operationId of the document. */
  readonly name: string
  readonly doc: string
  readonly path: Verb.Path
  readonly group: RouteGroup
  readonly admits: Admits
  /** Longest body in bytes; 0: the route takes none. */
  readonly bodyMax: number
  /** Present where the body is a file, which is streamed and not read by the gates. */
  readonly file?: ServedRoute["file"]
  readonly answers: Answers
  /** Refusals of the route besides those of every route. */
  readonly refuses: ReadonlyArray<Refusal.Slug>
}

/** Media types of a route's answers; an export's parameters choose one of them. */
export const formsOf = ({ answers }: Route): ReadonlyArray<string> =>
  "read" in answers && answers.read.csv !== undefined
    ? [Body.mediaType, Csv.mediaType]
    : [Body.mediaType]

/** Checks whether answers of a route may have an ETag; an answer that is polled for has none. */
export const isConditional = ({ answers, name }: Pick<Route, "answers" | "name">): boolean =>
  answers.with === "list" ||
  (answers.with === "one" && answers.read.lookAgain === undefined) ||
  (answers.with === "streamed" && answers.read.isSmall !== undefined) ||
  name === "openapi.one"

/** Checks whether a call of a route may wait for its end (docs/contract/waiting.md#prefer-wait). */
export const takesWait = ({ answers, name }: Pick<Route, "answers" | "name">): boolean =>
  answers.with === "write" ||
  (answers.with === "one" && answers.read.awaitedOperation !== undefined) ||
  name === "approvals.approve" ||
  name === "events.list"

/**
 * Declarations that a host serves: writes and reads, and other members of the catalogue that declares them;
 * a member that is left out is the engine's own. A venue with rooms gives `Catalogue.withRooms(rooms)` here.
 */
export interface Tables extends Partial<Catalogue.Catalogue> {
  readonly operations: ReadonlyArray<Operation.Operation>
  readonly queries: ReadonlyArray<Read.Read>
}

export const groups = [
  "Instruments",
  "Holders",
  "Orders",
  "Distributions",
  "Controls",
  "Reserves",
  "Reconciliation",
  "Writes",
  "Search",
  "Feeds",
  "System"
] as const
type BuiltInGroup = (typeof groups)[number]
/** Group of the engine's, or the first path segment of the routes of a room. */
export type RouteGroup = BuiltInGroup | Vocabulary.OwnWord.OwnWord

/** Description of each group of routes. */
const groupDocs: Readonly<Record<BuiltInGroup, string>> = {
  Instruments: "What is administered: its terms, policy, register, prices, and who may hold it.",
  Holders: "Who holds units, and what is known, agreed and owned of each.",
  Orders: "Subscriptions and redemptions, from claim to settlement, one by one or in cycles.",
  Distributions: "What an instrument pays its holders, and when.",
  Controls: "Restrictions of holders and holds of instruments.",
  Reserves: "What backs an instrument, and the minting and redeeming against it.",
  Reconciliation: "Statements of outside sources, and the runs that compare them with the ledger.",
  Writes: "What every write becomes: an operation, or an action that awaits its approvers.",
  Search: "Records of every kind, found by an id, a code, a name or a reference.",
  Feeds: "Events in one gapless order, the webhooks they are posted to, and the audit log.",
  System: "What anybody may read before signing in."
}

const isBuiltIn = (group: string): group is BuiltInGroup => Object.hasOwn(groupDocs, group)

/** Description of a group; that of a room's routes is the room's. */
export const docOfGroup = (
  group: string,
  { rooms }: Pick<Catalogue.Catalogue, "rooms">
): string => {
  if (isBuiltIn(group)) return groupDocs[group]
  const room = rooms.find(({ nouns }) =>
    nouns.some(({ queries = [], writes = [] }) =>
      [...queries, ...writes].some(({ route }) => Verb.parse(route).root === group)
    )
  )
  if (room === undefined) throw new Error(`no room has routes of ${group}`)
  return room.doc
}

/** Groups of a table of routes in the order of the document: the engine's, then those of rooms. */
export const groupsOf = (routes: ReadonlyArray<Route>): ReadonlyArray<RouteGroup> => [
  ...groups,
  ...new Set(routes.flatMap(({ group }) => (isBuiltIn(group) ? [] : [group])))
]

/** Group of each first path segment. */
const groupOf: Readonly<Record<string, RouteGroup>> = {
  instruments: "Instruments",
  holders: "Holders",
  subscriptions: "Orders",
  redemptions: "Orders",
  "dealing-cycles": "Orders",
  "standing-settlements": "Orders",
  proposals: "Orders",
  "open-orders": "Orders",
  "cash-matches": "Orders",
  distributions: "Distributions",
  "distribution-calendar": "Distributions",
  "standing-approvals": "Distributions",
  restrictions: "Controls",
  holds: "Controls",
  reserves: "Reserves",
  "external-sources": "Reconciliation",
  "external-statements": "Reconciliation",
  "external-accounts": "Reconciliation",
  "reconciliation-runs": "Reconciliation",
  findings: "Reconciliation",
  "reconciliation-verdict": "Reconciliation",
  work: "Writes",
  "work-counts": "Writes",
  operations: "Writes",
  approvals: "Writes",
  search: "Search",
  events: "Feeds",
  "audit-log": "Feeds",
  webhooks: "Feeds",
  tenants: "System",
  health: "System",
  "openapi.json": "System"
}

/** Longest JSON body in bytes. */
export const jsonMax = 1024 * 1024

const grouped = (path: Verb.Path): RouteGroup => {
  const group = Vocabulary.OwnWord.isPlain(path.root) ? path.root : groupOf[path.root]
  if (group === undefined) throw new Error(`${path.template} belongs to no group`)
  return group
}

export const ofOperation = (operation: Operation.Operation): Route => {
  const path = Verb.parse(operation.route)
  return {
    name: operation.kind,
    doc: operation.doc,
    path,
    group: grouped(path),
    admits: {
      by: "role",
      // An approver may approve a four-eyes action by repeating the maker's call.
      roles: operation.approvers === 0 ? operation.makers : [...operation.makers, "approver"]
    },
    bodyMax: path.method === "DELETE" ? 0 : jsonMax,
    answers: { with: "write", operation },
    refuses: CallRefusals.ofCall(operation)
  }
}

export const ofRead = (read: Read.Read): Route => {
  const path = Verb.parse(read.route)
  return {
    name: Read.publishedName(read.name),
    doc: read.doc,
    path,
    group: grouped(path),
    admits: { by: "role", roles: rolesOf(read.audience) },
    bodyMax: 0,
    answers: answersOf(read),
    refuses: [
      ...(read.shape === "list" ? [] : read.refuses),
      ...(read.pinned ? (["offset-unavailable", "before-horizon"] as const) : [])
    ]
  }
}

const answersOf = (read: Read.Read): Answers => {
  switch (read.shape) {
    case "one":
      return { with: "one", read }
    case "list":
      return { with: "list", read }
    case "export":
      return { with: "export", read }
    case "streamed":
      return { with: "streamed", read }
  }
}

const ofServed = (served: ServedRoute): Route => {
  const path = Verb.parse(served.route)
  return { ...served, path, group: grouped(path), answers: { with: "hand", served } }
}

/** Memo of the routes of declared operations and reads, by both lists. */
const made = new WeakMap<object, WeakMap<object, ReadonlyArray<Route>>>()

/** All routes, generated and hand-written, in the order of their paths; built once. */
export const table = (tables: Tables): ReadonlyArray<Route> => {
  const byReads = made.get(tables.operations) ?? new WeakMap<object, ReadonlyArray<Route>>()
  made.set(tables.operations, byReads)
  const routes = byReads.get(tables.queries) ?? sorted(tables)
  byReads.set(tables.queries, routes)
  return routes
}

const sorted = (tables: Tables): ReadonlyArray<Route> => {
  const shared = tables.operations.filter(({ approvers }) => approvers > 0)
  const fourEyes = {
    makers: [...new Set(shared.flatMap(({ makers }) => makers))],
    judged: [...new Set(shared.flatMap(({ refuses }) => refuses))]
  }
  const routes = [
    ...tables.operations.map(ofOperation),
    ...tables.queries.map(ofRead),
    ...[
      ...WritesApi.served(fourEyes),
      ...ReconciliationApi.served,
      ...StatementsApi.served,
      ...FeedsApi.served,
      ...SystemApi.served
    ].map(ofServed)
  ]
  return routes.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
}

const order = ({ path }: Route): string => `${path.template} ${path.method}`
