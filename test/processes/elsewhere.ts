/** Loaded before a host: its ledger is another process's, and nothing else of what is shipped changes. */
import { registerHooks } from "node:module"

const here = new URL("./ledger-here.ts", import.meta.url).href
const replaced = new Set([
  "@bursar/storage-adapters/simulated-ledger",
  "@bursar/storage-adapters/simulated-ledger/door"
])

registerHooks({
  resolve: (specifier, context, next) =>
    replaced.has(specifier) && context.parentURL?.includes("/http-host/") === true
      ? { url: here, shortCircuit: true }
      : next(specifier, context)
})
