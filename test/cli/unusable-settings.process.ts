/**
 * Settings that are well formed and cannot be used: a start names each in a line, and shows no
 * stack.
 */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { Effect, Exit, Scope } from "effect"
import { mkdtemp, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { firstOf } from "../long-run.ts"
import { run } from "./Bin.ts"
import { remove } from "../folders.ts"

const scope = Effect.runSync(Scope.make())
let folder = ""
let url = ""
let taken: Server

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-unusable-"))
  url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  taken = createServer()
  await new Promise<void>((listening) => taken.listen(0, "127.0.0.1", listening))
  // No folder can be made under a file, also where the tests run as root.
  await writeFile(join(folder, "file"), "")
  await writeFile(join(folder, "broken.json"), '{"listVersion": planted-secret}')
})
afterAll(async () => {
  taken.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await remove(folder)
})

const usable = () => ({
  DATABASE_URL: url,
  BURSAR_DATA: join(folder, "data"),
  BURSAR_ISSUER: "https://issuer.test",
  BURSAR_JWKS_URL: "https://issuer.test/keys",
  BURSAR_PORT: "0",
  BURSAR_MANAGEMENT_PORT: "0",
  BURSAR_LEDGER_DOOR_PORT: "0"
})

const takenPort = () => String((taken.address() as AddressInfo).port)
const underFile = () => join(folder, "file", "in")

interface Unusable {
  readonly setting: string
  readonly variable: string
  readonly value: () => string
  /** Set beside it, so that the fault is reached. */
  readonly beside?: Readonly<Record<string, string>>
}

/** The first are played beside the other tests, the others in the long run. */
const table: Readonly<Record<string, Unusable>> = {
  "a data folder that nobody can write to": {
    setting: "data",
    variable: "BURSAR_DATA",
    value: underFile
  },
  "a database that nobody runs": {
    setting: "database.url",
    variable: "DATABASE_URL",
    value: () => "postgres://bursar:planted-secret@127.0.0.1:1/x"
  },
  "a token that the ledger does not know": {
    setting: "ledger.token",
    variable: "BURSAR_LEDGER_TOKEN",
    value: () => "planted-secret"
  },
  "a script of screening that is not there": {
    setting: "screening.script",
    variable: "BURSAR_SCREENING_SCRIPT",
    value: () => join(folder, "none.json")
  },
  "a script of screening that is not JSON": {
    setting: "screening.script",
    variable: "BURSAR_SCREENING_SCRIPT",
    value: () => join(folder, "broken.json")
  },
  "a data folder for the embedded database that nobody can write to": {
    setting: "data",
    variable: "BURSAR_DATA",
    value: underFile,
    beside: { DATABASE_URL: "" }
  },
  "a database that is not there": {
    setting: "database.url",
    variable: "DATABASE_URL",
    value: () => Object.assign(new URL(url), { pathname: "/none" }).href
  },
  "a port of the API that is taken": {
    setting: "port",
    variable: "BURSAR_PORT",
    value: takenPort
  },
  "a port of the management listener that is taken": {
    setting: "management.port",
    variable: "BURSAR_MANAGEMENT_PORT",
    value: takenPort
  },
  "a port of the ledger's door that is taken": {
    setting: "ledger.door.port",
    variable: "BURSAR_LEDGER_DOOR_PORT",
    value: takenPort
  },
  "a file of checkpoints that cannot be made": {
    setting: "audit.anchors",
    variable: "BURSAR_AUDIT_ANCHORS",
    value: underFile
  }
}

describe("bursar start", () => {
  it.each(firstOf(4, Object.keys(table)))("names the setting in one line: %s", async (what) => {
    const { setting, variable, value, beside } = table[what] ?? expect.unreachable()
    const { code, err, out } = await run(["start"], { ...usable(), ...beside, [variable]: value() })
    expect([code, out]).toEqual([1, ""])
    const lines = err.split("\n").filter((line) => line !== "")
    const printedLines = lines.filter((line) => line.startsWith("bursar: "))
    expect(printedLines).toEqual([expect.stringContaining(`bursar: ${setting} (${variable}): `)])
    // The other lines are the log's, and none shows a place in the code.
    for (const line of lines) if (!printedLines.includes(line)) JSON.parse(line)
    expect(err).not.toMatch(/\bat .*\.(ts|js):[0-9]+/)
    expect(err).not.toContain("planted-secret")
  })
})
