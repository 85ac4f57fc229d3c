/** The interface as the console has it, read off openapi.json, for tests of what its pages show. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import {
  type Document,
  schemasOf,
  tableOf
} from "../../packages/http-host/scripts/console-interface.ts"
import { root } from "../architecture/sources.ts"

export const document: Document = JSON.parse(
  readFileSync(join(root, "packages/http-host/openapi.json"), "utf8")
)
export const table = tableOf(document)
export const schemas = schemasOf(document)

/** Members of the records that a read answers, as the document has them. */
export const membersOf = (read: string): ReadonlySet<string> => {
  const text = JSON.stringify(document.paths[table.reads[read]?.path ?? ""]?.["get"])
  const names = [...text.matchAll(/#\/components\/schemas\/(\w+)/gu)].map(([, name = ""]) => name)
  const members = new Set<string>()
  const seen = new Set<string>()
  const take = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return
    const { $ref, properties, ...rest } = schema as Readonly<Record<string, unknown>>
    if (typeof $ref === "string") names.push($ref.split("/").at(-1) ?? "")
    for (const [name, member] of Object.entries((properties ?? {}) as object)) {
      members.add(name)
      take(member)
    }
    for (const part of Object.values(rest)) Array.isArray(part) ? part.forEach(take) : take(part)
  }
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    take(document.components.schemas[name])
  }
  for (const [, name = ""] of text.matchAll(/"(\w+)":\{"(?:type|\$ref|anyOf)"/gu)) members.add(name)
  return members
}
