/** `bursar migrate`: brings the database's schema up to date, and nothing else. */
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import * as HostConfig from "../HostConfig.ts"
import * as Outcome from "./Outcome.ts"

export const migrate = Command.make("migrate", {}, () =>
  Effect.gen(function* () {
    const config = yield* HostConfig.load
    const { storage } = yield* Effect.promise(() => import("../Deployment.ts"))
    yield* Layer.build(storage(config))
    yield* Outcome.print("the database is up to date")
  }).pipe(Effect.scoped)
).pipe(
  Command.withShortDescription("Bring the database up to date"),
  Command.withDescription(
    "Brings the schema of the database that database.url names up to date and ends. Run it before new instances start when they should not do so themselves. It may run twice."
  )
)
