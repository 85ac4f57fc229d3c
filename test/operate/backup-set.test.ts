/** A backup's folder: whole or absent, compared byte for byte, and restored into an empty data folder alone. */
import { Instant } from "@bursar/engine-core/kernel"
import { Effect, Exit } from "effect"
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import * as BackupSet from "#host/BackupSet.ts"

let folder = ""
let data = ""
let set = ""

const place = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-backup-set-"))
  data = join(folder, "data")
  set = join(folder, "set")
  await place(join(data, "keys", "sealing.json"), "sealing")
  await place(join(data, "ledger", "venue.token"), "token")
  await place(join(data, "audit", "anchors.jsonl"), "anchor 1\n")
  await place(join(data, "cluster", "PG_VERSION"), "18")
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const described = {
  bursar: "0.1.0",
  tenantId: "venue-1",
  takenAt: Instant.of("2026-11-29T12:00:00Z"),
  eventSeq: 7,
  auditSeq: 9
}

const backUp = (database: (path: string) => Promise<void> = (path) => place(path, "dump")) =>
  Effect.runPromiseExit(
    BackupSet.make({
      to: set,
      data,
      form: "dump",
      described,
      database: (path) => Effect.promise(() => database(path))
    })
  )

const failureOf = async <A>(effect: Effect.Effect<A, BackupSet.BackupFailed>): Promise<string> =>
  (await Effect.runPromise(Effect.flip(effect))).message

const files = (within: string): Promise<ReadonlyArray<string>> =>
  readdir(within).then((all) => all.toSorted())

describe("a backup", () => {
  it("has the database and the secrets, and not the embedded database of the data folder", async () => {
    expect(Exit.isSuccess(await backUp())).toBe(true)
    const manifest = await Effect.runPromise(BackupSet.read(set))
    expect(manifest.files.map(({ path }) => path)).toEqual([
      "data/audit/anchors.jsonl",
      "data/keys/sealing.json",
      "data/ledger/venue.token",
      "database.dump"
    ])
    expect(manifest).toMatchObject({ database: "dump", ...described })
  })

  it("never has an anchor that its database lacks, and has each key that its database was written with", async () => {
    await backUp(async (path) => {
      await appendFile(join(data, "audit", "anchors.jsonl"), "anchor 2\n")
      await place(join(data, "keys", "webhook.json"), "made meanwhile")
      await place(path, "dump")
    })
    expect(await readFile(join(set, "data", "audit", "anchors.jsonl"), "utf8")).toBe("anchor 1\n")
    expect(await files(join(set, "data", "keys"))).toEqual(["sealing.json", "webhook.json"])
  })

  it("that fails or is killed leaves no folder under its name, and the next one is whole", async () => {
    expect(Exit.isFailure(await backUp(() => Promise.reject(new Error("killed"))))).toBe(true)
    expect(await failureOf(BackupSet.read(set))).toContain("is no backup")
    expect(await failureOf(BackupSet.read(`${set}.unfinished`))).toContain("is no backup")
    expect(Exit.isSuccess(await backUp())).toBe(true)
    expect(await files(folder)).toEqual(["data", "set"])
  })

  it("never replaces another", async () => {
    await backUp()
    const again = BackupSet.make({
      to: set,
      data,
      form: "dump",
      described,
      database: () => Effect.void
    })
    expect(await failureOf(again)).toBe(`${set} is there already`)
  })

  it.each([".", "backups/1", "keys/1", "cluster/1"])(
    "never is made in the data folder, with which it would be lost: %s",
    async (path) => {
      const before = await readdir(data, { recursive: true })
      const to = join(data, path)
      const inside = BackupSet.make({
        to,
        data,
        form: "dump",
        described,
        database: () => Effect.void
      })
      expect(await failureOf(inside)).toContain("is in the data folder")
      expect(await readdir(data, { recursive: true })).toEqual(before)
    }
  )

  it.each(["link", "link/deeper/1", "data-link/1"])(
    "never is made in the data folder by a symbolic link: %s",
    async (path) => {
      await symlink(join(data, "keys"), join(folder, "link"))
      await symlink(data, join(folder, "data-link"))
      const linked = BackupSet.make({
        to: join(folder, path),
        data,
        form: "dump",
        described,
        database: () => Effect.void
      })
      expect(await failureOf(linked)).toContain("is in the data folder")
      const itself = BackupSet.make({
        to: join(data, "1"),
        data: join(folder, "data-link"),
        form: "dump",
        described,
        database: () => Effect.void
      })
      expect(await failureOf(itself)).toContain("is in the data folder")
    }
  )

  it("is made beside a data folder whose name begins alike", async () => {
    const to = `${data}..1`
    const beside = BackupSet.make({
      to,
      data,
      form: "dump",
      described,
      database: (path) => Effect.promise(() => place(path, "dump"))
    })
    expect(Exit.isSuccess(await Effect.runPromiseExit(beside))).toBe(true)
  })
})

