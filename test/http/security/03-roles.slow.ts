/** Security test 3: roles, every one of them by every method on every route of both tables. */
import { Catalogue, Records, Vocabulary } from "@bursar/engine-core"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Route, table } from "#host/api/Route.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import { tables } from "../tables.ts"
import * as Http from "../venue.ts"
import { json, open, type Problem, send, slugOf, type Venue } from "../venue.ts"

/** Each person's token is signed once: there are thousands of calls. */
const signed = new Map<string, Promise<string>>()
const bearer = (...args: Parameters<typeof Http.bearer>): Promise<string> => {
  const name = JSON.stringify(args)
  const token = signed.get(name) ?? Http.bearer(...args)
  signed.set(name, token)
  return token
}

const pathOf = (route: Route) => route.path.template.replaceAll(/\{[A-Za-z]+\}/g, "id-1")

/** The roles a route's declaration names, read off the declaration and not off the host. */
const declared = (route: Route): ReadonlyArray<string> | "anyone" => {
  switch (route.answers.with) {
    case "write": {
      const { makers, approvers } = route.answers.operation
      return approvers > 0 ? [...makers, "approver"] : makers
    }
    case "hand":
      return route.admits.by === "anyone"
        ? "anyone"
        : route.admits.by === "approver"
          ? ["approver"]
          : route.admits.roles
    default:
      return Object.keys(route.answers.read.audience)
  }
}

/** Every operation there is: what must not have grown where nothing may run. */
const operationsOf = (venue: Venue) =>
  venue.run(
    Effect.flatMap(Records, (records) =>
      Effect.map(records.list(operations, { limit: 1_000 }), (rows) => rows.length)
    )
  )

