/** Files of the programs that the demo starts, in the sources and in what is built. */
import { extname } from "node:path"
import { fileURLToPath } from "node:url"

/** A program in the folder of a file, which both have the same extension. */
const programIn = (file: string, name: string): string =>
  fileURLToPath(new URL(`${name}${extname(new URL(file).pathname)}`, file))

/** A program beside this file. */
export const beside = (name: string): string => programIn(import.meta.url, name)

/** The host: the command `bursar`. */
export const host = beside("../main")

/** The wallet of an outside party. */
export const wallet = programIn(import.meta.resolve("@bursar/storage-adapters/wallets"), "main")
