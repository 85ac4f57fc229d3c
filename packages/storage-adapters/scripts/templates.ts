/**
 * Draws docs/ledger-templates.md and ledger-templates.json beside it: each template with its fields,
 * parties and choices, as the simulated ledger runs them; `--check` only compares them.
 */
import { readFileSync, writeFileSync } from "node:fs"
import type { Schema } from "effect"
import { Date } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Field from "../../engine-core/src/templates/Field.ts"
import { all } from "../src/ledger/simulated/choices/index.ts"
import type { Entity, NamedParty } from "../src/ledger/simulated/Entity.ts"

type Ast = Schema.Top["ast"]

/** Type of a field in its ledger form, as the JSON file has it. */
export type FieldType =
  | { readonly type: Scalar }
  | { readonly type: "oneOf"; readonly values: ReadonlyArray<string> }
  | { readonly type: "optional" | "list"; readonly item: FieldType }
  | { readonly type: "record"; readonly fields: ReadonlyArray<TemplateField> }

export interface TemplateField {
  readonly name: string
  readonly type: FieldType
}

/** Types without parts, and what they are on the ledger and on its wire. */
const scalars = {
  party: "a Party: `hint::fingerprint`",
  text: "a Text",
  name: "a Text of at most 256 characters",
  decimal: "a Numeric 10, as text",
  instant: "a Time, as RFC 3339 in UTC",
  date: "a Date, as `YYYY-MM-DD`",
  month: "a Text, as `YYYY-MM`",
  count: "an Int of 0 or more, as text",
  flag: "a Bool",
  contractId: "a ContractId",
  digest: "a Text: a SHA-256 digest in lower-case hex",
  textMap: "a TextMap of Text"
} as const
type Scalar = keyof typeof scalars

const scalarsByAst = new Map<Ast, Scalar>([
  [Field.party.ast, "party"],
  [Field.text.ast, "text"],
  [Field.name.ast, "name"],
  [Field.decimal.ast, "decimal"],
  [Field.instant.ast, "instant"],
  [Date.schema.ast, "date"],
  [Field.month.ast, "month"],
  [Field.count.ast, "count"],
  [Field.flag.ast, "flag"],
  [Field.contractId.ast, "contractId"],
  [Field.digest.ast, "digest"],
  [Field.textMap.ast, "textMap"]
])

const unprintable = (ast: Ast): never => {
  throw new Error(`the page of templates cannot print a ${ast._tag}`)
}

const typeOf = (ast: Ast): FieldType => {
  const scalar = scalarsByAst.get(ast)
  if (scalar !== undefined) return { type: scalar }
  switch (ast._tag) {
    case "Arrays": {
      const [item] = ast.rest
      return item === undefined ? unprintable(ast) : { type: "list", item: typeOf(item) }
    }
    case "Objects":
      return ast.indexSignatures.length > 0
        ? unprintable(ast)
        : { type: "record", fields: fieldsOf(ast) }
    case "Union": {
      const types = ast.types.filter(({ _tag }) => _tag !== "Null")
      const [first, ...more] = types
      if (first === undefined) return unprintable(ast)
      if (types.length < ast.types.length) {
        if (more.length > 0) return unprintable(ast)
        return { type: "optional", item: typeOf(first) }
      }
      return {
        type: "oneOf",
        values: types.map((one) =>
          one._tag === "Literal" && typeof one.literal === "string" ? one.literal : unprintable(one)
        )
      }
    }
    case "Literal":
      return typeof ast.literal === "string"
        ? { type: "oneOf", values: [ast.literal] }
        : unprintable(ast)
    default:
      return unprintable(ast)
  }
}

const fieldsOf = (ast: Ast): ReadonlyArray<TemplateField> =>
  ast._tag === "Objects"
    ? ast.propertySignatures.map(({ name, type }) => ({ name: String(name), type: typeOf(type) }))
    : unprintable(ast)

/** A template as the JSON file has it. */
const templateOf = ({ declaration }: Entity) => ({
  ...declaration.typeRef,
  fields: fieldsOf(declaration.payload.ast),
  signatories: declaration.signatories,
  observers: declaration.observers,
  preconditions: declaration.preconditions,
  interfaces: declaration.interfaces.map(Templates.key),
  choices: declaration.choices.map(({ argument, result, ...choice }) => ({
    name: choice.name,
    consuming: choice.consuming,
    controllers: choice.controllers,
    observers: choice.observers,
    argument: fieldsOf(argument.ast),
    result: fieldsOf(result.ast),
    guards: choice.guards
  }))
})

export const templates = (): ReadonlyArray<ReturnType<typeof templateOf>> => all.map(templateOf)

const typeText = (type: FieldType): string => {
  switch (type.type) {
    case "optional":
      return `Optional ${typeText(type.item)}`
    case "list":
      return `[${typeText(type.item)}]`
    case "record":
      return recordText(type.fields)
    case "oneOf":
      return type.values.map((value) => `"${value}"`).join(" | ")
    default:
      return type.type
  }
}

