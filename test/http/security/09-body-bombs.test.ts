/**
 * Attack 9: bodies that are too long, too deep, too many or packed, and what is read of them.
 *
 * Each switched off in a copy and seen red: the announced length and the counted one in wire/Body.ts
 * (413 that says so, and that does not); `content-encoding` in Limits.ts (packed); each of the six
 * limits in JsonReader.ts (its own figure, and all but tokens and items the bombs); the end of the
 * connection in `parting` of Arrival.ts (what nobody asked for). With bodies read one at a time the
 * fifty callers were red.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { Operation } from "@bursar/engine-core"
import { Effect, Schema } from "effect"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { PlainSchema } from "#core/kernel/PlainSchema.ts"
import { NoteId, tables } from "../tables.ts"
import { bearer, json, open, type Problem, raw, send, slugOf, type Venue } from "../venue.ts"

/** A write that takes any JSON: what it refuses, its limits refuse. */
const anything = Operation.define("instrument.pause", {
  doc: "Takes anything.",
  route: "POST /v1/instruments/{instrumentId}:pause",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "instrument",
    id: ({ instrumentId }) => instrumentId,
    href: ({ instrumentId }) => `/v1/instruments/${instrumentId}`
  },
  input: Schema.Struct({ instrumentId: NoteId, data: Schema.optionalKey(PlainSchema) }),
  result: Schema.Struct({ instrumentId: NoteId }),
  refuses: [],
  run: ({ instrumentId }) => Effect.succeed({ instrumentId })
})

let venue: Venue
let operator: string
beforeAll(async () => {
  venue = await open({
    tables: {
      operations: [anything, ...tables.operations.filter(({ kind }) => kind !== anything.kind)],
      queries: tables.queries
    }
  })
  operator = await bearer(["operator"])
})
afterAll(() => venue.close())

