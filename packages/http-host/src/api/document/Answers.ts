/** The answers of the document: their headers, and every refusal under its own status. */
import type { Refusal } from "@bursar/engine-core"
import type { OpenApi } from "effect/http-api"
import type { OpenAPIV3_1 } from "openapi-types"
import * as Body from "../../wire/Body.ts"
import { formsOf, isConditional, type Route, takesWait } from "../Route.ts"
import { jsonOf, walk } from "./Json.ts"
import * as Refusals from "./Refusals.ts"
import { open, whole } from "./Schemas.ts"

const header = (
  type: "string" | "integer",
  description: string,
  example: string | number
): OpenAPIV3_1.HeaderObject => ({
  description,
  schema: { type },
  example
})

/** Answer headers that several answers share, each declared once. */
export const headers = {
  Id: header("string", "Repeats or names the call.", "req-2026-07-31-0001"),
  Cache: header(
    "string",
    "Whether the answer may be stored; with private, no-cache its ETag is checked before each use.",
    "no-store"
  ),
  NoSniff: header("string", "Always nosniff.", "nosniff"),
  Limit: header("integer", "Calls a caller has in the window the tenant announces.", 600),
  Left: header("integer", "Calls left after this one.", 599),
  Reset: header("integer", "Seconds until the whole limit is there again.", 1),
  RetryAfter: header("integer", "Seconds after which to look or call again.", 1),
  Location: header("string", "Where what was written is read.", "/v1/operations/op_1"),
  Replayed: header("string", "true: the write was there already.", "true"),
  Authenticate: header("string", "How to sign in.", 'Bearer error="invalid_token"'),
  Link: header(
    "string",
    "Where the problem is explained.",
    '</docs/problems#not-found>; rel="help"'
  ),
  Applied: header(
    "string",
    "The preference that was honoured: the call waited for its end, or for that many seconds.",
    "wait=20"
  ),
  ETag: header(
    "string",
    "Validator of the answer, for If-None-Match; absent where the answer depends on the clock.",
    'W/"kz0m3cWJ2lOf0nY0wNfUqA"'
  )
}

const wireNames = {
  Id: "X-Request-Id",
  Cache: "Cache-Control",
  NoSniff: "X-Content-Type-Options",
  Limit: "X-RateLimit-Limit",
  Left: "X-RateLimit-Remaining",
  Reset: "X-RateLimit-Reset",
  RetryAfter: "Retry-After",
  Location: "Location",
  Replayed: "Idempotent-Replayed",
  Authenticate: "WWW-Authenticate",
  Link: "Link",
  Applied: "Preference-Applied",
  ETag: "ETag"
} as const satisfies Record<keyof typeof headers, string>

type Header = keyof typeof headers

const refer = (names: ReadonlyArray<Header>): Record<string, OpenAPIV3_1.ReferenceObject> =>
  Object.fromEntries(
    names.map((name) => [wireNames[name], { $ref: `#/components/headers/${name}` }])
  )

const everywhere = ["Id", "Cache", "NoSniff"] as const
const limited = ["Limit", "Left", "Reset"] as const

/** Headers of a route's answers; a signed-in caller also gets those of its rate budget. */
const carried = ({ admits }: Route): ReadonlyArray<Header> =>
  admits.by === "anyone" ? everywhere : [...everywhere, ...limited]

/** Checks whether a write made its record in the call (201), or found it made before (200). */
const endsInItsCall = ({ answers }: Route): boolean =>
  answers.with === "hand" && answers.served.success[201] !== undefined

const ofSuccess = (route: Route, status: string): ReadonlyArray<Header> => [
  ...ofOwnSuccess(route, status),
  ...(takesWait(route) && status !== "204" ? (["Applied"] as const) : [])
]

/** Headers of the answer of a write: that it was there already is said of a repeat alone. */
const ofWrite = ["Location", "RetryAfter", "Replayed"] as const

const ofOwnSuccess = (route: Route, status: string): ReadonlyArray<Header> => {
  const { answers, name, path } = route
  if (answers.with === "write") return ofWrite
  if (isConditional(route)) return ["ETag"]
  if (name === "operations.get") return ["RetryAfter"]
  if (path.method === "GET") return []
  if (name === "approvals.reject") return ["Replayed"]
  if (endsInItsCall(route)) {
    return status === "201" ? ["Location"] : ["Location", "Replayed"]
  }
  const written: ReadonlyArray<Header> = ["Location", "RetryAfter"]
  return status === "202" ? written : [...written, "Replayed"]
}

/** Headers of refusals; a retryable one has Retry-After. */
const ofRefusals = (rows: ReadonlyArray<Refusal.RefusalRow>): ReadonlyArray<Header> => [
  "Link",
  ...(rows.some(({ retryable }) => retryable) ? (["RetryAfter"] as const) : []),
  ...(rows.some(({ status }) => status === 401) ? (["Authenticate"] as const) : [])
]

/** Statuses of the answer of a write, which has one form: what the write is now. */
const writeStatuses = ["200", "202"]

