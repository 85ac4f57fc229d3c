/** Operator's commands: they act on a running node, and wait for one that does not run yet. */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { PgClient } from "@effect/sql-pg"
import * as Embedded from "@bursar/storage-adapters/embedded"
import { Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { SigningKey } from "#adapters/ledger/wallets/index.ts"
import * as Door from "#adapters/ledger/simulated/door/Door.ts"
import * as Sim from "#adapters/ledger/simulated/SimulatedLedger.ts"
import { bundled } from "../processes/bundled.ts"
import { until } from "../waiting.ts"

const bin = await bundled("packages/storage-adapters/src/ledger/simulated/admin.ts")
const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url))

interface Ran {
  readonly code: number
  readonly lines: ReadonlyArray<Record<string, unknown>>
  readonly stderr: string
}

describe("bursar-ledger", () => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-ledger-"))
  const scope = Scope.makeUnsafe()
  const out = (name: string): string => join(folder, name)
  let url = ""

  const bursarLedger = (...args: ReadonlyArray<string>): Promise<Ran> =>
    new Promise((resolve) => {
      execFile(
        node,
        [bin, ...args],
        { env: { ...process.env, DATABASE_URL: url } },
        (error, stdout, stderr) =>
          resolve({
            code: error === null ? 0 : Number(error.code),
            lines: stdout
              .split("\n")
              .filter((line) => line !== "")
              .map((line) => JSON.parse(line)),
            stderr
          })
      )
    })

  it("prints its usage where it is asked for, without a database", async () => {
    const shown = await new Promise((resolve) => {
      execFile(node, [bin, "--help"], { env: {} }, (error, stdout, stderr) =>
        resolve([error, stdout, stderr])
      )
    })
    expect(shown).toEqual([null, expect.stringMatching(/^bursar-ledger party add /u), ""])
  })

  const started = () => {
    const database = PgClient.layer({ url: Redacted.make(url) })
    return ManagedRuntime.make(
      Door.layer({ port: 0 }).pipe(
        Layer.provideMerge(Sim.layerPostgres({ ledgerId: "sim", participantId: "p::1220aa" })),
        Layer.provide(database)
      )
    )
  }

  const getAt = async (door: Door.Door["Service"], token: string, path: string) =>
    (await fetch(`${door.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status

  beforeAll(async () => {
    const running = await Effect.runPromise(
      Scope.provide(
        Embedded.startWith({
          dataFolder: join(folder, "data"),
          settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }
        }),
        scope
      )
    )
    url = running.url
  })
  afterAll(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(folder, { recursive: true, force: true })
  })

  it("adds parties before the node's first start, and keeps each token in a private file", async () => {
    const added = await bursarLedger("party", "add", "venue", "--token-out", out("venue.token"))
    expect(added.code, added.stderr).toBe(0)
    expect(added.lines[0]?.["userId"]).toBe("venue")
    expect(statSync(out("venue.token")).mode & 0o777).toBe(0o600)
    expect(readFileSync(out("venue.token"), "utf8")).toMatch(/^blt_[A-Za-z0-9_-]{43}\n$/)
    const twice = await bursarLedger("party", "add", "venue", "--token-out", out("again.token"))
    expect(twice.code).toBe(1)
    expect(twice.stderr).toContain("PARTY_ALREADY_EXISTS")
    expect(() => statSync(out("again.token"))).toThrow()
  })

  it("gives an external party no right to act by its token", async () => {
    const key = SigningKey.generate()
    const added = await bursarLedger(
      "party",
      "add",
      "holder",
      "--external",
      "--public-key",
      Buffer.from(key.publicKey).toString("base64"),
      "--token-out",
      out("holder.token")
    )
    expect(added.lines[0]?.["party"]).toBe(`holder::${key.fingerprint}`)
    const listed = await bursarLedger("party", "list")
    expect(JSON.stringify(listed.lines)).toContain(`CanExecuteAs:holder::${key.fingerprint}`)
    expect(JSON.stringify(listed.lines)).not.toContain(`CanActAs:holder::${key.fingerprint}`)
    const keyless = await bursarLedger("party", "add", "x", "--external", "--token-out", out("x"))
    expect(keyless.code).toBe(1)
  })

  it("tokens issued and revoked, faults and pruning reach the running node", async () => {
    const runtime = started()
    try {
      const door = await runtime.runPromise(Door.Door)
      const token = readFileSync(out("venue.token"), "utf8").trim()
      expect(await getAt(door, token, "/v2/state/ledger-end")).toBe(200)

      await bursarLedger("token", "issue", "venue", "--token-out", out("venue.token"))
      const renewed = readFileSync(out("venue.token"), "utf8").trim()
      expect(renewed).not.toBe(token)
      await until(async () => (await getAt(door, token, "/v2/state/ledger-end")) === 401)
      expect(await getAt(door, renewed, "/v2/state/ledger-end")).toBe(200)

      writeFileSync(out("faults.json"), JSON.stringify({ tokenExpiry: true }))
      expect((await bursarLedger("faults", out("faults.json"))).code).toBe(0)
      await until(async () => (await getAt(door, renewed, "/v2/state/ledger-end")) === 401)
      expect((await bursarLedger("faults", "off")).code).toBe(0)
      await until(async () => (await getAt(door, renewed, "/v2/state/ledger-end")) === 200)
      writeFileSync(out("faults.json"), JSON.stringify({ tokenExpires: true }))
      expect((await bursarLedger("faults", out("faults.json"))).code).toBe(1)

      const venue = (await bursarLedger("party", "list")).lines.find(({ party }) =>
        String(party).startsWith("venue::")
      )?.["party"]
      const submitted = await fetch(`${door.url}/v2/commands/submit-and-wait`, {
        method: "POST",
        headers: { authorization: `Bearer ${renewed}`, "content-type": "application/json" },
        body: JSON.stringify({
          commandId: "c1",
          actAs: [venue],
          commands: [
            {
              CreateCommand: {
                templateId: "#bursar-admin-v1:Bursar.Admin.Price:OraclePoint",
                createArguments: {
                  oracle: venue,
                  venue,
                  fund: venue,
                  registrar: venue,
                  attestors: [],
                  instrumentId: "i",
                  metric: "price",
                  value: "1",
                  valuationTime: "2026-01-05T09:00:00Z"
                }
              }
            }
          ]
        })
      })
      const { completionOffset } = (await submitted.json()) as { completionOffset: number }
      const pruned = await bursarLedger("prune", String(completionOffset))
      expect(pruned.lines[0]?.["prunedUpTo"], pruned.stderr).toBe(completionOffset)

      await bursarLedger("token", "revoke", "venue")
      await until(async () => (await getAt(door, renewed, "/v2/state/ledger-end")) === 401)
    } finally {
      await runtime.dispose()
    }
  })

  it("says what is wrong with a command, and does nothing", async () => {
    expect((await bursarLedger()).stderr).toContain("party add")
    expect((await bursarLedger("party", "add", "x")).stderr).toContain("--token-out")
    expect((await bursarLedger("token", "revoke", "nobody")).stderr).toContain("USER_NOT_FOUND")
    expect(
      (await bursarLedger("party", "add", "x", "--rights", "All:x", "--token-out", out("x"))).code
    ).toBe(1)
  })
})
