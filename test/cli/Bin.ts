/** Process of the real command: its standard output, its faults and its exit status. */
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { bundled } from "../processes/bundled.ts"
import { environment, hostEnvironment } from "../processes/environment.ts"

const program = "packages/http-host/src/main.ts"

/** Programs as their sources: the command, and the examples that have a ledger or a room of their own. */
const sources = {
  sources: program,
  "own ledger": "examples/03-your-own-ledger/main.ts",
  "own room": "examples/10-a-room-of-its-own/host.ts"
} as const

/** A program as its sources, or the command bundled into one file, which starts in a third of the time. */
type Form = keyof typeof sources | "bundled"

const fileOf = (form: Form): Promise<string> =>
  form === "bundled"
    ? bundled(program)
    : Promise.resolve(fileURLToPath(new URL(`../../${sources[form]}`, import.meta.url)))

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs it with these words and only these variables. */
export const run = async (
  words: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  form: Form = "bundled"
): Promise<Ran> => {
  const file = await fileOf(form)
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, ...words], {
      env: { ...environment, ...env },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let out = ""
    let err = ""
    child.stdout.on("data", (part) => (out += String(part)))
    child.stderr.on("data", (part) => (err += String(part)))
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, out, err }))
  })
}

export interface Started {
  readonly child: ChildProcess
  readonly at: {
    readonly api: string
    readonly management: string
    readonly ledgerDoor: string
  }
  readonly log: () => string
  readonly ended: Promise<number | null>
}

/** Starts a venue and waits until it prints that it is up. */
export const start = async (
  word: "start" | "serve",
  variables: Readonly<Record<string, string>>,
  form: Form = "bundled"
): Promise<Started> => {
  const child = spawn(process.execPath, [await fileOf(form), word], {
    env: { ...hostEnvironment, ...variables },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let log = ""
  child.stderr.on("data", (part) => (log += String(part)))
  const ended = new Promise<number | null>((done) => child.once("close", done))
  const line = await new Promise<string>((ready, failed) => {
    let text = ""
    child.stdout.on("data", (part) => {
      text += String(part)
      if (text.includes("\n")) ready(text.slice(0, text.indexOf("\n")))
    })
    child.once("close", (code) => failed(new Error(`it ended with ${code}: ${log}`)))
  })
  return { child, at: JSON.parse(line), log: () => log, ended }
}
