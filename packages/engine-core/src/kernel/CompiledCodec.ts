/**
 * Compiler of schemas: turns a schema's tree into closures once, so that the engine's own rows and
 * answers are decoded and encoded without Schema's interpreter.
 *
 * For values that the engine itself made: records, facts, events, views. Never for a request, whose
 * faults a caller reads with their pointers (Shape.ts does that).
 *
 * The closures only ever take what Schema takes. A value that they refuse, or that makes them throw,
 * is given to Schema, which accepts it or says what is wrong with it. A node that this file does not
 * compile runs in Schema's interpreter; `interpretedNodes` lists those of a schema.
 */
import { Exit, Option, Result, Schema, SchemaAST, type SchemaGetter } from "effect"

/** Result of a closure for a value that its node does not take. */
const REFUSED = Symbol("refused")

/** A member that is absent; a closure that gets it gives it back, unless its node supplies a value. */
const ABSENT = Symbol("absent")

/** Decodes one node: gives the decoded value, REFUSED, or ABSENT. */
type Step = (input: unknown) => unknown

/** Decoder of a schema: the same values and errors as `Schema.decodeUnknownSync(schema)`. */
export const decoder = /* @__NO_SIDE_EFFECTS__ */ <A>(
  schema: Schema.Codec<A, unknown>
): ((encoded: unknown) => A) =>
  withSchema(
    Schema.decodeUnknownSync(schema),
    () => schema.ast,
    (value: A) => value
  )

/** Decoder of a schema whose errors are values: as `Schema.decodeUnknownResult(schema)`. */
export const resultDecoder = /* @__NO_SIDE_EFFECTS__ */ <A>(
  schema: Schema.Codec<A, unknown>
): ((encoded: unknown) => Result.Result<A, Schema.SchemaError>) =>
  withSchema(
    Schema.decodeUnknownResult(schema),
    () => schema.ast,
    (value: A) => Result.succeed(value)
  )

/** Encoder of a schema: the same values and errors as `Schema.encodeUnknownSync(schema)`. */
export const encoder = /* @__NO_SIDE_EFFECTS__ */ <I>(
  schema: Schema.Codec<unknown, I>
): ((value: unknown) => I) =>
  withSchema(
    Schema.encodeUnknownSync(schema),
    () => SchemaAST.flip(schema.ast),
    (value: I) => value
  )

const withSchema = <A, B>(
  bySchema: (input: unknown) => B,
  ast: () => SchemaAST.AST,
  succeed: (value: A) => B
): ((input: unknown) => B) => {
  let step: Step | undefined
  return (input) => {
    step ??= compile(ast())
    let output: unknown
    try {
      output = step(input)
    } catch {
      // Schema meets the same error and reports it as its own.
      return bySchema(input)
    }
    return output === REFUSED || output === ABSENT ? bySchema(input) : succeed(output as A)
  }
}

/** Tags of the nodes of a schema that run in Schema's interpreter, decoding and encoding. */
export const interpretedNodes = (
  schema: Schema.Codec<unknown, unknown>
): ReadonlyArray<SchemaAST.AST["_tag"]> => {
  const visited = new Set<SchemaAST.AST>()
  const visit = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST["_tag"]> => {
    if (visited.has(ast)) return []
    visited.add(ast)
    const own = compiles(ast) ? [] : [ast._tag]
    return [...own, ...childrenOf(ast).flatMap(visit)]
  }
  return [...visit(schema.ast), ...visit(SchemaAST.flip(schema.ast))]
}

const childrenOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => [
  ...(ast.encoding ?? []).map(({ to }) => to),
  ...(SchemaAST.isObjects(ast)
    ? [...ast.propertySignatures, ...ast.indexSignatures].map(({ type }) => type)
    : SchemaAST.isArrays(ast)
      ? [...ast.elements, ...ast.rest]
      : SchemaAST.isUnion(ast)
        ? ast.types
        : SchemaAST.isSuspend(ast)
          ? [ast.thunk()]
          : [])
]

/** Memo of the compiled nodes, which schemas share. */
const steps = new WeakMap<SchemaAST.AST, Step>()

