/** Connections: one answer for each request, the right one, in order, and no byte between them. */
import { Effect, Layer } from "effect"
import * as Host from "@bursar/http-host"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { connect, type Socket } from "node:net"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { bearer, open, publicJwk, type Venue } from "./venue.ts"
import { until } from "../waiting.ts"

let venue: Venue
/** Sign-in waits for this promise, so that the test decides when an answer is sent. */
let door = Promise.withResolvers<void>()
/** The server's ends of connections, in the order of their first requests. */
let accepted: Array<Socket> = []
/** Number of requests that have begun. */
let begun = 0

const started = (message: unknown): void => {
  const { request } = message as { readonly request: { readonly socket: Socket } }
  begun += 1
  if (request.socket.localPort !== venue.port || accepted.includes(request.socket)) return
  accepted.push(request.socket)
}

beforeAll(async () => {
  const keys = Host.Jwks.layerLocal({ keys: [publicJwk] })
  const jwks = Layer.effect(
    Host.Jwks.Jwks,
    Effect.map(Host.Jwks.Jwks, ({ keyFor }) => ({
      keyFor: (header: Parameters<typeof keyFor>[0]) =>
        Effect.andThen(
          Effect.promise(() => door.promise),
          keyFor(header)
        )
    }))
  ).pipe(Layer.provide(keys))
  venue = await open({ jwks })
  subscribe("http.server.request.start", started)
})
afterAll(async () => {
  unsubscribe("http.server.request.start", started)
  await venue.close()
})
beforeEach(() => {
  door = Promise.withResolvers()
  accepted = []
  begun = 0
})

let people = 0
/**
 * Authorization of a person who has not signed in before: a token that was verified before needs no
 * key.
 */
const somebody = async () =>
  `Authorization: ${await bearer(["operator"], { sub: `operator-${++people}` })}\r\n`

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
const post = (path: string, body: string, headers = "") =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`

interface Caller {
  readonly socket: Socket
  /** All bytes that it received, once the connection has ended. */
  readonly bytes: Promise<Buffer>
}

/** A connection that half-closes only when it is told to, and reads until the other side ends. */
const call = (bytes: string): Caller => {
  const socket = connect({ port: venue.port, host: "127.0.0.1", allowHalfOpen: true })
  const parts: Array<Buffer> = []
  const received = new Promise<Buffer>((resolve, reject) => {
    socket.on("data", (part) => parts.push(part))
    socket.on("end", () => {
      socket.destroy()
      resolve(Buffer.concat(parts))
    })
    socket.on("error", reject)
  })
  socket.write(Buffer.from(bytes, "latin1"))
  return { socket, bytes: received }
}

/** The statuses of the answers in these bytes, which hold nothing but whole answers. */
const statusesIn = (bytes: Buffer): ReadonlyArray<number> => {
  const statuses: Array<number> = []
  let at = 0
  while (at < bytes.length) {
    const ends = bytes.indexOf("\r\n\r\n", at)
    const head = bytes.subarray(at, ends).toString("latin1")
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(head) ?? []
    if (ends < 0 || status === undefined) throw new Error(`no answer: ${head.slice(0, 80)}`)
    at = ends + 4
    statuses.push(Number(status))
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? []
    if (length !== undefined) {
      at += Number(length)
      continue
    }
    if (!/\r\ntransfer-encoding: chunked/i.test(head)) continue
    for (let size = -1; size !== 0; ) {
      const line = bytes.indexOf("\r\n", at)
      size = Number.parseInt(bytes.subarray(at, line).toString("latin1"), 16)
      at = line + 2 + size + 2
    }
  }
  expect(at).toBe(bytes.length)
  return statuses
}

const answered = async ({ bytes }: Caller) => statusesIn(await bytes)

// Red without `httpAllowHalfOpen` (Listener.ts): the connection ends without a word.
describe("who has sent a whole request and then half-closes", () => {
  const requests = [
    ["a read", () => get("/v1/holders?limit=1"), 200],
    ["the head of a read", () => get("/v1/holders?limit=1").replace("GET", "HEAD"), 200],
    ["a write", () => post("/v1/holders:onboard", '{"holderId":"half-1"}'), 202],
    ["a write in chunks", () => chunked('{"holderId":"half-2"}'), 202],
    ["a refusal", () => post("/v1/holders:onboard", "{}"), 400]
  ] as const
  const chunked = (body: string) =>
    `POST /v1/holders:onboard HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

  it.each(requests)("gets the one answer of %s, and then the end", async (_, request, status) => {
    const signedIn = request().replace("Host: x\r\n", `Host: x\r\n${await somebody()}`)
    const caller = call(signedIn)
    await until(() => accepted.length === 1)
    caller.socket.end()
    await until(() => accepted[0]?.readableEnded === true)
    door.resolve()
    if (request().startsWith("HEAD")) {
      expect((await caller.bytes).toString("latin1")).toMatch(/^HTTP\/1.1 200 [^]*\r\n\r\n$/)
    } else expect(await answered(caller)).toEqual([status])
  })

  it("gets every answer of the requests it sent one behind the other", async () => {
    const caller = call(
      get("/v1/health") + get("/v1/holders?limit=1", await somebody()) + get("/v1/nowhere")
    )
    await until(() => begun === 3)
    // The host reads on, and sees the end, when it has answered what it has read.
    caller.socket.end()
    door.resolve()
    expect(await answered(caller)).toEqual([200, 200, 404])
  })

  it("gets the whole of a long answer, however slowly it reads", async () => {
    const caller = call(get("/docs"))
    caller.socket.pause()
    await until(() => accepted.length === 1)
    caller.socket.end()
    await until(() => accepted[0]?.readableEnded === true)
    caller.socket.resume()
    expect(await answered(caller)).toEqual([200])
  })

  it("gets one refusal when the request was not whole", async () => {
    door.resolve()
    for (const part of ["GET /v1/hea", get("/v1/health").slice(0, -2)]) {
      const caller = call(part)
      caller.socket.end()
      expect([part, await answered(caller)]).toEqual([part, [400]])
    }
    const cut = call(
      post("/v1/holders:onboard", '{"holderId":"half-3"}', await somebody()).slice(0, -4)
    )
    cut.socket.end()
    expect(await answered(cut)).toEqual([400])
  })
})

