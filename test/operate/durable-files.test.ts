/**
 * Durable files: before a call reports them as written, every file was flushed at its last size, and every
 * folder with its last names.
 */
import { Effect } from "effect"
import { fstatSync, readdirSync, readlinkSync, statSync } from "node:fs"
import { mkdir, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { Instant } from "@bursar/engine-core/kernel"
import * as DurableFiles from "#adapters/node/DurableFiles.ts"
import * as BaseBackup from "#adapters/storage/embedded/BaseBackup.ts"
import * as BackupSet from "#host/BackupSet.ts"
import * as DeploymentKeys from "#host/DeploymentKeys.ts"
import * as AnchorFile from "#host/outbound/AnchorFile.ts"

let folder = ""
let flushed = new Map<number, string>()
let restoreSpy = () => {}

/** Content that a flush has put on the disk: the size of a file, the names in a folder. */
const contentOf = (path: string): string => {
  const stats = statSync(path)
  return stats.isDirectory() ? readdirSync(path).toSorted().join() : String(stats.size)
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-durable-"))
  flushed = new Map()
  await using handle = await open(folder, "r")
  const prototype: typeof handle = Object.getPrototypeOf(handle)
  const { sync } = prototype
  const spy = vi.spyOn(prototype, "sync").mockImplementation(async function (this: typeof handle) {
    await sync.call(this)
    flushed.set(fstatSync(this.fd).ino, contentOf(readlinkSync(`/proc/self/fd/${this.fd}`)))
  })
  restoreSpy = () => spy.mockRestore()
})
afterEach(async () => {
  restoreSpy()
  await rm(folder, { recursive: true, force: true })
})

/** Files and folders below a path, and the path, that were not flushed as they are. */
const unflushed = async (path: string): Promise<ReadonlyArray<string>> => {
  const entries = statSync(path).isDirectory() ? await readdir(path, { recursive: true }) : []
  return ["", ...entries].filter((entry) => {
    const each = join(path, entry)
    return flushed.get(statSync(each).ino) !== contentOf(each)
  })
}

const place = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)

const described = {
  bursar: "0.1.0",
  tenantId: "venue-1",
  takenAt: Instant.of("2026-11-29T12:00:00Z"),
  eventSeq: 7,
  auditSeq: 9
}

/** A set of a small venue, whose database is two files in a folder. */
const backUp = async (): Promise<string> => {
  const [data, to] = [join(folder, "data"), join(folder, "set")]
  for (const path of ["keys/sealing.json", "ledger/venue.token", "audit/anchors.jsonl"]) {
    await place(join(data, path), path)
  }
  const database = (path: string) =>
    Effect.promise(async () => {
      await place(join(path, "base", "1"), "rows")
      await place(join(path, "PG_VERSION"), "18")
    })
  await run(BackupSet.make({ to, data, form: "cluster", described, database }))
  return to
}

// The files of a descriptor are known where the system lists them.
describe.skipIf(process.platform !== "linux")("on the disk, with its name, is", () => {
  it("a backup that has its name, whole", async () => {
    const set = await backUp()
    expect(await unflushed(set)).toEqual([])
    expect(flushed.get(statSync(folder).ino)).toBe(contentOf(folder))
  })

  it("a restored venue, whole, and before that the mark that a restore is under way", async () => {
    const set = await backUp()
    const data = join(folder, "new", "data")
    await run(BackupSet.beginRestore(set, data))
    for (const path of [folder, dirname(data), data]) {
      expect(flushed.get(statSync(path).ino)).toBe(contentOf(path))
    }
    const working = BackupSet.restoring(data)
    await run(BaseBackup.place({ from: BackupSet.databaseIn(set, "cluster"), dataFolder: working }))
    expect(await unflushed(join(working, "cluster"))).toEqual([])
    await run(BackupSet.noteDatabase(set, data))
    expect(await unflushed(join(working, "database-restored"))).toEqual([])
    expect(flushed.get(statSync(working).ino)).toBe(contentOf(working))
    // The server that proves the venue writes there too.
    await writeFile(join(working, "cluster", "base", "2"), "more rows")
    await run(BackupSet.endRestore(data))
    expect(await readdir(data)).toEqual(expect.arrayContaining(["audit", "cluster", "keys"]))
    expect(await unflushed(data)).toEqual([])
  })

  it("a key that a start made, before anything is sealed with it", async () => {
    const data = join(folder, "data")
    await run(DeploymentKeys.own({ use: "sealing", setting: "webhooks.sealingKeys", data }))
    expect(await unflushed(data)).toEqual([])
  })

  it("the file of the audit log's anchors", async () => {
    const file = join(folder, "audit", "anchors.jsonl")
    await AnchorFile.create(file)
    expect(await unflushed(dirname(file))).toEqual([])
  })

  it("a file that replaces another, also where folders above it were missing", async () => {
    const file = join(folder, "a", "b", "token")
    await DurableFiles.makeFolder(dirname(file))
    await DurableFiles.replace(file, "one")
    await DurableFiles.replace(file, "another")
    expect(await unflushed(join(folder, "a"))).toEqual([])
  })
})

describe.skipIf(process.platform !== "linux")("a folder", () => {
  /** A file system that answers the flush of a folder with this code. */
  const answering = async (code: string): Promise<void> => {
    await using handle = await open(folder, "r")
    const prototype: typeof handle = Object.getPrototypeOf(handle)
    const { sync } = prototype
    vi.mocked(sync).mockImplementation(async function (this: typeof handle) {
      if (fstatSync(this.fd).isDirectory()) throw Object.assign(new Error(code), { code })
    })
  }

  it.each(["EINVAL", "ENOTSUP", "EISDIR"])(
    "whose file system flushes none (%s) fails no write",
    async (code) => {
      await answering(code)
      const file = join(folder, "token")
      await DurableFiles.replace(file, "one")
      expect(await readdir(folder)).toEqual(["token"])
    }
  )

  it.each(["EIO", "ENOSPC", "EACCES"])(
    "whose names may not be on the disk (%s) is not reported as written",
    async (code) => {
      await answering(code)
      await expect(DurableFiles.replace(join(folder, "token"), "one")).rejects.toMatchObject({
        code
      })
    }
  )
})
