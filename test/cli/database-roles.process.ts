/**
 * Roles of the database, by the very statements of its page: the owner, the host's role, the role
 * that prunes.
 */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtemp, readFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { migrationFolders } from "../storage/migration-folders.ts"
import { isLong } from "../long-run.ts"
import { run, start } from "./Bin.ts"
import { remove } from "../folders.ts"

const scope = Effect.runSync(Scope.make())
const page = await readFile(
  new URL("../../packages/http-host/docs/database.md", import.meta.url),
  "utf8"
)

/** The blocks of SQL under a heading of the page, statement by statement, with names for its placeholders. */
const statementsOf = (
  heading: string,
  names: Readonly<Record<string, string>>
): ReadonlyArray<string> => {
  const [, section = ""] = page.split(`## ${heading}\n`)
  const [text = ""] = section.split("\n## ")
  const sql = [...text.matchAll(/```sql\n(.*?)```/gs)].map(([, block = ""]) => block).join("\n")
  const named = Object.entries(names).reduce((so, [name, role]) => so.replaceAll(name, role), sql)
  expect(named).not.toContain("<")
  return named.split(";").flatMap((one) => (one.trim() === "" ? [] : [one.trim()]))
}

const mark = randomBytes(4).toString("hex")
const roles = { owner: `owner_${mark}`, host: `host_${mark}`, keeper: `keeper_${mark}` }
const administered: Array<string> = []
let folder = ""
let provider: Server
/** The database's address as a role. */
let addressOf: (role: string) => string

const connected = (url: string) =>
  Effect.runPromise(Scope.provide(PgConnection.make({ url: Redacted.make(url) }), scope))
const say = (to: PgConnection.PgConnection, sql: string) =>
  Effect.runPromise(to.query(sql, [], false))
const refusal = (to: PgConnection.PgConnection, sql: string) =>
  Effect.runPromise(
    Effect.map(Effect.flip(to.query(sql, [], false)), ({ reason }) => String(reason.cause))
  )

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-roles-"))
  provider = createServer((_, response) => response.end('{"keys":[]}'))
  await new Promise<void>((listening) => provider.listen(0, "127.0.0.1", listening))
  const server = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  const administrator = await connected(server)
  const database = `roles_${mark}`
  for (const role of Object.values(roles)) {
    await say(administrator, `create role ${role} login password 'pw'`)
    administered.push(`drop role ${role}`)
  }
  await say(administrator, `create database ${database} owner ${roles.owner}`)
  administered.unshift(`drop database ${database} with (force)`)
  addressOf = (role) => {
    const url = new URL(server)
    url.pathname = `/${database}`
    url.username = role
    url.password = "pw"
    return url.href
  }
  await Effect.runPromise(
    Scope.addFinalizer(
      scope,
      Effect.promise(async () => {
        for (const sql of administered) await say(administrator, sql)
      })
    )
  )
  // The page's administrator: it may make roles, also where the server has this one already.
  const inDatabase = await connected(
    Object.assign(new URL(server), { pathname: `/${database}` }).href
  )
  pruning = async () => {
    const names = { "<the role of whoever prunes>": roles.keeper }
    for (const sql of statementsOf("The role that prunes the audit log", names)) {
      await say(inDatabase, sql).catch((error: unknown) => {
        if (!sql.startsWith("create role")) throw error
      })
    }
    administered.unshift(`revoke bursar_pruner from ${roles.keeper}`)
  }
})
let pruning: () => Promise<void>

afterAll(async () => {
  provider.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await remove(folder)
})

const hostSettings = () => ({
  DATABASE_URL: addressOf(roles.host),
  BURSAR_DATA: folder,
  BURSAR_ISSUER: "https://issuer.test",
  BURSAR_JWKS_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks`,
  BURSAR_PORT: "0",
  BURSAR_MANAGEMENT_PORT: "0",
  BURSAR_LEDGER_DOOR_PORT: "0"
})

describe("a database of two roles, as the page says", () => {
  it("is made whole by the owner's one command, which says what it changed, and then that nothing is left", async () => {
    // The owner's shell has nothing but the address.
    const owner = { DATABASE_URL: addressOf(roles.owner) }
    const first = await run(["migrate"], owner)
    expect([first.code, first.out]).toEqual([
      0,
      `made: ${migrationFolders.map((name) => `schema bursar ${name}, `).join("")}schema ledger_sim\n` +
        "the database is up to date\n"
    ])
    const second = await run(["migrate"], owner)
    expect([second.code, second.out]).toEqual([
      0,
      "nothing to change: the database is up to date\n"
    ])
  })

  it("serves a host that may change nothing of the schema, nor of the audit log", async () => {
    const owner = await connected(addressOf(roles.owner))
    const names = { "<the host's role>": roles.host }
    for (const sql of statementsOf("Roles", names)) await say(owner, sql)
    const { at, child, ended } = await start("start", hostSettings())
    try {
      const health = await fetch(`${at.api}/v1/health`)
      expect([health.status, await health.text()]).toEqual([200, expect.stringContaining('"up"')])
      const host = await connected(addressOf(roles.host))
      for (const [sql, message] of [
        ["create table bursar.other (n int4)", "permission denied for schema bursar"],
        ["create table ledger_sim.other (n int4)", "permission denied for schema ledger_sim"],
        ["alter table bursar.audit disable trigger user", "must be owner of table audit"],
        ["update bursar.audit set text = ''", "permission denied for table audit"],
        ["delete from bursar.audit", "permission denied for table audit"]
      ] as const) {
        expect([sql, await refusal(host, sql)]).toEqual([sql, expect.stringContaining(message)])
      }
    } finally {
      child.kill("SIGTERM")
    }
    expect(await ended).toBe(0)
  })

  it.runIf(isLong)(
    "is pruned by the role that the page makes for it, and by no other",
    async () => {
      const names = { "<the host's role>": roles.keeper }
      const owner = await connected(addressOf(roles.owner))
      for (const sql of statementsOf("Roles", names)) await say(owner, sql)
      const prunes = { ...hostSettings(), BURSAR_RETENTION_AUDIT_LOG: "P1D" }
      const asKeeper = { ...prunes, DATABASE_URL: addressOf(roles.keeper) }
      await pruning()
      const [host, keeper] = await Promise.all([
        run(["audit", "prune"], prunes),
        run(["audit", "prune"], asKeeper)
      ])
      expect([keeper.code, keeper.out]).toEqual([0, expect.stringContaining("deleted: ")])
      expect([host.code, host.out]).toEqual([0, expect.stringContaining("deleted: ")])
    }
  )
})
