/** Writes the call table of the plain client from the catalogue; `--check` only compares it. */
import { Catalogue } from "@bursar/engine-core"
import { readFileSync, writeFileSync } from "node:fs"
import * as ClientTable from "../src/api/ClientTable.ts"

export const file = new URL("../src/plain-client/table.ts", import.meta.url)

/** The module as the catalogue says it. */
export const text = (): string => ClientTable.source(ClientTable.of(Catalogue))

if (import.meta.main) {
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text())
  } else if (readFileSync(file, "utf8") !== text()) {
    console.error("table.ts of the plain client is not current; run npm run docs")
    process.exitCode = 1
  }
}
