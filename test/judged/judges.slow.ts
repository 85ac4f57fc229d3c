/**
 * Each outside judge objects to a planted fault of its kind; skipped where test/tools is not
 * installed.
 */
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { installed } from "../http/witness.ts"
import { firstOf, isLong } from "../long-run.ts"
import type { Json } from "./samples.ts"

const judge = fileURLToPath(new URL("../tools/judge.ts", import.meta.url))
const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url))
const checkedIn = new URL("../../packages/http-host/openapi.json", import.meta.url)

let folder: string
let text: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-judges-"))
  text = await readFile(checkedIn, "utf8")
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Whether a judge objects to a document. */
const objects = async (only: string, document: string): Promise<boolean> => {
  const file = join(folder, `${only.replaceAll(/\W/g, "")}-${document.length}.json`)
  await writeFile(file, document)
  return new Promise((resolve) => {
    execFile(node, [judge, "--only", only, "--document", file], (error) => resolve(error !== null))
  })
}

const planted: ReadonlyArray<
  readonly [judge: string, what: string, plant: (text: string) => string]
> = [
  [
    "Spectral",
    "a `nullable`",
    (text) => text.replace('"Problem": {', '"Problem": {"nullable":true,')
  ],
  ["Spectral", "an operation without roles", (text) => text.replace('"x-roles"', '"x-rules"')],
  [
    "Redocly",
    "a tag without words",
    (text) => text.replace(/("name":"System"),"description"[^}]*/, "$1")
  ],
  ["validate-api", "a parameter nowhere", (text) => text.replace('"in":"query"', '"in":"body"')],
  [
    "Hyperjump, the document",
    "an answer that is a text",
    (text) => text.replace('"paths": {', '"paths": {"/v1/x": {"get": {"responses": "none"}},')
  ]
]

describe.skipIf(!installed)("an outside judge", () => {
  it.each(firstOf(1, planted))("%s finds %s", async (only, _, plant) => {
    const faulty: string = plant(text)
    expect(faulty).not.toBe(text)
    const parsed: Json = JSON.parse(faulty)
    expect(parsed).not.toBeNull()
    expect(await objects(only, faulty)).toBe(true)
  })

  // In CI a part of its own asks every judge of the same document.
  it.each(isLong ? [...new Set(planted.map(([only]) => only))] : [])(
    "%s would object to what is served",
    async (only) => {
      expect(await objects(only, text)).toBe(false)
    }
  )
})