export const mend = (
  operation: OpenApi.OpenAPISpecOperation,
  route: Route,
  {
    problems,
    table
  }: {
    readonly problems: ReadonlyArray<Refusal.Slug>
    readonly table: Refusals.RefusalTable
  }
): void => {
  for (const [status, answer] of Object.entries(operation.responses)) {
    if (route.answers.with === "write" && writeStatuses.includes(status)) {
      Object.assign(operation.responses, { [status]: referTo(route.name) })
      continue
    }
    for (const media of Object.values(answer.content ?? {})) {
      Object.assign(media, { schema: walk(jsonOf(media.schema), (object) => whole(open(object))) })
    }
    for (const form of status === "200" ? formsOf(route).slice(1) : []) {
      Object.assign(answer.content ?? {}, { [form]: { schema: { type: "string" } } })
    }
    Object.assign(answer, {
      description: status === "202" ? "Accepted: what the write is now." : "The answer.",
      headers: refer([...carried(route), ...ofSuccess(route, status)])
    })
  }
  if (isConditional(route)) {
    Object.assign(operation.responses, { "304": referTo(nameOf(route, 304, [])) })
  }
  for (const [status, slugs] of byStatus(problems, table)) {
    Object.assign(operation.responses, { [status]: referTo(nameOf(route, status, slugs)) })
  }
}

const referTo = (name: string): OpenAPIV3_1.ReferenceObject => ({
  $ref: `#/components/responses/${name}`
})

/** Short names of the slugs that most routes have together: the document names them hundreds of times. */
const shortNames = [
  ["idempotency-key-reused.rule-refused", "rule"],
  ["offset-unavailable.before-horizon", "pin"],
  ["approval-rejected.approval-decided.approval-ambiguous", "four-eyes"]
] as const

/**
 * Name of an answer that several routes share: the status, where it has no slugs but those that are
 * common to all routes, or else the other slugs; with `public` for whoever does not sign in.
 */
const nameOf = ({ admits }: Route, status: number, slugs: ReadonlyArray<Refusal.Slug>): string => {
  const own = slugs.filter((slug) => !Refusals.common.has(slug))
  const name = shortNames.reduce(
    (set, [slugs, short]) => set.replace(slugs, short),
    own.length === 0 ? String(status) : own.join(".")
  )
  return admits.by === "anyone" ? `public.${name}` : name
}

/** A route that writes, and the component of the record that it answers. */
interface WriteAnswer {
  readonly route: Route
  readonly answer: string
}

/**
 * Components of all answers that are referred to, by name: the refusals, that a caller's copy is
 * current, and the answer of each write, which has one form under either of its statuses.
 */
export const components = (
  routes: ReadonlyArray<Route>,
  {
    table,
    writes
  }: {
    readonly writes: ReadonlyArray<WriteAnswer>
    readonly table: Refusals.RefusalTable
  }
): Record<string, OpenAPIV3_1.ResponseObject> => {
  const all = new Map<string, OpenAPIV3_1.ResponseObject>()
  const add = (name: string, answer: OpenAPIV3_1.ResponseObject): void => {
    const other = all.get(name)
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(answer)) {
      throw new Error(`two answers are called ${name}`)
    }
    all.set(name, answer)
  }
  for (const { answer, route } of writes) add(route.name, written(route, answer))
  for (const route of routes) {
    if (isConditional(route)) add(nameOf(route, 304, []), notModified(route))
    for (const [status, slugs] of byStatus(Refusals.of(route, table), table)) {
      add(nameOf(route, status, slugs), refusal(route, slugs, table))
    }
  }
  return Object.fromEntries([...all].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const written = (route: Route, answer: string): OpenAPIV3_1.ResponseObject => ({
  description: "What the write is now.",
  headers: refer([...carried(route), ...ofSuccess(route, "200")]),
  content: { [Body.mediaType]: { schema: { $ref: `#/components/schemas/${answer}` } } }
})

const notModified = (route: Route): OpenAPIV3_1.ResponseObject => ({
  description: "The caller's copy is current.",
  headers: refer([...carried(route), "ETag"])
})

/** Statuses of the refusals of a request's line, headers and id, which come before its route's own. */
const ofTheRequest: ReadonlySet<number> = new Set([400, 414, 431])

/** A refusal of the request itself tells a signed-in caller its budget on public routes too. */
const carriedByRefusal = (
  route: Route,
  rows: ReadonlyArray<Refusal.RefusalRow>
): ReadonlyArray<Header> => {
  const statuses = rows.map(({ status }) => status)
  return statuses.every((status) => ofTheRequest.has(status))
    ? [...everywhere, ...limited]
    : carried(route)
}

const refusal = (
  route: Route,
  slugs: ReadonlyArray<Refusal.Slug>,
  table: Refusals.RefusalTable
): OpenAPIV3_1.ResponseObject => {
  const rows = slugs.map((slug) => Refusals.rowOf(table, slug))
  return Object.assign(
    {
      description: slugs.map((slug) => `${slug}: ${Refusals.rowOf(table, slug).title}`).join(" "),
      headers: refer([...carriedByRefusal(route, rows), ...ofRefusals(rows)]),
      content: { [Body.problemMediaType]: { schema: { $ref: "#/components/schemas/Problem" } } }
    },
    { "x-problems": slugs }
  )
}

const byStatus = (
  problems: ReadonlyArray<Refusal.Slug>,
  table: Refusals.RefusalTable
): ReadonlyMap<number, ReadonlyArray<Refusal.Slug>> =>
  Map.groupBy(problems, (slug) => Refusals.rowOf(table, slug).status)
