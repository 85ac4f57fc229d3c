/** Names that a source declares for values and members, read off its syntax tree. */
import { parseAst } from "vitest/node"

export interface DeclaredName {
  readonly name: string
  /** A value is a variable, parameter or function; a member is of an object, a class, a type or a tuple. */
  readonly role: "value" | "member"
}

type Node = { readonly type: string } & Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

/** Places in the tree that declare a value or a member: the parent's type, and its child. */
const roles: ReadonlyMap<string, DeclaredName["role"]> = new Map([
  ...[
    "VariableDeclarator id",
    "FunctionDeclaration id",
    "FunctionDeclaration params",
    "FunctionExpression params",
    "ArrowFunctionExpression params",
    "TSDeclareFunction params",
    "TSEmptyBodyFunctionExpression params",
    "TSFunctionType params",
    "TSMethodSignature params",
    "TSCallSignatureDeclaration params",
    "TSParameterProperty parameter",
    "AssignmentPattern left",
    "RestElement argument",
    "ArrayPattern elements",
    "CatchClause param",
    "ImportSpecifier local",
    "ObjectPattern value"
  ].map((place) => [place, "value"] as const),
  ...[
    "TSPropertySignature key",
    "TSMethodSignature key",
    "TSNamedTupleMember label",
    "TSEnumMember id",
    "PropertyDefinition key",
    "MethodDefinition key",
    "ExportSpecifier exported",
    "ObjectExpression key"
  ].map((place) => [place, "member"] as const)
])

/** Names that the text of a module declares, in its order; a name in a pattern is a value. */
export const declaredNames = (text: string): ReadonlyArray<DeclaredName> => {
  const names: Array<DeclaredName> = []
  // A property of a literal or a pattern is looked up by the node that has it.
  const visit = (node: Node, owner: Node): void => {
    for (const [child, value] of Object.entries(node)) {
      const parent = node.type === "Property" ? owner.type : node.type
      const role =
        node["computed"] === true && child === "key" ? undefined : roles.get(`${parent} ${child}`)
      for (const each of Array.isArray(value) ? value : [value]) {
        if (!isNode(each)) continue
        if (role !== undefined && each.type === "Identifier") {
          names.push({ name: String(each["name"]), role })
        }
        visit(each, node)
      }
    }
  }
  const tree: unknown = parseAst(text, { lang: "ts" })
  if (isNode(tree)) visit(tree, tree)
  return names
}
