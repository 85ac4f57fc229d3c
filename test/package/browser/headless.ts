/** A browser without a window, where this machine has one: it opens pages, and each says what came of it. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

export const browserNames = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome"
]

/**
 * The browser's program, which `BURSAR_BROWSER` or `CHROMIUM` names, or the first on PATH; undefined: this
 * machine has none.
 */
export const browser: string | undefined =
  process.env["BURSAR_BROWSER"] ??
  process.env["CHROMIUM"] ??
  browserNames
    .flatMap((name) =>
      (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name))
    )
    .find((path) => existsSync(path))

/**
 * Kills a browser that was started in a group of its own, and waits for its end: Debian's program is a shell
 * script, which would leave the browser behind.
 */
export const endBrowser = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  process.kill(-child.pid, "SIGKILL")
  await ended
}

export interface PageServer {
  readonly origin: string
  /**
   * Opens a page of this origin in the browser and answers what its program says: the value of a promise
   * as JSON, or the error that it ended with as `{ error }`.
   */
  readonly play: (program: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** Serves pages under an origin of their own. */
export const pageServer = async (): Promise<PageServer> => {
  let script = ""
  let onOutcome: (outcome: unknown) => void = () => {}
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => parts.push(part))
      request.on("end", () => {
        onOutcome(JSON.parse(Buffer.concat(parts).toString("utf8")))
        response.writeHead(204).end()
      })
      return
    }
    const isScript = request.url === "/program.js"
    response.writeHead(isScript || request.url === "/" ? 200 : 404, {
      "content-type": isScript ? "text/javascript; charset=utf-8" : "text/html; charset=utf-8"
    })
    response.end(
      isScript ? script : '<!doctype html><title>page</title><script src="/program.js"></script>'
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    play: async (program) => {
      if (browser === undefined) throw new Error("there is no browser")
      script = `(async () => (${program}))()
        .then((value) => value, (error) => ({ error: String(error) }))
        .then((outcome) => fetch("/", { method: "POST", body: JSON.stringify(outcome ?? null) }))`
      const outcome = new Promise<unknown>((resolve) => (onOutcome = resolve))
      const folder = await mkdtemp(join(tmpdir(), "browser-"))
      const child = spawn(
        browser,
        [
          "--headless",
          "--no-sandbox",
          "--disable-gpu",
          "--disable-dev-shm-usage",
          `--user-data-dir=${folder}`,
          "--remote-debugging-port=0",
          `${origin}/`
        ],
        { stdio: "ignore", detached: true }
      )
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
      const died = ended.then(() => Promise.reject(new Error("the browser ended by itself")))
      died.catch(() => undefined)
      try {
        return await Promise.race([outcome, died])
      } finally {
        await endBrowser(child)
        await rm(folder, { recursive: true, force: true, maxRetries: 5 })
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
