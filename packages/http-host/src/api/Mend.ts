/** What the generator of the document does not know: roles, refusals, headers, open sets, examples. */
import { Catalogue, Refusal } from "@bursar/engine-core"
import type { OpenApi } from "effect/http-api"
import type { OpenAPIV3_1 } from "openapi-types"
import * as Body from "../wire/Body.ts"
import * as Params from "./Params.ts"
import type { Route } from "./Route.ts"

type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
interface JsonObject {
  readonly [member: string]: Json | undefined
}

export type Document = OpenAPIV3_1.Document

type Operation = OpenApi.OpenAPISpecOperation

/** Refusals that any route can give, and those that any route with a caller can. */
const always = ["invalid-request", "not-found", "uri-too-long", "headers-too-large", "internal"]
const signedIn = [
  "unauthenticated",
  "permission-denied",
  "not-acceptable",
  "identity-provider-unavailable",
  "not-ready",
  "overloaded"
]
const withBody = ["body-too-large", "unsupported-media-type", "request-timeout"]

/** Every slug a route can answer with, in the order of the table of refusals. */
export const problemsOf = (route: Route): ReadonlyArray<Refusal.Slug> => {
  const given = new Set<string>([
    ...always,
    ...(route.admits.by === "anyone" ? [] : signedIn),
    ...(route.bodyMax === 0 ? [] : withBody),
    ...route.refuses
  ])
  return slugs.filter((slug) => given.has(slug))
}

const isSlug = (text: string): text is Refusal.Slug => text in Refusal.refusals
const slugs = Object.keys(Refusal.refusals).filter(isSlug)

export const document = (
  spec: OpenApi.OpenAPISpec,
  routes: ReadonlyArray<Route>,
  extensible: ReadonlySet<string>
): Document => {
  for (const route of routes) mendOperation(operationAt(spec, route), route)
  const { schemas, ...components } = spec.components
  const once = withoutDoubles(mendSchemas(nullable(jsonOf(schemas)), extensible))
  return {
    ...spec,
    security: [{ bearer: [] }],
    paths: walk(nullable(jsonOf(spec.paths)), once.redirect),
    components: {
      ...components,
      parameters: sharedParameters,
      securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
      schemas: walk(once.schemas, once.redirect)
    }
  } as unknown as Document
}

const operationAt = (spec: OpenApi.OpenAPISpec, { path }: Route): Operation => {
  const item = spec.paths[path.template]
  const operation = item?.[methodOf[path.method]]
  if (operation === undefined) throw new Error(`the document lacks ${path.method} ${path.template}`)
  return operation
}

const methodOf = { GET: "get", POST: "post", DELETE: "delete" } as const

const mendOperation = (operation: Operation, route: Route): void => {
  const { admits, answers } = route
  const problems = problemsOf(route)
  Object.assign(operation, {
    operationId: route.name,
    summary: route.name,
    description: route.doc,
    security: admits.by === "anyone" ? [] : [{ bearer: [] }],
    "x-roles": admits.by === "anyone" ? [] : admits.by === "approver" ? ["approver"] : admits.roles,
    ...(answers.with === "write"
      ? { "x-approvers": answers.operation.approvers, "x-slow": "operation" }
      : {}),
    ...(answers.with === "list" ? { "x-order": answers.read.order } : {}),
    "x-problems": problems
  })
  mendParameters(operation, route)
  mendBody(operation, route)
  mendAnswers(operation, route, problems)
}

// Parameters

interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly schema: object
  readonly required: boolean
  readonly description?: string
  readonly example?: Json
}

const instant = { type: "string", format: "date-time" }
const id = { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$" }

const sharedParameters = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    required: false,
    description:
      "Names the call; every answer repeats it. The engine makes one where none is sent.",
    schema: { type: "string", pattern: "^[\\x21-\\x7E]{1,128}$" },
    example: "req-2026-07-31-0001"
  },
  TraceParent: {
    name: "traceparent",
    in: "header",
    required: false,
    description: "W3C trace context, which the engine joins.",
    schema: { type: "string" },
    example: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description: "Names the write: the same key and body again answer what the write already is.",
    schema: { type: "string", pattern: "^[\\x21-\\x7E]{1,255}$" },
    example: "0d6a1f2e-8c1c-4a5e-9b0a-6d2f5f0c9a11"
  }
} as const

