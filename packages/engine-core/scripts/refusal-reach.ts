/**
 * Refusals that the sources of a write lead to: the conditions that its declaration judges by and the
 * slugs it names, found by following the names from its declaration through the modules.
 */
import { parseAst } from "rolldown/parseAst"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const sources = fileURLToPath(new URL("../src", import.meta.url))

interface Node {
  readonly type: string
  readonly [member: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

const nodesIn = (value: unknown): ReadonlyArray<Node> =>
  Array.isArray(value) ? value.flatMap(nodesIn) : isNode(value) ? [value] : []

const childrenOf = (node: Node): ReadonlyArray<Node> => Object.values(node).flatMap(nodesIn)

const nodeOf = (value: unknown): Node | null => nodesIn(value)[0] ?? null

/** Name of an identifier, or value of a text. */
const wordOf = (value: unknown): string => {
  const node = nodeOf(value)
  return String(node?.["name"] ?? node?.["value"] ?? "")
}

const isText = (node: Node): boolean => node.type === "Literal" && typeof node["value"] === "string"

/** A reference, a condition or a slug in a declaration. */
interface Mention {
  /** `name`, or `module.name` of a module that is imported whole. */
  readonly word: string
  /** Commands of the arm of a `match` in which it stands; null: it stands in none. */
  readonly within: ReadonlySet<string> | null
}

/** A declaration of a module, as far as it says what its reader refuses. */
interface ModuleDeclaration {
  readonly references: ReadonlyArray<Mention>
  readonly conditions: ReadonlyArray<Mention>
  readonly slugs: ReadonlyArray<Mention>
  /** Tables of names from which a condition is picked by a word: `condition(names[word], …)`. */
  readonly picks: ReadonlyArray<Mention>
  readonly texts: ReadonlySet<string>
  /** Commands that it gives: `{ on: "release" }`, or a text that is an argument of a call. */
  readonly commands: ReadonlySet<string>
  /** Texts of an object by their keys: a table of names. */
  readonly table: ReadonlyMap<string, string>
  /** Kind of the write that it declares; null: it declares none. */
  readonly kind: string | null
  /** True for a declaration of records, whose projections judge no write. */
  readonly isOfRecords: boolean
}

interface Module {
  readonly declared: Map<string, ModuleDeclaration>
  readonly imports: Map<string, { readonly from: string; readonly name: string }>
  readonly exported: Map<string, { readonly from: string; readonly name: string }>
  readonly exportedWhole: Array<string>
}

const makers: ReadonlySet<string> = new Set([
  "define",
  "defineOnLedger",
  "defineOutside",
  "defineForEngine"
])

/** Commands that an arm takes: those of `{ on: "a" }`, `{ on: P.union("a", "b") }`; null: not told. */
const commandsOf = (pattern: Node | null): ReadonlySet<string> | null => {
  const properties = nodesIn(pattern?.["properties"])
  const on = properties.find(({ key }) => wordOf(key) === "on")
  if (on === undefined) return null
  const value = nodeOf(on["value"])
  const words = value === null ? [] : [value, ...nodesIn(value["arguments"])].filter(isText)
  return words.length === 0 ? null : new Set(words.map(wordOf))
}

const declaredBy = (root: Node | null): ModuleDeclaration => {
  const references: Array<Mention> = []
  const conditions: Array<Mention> = []
  const slugs: Array<Mention> = []
  const picks: Array<Mention> = []
  const texts = new Set<string>()
  const commands = new Set<string>()
  let kind: string | null = null
  let isOfRecords = false

  const visitCall = (node: Node, within: Mention["within"]): void => {
    const callee = nodeOf(node["callee"])
    const owner = wordOf(callee?.["object"])
    const name = callee?.type === "MemberExpression" ? wordOf(callee["property"]) : wordOf(callee)
    const [first = null] = nodesIn(node["arguments"])
    if (first === null) return
    if (name === "condition" || name === "failed") {
      if (isText(first)) conditions.push({ word: wordOf(first), within })
      else if (first.type === "MemberExpression") {
        picks.push({ word: wordOf(first["object"]), within })
      }
    }
    if ((name === "refuse" || name === "refused") && isText(first)) {
      slugs.push({ word: wordOf(first), within })
    }
    if (owner === "Operation" && makers.has(name) && isText(first)) kind = wordOf(first)
    if (owner === "Collection" && name === "define") isOfRecords = true
  }

  const visit = (node: Node, within: Mention["within"]): void => {
    if (/^TS(?:Type|Interface)/u.test(node.type) && node.type !== "TSTypeAssertion") return
    if (node.type === "Identifier") references.push({ word: wordOf(node), within })
    if (node.type === "MemberExpression" && node["computed"] !== true) {
      references.push({ word: `${wordOf(node["object"])}.${wordOf(node["property"])}`, within })
    }
    if (isText(node)) texts.add(wordOf(node))
    if (node.type === "Property" && wordOf(node["key"]) === "on") {
      for (const value of nodesIn(node["value"]).filter(isText)) commands.add(wordOf(value))
    }
    if (node.type === "CallExpression") {
      visitCall(node, within)
      const given = nodesIn(node["arguments"])
      const callee = nodeOf(node["callee"])
      const [pattern = null, arm] = given
      const taken = wordOf(callee?.["property"]) === "with" ? commandsOf(pattern) : null
      if (taken !== null && arm !== undefined && callee !== null) {
        visit(callee, within)
        visit(arm, taken)
        return
      }
      for (const text of given.filter(isText)) commands.add(wordOf(text))
    }
    for (const child of childrenOf(node)) visit(child, within)
  }

  const table = new Map<string, string>()
  if (root !== null) visit(root, null)
  if (root?.type === "ObjectExpression") {
    for (const { key, value } of nodesIn(root["properties"])) table.set(wordOf(key), wordOf(value))
  }
  return { references, conditions, slugs, picks, texts, commands, table, kind, isOfRecords }
}

const moduleOf = (path: string): Module => {
  const module: Module = {
    declared: new Map(),
    imports: new Map(),
    exported: new Map(),
    exportedWhole: []
  }
  const text = readFileSync(join(sources, path), "utf8")
  const fileOf = (source: unknown): string | null => {
    const specifier = wordOf(source)
    return specifier.startsWith(".") ? join(dirname(path), specifier) : null
  }
  // Cast: the parser's types leave the members of each statement open.
  const { body } = parseAst(text, { lang: "ts" }) as unknown as { readonly body: Array<Node> }
  for (const statement of body) {
    const from = fileOf(statement["source"])
    const specifiers = nodesIn(statement["specifiers"])
    if (statement.type === "ImportDeclaration") {
      for (const { imported, local, type } of from === null ? [] : specifiers) {
        const name = type === "ImportNamespaceSpecifier" ? "*" : wordOf(imported)
        module.imports.set(wordOf(local), { from: from ?? "", name })
      }
      continue
    }
    if (statement.type === "ExportAllDeclaration" && from !== null) {
      const whole = wordOf(statement["exported"])
      if (whole === "") module.exportedWhole.push(from)
      else module.exported.set(whole, { from, name: "*" })
      continue
    }
    for (const { exported, local } of from === null ? [] : specifiers) {
      module.exported.set(wordOf(exported), { from: from ?? "", name: wordOf(local) })
    }
    const own = nodeOf(statement["declaration"]) ?? statement
    if (own.type === "FunctionDeclaration" || own.type === "ClassDeclaration") {
      module.declared.set(wordOf(own["id"]), declaredBy(own))
    }
    for (const { id, init } of nodesIn(own["declarations"])) {
      const made = declaredBy(nodeOf(init))
      const names = [nodeOf(id)].flatMap(namesOf)
      for (const name of names) module.declared.set(name, made)
    }
  }
  return module
}

/** Names that a declaration binds: one, or those of a pattern. */
const namesOf = (node: Node | null): ReadonlyArray<string> =>
  node === null
    ? []
    : node.type === "Identifier"
      ? [wordOf(node)]
      : childrenOf(node).flatMap((child) => namesOf(child))

interface Place {
  readonly path: string
  readonly name: string
}

/** Conditions and slugs by which a write may refuse, found in its sources. */
export interface Reach {
  readonly conditions: ReadonlySet<string>
  readonly slugs: ReadonlySet<string>
}

/** Reach of every declared write, by its kind. */
export const reaches = (): ReadonlyMap<string, Reach> => {
  const modules = new Map(
    globSync("**/*.ts", { cwd: sources }).map((path) => [path, moduleOf(path)] as const)
  )

  /** The place at which a name of a module is declared; null: outside of these modules. */
  const placeOf = (path: string, name: string): Place | null => {
    const module = modules.get(path)
    if (module === undefined) return null
    if (module.declared.has(name)) return { path, name }
    const elsewhere = module.exported.get(name) ?? module.imports.get(name)
    if (elsewhere !== undefined) {
      return elsewhere.name === "*"
        ? { path: elsewhere.from, name: "*" }
        : placeOf(elsewhere.from, elsewhere.name)
    }
    return module.exportedWhole.reduce<Place | null>(
      (place, from) => place ?? placeOf(from, name),
      null
    )
  }

  const referred = (path: string, word: string): Place | null => {
    const [first = "", member] = word.split(".")
    const place = placeOf(path, first)
    if (place?.name !== "*") return member === undefined ? place : null
    return member === undefined ? null : placeOf(place.path, member)
  }

  const reachOf = (start: Place): Reach => {
    const seen = new Map<string, { readonly path: string; readonly declared: ModuleDeclaration }>()
    const commands = new Set<string>()
    const isTaken = ({ within }: Mention): boolean =>
      within === null || [...within].some((command) => commands.has(command))
    const visit = (place: Place): void => {
      const id = `${place.path} ${place.name}`
      const declared = modules.get(place.path)?.declared.get(place.name)
      if (declared === undefined || seen.has(id)) return
      // Another write and the declaration of a record judge nothing of this one.
      if (seen.size > 0 && (declared.kind !== null || declared.isOfRecords)) return
      seen.set(id, { path: place.path, declared })
      for (const command of declared.commands) commands.add(command)
    }
    visit(start)
    // An arm that is taken may give the command of another.
    for (let size = -1; size !== seen.size + commands.size; ) {
      size = seen.size + commands.size
      for (const { path, declared } of [...seen.values()]) {
        for (const mention of declared.references.filter(isTaken)) {
          const place = referred(path, mention.word)
          if (place !== null) visit(place)
        }
      }
    }
    const all = [...seen.values()]
    const picked = all.flatMap(({ declared, path }) =>
      declared.picks.filter(isTaken).flatMap(({ word }) => {
        const place = placeOf(path, word)
        const table = place === null ? undefined : modules.get(place.path)?.declared.get(place.name)
        // The module of the table has all its words; whoever asks it names those that are meant.
        const texts = all.flatMap((one) =>
          one.path === place?.path ? [] : [...one.declared.texts]
        )
        return [...(table?.table ?? [])].flatMap(([key, name]) =>
          texts.includes(key) ? [name] : []
        )
      })
    )
    const wordsOf = (member: "conditions" | "slugs") =>
      all.flatMap(({ declared }) => declared[member].filter(isTaken).map(({ word }) => word))
    return {
      conditions: new Set([...wordsOf("conditions"), ...picked]),
      slugs: new Set(wordsOf("slugs"))
    }
  }

  return new Map(
    [...modules].flatMap(([path, { declared }]) =>
      [...declared].flatMap(([name, { kind }]) =>
        kind === null ? [] : [[kind, reachOf({ path, name })] as const]
      )
    )
  )
}
