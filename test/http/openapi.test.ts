/**
 * OpenAPI document: complete, resolvable, generated, checked in, and equal to the behaviour on the
 * wire.
 */
import { readFileSync } from "node:fs"
import { Catalogue, Refusal } from "@bursar/engine-core"
import { describe, expect, it } from "vitest"
import { routes } from "#host/api/Api.ts"
import * as Document from "#host/api/Document.ts"
import * as PartNames from "#host/api/document/PartNames.ts"
import * as Refusals from "#host/api/document/Refusals.ts"
import { type Route, table } from "#host/api/Route.ts"
import { tables } from "./tables.ts"
import * as Witness from "./witness.ts"

type Json =
  | null
  | boolean
  | number
  | string
  | ReadonlyArray<Json>
  | { readonly [name: string]: Json }

const isObject = (json: Json | undefined): json is { readonly [name: string]: Json } =>
  typeof json === "object" && json !== null && !Array.isArray(json)

const listOf = (json: Json | undefined): ReadonlyArray<Json> => (Array.isArray(json) ? json : [])

const at = (json: Json, ...path: ReadonlyArray<string>): Json | undefined =>
  path.reduce<Json | undefined>((found, name) => (isObject(found) ? found[name] : undefined), json)

/** Every object of a document, with the names that lead to it. */
function* objects(
  json: Json,
  path: ReadonlyArray<string> = []
): Generator<readonly [{ readonly [name: string]: Json }, ReadonlyArray<string>]> {
  if (Array.isArray(json))
    for (const [i, item] of json.entries()) yield* objects(item, [...path, String(i)])
  if (!isObject(json)) return
  yield [json, path]
  for (const [name, member] of Object.entries(json)) yield* objects(member, [...path, name])
}

const documents: ReadonlyArray<readonly [string, ReadonlyArray<Route>]> = [
  ["the engine", routes],
  ["the tests' tables", table(tables)]
]

it("the checked-in document is the one the declarations give; npm run docs redraws it", () => {
  const file = new URL("../../packages/http-host/openapi.json", import.meta.url)
  expect(readFileSync(file, "utf8") === Document.text(routes)).toBe(true)
})

it("is at most 700 KB, so that tools and readers take it as one piece", () => {
  expect(Buffer.byteLength(Document.text(routes))).toBeLessThanOrEqual(700_000)
})

describe("a part that several components have", () => {
  const document: Json = JSON.parse(Document.text(routes))
  const schemas = at(document, "components", "schemas") ?? null

  it("has a name that the document uses, and stays the part of those that have it alike", () => {
    const names = [...Object.keys(PartNames.inner), ...Object.keys(PartNames.shared)]
    expect(names.filter((name) => at(schemas, name) === undefined)).toEqual([])
  })

  it("never is written twice: PartNames has a name for it", () => {
    const places = new Map<string, Array<string>>()
    for (const [object, path] of objects(schemas)) {
      if (!isObject(object.properties)) continue
      const text = JSON.stringify(object)
      places.set(text, [...(places.get(text) ?? []), path.join(".")])
    }
    const repeated = [...places].filter(([text, { length }]) => (length - 1) * text.length > 400)
    expect(repeated.map(([, where]) => where)).toEqual([])
  })
})

/** Bodies and answers without an example, each with its reason. */
const unshown: Readonly<Record<string, string>> = {
  "openapi.one 200 application/json": "the document is the example of itself",
  "external-statements.receive body application/xml": "its form is the standard's (ISO 20022)",
  "external-statements.receive body text/xml": "its form is the standard's (ISO 20022)"
}

