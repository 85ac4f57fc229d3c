/**
 * Example 01 in Chromium, headless: the same bundle runs to its end in a tab and in a worker of that tab,
 * and prints what the example prints on Node. Where no Chromium is, it is skipped by name; `CHROMIUM`
 * names one that is elsewhere than on PATH.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { root } from "../architecture/sources.ts"
import { browser, browserNames, endBrowser } from "./browser/headless.ts"
import { bundleExample, comparable, gzipMax } from "./page-bundle.ts"

/** Prints into lines, and sends them to the server once the program has ended. */
const collecting = (where: string) => `
const lines = []
console.log = (...values) => lines.push(values.map(String).join(" "))
const done = () => fetch("/${where}", { method: "POST", body: JSON.stringify(lines) })
try {
  await import("/program.js")
} catch (error) {
  lines.push("error: " + String(error.stack))
}
await done()
`

const page = `<!doctype html><title>example 01</title>
<script type="module">
new Worker("/worker.js", { type: "module" })
${collecting("tab")}
</script>`

type Place = "tab" | "worker"

interface Site {
  readonly server: Server
  readonly url: string
  readonly lines: Readonly<Record<Place, Promise<ReadonlyArray<string>>>>
}

/** Serves the page on a free port, and gives what each place sends. */
const serve = async (program: string): Promise<Site> => {
  const tab = Promise.withResolvers<ReadonlyArray<string>>()
  const worker = Promise.withResolvers<ReadonlyArray<string>>()
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    "/": ["text/html", page],
    "/program.js": ["text/javascript", program],
    "/worker.js": ["text/javascript", collecting("worker")]
  }
  const server = createServer((request, response) => {
    const path = request.url ?? "/"
    if (request.method === "POST") {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => parts.push(part))
      request.on("end", () => {
        const lines: ReadonlyArray<string> = JSON.parse(Buffer.concat(parts).toString("utf8"))
        if (path === "/tab") tab.resolve(lines)
        else worker.resolve(lines)
        response.end()
      })
      return
    }
    const [type, text] = files[path] ?? ["text/plain", ""]
    response.writeHead(files[path] === undefined ? 404 : 200, { "content-type": type }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server has no port")
  return {
    server,
    url: `http://127.0.0.1:${address.port}/`,
    lines: { tab: tab.promise, worker: worker.promise }
  }
}

if (browser === undefined) {
  describe("example 01 in Chromium", () => {
    it.skip(`skipped: there is no ${browserNames.join(" or ")} on PATH, nor a path of one in CHROMIUM`, () => {})
  })
} else {
  const program = browser
  describe("example 01 in Chromium", () => {
    const profile = mkdtempSync(join(tmpdir(), "bursar-chromium-"))
    let site: Site
    let chromium: ChildProcess
    let onNode: ReadonlyArray<string>
    let size: number

    beforeAll(async () => {
      const { code, faults } = await bundleExample()
      expect(faults).toEqual([])
      size = gzipSync(code).length
      console.info(`example 01 in a page: ${size} bytes, gzipped`)
      onNode = ["first-write.ts", "main.ts"].flatMap((file) =>
        execFileSync(process.execPath, [join(root, "examples/01-embed-the-engine", file)], {
          encoding: "utf8"
        })
          .trimEnd()
          .split("\n")
      )
      site = await serve(code)
      chromium = spawn(
        program,
        [
          "--headless=new",
          "--no-sandbox",
          "--disable-gpu",
          "--disable-dev-shm-usage",
          "--no-first-run",
          `--user-data-dir=${profile}`,
          site.url
        ],
        { stdio: "ignore", detached: true }
      )
    })
    afterAll(async () => {
      await endBrowser(chromium)
      site.server.close()
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    })

    /** Node's console prints a list with its quotes; a page's joins it. */
    const plain = (lines: ReadonlyArray<string>) =>
      comparable(lines).map((line) => line.replaceAll(/\[ '(.*)' \]/gu, "$1"))

    it("never would load more than a page of it is said to weigh", () => {
      expect(size).toBeLessThanOrEqual(gzipMax)
    })

    it.each(["tab", "worker"] as const)(
      "never would print another story in a %s than on Node",
      async (place) => {
        expect(plain(await site.lines[place])).toEqual(plain(onNode))
      }
    )
  })
}
