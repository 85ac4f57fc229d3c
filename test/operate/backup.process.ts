/**
 * A venue that is backed up while it writes, lost, and restored: nothing that was answered before the
 * backup is missing, nothing is half there, and whatever is killed leaves no half venue that starts.
 */
import { execFileSync, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { run, start, type Started } from "../cli/Bin.ts"
import { bundled } from "../processes/bundled.ts"
import { environment } from "../processes/environment.ts"
import { party } from "../processes/instances.ts"
import * as Kill from "../kill/host.ts"
import { remove } from "../folders.ts"

let folder = ""
let identity: Kill.Identity
let env: Readonly<Record<string, string>>
let venue: Started
let operator = ""
const answered: Array<string> = []

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false
  )

/** Registers holders at a venue one after another until it is stopped, and keeps the ids that were answered. */
const load = (at: Started, answered: Array<string>) => {
  let isStopped = false
  const done = (async () => {
    while (!isStopped) {
      const holderId = `h-${randomUUID()}`
      const response = await fetch(`${at.at.api}/v1/holders`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${operator}`,
          "content-type": "application/json",
          "idempotency-key": holderId
        },
        body: JSON.stringify({ holderId, party: party(holderId), taxResidences: [] })
      })
      if (response.status === 202) answered.push(holderId)
      else throw new Error(`${response.status} ${await response.text()}`)
    }
  })()
  return {
    /** Ends with the first write that is refused. */
    done,
    stop: async () => {
      isStopped = true
      await done
    }
  }
}

interface Action {
  readonly resource: { readonly id: string }
}

/** Ids of the records that the operations of a running venue are about. */
const holdersOf = async ({ at }: Started): Promise<ReadonlySet<string>> => {
  const response = await fetch(`${at.api}/v1/operations`, {
    headers: { authorization: `Bearer ${operator}` }
  })
  const { value } = (await response.json()) as { readonly value: ReadonlyArray<Action> }
  return new Set(value.map(({ resource }) => resource.id))
}

const settingsFor = (data: string): Readonly<Record<string, string>> => ({
  ...env,
  BURSAR_DATA: data
})

const stopped = async ({ child, ended }: Started): Promise<void> => {
  child.kill("SIGTERM")
  await ended
}

/** Runs a command and kills it after so many milliseconds, if it has not ended. */
const killedAfter = async (
  millis: number,
  words: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>>
): Promise<number | null> => {
  const child = spawn(
    process.execPath,
    [await bundled("packages/http-host/src/main.ts"), ...words],
    { env: { ...environment, ...variables }, stdio: "ignore" }
  )
  const ended = new Promise<number | null>((done) => child.once("close", done))
  const timer = setTimeout(() => child.kill("SIGKILL"), millis)
  const code = await ended
  clearTimeout(timer)
  return code
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-backup-"))
  identity = await Kill.identity()
  operator = await identity.token("olive", ["operator"])
  env = {
    BURSAR_DATA: join(folder, "venue"),
    BURSAR_ISSUER: "https://issuer.test",
    BURSAR_JWKS_URL: identity.jwksUrl,
    BURSAR_PORT: "0",
    BURSAR_MANAGEMENT_PORT: "0",
    BURSAR_LEDGER_DOOR_PORT: "0",
    BURSAR_RATE_LIMIT_LIMIT: "100000"
  }
  venue = await start("start", env)
})
afterAll(async () => {
  await stopped(venue)
  identity.stop()
  await remove(folder)
})

describe("a venue on its embedded database", () => {
  const set = () => join(folder, "set")

  it("is backed up while it writes, lost, and restored with all that was answered before, and nothing half there", async () => {
    const writes = load(venue, answered)
    await Promise.race([writes.done, expect.poll(() => answered.length).toBeGreaterThan(20)])
    const before = [...answered]
    const backedUp = await run(["backup", "--to", set()], env)
    await writes.stop()
    expect(backedUp).toMatchObject({ code: 0, err: expect.not.stringContaining("bursar:") })
    expect(answered.length).toBeGreaterThan(before.length)

    const data = join(folder, "restored")
    const restored = await run(["restore", "--from", set()], settingsFor(data))
    expect(restored).toMatchObject({ code: 0, out: expect.stringContaining("restored and proven") })
    const again = await start("start", settingsFor(data))
    try {
      const found = await holdersOf(again)
      expect(before.filter((holderId) => !found.has(holderId))).toEqual([])
      // A write made during the backup is whole or absent: none that nobody was answered, and each
      // with its operation, its events and its audit record, which the restore has verified.
      const written = new Set(answered)
      expect([...found].filter((id) => id.startsWith("h-") && !written.has(id))).toEqual([])
      // Readers of what was written after the backup are told, since the restore is noted.
      const noted = await fetch(`${again.at.api}/v1/audit-log?action=venue.restore`, {
        headers: { authorization: `Bearer ${operator}` }
      })
      expect(
        ((await noted.json()) as { readonly value: ReadonlyArray<unknown> }).value
      ).toHaveLength(1)
    } finally {
      await stopped(again)
    }
    expect(await run(["audit", "verify"], settingsFor(data))).toMatchObject({ code: 0 })
  })

  it("is backed up beside its host alone: every other command says that the host must stop first", async () => {
    for (const words of [
      ["audit", "verify"],
      ["audit", "prune"],
      ["migrate"],
      ["webhooks", "replay", "--webhook", "w-1", "--from-seq", "1", "--to-seq", "1"]
    ]) {
      expect(await run(words, env)).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringMatching(
          /^bursar: Another host \(process \d+\) uses the database in \S+\/cluster, which belongs to one process at a time: stop that host first, or name another data folder; only a backup is made beside it\./mu
        )
      })
    }
    expect((await fetch(`${venue.at.api}/v1/health`)).status).toBe(200)
  })

  it("is restored into no folder that has a venue, of this one or of another, and not under another id", async () => {
    const onItself = await run(["restore", "--from", set()], env)
    expect(onItself).toMatchObject({ code: 1, err: expect.stringContaining("is not empty") })
    const another = await run(["restore", "--from", set()], {
      ...settingsFor(join(folder, "other")),
      BURSAR_TENANT_ID: "venue-2"
    })
    expect(another).toMatchObject({
      code: 1,
      err: expect.stringContaining("is of the venue venue-1")
    })
    expect(await isThere(join(folder, "other"))).toBe(false)
  })

  it("is not restored from a set of which one byte is another, and nothing is written", async () => {
    const wrong = join(folder, "wrong")
    await cp(set(), wrong, { recursive: true })
    const file = join(wrong, "cluster", "global", "pg_control")
    const bytes = await readFile(file)
    bytes[100] = (bytes[100] ?? 0) ^ 1
    await writeFile(file, bytes)
    const data = join(folder, "unwritten")
    const refused = await run(["restore", "--from", wrong], settingsFor(data))
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining("cluster/global/pg_control of")
    })
    expect(await isThere(data)).toBe(false)
  })

  it("that lost a key of its backup is not restored, and the key is named", async () => {
    const keyless = join(folder, "keyless")
    const data = join(folder, "without")
    // A set that was made without the folder of keys, as by hand.
    const manifest = JSON.parse(await readFile(join(set(), "manifest.json"), "utf8")) as {
      readonly files: ReadonlyArray<{ readonly path: string }>
    }
    await cp(set(), keyless, { recursive: true })
    await rm(join(keyless, "data", "keys", "sealing.json"))
    const files = manifest.files.filter(({ path }) => path !== "data/keys/sealing.json")
    await writeFile(join(keyless, "manifest.json"), JSON.stringify({ ...manifest, files }))
    const refused = await run(["restore", "--from", keyless], settingsFor(data))
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("keys/sealing.json") })
    const started = await run(["start"], settingsFor(data))
    expect(started).toMatchObject({ code: 1, err: expect.stringContaining("has not ended") })
  })

  it("leaves no half backup where its backup is killed, and goes on", async () => {
    for (const millis of [300, 900, 1_500]) {
      const to = join(folder, `killed-${millis}`)
      const code = await killedAfter(millis, ["backup", "--to", to], env)
      expect(await isThere(join(to, "manifest.json"))).toBe(code === 0)
    }
    const response = await fetch(`${venue.at.api}/v1/health`)
    expect(response.status).toBe(200)
    expect(
      (await readdir(folder)).filter(
        (name) => name.startsWith("killed-") && !name.endsWith(".unfinished")
      ).length
    ).toBeLessThanOrEqual(3)
  })

  it("leaves no half venue that starts where its restore is killed, and the next restore ends it", async () => {
    const data = join(folder, "interrupted")
    for (const millis of [400, 900, 1_600]) {
      await remove(data)
      const code = await killedAfter(millis, ["restore", "--from", set()], settingsFor(data))
      if (code === 0) continue
      if (await isThere(join(data, "restoring"))) {
        const started = await run(["start"], settingsFor(data))
        expect(started).toMatchObject({ code: 1, err: expect.stringContaining("has not ended") })
      }
      const ended = await run(["restore", "--from", set()], settingsFor(data))
      expect(ended).toMatchObject({ code: 0, out: expect.stringContaining("restored and proven") })
    }
  })
})

/** A PostgreSQL server of this machine's own, with the programs that dump and restore it. */
const programs = ["initdb", "postgres", "pg_dump", "pg_restore", "createdb", "psql"] as const
const pathOf = (program: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((path) => join(path, program))
    .find((file) => existsSync(file))

/** Starts it in a folder, under an account that is not root, and returns the address of a database. */
const server = async (
  data: string
): Promise<{ url: (name: string) => string; stop: () => void }> => {
  const account: { uid?: number; gid?: number } = process.getuid?.() === 0 ? unprivileged() : {}
  const port = await new Promise<number>((done) => {
    const listener = createServer().listen(0, "127.0.0.1", () => {
      const address = listener.address()
      listener.close(() => done(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
  mkdirSync(data, { mode: 0o700 })
  if (account.uid !== undefined && account.gid !== undefined)
    chownSync(data, account.uid, account.gid)
  const options = { ...account, cwd: data, stdio: "ignore" } as const
  execFileSync(
    pathOf("initdb") ?? "",
    ["-D", data, "-U", "bursar", "--auth=trust", "-E", "UTF8", "--no-locale"],
    options
  )
  const child = spawn(
    pathOf("postgres") ?? "",
    ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-c", "unix_socket_directories="],
    options
  )
  const create = (name: string) =>
    execFileSync("createdb", ["-h", "127.0.0.1", "-p", String(port), "-U", "bursar", name], {
      stdio: "ignore"
    })
  await expect
    .poll(() => {
      create("venue")
      return true
    })
    .toBe(true)
  create("restored")
  return {
    url: (name) => `postgres://bursar@127.0.0.1:${port}/${name}`,
    stop: () => void child.kill("SIGINT")
  }
}

/** The account that a server runs under where the tests run as root, which it refuses. */
const unprivileged = (): { readonly uid: number; readonly gid: number } => {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((each) => /^(?:postgres|nobody):/u.test(each))
  const [, , uid, gid] = (line ?? "").split(":")
  return { uid: Number(uid), gid: Number(gid) }
}

describe.skipIf(programs.some((program) => pathOf(program) === undefined))(
  "a venue on a database that its settings name",
  () => {
    it("is dumped while it writes, and restored into an empty database alone", async () => {
      chmodSync(folder, 0o755)
      const postgres = await server(join(folder, "postgres"))
      const own: Array<string> = []
      const from = {
        ...settingsFor(join(folder, "dumped-data")),
        DATABASE_URL: postgres.url("venue")
      }
      const first = await start("start", from)
      const set = join(folder, "dumped")
      try {
        const writes = load(first, own)
        await Promise.race([writes.done, expect.poll(() => own.length).toBeGreaterThan(10)])
        const before = [...own]
        expect(await run(["backup", "--to", set], from)).toMatchObject({ code: 0 })
        await writes.stop()
        const data = join(folder, "dump-restored")
        const onto = { ...settingsFor(data), DATABASE_URL: postgres.url("venue") }
        expect(await run(["restore", "--from", set], onto)).toMatchObject({
          code: 1,
          err: expect.stringContaining("the database is not empty")
        })
        expect(await isThere(join(data, "restoring"))).toBe(false)
        const into = { ...onto, DATABASE_URL: postgres.url("restored") }
        expect(await run(["restore", "--from", set], into)).toMatchObject({ code: 0 })
        const again = await start("start", into)
        const found = await holdersOf(again)
        await stopped(again)
        expect(before.filter((holderId) => !found.has(holderId))).toEqual([])
        // The audit log is as closed to changes as it was.
        const forged = execute(postgres.url("restored"), "update bursar.audit set text = text")
        expect(forged).toContain("ERROR")
      } finally {
        await stopped(first)
        postgres.stop()
      }
    })
  }
)

/** Runs a statement by psql and returns what it printed, its refusal too. */
const execute = (url: string, statement: string): string => {
  try {
    return execFileSync("psql", [url, "-c", statement], { encoding: "utf8", stdio: "pipe" })
  } catch (cause) {
    return String((cause as { readonly stderr?: unknown }).stderr)
  }
}
