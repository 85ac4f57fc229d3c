/** Process of the embedded PostgreSQL: started for one host, watched, and stopped with it. */
import type { ChildProcess } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { open, readFile, rename, stat } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import type { Account } from "./Account.ts"
import type { Binaries } from "./Binaries.ts"
import * as Cluster from "./Cluster.ts"
import { failed } from "./EmbeddedFailed.ts"
import * as Process from "./Process.ts"

interface Postmaster {
  readonly port: number
  readonly child: ChildProcess
  readonly stop: () => Promise<void>
}

interface StartOptions {
  readonly dataFolder: string
  readonly account: Account
  readonly binaries: Binaries
  /** Undefined: any free port. */
  readonly port: number | undefined
  readonly settings: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

const HOST = "127.0.0.1"
const START_MILLIS = 60_000
const STOP_FAST_MILLIS = 30_000
const STOP_MILLIS = 5_000
const PORT_TRIES = 5
const LOG_MAX = 10 * 1024 * 1024
const LOG_SHOWN = 2_000

/** PostgreSQL's default durability; reachable from this machine only. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: HOST,
  unix_socket_directories: "",
  max_connections: "100",
  shared_buffers: "128MB",
  jit: "off"
}

export const start = async (options: StartOptions): Promise<Postmaster> => {
  if (options.port !== undefined && !(await isFree(options.port))) {
    throw failed(
      `Port ${options.port} on ${HOST} is taken: name another for the database, or none.`
    )
  }
  for (let tries = 1; ; tries++) {
    const port = options.port ?? (await freePort())
    const started = await tryStart(options, port)
    if (typeof started !== "string") return started
    // Another process may take a free port before PostgreSQL does.
    const isRaced =
      options.port === undefined && started.includes("could not bind") && tries < PORT_TRIES
    if (!isRaced) throw failed(`The database did not start: ${started}`)
  }
}

/** Starts the server; returns its last log lines where it does not become ready. */
const tryStart = async (options: StartOptions, port: number): Promise<Postmaster | string> => {
  const cluster = Cluster.path(options.dataFolder)
  const log = await turnLog(join(options.dataFolder, "postgres.log"))
  const descriptor = openSync(log.file, "a", 0o600)
  const child = Process.start({
    program: options.binaries.postgres,
    args: await argsOf(options, port),
    account: options.account,
    folder: cluster,
    stdio: ["ignore", descriptor, descriptor]
  })
  closeSync(descriptor)
  let ended = false
  const end = new Promise<void>((resolve) => {
    const note = (): void => {
      ended = true
      resolve()
    }
    child.once("exit", note)
    child.once("error", note)
  })
  const watcher = watch(child, options.account)
  const stop = async (): Promise<void> => {
    for (const [signal, millis] of [
      ["SIGINT", STOP_FAST_MILLIS],
      ["SIGQUIT", STOP_MILLIS],
      ["SIGKILL", STOP_MILLIS]
    ] as const) {
      if (ended) break
      child.kill(signal)
      await within(end, millis)
    }
    watcher?.kill("SIGKILL")
  }
  const until = Date.now() + START_MILLIS
  while (!ended && Date.now() < until && !options.signal.aborted) {
    if (await isReady(cluster, child.pid)) {
      child.unref()
      return { port, child, stop }
    }
    await within(end, 20)
  }
  const timedOut = !ended
  await stop()
  const said = (await readFile(log.file, "utf8")).slice(log.size).trim().slice(-LOG_SHOWN)
  return timedOut ? `it was not ready after ${START_MILLIS / 1000} s. ${said}` : said
}

const argsOf = async (options: StartOptions, port: number): Promise<ReadonlyArray<string>> => {
  const host = await Process.identity(process.pid)
  const settings = {
    ...SETTINGS,
    ...options.settings,
    port: String(port),
    [Cluster.HOST_SETTING]: host ?? `${process.pid}:unknown`
  }
  return [
    "-D",
    Cluster.nameOf(Cluster.path(options.dataFolder), options.account),
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  ]
}

/**
 * Watchdog process: stops the database when the pipe from the host closes, however the host ended.
 * Where there is no shell, the next start finds the database and stops it.
 */
const watch = (child: ChildProcess, account: Account): ChildProcess | undefined => {
  if (process.platform === "win32" || child.pid === undefined) return undefined
  const watcher = Process.start({
    program: "/bin/sh",
    args: ["-c", 'read -r line; kill -INT "$1"', "sh", String(child.pid)],
    account,
    folder: "/",
    stdio: ["pipe", "ignore", "ignore"]
  })
  watcher.on("error", () => {})
  watcher.stdin?.on("error", () => {})
  // A freed pid must not be signalled: the watchdog ends with the database.
  child.once("exit", () => watcher.kill("SIGKILL"))
  watcher.unref()
  const pipe: unknown = watcher.stdin
  if (hasUnref(pipe)) pipe.unref()
  return watcher
}

const hasUnref = (value: unknown): value is { readonly unref: () => void } =>
  typeof value === "object" && value !== null && "unref" in value

/** The first line of the pid file is the process id, the eighth its status; `standby` of a replica. */
const isReady = async (cluster: string, pid: number | undefined): Promise<boolean> => {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "")
  const lines = text.split("\n")
  return lines[0] === String(pid) && ["ready", "standby"].includes(lines[7]?.trim() ?? "")
}

/** Rotates the log and keeps one older file, so that it does not fill the disk. */
const turnLog = async (file: string): Promise<{ file: string; size: number }> => {
  const size = await stat(file).then(
    (status) => status.size,
    () => 0
  )
  if (size > LOG_MAX) await rename(file, `${file}.1`)
  await (await open(file, "a", 0o600)).close()
  return { file, size: size > LOG_MAX ? 0 : size }
}

const listening = (port: number): Promise<number | null> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(null))
    server.listen({ host: HOST, port, exclusive: true }, () => {
      const address = server.address()
      server.close(() =>
        resolve(typeof address === "object" && address !== null ? address.port : null)
      )
    })
  })

const isFree = async (port: number): Promise<boolean> => (await listening(port)) !== null

const freePort = async (): Promise<number> => {
  const port = await listening(0)
  if (port === null) throw failed(`There is no free port on ${HOST}.`)
  return port
}

/**
 * Waits for the end with a timeout, and clears the timer, which would keep the host from exiting.
 */
const within = (end: Promise<void>, millis: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, millis)
    end.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
