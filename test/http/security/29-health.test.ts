/** Attack 29: readers of the venue's health learn no internals, and cannot exhaust the host by it. */
import { Refusal } from "@bursar/engine-core"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Exit, Redacted, Scope } from "effect"
import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as DatabaseProxy from "../../database-proxy.ts"
import { json, open, send, slugOf, type Venue } from "../venue.ts"
import { isLong } from "../../long-run.ts"

/** Error of a store that is away, with details that an attacker would like to read. */
const away = Refusal.unavailable("not-ready", "ECONNREFUSED 10.1.2.3:5432 db.internal bursar", 5)

const callers = 50
/** Requests that a caller sends over one connection: fewer than may wait on one. */
const pipelinedCalls = 20
const rounds = isLong ? 10 : 1

const ask = (last: "close" | "keep-alive") =>
  `GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: ${last}\r\n\r\n`

/** Asks so often over one connection, without waiting in between; the statuses of the answers. */
const pipelined = (port: number, count: number): Promise<ReadonlyArray<string>> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1")
    const parts: Array<Buffer> = []
    socket.on("data", (part) => parts.push(part))
    socket.on("error", reject)
    socket.on("close", () => {
      const text = Buffer.concat(parts).toString("latin1")
      resolve([...text.matchAll(/HTTP\/1\.1 ([0-9]{3})/g)].map(([, status]) => status ?? ""))
    })
    socket.write(ask("keep-alive").repeat(count - 1) + ask("close"))
  })

describe("the venue's health while its database is down", () => {
  const scope = Effect.runSync(Scope.make())
  let proxy: DatabaseProxy.Proxy
  let venue: Venue
  let looks = 0

  beforeAll(async () => {
    const url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
    proxy = await DatabaseProxy.start(url)
    venue = await open({
      storage: Postgres.layer({ url: Redacted.make(proxy.url), maxConnections: 4 }),
      vitals: Effect.suspend(() => {
        looks += 1
        return Effect.fail(away)
      })
    })
    proxy.close()
  })
  afterAll(async () => {
    await venue.close()
    await proxy.end()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  // Red when the handler asks the store, or has the looker look: once a call, then.
  it("costs thousands of callers no connection, and the looker not one look more", async () => {
    const [tries, looked, started] = [proxy.tries(), looks, performance.now()]
    for (let round = 0; round < rounds; round++) {
      const statuses = await Promise.all(
        Array.from({ length: callers }, () => pipelined(venue.port, pipelinedCalls))
      )
      expect(statuses.flat()).toHaveLength(callers * pipelinedCalls)
      expect(new Set(statuses.flat())).toEqual(new Set(["503"]))
    }
    const seconds = (performance.now() - started) / 1_000
    // The store's own session, by which it hears of news, comes back by itself: once a second at most.
    expect(proxy.tries() - tries).toBeLessThanOrEqual(Math.ceil(seconds) + 2)
    // Four a second for any caller.
    expect(looks - looked).toBeLessThanOrEqual(Math.ceil(seconds * 4) + 1)
  })

  it("says that it is not ready and when to ask again: no names, addresses or causes", async () => {
    const response = await send(venue, { path: "/v1/health" })
    expect(response.headers.get("retry-after")).toBe("5")
    const text = await response.clone().text()
    expect(await slugOf(response)).toBe("not-ready")
    for (const word of ["ECONN", "10.1.2.3", "5432", "db.internal", "127.0.0.1", "postgres"]) {
      expect(text.toLowerCase()).not.toContain(word.toLowerCase())
    }
  })
})

describe("the venue's health while all is well", () => {
  it("has the listed fields and no other", async () => {
    const venue = await open()
    const health = await json<{ readonly value: object }>(await send(venue, { path: "/v1/health" }))
    expect(Object.keys(health)).toEqual(["offset", "now", "value"])
    expect(Object.keys(health.value)).toEqual([
      "status",
      "ready",
      "api",
      "version",
      "startedAt",
      "projectionOffset",
      "ledgerEnd"
    ])
    await venue.close()
  })
})
