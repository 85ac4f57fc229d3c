/**
 * Runs the database's programs under its account, with a bare environment, and captures their
 * output.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import type { Account } from "./Account.ts"

export interface ProcessEnd {
  readonly code: number | null
  readonly output: string
}

const SAID_MAX = 16_384

/** No PGDATA, PGPORT or locale of the host's environment reaches the database. */
const environment = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" }

export const start = ({
  program,
  args,
  folder,
  stdio,
  account
}: {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly account: Account
  /** Working folder, entered before the account is switched, which may lack access to it. */
  readonly folder: string
  readonly stdio: Array<"ignore" | "pipe" | number>
}): ChildProcess =>
  spawn(program, [...args], {
    cwd: folder,
    env: environment,
    stdio,
    // A process group of its own: a Ctrl-C of the host must not reach the database.
    detached: true,
    ...(account.switchTo === null ? {} : { uid: account.switchTo.uid, gid: account.switchTo.gid })
  })

/** Runs a program until it exits. */
export const run = (command: {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly account: Account
  readonly folder: string
  readonly input?: string
  readonly signal?: AbortSignal
}): Promise<ProcessEnd> =>
  new Promise((resolve) => {
    const child = start({ ...command, stdio: ["pipe", "pipe", "pipe"] })
    let said = ""
    const hear = (chunk: Buffer): void => {
      said = (said + chunk.toString("utf8")).slice(-SAID_MAX)
    }
    child.stdout?.on("data", hear)
    child.stderr?.on("data", hear)
    child.stdin?.on("error", () => {})
    child.stdin?.end(command.input ?? "")
    child.on("error", (cause) => resolve({ code: null, output: cause.message }))
    child.on("close", (code) => resolve({ code, output: said.trim() }))
    command.signal?.addEventListener("abort", () => child.kill("SIGKILL"))
  })

/** Identity of a process beyond its id, which the system reuses; null where it does not run. */
export const identity = async (pid: number): Promise<string | null> => {
  if (!isAlive(pid)) return null
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined)
  // The name, in brackets, may hold spaces; the start time is the 20th field after it.
  if (status !== undefined) {
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ")
    return fields[0] === "Z" ? null : `${pid}:${fields[19]}`
  }
  const listed = await listing(pid, "lstart")
  return listed === "" ? null : `${pid}:${listed.replace(/\s+/g, "-")}`
}

/** The command line of a process, empty where it does not run. */
export const commandLine = async (pid: number): Promise<string> => {
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => undefined)
  return line === undefined ? listing(pid, "command") : line.split("\u0000").join(" ").trim()
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM"
  }
}

const listing = async (pid: number, column: string): Promise<string> => {
  if (process.platform === "win32") return ""
  const ended = await run({
    program: "ps",
    args: ["-ww", "-o", `${column}=`, "-p", String(pid)],
    account: { switchTo: null },
    folder: "/"
  })
  return ended.code === 0 ? ended.output : ""
}