const compile = (ast: SchemaAST.AST): Step => {
  const made = steps.get(ast)
  if (made !== undefined) return made
  const step = compiles(ast) ? linked(ast, checked(ast, shape(ast))) : interpreted(ast)
  steps.set(ast, step)
  return step
}

/** Checks whether a node, its children aside, is one that this file compiles. */
const compiles = (ast: SchemaAST.AST): boolean =>
  (ast.encoding ?? []).every(({ transformation }) => transformation._tag === "Transformation") &&
  hasCompiledShape(ast)

const hasCompiledShape = (ast: SchemaAST.AST): boolean => {
  switch (ast._tag) {
    case "Objects":
      return ast.indexSignatures.every(
        ({ parameter }) =>
          SchemaAST.isString(parameter) &&
          parameter.checks === undefined &&
          parameter.encoding === undefined
      )
    case "Arrays":
      return ast.rest.length <= 1 && ast.elements.every(isRequired)
    case "Union":
      return ast.options?.mode !== "oneOf"
    default:
      return ast._tag in leaves || ast._tag === "Declaration" || ast._tag === "Suspend"
  }
}

const isRequired = ({ context }: SchemaAST.AST): boolean => context?.isOptional !== true

/**
 * Leaves the whole value to Schema: the closures cannot tell whether Schema takes it, and the next
 * member of a union must not be tried instead.
 */
const leaveToSchema = (): never => {
  throw new Error("CompiledCodec: left to Schema")
}

/** Runs a node in Schema's interpreter. */
const interpreted = (ast: SchemaAST.AST): Step => {
  const decode = Schema.decodeUnknownExit(
    Schema.make<Schema.Codec<unknown, unknown>>(ast as Schema.Codec<unknown, unknown>["ast"])
  )
  return (input) => {
    return input === ABSENT ? leaveToSchema() : valueOf(decode(input))
  }
}

/** A node after the transformations that lead from its encoded form to its own. */
const linked = (ast: SchemaAST.AST, local: Step): Step => {
  if (ast.encoding === undefined) return local
  return ast.encoding.reduce<Step>((next, link) => {
    const source = compile(link.to)
    const transform = transformed(link.transformation.decode as Getter)
    return (input) => {
      const encoded = source(input)
      if (encoded === REFUSED) return REFUSED
      const decoded = transform(encoded)
      return decoded === REFUSED ? REFUSED : next(decoded)
    }
  }, local)
}

type Getter = SchemaGetter.Getter<unknown, unknown>

const transformed = (getter: Getter): Step => {
  switch (getter._tag) {
    case "Passthrough":
      return (input) => input
    case "Transform":
      return (input) => (input === ABSENT ? ABSENT : getter.transform(input))
    case "TransformEffect":
      return (input) => (input === ABSENT ? ABSENT : valueOf(getter.transform(input, {})))
    case "TransformOptional":
      return (input) => fromOption(getter.transform(toOption(input)))
    case "TransformOptionalEffect":
      return (input) => fromOption(valueOf(getter.transform(toOption(input), {})))
  }
}

/** The value of an effect that has ended; one that still has to run, or died, is left to Schema. */
const valueOf = (effect: unknown): unknown => {
  if (!Exit.isExit(effect)) return leaveToSchema()
  if (Exit.isSuccess(effect)) return effect.value
  return Exit.hasDies(effect) ? leaveToSchema() : REFUSED
}

const toOption = (input: unknown): Option.Option<unknown> =>
  input === ABSENT ? Option.none() : Option.some(input)

const fromOption = (option: unknown): unknown =>
  option === REFUSED ? REFUSED : Option.getOrElse(option as Option.Option<unknown>, () => ABSENT)

