/**
 * Files of statements on the wire: streamed to the stage, within their limits, and read only once
 * nothing can refuse the call any more. The intake is a stand-in that keeps what it was handed.
 */
import { Intake } from "@bursar/engine-core"
import { Date } from "@bursar/engine-core/kernel"
import type { SigningKey } from "@bursar/http-host"
import * as Client from "@bursar/http-host/client"
import { createHash, randomBytes } from "node:crypto"
import { connect } from "node:net"
import { Effect, Redacted, Stream } from "effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import { gzipSync } from "node:zlib"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as Body from "#host/wire/Body.ts"
import { secret, sign } from "./signing.ts"
import * as Staging from "./staging.ts"
import { bearer, json, open, type Problem, raw, slugOf, type Venue } from "./venue.ts"

const kibi = 1024
const path = "/v1/external-statements"
const query = "?externalSourceId=bank-1"
const bytesMax = 256 * kibi

const signer: SigningKey = {
  keyId: "k-1",
  sub: "signer",
  secret: Redacted.make(new Uint8Array(secret)),
  notBefore: null,
  notAfter: null
}

const staging = Staging.make()
let venue: Venue
let feed: string
beforeAll(async () => {
  venue = await open({
    intake: staging.layer,
    uploads: { bytesMax, within: 1_500 },
    // A file may take longer than any other body.
    times: { headersWithin: 300, requestWithin: 300, lookedAtEvery: 50 },
    signing: { keys: [signer] }
  })
  feed = await bearer(["feed"])
})
afterAll(() => venue.close())
afterEach(() => {
  // The stage of a call is closed whatever its outcome.
  expect(staging.open).toBe(0)
  staging.handed.length = 0
})

const post = (
  body: string | Uint8Array | ReadableStream<Uint8Array>,
  options: {
    readonly as?: string
    readonly query?: string
    readonly headers?: Readonly<Record<string, string>>
  } = {}
) =>
  fetch(`${venue.url}${path}${options.query ?? query}`, {
    method: "POST",
    headers: {
      authorization: options.as ?? feed,
      "content-type": "text/csv",
      "idempotency-key": crypto.randomUUID(),
      ...options.headers
    },
    body: body instanceof ReadableStream || typeof body === "string" ? body : Buffer.from(body),
    ...(body instanceof ReadableStream ? { duplex: "half" } : {})
  } as RequestInit)

/** A body in pieces, each after a pause. */
const inPieces = (pieces: ReadonlyArray<Uint8Array>, pause: number) =>
  new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const piece of pieces) {
        await new Promise((resolve) => setTimeout(resolve, pause))
        try {
          controller.enqueue(piece)
        } catch {
          // The host has closed the connection.
          return
        }
      }
      controller.close()
    }
  })

const head = (more: string, as = feed) =>
  `POST ${path}${query} HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\nContent-Type: text/csv\r\n${more}\r\n`

