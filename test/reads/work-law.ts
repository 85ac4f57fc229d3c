/**
 * Law of the list of work: for every role it has exactly the acts that the views of all lists say are
 * waited for, less the actions that the reader made or signed; and its counts count it.
 */
import { type Caller, Catalogue, type PointParams, Queries, type Read } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Effect, SchemaAST, Stream } from "effect"
import { isDeepStrictEqual } from "node:util"
import * as WorkQueries from "#core/overviews/WorkQueries.ts"
import type * as RecordView from "#core/records/RecordView.ts"
import { listApprovals } from "#core/reads/WriteQueries.ts"
import * as Calls from "../engine/calls.ts"

const roles = ["operator", "approver", "risk", "compliance"] as const

const auditor = Calls.person("auditor-of-work", "auditor")

/** A person of each role whose work is listed. */
export const staff = roles.map((role) => Calls.person(`${role}-at-work`, role))

type Waits = Pick<RecordView.Common, "waitingOn">

const isWaiting = (view: unknown): view is Waits =>
  typeof view === "object" && view !== null && "waitingOn" in view

/** Lists of records under other paths, and of operations, which wait for the engine alone. */
const skipped = new Set<string>(["open-orders.list", "operations.list"])

const allLists = Catalogue.queries.filter((read): read is Read.List => read.shape === "list")

/** Lists whose views say what is waited for. */
const lists = allLists.filter(
  ({ item: { ast }, name }) =>
    !skipped.has(name) &&
    SchemaAST.isObjects(ast) &&
    ast.propertySignatures.some((member) => member.name === "waitingOn")
)

const routes = new Set<string>(Catalogue.queries.map(({ route }) => route))

/** Path of a record that a list shows: that of its own read, or of the list where it has none. */
const hrefOf = ({ collection, route }: Read.List, path: string, view: unknown): string => {
  const own = [...routes].some(
    (other) => other.startsWith(`${route}/{`) && !other.slice(route.length + 1).includes("/")
  )
  return own ? `${path}/${collection.id(view as never)}` : path
}

const listOf = (route: string): Read.List => {
  const found = allLists.find((read) => read.route === route)
  if (found === undefined) throw new Error(`no list ${route}`)
  return found
}

/** Lists of the records that a path of a list names. */
const parents: Readonly<Record<string, Read.List>> = {
  instrumentId: listOf("GET /v1/instruments"),
  holderId: listOf("GET /v1/holders"),
  reserveId: listOf("GET /v1/reserves"),
  distributionId: listOf("GET /v1/distributions")
}

const all = Effect.fnUntraced(function* (
  read: Read.List,
  params: Readonly<Record<string, string>>,
  { caller, point }: { readonly caller: Caller.Caller; readonly point: PointParams }
) {
  const queries = yield* Queries
  const { value } = yield* queries.all(read, {
    caller,
    params,
    point: read.pinned ? point : {},
    page: {}
  })
  return yield* Stream.runCollect(value)
})

/** An act that waits, as one line of text. */
const lineOf = (wait: {
  readonly href: string
  readonly role: string | null
  readonly action: string
  readonly by: Instant.Instant | null
  readonly actionKey: string | null
}): string =>
  [
    ...[wait.href, wait.role, wait.action, wait.by === null ? "-" : Instant.format(wait.by)],
    wait.actionKey ?? "-"
  ].join(" ")

const openOrders = allLists.find(({ name }) => name === "open-orders.list")!

/** States of the orders in the list of open orders, by their paths' ends. */
const openStates = Effect.fnUntraced(function* (point: PointParams) {
  const views = yield* all(openOrders, {}, { caller: auditor, point })
  return new Map(
    (views as ReadonlyArray<{ kind: string; orderId: string; state: string }>).map(
      ({ kind, orderId, state }) => [`${kind} ${orderId}`, state]
    )
  )
})

/** What the views of one list say is waited for, in the lines of a role that reads the list. */
const linesOf = (read: Read.List, path: string, views: ReadonlyArray<unknown>) =>
  views.flatMap((view) => {
    if (!isWaiting(view)) return []
    const href = hrefOf(read, path, view)
    return view.waitingOn.flatMap((wait) =>
      roles.some((role) => role === wait.role && role in read.audience)
        ? [{ role: wait.role, line: lineOf({ ...wait, href }), actionKey: wait.actionKey }]
        : []
    )
  })

/** Everything that any list says is waited for. */
const waited = Effect.fnUntraced(function* (point: PointParams) {
  const asking = { caller: auditor, point }
  const found: Array<{ role: string | null; line: string; actionKey: string | null }> = []
  for (const read of lists) {
    if (read.name === listApprovals.name) continue
    const path = read.route.slice(read.route.indexOf(" ") + 1)
    const [, parent] = /\{([a-zA-Z]+)\}/u.exec(path) ?? []
    if (parent === undefined) {
      found.push(...linesOf(read, path, yield* all(read, {}, asking)))
      continue
    }
    const owner = parents[parent]
    if (owner === undefined) throw new Error(`nothing lists the ${parent} of ${read.route}`)
    for (const record of yield* all(owner, {}, asking)) {
      const id = owner.collection.id(record as never)
      const views = yield* all(read, { [parent]: id }, asking)
      found.push(...linesOf(read, path.replace(`{${parent}}`, id), views))
    }
  }
  return found
})

