/**
 * Example 01 without Node: the bundle for a browser imports nothing of Node's, costs what is said here, and
 * runs to its end where there is neither `process` nor `Buffer` nor `require`, in a worker that has the
 * web platform's globals alone. In a real browser it runs in chromium.process.ts.
 *
 * Seen red: with `node:fs/promises` in the screening that the venue imports, with `Buffer` in the
 * identifiers of the simulated ledger.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bundleExample, gzipMax, type PageBundle } from "./page-bundle.ts"

/** Names that Node has and a worker of the web platform has not. */
const nodeNames = [
  "process",
  "Buffer",
  "require",
  "module",
  "global",
  "setImmediate",
  "clearImmediate"
]

/** Takes Node's names away, collects what the program prints, and sends it once the program has ended. */
const prelude = (program: string) => `
import { parentPort } from "node:worker_threads"
const lines = []
globalThis.console = { log: (...values) => lines.push(values.map(String).join(" ")), error: (...values) => lines.push("error: " + values.map(String).join(" ")) }
for (const name of ${JSON.stringify(nodeNames)}) delete globalThis[name]
const left = ${JSON.stringify(nodeNames)}.filter((name) => name in globalThis)
try {
  await import(${JSON.stringify(program)})
} catch (error) {
  lines.push("error: " + String(error.stack))
}
parentPort.postMessage({ lines, left })
`

interface Outcome {
  readonly lines: ReadonlyArray<string>
  readonly left: ReadonlyArray<string>
}

const ranIn = (folder: string): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(pathToFileURL(join(folder, "worker.mjs")), { env: {} })
    worker.once("message", (outcome: Outcome) => {
      resolve(outcome)
      void worker.terminate()
    })
    worker.once("error", reject)
  })

describe("example 01 in a bundle for a browser", () => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-page-"))
  let bundle: PageBundle
  beforeAll(async () => {
    bundle = await bundleExample()
    writeFileSync(join(folder, "program.mjs"), bundle.code)
    writeFileSync(
      join(folder, "worker.mjs"),
      prelude(pathToFileURL(join(folder, "program.mjs")).href)
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("never would import a module of Node's, or one that is not there", () => {
    expect(bundle.faults).toEqual([])
    expect(bundle.imports).toEqual([])
  })

  it("never would cost more than what is said of it", () => {
    const bytes = gzipSync(bundle.code).length
    console.info(`example 01 in a page: ${bytes} bytes, gzipped; ${bundle.code.length} before`)
    expect(bytes).toBeLessThan(gzipMax)
  })

  it("never would need more than the web platform to run to its end", async () => {
    const { left, lines } = await ranIn(folder)
    expect(left).toEqual([])
    expect(lines.filter((line) => line.startsWith("error:"))).toEqual([])
    expect(lines[0]).toContain("awaiting")
    expect(lines.slice(-2)).toEqual([
      "the register: holder-1 holds 95812.9730760000",
      "of a supply of 95812.9730760000 on the ledger"
    ])
  })
})
