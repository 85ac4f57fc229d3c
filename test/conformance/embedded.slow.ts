/** The embedded PostgreSQL keeps every promise of the storage ports. */
import { storageSuite, TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll } from "vitest"

const scope = Effect.runSync(Scope.make())
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const url = Redacted.make(await Effect.runPromise(Scope.provide(TestDatabase.url, scope)))
const layer = Postgres.layer({ url })

storageSuite("embedded PostgreSQL", layer, { reopen: layer, second: layer })
