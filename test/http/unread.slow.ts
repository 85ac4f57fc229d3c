/**
 * Callers that ask and do not read: how many bytes the host holds for them, how many answers it
 * gives, and that everybody else is answered meanwhile. Nothing here is judged by time.
 */
import { Read } from "@bursar/engine-core"
import { Effect, Metric, Schema } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { IncomingMessage, ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import * as Counters from "#host/middleware/Counters.ts"
import { notes, tables } from "./tables.ts"
import { bearer, open, send, slugOf, type Venue } from "./venue.ts"
import { isLong } from "../long-run.ts"
import { until } from "../waiting.ts"

const records = 16
const recordBytes = 500_000
/** Larger than the buffers of a connection between two processes, so that it is not sent unread. */
const pageBytes = records * recordBytes

/** A list whose pages are so large that no buffer on the way takes one. */
const heavy = Read.list({
  name: "holders.list",
  doc: "Lists notes, each as long as a book.",
  route: "GET /v1/holders",
  audience: { operator: "all" },
  pinned: false,
  collection: notes,
  params: Schema.Struct({}),
  item: Schema.Struct({ holderId: Schema.String, text: Schema.String }),
  direction: "asc",
  order: "by id",
  changes: false,
  where: () => ({}),
  scope: () => Effect.succeed<Read.Scope>({}),
  view: (found) =>
    Effect.succeed(found.map(({ holderId }) => ({ holderId, text: "x".repeat(recordBytes) })))
})

const served = {
  operations: tables.operations,
  queries: [heavy, ...tables.queries.filter(({ name }) => name !== "holders.list")]
}

const limits = {
  pipelinedMax: 16,
  // Longer than any test: a connection is closed by nothing but what the test is about.
  stalledWithin: 3_600_000,
  subjectBytes: 2 * pageBytes + 1_000_000,
  hostBytes: 4 * pageBytes,
  subjectStreams: 3,
  subjectReads: 4
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

let venue: Venue
let other: string
let exchanges: Array<Exchange> = []
/** Number of the test in progress, which its requests carry. */
let round = 0
const sockets: Array<Socket> = []

const noted = (message: unknown): void => {
  const { request, response } = message as Exchange
  if (request.socket.localPort === venue.port) exchanges.push({ request, response })
}

const opened = async (options: Parameters<typeof open>[0]) => {
  venue = await open({ tables: served, ...options })
  const as = await bearer(["operator"])
  for (let n = 0; n < records; n++) {
    const body = `{"holderId":"h-${n}","text":"one","amount":1,"owner":null}`
    await (await send(venue, { method: "POST", path: "/v1/holders", as, body })).text()
  }
  await venue.settle()
}

const hangUp = async () => {
  const held = sockets.splice(0)
  for (const socket of held) socket.destroy()
  await until(() => exchanges.every(({ request }) => request.socket.destroyed || isOurs(request)))
  exchanges = []
}

/** Checks whether a request came by a connection that the tests keep, as `fetch` does. */
const isOurs = ({ headers }: IncomingMessage) => headers["x-hostile"] === undefined

/** Connections that send so many requests in one packet each, and never read. */
const volley = async (options: {
  readonly connections: number
  readonly requests: number
  readonly path: string
  readonly as: string | null
}) => {
  const authorization = options.as === null ? "" : `Authorization: ${options.as}\r\n`
  const request = `GET ${options.path} HTTP/1.1\r\nHost: x\r\nX-Hostile: ${round}\r\n${authorization}\r\n`
  await Promise.all(
    Array.from({ length: options.connections }, () => {
      const socket = connect(venue.port, "127.0.0.1")
      socket.on("error", () => {})
      socket.pause()
      sockets.push(socket)
      return new Promise<void>((resolve) =>
        socket.once("connect", () =>
          socket.write(request.repeat(options.requests), () => resolve())
        )
      )
    })
  )
}

/** What connections of this test sent: some of an earlier one may arrive after it has ended. */
const hostile = () =>
  exchanges.filter(({ request }) => request.headers["x-hostile"] === String(round))

/** Bytes that the host holds for connections whose clients do not read. */
const heldBytes = () => {
  const all = hostile()
  const places = new Set(all.map(({ request }) => request.socket))
  const written = [...places].reduce((sum, socket) => sum + socket.writableLength, 0)
  // What is answered before its turn waits in the response itself.
  return all.reduce(
    (sum, { response }) => sum + (response.socket === null ? response.writableLength : 0),
    written
  )
}

/** Answers that have been begun and are not sent, the most of any connection. */
const unreadAnswers = () => {
  const each = new Map<Socket, number>()
  for (const { request, response } of hostile()) {
    const isUnread = response.headersSent && !response.writableFinished && !response.destroyed
    if (isUnread) each.set(request.socket, (each.get(request.socket) ?? 0) + 1)
  }
  return Math.max(0, ...each.values())
}

/** Asks as another caller while nobody reads; returns the most bytes that were held meanwhile. */
const beside = async (calls: number) => {
  let most = 0
  let unread = 0
  const statuses = new Set<number>()
  for (let n = 0; n < calls; n++) {
    for (const [path, as] of [
      ["/v1/health", undefined],
      ["/v1/holders/h-1", other]
    ] as const) {
      const answer = await send(venue, { path, ...(as === undefined ? {} : { as }) })
      await answer.arrayBuffer()
      statuses.add(answer.status)
      most = Math.max(most, heldBytes())
      unread = Math.max(unread, unreadAnswers())
    }
  }
  return { most, unread, statuses: [...statuses] }
}

const waiting = () =>
  venue.run(Effect.map(Metric.value(Counters.answersWaiting), ({ value }) => value))

describe("callers that do not read", () => {
  beforeAll(async () => {
    await opened({ unread: limits })
    other = await bearer(["operator"], { sub: "another" })
    subscribe("http.server.request.start", noted)
  })
  afterAll(async () => {
    unsubscribe("http.server.request.start", noted)
    await venue.close()
  })
  beforeEach(() => {
    exchanges = []
    round += 1
  })
  afterEach(hangUp)

  const anonymous = null
  const shapes = [
    ["the document", "/v1/openapi.json", anonymous],
    ["the reference page", "/docs", anonymous],
    ["the document, signed in", "/v1/openapi.json", "somebody"],
    ["pages of a list", `/v1/holders?limit=${records}`, "somebody"],
    ["a list without a limit", "/v1/holders", "somebody"],
    ["the event feed", "/v1/events?limit=1000", "somebody"],
    ["the audit log", "/v1/audit-log?limit=1000", "somebody"]
  ] as const
  // Above the bounds: of requests on a connection, and of answers for a subject; many times in the
  // long run.
  const sizes = isLong
    ? [
        { connections: 1, requests: 16 },
        { connections: 1, requests: 600 },
        { connections: 250, requests: 16 }
      ]
    : [
        { connections: 1, requests: 16 },
        { connections: 1, requests: 40 },
        { connections: 6, requests: 16 }
      ]

  for (const [what, path, sub] of shapes) {
    for (const size of sizes) {
      const { connections, requests } = size
      // Red where pipelined requests are worked on at once: each of them holds an answer.
      it(`${what}: ${connections} of them with ${requests} requests each hold no more than is allowed, and keep nobody from an answer`, async () => {
        const as = sub === null ? null : await bearer(["operator"], { sub })
        await volley({ ...size, path, as })
        await until(() => hostile().some(({ response }) => response.headersSent) || requests > 32)
        const { most, statuses, unread } = await beside(isLong ? 10 : 2)
        expect(statuses).toEqual([200])
        expect(unread).toBeLessThanOrEqual(1)
        // Documents are one buffer that every answer shares; all else is bounded in bytes.
        if (path.startsWith("/v1/openapi") || path === "/docs") return
        expect(most).toBeLessThanOrEqual(
          connections === 1 ? pageBytes + 10_000 : limits.subjectStreams * (pageBytes + 10_000)
        )
      })
    }
  }

  it("are refused further reads, with when to come back, and no write", async () => {
    const as = await bearer(["operator"], { sub: "hoarder" })
    const page = `/v1/holders?limit=${records}`
    await volley({ connections: 2, requests: 1, path: page, as })
    await until(async () => (await waiting()) > pageBytes)
    const refused = await send(venue, { path: page, as })
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"])
    expect(await slugOf(refused)).toBe("overloaded")
    const body = '{"holderId":"h-last","text":"one","amount":1,"owner":null}'
    const write = await send(venue, { method: "POST", path: "/v1/holders", as, body })
    expect(write.status).toBe(202)
    // Nobody else is.
    const others = await send(venue, { path: page, as: other })
    expect([others.status, (await others.arrayBuffer()).byteLength > pageBytes]).toEqual([
      200,
      true
    ])
    // What is taken, or left, is given back.
    await hangUp()
    await until(async () => (await waiting()) === 0)
    const again = await send(venue, { path: page, as })
    expect([again.status, (await again.arrayBuffer()).byteLength > pageBytes]).toEqual([200, true])
  })

  it("hold no more in all than the host's bound, whoever they are", async () => {
    const page = `/v1/holders?limit=${records}`
    for (let n = 0; n < 6; n++) {
      const as = await bearer(["operator"], { sub: `crowd-${n}` })
      await volley({ connections: 2, requests: 1, path: page, as })
    }
    await until(() => hostile().filter(({ response }) => response.headersSent).length >= 12)
    expect(await waiting()).toBeLessThanOrEqual(limits.hostBytes)
    const given = hostile().map(({ response }) => response.statusCode)
    expect(given.filter((status) => status === 200).length).toBeLessThanOrEqual(4)
    expect(new Set(given)).toEqual(new Set([200, 503]))
  })
})

/** Statuses of the answers that one packet of requests receives, in their order. */
const answersTo = async (bytes: string): Promise<ReadonlyArray<string>> => {
  const socket = connect(venue.port, "127.0.0.1")
  const parts: Array<Buffer> = []
  socket.on("data", (part) => parts.push(part))
  socket.on("error", () => {})
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  socket.write(bytes)
  await closed
  const text = Buffer.concat(parts).toString("latin1")
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = ""]) => status)
}

