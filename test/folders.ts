/** Folders that tests make for the programs that they start. */
import { rm } from "node:fs/promises"

/**
 * Removes a folder with all that is in it. A program that was killed, or a server that it had started,
 * may still write there for a moment: what came meanwhile is removed with the rest.
 */
export const remove = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
