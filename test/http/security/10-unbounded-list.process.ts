/**
 * A list of everything (security test 10): whole, in constant memory, paid for, and dropped when not taken.
 *
 * Seen red in a copy, all in handlers/read.ts: with the records collected before the first is sent (the
 * host died of it), with nothing charged for them (the figure that remains), and with the socket of a
 * slow caller left open.
 */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { Effect, Exit, Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { get } from "node:http"
import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { NoteId, notes, tables } from "../tables.ts"
import { audience, bearer, issuer, open, publicJwk, type Venue } from "../venue.ts"
import type { Given, Told } from "./unbounded-host.ts"
import { environment } from "../../processes/environment.ts"
import { tell } from "../../processes/tell.ts"

/** Collected in memory, so many end a host of 128 MB; the long run lists 200,000 (`LIST_COUNT`). */
const count = Number(process.env["LIST_COUNT"] ?? 40_000)
const calls = 1_000
const grownMax = 64 * 1024 * 1024

interface Read {
  readonly records: number
  readonly inOrder: boolean
  readonly end: string
  readonly next: string | null
  readonly remaining: number
}

describe(`${count} instruments without a limit`, () => {
  const scope = Effect.runSync(Scope.make())
  let child: ChildProcess
  let url = ""
  let operator = ""

  const nextMessage = () =>
    new Promise<Told>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`the host ended with ${code}`))
      child.once("exit", ended)
      child.once("message", (message: Told) => {
        child.off("exit", ended)
        resolve(message)
      })
    })
  const memory = async (command: "settle" | "look") => {
    const answer = nextMessage()
    tell(child, command)
    const found = await answer
    if (!("rss" in found)) throw new Error("the host said something else")
    return found
  }

  beforeAll(async () => {
    const databaseUrl = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
    const hostInput: Given = { databaseUrl, count, jwk: publicJwk, issuer, audience, calls }
    const file = new URL("unbounded-host.ts", import.meta.url).pathname
    child = fork(file, [], {
      // With little memory the garbage collector has to work, so that growth is what the list
      // keeps; a list that kept all its rows would end the process.
      execArgv: ["--expose-gc", "--max-old-space-size=128", "--max-semi-space-size=4"],
      env: { ...environment, GIVEN: JSON.stringify(hostInput) }
    })
    const started = await nextMessage()
    url = "url" in started ? started.url : ""
    operator = await bearer(["operator"])
  })
  afterAll(async () => {
    child.kill("SIGKILL")
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  /** Reads an answer as it comes, keeping nothing but the ids, and those only as a count. */
  const read = (path: string) =>
    new Promise<Read>((resolve, reject) => {
      get(`${url}${path}`, { headers: { authorization: operator } }, (response) => {
        let rest = ""
        let end = ""
        let records = 0
        let inOrder = true
        response.setEncoding("utf8")
        response.on("data", (chunk: string) => {
          const text = rest + chunk
          let counted = 0
          for (const { 0: whole, 1: id, index } of text.matchAll(
            /\{"instrumentId":"i([0-9]{6})"/g
          )) {
            records += 1
            inOrder &&= Number(id) === records
            counted = index + whole.length
          }
          // The end of a chunk is counted again with the next one: a record's beginning may be cut
          // in two.
          rest = text.slice(Math.max(counted, text.length - 24))
          end = (end + chunk).slice(-600)
        })
        response.on("error", reject)
        response.on("end", () => {
          const remaining = Number(response.headers["x-ratelimit-remaining"])
          const next = /"next":"([^"]+)"\}$/.exec(end)?.[1] ?? null
          resolve({ records, inOrder, end, next, remaining })
        })
      }).on("error", reject)
    })

  it("are all there, in order, for less than 64 MiB more than ten of them cost", async () => {
    // Warms up code, connections and caches before the memory is measured.
    let after = ""
    for (let page = 0; page < 2; page++) {
      const { next } = await read(`/v1/instruments?limit=1000${after}`)
      after = `&after=${next}`
    }
    const before = await memory("settle")
    const all = await read("/v1/instruments")
    const held = await memory("look")
    expect(all.records).toBe(count)
    expect(all.inOrder).toBe(true)
    expect(all.end.endsWith('],"next":null}')).toBe(true)
    expect(held.peak - before.rss).toBeLessThan(grownMax)
    // The pages, then a list; each is charged a call more for every thousand records.
    const next = await read("/v1/instruments?limit=1")
    const charged = calls - 2 * 2 - (1 + count / 1_000) - 1
    expect(next.remaining).toBeGreaterThanOrEqual(charged)
    // The budget fills again while the list is read, by a few calls at most however slow the machine.
    expect(next.remaining).toBeLessThan(charged + count / 2_000)
  })
})

describe("a caller that takes its answer too slowly", () => {
  let venue: Venue
  beforeAll(async () => {
    venue = await open({ tables, times: { takenWithin: 1_000 } })
    // Far more than sockets hold on the way.
    const made = Array.from({ length: 4_000 }, (_, index) => ({
      holderId: NoteId.make(`n${String(index).padStart(5, "0")}`),
      text: "x".repeat(8_000),
      amount: Decimal.one,
      owner: null
    }))
    await venue.run(
      Effect.gen(function* () {
        const records = yield* Records
        const act = { cause: { by: "request" as const, requestId: "r" }, now: yield* Instant.now }
        yield* records.transact(Effect.forEach(made, (note) => records.open(notes, note, act)))
      })
    )
  })
  afterAll(() => venue.close())

  it("is dropped in the middle, and what it has cannot pass for the whole", async () => {
    const as = await bearer(["operator"])
    const text = await new Promise<string>((resolve) => {
      const socket = connect(venue.port, "127.0.0.1")
      let read = ""
      socket.on("connect", () =>
        socket.write(`GET /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${as}\r\n\r\n`)
      )
      // A little at a time: all of it would take minutes.
      socket.on("data", (chunk) => {
        read += chunk.toString("latin1")
        socket.pause()
        setTimeout(() => socket.resume(), 50)
      })
      socket.on("error", () => undefined)
      socket.on("close", () => resolve(read))
    })
    expect(text.startsWith("HTTP/1.1 200")).toBe(true)
    expect(text).not.toContain('"next":null')
    expect(text.endsWith("0\r\n\r\n")).toBe(false)
    // Other calls are served as before.
    const other = await fetch(`${venue.url}/v1/holders?limit=1`, { headers: { authorization: as } })
    expect(other.status).toBe(200)
    await other.text()
  })
})