describe("pipelined requests", () => {
  beforeAll(() => opened({ unread: { pipelinedMax: 3 } }))
  afterAll(() => venue.close())
  const health = "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
  const last = "GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
  const nowhere = "GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n\r\n"

  it("are all answered, in their order, up to their bound", async () => {
    expect(await answersTo(health + nowhere + health + last)).toEqual(["200", "404", "200", "200"])
  })

  it("are refused beyond it: one refusal behind the answers, and the connection ends", async () => {
    expect(await answersTo(health.repeat(6))).toEqual(["200", "200", "200", "200", "503"])
  })

  it("end their connection at once where they are twice as many", async () => {
    expect((await answersTo(health.repeat(200))).length).toBeLessThanOrEqual(1)
  })

  it("behind the last answer of a connection are no requests", async () => {
    expect(await answersTo(last + health)).toEqual(["200"])
  })
})

describe("a connection whose client takes nothing", () => {
  beforeAll(() => opened({ unread: { ...limits, stalledWithin: 100 } }))
  afterAll(() => venue.close())

  const stalled = () =>
    venue.run(
      Effect.map(
        Metric.value(Metric.withAttributes(Counters.connectionsClosed, { reason: "stalled" })),
        ({ count }) => count
      )
    )

  it.each(["/v1/holders?limit=16", "/v1/holders"])(
    "is closed with the answer of %s unread, and counted",
    async (path) => {
      const before = await stalled()
      const as = await bearer(["operator"])
      const socket = connect(venue.port, "127.0.0.1")
      socket.on("error", () => {})
      const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\n\r\n`)
      await until(async () => (await stalled()) === Number(before) + 1)
      let taken = 0
      socket.on("data", (part) => {
        taken += part.length
      })
      await closed
      expect(taken).toBeLessThan(pageBytes)
      expect(await waiting()).toBe(0)
    }
  )

  it("is not closed while the host itself is what is waited for", async () => {
    const before = await stalled()
    const as = await bearer(["operator"])
    const body = '{"holderId":"slow-1","text":"one","amount":1,"owner":null}'
    const socket = connect(venue.port, "127.0.0.1")
    const answered = new Promise<string>((resolve) =>
      socket.once("data", (part) => resolve(String(part)))
    )
    // The body arrives after more than the time in which a client must take something.
    socket.write(
      `POST /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    )
    await new Promise((resolve) => setTimeout(resolve, 300))
    socket.write(body)
    expect(await answered).toMatch(/^HTTP\/1.1 202/)
    expect(await stalled()).toBe(before)
    socket.destroy()
  })
})
