/**
 * kill -9 at any message to the database, so before and after every step of both transactions of a
 * write: a write has all its rows or none, each operation commits once on the ledger, and ends.
 */
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Host from "./host.ts"
import { first, killPoints } from "./points.ts"
import * as Whole from "./whole.ts"
import { wanted } from "../waiting.ts"
import { remove } from "../folders.ts"

/**
 * Messages to the database after which the host is killed; spread over the life of the writes. All of
 * the first 120 take ten minutes.
 */
const points = killPoints({
  few: [15, 29],
  many: [
    1, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 21, 25, 29, 33, 38, 43, 48, 54, 60, 75, 95
  ],
  all: first(120)
})

/** Writes made at each point: registrations, each one command on the ledger. */
const together = 3

const scope = Effect.runSync(Scope.make())
let folder = ""
let url = ""
let identity: Host.Identity
let token = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-kill-"))
  url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  identity = await Host.identity()
  token = await identity.token("olga", ["operator"])
})

afterAll(async () => {
  identity.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await remove(folder)
})

const party = (hint: string) => `${hint}::1220${"ab".repeat(32)}`

interface Made {
  readonly holderId: string
  readonly key: string
}

const post = async (host: Host.Host, made: Made): Promise<Response> =>
  fetch(`${host.url}/v1/holders`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": made.key
    },
    body: JSON.stringify({
      holderId: made.holderId,
      party: party(made.holderId),
      taxResidences: []
    })
  })

const get = async (host: Host.Host, path: string): Promise<Record<string, unknown>> => {
  const answer = await fetch(`${host.url}${path}`, {
    headers: { authorization: `Bearer ${token}` }
  })
  return (await answer.json()) as Record<string, unknown>
}

/** Reads an operation until it has ended. */
const ended = (host: Host.Host, operationId: string): Promise<string> =>
  wanted(async () => {
    const { value } = (await get(host, `/v1/operations/${operationId}`)) as {
      readonly value?: { readonly state: string }
    }
    return value?.state === "succeeded" || value?.state === "failed" ? value.state : undefined
  })

/** Number of commits of each registration, read from the ledger. */
const onLedger = (holderIds: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly holder: string; readonly n: string }>`
      select args ->> 'holderId' as holder, count(*)::text as n from ledger_sim.contract
      where entity = 'HolderInvitation'
        and args ->> 'holderId' = any(string_to_array(${holderIds.join(",")}, ',')) group by 1`
    return new Map(rows.map((row) => [row.holder, Number(row.n)]))
  }).pipe(
    Effect.provide(Postgres.layer({ url: Redacted.make(url) })),
    Effect.scoped,
    Effect.runPromise
  )

/** The running host: one that took over at one point is killed at the next. */
let host: Host.Host | undefined

const up = async (): Promise<Host.Host> => {
  host ??= await Host.start({
    databaseUrl: url,
    dataFolder: folder,
    jwksUrl: identity.jwksUrl,
    settings: Whole.settings
  })
  return host
}

const down = async (): Promise<void> => {
  host?.kill()
  await host?.ended
  host = undefined
}

describe("the host killed at its", () => {
  afterAll(down)

  for (const [index, point] of points.entries()) {
    const when = index % 2 === 0 ? "before" : "after"
    it(`message ${point} to the database (${when} it is sent): each write commits once and ends`, async () => {
      const names = Array.from({ length: together }, (_, n) => `h${point}-${n}`)
      const writes = names.map((holderId) => ({ holderId, key: `k-${holderId}` }))
      const first = await up()
      first.arm(point, when)
      // Some answers are lost with the host: a caller then sends the same request again.
      await Promise.allSettled(writes.map((made) => post(first, made)))
      await Promise.race([first.ended, new Promise((done) => setTimeout(done, 3_000))])
      await down()
      expect(await Whole.wrong(url)).toEqual([])
      const second = await up()
      for (const made of writes) {
        const answer = await post(second, made)
        expect([200, 202], await answer.clone().text()).toContain(answer.status)
        const { operationId } = (await answer.json()) as { readonly operationId: string }
        expect(await ended(second, operationId)).toBe("succeeded")
      }
      const counted = await onLedger(names)
      for (const name of names) expect(counted.get(name), name).toBe(1)
      for (const name of names) {
        const feed = (await get(
          second,
          `/v1/events?resourceKind=holder&resourceId=${name}&type=operation.succeeded`
        )) as { readonly value: ReadonlyArray<unknown> }
        expect(feed.value, name).toHaveLength(1)
      }
    })
  }

  it("last message leaves whole rows alone", async () => {
    await down()
    expect(await Whole.wrong(url)).toEqual([])
  })
})
