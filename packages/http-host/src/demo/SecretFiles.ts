/** JSON files of the demo's secrets, readable by their owner only. */
import { readFile } from "node:fs/promises"
import { dirname } from "node:path"
import { JsonText } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { DurableFiles } from "../DataFolder.ts"

/** Reads the file, or creates it where it is missing. */
export const readOrMake = async <A>(path: string, make: () => Promise<A>): Promise<A> => {
  const present = await read<A>(path)
  if (present !== undefined) return present
  const made = await make()
  await write(path, made)
  return made
}

export const read = async <A>(path: string): Promise<A | undefined> => {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })
  if (text === undefined) return undefined
  const json = JsonText.parse(text)
  if (Result.isFailure(json)) throw new Error(`${path}: ${json.failure.message}`)
  // The file is one that `write` has written.
  return json.success as A
}

/** Writes atomically: an interrupted start leaves no partial file. */
export const write = async (path: string, value: unknown): Promise<void> => {
  await DurableFiles.makeFolder(dirname(path))
  await DurableFiles.replace(path, JSON.stringify(value, null, 2))
}