// Switched off in a copy and seen red: the roles in `judge` of Admission.ts.
describe.each([
  ["the tests' tables", tables],
  ["the engine's catalogue", { operations: Catalogue.operations, queries: Catalogue.queries }]
] as const)("%s", (_, served) => {
  let venue: Venue
  const routes = table(served)
  beforeAll(async () => {
    venue = await open({ tables: served })
  })
  afterAll(() => venue.close())

  const call = (route: Route, as?: string, method: string = route.path.method) =>
    send(venue, {
      method,
      path: pathOf(route),
      ...(as === undefined ? {} : { as }),
      // A body that no route takes: an empty one is all that some writes ask for.
      ...(method === "POST" ? { body: '{"no-such-member":0}' } : {})
    })

  /** Status of each route's own method by route and role, as the first of the tests saw it. */
  const answered = new Map<string, number>()

  it.each(routes.map((route) => [route.name, route] as const))(
    "%s admits the roles it declares and no other",
    async (_, route) => {
      const admitted = declared(route)
      for (const role of Vocabulary.Role.members) {
        const as = await bearer([role], { holder: "id-1", party: "registrar::1220aa" })
        const { status } = await call(route, as)
        answered.set(`${route.name} ${role}`, status)
        // An approver who repeats a call that nobody made has nothing to approve: denied, by its role
        // admitted. A route with a body refuses this one before that.
        if (role === "approver" && route.path.method === "DELETE") continue
        const expected = admitted === "anyone" || admitted.includes(role)
        expect([role, status !== 403]).toEqual([role, expected])
      }
    }
  )

  it("two roles admit where either does, and two that do not admit nowhere", async () => {
    // One route of each way to admit: roles are judged by the declaration alone.
    const each = new Map(
      routes.map((route) => [
        `${route.answers.with} ${route.path.method} ${declared(route)}`,
        route
      ])
    )
    expect(each.size).toBeGreaterThan(5)
    for (const route of each.values()) {
      const admitted = declared(route)
      // On approve an auditor is refused whatever else it holds.
      const [one] = admitted === "anyone" ? [] : admitted
      const others = Vocabulary.Role.members.filter(
        (role) => role !== "auditor" && admitted !== "anyone" && !admitted.includes(role)
      )
      const [second, third] = others
      if (one === undefined || second === undefined || third === undefined) continue
      const claims = { holder: "id-1", party: "registrar::1220aa" }
      const either = await call(route, await bearer([second, one], claims))
      expect([route.name, either.status === 403]).toEqual([route.name, false])
      const neither = await call(route, await bearer([second, third], claims))
      expect([route.name, neither.status]).toEqual([route.name, 403])
      // An unknown role neither removes nor adds a right.
      const beside = await call(route, await bearer(["god", one], claims))
      expect([route.name, beside.status === 403]).toEqual([route.name, false])
      const unknown = await call(route, await bearer(["god", second], claims))
      expect([route.name, unknown.status]).toEqual([route.name, 403])
      if (route.path.method !== "GET") continue
      const head = await call(route, await bearer([second, one], claims), "HEAD")
      expect([route.name, head.status]).toEqual([route.name, either.status])
      const noHead = await call(route, await bearer([second, third], claims), "HEAD")
      expect([route.name, noHead.status]).toEqual([route.name, 403])
    }
  })

  it.each(routes.map((route) => [route.name, route] as const))(
    "%s answers a HEAD where its GET refuses the role, or where there is nothing to read",
    async (_, route) => {
      const read = routes.some(
        ({ path }) => path.method === "GET" && path.template === route.path.template
      )
      const admitted = declared(route)
      const claims = { holder: "id-1", party: "registrar::1220aa" }
      for (const role of read ? Vocabulary.Role.members : (["operator", "feed"] as const)) {
        // A path that is read too is asked once, by its GET.
        if (read && route.path.method !== "GET") continue
        const as = await bearer([role], claims)
        const head = await call(route, as, "HEAD")
        expect([role, await head.text()]).toEqual([role, ""])
        if (!read) {
          expect([role, head.status]).toEqual([role, 405])
          continue
        }
        const expected = admitted === "anyone" || admitted.includes(role)
        expect([role, head.status !== 403]).toEqual([role, expected])
        // A stream has no end to wait for.
        if (head.headers.get("content-type") === "text/event-stream") continue
        expect([role, head.status]).toEqual([role, answered.get(`${route.name} ${role}`)])
      }
    }
  )

  it("nobody learns or runs anything by OPTIONS, whatever roles it comes with", async () => {
    const callers = [undefined, await bearer([]), await bearer(["god"])]
    const roles = Vocabulary.Role.members
    const before = await operationsOf(venue)
    for (const [nth, template] of [...new Set(routes.map(({ path }) => path.template))].entries()) {
      const own = routes.filter(({ path }) => path.template === template)
      const [first] = own
      if (first === undefined) continue
      const allow = own
        .flatMap(({ path: { method } }) => (method === "GET" ? ["GET", "HEAD"] : [method]))
        .toSorted()
      // Each path is asked by one of the roles in turn, and by a person of two.
      const person = [roles[nth % roles.length] ?? "operator", "approver"]
      for (const as of [...callers, await bearer(person)]) {
        const response = await call(first, as, "OPTIONS")
        const allowed = (response.headers.get("allow") ?? "").split(", ").toSorted()
        expect([template, response.status, allowed]).toEqual([template, 405, allow])
        expect(response.headers.get("access-control-allow-origin")).toBe(null)
      }
    }
    expect(await operationsOf(venue)).toEqual(before)
  })

  it("no bearer, no role and unknown roles get nowhere, HEAD included", async () => {
    const none = await bearer([])
    const unknown = await bearer(["god", "Operator", "operator "])
    for (const route of routes) {
      const expected = route.admits.by === "anyone" ? 200 : 401
      const { status } = await call(route)
      expect([route.name, expected === 401 ? status : 0]).toEqual([
        route.name,
        expected === 401 ? 401 : 0
      ])
      if (route.admits.by === "anyone") continue
      expect([route.name, (await call(route, none)).status]).toEqual([route.name, 403])
      expect([route.name, (await call(route, unknown)).status]).toEqual([route.name, 403])
      if (route.path.method !== "GET") continue
      expect([route.name, (await call(route, undefined, "HEAD")).status]).toEqual([route.name, 401])
      expect([route.name, (await call(route, none, "HEAD")).status]).toEqual([route.name, 403])
      expect([route.name, (await call(route, unknown, "HEAD")).status]).toEqual([route.name, 403])
    }
  })

  it("the routes that answer are those of the table: every method on every path", async () => {
    const operator = await bearer(["operator"])
    const byPath = Map.groupBy(routes, ({ path }) => path.template)
    for (const [template, own] of byPath) {
      const path = template.replaceAll(/\{[A-Za-z]+\}/g, "id-1")
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        const { status } = await send(venue, { method, path, as: operator })
        const there = own.some((route) => route.path.method === method)
        expect([method, path, status !== 405]).toEqual([method, path, there])
      }
    }
  })

  it("every refusal a call here met is one that its route's document lists", async () => {
    type Named = Readonly<Record<string, { readonly $ref?: string }>>
    const { components, paths } = await json<{
      readonly components: {
        readonly responses: Readonly<
          Record<string, { readonly "x-problems"?: ReadonlyArray<string> }>
        >
      }
      readonly paths: Readonly<Record<string, Record<string, { readonly responses: Named }>>>
    }>(await send(venue, { path: "/v1/openapi.json" }))
    for (const route of routes) {
      for (const role of ["operator", "feed"]) {
        const response = await call(route, await bearer([role]))
        if (response.status < 400) continue
        const operation = paths[route.path.template]?.[route.path.method.toLowerCase()]
        const reference = operation?.responses[String(response.status)]?.$ref ?? ""
        const listed = components.responses[reference.split("/").at(-1) ?? ""]?.["x-problems"]
        expect(listed).toContain(await slugOf(response))
      }
    }
  })
})

