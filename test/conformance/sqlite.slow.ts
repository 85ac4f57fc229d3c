/** The store on SQLite keeps every promise of the storage ports, also over two openings of its folder. */
import { storageSuite } from "@bursar/storage-adapters/conformance"
import * as Sqlite from "@bursar/storage-adapters/sqlite"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "bursar-sqlite-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const layer = Sqlite.layer({ folder })

storageSuite("SQLite", layer, { reopen: layer, second: layer })
