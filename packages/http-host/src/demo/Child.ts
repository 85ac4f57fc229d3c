/**
 * A child process of the demo: a process group of its own, ended with its parent, ready once it
 * prints one line of JSON.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { createWriteStream, mkdirSync } from "node:fs"
import { join } from "node:path"
import { DemoFailed } from "./DemoFailed.ts"
import { beside } from "./Programs.ts"

export interface Child {
  readonly name: string
  readonly pid: number
  /** The line of JSON that it printed when it was ready. */
  readonly said: ChildMessage
  /** Resolves with the reason when the process ends. */
  readonly ended: Promise<string>
  /** Stops it with a signal, and kills it after a timeout. */
  readonly stop: () => Promise<void>
}

export interface ChildProgram {
  readonly name: string
  /** The program and its arguments. */
  readonly file: string
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** File that receives its output. */
  readonly logs: string
  /** Called with every line of JSON that it prints after it was ready. */
  readonly heard?: (line: ChildMessage) => void
}

/** An object of JSON that a process prints on one line. */
export type ChildMessage = Readonly<Record<string, unknown>>

const readyWithin = 180_000
const stopWithin = 15_000
const tailMax = 4_000

export class ChildFailed extends DemoFailed {
  override readonly name = "ChildFailed"
}

/** Starts a process and waits until it is ready. */
export const start = async (program: ChildProgram): Promise<Child> => {
  mkdirSync(program.logs, { recursive: true, mode: 0o700 })
  const path = join(program.logs, `${program.name}.log`)
  const log = createWriteStream(path, { flags: "a", mode: 0o600 })
  const child = spawn(
    process.execPath,
    ["--import", beside("endWithParent"), program.file, ...(program.args ?? [])],
    {
      env: { ...process.env, ...program.env },
      stdio: ["pipe", "pipe", "pipe"],
      // A process group of its own: Ctrl-C reaches a terminal's whole group, and the demo stops its
      // processes in order.
      detached: true
    }
  )
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
      resolve(signal === null ? `ended with code ${code}` : `was ended by ${signal}`)
    })
  })
  const said = await Promise.race([
    firstOf(child, program.heard),
    ended.then((how) => `${program.name} ${how}`),
    late(`${program.name} was not ready in ${readyWithin / 1000} s`)
  ])
  if (typeof said === "string") {
    await stop(child, ended)
    throw new ChildFailed(`${said}; it said:\n${tail.trim()}`)
  }
  return { name: program.name, pid: child.pid ?? 0, said, ended, stop: () => stop(child, ended) }
}

const late = (what: string): Promise<string> =>
  new Promise((resolve) => setTimeout(resolve, readyWithin, what).unref())

/** Returns the first line of JSON; later lines go to the listener. */
const firstOf = (child: ChildProcess, heard: ChildProgram["heard"]): Promise<ChildMessage> =>
  new Promise((resolve) => {
    let rest = ""
    let tell = (said: ChildMessage): void => {
      tell = heard ?? (() => {})
      resolve(said)
    }
    child.stdout?.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString("utf8")).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        const said = parsed(line)
        if (said !== undefined) tell(said)
      }
    })
  })

/** Parses a line that is one JSON object; undefined for any other, such as a log line. */
const parsed = (line: string): ChildMessage | undefined => {
  if (!line.startsWith('{"')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const stop = async (child: ChildProcess, ended: Promise<string>): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), stopWithin)
  await ended
  clearTimeout(timer)
}
