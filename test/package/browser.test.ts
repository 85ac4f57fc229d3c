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
import { rolldown } from "rolldown"
import { describe, expect, it } from "vitest"
import { root } from "../architecture/sources.ts"
import { bearer, open } from "../http/venue.ts"
import { isLong } from "../long-run.ts"

const page = join(root, "test/package/browser/page.ts")

/** A program for a browser in one file, as small as it gets; what it cannot resolve is a fault. */
const bundled = async (program: string): Promise<string> => {
  const faults: Array<string> = []
  const entry = "\0program"
  const bundle = await rolldown({
    input: entry,
    platform: "browser",
    plugins: [
      {
        name: "program",
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? program : undefined)
      }
    ],
    onLog: (_, { message }) => void faults.push(message)
  })
  const { output } = await bundle.generate({ format: "iife", name: "program", minify: true })
  await bundle.close()
  expect(faults).toEqual([])
  expect(output).toHaveLength(1)
  return output[0].code
}

const entry = (name: string, what: string) => `export { ${what} } from "@bursar/http-host/${name}"`

describe("a bundle for a browser", () => {
  it.each([
    // Some four kilobytes are the table of checks, which describes the member `check` of a problem.
    ["the client without the catalogue", entry("client", "overFetch"), 66_000],
    ["a client's signatures alone", entry("client", "Signature"), 2_000],
    ["the receiver of webhooks alone", entry("webhook-receiver", "verify"), 2_000]
  ])("of %s costs what it uses", async (what, program, most) => {
    const bytes = gzipSync(await bundled(program)).length
    console.info(`${what}: ${bytes} bytes`)
    expect(bytes).toBeLessThan(most)
  })

  it("calls a venue where there is neither process nor Buffer", async () => {
    const venue = await open()
    const runner = setInterval(() => void venue.settle(), 50)
    try {
      const code = await bundled(`export { visit } from ${JSON.stringify(page)}`)
      const context = createContext(web())
      expect(runInContext("typeof process + typeof Buffer + typeof require", context)).toBe(
        "undefined".repeat(3)
      )
      const { visit } = runInContext(`${code}; program`, context)
      const asked = {
        baseUrl: venue.url,
        maker: await bearer(["operator"]),
        approver: await bearer(["approver"])
      }
      expect(await visit(asked)).toEqual({
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
