/**
 * Process of a host that tests start, stop and kill: it runs the embedded database in a given
 * folder.
 */
import * as Embedded from "@bursar/storage-adapters/embedded"
import { Effect, Exit, Scope } from "effect"

const [folder, port] = process.argv.slice(2)
if (folder === undefined) throw new Error("which folder?")

const scope = Effect.runSync(Scope.make())
const stop = (): void => {
  Effect.runPromise(Scope.close(scope, Exit.void)).then(() => process.exit(0))
}
process.on("SIGTERM", stop)

const exit = await Effect.runPromiseExit(
  Scope.provide(
    Embedded.start({ dataFolder: folder, ...(port === undefined ? {} : { port: Number(port) }) }),
    scope
  )
)
if (Exit.isSuccess(exit)) {
  console.log(`up ${exit.value.url}`)
  setInterval(() => {}, 60_000)
} else {
  console.log(`down ${String(exit.cause)}`)
  process.exitCode = 1
}
