/**
 * A database that still answers and refuses writes: the host reports it, is not ready, and
 * recovers.
 */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Kill from "../kill/host.ts"
import { start } from "./Bin.ts"
import { firstOf } from "../long-run.ts"
import { remove } from "../folders.ts"

const scope = Effect.runSync(Scope.make())
let folder = ""
let identity: Kill.Identity
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-refused-"))
  identity = await Kill.identity()
})
afterAll(async () => {
  identity.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await remove(folder)
})

type Say = (sql: string) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>

interface Refusing {
  /** The database's own message when it refuses. */
  readonly reason: string
  readonly sqlState: string
  readonly begin: (say: Say, database: string) => Promise<void>
  readonly end: (say: Say, database: string) => Promise<void>
}

const tables = `select c.oid::regclass::text as name from pg_class c
  where c.relnamespace = 'bursar'::regnamespace and c.relkind = 'r'`

/** Ends every other connection of the host, so that it reads the database's state again. */
const reconnect = (say: Say) =>
  say(`select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`)

const full = 'could not extend file "base/5/16412": No space left on device'

const table: Readonly<Record<string, Refusing>> = {
  "its disk is full": {
    reason: full,
    sqlState: "53100",
    begin: async (say) => {
      await say(`create function public.full_disk() returns trigger language plpgsql as $$
        begin raise exception using errcode = '53100', message = '${full}'; end $$`)
      for (const { name } of await say(tables)) {
        await say(`create trigger full_disk before insert or update on ${String(name)}
                   for each statement execute function public.full_disk()`)
      }
    },
    end: async (say) => {
      await say("drop function public.full_disk cascade")
    }
  },
  "it became a read-only standby": {
    reason: "in a read-only transaction",
    sqlState: "25006",
    begin: async (say, database) => {
      await say(`alter database ${database} set default_transaction_read_only = on`)
      await reconnect(say)
    },
    end: async (say, database) => {
      await say("set default_transaction_read_only = off")
      await say(`alter database ${database} reset default_transaction_read_only`)
      await reconnect(say)
    }
  }
}

const status = async (url: string): Promise<number> => {
  const response = await fetch(url)
  await response.arrayBuffer()
  return response.status
}

describe("a database of which", () => {
  it.each(firstOf(1, Object.keys(table)))(
    "%s: the refused write is in the log with the database's reason, and the host is not ready until writes are taken",
    async (what) => {
      const { begin, end, reason, sqlState } = table[what] ?? expect.unreachable()
      const url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
      const connection = await Effect.runPromise(
        Scope.provide(PgConnection.make({ url: Redacted.make(url) }), scope)
      )
      const say: Say = async (sql) =>
        (await Effect.runPromise(connection.query(sql, [], false))).rows
      const database = new URL(url).pathname.slice(1)
      const venue = await start("start", {
        DATABASE_URL: url,
        BURSAR_DATA: join(folder, sqlState),
        BURSAR_ISSUER: "https://issuer.test",
        BURSAR_JWKS_URL: identity.jwksUrl,
        BURSAR_PORT: "0",
        BURSAR_MANAGEMENT_PORT: "0",
        BURSAR_LEDGER_DOOR_PORT: "0"
      })
      const { at } = venue
      const register = async (holderId: string): Promise<number> => {
        const token = await identity.token("olga", ["operator"])
        const answer = await fetch(`${at.api}/v1/holders`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ holderId, party: `h::1220${"ab".repeat(32)}`, taxResidences: [] })
        })
        await answer.arrayBuffer()
        return answer.status
      }
      const places = [`${at.api}/v1/health`, `${at.management}/readyz`]
      const statuses = () => Promise.all(places.map(status))
      try {
        await expect.poll(statuses).toEqual([200, 200])
        await begin(say, database)
        await expect.poll(() => register("holder-a")).toBe(503)
        // The refused write alone makes the host not ready: no request and no timer has to find it
        // out.
        await expect.poll(() => venue.log()).toContain(`"sqlState":"${sqlState}"`)
        expect(await statuses()).toEqual([503, 503])
        expect(await status(`${at.management}/livez`)).toBe(200)
        const loggedLines = venue
          .log()
          .split("\n")
          .filter((line) => line.includes(`"sqlState":"${sqlState}"`))
          .map((line): unknown => JSON.parse(line))
        expect(loggedLines[0]).toMatchObject({
          level: "error",
          msg: "the database refused what was written",
          detail: expect.stringContaining(reason)
        })
        // The database refuses writes all the time: the host must never report readiness, although
        // reads succeed.
        for (let attempt = 0; attempt < 20; attempt++) {
          expect(await statuses()).toEqual([503, 503])
          await new Promise((later) => setTimeout(later, 50))
        }
        await end(say, database)
        await expect.poll(statuses).toEqual([200, 200])
        await expect.poll(() => register("holder-b")).toBe(202)
        // The blob that the host wrote as a trial is deleted.
        expect(await say("select count(*)::int as kept from bursar.blob")).toEqual([{ kept: 0 }])
      } finally {
        venue.child.kill("SIGTERM")
      }
      expect(await venue.ended).toBe(0)
    }
  )
})
