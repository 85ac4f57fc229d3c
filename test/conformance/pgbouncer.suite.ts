/** PgBouncer in transaction mode before the database: the ports keep every promise behind it. */
import { storageSuite } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Layer, Redacted } from "effect"
import { describe, it } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import * as PgBouncer from "../postgres/pgbouncer.ts"

if (PgBouncer.program === undefined) {
  describe("storage: PostgreSQL behind PgBouncer", () => {
    it.skip("skipped: there is no pgbouncer on PATH, nor a path of it in PGBOUNCER", () => {})
  })
} else {
  storageSuite(
    "PostgreSQL behind PgBouncer",
    Layer.unwrap(
      Effect.gen(function* () {
        const url = yield* TestDatabase.url
        const poolerUrl = yield* PgBouncer.start({ url, settings: PgBouncer.settings })
        return Postgres.layer({ url: Redacted.make(url), poolerUrl: Redacted.make(poolerUrl) })
      })
    )
  )
}