describe("the file of a statement", () => {
  it("is handed over byte by byte, whatever its bytes are, with its place as the answer", async () => {
    const bytes = randomBytes(200 * kibi)
    const response = await post(bytes, { headers: { "content-type": "application/xml" } })
    const id = Staging.idOf(bytes)
    expect([response.status, response.headers.get("location")]).toEqual([201, `${path}/${id}`])
    expect(await json(response)).toMatchObject({ externalStatementId: id })
    expect(staging.handed.map((handed) => handed.bytes.equals(bytes))).toEqual([true])
  })

  it("is the statement that is there when it comes again, under another key too", async () => {
    const first = await post("again")
    const again = await post("again")
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.headers.get("idempotent-replayed")).toBe("true")
    expect(again.headers.get("location")).toBe(first.headers.get("location"))
    expect(await again.text()).toBe(await first.text())
  })

  it("of JSON is not parsed by the host: its own reader judges its members", async () => {
    const body = '{"a":1,"a":1e400}'
    expect((await post(body, { headers: { "content-type": "application/json" } })).status).toBe(201)
    expect(staging.handed.map(({ bytes }) => bytes.toString())).toEqual([body])
  })

  it("says in its query what it is of", async () => {
    const named = "&instrumentId=fund-a&businessDate=2026-07-31&corrects=st-1"
    expect((await post("named", { query: query + named })).status).toBe(201)
    expect((await post("named-2")).status).toBe(201)
    expect(staging.handed.map((handed) => handed.named)).toEqual([
      {
        externalSourceId: "bank-1",
        instrumentId: "fund-a",
        businessDate: "2026-07-31",
        corrects: "st-1"
      },
      { externalSourceId: "bank-1", instrumentId: null, businessDate: null, corrects: null }
    ])
  })

  it.each([
    ["", ["/query/externalSourceId"]],
    ["?externalSourceId=a%20b", ["/query/externalSourceId"]],
    [`${query}&externalSourceId=bank-2`, ["/query/externalSourceId"]],
    [`${query}&businessDate=2026-02-30&corrects=`, ["/query/businessDate", "/query/corrects"]],
    [`${query}&businessDate=31.07.2026`, ["/query/businessDate"]],
    [`${query}&instrumentId=../x`, ["/query/instrumentId"]],
    [`${query}&at=3`, ["/query/at"]],
    [`${query}&__proto__=x`, ["/query/__proto__"]]
  ])("is never read with the query %s", async (given, pointers) => {
    const response = await post("a", { query: given })
    expect(response.status).toBe(400)
    const { errors } = await json<Problem>(response)
    expect(errors?.map(({ pointer }) => pointer).toSorted()).toEqual(pointers)
    expect(staging.handed).toEqual([])
  })
})

describe("the media type of a file", () => {
  it.each([
    ["application/xml", "application/xml", null],
    ["text/xml; charset=utf-8", "text/xml", "utf-8"],
    ['text/csv;charset="ISO-8859-15"', "text/csv", "iso-8859-15"],
    ["Application/JSON ; Charset=UTF-8", "application/json", "utf-8"]
  ])("%s is taken", async (sent, mediaType, charset) => {
    expect((await post(`of ${sent}`, { headers: { "content-type": sent } })).status).toBe(201)
    expect(staging.handed).toMatchObject([{ mediaType, charset }])
  })

  it.each([
    ["text/plain"],
    ["application/zip"],
    ["application/octet-stream"],
    ["application/xml, text/csv"],
    ["text/csv; header=present"],
    ["text/csv; charset=utf-8; charset=utf-16"],
    ['text/csv; charset="utf-8'],
    ["application/xml+gzip"],
    ["multipart/form-data; boundary=x"]
  ])("%s is 415, and nothing of the file is staged", async (sent) => {
    const { opened } = staging
    const response = await post("a", { headers: { "content-type": sent } })
    expect(await slugOf(response)).toBe("unsupported-media-type")
    expect([response.status, staging.opened]).toEqual([415, opened])
  })

  it.each(["gzip", "GZIP", "deflate", "br", "zstd", "identity, gzip", "gzip, gzip", "x"])(
    "that was compressed for its way as %s is 415, and not a byte of it is staged",
    async (encoding) => {
      const { opened } = staging
      // Packed twice: a megabyte in a few hundred bytes.
      const bomb = gzipSync(gzipSync("a;b\n".repeat(262_144)))
      const response = await post(bomb, { headers: { "content-encoding": encoding } })
      expect(await slugOf(response)).toBe("unsupported-media-type")
      expect([response.status, staging.opened]).toEqual([415, opened])
    }
  )

  it("that says it was not compressed is taken as it is", async () => {
    const packed = gzipSync("a;b\n")
    expect((await post(packed, { headers: { "content-encoding": "identity" } })).status).toBe(201)
    expect(staging.handed.map(({ bytes }) => bytes.equals(packed))).toEqual([true])
  })
})

