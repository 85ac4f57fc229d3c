/**
 * Preprocessor of outside input: a null of an optional member that takes no null of its own is an absent
 * member (docs/contract/json.md#null-and-absent).
 */
import { type Schema, SchemaAST } from "effect"

type Strip = (input: unknown) => unknown
type Members = { readonly [name: string]: unknown }

const isMembers = (input: unknown): input is Members =>
  typeof input === "object" && input !== null && !Array.isArray(input)

/** An optional member whose null is taken as absent, by the names that lead to it; `*` is any element. */
export type Place = ReadonlyArray<string>

/** Returns the input without the nulls of optional members that take none; input of another shape as it is. */
export const of = (schema: Schema.Top): Strip => {
  const steps = new Map<SchemaAST.AST, Strip>()
  const stepOf = (ast: SchemaAST.AST): Strip => {
    const cachedStep = steps.get(ast)
    if (cachedStep !== undefined) return cachedStep
    let step: Strip | undefined
    const later: Strip = (input) => (step ?? ((same) => same))(input)
    // A schema that contains itself finds the step that is under way.
    steps.set(ast, later)
    step = made(ast, stepOf)
    return later
  }
  return stepOf(SchemaAST.toEncoded(schema.ast))
}

const made = (ast: SchemaAST.AST, stepOf: (ast: SchemaAST.AST) => Strip): Strip => {
  if (SchemaAST.isSuspend(ast)) return (input) => stepOf(ast.thunk())(input)
  if (SchemaAST.isArrays(ast)) {
    const elements = ast.elements.map(stepOf)
    const [rest = (same: unknown) => same] = ast.rest.map(stepOf)
    return (input) =>
      Array.isArray(input) ? input.map((item, nth) => (elements[nth] ?? rest)(item)) : input
  }
  if (SchemaAST.isUnion(ast)) {
    const chosen = ast.types.map((type) => ({ type, step: stepOf(type) }))
    return (input) => chosen.find(({ type }) => mayBe(type, input))?.step(input) ?? input
  }
  return SchemaAST.isObjects(ast) ? ofObjects(ast, stepOf) : (input) => input
}

const ofObjects = (ast: SchemaAST.Objects, stepOf: (ast: SchemaAST.AST) => Strip): Strip => {
  const members = new Map(
    ast.propertySignatures.map(({ name, type }) => [
      String(name),
      { isStripped: isStripped(type), step: stepOf(type) }
    ])
  )
  const [others] = ast.indexSignatures.map(({ type }) => stepOf(type))
  return (input) => {
    if (!isMembers(input)) return input
    const entries = Object.entries(input).filter(
      ([name, value]) => !(value === null && members.get(name)?.isStripped === true)
    )
    return Object.fromEntries(
      entries.map(([name, value]) => [name, (members.get(name)?.step ?? others ?? same)(value)])
    )
  }
}

const same: Strip = (input) => input

const isStripped = (type: SchemaAST.AST): boolean =>
  type.context?.isOptional === true && !takesNull(type)

const takesNull = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isNull(ast) ||
  SchemaAST.isUnknown(ast) ||
  SchemaAST.isAny(ast) ||
  (SchemaAST.isUnion(ast) && ast.types.some(takesNull)) ||
  (SchemaAST.isSuspend(ast) && takesNull(ast.thunk()))

/** Checks whether a member of a union may be meant: its kind, and its literal members where it has some. */
export const mayBe = (ast: SchemaAST.AST, input: unknown): boolean => {
  if (SchemaAST.isArrays(ast)) return Array.isArray(input)
  if (SchemaAST.isObjects(ast)) {
    return (
      isMembers(input) &&
      ast.propertySignatures.every(
        ({ name, type }) =>
          !SchemaAST.isLiteral(type) ||
          type.context?.isOptional === true ||
          input[String(name)] === type.literal
      )
    )
  }
  return SchemaAST.isUnion(ast) ? ast.types.some((type) => mayBe(type, input)) : false
}

/** Lists the optional members of a schema whose null is absent, and those that take null themselves. */
export const optionalsOf = (schema: Schema.Top): ReadonlyArray<Place> => {
  const visit = (
    ast: SchemaAST.AST,
    path: Place,
    above: ReadonlySet<SchemaAST.AST>
  ): ReadonlyArray<Place> => {
    if (above.has(ast)) return []
    const inside = new Set([...above, ast])
    if (SchemaAST.isSuspend(ast)) return visit(ast.thunk(), path, inside)
    if (SchemaAST.isUnion(ast)) return ast.types.flatMap((type) => visit(type, path, inside))
    if (SchemaAST.isArrays(ast)) {
      return [...ast.elements, ...ast.rest].flatMap((type) => visit(type, [...path, "*"], inside))
    }
    if (!SchemaAST.isObjects(ast)) return []
    return ast.propertySignatures.flatMap(({ name, type }) => {
      const own = [...path, String(name)]
      const nested = visit(type, own, inside)
      return type.context?.isOptional === true ? [own, ...nested] : nested
    })
  }
  return visit(SchemaAST.toEncoded(schema.ast), [], new Set())
}
