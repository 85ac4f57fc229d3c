/**
 * `npm start` as a person runs it: the commands that it prints work, and both ways to stop it have
 * the same end.
 */
import { spawn } from "node:child_process"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { isLong } from "../long-run.ts"
import { environment } from "../processes/environment.ts"
import { remove } from "../folders.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-demo-start-"))
})
afterAll(() => remove(folder))

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
  const words = [
    "packages/http-host/src/main.ts",
    "demo",
    "--data",
    folder,
    ...ports.flatMap((one) => [one, "0"])
  ]
  const [program, given, more] =
    through === "node"
      ? [process.execPath, words, {}]
      : // The command after it keeps the shell from replacing itself by the program.
        ["sh", ["-c", `"${process.execPath}" ${words.join(" ")}; exit 3`], { npm_command: "start" }]
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

const addressOf = (said: string, name: string): string =>
  new RegExp(`^  ${name} +(http\\S+)$`, "m").exec(said)?.[1] ?? ""

/** Shape of an answer: its members, and its state, which is what a person looks at first. */
const shapeOf = (text: string): unknown => {
  const json = JSON.parse(text)
  const { state, value } = json
  return { members: Object.keys(json), state: state ?? value?.state }
}

/**
 * Answers of everything that a start prints: the status of each address, whether each line of a role
 * gives a token, and the shape of the answer of each line that works, played in one shell in order.
 */
const answersOf = async (said: string) => {
  const statuses: Array<unknown> = []
  for (const name of ["API", "reference", "health", "management", "sign-in", "ledger's door"]) {
    const { status, body } = await fetch(addressOf(said, name))
    await body?.cancel()
    statuses.push([name, status])
  }
  const tokens: Array<unknown> = []
  for (const [, role = "", line = ""] of said.matchAll(/^  ([a-z]+) +(curl -s -u .*)$/gm)) {
    tokens.push([role, /"access_token":"[^"]{100,}"/.test((await shell(line)).said)])
  }
  const [, lines = ""] = /that work, in this order:\n(.*?)\n\nCheck/s.exec(said) ?? []
  const fails = 'set -e\ncurl() { command curl --fail-with-body "$@"; }'
  const script = lines.split("\n\n").join("\nprintf '\\n---\\n'\n")
  const { code, said: answered } = await shell(`${fails}\n${script}`)
  expect([code, answered]).toEqual([0, expect.any(String)])
  const [, ...shapes] = answered.split("\n---\n")
  return { statuses, tokens, shapes: shapes.map(shapeOf) }
}

it("prints lines that work, at the second start on the kept data too, and ends well by a signal", async () => {
  let printed: unknown
  const first = await venue("SIGINT", "node", async (said) => {
    const line = said.split("\n").find((one) => one.endsWith("audit verify")) ?? ""
    const { code, said: found } = await shell(line.trim())
    expect([code, found]).toEqual([0, expect.stringContaining("the audit log is in order: ")])
    printed = await answersOf(said)
    expect(printed).toMatchObject({
      statuses: expect.arrayContaining([["health", 200]]),
      tokens: expect.arrayContaining([["operator", true]]),
      shapes: [{}, { state: "awaiting" }, {}, {}]
    })
  })
  // The long run starts it once more, and stops it by the other signal.
  const second = isLong
    ? [
        await venue("SIGTERM", "node", async (said) => {
          expect(await answersOf(said)).toEqual(printed)
        })
      ]
    : []
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
