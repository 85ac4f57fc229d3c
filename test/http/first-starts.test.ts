/** First starts of one database at once, each in a folder of its own: one makes its secrets. */
import { Records } from "@bursar/engine-core"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { ConfigProvider, Effect, Exit, Logger, Redacted, Result, Scope } from "effect"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as ConfigLoaded from "#host/ConfigLoaded.ts"
import * as Deployment from "#host/Deployment.ts"
import * as HostConfig from "#host/HostConfig.ts"

const scope = Effect.runSync(Scope.make())
let root = ""
let url = ""

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "bursar-first-starts-"))
  url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await rm(root, { recursive: true, force: true })
})

const configOf = async (data: string) => ({
  ...(await Effect.runPromise(
    Effect.provideService(
      HostConfig.load,
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({
        env: {
          BURSAR_DATA: data,
          BURSAR_ISSUER: "https://issuer.test",
          BURSAR_JWKS_URL: "https://issuer.test/jwks",
          BURSAR_LEDGER_TOKEN: "given"
        }
      })
    )
  )),
  "database.url": Redacted.make(url)
})

/** A start up to the record of its keys, which is all that others see of it. */
const starts = async (data: string) => {
  const config = await configOf(data)
  const { records: recordsOf } = await Effect.runPromise(Deployment.make())
  const begun = Deployment.begun(config, (keys) =>
    Effect.flatMap(Records, (records) =>
      records.transact(records.audit([ConfigLoaded.entry(config, keys)]))
    ).pipe(Effect.provide(recordsOf(config)))
  )
  return Effect.runPromise(Effect.provide(Effect.result(begun), Logger.layer([])))
}

describe("first starts of one database at once", () => {
  it("make secrets in one folder, and the others are refused by name and stay empty", async () => {
    const folders = ["a", "b", "c"].map((name) => join(root, name))
    const ended = await Promise.all(folders.map(starts))
    const won = folders.filter((_, n) => Result.isSuccess(ended[n] ?? expect.unreachable()))
    expect(won).toHaveLength(1)
    for (const [n, folder] of folders.entries()) {
      const result = ended[n] ?? expect.unreachable()
      if (Result.isSuccess(result)) {
        const keys = ["audit.json", "cursor.json", "sealing.json", "webhook.json"]
        expect(await readdir(join(folder, "keys"))).toEqual(keys)
        continue
      }
      for (const use of ["webhook", "sealing", "audit"]) {
        expect(String(result.failure)).toContain(join(folder, "keys", `${use}.json`))
      }
      expect(String(result.failure)).toMatch(/nothing was written$/)
      await expect(readdir(folder)).rejects.toThrow("ENOENT")
    }
  })

  it("share the secrets of one folder", async () => {
    const [won] = await readdir(root)
    const folder = join(root, won ?? expect.unreachable())
    const again = await Promise.all([starts(folder), starts(folder)])
    expect(again.filter(Result.isSuccess)).toHaveLength(2)
  })
})
