/**
 * The demo on a database whose parties belong to another folder: refused by the names of the missing
 * files, with no token issued. Its printed lines name an instrument that is still to be recorded.
 */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Parties from "#host/demo/Parties.ts"
import { idsWithNext } from "#host/demo/RecordedInstruments.ts"

const scope = Effect.runSync(Scope.make())
let root = ""
let url = ""
let database: Effect.Success<ReturnType<typeof PgConnection.make>>

const users = async () =>
  (await Effect.runPromise(database.query("select * from ledger_sim.user_account order by 1"))).rows

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "bursar-demo-folder-"))
  url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  database = await Effect.runPromise(
    Scope.provide(PgConnection.make({ url: Redacted.make(url) }), scope)
  )
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await rm(root, { recursive: true, force: true })
})

describe("a start of the demo", () => {
  it("makes secrets for its own first start alone, and goes on after one that was interrupted", async () => {
    const [first, second] = [join(root, "first"), join(root, "second")]
    for (const folder of [first, second]) await mkdir(folder)
    await Parties.demandSecrets({ url, folder: first })
    await Parties.make({ url, folder: first })
    // Interrupted here: the sign-in is not made yet.
    await Parties.demandSecrets({ url, folder: first })
    await writeFile(join(first, "identity.json"), "{}")
    await Parties.finish(first)
    await Parties.demandSecrets({ url, folder: first })

    const before = await users()
    const refusal = await Parties.demandSecrets({ url, folder: second }).catch((error) => error)
    expect(refusal).toBeInstanceOf(Parties.SecretsMissing)
    for (const file of ["venue.token", "fund.token", "investor.key", "identity.json"]) {
      expect(refusal.message).toContain(join(second, file))
    }
    expect(await readdir(second)).toEqual([])
    expect(await users()).toEqual(before)

    await rm(join(first, "fund.token"))
    const named = await Parties.demandSecrets({ url, folder: first }).catch((error) => error)
    expect(named.message).toContain(`are not here: ${join(first, "fund.token")}. `)
  })

  it("prints an instrument that no earlier start has recorded", () => {
    const next = (...recorded: ReadonlyArray<string>) => idsWithNext("elf-usd", new Set(recorded))
    expect(next()).toEqual(["elf-usd"])
    expect(next("elf-usd", "other")).toEqual(["elf-usd", "elf-usd-2"])
    expect(next("elf-usd", "elf-usd-2")).toEqual(["elf-usd", "elf-usd-2", "elf-usd-3"])
  })
})