const recordText = (fields: ReadonlyArray<TemplateField>): string =>
  fields.length === 0
    ? "{}"
    : `{ ${fields.map(({ name, type }) => `${name}: ${typeText(type)}`).join(", ")} }`

/** A pipe would end a cell of the table. */
const cell = (text: string): string => text.replaceAll("|", "\\|")

const partiesText = (parties: ReadonlyArray<NamedParty>): string =>
  parties.length === 0
    ? "nobody"
    : parties
        .map(({ path, when }) => (when === null ? `\`${path}\`` : `\`${path}\` when ${when}`))
        .join(", ")

const listText = (title: string, sentences: ReadonlyArray<string>): ReadonlyArray<string> =>
  sentences.length === 0 ? [] : [`${title}:`, "", ...sentences.map((one) => `- ${one}`), ""]

type PrintedTemplate = ReturnType<typeof templateOf>

const choiceText = (choice: PrintedTemplate["choices"][number]): ReadonlyArray<string> => [
  `**\`${choice.name}\`** by ${partiesText(choice.controllers)}; ${choice.consuming ? "ends the contract" : "leaves the contract"}.${choice.observers.length === 0 ? "" : ` Seen by ${partiesText(choice.observers)} as well.`}`,
  "",
  `- argument \`${recordText(choice.argument)}\``,
  `- result \`${recordText(choice.result)}\``,
  ...choice.guards.map((guard) => `- aborts: "${guard}"`),
  ""
]

const templateText = (template: PrintedTemplate): ReadonlyArray<string> => [
  `### ${template.entity}`,
  "",
  `\`${Templates.key(template)}\`. Signed by ${partiesText(template.signatories)}; seen by ${partiesText(template.observers)}.${template.interfaces.length === 0 ? "" : ` Implements ${template.interfaces.map((name) => `\`${name}\``).join(", ")}.`}`,
  "",
  "| Field | Type |",
  "|---|---|",
  ...template.fields.map(({ name, type }) => `| \`${name}\` | \`${cell(typeText(type))}\` |`),
  "",
  ...listText("A contract is created only where", template.preconditions),
  ...template.choices.flatMap(choiceText)
]

/** The page as the running rules say it. */
export const page = (): string => {
  const shown = templates()
  const modules = [...new Set(shown.map(({ module }) => module))]
  return [
    "<!-- Generated by packages/storage-adapters/scripts/templates.ts; do not edit. -->",
    "",
    "# Templates of the ledger",
    "",
    `What whoever maps a ledger must keep: ${shown.length} templates with their fields, who signs and who sees a contract, and each choice with its controllers, argument, result and guards. It is read off the rules by which the simulated ledger runs; [ledger-templates.json](ledger-templates.json) says the same for programs.`,
    "",
    "- A party is named by the path of its field: of a list each, of an absent one none. After `argument.` the path is of the choice's argument.",
    "- All signatories of a contract authorize its create, and all controllers of a choice its exercise; the signatories of a contract authorize what its choices do. What nobody signs or controls is refused to all.",
    "- A guard that does not hold aborts the whole transaction: `DAML_FAILURE`, with the text as it stands here. A precondition that does not hold is `TEMPLATE_PRECONDITION_VIOLATED`. A choice whose arithmetic has no result, as by a division by zero or a figure of more digits than a decimal has, is refused by `UNHANDLED_EXCEPTION`. A choice that exercises another one meets that one's guards as well, each under its own choice. Where several do not hold, a ledger tells one of them; no program may depend on which.",
    "- Beside those listed, each template has the choice `Archive`, by all its signatories together.",
    "- A field that is `Optional` may be absent or null; a field that is not known is ignored.",
    "",
    "| Type | On the ledger |",
    "|---|---|",
    ...Object.entries(scalars).map(([name, text]) => `| \`${name}\` | ${text} |`),
    '| `Optional x`, `[x]`, `{ … }`, `"a" \\| "b"` | an optional value, a list, a record, one of these texts |',
    "",
    ...modules.flatMap((module) => [
      `## ${module}`,
      "",
      ...shown.filter((template) => template.module === module).flatMap(templateText)
    ])
  ].join("\n")
}

/** The JSON file, for programs that compare a ledger's packages with it. */
export const json = (): string =>
  `${JSON.stringify({ format: 1, types: scalars, templates: templates() }, null, 2)}\n`

export const pageFile = new URL("../docs/ledger-templates.md", import.meta.url)
export const jsonFile = new URL("../docs/ledger-templates.json", import.meta.url)

if (import.meta.main) {
  for (const { file, text } of [
    { file: pageFile, text: page() },
    { file: jsonFile, text: json() }
  ]) {
    if (!process.argv.includes("--check")) {
      writeFileSync(file, text)
    } else if (readFileSync(file, "utf8") !== text) {
      console.error(`${file.pathname} is not current; run npm run docs`)
      process.exitCode = 1
    }
  }
}
