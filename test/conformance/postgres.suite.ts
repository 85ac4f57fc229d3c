/** The PostgreSQL that DATABASE_URL names keeps every promise of the storage ports. */
import { storageSuite } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Redacted } from "effect"
import { describe, it } from "vitest"

const url = process.env["DATABASE_URL"]

if (url === undefined) {
  describe("storage: PostgreSQL at DATABASE_URL", () => {
    it.skip("skipped: DATABASE_URL is not set", () => {})
  })
} else {
  const layer = Postgres.layer({ url: Redacted.make(url) })
  storageSuite("PostgreSQL at DATABASE_URL", layer, { reopen: layer, second: layer })
}
