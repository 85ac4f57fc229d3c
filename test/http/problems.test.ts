/** Refusals of the host that its routes can give today, each reached over HTTP. */
import { Refusal } from "@bursar/engine-core"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bearer, json, open, type Problem, raw, send, slugOf, type Venue } from "./venue.ts"

let venue: Venue
let operator: string
beforeAll(async () => {
  venue = await open()
  operator = await bearer(["operator"])
})
afterAll(() => venue.close())

const note = (id: string, members = "") =>
  `{"holderId":"${id}","text":"one","amount":1,"owner":null${members}}`
const post = (body: string, headers: Record<string, string> = {}) =>
  send(venue, { method: "POST", path: "/v1/holders", as: operator, body, headers })

const faultsOf = async (response: Response) =>
  ((await json<Problem>(response)).errors ?? []).map(({ pointer }) => pointer)

describe("invalid-request", () => {
  const bodies = [
    ["malformed JSON", "{", "/body"],
    ["text after the value", "{} {}", "/body"],
    ["a repeated member", '{"holderId":"a","holderId":"a"}', "/body/holderId"],
    ["a member repeated with an escape", '{"a":1,"\\u0061":1}', "/body/a"],
    ["__proto__", '{"__proto__":{"x":1}}', "/body/__proto__"],
    ["an array", "[]", "/body"],
    ["an unknown member", note("x", ',"state":"closed"'), "/body/state"],
    [
      "a wrong type deep inside",
      note("x", ',"terms":{"lines":[{"a/b~c":"1"}]}'),
      "/body/terms/lines/0/a~1b~0c"
    ],
    ["an exponent", note("x").replace('"amount":1', '"amount":1e3'), "/body/amount"],
    ["a string for a decimal", note("x").replace('"amount":1', '"amount":"1"'), "/body/amount"],
    ["an id with a colon", note("a:b"), "/body/holderId"]
  ] as const
  it.each(bodies)("%s is refused and nothing is made of it", async (_, body, pointer) => {
    const response = await post(body)
    expect(response.status).toBe(400)
    const problem = await json<Problem>(response.clone())
    expect(await slugOf(response)).toBe("invalid-request")
    expect(problem.errors?.map(({ pointer }) => pointer)).toContain(pointer)
  })

  it("every fault of path, query, header and body is in one answer", async () => {
    const response = await send(venue, {
      method: "POST",
      path: "/v1/holders?dry=1",
      as: operator,
      body: '{"holderId":":","text":5,"amount":"x","more":1}',
      headers: { "idempotency-key": "has space" }
    })
    expect(new Set(await faultsOf(response))).toEqual(
      new Set([
        "/header/idempotency-key",
        "/query/dry",
        "/body/holderId",
        "/body/text",
        "/body/amount",
        "/body/owner",
        "/body/more"
      ])
    )
  })

  const queries = [
    ["limit=0", ["/query/limit"]],
    ["limit=1001", ["/query/limit"]],
    ["limit=1&limit=2", ["/query/limit"]],
    ["limit=1e2", ["/query/limit"]],
    ["at=-1", ["/query/at"]],
    ["at=01", ["/query/at"]],
    ["at=1&asOf=2026-01-01T00:00:00Z", ["/query/at", "/query/asOf"]],
    ["at=1&asOf=2026-01-01T00:00:00Z&limit=0", ["/query/at", "/query/asOf", "/query/limit"]],
    ["asOf=yesterday", ["/query/asOf"]],
    ["text=four", ["/query/text"]],
    ["text=one&text=four&text=five", ["/query/text"]],
    ["holderId=a&holderId=b", ["/query/holderId"]],
    ["nothing=1", ["/query/nothing"]],
    ["__proto__=1", ["/query/__proto__"]],
    ["holderId=%ff", ["/query/holderId"]],
    ["holderId=%00", ["/query/holderId"]],
    ["updatedFrom=1", ["/query/updatedFrom"]],
    ["after=nonsense", ["/query/after"]],
    [`after=${"a".repeat(513)}`, ["/query/after"]]
  ] as const
  it.each(queries)("?%s is refused by its name", async (query, pointers) => {
    const response = await send(venue, { path: `/v1/holders?${query}`, as: operator })
    expect(response.status).toBe(400)
    expect(await faultsOf(response)).toEqual([...pointers])
  })

  it("a parameter that takes one value and comes twice is said to, not to be wrong", async () => {
    const errorsOf = async (query: string) =>
      (await json<Problem>(await send(venue, { path: `/v1/${query}`, as: operator }))).errors?.map(
        ({ pointer, detail }) => [pointer, detail]
      )
    const twice = "it is given more than once"
    expect(await errorsOf("events?order=asc&order=asc")).toEqual([["/query/order", twice]])
    expect(await errorsOf("holders?limit=1&limit=1")).toEqual([["/query/limit", twice]])
    expect(await errorsOf("holders?text=one&text=four")).not.toContainEqual(["/query/text", twice])
  })

  it("a query of 101 parameters, or one repeated 51 times, is refused; at the limit it is not", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `p${i}=1`).join("&")
    const over = await json<Problem>(
      await send(venue, { path: `/v1/holders?${many(101)}`, as: operator })
    )
    expect(over.errors).toEqual([{ pointer: "/query", detail: expect.stringContaining("100") }])
    const same = (count: number) => Array.from({ length: count }, () => "text=one").join("&")
    expect((await send(venue, { path: `/v1/holders?${same(51)}`, as: operator })).status).toBe(400)
    expect((await send(venue, { path: `/v1/holders?${same(50)}`, as: operator })).status).toBe(200)
  })

  it("an Idempotency-Key that comes twice, is too long or holds a space is refused", async () => {
    for (const key of ["a b", "x".repeat(256), "", '"']) {
      const response = await post(note("k"), { "idempotency-key": key })
      expect([key, response.status]).toEqual([key, key === '"' ? 202 : 400])
    }
    const twice = await raw(
      venue.port,
      `POST /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${operator}\r\nIdempotency-Key: a\r\nIdempotency-Key: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`
    )
    expect(twice).toMatch(/^HTTP\/1.1 400/)
    expect(twice).toContain("/header/idempotency-key")
  })
})

