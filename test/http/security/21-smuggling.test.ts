/** Attack 21: requests that two readers would read differently, by raw sockets: 400 and closed. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bearer, json, open, raw, send, type Venue } from "../venue.ts"

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

describe("requests that two readers would read differently", () => {
  const post = "POST /v1/holders:onboard HTTP/1.1\r\nHost: x\r\n"
  const get = "GET /v1/health HTTP/1.1\r\nHost: x\r\n"
  const ambiguous = [
    [
      "a length and chunks",
      `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    ],
    [
      "chunks and a length",
      `${post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`
    ],
    ["two lengths", `${post}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd`],
    ["two equal lengths", `${post}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`],
    ["a list of lengths", `${post}Content-Length: 0, 0\r\n\r\n`],
    ["a length with a sign", `${post}Content-Length: +0\r\n\r\n`],
    ["a negative length", `${post}Content-Length: -1\r\n\r\n`],
    ["a length in hex", `${post}Content-Length: 0x0\r\n\r\n`],
    ["a length beyond numbers", `${post}Content-Length: 99999999999999999999999\r\n\r\n`],
    ["an unknown coding", `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ["a coding before chunks", `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ["a coding after chunks", `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    [
      "chunks twice",
      `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    ],
    ["a coding behind a tab", `${post}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n`],
    ["bare LF", "GET /v1/health HTTP/1.1\nHost: x\n\n"],
    ["bare LF after a header", `${get}X-A: b\n\r\n`],
    ["bare CR inside a header", `${get}X-A: b\rX-B: c\r\n\r\n`],
    ["a folded header", `${get}X-A: a\r\n b\r\n\r\n`],
    ["a header without a name", `${get}: a\r\n\r\n`],
    ["a space before the colon", `${get}X-A : a\r\n\r\n`],
    ["NUL in a header", `${get}X-A: a\0b\r\n\r\n`],
    ["no Host", "GET /v1/health HTTP/1.1\r\n\r\n"],
    ["two Hosts", `${get}Host: y\r\n\r\n`],
    ["another version", "GET /v1/health HTTP/1.9\r\nHost: x\r\n\r\n"],
    ["no version", "GET /v1/health\r\n\r\n"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a method in small letters", "get /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a target with a space", "GET /v1/health x HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["TLS where there is none", Buffer.from("16030100050100000100", "hex").toString("latin1")]
  ] as const
  it.each(ambiguous)("%s: 400, closed, and what follows is no request", async (_, bytes) => {
    const before = await written()
    const smuggled =
      `POST /v1/holders:onboard HTTP/1.1\r\nHost: x\r\nAuthorization: ${operator}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 19\r\n\r\n{"holderId":"sm-1"}'
    const answer = await raw(venue.port, Buffer.from(bytes + smuggled, "latin1"), 4000)
    expect(answer).toMatch(/^HTTP\/1.1 400/)
    expect(answer.toLowerCase()).toContain("connection: close")
    expect(answer).toContain("application/problem+json")
    expect(answer.match(/^HTTP\/1.1 \d/gm)).toHaveLength(1)
    expect(await written()).toBe(before)
  })

  // Red, at a few of the thirty, when a connection that ends is not remembered (Arrival.ts, `ending`).
  it("what is pipelined behind an answer that ends the connection never runs", async () => {
    const before = await written()
    const smuggled = `${post}Authorization: ${operator}\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{"holderId":"sm-4"}`
    for (let i = 0; i < 30; i++) {
      const first = `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`
      expect(await raw(venue.port, first + smuggled)).toMatch(/^HTTP\/1.1 400/)
    }
    expect(await written()).toBe(before)
  })

  it("a tunnel is no method here, and another protocol is not spoken", async () => {
    const tunnel = await raw(venue.port, "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n")
    expect(tunnel).toMatch(/^HTTP\/1.1 405/)
    for (const protocol of ["h2c", "websocket", "anything"]) {
      const answer = await raw(
        venue.port,
        `GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`
      )
      expect([protocol, answer.slice(0, 12)]).toEqual([protocol, "HTTP/1.1 200"])
      expect(answer.toLowerCase()).not.toContain("upgrade:")
    }
    // A body in chunks is read like any other, also where its sender asks for another protocol.
    const chunked = `${post}Authorization: ${operator}\r\nContent-Type: application/json\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n{"holderId":"up-1"}\r\n0\r\n\r\n`
    expect(await raw(venue.port, chunked)).toMatch(/^HTTP\/1.1 202/)
  })

  it("an expectation is met when the body is read, and never before", async () => {
    const head = (as: string) =>
      `POST /v1/holders:onboard HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\nContent-Type: application/json\r\nContent-Length: 19\r\nExpect: 100-continue\r\n\r\n`
    expect(await raw(venue.port, head("Bearer a.b.c"))).toMatch(/^HTTP\/1.1 401/)
    expect(await raw(venue.port, head(operator), 300)).toMatch(/^HTTP\/1.1 100/)
    const other = head(operator).replace("100-continue", "tea")
    expect(await raw(venue.port, `${other}{"holderId":"ex-1"}`, 300)).toMatch(/^HTTP\/1.1 202/)
  })

  const chunks = [
    ["that is none", "zz\r\n"],
    ["whose size is beyond numbers", "fffffffffffffffff\r\n"],
    ["whose size has a sign", "+0\r\n\r\n"],
    ["whose size has a 0x", "0x0\r\n\r\n"],
    ["that ends with a bare LF", "0\n\n"],
    ["that is longer than it says", '1\r\n"abc\r\n0\r\n\r\n']
  ] as const
  it.each(chunks)(
    "a chunk %s ends the request it is in: one answer, and nothing runs",
    async (_, chunk) => {
      const before = await written()
      const head = `${post}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n`
      const signedIn = `${head}Authorization: ${operator}\r\n\r\n`
      const smuggled = `${signedIn}13\r\n{"holderId":"sm-2"}\r\n0\r\n\r\n`
      const answer = await raw(venue.port, `${signedIn}4\r\n{"ho\r\n${chunk}${smuggled}`)
      expect(answer).toMatch(/^HTTP\/1.1 400/)
      expect(answer.match(/^HTTP\/1.1 \d/gm)).toHaveLength(1)
      // A caller without a token is refused once: for the framing (400) or for the missing token
      // (401).
      const stranger = await raw(venue.port, `${head}\r\n4\r\n{"ho\r\n${chunk}${smuggled}`)
      expect(stranger).toMatch(/^HTTP\/1.1 40[01]/)
      expect(stranger.toLowerCase()).toContain("connection: close")
      expect(stranger.match(/^HTTP\/1.1 \d/gm)).toHaveLength(1)
      expect(await written()).toBe(before)
      expect(venue.logs.join()).not.toContain("without a plan")
    }
  )

  it("a body that nobody reads is no request either", async () => {
    const before = await written()
    const smuggled = `${post}Authorization: ${operator}\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{"holderId":"sm-3"}`
    for (const line of [
      `GET /v1/health HTTP/1.1\r\nHost: x\r\n`,
      `GET /v1/holders?limit=1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${operator}\r\n`,
      `POST /v1/nowhere HTTP/1.1\r\nHost: x\r\n`,
      `DELETE /v1/holders HTTP/1.1\r\nHost: x\r\n`,
      `POST /v1/holders HTTP/1.1\r\nHost: x\r\n`
    ]) {
      const head = `${line}Content-Length: ${smuggled.length}\r\n\r\n`
      const answer = await raw(venue.port, `${head}${smuggled}`, 500)
      expect([line, answer.match(/^HTTP\/1.1 \d/gm)?.length]).toEqual([line, 1])
    }
    expect(await written()).toBe(before)
  })

  it("what follows an answer that closes is not answered again", async () => {
    const answer = await raw(
      venue.port,
      "GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n\0\0garbage\r\n\r\n"
    )
    expect(answer.match(/^HTTP\/1.1 \d/gm)).toHaveLength(1)
  })
})
