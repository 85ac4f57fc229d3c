/**
 * Files of the data folder: the folder, made and checked, the text of a file, and writes that are on the
 * disk when they end (`DurableFiles`).
 */
import { constants } from "node:fs"
import { access, mkdir, readFile } from "node:fs/promises"

export { DurableFiles } from "@bursar/storage-adapters/node"

/** Makes the folder where it is missing, and fails where the program may not write to it. */
export const writable = async (folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true })
  await access(folder, constants.W_OK | constants.X_OK)
  return folder
}

/** Text of a file; undefined where there is none. */
export const textOf = (file: string): Promise<string | undefined> =>
  readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined
    throw cause
  })
