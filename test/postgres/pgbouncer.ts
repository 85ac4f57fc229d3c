/** PgBouncer of a test: found on PATH or where PGBOUNCER names it, in transaction mode. */
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { existsSync, readFileSync } from "node:fs"
import { createServer, connect } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { Effect, type Scope } from "effect"
import * as Account from "#adapters/storage/embedded/Account.ts"
import * as Process from "#adapters/storage/embedded/Process.ts"

/** Debian installs the program in a folder that an ordinary account has not on its PATH. */
const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]

/** Path of the program; undefined where there is none. */
export const program: string | undefined =
  process.env["PGBOUNCER"] ??
  folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path))

/** Fewer than the client connections of one store, so that they must share. */
const serverConnections = 6
const startMillis = 10_000

const freePort = (): Promise<number> =>
  new Promise((free) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => free(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const isListening = (port: number): Promise<boolean> =>
  new Promise((listening) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      listening(true)
    })
    socket.once("error", () => listening(false))
  })

const page = new URL("../../packages/http-host/docs/database.md", import.meta.url)

/** Settings of server connections that the ports need: `connect_query` of the page for operators. */
export const settings = /connect_query='([^']*)'/u.exec(readFileSync(page, "utf8"))?.[1] ?? ""

interface Options {
  readonly url: string
  /** Statements that each server connection begins with. */
  readonly settings: string
}

/**
 * Starts a pooler before the database of this address, and returns the address of the database
 * through the pooler.
 */
export const start = (options: Options): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => launch(options)),
      ({ end }) => Effect.promise(end)
    ),
    ({ url }) => url
  )

const launch = async (options: Options) => {
  if (program === undefined) throw new Error("there is no pgbouncer")
  const folder = await mkdtemp(join(tmpdir(), "bursar-pgbouncer-"))
  const account = await Account.choose(folder)
  const to = new URL(options.url)
  const port = await freePort()
  const files = {
    "users.txt": `"${to.username}" "${to.password}"\n`,
    "pgbouncer.ini": [
      "[databases]",
      `* = host=${to.hostname} port=${to.port} connect_query='${options.settings}'`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = scram-sha-256",
      "auth_file = users.txt",
      "pool_mode = transaction",
      `default_pool_size = ${serverConnections}`,
      "max_client_conn = 500",
      ""
    ].join("\n")
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const { switchTo } = account
  for (const path of [folder, ...Object.keys(files).map((name) => join(folder, name))]) {
    if (switchTo !== null) await chown(path, switchTo.uid, switchTo.gid)
  }
  const child = Process.start({
    program,
    args: ["pgbouncer.ini"],
    account,
    folder,
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  child.stderr?.on("data", (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4_000)
  })
  child.stdout?.resume()
  const ended = new Promise((done) => child.once("close", done))
  const until = Date.now() + startMillis
  while (!(await isListening(port))) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`no pgbouncer: ${output}`)
    await new Promise((waited) => setTimeout(waited, 20))
  }
  const through = new URL(options.url)
  through.port = String(port)
  return {
    url: through.href,
    end: async () => {
      child.kill("SIGKILL")
      await ended
      await rm(folder, { recursive: true, force: true })
    }
  }
}
