/** Writes openapi.json, the checked-in document of the interface; `--check` only compares it. */
import { readFileSync, writeFileSync } from "node:fs"
import { routes } from "../src/api/Api.ts"
import * as Document from "../src/api/Document.ts"

const file = new URL("../openapi.json", import.meta.url)
const text = Document.text(routes)

if (!process.argv.includes("--check")) {
  writeFileSync(file, text)
} else if (readFileSync(file, "utf8") !== text) {
  console.error("openapi.json is not current; run packages/http-host/scripts/openapi.ts")
  process.exitCode = 1
}
