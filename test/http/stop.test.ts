/**
 * The stop of a host: what is in progress is answered, what does not move is not waited for, and
 * what the stop's end interrupts gets a problem on a connection that closes.
 */
import { Read } from "@bursar/engine-core"
import { Deferred, Effect, Schema } from "effect"
import { connect, type Socket } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { NoteId, tables } from "./tables.ts"
import { bearer, open, type Venue } from "./venue.ts"
import { until } from "../waiting.ts"

/** Reads that have begun, and the door at which they wait. */
let begun = 0
let door = Deferred.makeUnsafe<void>()

const slow = Read.one({
  name: "holders.get",
  doc: "Answers once the door is open.",
  route: "GET /v1/holders/{holderId}",
  audience: { operator: "all" },
  pinned: false,
  params: Schema.Struct({ holderId: NoteId }),
  value: Schema.Struct({ holderId: Schema.String }),
  refuses: [],
  run: ({ holderId }) =>
    Effect.suspend(() => {
      begun += 1
      return Effect.as(Deferred.await(door), { holderId })
    })
})

const served = {
  operations: tables.operations,
  queries: [slow, ...tables.queries.filter(({ name }) => name !== "holders.get")]
}

/** Longer than any test: a stop that waits for this has waited for what does not move. */
const forever = 3_600_000

const sockets: Array<Socket> = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

const opened = async (times: { readonly stopWithin: number; readonly partingWithin: number }) => {
  begun = 0
  door = Deferred.makeUnsafe<void>()
  return open({ tables: served, times })
}

/** A connection that sends some bytes; `answer` is all that it received when it was closed. */
const dial = (venue: Venue, bytes: string) => {
  const socket = connect(venue.port, "127.0.0.1")
  sockets.push(socket)
  const parts: Array<Buffer> = []
  socket.on("data", (part) => parts.push(part))
  socket.on("error", () => {})
  const text = () => Buffer.concat(parts).toString("latin1")
  const answer = new Promise<string>((resolve) => socket.once("close", () => resolve(text())))
  socket.write(bytes)
  return { socket, answer, text }
}

const get = (path: string, as: string, headers = "") =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\n${headers}\r\n`

describe("a host that stops", () => {
  it("answers what is in progress, as the last of its connection", async () => {
    const venue = await opened({ stopWithin: forever, partingWithin: 50 })
    const as = await bearer(["operator"])
    const { answer } = dial(venue, get("/v1/holders/h-1", as) + get("/v1/holders/h-2", as))
    await until(() => begun === 1)
    const stopped = venue.close()
    await Effect.runPromise(Deferred.succeed(door, undefined))
    const received = await answer
    await stopped
    expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(received.toLowerCase()).toContain("connection: close")
    // What was behind it has not begun.
    expect([begun, received.match(/HTTP\/1.1 /g)?.length]).toEqual([1, 1])
  })

  // Red without `cut` and `#endParked`: the stop waits for its whole time.
  it("does not wait for a body that does not arrive, nor for a connection without a request", async () => {
    const venue = await opened({ stopWithin: forever, partingWithin: 50 })
    const as = await bearer(["operator"])
    const parked = dial(
      venue,
      `POST /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\nX-Request-Id: parked-1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`
    )
    const half = dial(venue, "GET /v1/holders/h-1 HTT")
    const warm = dial(venue, get("/v1/nowhere", as))
    await until(() => warm.text().includes("404"))
    const idle = dial(venue, "")
    await until(() => parked.socket.bytesWritten > 0 && half.socket.bytesWritten > 0)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await venue.close()
    const received = await parked.answer
    expect(received).toMatch(/^HTTP\/1.1 503 /)
    expect(received).toContain("urn:bursar:problem:not-ready")
    expect(received).toContain('"requestId":"parked-1"')
    expect(received.toLowerCase()).toContain("retry-after: 5")
    expect(received.toLowerCase()).toContain("connection: close")
    await Promise.all([half.answer, warm.answer, idle.answer])
    expect(venue.logs.some((line) => /"status":503/.test(line))).toBe(true)
  })

  // Red where the library answers what it interrupts: a bare 503 on a connection that is kept.
  it("answers what its end interrupts with a problem that has an id, and closes", async () => {
    const venue = await opened({ stopWithin: 300, partingWithin: 100 })
    const as = await bearer(["operator"])
    const read = dial(venue, get("/v1/holders/h-1", as, "X-Request-Id: late-1\r\n"))
    await until(() => begun === 1)
    await venue.close()
    const received = await read.answer
    expect(received).toMatch(/^HTTP\/1.1 503 /)
    expect(received).toContain("urn:bursar:problem:not-ready")
    expect(received).toMatch(/^x-request-id: late-1\r$/im)
    expect(received.toLowerCase()).toContain("retry-after: 5")
    expect(received.toLowerCase()).toContain("connection: close")
  })
})