const standard: Readonly<Record<string, Omit<Parameter, "name" | "in" | "required">>> = {
  at: {
    schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    description: "Reads at that offset; not with asOf.",
    example: 1204
  },
  asOf: {
    schema: instant,
    description: "Reads as of that instant; not with at.",
    example: "2026-07-31T16:00:00Z"
  },
  limit: {
    schema: { type: "integer", minimum: 1, maximum: Params.limitMax },
    description: "Records on a page; absent means every record.",
    example: 50
  },
  after: {
    schema: { type: "string", maxLength: 512 },
    description: "The previous page's next.",
    example: "AQEAaG9sZGVycw"
  },
  updatedFrom: {
    schema: instant,
    description: "Records updated at that instant or later.",
    example: "2026-07-31T00:00:00Z"
  },
  updatedTo: {
    schema: instant,
    description: "Records updated before that instant.",
    example: "2026-08-01T00:00:00Z"
  }
}

const mendParameters = (operation: Operation, route: Route): void => {
  const { answers, path } = route
  const inPath = new Set(path.names)
  const own = operation.parameters.filter(
    (parameter) => parameter.in === "query" && !inPath.has(parameter.name)
  )
  const shared = answers.with === "one" || answers.with === "list" ? Params.names(answers.read) : []
  const parameters: ReadonlyArray<Parameter> = [
    ...path.names.map((name) => ({
      name,
      in: "path" as const,
      required: true,
      schema: id,
      example: `${name.replace(/(Id|Key)$/, "")}-1`
    })),
    ...own.map((parameter) => queryParameter(parameter.name, parameter.required, parameter.schema)),
    ...[...shared].map((name) => queryParameter(name, false, {}))
  ]
  const refs = [
    ...(route.path.method === "GET" ? [] : ["IdempotencyKey"]),
    "RequestId",
    "TraceParent"
  ].map((name) => ({ $ref: `#/components/parameters/${name}` }))
  Object.assign(operation, { parameters: [...parameters, ...refs] })
}

const queryParameter = (name: string, required: boolean, schema: object): Parameter => ({
  name,
  in: "query",
  required,
  schema,
  example: exampleOf(name, schema),
  ...standard[name]
})

/** The first member of every declared set, by the set's name. */
const firstMember = new Map<string, string | undefined>([
  ...Catalogue.valueSets.map(({ name, members }) => [name, members[0]] as const),
  ...[...Catalogue.machines, ...Catalogue.judged].map(
    ({ name, states }) => [name, Object.keys(states)[0]] as const
  )
])

/** A value such as the parameter takes. */
const exampleOf = (name: string, schema: object): Json => {
  const shape = jsonOf(schema)
  if (isArray(shape.enum)) return shape.enum[0] ?? null
  if (isObject(shape.items)) return [exampleOf(name, shape.items)]
  if (typeof shape.$ref === "string") {
    return firstMember.get(shape.$ref.slice(shape.$ref.lastIndexOf("/") + 1)) ?? null
  }
  if (shape.format === "date-time") return "2026-07-31T16:00:00Z"
  if (shape.format === "date") return "2026-07-31"
  return `${name.replace(/Id$/, "")}-1`
}

// Bodies

const mendBody = (operation: Operation, { path }: Route): void => {
  const content = operation.requestBody?.content[Body.mediaType]
  if (operation.requestBody === undefined || content === undefined) return
  const shape = jsonOf(content.schema)
  if (!isObject(shape.properties)) return
  const inPath = new Set(path.names)
  const properties = Object.fromEntries(
    Object.entries(shape.properties).filter(([name]) => !inPath.has(name))
  )
  const required = isArray(shape.required)
    ? shape.required.filter((name) => typeof name !== "string" || !inPath.has(name))
    : []
  Object.assign(content, {
    schema: {
      ...shape,
      properties,
      ...(required.length === 0 ? { required: undefined } : { required })
    }
  })
  Object.assign(operation.requestBody, { required: required.length > 0 })
}

// Answers

const text = { schema: { type: "string" } }
const integer = { schema: { type: "integer" } }

