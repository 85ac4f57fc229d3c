/**
 * Limits of time and connections: a slow or idle caller gets a refusal and is dropped, and other
 * callers are served meanwhile.
 */
import { Read, Refusal } from "@bursar/engine-core"
import { Times } from "@bursar/http-host"
import { Effect, Schema } from "effect"
import { connect, type Socket } from "node:net"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import * as AnonymousConnections from "#host/middleware/AnonymousConnections.ts"
import { NoteId, notes, tables } from "./tables.ts"
import { bearer, json, open, raw, send, slugOf, type Venue } from "./venue.ts"
import { until } from "../waiting.ts"

const venues: Array<Venue> = []
const opened = async (options: Parameters<typeof open>[0]) => {
  const venue = await open(options)
  venues.push(venue)
  return venue
}
const sockets: Array<Socket> = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(async () => {
  for (const venue of venues) await venue.close()
})

/**
 * A connection that does not end because the other side does: `ended` is when the host said it was
 * through, `dropped` when it took no more.
 */
const dial = async (venue: Venue) => {
  const socket = connect({ port: venue.port, host: "127.0.0.1", allowHalfOpen: true })
  sockets.push(socket)
  const parts: Array<Buffer> = []
  socket.on("data", (part) => parts.push(part))
  socket.on("error", () => {})
  const receivedText = () => Buffer.concat(parts).toString("latin1")
  const on = (event: "end" | "close") =>
    new Promise<string>((resolve) => socket.once(event, () => resolve(receivedText())))
  const [ended, dropped] = [on("end"), on("close")]
  await new Promise<void>((resolve) => socket.once("connect", resolve))
  return { socket, ended, dropped, said: receivedText }
}

it("the times are the contract's, where nobody sets others", async () => {
  expect(await Effect.runPromise(Effect.map(Times, (times) => times))).toMatchObject({
    headersWithin: 10_000,
    requestWithin: 30_000,
    keptAlive: 65_000,
    firstByteWithin: 30_000,
    takenWithin: 300_000
  })
})

/** All times so short that a test can wait for them. */
const quick = {
  headersWithin: 150,
  requestWithin: 400,
  lookedAtEvery: 20,
  partingWithin: 100
} as const

describe("a request that does not arrive in time", () => {
  const slow = async (bytes: string, drip: string, times: Partial<Times> = quick) => {
    const venue = await opened({ times })
    const { socket, dropped } = await dial(venue)
    socket.write(bytes)
    // Dripped bytes keep the connection busy, and the host closes it all the same.
    const dripping = setInterval(() => socket.writable && socket.write(drip), 50)
    const answer = await dropped
    clearInterval(dripping)
    return answer
  }

  const cases = [
    ["nothing but empty lines", "", "\r\n"],
    ["a request line that never ends", "GET /v1/he", "a"],
    ["headers that never end", "GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: ", "a"]
  ] as const
  it.each(cases)(
    "%s: 408 and the connection ends, though its other side stays",
    async (_, bytes, drip) => {
      const answer = await slow(bytes, drip)
      expect(answer).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
      expect(answer).toContain("urn:bursar:problem:request-timeout")
      expect(answer.toLowerCase()).toContain("connection: close")
    }
  )

  it("a body that never ends: 408, with what the others carry", async () => {
    const as = await bearer(["operator"])
    const answer = await slow(
      `POST /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
      " ",
      // The listener itself, which knows no caller, looks much later than the body's own time.
      { ...quick, partingWithin: 20_000 }
    )
    expect(answer).toMatch(/^x-ratelimit-remaining: /m)
    expect(answer).toMatch(/^HTTP\/1.1 408/)
    expect(answer).toContain("urn:bursar:problem:request-timeout")
  })

  it("fifty of them stop nobody else", async () => {
    const venue = await opened({
      times: { ...quick, headersWithin: 60_000, requestWithin: 120_000 }
    })
    const as = await bearer(["operator"])
    const head = `POST /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const { socket } = await dial(venue)
        socket.write(i % 2 === 0 ? head : head.slice(0, 30))
      })
    )
    const statuses = await Promise.all(
      Array.from(
        { length: 50 },
        async () => (await send(venue, { path: "/v1/holders?limit=1", as })).status
      )
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
  })
})