const mebi = 1024 * 1024
const path = "/v1/instruments/i-1:pause"
const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  send(venue, { method: "POST", path, as: operator, body, headers })
const head = (more: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${operator}\r\nContent-Type: application/json\r\n${more}\r\n`

/** The host's own end of every connection made while `during` runs. */
const serverSockets = async (during: () => Promise<void>): Promise<ReadonlyArray<Socket>> => {
  const openSockets = new Set<Socket>()
  const started = (message: unknown) => {
    const { request } = message as { readonly request: { readonly socket: Socket } }
    if (request.socket.localPort === venue.port) openSockets.add(request.socket)
  }
  subscribe("http.server.request.start", started)
  await during()
  unsubscribe("http.server.request.start", started)
  return [...openSockets]
}

/** Sends without an end, until the host does not take it any more; answers what the host said. */
const pour = (start: string, piece: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(venue.port, "127.0.0.1")
    let said = ""
    const write = () => {
      while (socket.writable && socket.write(piece)) if (socket.writableLength > 4 * mebi) break
    }
    socket.on("data", (part) => {
      said += part.toString("latin1")
    })
    socket.on("drain", write)
    socket.on("error", () => {})
    socket.on("close", () => resolve(said))
    socket.write(start)
    write()
  })

describe("a body of more than 1 MiB", () => {
  it("is 413 when it says so, and nothing of it is read", async () => {
    const [socket] = await serverSockets(async () => {
      const answer = await raw(venue.port, head(`Content-Length: ${mebi + 1}\r\n`))
      expect(answer).toMatch(/^HTTP\/1.1 413/)
      expect(answer.toLowerCase()).toContain("connection: close")
    })
    expect(socket?.bytesRead).toBeLessThan(4096)
  })

  it("is 413 when it does not say so either, one byte too long or without an end", async () => {
    const just = `${"40000\r\n".concat(" ".repeat(0x40000), "\r\n").repeat(4)}1\r\n \r\n0\r\n\r\n`
    const [one] = await serverSockets(async () => {
      expect(await raw(venue.port, `${head("Transfer-Encoding: chunked\r\n")}${just}`)).toMatch(
        /^HTTP\/1.1 413/
      )
    })
    expect(one?.bytesRead).toBeLessThanOrEqual(1.1 * mebi)
    const piece = `4000\r\n${" ".repeat(0x4000)}\r\n`
    const [endless] = await serverSockets(async () => {
      expect(await pour(head("Transfer-Encoding: chunked\r\n"), piece)).toMatch(/^HTTP\/1.1 413/)
    })
    if (endless?.destroyed === false) await once(endless, "close")
    // The rest was in the host's buffers when the limit was passed; no more is read.
    expect(endless?.bytesRead).toBeGreaterThan(mebi)
    expect(endless?.bytesRead).toBeLessThanOrEqual(1.25 * mebi)
  })

  it("of exactly 1 MiB is read, with a length and in chunks", async () => {
    const body = '{"data":null}'.padEnd(mebi, " ")
    expect((await post(body)).status).toBe(202)
    const chunked = `${head("Transfer-Encoding: chunked\r\nConnection: close\r\n")}100000\r\n${body}\r\n0\r\n\r\n`
    expect(await raw(venue.port, chunked)).toMatch(/^HTTP\/1.1 20[02]/)
  })

  it("that nobody asked for is not read at all: before sign-in, and where none is taken", async () => {
    const starts = [
      [
        "401",
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
      ],
      ["404", "POST /v1/nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"],
      ["200", "GET /v1/health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"]
    ] as const
    for (const [status, start] of starts) {
      const [socket] = await serverSockets(async () => {
        const answer = await pour(start, `4000\r\n${" ".repeat(0x4000)}\r\n`)
        expect([status, answer.slice(9, 12)]).toEqual([status, status])
        expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n")
      })
      // The host read the bytes that arrived with the headers, and little more.
      expect(socket?.bytesRead).toBeLessThan(mebi)
    }
  })
})

describe("a packed body", () => {
  it("is 415, whatever it would unpack to", async () => {
    for (const encoding of ["gzip", "deflate", "br", "identity, gzip", "x"]) {
      const response = await post(gzipSync("{}"), { "content-encoding": encoding })
      expect([encoding, response.status, await slugOf(response)]).toEqual([
        encoding,
        415,
        "unsupported-media-type"
      ])
    }
    expect((await post("{}", { "content-encoding": "identity" })).status).toBe(202)
  })
})

describe("JSON", () => {
  const data = (value: string) => `{"data":${value}}`
  const nested = (depth: number) => `${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}`
  const list = (count: number, item: string) => Array.from({ length: count }, () => item).join(",")
  /** JSON with this number of values and names, in few lists. */
  const tokens = (count: number) => {
    // The object, its member's name and the outer list are three; a list of 9 998 is one more.
    const whole = Math.floor((count - 3) / 9_999)
    const rest = count - 3 - whole * 9_999
    const lists = Array.from({ length: whole }, () => `[${list(9_998, "1")}]`)
    return `[${[...lists, ...(rest === 0 ? [] : [`[${list(rest - 1, "1")}]`])].join(",")}]`
  }
  const cases: ReadonlyArray<readonly [string, (figure: number) => string, number]> = [
    ["depth", nested, 32],
    ["tokens", tokens, 200_000],
    [
      "members of one object",
      (n) => `{${Array.from({ length: n }, (_, i) => `"m${i}":1`).join(",")}}`,
      1_000
    ],
    ["items of one array", (n) => `[${list(n, "1")}]`, 10_000],
    ["a string's bytes", (n) => `"${"a".repeat(n)}"`, 65_536],
    ["a number's characters", (n) => `0.${"1".repeat(n - 2)}`, 40]
  ]
  it.each(cases)("%s: at the figure it is taken, one above it is 400", async (_, make, figure) => {
    const taken = await post(data(make(figure)))
    expect([taken.status, taken.ok ? null : await taken.text()]).toEqual([202, null])
    const refused = await post(data(make(figure + 1)))
    const { errors } = await json<Problem>(refused.clone())
    expect([refused.status, await slugOf(refused)]).toEqual([400, "invalid-request"])
    expect(errors?.[0]?.pointer).toMatch(/^\/body/)
  })

  it("that is a bomb is 400, quickly, and the next call is answered", async () => {
    const bombs = [
      "[".repeat(200_000),
      `${"[".repeat(200_000)}${"]".repeat(200_000)}`,
      '{"a":'.repeat(150_000),
      data(`{${Array.from({ length: 90_000 }, (_, i) => `"m${i}":0`).join(",")}}`),
      data(`[${list(500_000, "1")}]`),
      data(`"${"\\u0061".repeat(170_000)}"`),
      data("1".repeat(10_000)),
      data(`-0.${"0".repeat(1_000_000)}1`),
      `${" ".repeat(1_000_000)}`,
      "\u00ef\u00bb\u00bf{}",
      '{"data":"\\ud800"}',
      '{"data":"\\u0000"}'
    ]
    for (const bomb of bombs) {
      const response = await post(bomb)
      expect([bomb.slice(0, 20), response.status]).toEqual([bomb.slice(0, 20), 400])
      expect(await slugOf(response)).toBe("invalid-request")
    }
    expect((await post("{}")).status).toBeLessThan(300)
    expect(venue.logs.join("\n")).not.toContain("without a plan")
  })

  it("of bytes that are no UTF-8 is 400", async () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0x80, 0x22],
      [0xef, 0xbb, 0xbf, 0x7b, 0x7d],
      [0x22, 0xed, 0xa0, 0x80, 0x22]
    ]) {
      expect((await post(Uint8Array.from(bytes))).status).toBe(400)
    }
  })
})

describe("fifty callers that send their bodies a byte at a time", () => {
  it("keep nobody else from being answered, and are answered once they are done", async () => {
    const body = '{"data":null}'
    const slow = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = connect(venue.port, "127.0.0.1")
        await once(socket, "connect")
        // Closes the socket after the test, whatever its outcome.
        onTestFinished(() => void socket.destroy())
        socket.write(`${head(`Content-Length: ${body.length}\r\nConnection: close\r\n`)}{`)
        let said = ""
        socket.on("data", (part) => {
          said += part.toString("latin1")
        })
        return { socket, closed: once(socket, "close").then(() => said), said: () => said }
      })
    )
    for (let i = 0; i < 5; i++) {
      const path = "/v1/holders?limit=1"
      expect((await send(venue, { path, as: operator })).status).toBe(200)
      expect((await post("{}")).status).toBeLessThan(300)
    }
    expect(slow.map(({ said }) => said()).join("")).toBe("")
    for (const { socket } of slow) socket.write(body.slice(1))
    for (const { closed } of slow) expect(await closed).toMatch(/^HTTP\/1.1 20[02]/)
  })
})
