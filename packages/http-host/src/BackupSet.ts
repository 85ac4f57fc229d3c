/**
 * A backup of a venue: one folder with its database, the secrets of its data folder, and a manifest
 * that names every file with its hash. It is made under another name and renamed once it is whole, and
 * taken apart only after every hash was compared.
 */
import { Instant } from "@bursar/engine-core/kernel"
import { Data, Effect, Option, Schema } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { cp, mkdir, readdir, readFile, realpath, rm, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { DurableFiles } from "./DataFolder.ts"

/** A backup could not be made, or is not as it was made; nothing was changed. */
export class BackupFailed extends Data.TaggedError("BackupFailed")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** Where the database stands in the set: the files of an embedded one, or a dump of `pg_dump`. */
const databaseForms = { cluster: "cluster", dump: "database.dump" } as const
export type DatabaseForm = keyof typeof databaseForms

/** Manifest of a backup: its venue, its moment, and every file with its hash. */
const Manifest = Schema.Struct({
  /** Of the set's own form. */
  version: Schema.Literal(1),
  /** Version of the program that made it. */
  bursar: Schema.String,
  tenantId: Schema.String,
  takenAt: Instant.schema,
  database: Schema.Literals(["cluster", "dump"]),
  /** Last event and last audit record before the backup began: the restored database has no fewer. */
  eventSeq: Schema.Int,
  auditSeq: Schema.Int,
  files: Schema.Array(
    Schema.Struct({ path: Schema.String, bytes: Schema.Int, sha256: Schema.String })
  )
})
export type Manifest = typeof Manifest.Type

const manifestFile = "manifest.json"

/** Folders of the data folder that a backup has; the embedded database is backed up by itself. */
const dataFolders = ["keys", "ledger", "audit"] as const

/** Folder of the set that has those folders. */
const dataIn = (set: string): string => join(set, "data")

export const databaseIn = (set: string, form: DatabaseForm): string =>
  join(set, databaseForms[form])

const anchorsPath = "data/audit/anchors.jsonl"

/** File of the audit log's anchors in a set; null where the venue keeps them elsewhere (`audit.anchors`). */
export const anchorsOf = ({ files }: Manifest, set: string): string | null =>
  files.some(({ path }) => path === anchorsPath) ? join(set, ...anchorsPath.split("/")) : null

const attempt = <A>(what: string, f: () => Promise<A>): Effect.Effect<A, BackupFailed> =>
  Effect.tryPromise({
    try: f,
    catch: (cause) =>
      cause instanceof BackupFailed
        ? cause
        : new BackupFailed({
            detail: `${what}: ${cause instanceof Error ? cause.message : String(cause)}`
          })
  })

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT") return false
      throw cause
    }
  )

/** Path without symbolic links; the part that is not there yet stays as it is named. */
const realPath = async (path: string): Promise<string> => {
  const whole = resolve(path)
  try {
    return await realpath(whole)
  } catch (cause) {
    const parent = dirname(whole)
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT" || parent === whole) throw cause
    return join(await realPath(parent), basename(whole))
  }
}

/** Checks whether a path is a folder or lies below it, by whatever links either is named. */
const isWithin = async (folder: string, path: string): Promise<boolean> => {
  const below = relative(await realPath(folder), await realPath(path))
  return below.split(sep)[0] !== ".." && !isAbsolute(below)
}

/** Paths of all files below a folder, with `/` on every system, in order. */
const filesOf = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .flatMap((entry) => {
      const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/")
      if (entry.isFile()) return [path]
      if (entry.isDirectory()) return []
      throw new BackupFailed({ detail: `${path} is neither a file nor a folder` })
    })
    .toSorted()
}

const entryOf = async (folder: string, path: string): Promise<Manifest["files"][number]> => {
  const hash = createHash("sha256")
  let bytes = 0
  for await (const part of createReadStream(join(folder, path))) {
    hash.update(part)
    bytes += part.length
  }
  return { path, bytes, sha256: hash.digest("hex") }
}

/** Copies the secrets of a data folder; those that it lacks are named in the settings. */
const copySecrets = async (from: string, to: string, names: ReadonlyArray<string>) => {
  for (const name of names) {
    if (!(await isThere(join(from, name)))) continue
    await cp(join(from, name), join(to, name), { recursive: true })
  }
}

/** Name of a set that is being made: a killed backup leaves it, and no command takes it for a backup. */
const unfinished = ".unfinished"

/**
 * Makes a backup: `database` writes the database at the path that it is given. The anchors of the audit
 * log are copied before it, so that the set has no anchor that its log lacks, and the keys after it, so
 * that it has every key that its database was written with.
 */
export const make = <E, R>({
  data,
  database,
  described,
  form,
  to
}: {
  readonly to: string
  /** Data folder of the venue. */
  readonly data: string
  readonly form: DatabaseForm
  readonly described: Omit<Manifest, "version" | "files" | "database">
  readonly database: (path: string) => Effect.Effect<void, E, R>
}): Effect.Effect<Manifest, BackupFailed | E, R> =>
  Effect.gen(function* () {
    const making = `${to}${unfinished}`
    yield* attempt("the backup cannot be made", async () => {
      if (await isWithin(data, to)) {
        throw new BackupFailed({
          detail: `${to} is in the data folder ${data} and would be lost with it: name a folder elsewhere`
        })
      }
      if (await isThere(to)) throw new BackupFailed({ detail: `${to} is there already` })
      await rm(making, { recursive: true, force: true })
      await mkdir(dataIn(making), { recursive: true, mode: 0o700 })
      await copySecrets(data, dataIn(making), ["audit"])
    })
    yield* database(databaseIn(making, form))
    return yield* attempt("the backup cannot be finished", async () => {
      await copySecrets(data, dataIn(making), ["keys", "ledger"])
      const files: Array<Manifest["files"][number]> = []
      for (const path of await filesOf(making)) {
        files.push(await entryOf(making, path))
      }
      const manifest: Manifest = { version: 1, database: form, files, ...described }
      const text = `${JSON.stringify(Schema.encodeSync(Manifest)(manifest), null, 2)}\n`
      await DurableFiles.write(join(making, manifestFile), text)
      // A set that has its name is on the disk.
      await DurableFiles.flushTree(making)
      await DurableFiles.renameTo(making, to)
      return manifest
    })
  })

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Manifest))

