/**
 * `npm start` as a person runs it: the commands that it prints work, and both ways to stop it have
 * the same end.
 */
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { isLong } from "../long-run.ts"
import { environment } from "../processes/environment.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-demo-start-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Ran {
  readonly code: number | null
  readonly said: string
}

/** Starts the venue, does something beside it once it is up, and stops it with a signal. */
const venue = async (
  signal: "SIGINT" | "SIGTERM",
  through: "node" | "npm's shell",
  beside: (said: string) => Promise<void> = async () => {}
): Promise<Ran> => {
  const ports = ["--port", "--management-port", "--ledger-port", "--identity-port"]
  const words = ["examples/demo/start.ts", "--data", folder, ...ports.flatMap((one) => [one, "0"])]
  const [program, given, more] =
    through === "node"
      ? [process.execPath, words, {}]
      : // The command after it keeps the shell from replacing itself by the program.
        [
          "sh",
          ["-c", `"${process.execPath}" ${words.join(" ")}; exit 3`],
          { npm_lifecycle_event: "start" }
        ]
  const child = spawn(program, given, {
    cwd: root,
    env: { ...environment, ...more },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  child.stderr.on("data", (part) => (output += String(part)))
  const ended = new Promise<number | null>((done) => child.once("close", done))
  try {
    await new Promise<void>((up, failed) => {
      child.stdout.on("data", (part) => {
        output += String(part)
        if (output.includes("Ctrl-C stops everything")) up()
      })
      child.once("close", (code) => failed(new Error(`it ended with ${code}: ${output}`)))
    })
    await beside(output)
  } finally {
    child.kill(signal)
    // A second signal, as npm repeats the one that its whole process group has had.
    child.kill(signal)
  }
  return { code: await ended, said: output }
}

const shell = (line: string): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", line], {
      cwd: root,
      env: environment,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let said = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (part) => (said += String(part)))
    }
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, said }))
  })

it("prints the line that checks the audit log of the running venue, and ends well by a signal", async () => {
  const first = await venue("SIGINT", "node", async (said) => {
    const line = said.split("\n").find((one) => one.endsWith("audit verify")) ?? ""
    const { code, said: found } = await shell(line.trim())
    expect([code, found]).toEqual([0, expect.stringContaining("the audit log is in order: ")])
  })
  // The long run stops one by the other signal too.
  const second = isLong ? [await venue("SIGTERM", "node")] : []
  for (const { code, said } of [first, ...second]) {
    expect([code, said]).toEqual([
      0,
      expect.stringMatching(/Stopping: the wallets first …\nStopped\.\n$/)
    ])
  }
})

it.runIf(isLong)(
  "ends well, with all it started, when only the shell that npm runs it in is ended",
  async () => {
    const { said } = await venue("SIGTERM", "npm's shell")
    expect(said).toMatch(/Stopping: the wallets first …\nStopped\.\n$/)
  }
)