describe("a connection", () => {
  it("that nobody uses any more is closed", async () => {
    const venue = await opened({ times: { keptAlive: 100 } })
    const { socket, ended } = await dial(venue)
    socket.write("GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
    expect(await ended).toMatch(/^HTTP\/1.1 200/)
  })

  it("that is refused ends, also when its other side keeps it and goes on sending", async () => {
    const { lookedAtEvery, partingWithin } = quick
    const venue = await opened({ times: { lookedAtEvery, partingWithin } })
    const { socket, dropped } = await dial(venue)
    socket.write("nonsense\r\n\r\n")
    const noise = setInterval(() => socket.writable && socket.write("nonsense"), 10)
    expect(await dropped).toMatch(/^HTTP\/1.1 400/)
    clearInterval(noise)
  })

  it("on which nobody signs in is one of 256; the next one is told to come back", async () => {
    expect(AnonymousConnections.anonymousMax).toBe(256)
    const venue = await opened({})
    const places = await Promise.all(Array.from({ length: 256 }, () => dial(venue)))
    const refused = await dial(venue)
    // The host does not read from a refused connection: a valid call gets the same answer.
    const as = await bearer(["operator"])
    refused.socket.write(`GET /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\n\r\n`)
    const answer = await refused.ended
    expect(answer).toMatch(/^HTTP\/1.1 503/)
    expect(answer).toContain("urn:bursar:problem:overloaded")
    expect(answer.toLowerCase()).toContain("retry-after: 1")
    expect(answer.match(/^HTTP/gm)).toHaveLength(1)

    // A connection leaves its place to another when its request is authenticated or refused, and
    // when it closes; a connection refused for want of a place has none to leave.
    const [first, second, third] = places
    first?.socket.write(
      "GET /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a.b.c\r\n\r\n"
    )
    await until(() => first?.said().startsWith("HTTP/1.1 401") === true)
    expect((await (await dial(venue)).ended).slice(9, 12)).toBe("503")
    second?.socket.write(`GET /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\n\r\n`)
    await until(() => second?.said().startsWith("HTTP/1.1 200") === true)
    expect(
      await raw(venue.port, "GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    ).toMatch(/^HTTP\/1.1 200/)
    third?.socket.destroy()
    await until(() => third?.socket.closed === true)
    const again = await dial(venue)
    again.socket.write("GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    expect(await again.ended).toMatch(/^HTTP\/1.1 200/)
  })
})

const Big = Schema.Struct({ holderId: Schema.String, text: Schema.String })

/** A list whose records are so large that no buffer on the way takes them, and one that never begins. */
const heavy = Read.list({
  name: "holders.list",
  doc: "Lists notes, each as long as a book.",
  route: "GET /v1/holders",
  audience: { operator: "all" },
  pinned: false,
  collection: notes,
  params: Schema.Struct({}),
  item: Big,
  direction: "asc",
  order: "by id",
  changes: false,
  where: () => ({}),
  scope: () => Effect.succeed<Read.Scope>({}),
  view: (records) =>
    Effect.succeed(records.map(({ holderId }) => ({ holderId, text: "x".repeat(500_000) })))
})

const stuck = Read.one({
  name: "holders.get",
  doc: "Answers never.",
  route: "GET /v1/holders/{holderId}",
  audience: { operator: "all" },
  pinned: false,
  params: Schema.Struct({ holderId: NoteId }),
  value: Big,
  refuses: [],
  run: ({ holderId }) =>
    holderId === "refused" ? Effect.fail(Refusal.refused("not-found")) : Effect.never
})

describe("an answer to a read", () => {
  const slow = {
    operations: tables.operations,
    queries: [heavy, stuck, ...tables.queries.filter(({ name }) => !name.startsWith("holders."))]
  }

  it("that does not begin in time is 503 overloaded, and says when to come back", async () => {
    const venue = await opened({ tables: slow, times: { firstByteWithin: 100 } })
    const response = await send(venue, { path: "/v1/holders/any", as: await bearer(["operator"]) })
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"])
    expect(await slugOf(response)).toBe("overloaded")
  })

  it("that is not taken in time is dropped, and never passes for a whole one", async () => {
    const venue = await opened({ tables: slow, times: { takenWithin: 300 } })
    const as = await bearer(["operator"])
    for (let i = 0; i < 100; i++) {
      const body = `{"holderId":"h-${i}","text":"one","amount":1,"owner":null}`
      await (await send(venue, { method: "POST", path: "/v1/holders", as, body })).text()
    }
    await venue.settle()
    const socket = connect(venue.port, "127.0.0.1")
    sockets.push(socket)
    socket.on("error", () => {})
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
    socket.write(`GET /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\n\r\n`)
    // The client reads the first part of the answer and stops until the host gives up.
    let taken = ""
    await new Promise<void>((resolve) =>
      socket.once("data", (part) => resolve(void (taken = String(part))))
    )
    socket.pause()
    expect(taken).toMatch(/^HTTP\/1.1 200/)
    const health = await send(venue, { path: "/v1/health" })
    expect((await json<{ value: { ready: boolean } }>(health)).value.ready).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 600))
    let rest = 0
    socket.on("data", (part) => {
      rest += part.length
      taken = (taken + part.toString("latin1")).slice(-100)
    })
    socket.resume()
    await closed
    expect(rest).toBeLessThan(50_000_000)
    expect(taken).not.toContain('"next":null}')
  })
})