const mendAnswers = (
  operation: Operation,
  route: Route,
  problems: ReadonlyArray<Refusal.Slug>
): void => {
  const requestId = { "X-Request-Id": { ...text, description: "Repeats or names the call." } }
  for (const [status, answer] of Object.entries(operation.responses)) {
    const written =
      route.path.method === "GET" || route.name === "approvals.reject"
        ? {}
        : {
            Location: { ...text, description: "Where the write is read." },
            "Retry-After": { ...integer, description: "Seconds after which to look again." },
            ...(status === "200"
              ? {
                  "Idempotent-Replayed": {
                    ...text,
                    description: "true: the write was there already."
                  }
                }
              : {})
          }
    for (const media of Object.values(answer.content ?? {})) {
      Object.assign(media, { schema: walk(jsonOf(media.schema), open) })
    }
    Object.assign(answer, { description: answered(status), headers: { ...requestId, ...written } })
  }
  for (const [status, slugs] of byStatus(problems)) {
    Object.assign(operation.responses, {
      [status]: {
        description: slugs.map((slug) => `${slug}: ${Refusal.refusals[slug].title}`).join(" "),
        headers: requestId,
        content: {
          [Body.problemMediaType]: { schema: { $ref: "#/components/schemas/Problem" } }
        }
      }
    })
  }
}

const answered = (status: string): string =>
  status === "202" ? "Accepted: what the write is now." : "The answer."

const byStatus = (
  problems: ReadonlyArray<Refusal.Slug>
): ReadonlyMap<number, ReadonlyArray<Refusal.Slug>> =>
  Map.groupBy(problems, (slug) => Refusal.refusals[slug].status)

// Schemas

const isArray = (json: Json | undefined): json is ReadonlyArray<Json> => Array.isArray(json)
const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !isArray(json)

/** The generator types its schemas loosely; what they are is JSON. */
const jsonOf = (schema: object): JsonObject => schema as JsonObject

/** OpenAPI 3.1 writes "T or null" as a list of types, which every reader of it knows. */
const nullable = (of: JsonObject): JsonObject => walkObject(of, collapse)

type Change = (object: JsonObject) => JsonObject

const walk = (json: Json, change: Change): Json => {
  if (isArray(json)) return json.map((item) => walk(item, change))
  return isObject(json) ? walkObject(json, change) : json
}

const walkObject = (json: JsonObject, change: Change): JsonObject => {
  const members = Object.entries(json).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, walk(value, change)] as const]
  )
  return change(Object.fromEntries(members))
}

const collapse = (object: JsonObject): JsonObject => {
  const { anyOf, ...rest } = object
  if (!isArray(anyOf) || anyOf.length > 2) return object
  const [one, other] = anyOf
  // A choice of one is no choice.
  if (isObject(one) && other === undefined) return { ...one, ...rest }
  if (!isObject(one) || !isObject(other) || other.type !== "null") return object
  if (typeof one.type !== "string" || isArray(one.enum)) return object
  return { ...one, ...rest, type: [one.type, "null"] }
}

/** Answers may gain members; sets that may gain values say so. */
const mendSchemas = (schemas: JsonObject, extensible: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(
    Object.entries(schemas)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => [
        name,
        extensible.has(name) && isObject(schema) ? opened(schema) : walk(schema ?? null, open)
      ])
  )

const open = ({ additionalProperties, ...rest }: JsonObject): JsonObject =>
  additionalProperties === false || additionalProperties === undefined
    ? rest
    : { ...rest, additionalProperties }

const opened = ({ type, enum: values, ...rest }: JsonObject): JsonObject => ({
  ...rest,
  anyOf: [{ type, enum: values }, { type: "string" }],
  "x-extensible": true
})

/** A schema that the generator met in two guises is shown once, under its own name. */
const withoutDoubles = (schemas: JsonObject) => {
  const same = new Map<string, string>()
  for (const [name, schema] of Object.entries(schemas)) {
    const own = name.replace(/_\d+$/, "")
    if (own !== name && JSON.stringify(schemas[own]) === JSON.stringify(schema)) same.set(name, own)
  }
  const redirect = (object: JsonObject): JsonObject => {
    const named = typeof object.$ref === "string" ? object.$ref.split("/").at(-1) : undefined
    const own = named === undefined ? undefined : same.get(named)
    return own === undefined ? object : { ...object, $ref: `#/components/schemas/${own}` }
  }
  const kept = Object.entries(schemas).filter(([name]) => !same.has(name))
  return { schemas: Object.fromEntries(kept), redirect }
}
