/** The real command, as a process of its own: what it prints, what it says is wrong, how it ends. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

export const main = fileURLToPath(new URL("../../packages/http-host/src/main.ts", import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs it with these words and only these variables. */
export const run = (
  words: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...words], {
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let out = ""
    let err = ""
    child.stdout.on("data", (part) => (out += String(part)))
    child.stderr.on("data", (part) => (err += String(part)))
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, out, err }))
  })
