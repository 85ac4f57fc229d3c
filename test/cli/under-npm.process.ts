/** A host that npm started ends with npm: a stop that reaches npm alone leaves no host behind. */
import { spawn } from "node:child_process"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { hostEnvironment } from "../processes/environment.ts"
import { remove } from "../folders.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-under-npm-"))
})
afterAll(() => remove(folder))

describe("SIGTERM to npm", () => {
  it.each([
    ["npm run", ["npm", "run", "--silent", "bursar", "--", "start"]],
    ["npx", ["npx", "bursar", "start"]]
  ])("ends the host that %s started, in order", async (_what, [program = "", ...args]) => {
    const child = spawn(program, args, {
      cwd: root,
      env: {
        ...hostEnvironment,
        HOME: folder,
        BURSAR_DATA: join(folder, "data"),
        BURSAR_ISSUER: "https://issuer.test",
        BURSAR_JWKS_URL: "https://issuer.test/jwks",
        BURSAR_PORT: "0",
        BURSAR_MANAGEMENT_PORT: "0",
        BURSAR_LEDGER_DOOR_PORT: "0"
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    // The streams are the host's too: they close once it has ended, and npm with it.
    const closed = new Promise<void>((done) => child.once("close", () => done()))
    let log = ""
    child.stderr.on("data", (part) => (log += String(part)))
    const line = await new Promise<string>((ready, failed) => {
      let text = ""
      child.stdout.on("data", (part) => {
        text += String(part)
        if (text.includes("\n")) ready(text.slice(0, text.indexOf("\n")))
      })
      child.once("close", () => failed(new Error(log)))
    })
    const { api }: { readonly api: string } = JSON.parse(line)
    expect((await fetch(`${api}/v1/health`)).status).toBe(200)
    child.kill("SIGTERM")
    await closed
    await expect(fetch(`${api}/v1/health`)).rejects.toThrow("fetch failed")
  })
})
