/** Writes the baseline that later documents of the interface are compared with; run at a release. */
import { readFileSync, writeFileSync } from "node:fs"
import { type Json, promised } from "./growth.ts"

const document: Json = JSON.parse(
  readFileSync(new URL("../../packages/http-host/openapi.json", import.meta.url), "utf8")
)

/** One path, parameter, answer or schema a line, so that the difference of two baselines can be read. */
const lines = (json: Json, depth: number): string => {
  if (depth === 0 || typeof json !== "object" || json === null || Array.isArray(json)) {
    return JSON.stringify(json)
  }
  const members = Object.entries(json).map(
    ([name, value]) => `${JSON.stringify(name)}:${lines(value, depth - 1)}`
  )
  return `{\n${members.join(",\n")}\n}`
}

writeFileSync(
  new URL("../histories/openapi-v1.json", import.meta.url),
  `${lines(promised(document), 3)}\n`
)