/** A node before the checks of its encoded form, which see the input, and its own. */
const checked = (ast: SchemaAST.AST, step: Step): Step => {
  const ofInput = filtersOf("encodingChecks" in ast ? ast.encodingChecks : undefined)
  const ofOutput = filtersOf(ast.checks)
  if (ofInput.length === 0 && ofOutput.length === 0) return step
  const passes = (filters: ReadonlyArray<SchemaAST.Filter<unknown>>, value: unknown): boolean =>
    filters.every((filter) => filter.run(value, ast, {}) === undefined)
  return (input) => {
    const output = step(input)
    return output === REFUSED ||
      output === ABSENT ||
      ((input === ABSENT || passes(ofInput, input)) && passes(ofOutput, output))
      ? output
      : REFUSED
  }
}

const filtersOf = (
  checks: ReadonlyArray<SchemaAST.Check<unknown>> = []
): ReadonlyArray<SchemaAST.Filter<unknown>> =>
  checks.flatMap((check) => (check._tag === "Filter" ? [check] : filtersOf(check.checks)))

const shape = (ast: SchemaAST.AST): Step => {
  switch (ast._tag) {
    case "Objects":
      return objects(ast)
    case "Arrays":
      return arrays(ast)
    case "Union":
      return union(ast)
    case "Suspend": {
      let step: Step | undefined
      return (input) => (step ??= compile(ast.thunk()))(input)
    }
    case "Declaration": {
      const run = ast.run(ast.typeParameters)
      return (input) => (input === ABSENT ? ABSENT : valueOf(run(input, ast, {})))
    }
    case "Literal":
      return (input) => (input === ast.literal || input === ABSENT ? input : REFUSED)
    default: {
      const takes = leaves[ast._tag as keyof typeof leaves]
      return (input) => (takes(input) || input === ABSENT ? input : REFUSED)
    }
  }
}

/** Predicates of the nodes without children. */
const leaves = {
  Literal: (_input: unknown) => false,
  Never: () => false,
  Null: (input: unknown) => input === null,
  Undefined: (input: unknown) => input === undefined,
  String: (input: unknown) => typeof input === "string",
  Number: (input: unknown) => typeof input === "number",
  Boolean: (input: unknown) => typeof input === "boolean",
  BigInt: (input: unknown) => typeof input === "bigint",
  Unknown: () => true,
  Any: () => true
} as const

/** A member whose name JavaScript would take for the prototype is left to Schema. */
const PROTOTYPE = "__proto__"

const objects = (ast: SchemaAST.Objects): Step => {
  const names = ast.propertySignatures.map(({ name }) => name as string)
  const members = ast.propertySignatures.map(({ type }) => compile(type))
  const required = ast.propertySignatures.map(({ type }) => isRequired(type))
  const others = ast.indexSignatures.map(({ type }) => compile(type))
  if (names.length === 0 && others.length === 0) {
    return (input) => (input === null || input === undefined ? REFUSED : input)
  }
  if (names.includes(PROTOTYPE)) return interpreted(ast)
  const declaredNames = new Set(names)
  return (input) => {
    if (input === ABSENT) return ABSENT
    if (typeof input !== "object" || input === null || Array.isArray(input)) return REFUSED
    const record = input as Record<string, unknown>
    const output: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string
      const member = record[name]
      const value = (members[i] as Step)(
        member === undefined && !(name in record) ? ABSENT : member
      )
      if (value === ABSENT) {
        if (required[i]) return REFUSED
      } else if (value === REFUSED) return REFUSED
      else output[name] = value
    }
    for (const other of others) {
      // A declared member must be taken by the index signatures as well, and keeps its own value.
      for (const name of Object.keys(record)) {
        const value = name === PROTOTYPE ? leaveToSchema() : other(record[name])
        if (value === REFUSED) return REFUSED
        if (value !== ABSENT && !declaredNames.has(name)) output[name] = value
      }
    }
    return output
  }
}

const arrays = (ast: SchemaAST.Arrays): Step => {
  const elements = ast.elements.map(compile)
  const [rest] = ast.rest.map(compile)
  return (input) => {
    if (input === ABSENT) return ABSENT
    if (!Array.isArray(input)) return REFUSED
    if (rest === undefined && input.length > elements.length) return REFUSED
    const output: Array<unknown> = []
    const length = Math.max(input.length, elements.length)
    for (let i = 0; i < length; i++) {
      const value = (elements[i] ?? (rest as Step))(i < input.length ? input[i] : ABSENT)
      if (value === REFUSED || value === ABSENT) return REFUSED
      output.push(value)
    }
    return output
  }
}

