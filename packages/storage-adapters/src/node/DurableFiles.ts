/**
 * Files that outlive a loss of power: what a call has written is on the disk, with its name, when the call
 * ends. A file is flushed by itself (fsync), and its name by the folder that has it.
 */
import { mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"

const isWindows = process.platform === "win32"

/** Files that are flushed at the same time. */
const atOnce = 16

/** Flushes the bytes of a file to the disk. */
const flush = async (file: string): Promise<void> => {
  // Windows flushes what may be written alone.
  await using handle = await open(file, isWindows ? "r+" : "r")
  await handle.sync()
}

/** Codes by which a file system says that it flushes no folder: a network share, or one of a user's program. */
const flushesNoFolder = new Set(["EINVAL", "ENOTSUP", "EISDIR"])

/**
 * Flushes the names in a folder to the disk. Windows opens no folder, and some file systems flush none:
 * there the file system alone decides when a name is on the disk.
 */
export const flushFolder = async (folder: string): Promise<void> => {
  if (isWindows) return
  await flush(folder).catch((error: NodeJS.ErrnoException) => {
    if (!flushesNoFolder.has(error.code ?? "")) throw error
  })
}

/** Flushes every file and every name below a folder to the disk, and the folder itself. */
export const flushTree = async (folder: string): Promise<void> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const flushes = entries.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) return [() => flush(path)]
    return entry.isDirectory() ? [() => flushFolder(path)] : []
  })
  for (let first = 0; first < flushes.length; first += atOnce) {
    await Promise.all(flushes.slice(first, first + atOnce).map((each) => each()))
  }
  await flushFolder(folder)
}

/** Makes a folder for its owner alone, with those above it that are missing. */
export const makeFolder = async (folder: string): Promise<void> => {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = folder; made !== dirname(first); made = dirname(made)) {
    await flushFolder(dirname(made))
  }
}

/** Renames a file or a folder whose content is flushed, within one folder or from one to another. */
export const renameTo = async (from: string, to: string): Promise<void> => {
  await rename(from, to)
  await flushFolder(dirname(to))
  if (dirname(from) !== dirname(to)) await flushFolder(dirname(from))
}

/** Removes a file, or a folder with all that it has; one that is not there is no fault. */
export const remove = async (path: string): Promise<void> => {
  await rm(path, { recursive: true, force: true })
  await flushFolder(dirname(path))
}

/** Writes a file for its owner alone. A kill or a loss of power may leave a part of it. */
export const write = async (
  file: string,
  text: string,
  { isNew = false }: { readonly isNew?: boolean } = {}
): Promise<void> => {
  await writeFile(file, text, { mode: 0o600, flag: isNew ? "wx" : "w", flush: true })
  await flushFolder(dirname(file))
}

/** Writes a file in place of the one that may be there: whatever happens, the one or the other stays. */
export const replace = async (file: string, text: string, draft = `${file}.new`): Promise<void> => {
  await write(draft, text)
  await renameTo(draft, file)
}
