/** A process the demo starts: its own group, a leash on it, one line of JSON when it is ready. */
import { type ChildProcess, spawn } from "node:child_process"
import { createWriteStream, mkdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const leash = fileURLToPath(new URL("leash.ts", import.meta.url))

export interface Child {
  readonly name: string
  readonly pid: number
  /** The line it said when it was ready. */
  readonly said: Readonly<Record<string, unknown>>
  /** With how it ended, whenever it does. */
  readonly ended: Promise<string>
  /** Asks it to stop, and ends it when it does not in time. */
  readonly stop: () => Promise<void>
}

export interface Started {
  readonly name: string
  /** The program, and what it is told. */
  readonly file: string
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** What it prints goes to a file here. */
  readonly logs: string
}

const readyWithin = 60_000
const stopWithin = 15_000
const tailMax = 4_000

export class ChildFailed extends Error {
  override readonly name = "ChildFailed"
}

/** Starts it and waits until it says that it is ready. */
export const start = (of: Started): Promise<Child> => {
  mkdirSync(of.logs, { recursive: true })
  const log = createWriteStream(join(of.logs, `${of.name}.log`), { flags: "a" })
  const child = spawn(process.execPath, ["--import", leash, of.file, ...(of.args ?? [])], {
    env: { ...process.env, ...of.env },
    stdio: ["pipe", "pipe", "pipe"],
    // Ctrl-C goes to a terminal's whole group; the demo itself says who stops when.
    detached: true
  })
  let tail = ""
  const keep = (chunk: Buffer): void => {
    log.write(chunk)
    tail = (tail + chunk.toString("utf8")).slice(-tailMax)
  }
  child.stderr.on("data", keep)
  child.stdout.on("data", keep)
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message))
    child.once("close", (code, signal) => {
      log.end()
      resolve(signal === null ? `ended with code ${code}` : `ended by ${signal}`)
    })
  })
  return firstLine(child, of.name, ended, () => tail).then((said) => ({
    name: of.name,
    pid: child.pid ?? 0,
    said,
    ended,
    stop: () => stop(child, ended)
  }))
}

const firstLine = async (
  child: ChildProcess,
  name: string,
  ended: Promise<string>,
  tail: () => string
): Promise<Child["said"]> => {
  const ready = new Promise<Child["said"]>((resolve) => {
    let text = ""
    const look = (chunk: Buffer): void => {
      text += chunk.toString("utf8")
      for (const line of text.split("\n").slice(0, -1)) {
        const said = parsed(line)
        if (said === undefined) continue
        child.stdout?.off("data", look)
        resolve(said)
        return
      }
    }
    child.stdout?.on("data", look)
  })
  const tooLate = new AbortController()
  try {
    return await Promise.race([
      ready,
      ended.then((how) => {
        throw new ChildFailed(`${name} ${how}\n${tail().trim()}`)
      }),
      new Promise<never>((_, reject) => {
        const timer = setTimeout(() => {
          void stop(child, ended)
          reject(new ChildFailed(`${name} was not ready in ${readyWithin / 1000} s\n${tail()}`))
        }, readyWithin)
        tooLate.signal.addEventListener("abort", () => clearTimeout(timer))
      })
    ])
  } finally {
    tooLate.abort()
  }
}

/** A line that is one JSON object; others, such as logs, are passed over. */
const parsed = (line: string): Child["said"] | undefined => {
  if (!line.startsWith('{"')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const stop = async (child: ChildProcess, ended: Promise<string>): Promise<void> => {
  child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), stopWithin)
  await ended
  clearTimeout(timer)
}