describe("a page of another origin that may ask", () => {
  it("never is told more than the methods before it shows who it is", async () => {
    const venue = await open({ origins: ["https://app.test"] })
    const headers = { origin: "https://app.test", "access-control-request-method": "POST" }
    for (const { path } of table(tables)) {
      const to = path.template.replaceAll(/\{[A-Za-z]+\}/g, "id-1")
      for (const as of [undefined, await bearer([]), await bearer(["operator"])]) {
        const request = { method: "OPTIONS", path: to, headers }
        const response = await send(venue, as === undefined ? request : { ...request, as })
        expect([to, response.status, await response.text()]).toEqual([to, 204, ""])
        expect(response.headers.get("allow")).toContain("OPTIONS")
      }
    }
    expect(await operationsOf(venue)).toBe(0)
    await venue.close()
  })
})

describe("own records", () => {
  let venue: Venue
  let operator: string
  beforeAll(async () => {
    venue = await open()
    operator = await bearer(["operator"])
    for (const id of ["a", "b"]) {
      const body = `{"holderId":"${id}","text":"one","amount":1,"owner":null}`
      await send(venue, { method: "POST", path: "/v1/holders", as: operator, body })
    }
    await venue.settle()
  })
  afterAll(() => venue.close())

  it("another's record answers as one that never was, byte for byte but the request id", async () => {
    const investor = await bearer(["investor"], { holder: "a" })
    const own = await send(venue, { path: "/v1/holders/a", as: investor })
    expect(own.status).toBe(200)
    const body = async (path: string) => {
      const { requestId: _, ...rest } = await json<Problem>(
        await send(venue, { path, as: investor })
      )
      return rest
    }
    expect(await body("/v1/holders/b")).toEqual(await body("/v1/holders/never"))
  })

  it("lists and streams hold nothing of another", async () => {
    const investor = await bearer(["investor"], { holder: "a" })
    for (const path of ["/v1/holders", "/v1/holders?limit=10", "/v1/holders?holderId=b"]) {
      const text = await (await send(venue, { path, as: investor })).text()
      expect(text).not.toContain('"holderId":"b"')
    }
  })

  it("another's cursor is refused", async () => {
    const page = await json<{ next: string }>(
      await send(venue, { path: "/v1/holders?limit=1", as: operator })
    )
    const investor = await bearer(["investor"], { holder: "a" })
    const response = await send(venue, {
      path: `/v1/holders?limit=1&after=${encodeURIComponent(page.next)}`,
      as: investor
    })
    expect([response.status, await slugOf(response)]).toEqual([400, "invalid-request"])
  })

  it("another's key and body make an operation of one's own", async () => {
    const sent = {
      method: "POST",
      path: "/v1/holders:onboard",
      body: '{"holderId":"shared"}',
      headers: { "idempotency-key": "shared-key" }
    }
    const one = await send(venue, { ...sent, as: operator })
    const other = await send(venue, { ...sent, as: await bearer(["app"]) })
    expect([one.status, other.status]).toEqual([202, 202])
    expect(other.headers.get("location")).not.toBe(one.headers.get("location"))
    expect(await other.text()).not.toContain("operator-1")
  })
})
