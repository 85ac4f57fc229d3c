/** Attack 29: whoever may ask for the venue's health learns nothing by it, and wears nothing down. */
import { Refusal } from "@bursar/engine-core"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as DatabaseProxy from "../../database-proxy.ts"
import { json, open, send, slugOf, type Venue } from "../venue.ts"

/** As a store says it that is away, with what an attacker would like to read. */
const away = Refusal.unavailable("not-ready", "ECONNREFUSED 10.1.2.3:5432 db.internal bursar", 5)

const calls = 10_000
const callers = 50

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

  // Red when the handler asks the store: one connection a call is tried. The looker's own looks
  // are counted apart; in this venue nothing else runs beside the requests.
  it("costs ten thousand callers no connection, and the looker not one look more", async () => {
    const [tries, looked, started] = [proxy.tries(), looks, performance.now()]
    const durations: Array<number> = []
    const caller = async () => {
      for (let at = 0; at < calls / callers; at++) {
        const response = await send(venue, { path: "/v1/health" })
        expect(response.status).toBe(503)
        await response.arrayBuffer()
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
    const seconds = (performance.now() - started) / 1_000
    expect(proxy.tries()).toBe(tries)
    expect(looks - looked).toBeLessThanOrEqual(Math.ceil(seconds / 2) + 1)
    // One caller alone: what a call takes when it does not wait for others.
    for (let at = 0; at < 200; at++) {
      const before = performance.now()
      await (await send(venue, { path: "/v1/health" })).arrayBuffer()
      durations.push(performance.now() - before)
    }
    const middle = durations.toSorted((a, b) => a - b)[100] ?? Number.POSITIVE_INFINITY
    expect(middle).toBeLessThan(5)
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