/** Reads a backup and compares every file with its hash; the failure names the first that differs. */
export const read = (set: string): Effect.Effect<Manifest, BackupFailed> =>
  attempt(`${set} cannot be read`, async () => {
    const text = await readFile(join(set, manifestFile), "utf8").catch(() => null)
    if (text === null)
      throw new BackupFailed({ detail: `${set} is no backup: it has no ${manifestFile}` })
    const manifest = Option.getOrNull(decode(text))
    if (manifest === null) {
      throw new BackupFailed({
        detail: `${join(set, manifestFile)} is not of a form that this program reads`
      })
    }
    const present = (await filesOf(set)).filter((path) => path !== manifestFile)
    const named = new Set(manifest.files.map(({ path }) => path))
    const stray = present.find((path) => !named.has(path))
    if (stray !== undefined) {
      throw new BackupFailed({ detail: `${stray} of ${set} is not of the backup` })
    }
    for (const expected of manifest.files) {
      if (!present.includes(expected.path)) {
        throw new BackupFailed({ detail: `${expected.path} of ${set} is missing` })
      }
      const found = await entryOf(set, expected.path)
      if (found.sha256 !== expected.sha256 || found.bytes !== expected.bytes) {
        throw new BackupFailed({ detail: `${expected.path} of ${set} is not as it was backed up` })
      }
    }
    return manifest
  })

/**
 * Folder of a data folder in which a restore works until the venue is proven. A start refuses a data
 * folder that has it: a restore was interrupted there, or is under way.
 */
export const restoring = (data: string): string => join(data, "restoring")

/**
 * True where a restore was begun in a data folder and has not ended; false also for a folder that cannot
 * be entered: whoever needs its files says so by the name of their setting.
 */
export const isRestoring = (data: string): Promise<boolean> =>
  stat(restoring(data)).then(
    () => true,
    () => false
  )

/** Marks that the dump has been restored into the database, so that a repeated restore goes on from there. */
const restoredFile = (data: string): string => join(restoring(data), "database-restored")

/**
 * Begins a restore in a data folder that has nothing of a venue, or in which a restore was interrupted:
 * copies the secrets of the set into the folder in which it works. Returns true where an interrupted
 * restore of the same set has restored the database already.
 */
export const beginRestore = (
  set: string,
  data: string
): Effect.Effect<{ readonly hasDatabase: boolean }, BackupFailed> =>
  attempt("the restore cannot begin", async () => {
    await DurableFiles.makeFolder(data)
    const manifest = await readFile(join(set, manifestFile), "utf8")
    const marker = await readFile(restoredFile(data), "utf8").catch(() => null)
    const [first] = (await isRestoring(data)) ? [] : await readdir(data)
    if (first !== undefined) {
      throw new BackupFailed({
        detail: `${data} is not empty: it has ${first}; name another data folder, or move this one away`
      })
    }
    // No start has run here since: what an interrupted restore moved out is moved out again.
    for (const name of ["cluster", "postgres.log", ...dataFolders]) {
      await rm(join(data, name), { recursive: true, force: true })
      await rm(join(restoring(data), name), { recursive: true, force: true })
    }
    // Its name is on the disk before anything is written that a start could take for a venue.
    await DurableFiles.makeFolder(restoring(data))
    await copySecrets(dataIn(set), restoring(data), dataFolders)
    return { hasDatabase: marker === manifest }
  })

/** Notes that the database of the set has been restored. */
export const noteDatabase = (set: string, data: string): Effect.Effect<void, BackupFailed> =>
  attempt("the restore cannot be noted", async () => {
    const manifest = await readFile(join(set, manifestFile), "utf8")
    await DurableFiles.replace(restoredFile(data), manifest)
  })

/** Ends a restore: moves the proven venue into the data folder, whose starts are refused until the end. */
export const endRestore = (data: string): Effect.Effect<void, BackupFailed> =>
  attempt("the restore cannot be finished", async () => {
    const working = restoring(data)
    await DurableFiles.flushTree(working)
    for (const name of ["cluster", ...dataFolders]) {
      const restored = join(working, name)
      if (await isThere(restored)) await DurableFiles.renameTo(restored, join(data, name))
    }
    await DurableFiles.remove(working)
  })

/** Takes back what a restore began, where it restored no database. */
export const abandonRestore = (data: string): Effect.Effect<void, BackupFailed> =>
  attempt("what the restore began cannot be removed", () =>
    rm(restoring(data), { recursive: true, force: true })
  )

/**
 * Fails where a restore in the data folder has not ended: nothing may run on half a venue
 * (docs/contract/instances.md#a-restore-that-has-not-ended).
 */
export const demandEnded = (data: string): Effect.Effect<void, BackupFailed> =>
  Effect.flatMap(
    Effect.promise(() => isRestoring(data)),
    (isOpen) =>
      isOpen
        ? Effect.fail(
            new BackupFailed({
              detail: `a restore in ${data} has not ended: run bursar restore again; nothing was written`
            })
          )
        : Effect.void
  )
