/**
 * `bursar start` as a process: its log and its routes, a database that is away and comes back, its
 * end.
 */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { Effect, Exit, Scope } from "effect"
import { mkdtemp } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as DatabaseProxy from "../database-proxy.ts"
import { pipelined } from "../ledger-door/pipelined.ts"
import { run, start } from "./Bin.ts"
import { isLong } from "../long-run.ts"
import { remove } from "../folders.ts"

const scope = Effect.runSync(Scope.make())
let folder = ""
let proxy: DatabaseProxy.Proxy
let provider: Server
/** The settings of a venue of its own, so that the tests may run side by side. */
const venueOf = async (name: string, url?: string): Promise<Readonly<Record<string, string>>> => ({
  DATABASE_URL: url ?? (await Effect.runPromise(Scope.provide(TestDatabase.url, scope))),
  BURSAR_DATA: join(folder, name),
  BURSAR_ISSUER: "https://issuer.test",
  BURSAR_JWKS_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks`,
  BURSAR_PORT: "0",
  BURSAR_MANAGEMENT_PORT: "0",
  BURSAR_LEDGER_DOOR_PORT: "0"
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-start-"))
  const url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  proxy = await DatabaseProxy.start(url)
  provider = createServer((_, response) => response.end('{"keys":[]}'))
  await new Promise<void>((listening) => provider.listen(0, "127.0.0.1", listening))
})
afterAll(async () => {
  provider.close()
  await proxy.end()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await remove(folder)
})

const status = async (url: string): Promise<number> => {
  const response = await fetch(url)
  await response.arrayBuffer()
  return response.status
}

describe.concurrent("bursar start", () => {
  // Red when readiness is wired into liveness, when a failed look ends the looker, or when the
  // engine ends with its database.
  it("outlives its database: 503 without it and never a dead process, well again with it; ends with 0", async ({
    expect
  }) => {
    const { at, child, ended, log } = await start(
      "start",
      await venueOf("one", proxy.url),
      "sources"
    )
    const health = `${at.api}/v1/health`
    const [live, ready] = [`${at.management}/livez`, `${at.management}/readyz`]
    try {
      await expect.poll(() => status(health)).toBe(200)
      await expect.poll(() => status(ready)).toBe(200)
      expect(await status(live)).toBe(200)

      const metrics = async () => (await fetch(`${at.management}/metrics`)).text()
      // The first look at the figures begins when the venue is up.
      await expect.poll(metrics).toMatch(/^bursar_audit_checkpoint_age_seconds [0-9.]+$/m)
      const figures = await metrics()
      expect(figures).toMatch(/^# TYPE http_server_request_duration_seconds histogram$/m)
      expect(figures).toMatch(
        /^http_server_request_duration_seconds_bucket\{.*http_route="\/v1\/health".*le="0\.005"\} /m
      )
      expect(figures).toMatch(/^bursar_feed_head [0-9]+$/m)
      for (const path of ["/livez", "/readyz", "/metrics"])
        expect(await status(at.api + path)).toBe(404)

      // The ledger's door has the pace of the API: calls that nobody reads do not gather.
      expect(await pipelined(at.ledgerDoor, 100)).toContain("PARTICIPANT_BACKPRESSURE")

      proxy.close()
      await expect.poll(() => status(health), { interval: 250 }).toBe(503)
      expect([await status(live), await status(ready)]).toEqual([200, 503])
      expect(child.exitCode).toBeNull()

      proxy.open()
      await expect.poll(() => status(health), { interval: 250 }).toBe(200)
      await expect.poll(() => status(ready)).toBe(200)
    } finally {
      child.kill("SIGTERM")
    }
    expect(await ended).toBe(0)
    for (const line of log()
      .split("\n")
      .filter((one) => one !== "")) {
      expect(JSON.parse(line)).toMatchObject({
        time: expect.any(String),
        level: expect.stringMatching(/^(info|warn|error)$/),
        msg: expect.any(String)
      })
    }
    expect(log()).toContain('"msg":"answered"')
    // The database's address has a password in it.
    expect(log()).not.toContain(new URL(proxy.url).password || proxy.url)
  })

  it("is called serve as well, and a second migration finds nothing to do", async () => {
    const other = await venueOf("two")
    const { child, ended } = await start("serve", other)
    child.kill("SIGINT")
    expect(await ended).toBe(0)
    const migrated = await run(["migrate"], other)
    expect([migrated.code, migrated.out]).toEqual([
      0,
      "nothing to change: the database is up to date\n"
    ])
  })

  it.runIf(isLong)(
    "that cannot have its port, or its database, ends with 1 and says why in a line",
    async () => {
      const other = await venueOf("three")
      const taken = (provider.address() as AddressInfo).port
      const [port, database] = await Promise.all([
        run(["start"], { ...other, BURSAR_PORT: String(taken) }),
        run(["start"], { ...other, DATABASE_URL: "postgres://bursar:planted-secret@127.0.0.1:1/x" })
      ])
      expect([port.code, database.code]).toEqual([1, 1])
      for (const { err } of [port, database]) {
        expect(err.split("\n").filter((line) => line.startsWith("bursar: "))).toHaveLength(1)
      }
      expect(port.err).toContain(`127.0.0.1:${taken}`)
      expect(database.err).not.toContain("planted-secret")
    }
  )
})
