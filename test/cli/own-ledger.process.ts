/** The command `bursar` over a ledger and with a room of one's own, as examples 03 and 10 have it. */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { Effect, Exit, Scope } from "effect"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { run, start } from "./Bin.ts"
import { remove } from "../folders.ts"

const scope = Effect.runSync(Scope.make())
let venue: Readonly<Record<string, string>>
let folder = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-own-ledger-"))
  venue = {
    DATABASE_URL: await Effect.runPromise(Scope.provide(TestDatabase.url, scope)),
    BURSAR_DATA: folder,
    BURSAR_ISSUER: "https://issuer.test",
    BURSAR_JWKS_URL: "https://issuer.test/jwks",
    BURSAR_PORT: "0",
    BURSAR_MANAGEMENT_PORT: "0",
    BURSAR_LEDGER_DOOR_PORT: "0"
  }
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await remove(folder)
})

describe("a program of ten lines with a room of its own", () => {
  it("prints the document of its room, without any setting", async () => {
    const { code, out } = await run(["openapi"], {}, "own room")
    expect(code).toBe(0)
    const { paths }: { readonly paths: object } = JSON.parse(out)
    expect(
      Object.keys(paths)
        .filter((path) => path.startsWith("/v1/x-"))
        .toSorted()
    ).toEqual([
      "/v1/x-loans",
      "/v1/x-loans/{loanId}",
      "/v1/x-loans/{loanId}:write-off",
      "/v1/x-loans:precheck"
    ])
  })
})

describe("a program of ten lines over a ledger of its own", () => {
  it("is the whole command: it migrates, starts, serves and ends as bursar does", async () => {
    const help = await run(["--help"], {}, "own ledger")
    expect([help.code, help.out]).toEqual([0, expect.stringContaining("migrate")])
    const migrated = await run(["migrate"], venue, "own ledger")
    expect(migrated.out).toContain("schema ledger_sim")
    const { at, child, ended } = await start("start", venue, "own ledger")
    expect((await fetch(`${at.api}/v1/health`)).status).toBe(200)
    expect(at.ledgerDoor).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/u)
    child.kill("SIGTERM")
    expect(await ended).toBe(0)
  })
})