describe("an example of the engine's document", () => {
  const document: Json = JSON.parse(Document.text(routes))
  const target = (pointer: ReadonlyArray<string>): ReadonlyArray<string> => {
    const $ref = at(document, ...pointer, "$ref")
    return typeof $ref === "string" ? $ref.slice(2).split("/") : pointer
  }
  /** Every body and answer with a form: its name, and where its media types lie. */
  const shown = routes.flatMap(({ name, path }) => {
    const own = ["paths", path.template, path.method.toLowerCase()]
    const statuses = Object.keys(at(document, ...own, "responses") ?? {})
    const places = [
      [`${name} body`, target([...own, "requestBody"])] as const,
      ...statuses.map(
        (status) => [`${name} ${status}`, target([...own, "responses", status])] as const
      )
    ]
    return places.flatMap(([what, place]) =>
      Object.keys(at(document, ...place, "content") ?? {}).map(
        (media) => [`${what} ${media}`, [...place, "content", media]] as const
      )
    )
  })
  const exampleAt = (place: ReadonlyArray<string>): Json | undefined => {
    const [name] = Object.keys(at(document, ...place, "examples") ?? {})
    return name === undefined
      ? at(document, ...place, "example")
      : at(document, ...target([...place, "examples", name]), "value")
  }

  it("is there for every body and every answer, but for those that say why not", () => {
    const lacking = shown.filter(([, place]) => exampleAt(place) === undefined)
    expect(lacking.map(([what]) => what).toSorted()).toEqual(Object.keys(unshown).toSorted())
  })

  it.skipIf(!Witness.installed)("is of the form that it is an example of", () => {
    const shapes = Witness.shapesOf(document)
    const wrong = shown.flatMap(([what, place]) => {
      const example = exampleAt(place)
      return example === undefined
        ? []
        : shapes([...place, "schema"], example).map((fault) => `${what}: ${fault}`)
    })
    expect(wrong).toEqual([])
  })

  it("keeps every digit of the number that was answered", () => {
    expect(Document.text(routes)).toMatch(/"example":\{[^\n]*"price":1\.0000000000/)
  })
})

describe.each(documents)("the document of %s", (_, routes) => {
  const document: Json = JSON.parse(Document.text(routes))
  /** Resolves a value that is a reference to the value that it refers to. */
  const deref = (json: Json | undefined): Json =>
    isObject(json) && typeof json.$ref === "string"
      ? deref(at(document, ...json.$ref.slice(2).split("/")))
      : (json ?? null)
  const operationOf = ({ path }: Route) =>
    at(document, "paths", path.template, path.method.toLowerCase())

  it("is OpenAPI 3.1.0 and every reference in it leads somewhere", () => {
    expect(at(document, "openapi")).toBe("3.1.0")
    for (const [object, path] of objects(document)) {
      if (typeof object.$ref !== "string") continue
      const target = at(document, ...object.$ref.slice(2).split("/"))
      expect([path.join("/"), object.$ref, target === undefined]).toEqual([
        path.join("/"),
        object.$ref,
        false
      ])
    }
  })

  it("has exactly the routes of the table, each by its own name", () => {
    const shown = Object.entries(at(document, "paths") ?? {}).flatMap(([path, item]) =>
      Object.keys(item as object).map((method) => `${method.toUpperCase()} ${path}`)
    )
    expect(shown.toSorted()).toEqual(
      routes.map(({ path }) => `${path.method} ${path.template}`).toSorted()
    )
    for (const route of routes) {
      expect(at(operationOf(route) ?? null, "operationId")).toBe(route.name)
    }
  })

  it("says of every route who may call it, and every refusal with its own status", () => {
    for (const route of routes) {
      const operation = operationOf(route) ?? null
      const problems = Refusals.of(route)
      const responses = Object.values(at(operation, "responses") ?? {})
      const listed = responses.flatMap((answer) => at(deref(answer), "x-problems") ?? [])
      expect(listed.toSorted()).toEqual(problems.toSorted())
      for (const slug of problems) {
        const { status, title } = Refusal.rowOf({ slug })
        const refusal = deref(at(operation, "responses", String(status)))
        expect(at(refusal, "description")).toContain(`${slug}: ${title}`)
        const answer = at(refusal, "content", "application/problem+json") ?? null
        expect([route.name, slug, at(answer, "schema")]).toEqual([
          route.name,
          slug,
          { $ref: "#/components/schemas/Problem" }
        ])
      }
      const open = route.admits.by === "anyone"
      const schemes = [
        "bearer",
        "signatureKey",
        "signatureTimestamp",
        "signatureNonce",
        "signature"
      ]
      const signed = Object.fromEntries(schemes.map((name) => [name, []]))
      const security = at(operation, "security") ?? at(document, "security")
      expect(security).toEqual(open ? [] : [{ bearer: [] }, signed])
      if (!open) expect(at(operation, "x-roles")).not.toEqual([])
    }
  })

  it("says of every answer which headers it has: what is left to ask, when to ask again", () => {
    for (const route of routes) {
      const responses = at(operationOf(route) ?? null, "responses")
      if (!isObject(responses)) throw new Error(`${route.name} answers nothing`)
      for (const [status, answer] of Object.entries(responses)) {
        const headers = Object.keys(at(deref(answer), "headers") ?? {})
        const where = [route.name, status]
        expect([...where, headers.includes("X-Request-Id")]).toEqual([...where, true])
        if (status === "304") continue
        const limited = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
        const isIdentified = route.admits.by !== "anyone"
        // Refusals of the request itself tell a signed-in caller its budget on public routes too.
        const isOfTheRequest = ["400", "414", "431"].includes(status)
        expect([...where, limited.every((name) => headers.includes(name))]).toEqual([
          ...where,
          isOfTheRequest || isIdentified
        ])
        const again = Refusals.of(route)
          .map((slug) => Refusal.rowOf({ slug }))
          .some((row) => row.retryable && String(row.status) === status)
        if (again) expect([...where, headers.includes("Retry-After")]).toEqual([...where, true])
        expect(headers.includes("WWW-Authenticate")).toBe(status === "401")
      }
    }
  })

  it("says what the engine posts itself: a control event, with the headers of a delivery", () => {
    const delivery = at(document, "webhooks", "controlEvent", "post") ?? null
    const parameters = at(delivery, "parameters")
    if (!Array.isArray(parameters)) throw new Error("a delivery without headers")
    expect(parameters.map((parameter) => at(parameter, "name"))).toEqual([
      "webhook-id",
      "webhook-timestamp",
      "webhook-signature",
      "X-Webhook-Id",
      "X-Webhook-Attempt",
      "traceparent"
    ])
    expect(at(delivery, "requestBody", "content", "application/json", "schema")).toEqual({
      $ref: "#/components/schemas/Event"
    })
  })

  it("has words and an example on every parameter, and every path parameter is there once", () => {
    for (const route of routes) {
      const parameters = at(operationOf(route) ?? null, "parameters")
      if (!Array.isArray(parameters)) throw new Error(`${route.name} has no parameters`)
      const own = parameters.map(deref)
      for (const parameter of own) {
        expect([route.name, at(parameter, "name"), at(parameter, "example") === undefined]).toEqual(
          [route.name, at(parameter, "name"), false]
        )
        expect([at(parameter, "name"), at(parameter, "description")]).toEqual([
          at(parameter, "name"),
          expect.stringMatching(/^([A-Z]|wait=N).*\.$/)
        ])
      }
      const inPath = own.filter((parameter) => at(parameter, "in") === "path")
      expect(inPath.map((parameter) => at(parameter, "name"))).toEqual(route.path.names)
      const body = at(
        operationOf(route) ?? null,
        "requestBody",
        "content",
        "application/json",
        "schema",
        "properties"
      )
      for (const name of route.path.names) expect(at(body ?? null, name)).toBeUndefined()
    }
  })

  it("shows the sets its routes use, closed ones as enums, all others open", () => {
    const closed = new Set(
      Catalogue.valueSets.filter(({ growth }) => growth === "closed").map(({ name }) => name)
    )
    const sets = [
      ...Catalogue.valueSets.map(({ name, members }) => [name, members] as const),
      ...[...Catalogue.machines, ...Catalogue.judged].map(
        ({ name, states }) => [name, Object.keys(states)] as const
      )
    ]
    for (const [name, members] of sets) {
      const shown = at(document, "components", "schemas", name)
      if (shown === undefined) continue
      if (closed.has(name)) {
        expect([name, at(shown ?? null, "enum")]).toEqual([name, members])
      } else {
        expect([name, at(shown ?? null, "x-extensible")]).toEqual([name, true])
        expect(at(shown ?? null, "anyOf")).toEqual([
          { type: "string", enum: members },
          { type: "string" }
        ])
      }
    }
  })

  it("shows no set twice, no `nullable`, no multipleOf, and no decimal as a text", () => {
    const names = Object.keys(at(document, "components", "schemas") ?? {})
    expect(names.filter((name) => /_\d+$|\d$/.test(name))).toEqual([])
    for (const [object, path] of objects(document)) {
      if (path.includes("example") || path.includes("examples")) continue
      expect(object.multipleOf).toBeUndefined()
      expect(path.at(-1) === "properties" ? undefined : object.nullable).toBeUndefined()
      if (object.format === "decimal")
        expect(["number", "string"]).toContain([object.type].flat()[0])
    }
  })

  it("shows nothing that no route uses", () => {
    const used = new Set(
      [...objects(document)].flatMap(([{ $ref }]) => (typeof $ref === "string" ? [$ref] : []))
    )
    const parts = ["schemas", "parameters", "requestBodies", "headers", "responses", "examples"]
    for (const part of parts) {
      for (const name of Object.keys(at(document, "components", part) ?? {})) {
        const path = `#/components/${part}/${name}`
        expect([path, used.has(path)]).toEqual([path, true])
      }
    }
  })

  /** Members of a schema and of all its parts. */
  const shapeOf = (
    json: Json | undefined
  ): { readonly members: ReadonlyArray<string>; readonly required: ReadonlyArray<Json> } => {
    const schema = deref(json)
    const parts = listOf(at(schema, "allOf")).map(shapeOf)
    return {
      members: [
        ...Object.keys(at(schema, "properties") ?? {}),
        ...parts.flatMap(({ members }) => members)
      ].toSorted(),
      required: [
        ...listOf(at(schema, "required")),
        ...parts.flatMap(({ required }) => required)
      ].toSorted()
    }
  }

  const writes = routes.flatMap(({ answers, path }) =>
    answers.with === "write" ? [{ operation: answers.operation, path }] : []
  )

  it("says of the answer of every write which kind it is, what was sent, and what came of it", () => {
    for (const { operation, path } of writes) {
      const shown = at(document, "paths", path.template, path.method.toLowerCase()) ?? null
      for (const status of ["200", "202"]) {
        const answer = deref(at(shown, "responses", status))
        const schema = deref(at(answer, "content", "application/json", "schema"))
        const [common, own = null, ...others] = listOf(at(schema, "allOf"))
        expect([common, others]).toEqual([{ $ref: "#/components/schemas/WriteAnswer" }, []])
        expect(at(own, "required")).toEqual(["kind", "request", "result"])
        expect(at(own, "properties", "kind")).toEqual({ type: "string", const: operation.kind })
        const sent = shapeOf(at(own, "properties", "request"))
        const requestBody = deref(at(shown, "requestBody"))
        const body = shapeOf(at(requestBody, "content", "application/json", "schema"))
        const ifMatch = operation.ifMatch === undefined ? [] : [operation.ifMatch]
        expect([operation.kind, sent.members]).toEqual([
          operation.kind,
          [...new Set([...body.members, ...path.names, ...ifMatch])].toSorted()
        ])
        expect(sent.required).toEqual([...body.required, ...path.names].toSorted())
      }
    }
  })

  it("never shows the secret of a request as one that a call would take", () => {
    for (const { operation } of writes) {
      const name = nameOf(operation.kind)
      const [, own = null] = listOf(at(document, "components", "schemas", `${name}Answer`, "allOf"))
      for (const secret of Object.keys(operation.secrets ?? {})) {
        expect(at(own, "properties", "request", "properties", secret)).toEqual({
          type: ["string", "null"],
          description: "Masked: a few digits of it or of its SHA-256."
        })
      }
    }
  })

  it("says of the body of every write that it takes no member but its own", () => {
    for (const { path } of writes) {
      const shown = at(document, "paths", path.template, path.method.toLowerCase()) ?? null
      const requestBody = deref(at(shown, "requestBody"))
      const schema = at(requestBody, "content", "application/json", "schema")
      if (schema === undefined) continue
      const closed = at(schema, "unevaluatedProperties") ?? at(schema, "additionalProperties")
      expect([path.template, closed]).toEqual([path.template, false])
    }
  })

  const nameOf = (kind: string): string =>
    kind.replaceAll(/(?:^|[.-])([a-z])/g, (_, letter: string) => letter.toUpperCase())

  it("leaves answers open and closes requests", () => {
    const inRequests = new Set(
      routes.flatMap((route) => [...reachedBy(at(operationOf(route) ?? null, "requestBody"))])
    )
    for (const [object, path] of objects(document)) {
      if (object.additionalProperties !== false) continue
      const [, kind, name] = path
      expect(
        path.includes("requestBody") ||
          kind === "requestBodies" ||
          (kind === "schemas" && inRequests.has(String(name)))
      ).toBe(true)
    }
  })

  it("requires every member of every answer, at every depth", () => {
    const answered = new Set(
      routes.flatMap((route) => [...reachedBy(at(operationOf(route) ?? null, "responses"))])
    )
    expect(answered.has("Problem")).toBe(true)
    for (const name of answered) requiresAll(at(document, "components", "schemas", name), name)
    for (const route of routes) {
      requiresAll(at(operationOf(route) ?? null, "responses"), route.name)
    }
  })

  /** The components that a part refers to, and those that they refer to. */
  const reachedBy = (json: Json | undefined, found = new Set<string>()): ReadonlySet<string> => {
    for (const [{ $ref }] of objects(json ?? null)) {
      if (typeof $ref !== "string") continue
      const name = $ref.replace("#/components/schemas/", "")
      if (name === $ref) reachedBy(deref({ $ref }), found)
      else if (!found.has(name)) {
        found.add(name)
        reachedBy(deref({ $ref }), found)
      }
    }
    return found
  }

  const sent = new Set(writes.map(({ operation }) => `${nameOf(operation.kind)}Body`))
  /** A request that is shown again has the members that its caller sent; any other answer has every member. */
  const requiresAll = (json: Json | undefined, name: string) => {
    if (sent.has(name) || name.endsWith("AsSent")) return
    for (const [object, path] of objects(json ?? null)) {
      if (!isObject(object.properties) || path.includes("example")) continue
      if (path.includes("request")) continue
      expect([name, object.required]).toEqual([name, Object.keys(object.properties)])
    }
  }
})
