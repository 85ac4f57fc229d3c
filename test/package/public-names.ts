/** Names that the packages export at their public entries, each with the comment before its declaration. */
import { readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { parseAst } from "vitest/node"
import { root } from "../architecture/sources.ts"

/** One declaration that a public entry exports. */
export interface PublicName {
  readonly path: string
  readonly name: string
  /** Text between the marks of the comment before it, without their asterisks; null: there is none. */
  readonly comment: string | null
  /** Text of the declaration. */
  readonly text: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}
interface Named extends Node {
  readonly name?: string
  readonly value?: string
}
interface Specifier extends Node {
  readonly local: Named
  readonly exported: Named
  readonly imported?: Named
}
interface Declaration extends Node {
  readonly id?: Named | null
  readonly declarations?: ReadonlyArray<{
    readonly id: Named & { properties?: ReadonlyArray<unknown> }
  }>
}
interface Statement extends Node {
  readonly source?: { readonly value: string } | null
  readonly exported?: Named | null
  readonly declaration?: Declaration | null
  readonly specifiers?: ReadonlyArray<Specifier>
}

interface Module {
  readonly text: string
  readonly body: ReadonlyArray<Statement>
}

const modules = new Map<string, Module>()

const moduleOf = (path: string): Module => {
  const parsedModule = modules.get(path)
  if (parsedModule !== undefined) return parsedModule
  const text = readFileSync(join(root, path), "utf8")
  // Cast: the parser's types leave the members of each statement open.
  const { body } = parseAst(text, { lang: "ts" }) as unknown as Module
  const made = { text, body }
  modules.set(path, made)
  return made
}

const nameOf = (node: Named | null | undefined): string => node?.name ?? node?.value ?? ""

const declaredIn = (declaration: Declaration): ReadonlyArray<string> =>
  declaration.declarations === undefined
    ? [nameOf(declaration.id)]
    : declaration.declarations.map(({ id }) => nameOf(id))

const commentBefore = (text: string, start: number): string | null => {
  const before = text.slice(0, start).trimEnd()
  if (!before.endsWith("*/")) return null
  const opened = before.lastIndexOf("/*")
  if (!before.startsWith("/**", opened)) return null
  return before
    .slice(opened + 3, -2)
    .replaceAll(/^\s*\* ?/gmu, "")
    .trim()
}

const fileOf = (path: string, source: string | undefined): string | null =>
  source?.startsWith(".") === true ? normalize(join(dirname(path), source)) : null

/** Every declaration of a name in a file: a type and its value may share one. */
const declarations = (path: string, name: string): ReadonlyArray<PublicName> => {
  const { body, text } = moduleOf(path)
  return body.flatMap((statement): ReadonlyArray<PublicName> => {
    const { declaration, specifiers = [], source, start, end } = statement
    const own = declaration ?? statement
    if (own.type !== "ExportNamedDeclaration" && declaredIn(own as Declaration).includes(name)) {
      return [{ path, name, comment: commentBefore(text, start), text: text.slice(start, end) }]
    }
    const from = fileOf(path, source?.value)
    if (statement.type === "ExportAllDeclaration" && from !== null) {
      return nameOf(statement.exported) === name
        ? everyOf(from)
        : statement.exported == null
          ? declarations(from, name)
          : []
    }
    return specifiers.flatMap((one) => {
      const isImport = statement.type === "ImportDeclaration"
      if (nameOf(isImport ? one.local : one.exported) !== name || from === null) return []
      if (one.type === "ImportNamespaceSpecifier") return everyOf(from)
      return declarations(from, nameOf(isImport ? one.imported : one.local))
    })
  })
}

const exportedNames = (path: string): ReadonlyArray<string> =>
  moduleOf(path).body.flatMap((statement) => {
    if (statement.type === "ExportAllDeclaration") {
      const from = fileOf(path, statement.source?.value)
      if (statement.exported != null) return [nameOf(statement.exported)]
      return from === null ? [] : exportedNames(from)
    }
    if (statement.type !== "ExportNamedDeclaration") return []
    return statement.declaration == null
      ? (statement.specifiers ?? []).map(({ exported }) => nameOf(exported))
      : declaredIn(statement.declaration)
  })

const walked = new Set<string>()

/** Names of a module; none where they were walked before: two entries may lead to one module. */
const everyOf = (path: string): ReadonlyArray<PublicName> => {
  if (walked.has(path)) return []
  walked.add(path)
  return exportedNames(path).flatMap((name) => declarations(path, name))
}

/** Public names of packages, given each one's folder and its `exports`. */
export const publicNames = (
  entries: ReadonlyArray<readonly [folder: string, exports: Readonly<Record<string, string>>]>
): ReadonlyArray<PublicName> => {
  const all = entries.flatMap(([folder, exports]) =>
    Object.entries(exports)
      .filter(([key]) => !key.includes("*"))
      .flatMap(([, file]) => everyOf(normalize(join(folder, file))))
  )
  // A type and its value of one name are one to a reader: one comment is enough for both.
  const keyOf = ({ name, path }: PublicName) => `${path} ${name}`
  const together = Map.groupBy(
    new Map(all.map((one) => [`${keyOf(one)} ${one.text}`, one])).values(),
    keyOf
  )
  return [...together.values()].map(([first, ...others]) => {
    const own = first as PublicName
    const said = [own, ...others].find(({ comment }) => comment !== null)
    return { ...own, comment: said?.comment ?? null }
  })
}
