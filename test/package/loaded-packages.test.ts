/** Leaf imports: the host loads the packages that it uses, and no others that a barrel names. */
import { execFileSync } from "node:child_process"
import { expect, it } from "vitest"

const deployment = new URL("../../packages/http-host/src/Deployment.ts", import.meta.url).href

/** Imports a module and prints the packages whose files were loaded for it. */
const program = `
import { registerHooks } from "node:module"
const packages = new Set()
registerHooks({
  load(url, context, next) {
    const name = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//u.exec(url)?.[1]
    if (name !== undefined) packages.add(name)
    return next(url, context)
  }
})
await import(${JSON.stringify(deployment)})
console.log(JSON.stringify([...packages].toSorted()))
process.exit(0)`

it("loads no package for its start but those it is built on", () => {
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8"
  })
  expect(JSON.parse(printed)).toEqual([
    "@effect/platform-node",
    "@effect/platform-node-shared",
    "@effect/sql-pg",
    "@noble/curves",
    "@noble/hashes",
    "csv-parse",
    "effect",
    "jose",
    "saxes",
    "ts-pattern",
    "ws",
    "xmlchars"
  ])
})