describe("a backup is refused, by the name of the file, where", () => {
  it.each([
    "data/audit/anchors.jsonl",
    "data/keys/sealing.json",
    "data/ledger/venue.token",
    "database.dump"
  ])("one byte of %s is another, or the file is missing", async (path) => {
    await backUp()
    const file = join(set, path)
    const bytes = await readFile(file)
    bytes[0] = (bytes[0] ?? 0) ^ 1
    await writeFile(file, bytes)
    expect(await failureOf(BackupSet.read(set))).toBe(
      `${path} of ${set} is not as it was backed up`
    )
    await rm(file)
    expect(await failureOf(BackupSet.read(set))).toBe(`${path} of ${set} is missing`)
  })

  it("a file is not of the backup", async () => {
    await backUp()
    await place(join(set, "data", "keys", "other.json"), "other")
    expect(await failureOf(BackupSet.read(set))).toBe(
      `data/keys/other.json of ${set} is not of the backup`
    )
  })

  it.each([
    ["not JSON", "{"],
    ["of a newer form", '{"version":2}'],
    ["without its files", "{}"]
  ])("its manifest is %s", async (_fault, text) => {
    await backUp()
    await writeFile(join(set, "manifest.json"), text)
    expect(await failureOf(BackupSet.read(set))).toContain(
      "is not of a form that this program reads"
    )
  })
})

describe("a restore", () => {
  const target = () => join(folder, "new")

  it("is refused where the data folder has anything, and changes nothing there", async () => {
    await backUp()
    expect(await failureOf(BackupSet.beginRestore(set, data))).toMatch(
      /is not empty: it has \w+; name another/u
    )
    expect(await files(data)).toEqual(["audit", "cluster", "keys", "ledger"])
  })

  it("is seen by every start until it has ended", async () => {
    await backUp()
    await Effect.runPromise(BackupSet.beginRestore(set, target()))
    expect(await BackupSet.isRestoring(target())).toBe(true)
    await place(join(BackupSet.restoring(target()), "cluster", "PG_VERSION"), "18")
    await Effect.runPromise(BackupSet.endRestore(target()))
    expect(await BackupSet.isRestoring(target())).toBe(false)
    expect(await files(target())).toEqual(["audit", "cluster", "keys", "ledger"])
    expect(await readFile(join(target(), "keys", "sealing.json"), "utf8")).toBe("sealing")
  })

  it("goes on where one was killed, also in the middle of its last step, with nothing of the first left", async () => {
    await backUp()
    expect(await Effect.runPromise(BackupSet.beginRestore(set, target()))).toEqual({
      hasDatabase: false
    })
    await Effect.runPromise(BackupSet.noteDatabase(set, target()))
    await place(join(BackupSet.restoring(target()), "cluster", "half"), "")
    // The last step moved one folder out and was killed.
    await rename(join(BackupSet.restoring(target()), "keys"), join(target(), "keys"))
    expect(await Effect.runPromise(BackupSet.beginRestore(set, target()))).toEqual({
      hasDatabase: true
    })
    expect(await files(target())).toEqual(["restoring"])
    expect(await files(BackupSet.restoring(target()))).toEqual([
      "audit",
      "database-restored",
      "keys",
      "ledger"
    ])
  })

  it("takes the database of another set for none of its own", async () => {
    await backUp()
    await Effect.runPromise(BackupSet.beginRestore(set, target()))
    await Effect.runPromise(BackupSet.noteDatabase(set, target()))
    await rename(set, `${set}-1`)
    await place(join(data, "keys", "audit.json"), "another")
    await backUp()
    expect(await Effect.runPromise(BackupSet.beginRestore(set, target()))).toEqual({
      hasDatabase: false
    })
  })
})
