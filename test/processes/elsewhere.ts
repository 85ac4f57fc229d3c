/** Preload of a host whose ledger is in another process; the rest of the shipped host is unchanged. */
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