const union = (ast: SchemaAST.Union): Step => {
  const words = wordsOf(ast.types)
  if (words !== undefined) {
    return (input) => (input === ABSENT || words.has(input) ? input : REFUSED)
  }
  const open = openSetOf(ast)
  if (open !== undefined) {
    return (input) => (input === ABSENT || open.words.has(input) ? input : open.others(input))
  }
  const members = ast.types.map(compile)
  if (members.length === 2 && isBareNull(ast.types[1])) return orNull(members[0] as Step)
  const choose = byWord(ast.types, members)
  return (input) => {
    if (input === ABSENT) return ABSENT
    if (choose !== undefined) return choose(input)
    for (const member of members) {
      const value = member(input)
      if (value !== REFUSED) return value
    }
    return REFUSED
  }
}

const isBareNull = (ast: SchemaAST.AST | undefined): boolean =>
  ast !== undefined &&
  SchemaAST.isNull(ast) &&
  ast.checks === undefined &&
  ast.encoding === undefined

/**
 * Shortcut for the most frequent union, a value or null: a null is taken without the value's node
 * where that node refuses it, which is tried at the first null only.
 */
const orNull = (value: Step): Step => {
  let isRefused: boolean | undefined
  return (input) => {
    if (input === ABSENT) return ABSENT
    return input === null && (isRefused ??= refuses(value, null)) ? null : value(input)
  }
}

const refuses = (step: Step, input: unknown): boolean => {
  try {
    return step(input) === REFUSED
  } catch {
    return false
  }
}

/** The words of an open set, a union of literals and at last a text, with the step of that text. */
const openSetOf = ({
  types
}: SchemaAST.Union):
  | { readonly words: ReadonlySet<unknown>; readonly others: Step }
  | undefined => {
  const last = types.at(-1)
  if (last === undefined || !SchemaAST.isString(last) || last.encoding !== undefined)
    return undefined
  const words = wordsOf(types.slice(0, -1))
  return words === undefined ? undefined : { words, others: compile(last) }
}

/** The words of a union that is nothing but literals. */
const wordsOf = (types: ReadonlyArray<SchemaAST.AST>): ReadonlySet<unknown> | undefined =>
  types.every(
    (type) => SchemaAST.isLiteral(type) && type.checks === undefined && type.encoding === undefined
  )
    ? new Set(types.map((type) => (SchemaAST.isLiteral(type) ? type.literal : undefined)))
    : undefined

/**
 * The member of a union by the word that tells its members apart, such as `on` of a fact: a property
 * that each member requires as a literal of its own.
 */
const byWord = (
  types: ReadonlyArray<SchemaAST.AST>,
  members: ReadonlyArray<Step>
): Step | undefined => {
  const literals = types.map(literalsOf)
  const name = [...(literals[0]?.keys() ?? [])].find(
    (key) =>
      new Set(literals.map((member) => member.get(key) ?? ABSENT)).size === types.length &&
      literals.every((member) => member.has(key))
  )
  if (name === undefined || types.length < 2) return undefined
  const choices = new Map(
    literals.map((member, index) => [member.get(name), members[index] as Step])
  )
  return (input) => {
    if (typeof input !== "object" || input === null) return REFUSED
    return choices.get((input as Record<string, unknown>)[name])?.(input) ?? REFUSED
  }
}

/** The properties of a node's encoded form that are required and a single literal. */
const literalsOf = (type: SchemaAST.AST): ReadonlyMap<string, unknown> => {
  const encoded = SchemaAST.toEncoded(type)
  if (!SchemaAST.isObjects(encoded)) return new Map()
  return new Map(
    encoded.propertySignatures.flatMap(({ name, type: property }) =>
      typeof name === "string" && SchemaAST.isLiteral(property) && isRequired(property)
        ? [[name, property.literal] as const]
        : []
    )
  )
}
