/** Route matching on the raw path, before decoding. */
import { RecordId } from "@bursar/engine-core/kernel"
import type { Method } from "../api/Verb.ts"
import * as NearestRoute from "./NearestRoute.ts"

interface FoundRoute<A> {
  readonly match: "route"
  readonly route: A
  readonly params: Readonly<Record<string, string>>
}

export type RouteMatch<A> =
  | FoundRoute<A>
  | {
      readonly match: "nothing"
      /** Nearest route, as `METHOD /template`; undefined where none is near. */
      readonly nearest: string | undefined
    }
  /** The path has routes, but none for the method; `allow` is the value of the Allow header. */
  | { readonly match: "method"; readonly allow: string }

interface Node<A> {
  readonly literals: Map<string, Node<A>>
  parameter: Node<A> | undefined
  /**
   * Routes that end at this segment, by verb; the empty verb is that of the record or collection
   * itself.
   */
  readonly ends: Map<
    string,
    Map<Method, { readonly route: A; readonly names: ReadonlyArray<string> }>
  >
}

interface Path {
  readonly method: Method
  readonly template: string
  readonly names: ReadonlyArray<string>
}

const node = <A>(): Node<A> => ({ literals: new Map(), parameter: undefined, ends: new Map() })

/** Largest number of segments of any route. */
const segmentsMax = 8

/** Compiles the templates of all routes. */
export const compile = <A>(
  routes: ReadonlyArray<A>,
  pathOf: (route: A) => Path
): ((method: string, rawPath: string) => RouteMatch<A>) => {
  const root = node<A>()
  for (const route of routes) add(root, route, pathOf(route))
  const near = NearestRoute.make(
    routes.map(pathOf).map(({ method, template }) => ({ method, template, ...split(template) }))
  )
  return (method, rawPath) => {
    const matched = find(root, method, rawPath)
    if (matched.match !== "nothing") return matched
    const sent = split(rawPath)
    return sent.segments.length > segmentsMax
      ? matched
      : { ...matched, nearest: near(method, sent) }
  }
}

const add = <A>(root: Node<A>, route: A, path: Path): void => {
  let at = root
  const { segments, verb } = split(path.template)
  for (const segment of segments) {
    if (segment.startsWith("{")) {
      at.parameter ??= node()
      at = at.parameter
      continue
    }
    const next = at.literals.get(segment) ?? node<A>()
    at.literals.set(segment, next)
    at = next
  }
  const methods = at.ends.get(verb) ?? new Map()
  if (methods.has(path.method)) throw new Error(`${path.method} ${path.template} is declared twice`)
  methods.set(path.method, { route, names: path.names })
  at.ends.set(verb, methods)
}

/** The last literal colon of the last segment precedes the verb. */
const split = (
  path: string
): { readonly segments: ReadonlyArray<string>; readonly verb: string } => {
  const segments = path.slice(1).split("/")
  const last = segments.at(-1) ?? ""
  const colon = last.lastIndexOf(":")
  if (colon < 0) return { segments, verb: "" }
  return { segments: [...segments.slice(0, -1), last.slice(0, colon)], verb: last.slice(colon + 1) }
}

/**
 * Decodes the segments of a path below a prefix by the rules of every route: at most eight in all, each
 * an id; undefined for a path that cannot be one. The prefix ends with a slash, and alone it has none.
 */
export const below = (prefix: string, rawPath: string): ReadonlyArray<string> | undefined => {
  if (!rawPath.startsWith(prefix)) return undefined
  const rest = rawPath.slice(prefix.length)
  const raw = rest === "" ? [] : rest.split("/")
  const segments = raw.map(recordId).filter((segment) => segment !== undefined)
  const isPath =
    segments.length === raw.length && split(prefix).segments.length - 1 + raw.length <= segmentsMax
  return isPath ? segments : undefined
}

const nothing = { match: "nothing", nearest: undefined } as const

const find = <A>(root: Node<A>, method: string, rawPath: string): RouteMatch<A> => {
  if (!rawPath.startsWith("/")) return nothing
  const { segments, verb } = split(rawPath)
  if (segments.length > segmentsMax || (verb === "" && rawPath.endsWith(":"))) return nothing
  let at = root
  const values: Array<string> = []
  for (const segment of segments) {
    const literal = at.literals.get(segment)
    if (literal !== undefined) {
      at = literal
      continue
    }
    const value = at.parameter === undefined ? undefined : recordId(segment)
    if (value === undefined || at.parameter === undefined) return nothing
    values.push(value)
    at = at.parameter
  }
  const methods = at.ends.get(verb)
  if (methods === undefined) return nothing
  const end = isMethod(method) ? methods.get(method === "HEAD" ? "GET" : method) : undefined
  if (end === undefined) return { match: "method", allow: allow([...methods.keys()]) }
  const params = Object.fromEntries(end.names.map((name, i) => [name, values[i] ?? ""]))
  return { match: "route", route: end.route, params }
}

const isMethod = (method: string): method is Method | "HEAD" =>
  method === "GET" || method === "HEAD" || method === "POST" || method === "DELETE"

const allow = (methods: ReadonlyArray<Method>): string =>
  methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ")

/**
 * Decodes an id, which has no colon, slash or dot segment; undefined for text that cannot be one.
 */
const recordId = (segment: string): string | undefined => {
  if (RecordId.isRecordId(segment)) return segment
  if (!segment.includes("%")) return undefined
  try {
    const decoded = decodeURIComponent(segment)
    return RecordId.isRecordId(decoded) ? decoded : undefined
  } catch {
    return undefined
  }
}
