/** Headers of every answer, order and shape of streams, and data that an answer never shows. */
import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bearer, json, type Listed, open, type Problem, send, type Venue } from "./venue.ts"

let venue: Venue
let operator: string
beforeAll(async () => {
  venue = await open({ basePath: "/engine" })
  operator = await bearer(["operator"])
  for (let i = 0; i < 450; i++) {
    const body = `{"holderId":"s-${String(i).padStart(4, "0")}","text":"three","amount":${i}.5,"owner":null}`
    await send(venue, { method: "POST", path: "/v1/holders", as: operator, body })
  }
  await venue.settle()
})
afterAll(() => venue.close())

describe("every answer", () => {
  const calls = [
    ["a list", "GET", "/v1/holders?limit=1", 200],
    ["a stream", "GET", "/v1/holders", 200],
    ["a record", "GET", "/v1/holders/s-0001", 200],
    ["a write", "POST", "/v1/holders:onboard", 202],
    ["a refusal", "GET", "/v1/holders/nobody", 404],
    ["a bad request", "GET", "/v1/holders?x=1", 400],
    ["a bug", "GET", "/v1/holders/broken", 500],
    ["no route", "GET", "/nothing", 404],
    ["no method", "PATCH", "/v1/holders", 405],
    ["health", "GET", "/v1/health", 200],
    ["the tenant", "GET", "/v1/tenants/venue-1", 200],
    ["the document", "GET", "/v1/openapi.json", 200],
    ["the reference page", "GET", "/docs", 200]
  ] as const
  it.each(calls)("%s has its headers", async (_, method, path, status) => {
    const response = await send(venue, {
      method,
      path,
      as: operator,
      ...(method === "POST" ? { body: '{"holderId":"o-1"}' } : {})
    })
    expect(response.status).toBe(status)
    const { headers } = response
    const text = await response.text()
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("x-request-id")).toMatch(/^req_/)
    const kept: Record<string, string> = {
      "/v1/tenants/venue-1": "public, max-age=60",
      "/v1/openapi.json": "public, max-age=300",
      "/docs": "no-cache",
      "/v1/holders?limit=1": "private, no-cache",
      "/v1/holders/s-0001": "private, no-cache"
    }
    expect(headers.get("cache-control")).toBe(kept[path] ?? "no-store")
    const type =
      path === "/docs"
        ? "text/html"
        : status < 400
          ? "application/json"
          : "application/problem+json"
    expect(headers.get("content-type")?.split(";")[0]).toBe(type)
    expect(headers.get("server")).toBeNull()
    expect(headers.get("x-powered-by")).toBeNull()
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([])
    if (path !== "/docs") expect(text).not.toMatch(/\bat .*\.ts:|node_modules|planted-secret/)
  })

  it("HEAD answers what GET would, without the body", async () => {
    for (const path of [
      "/v1/holders?limit=2",
      "/v1/holders/s-0001",
      "/v1/health",
      "/v1/openapi.json",
      "/docs"
    ]) {
      const head = await send(venue, { method: "HEAD", path, as: operator })
      expect([path, head.status, (await head.text()).length]).toEqual([path, 200, 0])
      expect(head.headers.get("content-length")).not.toBe("0")
    }
  })

  it("a Location is under the path that a proxy adds", async () => {
    const made = await send(venue, {
      method: "POST",
      path: "/v1/holders:onboard",
      as: operator,
      body: '{"holderId":"loc-1"}'
    })
    expect(made.headers.get("location")).toMatch(/^\/engine\/v1\/operations\/op_/)
    expect(made.headers.get("retry-after")).toBe("1")
  })

  it("a preflight from elsewhere is answered with no permission", async () => {
    const response = await send(venue, {
      method: "OPTIONS",
      path: "/v1/holders",
      headers: { origin: "https://evil.test", "access-control-request-method": "POST" }
    })
    expect(response.status).toBe(405)
    expect(response.headers.get("access-control-allow-origin")).toBeNull()
  })

  it("the document is answered 304 to who has it", async () => {
    const first = await send(venue, { path: "/v1/openapi.json" })
    const etag = first.headers.get("etag") ?? ""
    await first.text()
    const again = await send(venue, {
      path: "/v1/openapi.json",
      headers: { "if-none-match": etag }
    })
    expect([again.status, await again.text()]).toEqual([304, ""])
    const other = await send(venue, {
      path: "/v1/openapi.json",
      headers: { "if-none-match": '"x"' }
    })
    expect(other.status).toBe(200)
  })

  it("another tenant's id is not found", async () => {
    expect((await send(venue, { path: "/v1/tenants/venue-2" })).status).toBe(404)
  })

  it("the reference page may fetch from nowhere but this host", async () => {
    const policy = (await send(venue, { path: "/docs" })).headers.get("content-security-policy")
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("connect-src 'self'")
    expect(policy).not.toMatch(/https?:/)
  })
})

describe("mass assignment", () => {
  it("members nobody asked for are refused, and no prototype is touched", async () => {
    for (const member of [
      "state",
      "maker",
      "signedBy",
      "role",
      "constructor",
      "__proto__",
      "prototype"
    ]) {
      const body = `{"holderId":"m-1","text":"one","amount":1,"owner":null,"${member}":{"polluted":true}}`
      const response = await send(venue, {
        method: "POST",
        path: "/v1/holders",
        as: operator,
        body
      })
      expect([member, response.status]).toEqual([member, 400])
    }
    expect("polluted" in {}).toBe(false)
  })

  it("a path's own id cannot be named again in the body", async () => {
    const response = await send(venue, {
      method: "POST",
      path: "/v1/holds/h-1:release",
      as: operator,
      body: '{"holdId":"h-2","reason":"x"}'
    })
    expect(response.status).toBe(400)
    expect((await json<Problem>(response)).errors).toEqual([
      { pointer: "/body/holdId", detail: "this is named by the path, not by the body" }
    ])
  })
})

describe("a list without a limit", () => {
  it("holds every record in order and ends with a null cursor", async () => {
    const all = await json<Listed>(
      await send(venue, { path: "/v1/holders?text=three", as: operator })
    )
    expect(all.value).toHaveLength(450)
    const ids = all.value.map(({ holderId }) => holderId)
    expect(ids).toEqual(ids.toSorted())
    expect(all.next).toBeNull()
  })

  it("of nothing is an empty list", async () => {
    const none = await json<Listed>(
      await send(venue, { path: "/v1/holders?holderId=none", as: operator })
    )
    expect([none.value, none.next]).toEqual([[], null])
  })

  it("that fails in the middle breaks the connection: what was read cannot pass for the whole", async () => {
    const failing = await open()
    for (let i = 0; i < 250; i++) {
      const id = i === 249 ? "zz-away" : `w-${String(i).padStart(4, "0")}`
      const body = `{"holderId":"${id}","text":"one","amount":1,"owner":null}`
      await send(failing, { method: "POST", path: "/v1/holders", as: operator, body })
    }
    await failing.settle()
    const read = async () => (await send(failing, { path: "/v1/holders", as: operator })).text()
    await expect(read()).rejects.toThrow()
    await failing.close()
  })

  it("a client that goes away in the middle leaves the host well", async () => {
    for (let i = 0; i < 5; i++) {
      await new Promise<void>((resolve) => {
        const socket = connect(venue.port, "127.0.0.1", () => {
          socket.write(`GET /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${operator}\r\n\r\n`)
        })
        socket.once("data", () => {
          socket.destroy()
          resolve()
        })
      })
    }
    expect((await send(venue, { path: "/v1/holders?limit=1", as: operator })).status).toBe(200)
  })
})
