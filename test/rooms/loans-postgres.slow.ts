/** The example's room behind a host on PostgreSQL, with the simulated ledger in its database. */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, it } from "vitest"
import { hangs } from "../waiting.ts"
import { play } from "./loan-story.ts"
import * as Served from "./served.ts"

const scope = Effect.runSync(Scope.make())
let served: Served.Served
beforeAll(async () => {
  const url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  served = await Served.serve(Served.onPostgres(), url)
})
afterAll(async () => {
  await served?.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

describe("a host with a room of loans on PostgreSQL", () => {
  it("lacks what the room's declarations promise", { timeout: hangs }, () => play(served))
})
