/** Attack 17: ids and names that would write lines of their own into a log, or headers into an answer. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bearer, json, open, raw, send, type Venue } from "../venue.ts"

let venue: Venue
let operator: string
beforeAll(async () => {
  venue = await open()
  operator = await bearer(["operator"])
})
afterAll(() => venue.close())

// Switched off in a copy and seen red: the pattern of RequestId.ts.
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

  it("one of 128 characters is taken, each printable one", async () => {
    const printable = Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i)).join("")
    const id = printable.padEnd(128, "x")
    const response = await send(venue, {
      path: "/v1/holders",
      as: operator,
      headers: { "x-request-id": id }
    })
    expect([response.status, response.headers.get("x-request-id")]).toEqual([200, id])
  })
})

describe("names", () => {
  it("of a person cannot lead a terminal or a log astray", async () => {
    const name = '\u001b[31mBob\r\nX-Evil: 1\u0000\u2028{"level":"error"}'
    const as = await bearer(["operator"], { sub: "ansi", name, email: "a\nb@c" })
    const made = await send(venue, {
      method: "POST",
      path: "/v1/holders:onboard",
      as,
      body: '{"holderId":"ansi-1"}'
    })
    const { actorName, actorEmail } = await json<Record<string, string>>(made)
    expect(actorName).toBe('[31mBobX-Evil: 1\u2028{"level":"error"}')
    expect(actorEmail).toBe("ab@c")
    expect(made.headers.get("x-evil")).toBeNull()
  })

  it("and ids of any kind break no line of the log", async () => {
    await send(venue, {
      path: "/v1/holders/broken",
      as: operator,
      headers: { "x-request-id": '{"a":1}' }
    })
    await send(venue, { path: "/v1/holders/broken?x=%0d%0aplanted", as: operator })
    await send(venue, { path: "/v1/holders/%0d%0aplanted", as: operator })
    expect(venue.logs.length).toBeGreaterThan(0)
    for (const line of venue.logs) {
      expect(line).not.toMatch(/[\n\r\u0000-\u001f\u007f]/)
      expect(typeof JSON.parse(line)).toBe("object")
    }
    expect(venue.logs.join("\n")).not.toContain("planted\n")
  })
})
