/** The demo's database process: the embedded PostgreSQL, or the configured one. */
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"

const dataFolder = process.argv[2]

const program = Effect.gen(function* () {
  const named = process.env["DATABASE_URL"]
  const url = dataFolder === undefined ? (named ?? "") : (yield* Embedded.start({ dataFolder })).url
  yield* Effect.sync(() => console.log(JSON.stringify({ url })))
  return yield* Effect.never
}).pipe(Effect.scoped)

NodeRuntime.runMain(
  Effect.catch(program, (error) =>
    Effect.sync(() => {
      console.error(error.message)
      process.exitCode = 1
    })
  )
)
