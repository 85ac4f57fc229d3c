/** Paths of declared routes: the only module that parses and prints colon verbs. */
import { Schema } from "effect"

export type Method = "GET" | "POST" | "DELETE"

/** A declared route, parsed. */
export interface Path {
  readonly method: Method
  /** Form of OpenAPI, spans and the route table: `/v1/holds/{holdId}:release`. */
  readonly template: `/v1/${string}`
  /** Form of the router and the client: `/v1/holds/:holdId:release`. */
  readonly pattern: `/v1/${string}`
  /** The names of its parameters, in order. */
  readonly names: ReadonlyArray<string>
  /** The segment after `/v1`, which determines the route's group. */
  readonly root: string
}

const route = /^(GET|POST|DELETE) (\/v1\/[A-Za-z0-9{}/:.-]+)$/

export const parse = (methodAndPath: string): Path => {
  const [, method, template] = route.exec(methodAndPath) ?? []
  const root = /^[a-z.-]+/.exec(template?.slice("/v1/".length) ?? "")?.[0]
  if (!isMethod(method) || !isTemplate(template) || root === undefined) {
    throw new Error(`no route: ${methodAndPath}`)
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
 * Schema of a path's parameters. Every endpoint with a colon in its path needs one, even without
 * parameters: otherwise the router and the document take `:onboard` for a parameter.
 */
export const params = (path: Path): Schema.Struct<Record<string, typeof Schema.String>> =>
  Schema.Struct(Object.fromEntries(path.names.map((name) => [name, Schema.String])))