describe("a file that is too large", () => {
  it("is 413 when it says so, before any of it is staged, and its connection ends", async () => {
    const { opened, bytes } = staging
    const answer = await raw(venue.port, head(`Content-Length: ${bytesMax + 1}\r\n`))
    expect(answer).toMatch(/^HTTP\/1.1 413/)
    expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n")
    expect([staging.bytes - bytes, staging.opened - opened]).toEqual([0, 1])
  })

  it("is 413 at the first byte too many when it does not say so, and leaves nothing", async () => {
    const { bytes } = staging
    const chunk = `${(bytesMax / 4).toString(16)}\r\n${"x".repeat(bytesMax / 4)}\r\n`
    const answer = await raw(
      venue.port,
      `${head("Transfer-Encoding: chunked\r\n")}${chunk.repeat(4)}1\r\nx\r\n0\r\n\r\n`
    )
    expect(answer).toMatch(/^HTTP\/1.1 413/)
    expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n")
    expect(staging.bytes - bytes).toBeLessThanOrEqual(bytesMax)
    expect(staging.handed).toEqual([])
  })

  it("is taken at the limit itself, with a length and in chunks", async () => {
    expect((await post("x".repeat(bytesMax))).status).toBe(201)
    const pieces = Array.from({ length: 4 }, () => Buffer.alloc(bytesMax / 4, "y"))
    expect((await post(inPieces(pieces, 0))).status).toBe(201)
    expect(staging.handed.map(({ bytes }) => bytes.length)).toEqual([bytesMax, bytesMax])
  })
})

