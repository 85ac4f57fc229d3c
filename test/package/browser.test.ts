/**
 * The client in a browser: it costs what it uses, needs no type of Node's, and runs where there is
 * neither `process` nor `Buffer`.
 *
 * The bundler is the one that comes with vitest; a limit is in bytes, gzipped, some above what it is.
 * Seen red: with a list of the catalogue's sets in `OpenSets.ts` (263 kB), with `wire/Body.ts` loaded by
 * the client (`Buffer` in its types), with a `process.version` at the head of it.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { createContext, runInContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { visited } from "./browser/visited.ts"
import { root } from "../architecture/sources.ts"
import { bearer, open } from "../http/venue.ts"
import * as Wallets from "../http/wallets.ts"
import { isLong } from "../long-run.ts"
import { bundle } from "./browser/bundle.ts"

const page = join(root, "test/package/browser/page.ts")
const plainPage = join(root, "test/package/browser/plain-page.ts")

const entry = (name: string, what: string) => `export { ${what} } from "@bursar/http-host/${name}"`

describe("a bundle for a browser", () => {
  it.each([
    // Some four kilobytes are the table of checks, which describes the member `check` of a problem.
    ["the client without the catalogue", entry("client", "overFetch"), 67_000],
    ["the client by name", entry("client", "named"), 21_000],
    ["the plain client", 'export * from "@bursar/http-host/plain-client"', 8_000],
    ["a client's signatures alone", entry("client", "Signature"), 2_000],
    ["the receiver of webhooks alone", entry("webhook-receiver", "verify"), 2_000]
  ])("of %s costs what it uses", async (what, program, most) => {
    const bytes = gzipSync((await bundle(program)).code).length
    console.info(`${what}: ${bytes} bytes`)
    expect(bytes).toBeLessThan(most)
  })

  it("of the plain client is made of its own files alone", async () => {
    const { files } = await bundle('export * from "@bursar/http-host/plain-client"')
    const own = /^packages\/http-host\/src\/(?:plain-client(?:\/\w+)?|client\/Signature)\.ts$/u
    expect(files.filter((file) => !own.test(file))).toEqual([])
    expect(files.length).toBeGreaterThan(3)
  })

  it("calls a venue by the plain client where there is neither process nor Buffer", async () => {
    const venue = await Wallets.open()
    const runner = setInterval(() => void venue.settle(), 50)
    try {
      const { code } = await bundle(`export { visit } from ${JSON.stringify(plainPage)}`)
      const { visit } = runInContext(`${code}; program`, createContext(web()))
      const outcome = await visit({
        baseUrl: venue.url,
        maker: await bearer(["operator"]),
        approver: await bearer(["approver"])
      })
      expect(JSON.parse(JSON.stringify(outcome))).toEqual(visited)
    } finally {
      clearInterval(runner)
      await venue.close()
    }
  })

  it("calls a venue where there is neither process nor Buffer", async () => {
    const venue = await open()
    const runner = setInterval(() => void venue.settle(), 50)
    try {
      const { code } = await bundle(`export { visit } from ${JSON.stringify(page)}`)
      const context = createContext(web())
      expect(runInContext("typeof process + typeof Buffer + typeof require", context)).toBe(
        "undefined".repeat(3)
      )
      const { visit } = runInContext(`${code}; program`, context)
      const access = {
        baseUrl: venue.url,
        maker: await bearer(["operator"]),
        approver: await bearer(["approver"])
      }
      expect(await visit(access)).toEqual({
        ended: "succeeded",
        signed: ["awaiting", "queued"],
        amount: ["9999999999999999999999999999.0000000001"],
        events: true,
        signature: 44
      })
    } finally {
      clearInterval(runner)
      await venue.close()
    }
  })

  it.runIf(isLong)("is of a program that type-checks without Node's types", () => {
    const tsc = join(root, "node_modules/.bin/tsc")
    const config = join(root, "test/package/browser/tsconfig.json")
    const { stdout, status } = spawnSync(tsc, ["-p", config], { encoding: "utf8" })
    expect([stdout, status]).toEqual(["", 0])
  })
})

/** Globals that a web page has beside the language's own. */
const web = () => {
  const names = [
    "AbortController",
    "AbortSignal",
    "Blob",
    "DOMException",
    "Event",
    "EventTarget",
    "FormData",
    "Headers",
    "ReadableStream",
    "Request",
    "Response",
    "TextDecoder",
    "TextEncoder",
    "URL",
    "URLSearchParams",
    "atob",
    "btoa",
    "clearTimeout",
    "crypto",
    "fetch",
    "performance",
    "queueMicrotask",
    "setTimeout"
  ] as const
  return Object.fromEntries(names.map((name) => [name, globalThis[name]]))
}