/** Routes of reads, as patterns of the paths that they answer. */
const paths = [...routes].map(
  (route) => new RegExp(`^${route.replace("GET ", "").replaceAll(/\{\w+\}/gu, "[^/]+")}$`, "u")
)

const same = (got: unknown, expected: unknown, what: string) => {
  if (isDeepStrictEqual(got, expected)) return
  throw new Error(`audit: ${what}: ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`)
}

/**
 * Checks the law at a point for these people; the number of acts that waited. The actions of the present
 * belong to no point of the past, so that of a past instant the other acts alone are compared.
 */
export const check = Effect.fnUntraced(function* (
  people: ReadonlyArray<Caller.Caller>,
  point: PointParams = {}
) {
  const queries = yield* Queries
  const isLatest = point.at === undefined && point.asOf === undefined
  const page = { limit: 1_000 }
  const first = yield* queries.page(WorkQueries.list, {
    ...{ caller: auditor, params: { role: [...roles] }, point, page }
  })
  const pinned: PointParams = isLatest ? { asOf: first.now } : point
  const records = (yield* waited(pinned)).filter(({ actionKey }) => actionKey === null)
  const actions = isLatest
    ? (yield* all(
        listApprovals as unknown as Read.List,
        {},
        { caller: auditor, point: {} }
      )).flatMap((view) => {
        const action = view as {
          readonly resource: { readonly href: string }
          readonly maker: string
          readonly signedBy: ReadonlyArray<string>
          readonly waitingOn: ReadonlyArray<RecordView.AwaitedAct>
        }
        return action.waitingOn.map((wait) => ({
          role: wait.role,
          people: [action.maker, ...action.signedBy],
          line: lineOf({ ...wait, href: action.resource.href })
        }))
      })
    : []
  const states = yield* openStates(pinned)
  let waiting = 0
  for (const caller of [...people, auditor]) {
    const own = caller.roles.includes("auditor") ? roles : caller.roles
    const params = caller.roles.includes("auditor") ? { role: [...roles] } : {}
    const rows = yield* all(WorkQueries.list as unknown as Read.List, params as never, {
      caller,
      point: pinned
    })
    const views = rows as ReadonlyArray<WorkQueries.WorkView>
    const expected = [
      ...records.filter(({ role }) => own.some((each) => each === role)),
      ...actions.filter(
        ({ people: others, role }) =>
          own.some((each) => each === role) && !others.includes(caller.sub)
      )
    ].map(({ line }) => line)
    const shown = views.filter(({ actionKey }) => isLatest || actionKey === null)
    same(
      shown.map((row) => lineOf({ ...row, href: row.resource.href })).toSorted(),
      expected.toSorted(),
      `the work of ${caller.sub}`
    )
    same(
      views.filter(({ resource }) => !paths.some((path) => path.test(resource.href))),
      [],
      "work whose path leads to no read"
    )
    const orders = views.filter(
      ({ actionKey, resource }) =>
        actionKey === null && states.has(`${resource.kind} ${resource.id}`)
    )
    same(
      orders.map(({ state }) => state),
      orders.map(({ resource }) => states.get(`${resource.kind} ${resource.id}`)),
      `the states of orders in the work of ${caller.sub}`
    )
    const keys = views.map(({ by, since }) => [
      by === null ? "~" : Instant.sortable(by),
      Instant.sortable(since)
    ])
    same(
      keys,
      keys.toSorted((a, b) => (a.join(" ") < b.join(" ") ? -1 : a.join(" ") > b.join(" ") ? 1 : 0)),
      "its order"
    )
    const counted = yield* queries.one(WorkQueries.counts, {
      ...{ caller, params: params as never, point: pinned }
    })
    const groups = Map.groupBy(views, ({ resource, role }) => `${role} ${resource.kind}`)
    same(
      counted.value.counts.map(({ by, capped, overdue, resourceKind, role, waiting: count }) => [
        ...[`${role} ${resourceKind}`, count, overdue],
        ...[by === null ? null : Instant.format(by), capped]
      ]),
      counted.value.counts.map(({ resourceKind, role }) => {
        const group = groups.get(`${role} ${resourceKind}`) ?? []
        const overdue = group.filter(({ by }) => by !== null && by <= first.now).length
        const by = group[0]?.by ?? null
        return [
          ...[`${role} ${resourceKind}`, group.length],
          ...[isLatest ? overdue : countOf(counted, role, resourceKind)],
          ...[by === null ? null : Instant.format(by), false]
        ]
      }),
      `the counts of ${caller.sub}`
    )
    same(counted.value.counts.length, groups.size, `the kinds that wait for ${caller.sub}`)
    waiting += views.length
  }
  return waiting
})

/** Overdue as it was counted: of a past point its instant is known to the answer alone. */
const countOf = (
  { value }: { readonly value: WorkQueries.WorkCounts },
  role: string,
  resourceKind: string
): number =>
  value.counts.find((each) => each.role === role && each.resourceKind === resourceKind)?.overdue ??
  0
