/** JSON files of the demo's secrets, readable by their owner only. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { dirname } from "node:path"

/** Reads the file, or creates it where it is missing. */
export const readOrMake = async <A>(path: string, make: () => Promise<A>): Promise<A> => {
  const kept = await read<A>(path)
  if (kept !== undefined) return kept
  const made = await make()
  await write(path, made)
  return made
}

export const read = async <A>(path: string): Promise<A | undefined> => {
  try {
    return JSON.parse(await readFile(path, "utf8"))
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  }
}

/** Writes atomically: an interrupted start leaves no partial file. */
export const write = async (path: string, value: unknown): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const half = `${path}.new`
  await writeFile(half, JSON.stringify(value, null, 2), { mode: 0o600 })
  await rename(half, path)
}
