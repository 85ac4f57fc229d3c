/** Paths of declared routes: the only place that knows how colon verbs are written. */
import { Schema } from "effect"

export type Method = "GET" | "POST" | "DELETE"

/** A declared route, taken apart. */
export interface Path {
  readonly method: Method
  /** As OpenAPI, spans and the route table write it: `/v1/holds/{holdId}:release`. */
  readonly template: `/v1/${string}`
  /** As the router and the client write it: `/v1/holds/:holdId:release`. */
  readonly pattern: `/v1/${string}`
  /** The names of its parameters, in order. */
  readonly names: ReadonlyArray<string>
  /** The segment after `/v1`, which says to which group it belongs. */
  readonly root: string
}

const route = /^(GET|POST|DELETE) (\/v1\/[A-Za-z0-9{}/:.-]+)$/

export const parse = (declared: string): Path => {
  const [, method, template] = route.exec(declared) ?? []
  const root = /^[a-z.-]+/.exec(template?.slice("/v1/".length) ?? "")?.[0]
  if (!isMethod(method) || !isTemplate(template) || root === undefined) {
    throw new Error(`no route: ${declared}`)
  }
  return {
    method,
    template,
    pattern: `/v1/${template.slice(4).replaceAll(/\{([A-Za-z]+)\}/g, ":$1")}`,
    names: [...template.matchAll(/\{([A-Za-z]+)\}/g)].map((match) => match[1] ?? ""),
    root
  }
}

const isMethod = (text: string | undefined): text is Method =>
  text === "GET" || text === "POST" || text === "DELETE"

const isTemplate = (text: string | undefined): text is `/v1/${string}` =>
  text?.startsWith("/v1/") === true

/**
 * The schema of a path's parameters. It is given to every endpoint that has a colon in its path,
 * also when it has no parameter: without it the router and the document take `:onboard` for one.
 */
export const params = (path: Path): Schema.Struct<Record<string, typeof Schema.String>> =>
  Schema.Struct(Object.fromEntries(path.names.map((name) => [name, Schema.String])))
