/** Path tricks, request ids and requests that two readers would read differently: nothing ever runs. */
import { Result } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { RecordId } from "@bursar/engine-core/kernel"
import { table } from "../../../packages/http-host/src/api/Route.ts"
import * as RawPath from "../../../packages/http-host/src/middleware/RawPath.ts"
import { tables } from "../tables.ts"
import { bearer, json, open, raw, send, slugOf, type Venue } from "../venue.ts"

let venue: Venue
let operator: string
beforeAll(async () => {
  venue = await open()
  operator = await bearer(["operator", "approver"])
})
afterAll(() => venue.close())

const written = async () => {
  const listed = await send(venue, { path: "/v1/operations", as: operator })
  return (await json<{ value: ReadonlyArray<unknown> }>(listed)).value.length
}

describe("path tricks", () => {
  const tricks = [
    "/v1/approvals/a%3Aapprove",
    "/v1/approvals/a%3aapprove",
    "/v1/approvals/a:approve:approve",
    "/v1/approvals/a:Approve",
    "/v1/approvals/:approve",
    "/v1/approvals/a:approve/",
    "/v1//approvals/a:approve",
    "//v1/approvals/a:approve",
    "/v1/./approvals/a:approve",
    "/v1/x/../approvals/a:approve",
    "/v1/approvals/%2e%2e:approve",
    "/v1/approvals/a%2Fb:approve",
    "/v1/approvals/a/b:approve",
    "/v1/approvals/a%00:approve",
    "/v1/approvals/a%0d%0aX-Evil:approve",
    "/v1/approvals/%ff:approve",
    "/v1/approvals/a:approve%20",
    "/v1/approvals/a:approve#x",
    "/v1/approvals/a:approve;x=1",
    "/v1/holdersX",
    "/v1/holders:onboardX",
    "/v1/holders::onboard",
    "/v1/Holders:onboard",
    "/V1/holders:onboard",
    "/v1/holders:onboard:onboard",
    "/v1/instruments/i:pause/policy:set",
    "/v1/instruments:pause",
    "http://x/v1/holders:onboard",
    "*"
  ]
  it.each(tricks)("POST %s runs nothing", async (path) => {
    const before = await written()
    const answer = await raw(
      venue.port,
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${operator}\r\nContent-Type: application/json\r\nContent-Length: 20\r\nConnection: close\r\n\r\n{"holderId":"tr-1"} `
    )
    expect(answer).toMatch(/^HTTP\/1.1 (400|404|405)/)
    expect(answer.split("\r\n\r\n")[0]).not.toContain("Evil")
    expect(await written()).toBe(before)
  })

  it("headers that override a method override nothing", async () => {
    for (const name of ["x-http-method-override", "x-method-override", "x-http-method"]) {
      const response = await send(venue, {
        path: "/v1/holders:onboard",
        as: operator,
        headers: { [name]: "POST" }
      })
      expect(response.status).toBe(405)
    }
  })

  it("a percent-encoded id is the id it encodes", async () => {
    const response = await send(venue, { path: "/v1/holders/%61bsent", as: operator })
    expect([response.status, await slugOf(response)]).toEqual([404, "not-found"])
  })
})

describe("the judge of raw paths", () => {
  const routes = table(tables)
  const find = RawPath.compile(routes, ({ path }) => path)
  const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._~-]{0,40}$/)

  it("finds every route of the table by its own template, with the ids it was given", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...routes),
        fc.array(id, { minLength: 4, maxLength: 4 }),
        (route, ids) => {
          let at = 0
          const path = route.path.template.replaceAll(/\{[A-Za-z]+\}/g, () => ids[at++] ?? "x")
          const found = find(route.path.method, path)
          expect(found).toMatchObject({ found: "route", route: { name: route.name } })
          if (found.found === "route") {
            expect(Object.values(found.params)).toEqual(ids.slice(0, route.path.names.length))
          }
        }
      )
    )
  })

  it("finds nothing that does not spell a template, whatever the bytes are", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        const found = find("POST", `/v1/${text}`)
        if (found.found !== "route") return
        for (const value of Object.values(found.params)) {
          expect(Result.isSuccess(RecordId.parse(value))).toBe(true)
        }
        expect(text).not.toMatch(/%3a|%2f|\/\/|\/$/i)
      }),
      { numRuns: 2000 }
    )
  })

  it("answers in a moment to the longest paths", () => {
    const start = performance.now()
    for (let i = 0; i < 100; i++) {
      find("GET", `/${"a/".repeat(4000)}`)
      find("GET", `/v1/holders/${"%41".repeat(2600)}`)
      find("GET", `/v1/holders/${":".repeat(8000)}`)
    }
    expect((performance.now() - start) / 300).toBeLessThan(5)
  })
})

describe("request ids", () => {
  it("one that is in order is echoed; without one the engine makes one", async () => {
    const own = await send(venue, {
      path: "/v1/holders",
      as: operator,
      headers: { "x-request-id": "mine!" }
    })
    expect(own.headers.get("x-request-id")).toBe("mine!")
    const made = await send(venue, { path: "/v1/holders", as: operator })
    expect(made.headers.get("x-request-id")).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/)
  })

  const bad = [
    ["129 characters", "X-Request-Id: ".concat("a".repeat(129))],
    ["a space", "X-Request-Id: planted id"],
    ["UTF-8", "X-Request-Id: plant\u00e9d"],
    ["a tab", "X-Request-Id: planted\tid"],
    ["two headers", "X-Request-Id: planted\r\nX-Request-Id: planted"],
    ["nothing", "X-Request-Id:"]
  ] as const
  it.each(bad)(
    "%s is 400 with an id of the engine's own, and the bad one is nowhere",
    async (_, header) => {
      const answer = await raw(
        venue.port,
        Buffer.from(
          `GET /v1/holders HTTP/1.1\r\nHost: x\r\n${header}\r\nConnection: close\r\n\r\n`,
          "utf8"
        )
      )
      expect(answer).toMatch(/^HTTP\/1.1 400/)
      expect(answer).toMatch(/x-request-id: req_/i)
      expect(answer).not.toContain("plant")
      expect(venue.logs.join("\n")).not.toContain("plant")
    }
  )

  it("CR, LF and NUL inside a header never make a header", async () => {
    for (const value of ["a\rX-Evil: 1", "a\nX-Evil: 1", "a\0b"]) {
      const answer = await raw(
        venue.port,
        `GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${value}\r\nConnection: close\r\n\r\n`
      )
      expect(answer.toLowerCase()).not.toMatch(/^x-evil/m)
      expect(answer).toMatch(/^HTTP\/1.1 (400|200)/)
    }
  })

  it("each line of the log is one JSON object", () => {
    for (const line of venue.logs) expect(typeof JSON.parse(line)).toBe("object")
  })
})

describe("requests that two readers would read differently", () => {
  const post = "POST /v1/holders:onboard HTTP/1.1\r\nHost: x\r\n"
  const ambiguous = [
    [
      "Content-Length with Transfer-Encoding",
      `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    ],
    ["two Content-Lengths", `${post}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd`],
    ["an unknown Transfer-Encoding", `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ["bare LF", "GET /v1/health HTTP/1.1\nHost: x\n\n"],
    ["a folded header", "GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n"],
    ["a header without a name", "GET /v1/health HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n"],
    ["a space before the colon", "GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A : a\r\n\r\n"],
    ["no Host", "GET /v1/health HTTP/1.1\r\n\r\n"]
  ] as const
  it.each(ambiguous)("%s is 400 and the connection ends", async (_, bytes) => {
    const answer = await raw(venue.port, bytes, 4000)
    expect(answer).toMatch(/^HTTP\/1.1 400/)
    expect(answer.toLowerCase()).toContain("connection: close")
    expect(answer.match(/^HTTP\/1.1 \d/gm)).toHaveLength(1)
  })

  it("a chunk that is none ends the request it is in: one answer, and nothing runs", async () => {
    const before = await written()
    const head = `${post}Authorization: ${operator}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    const answer = await raw(venue.port, `${head}4\r\n{"ho\r\nzz\r\n`)
    expect(answer).toMatch(/^HTTP\/1.1 400/)
    expect(answer.match(/^HTTP\/1.1 \d/gm)).toHaveLength(1)
    expect(await written()).toBe(before)
    expect(venue.logs.join()).not.toContain("without a plan")
  })

  it("what follows an answer that closes is not answered again", async () => {
    const answer = await raw(
      venue.port,
      "GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n\0\0garbage\r\n\r\n"
    )
    expect(answer.match(/^HTTP\/1.1 \d/gm)).toHaveLength(1)
  })

  it("without a bearer the body is not read", async () => {
    const answer = await raw(
      venue.port,
      `${post}Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`
    )
    expect(answer).toMatch(/^HTTP\/1.1 401/)
  })
})