describe("a file that comes slowly", () => {
  it("is taken within its own limit, though another body would be late", async () => {
    const pieces = Array.from({ length: 6 }, (_, n) => Buffer.from(`${n};slow\n`))
    expect((await post(inPieces(pieces, 120))).status).toBe(201)
  })

  it("is 408 after it, and the connection ends with nothing staged", async () => {
    const answer = await raw(venue.port, `${head("Content-Length: 9\r\n")}only`, 4_000)
    expect(answer).toMatch(/^HTTP\/1.1 408/)
    expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n")
    expect(answer).toContain("urn:bursar:problem:request-timeout")
    expect(staging.handed).toEqual([])
  })

  it("or never comes, whatever length it announced, is no statement", async () => {
    for (const framing of ["Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"]) {
      const { opened } = staging
      await new Promise<void>((resolve) => {
        const socket = connect(venue.port, "127.0.0.1", () => {
          socket.write(`${head(framing)}5\r\nabcde\r\n`)
          setTimeout(() => socket.destroy(), 100)
        })
        socket.on("close", () => setTimeout(resolve, 100))
      })
      expect([staging.opened - opened, staging.open, staging.handed]).toEqual([1, 0, []])
    }
  })

  it("that breaks off is refused, and never read as if it had ended, while its sender is connected", async () => {
    const bytes = Stream.concat(Stream.make(Buffer.from("1;a")), Stream.fail(new Error("cut")))
    const request = { headers: {}, stream: bytes } as unknown as HttpServerRequest
    const refusal = await Effect.runPromise(
      Effect.flip(Stream.runCollect(Body.stream(request, bytesMax)))
    )
    expect([refusal.slug, refusal.details.detail]).toEqual([
      "invalid-request",
      "The body did not arrive whole."
    ])
  })

  it("ends where its length says, and what follows is no part of it", async () => {
    const answer = await raw(
      venue.port,
      `${head("Content-Length: 3\r\n")}abcGET /x HTTP/1.1\r\n\r\n`
    )
    expect(answer).toMatch(/^HTTP\/1.1 201/)
    expect(staging.handed.map(({ bytes }) => bytes.toString())).toEqual(["abc"])
  })

  it("of two framings is 400 and closed", async () => {
    const both = "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"
    const answer = await raw(venue.port, `${head(both)}3\r\nabc\r\n0\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1.1 400/)
    expect(staging.handed).toEqual([])
  })
})

describe("who hands a file in", () => {
  it.each(["approver", "risk", "compliance", "auditor", "app", "registrar", "investor", "monitor"])(
    "is never %s, and nothing of the file is staged",
    async (role) => {
      const { opened } = staging
      const response = await post("a", {
        as: await bearer([role], { holder: "h", party: "p::12" })
      })
      expect(await slugOf(response)).toBe("permission-denied")
      expect(staging.opened).toBe(opened)
    }
  )

  it("is nobody without a token", async () => {
    const { opened } = staging
    const response = await post("a", { as: "Bearer nonsense" })
    expect([response.status, staging.opened]).toEqual([401, opened])
  })
})

describe("a signed file", () => {
  const target = `${path}${query}`
  const signedPost = async (
    signed: string,
    sent: string,
    options: { readonly timestamp?: number } = {}
  ) =>
    post(sent, {
      as: await bearer(["feed"], { sub: "signer" }),
      headers: sign({ method: "POST", target, body: signed, ...options })
    })

  it("is taken by the hash of its bytes, and the statement knows the key", async () => {
    expect((await signedPost("signed;file\n", "signed;file\n")).status).toBe(201)
    expect(staging.handed.map(({ keyId }) => keyId)).toEqual(["k-1"])
  })

  it("is never read with a byte that was not signed", async () => {
    expect(await slugOf(await signedPost("signed;file\n", "Signed;file\n"))).toBe(
      "signature-invalid"
    )
    const unsigned = await post("a", { as: await bearer(["feed"], { sub: "signer" }) })
    expect(await slugOf(unsigned)).toBe("signature-required")
    expect(staging.handed).toEqual([])
  })

  it("sent again is refused by its nonce", async () => {
    const headers = sign({ method: "POST", target, body: "nonce;file\n" })
    const as = await bearer(["feed"], { sub: "signer" })
    expect((await post("nonce;file\n", { as, headers })).status).toBe(201)
    expect(await slugOf(await post("nonce;file\n", { as, headers }))).toBe("nonce-reused")
  })
})

describe("the client", () => {
  const clientOf = (authorization: string, signing?: Client.Signature.SigningKey) =>
    Client.overFetch({
      baseUrl: venue.url,
      authorization: Effect.succeed(authorization),
      ...(signing === undefined ? {} : { signing })
    })
  const params = { externalSourceId: "bank-1", businessDate: Date.of("2026-07-31") }
  const text = (content: string) => new TextEncoder().encode(content)

  it("sends a file whole or as a stream, and reads the receipt", async () => {
    const client = clientOf(feed)
    for (const bytes of [text("one;two\n"), Stream.make(text("one;"), text("two\n"))]) {
      const file = { mediaType: "text/csv; charset=utf-8", bytes }
      const answer = await Effect.runPromise(client.upload(Intake.statementFile, params, { file }))
      expect(answer).toMatchObject({ externalStatementId: Staging.idOf("one;two\n") })
    }
    expect(staging.handed.map(({ bytes, charset }) => [bytes.toString(), charset])).toEqual([
      ["one;two\n", "utf-8"],
      ["one;two\n", "utf-8"]
    ])
  })

  it("signs a file by its bytes, and a stream by the hash that it is given", async () => {
    const client = clientOf(await bearer(["feed"], { sub: "signer" }), { keyId: "k-1", secret })
    const upload = (file: Client.File) =>
      Effect.runPromise(Effect.result(client.upload(Intake.statementFile, params, { file })))
    const mediaType = "text/csv"
    const bytes = text("signed\n")
    const sha256 = createHash("sha256").update(bytes).digest("hex")
    const stream = Stream.make(bytes)
    expect(await upload({ mediaType, bytes })).toMatchObject({ _tag: "Success" })
    expect(await upload({ mediaType, bytes: stream, sha256 })).toMatchObject({ _tag: "Success" })
    expect(staging.handed).toMatchObject([{ keyId: "k-1" }, { keyId: "k-1" }])
    expect(await upload({ mediaType, bytes: stream })).toMatchObject({
      failure: { _tag: "InputInvalid" }
    })
    const wrong = createHash("sha256").update("other").digest("hex")
    expect(await upload({ mediaType, bytes: stream, sha256: wrong })).toMatchObject({
      failure: { slug: "signature-invalid" }
    })
  })
})

describe("a refused file in the audit log", () => {
  it("is named by the fingerprint of its bytes, and by nothing that is in it", async () => {
    const body = "planted;account\n"
    const refused = `${query}&businessDate=never`
    expect((await post(body, { query: refused })).status).toBe(400)
    const as = await bearer(["auditor"])
    const log = await fetch(`${venue.url}/v1/audit-log?action=statement.receive`, {
      headers: { authorization: as }
    })
    const text = await log.text()
    const fingerprint = createHash("sha256")
      .update(`POST\n${path}\n${refused.slice(1)}\n${body}`)
      .digest("hex")
    expect(text).toContain(fingerprint)
    expect(text).not.toContain("planted")
    expect(venue.logs.join("\n")).not.toContain("planted")
  })
})
