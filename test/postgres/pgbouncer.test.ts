/** A pooler in transaction mode: what a start refuses, and what an interrupted statement leaves. */
import { Atomically } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { PgConnection } from "@effect/sql-pg"
import { it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { describe, expect } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import * as PgBouncer from "./pgbouncer.ts"

const opened = (urls: { readonly url: string; readonly poolerUrl: string }) =>
  Layer.build(
    Layer.fresh(
      Postgres.layer({ url: Redacted.make(urls.url), poolerUrl: Redacted.make(urls.poolerUrl) })
    )
  )

it.live("a start is content with server connections that begin as docs/database.md says", () =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.url
    yield* Effect.scoped(
      Effect.gen(function* () {
        const direct = yield* PgConnection.make({ url: Redacted.make(url) })
        const database = new URL(url).pathname.slice(1)
        // Settings of the database take the place of the pooler's `connect_query`.
        for (const [set] of PgBouncer.settings.matchAll(/set \w+ = [^;]+/gu)) {
          yield* direct.query(`alter database "${database}" ${set}`)
        }
      })
    )
    yield* opened({ url, poolerUrl: url })
  }).pipe(Effect.scoped)
)

const why = PgBouncer.program === undefined ? " (skipped: no pgbouncer)" : ""

describe.skipIf(PgBouncer.program === undefined)(`PgBouncer before the database${why}`, () => {
  it.live("refuses server connections that lack a setting, and names it", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.url
      const settings = PgBouncer.settings.replace("set enable_seqscan = off; ", "")
      const poolerUrl = yield* PgBouncer.start({ url, settings })
      const { detail } = yield* Effect.flip(opened({ url, poolerUrl }))
      expect(detail).toContain("must begin with set enable_seqscan = off;.")
    }).pipe(Effect.scoped)
  )

  it.live("refuses a pooler before another database", () =>
    Effect.gen(function* () {
      const [url, other] = [yield* TestDatabase.url, yield* TestDatabase.url]
      const poolerUrl = yield* PgBouncer.start({ url: other, settings: PgBouncer.settings })
      const { detail } = yield* Effect.flip(opened({ url, poolerUrl }))
      expect(detail).toContain("leads to another database")
    }).pipe(Effect.scoped)
  )

  // Switched off to see it red: `askProcess` in Sessions.ts.
  it.live("cancels the statement of an interrupted transaction, which waits for a lock", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.url
      const poolerUrl = yield* PgBouncer.start({ url, settings: PgBouncer.settings })
      const { lock, run } = Context.get(yield* opened({ url, poolerUrl }), Atomically)
      const taken = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(
        run(
          Effect.gen(function* () {
            yield* lock("busy")
            yield* Deferred.succeed(taken, undefined)
            yield* Effect.never
          })
        )
      )
      yield* Deferred.await(taken)
      const waiting = yield* Effect.forkChild(run(lock("busy")))
      const direct = yield* PgConnection.make({ url: Redacted.make(url) })
      const waits = Effect.map(
        direct.query("select from pg_locks where not granted and locktype = 'advisory'"),
        ({ rows }) => rows.length
      )
      yield* Effect.promise(() =>
        expect.poll(() => Effect.runPromise(waits), { interval: 20 }).toBe(1)
      )
      yield* Fiber.interrupt(waiting)
      expect(yield* waits).toBe(0)
      yield* Fiber.interrupt(holder)
      yield* run(lock("busy"))
    }).pipe(Effect.scoped)
  )
})
