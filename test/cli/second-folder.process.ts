/**
 * A start on existing data whose secrets its folder lacks, or whose schema is newer, is refused in a
 * line and changes nothing; with the folder, or with the secrets in settings, it starts.
 */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { cp, mkdtemp, readdir, readFile, rename, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { firstOf, isLong } from "../long-run.ts"
import { run, start } from "./Bin.ts"
import { remove } from "../folders.ts"

const scope = Effect.runSync(Scope.make())
let folder = ""
let provider: Server
let url = ""
let database: Effect.Success<ReturnType<typeof PgConnection.make>>

const query = async (sql: string): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> =>
  (await Effect.runPromise(database.query(sql, [], false))).rows

const inFolder = (name: string) => join(folder, name)

const settingsOf = (data: string): Readonly<Record<string, string>> => ({
  DATABASE_URL: url,
  BURSAR_DATA: data,
  BURSAR_ISSUER: "https://issuer.test",
  BURSAR_JWKS_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks`,
  BURSAR_PORT: "0",
  BURSAR_MANAGEMENT_PORT: "0",
  BURSAR_LEDGER_DOOR_PORT: "0"
})

/** Starts a venue until it is up, and stops it. */
const startsAndStops = async (env: Readonly<Record<string, string>>): Promise<void> => {
  const { child, ended } = await start("start", env)
  child.kill("SIGTERM")
  expect(await ended).toBe(0)
}

/** Everything that a start could write: rows of every table by count, the token, the migrations. */
const written = async () => {
  const tables = await query(`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema in ('bursar', 'ledger_sim') and table_type = 'BASE TABLE' order by 1`)
  const counts: Array<unknown> = []
  for (const { name } of tables) {
    counts.push([name, await query(`select count(*)::int as rows from ${String(name)}`)])
  }
  const head = await query("select * from bursar.head")
  return { counts, head, users: await query("select * from ledger_sim.user_account order by 1") }
}

const refusalOf = async (
  words: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
): Promise<string> => {
  const { code, err, out } = await run(words, env)
  expect([code, out]).toEqual([1, ""])
  const printed = err.split("\n").filter((line) => line.startsWith("bursar: "))
  expect(printed).toHaveLength(1)
  return printed[0] ?? ""
}

const files = [
  ["keys/webhook.json", "webhooks.keys"],
  ["keys/sealing.json", "webhooks.sealingKeys"],
  ["keys/audit.json", "audit.keys"],
  ["ledger/venue.token", "ledger.token"],
  ["keys/cursor.json", "cursor.keys"]
] as const

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-second-folder-"))
  url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  database = await Effect.runPromise(
    Scope.provide(PgConnection.make({ url: Redacted.make(url) }), scope)
  )
  provider = createServer((_, response) => response.end('{"keys":[]}'))
  await new Promise<void>((listening) => provider.listen(0, "127.0.0.1", listening))
  await startsAndStops(settingsOf(inFolder("first")))
})
afterAll(async () => {
  provider.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await remove(folder)
})

describe("bursar start on data that another folder's secrets were used on", () => {
  it("names every missing file with its setting, and writes nothing anywhere", async () => {
    const before = await written()
    const data = inFolder("second")
    const line = await refusalOf(["start"], settingsOf(data))
    expect(line).toContain("bursar: data (BURSAR_DATA): ")
    for (const [file, setting] of files) expect(line).toContain(`${join(data, file)} (${setting})`)
    expect(await written()).toEqual(before)
    await expect(readdir(data)).rejects.toThrow("ENOENT")
  })

  it.runIf(isLong)("never takes the keys of another venue for those that were lost", async () => {
    const other = inFolder("other")
    await cp(inFolder("first"), other, { recursive: true })
    const file = join(other, "keys", "sealing.json")
    const key = JSON.parse(await readFile(file, "utf8"))
    await writeFile(file, JSON.stringify({ ...key, keyId: "sealing-00000000" }))
    const line = await refusalOf(["start"], settingsOf(other))
    expect(line).toContain(`${file} (webhooks.sealingKeys) with the key ${key.keyId}`)
  })

  it("starts in any folder where settings name what is lasting, and makes a cursor key of its own", async () => {
    const read = async (file: string) => readFile(join(inFolder("first"), file), "utf8")
    const keyOf = async (use: string) => {
      const { keyId, secret, madeAt } = JSON.parse(await read(`keys/${use}.json`))
      return { keyId, secret, madeAt }
    }
    const signing = async (use: string) => {
      const { keyId, secret, madeAt } = await keyOf(use)
      return JSON.stringify([{ keyId, seed: secret, notBefore: madeAt }])
    }
    const { keyId, secret } = await keyOf("sealing")
    const data = inFolder("ephemeral")
    await startsAndStops({
      ...settingsOf(data),
      BURSAR_WEBHOOKS_KEYS: await signing("webhook"),
      BURSAR_AUDIT_KEYS: await signing("audit"),
      BURSAR_WEBHOOKS_SEALING_KEYS: JSON.stringify([{ keyId, secret }]),
      BURSAR_LEDGER_TOKEN: (await read("ledger/venue.token")).trim()
    })
    expect(await readdir(join(data, "keys"))).toEqual(["cursor.json"])
  })

  it.runIf(isLong)(
    "requests a token again where its own first request was interrupted",
    async () => {
      const data = inFolder("first")
      const token = join(data, "ledger", "venue.token")
      await rename(token, join(folder, "kept.token"))
      expect(await refusalOf(["start"], settingsOf(data))).toContain(`${token} (ledger.token)`)
      await writeFile(`${token}.requested`, "")
      await startsAndStops(settingsOf(data))
      expect(await readdir(join(data, "ledger"))).toEqual(["venue.token"])
    }
  )
})

describe("a schema that is newer than the program", () => {
  const table = [
    {
      advance: "insert into bursar.migration (id, name) values (9999, 'of-tomorrow')",
      back: "delete from bursar.migration where id = 9999",
      said: "migration 9999-of-tomorrow"
    },
    {
      advance: "comment on schema ledger_sim is 'version 2'",
      back: "comment on schema ledger_sim is null",
      said: "version 2"
    }
  ]

  it.each(firstOf(1, table))(
    "is refused by start and migrate alike, and nothing is written: $said",
    async ({ advance, back, said }) => {
      await query(advance)
      try {
        const before = await written()
        // The secrets are all there: the schema alone refuses.
        const env = settingsOf(inFolder("first"))
        const lines = [await refusalOf(["start"], env), await refusalOf(["migrate"], env)]
        for (const line of lines) {
          expect(line).toContain("bursar: database.url (DATABASE_URL): ")
          expect(line).toContain("newer than this program")
          expect(line).toContain(said)
        }
        expect(await written()).toEqual(before)
      } finally {
        await query(back)
      }
    }
  )

  it("starts again once the database is of this program again, in a folder that was restored", async () => {
    await cp(inFolder("first"), inFolder("restored"), { recursive: true })
    await startsAndStops(settingsOf(inFolder("restored")))
  })
})
