/** Draws the JSON Schema of a statement's own form (domain/statements.md#json). */
import { Schema } from "effect"
import * as StatementJson from "../../src/ports/StatementJson.ts"
import { type Page, page } from "./page.ts"

export const statementSchema = (): Page => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(StatementJson.File)
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Statement",
    ...(closed(schema) as object),
    $defs: closed(definitions)
  }
  return page(
    "statement-schema.md",
    "# Schema of a statement",
    "The JSON Schema of a statement's own form (`docs/domain/statements.md#json`). Lines are those of the statement's kind.",
    `\`\`\`json\n${JSON.stringify(document, null, 2)}\n\`\`\``
  )
}

/** A reader refuses members that the form lacks, which the schema of an answer leaves open. */
const closed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "additionalProperties" ? false : closed(value)
    ])
  )
}
