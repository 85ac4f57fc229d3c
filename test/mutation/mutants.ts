/** Small faults that can be planted into a source, read off its syntax tree. */
import { parseAst } from "vitest/node"

/** One fault: the text between `start` and `end` is replaced, and nothing else. */
export interface Mutant {
  /** From the root of the project, with slashes. */
  readonly path: string
  /** Of its first character, from 1 on. */
  readonly line: number
  readonly start: number
  readonly end: number
  readonly was: string
  readonly becomes: string
}

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value

const operators: Readonly<Record<string, ReadonlyArray<string>>> = {
  "===": ["!=="],
  "!==": ["==="],
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "&": ["|"],
  "|": ["&"],
  "<<": [">>"],
  ">>": ["<<"],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"]
}

/** Functions of one shape that mean the opposite, or the neighbour. */
const neighbours: ReadonlyMap<string, string> = new Map(
  Object.entries({
    some: "every",
    every: "some",
    min: "max",
    max: "min",
    isAfter: "isBefore",
    isBefore: "isAfter",
    atOrAfter: "isAfter",
    atOrBefore: "isBefore",
    atMost: "greaterThan",
    greaterThan: "atMost",
    isPositive: "isZero",
    isZero: "isPositive",
    add: "subtract",
    subtract: "add",
    startsWith: "endsWith",
    endsWith: "startsWith",
    isSome: "isNone",
    isNone: "isSome",
    isSuccess: "isFailure",
    isFailure: "isSuccess",
    at: "slice",
    find: "findLast"
  })
)

/** A word that code means something by, as against a sentence that a person reads. */
const word = /^[a-z][A-Za-z0-9.-]*$/u

/**
 * Nodes that TypeScript alone reads, and names: a fault there changes no code that runs, or only
 * its sources.
 */
const unread = new Set([
  "ImportDeclaration",
  "ExportAllDeclaration",
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "TSTypeAnnotation",
  "TSTypeParameterDeclaration",
  "TSTypeParameterInstantiation",
  "TSDeclareFunction"
])
const unreadMembers: Readonly<Record<string, ReadonlyArray<string>>> = {
  TSAsExpression: ["typeAnnotation"],
  TSSatisfiesExpression: ["typeAnnotation"],
  Property: ["key"],
  PropertyDefinition: ["key"],
  MemberExpression: [],
  ExportNamedDeclaration: ["source"]
}

const childrenOf = (node: Node): ReadonlyArray<Node> =>
  Object.entries(node).flatMap(([member, value]) =>
    node["computed"] !== true && (unreadMembers[node.type] ?? []).includes(member)
      ? []
      : Array.isArray(value)
        ? value.filter(isNode)
        : isNode(value)
          ? [value]
          : []
  )

const nodesOf = (node: Node): ReadonlyArray<Node> =>
  unread.has(node.type) ? [] : [node, ...childrenOf(node).flatMap(nodesOf)]

type Change = Pick<Mutant, "start" | "end" | "becomes">

/** Every fault that can be planted into a source, in the order of its text. */
export const mutantsOf = (path: string, text: string): ReadonlyArray<Mutant> => {
  const nodes = nodesOf(parseAst(text, { lang: "ts" }, path) as unknown as Node)
  const textOf = ({ start, end }: Node): string => text.slice(start, end)
  const words = [
    ...new Set(nodes.flatMap(({ type, value }) => (isWord(type, value) ? [String(value)] : [])))
  ]
  const swapped = (node: Node, becomes: string): Change => ({
    start: node.start,
    end: node.end,
    becomes
  })

  /** An operator stands between its two sides. */
  const ofOperator = (node: Node): ReadonlyArray<Change> => {
    const { left, operator, right } = node
    if (!isNode(left) || !isNode(right) || typeof operator !== "string") return []
    const start = text.indexOf(operator, left.end)
    if (start < 0 || start >= right.start) return []
    return (operators[operator] ?? []).map((becomes) => ({
      start,
      end: start + operator.length,
      becomes
    }))
  }

  const ofLiteral = (node: Node): ReadonlyArray<Change> => {
    const { value } = node
    if (typeof value === "boolean") return [swapped(node, String(!value))]
    if (typeof value === "number") return [swapped(node, value === 0 ? "1" : `${textOf(node)} + 1`)]
    if (typeof value === "bigint")
      return [swapped(node, value === 0n ? "1n" : `${textOf(node)} + 1n`)]
    if (!isWord(node.type, value) || words.length < 2) return []
    const other = words[(words.indexOf(String(value)) + 1) % words.length]
    return other === undefined ? [] : [swapped(node, JSON.stringify(other))]
  }

  /** Each of several elements is left out: a row of a table, a member of a list. */
  const ofElements = (elements: ReadonlyArray<Node>): ReadonlyArray<Change> =>
    elements.length < 2
      ? []
      : elements.map((element, nth) => {
          const next = elements[nth + 1]
          return next === undefined
            ? { start: elements[nth - 1]?.end ?? element.start, end: element.end, becomes: "" }
            : { start: element.start, end: next.start, becomes: "" }
        })

  const changesOf = (node: Node): ReadonlyArray<Change> => {
    const { test, consequent, alternate, argument, callee, elements, expression } = node
    switch (node.type) {
      case "BinaryExpression":
      case "LogicalExpression":
        return ofOperator(node)
      case "UnaryExpression":
        return isNode(argument) && (node["operator"] === "!" || node["operator"] === "-")
          ? [swapped(node, textOf(argument))]
          : []
      case "ConditionalExpression":
        return isNode(consequent) && isNode(alternate)
          ? [swapped(node, `(${textOf(consequent)})`), swapped(node, `(${textOf(alternate)})`)]
          : []
      case "IfStatement":
        return isNode(test) ? [swapped(test, "true"), swapped(test, "false")] : []
      case "Literal":
        return ofLiteral(node)
      case "ArrayExpression":
        return Array.isArray(elements) ? ofElements(elements.filter(isNode)) : []
      case "ExpressionStatement":
        return isNode(expression) && expression.type !== "Literal" ? [swapped(node, ";")] : []
      case "CallExpression": {
        const property = isNode(callee) ? callee["property"] : undefined
        if (!isNode(property) || typeof property["name"] !== "string") return []
        const neighbour = neighbours.get(property["name"])
        return neighbour === undefined ? [] : [swapped(property, neighbour)]
      }
      default:
        return []
    }
  }

  const lineOf = (offset: number): number => text.slice(0, offset).split("\n").length
  return nodes
    .flatMap(changesOf)
    .map((change) => ({
      path,
      line: lineOf(change.start),
      ...change,
      was: text.slice(change.start, change.end)
    }))
    .filter(({ becomes, was }) => becomes !== was)
    .toSorted((a, b) => a.start - b.start || a.end - b.end || (a.becomes < b.becomes ? -1 : 1))
}

const isWord = (type: string, value: unknown): boolean =>
  type === "Literal" && typeof value === "string" && word.test(value)

/** Whether a source is this file, or lies in this folder. */
export const isWithin = (path: string, place: string): boolean =>
  path === place || path.startsWith(`${place}/`)

/** The source with the fault in it. */
export const planted = (text: string, { becomes, end, start }: Mutant): string =>
  text.slice(0, start) + becomes + text.slice(end)