describe("statuses", () => {
  it("401 without a bearer says how to sign in", async () => {
    const response = await send(venue, { path: "/v1/holders" })
    expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"')
    expect(response.status).toBe(401)
    expect(await slugOf(response)).toBe("unauthenticated")
  })

  it("403 for a role that is not admitted", async () => {
    const response = await send(venue, { path: "/v1/holders", as: await bearer(["feed"]) })
    expect([response.status, await slugOf(response)]).toEqual([403, "permission-denied"])
  })

  it("404 for a route and for a record, as problems", async () => {
    for (const path of [
      "/v1/nothing",
      "/",
      "/v2/holders",
      "/metrics",
      "/livez",
      "/v1/holders/absent"
    ]) {
      const response = await send(venue, { path, as: operator })
      expect([path, response.status, await slugOf(response)]).toEqual([path, 404, "not-found"])
    }
  })

  it("405 with what the route takes", async () => {
    for (const [method, path, allow] of [
      ["DELETE", "/v1/holders", "GET, HEAD, POST"],
      ["PUT", "/v1/holders/h-1", "GET, HEAD"],
      ["GET", "/v1/holders:onboard", "POST"],
      ["OPTIONS", "/v1/holders", "GET, HEAD, POST"]
    ] as const) {
      const response = await send(venue, { method, path, as: operator })
      expect([response.status, response.headers.get("allow")]).toEqual([405, allow])
      expect(await slugOf(response)).toBe("method-not-allowed")
    }
    expect(
      await raw(venue.port, "TRACE /v1/holders HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    ).toMatch(/^HTTP\/1.1 405/)
  })

  it("406 when JSON is excluded, and not when it is merely not first", async () => {
    const ask = async (accept: string) =>
      (await send(venue, { path: "/v1/holders?limit=1", as: operator, headers: { accept } })).status
    expect(await ask("text/csv")).toBe(406)
    expect(await ask("application/json;q=0, text/csv")).toBe(406)
    expect(await ask("text/html, application/json;q=0.1")).toBe(200)
    expect(await ask("application/*")).toBe(200)
  })

  it("409 already-exists is the operation's problem, with the call's request id", async () => {
    await post(note("twice"), { "idempotency-key": "t-1" })
    const again = await post(note("twice"), {
      "idempotency-key": "t-2",
      "x-request-id": "the-call"
    })
    expect(again.status).toBe(202)
    await venue.settle()
    const read = await send(venue, { path: again.headers.get("location") ?? "", as: operator })
    const { value } = await json<{ value: { state: string; problem: Problem } }>(read)
    expect(value.state).toBe("failed")
    expect(value.problem.type).toBe("urn:bursar:problem:already-exists")
    expect(value.problem.requestId).toBe("the-call")
  })

  it("413 as soon as a body is too long, announced or not, and then the connection ends", async () => {
    const announced = await raw(
      venue.port,
      `POST /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${operator}\r\nContent-Type: application/json\r\nContent-Length: ${1024 * 1024 + 1}\r\n\r\n`
    )
    expect(announced).toMatch(/^HTTP\/1.1 413/)
    expect(announced.toLowerCase()).toContain("connection: close")
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`
    const streamed = await raw(
      venue.port,
      `POST /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${operator}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(18)}`
    )
    expect(streamed).toMatch(/^HTTP\/1.1 413/)
    expect(streamed).toContain("body-too-large")
    const just = `{"holderId":"big","text":"${"x".repeat(60)}","amount":1,"owner":null}`
    const fits = await post(just.padEnd(1024 * 1024, " "))
    expect(fits.status).toBe(202)
  })

  it("414 and 431, each at its own figure", async () => {
    const get = (target: string, headers = "") =>
      raw(venue.port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`)
    const line = (length: number) => `/v1/${"a".repeat(length - 13 - 4)}`
    expect(await get(line(8192))).toMatch(/^HTTP\/1.1 404/)
    expect(await get(line(8193))).toMatch(/^HTTP\/1.1 414/)
    expect(await get(line(60_000))).toMatch(/^HTTP\/1.1 414/)
    const header = (length: number) => `X: ${"a".repeat(length - 5)}\r\n`
    expect(await get("/v1/x", header(8192))).toMatch(/^HTTP\/1.1 404/)
    expect(await get("/v1/x", header(8193))).toMatch(/^HTTP\/1.1 431/)
    const others = "Host: x\r\nConnection: close\r\n".length
    const all = (length: number) => header(8192) + header(length - 8192 - others)
    expect(await get("/v1/x", all(16_384))).toMatch(/^HTTP\/1.1 404/)
    expect(await get("/v1/x", all(16_385))).toMatch(/^HTTP\/1.1 431/)
    expect(await get("/v1/x", header(60_000))).toMatch(/^HTTP\/1.1 431/)
    const count = (count: number) => "A: b\r\n".repeat(count - 2)
    expect(await get("/v1/x", count(100))).toMatch(/^HTTP\/1.1 404/)
    expect(await get("/v1/x", count(101))).toMatch(/^HTTP\/1.1 431/)
  })

  it("415 for another media type, none, another charset, or an encoding", async () => {
    for (const headers of [
      { "content-type": "text/plain" },
      { "content-type": "application/json; charset=latin1" },
      { "content-type": "application/jsonx" },
      { "content-encoding": "gzip" }
    ]) {
      const response = await post(note("m"), headers)
      expect([headers, response.status]).toEqual([headers, 415])
      expect(await slugOf(response)).toBe("unsupported-media-type")
    }
    const utf8 = await post(note("m"), { "content-type": "application/json; charset=UTF-8" })
    expect(utf8.status).toBe(202)
  })

  it("500 tells the request id and nothing else, and the cause is in the log alone", async () => {
    const response = await send(venue, { path: "/v1/holders/broken", as: operator })
    const text = await response.clone().text()
    const problem = await json<Problem>(response.clone())
    expect([response.status, await slugOf(response)]).toEqual([500, "internal"])
    expect(problem.detail).toBe(problem.requestId)
    expect(text).not.toContain("planted-secret")
    expect(venue.logs.join()).toContain("planted-secret")
  })

  it("503 not-ready from health when the store is away, with when to come back", async () => {
    const away = Refusal.unavailable("not-ready", "host db-7.internal is down", 5)
    const broken = await open({ vitals: Effect.fail(away) })
    const response = await send(broken, { path: "/v1/health" })
    expect(response.headers.get("retry-after")).toBe("5")
    expect(await response.clone().text()).not.toContain("db-7")
    expect([response.status, await slugOf(response)]).toEqual([503, "not-ready"])
    await broken.close()
  })
})
