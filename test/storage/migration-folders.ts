/** Names of the storage's migrations, in the order in which they are applied. */
import { readdirSync } from "node:fs"

const folder = new URL(
  "../../packages/storage-adapters/src/storage/postgres/migrations/",
  import.meta.url
)

export const migrationFolders: ReadonlyArray<string> = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .toSorted()