// Red without the wait for what is in flight (Listener.ts): the refusal stands in the answer's place.
describe("what is no request, behind a request that is being answered", () => {
  const broken = [
    ["garbage", "\0\0garbage\r\n\r\n", 400],
    ["another protocol", "GET / HTTP/1.9\r\nHost: x\r\n\r\n", 400],
    ["an unknown coding", get("/v1/health", "Transfer-Encoding: xchunked\r\n"), 400],
    [
      "a chunk that is none",
      `${post("/v1/holders:onboard", "", "WHO").replace("Content-Length: 0", "Transfer-Encoding: chunked")}zz\r\n`,
      400
    ],
    ["a header that is too long", get("/v1/health", `X-A: ${"a".repeat(40_000)}\r\n`), 431],
    ["a tunnel", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", 405]
  ] as const
  it.each(broken)(
    "%s: the answer first, the refusal after it, then the end",
    async (_, bytes, status) => {
      const caller = call(get("/v1/holders?limit=1", await somebody()))
      await until(() => begun === 1)
      caller.socket.write(Buffer.from(bytes.replace("WHO", await somebody()), "latin1"))
      // The server has read it when it knows as much of the connection as was sent.
      await until(() => accepted[0]?.bytesRead === caller.socket.bytesWritten)
      await new Promise((resolve) => setImmediate(resolve))
      door.resolve()
      expect(await answered(caller)).toEqual([200, status])
    }
  )

  it("ends the connection and no more, where the request that broke has its answer", async () => {
    door.resolve()
    const head = get("/v1/health", "Transfer-Encoding: chunked\r\n")
    expect(await answered(call(`${head}zz\r\n${get("/v1/health")}`))).toEqual([200])
  })

  it("never stands within an answer that is on its way", async () => {
    door.resolve()
    const caller = call(get("/docs"))
    caller.socket.pause()
    await until(() => accepted.length === 1)
    caller.socket.write("\0\0garbage\r\n\r\n")
    await until(() => accepted[0]?.bytesRead === caller.socket.bytesWritten)
    caller.socket.resume()
    expect(await answered(caller)).toEqual([200, 400])
  })
})

describe("a coding or a version that is not spoken here", () => {
  const codings = [
    "xchunked",
    '"chunked"',
    "gzip",
    "identity",
    "chunked, gzip",
    "gzip, chunked",
    "chunked;x=1",
    "chunked,",
    ", chunked",
    "chunked, chunked",
    "\x0bchunked",
    ""
  ]
  // Switched off and seen red: one answer of an exchange that has one (Listener.ts).
  it.each(codings)(
    "Transfer-Encoding: %j has one answer on every kind of route: 400, closed",
    async (coding) => {
      door.resolve()
      for (const line of [
        "GET /v1/health",
        "GET /v1/holders?limit=1",
        "POST /v1/holders:onboard",
        "POST /v1/nowhere",
        "DELETE /v1/holders",
        "OPTIONS /v1/holders",
        "GET /docs"
      ]) {
        for (const who of ["", await somebody()]) {
          const head = `${line} HTTP/1.1\r\nHost: x\r\n${who}Transfer-Encoding: ${coding}\r\n\r\n`
          for (const body of ["", "0\r\n\r\n", `0\r\n\r\n${get("/v1/health")}`]) {
            expect([line, body, await answered(call(head + body))]).toEqual([line, body, [400]])
          }
        }
      }
    }
  )

  // Red without the versions in Limits.ts: the parser takes 0.9, 2.0 and their like for its own.
  const versions = [
    "0.0",
    "0.9",
    "1.2",
    "1.9",
    "2",
    "2.0",
    "2.1",
    "3.0",
    "10.1",
    "1.1.1",
    "1,1",
    ""
  ]
  it.each(versions)("HTTP/%s has one answer: 400, closed", async (version) => {
    door.resolve()
    for (const line of [
      "GET /v1/health",
      "GET /v1/nowhere",
      "POST /v1/holders:onboard",
      "GET /docs"
    ]) {
      for (const headers of ["Host: x\r\n", ""]) {
        const sent = `${line} HTTP/${version}\r\n${headers}\r\n`
        expect([sent, await answered(call(sent + get("/v1/health")))]).toEqual([sent, [400]])
      }
    }
  })

  it("a head that the parser refuses has no body", async () => {
    for (const line of ["HEAD /v1/instruments/\xe9 HTTP/1.1", "HEAD /v1/health HTTP/1.9"]) {
      const answerText = (await call(`${line}\r\nHost: x\r\n\r\n`).bytes).toString("latin1")
      expect(answerText).toMatch(/^HTTP\/1.1 400 [^]*\r\ncontent-length: 0\r\n[^]*\r\n\r\n$/)
      expect(answerText.split("\r\n\r\n")).toHaveLength(2)
    }
  })

  it("HTTP/1.0 and HTTP/1.1 are", async () => {
    door.resolve()
    const old = "GET /v1/health HTTP/1.0\r\n\r\n"
    const close = get("/v1/health", "Connection: close\r\n")
    for (const sent of [old, close]) expect(await answered(call(sent))).toEqual([200])
  })
})
