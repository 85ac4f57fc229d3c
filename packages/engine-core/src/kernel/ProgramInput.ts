/**
 * Input as a program gives it: the encoded form of a schema, in which a decimal may be text or a
 * Decimal, an integer a number, and an instant text or an Instant. It is converted to JSON values,
 * which the decoder of outside input then judges as it judges those of a request.
 */
import { Exit, Schema, SchemaAST } from "effect"
import { mayBe } from "./AbsentNulls.ts"
import type * as PlainJson from "./PlainJson.ts"
import { isPlainNumber, PlainNumber } from "./PlainNumber.ts"
import type { Fault } from "./Refusal.ts"
import { pointer } from "./Shape.ts"

/** Numbers of a decoded type: a decimal is given as text too, an integer as a number alone. */
type NumberOf<T> =
  | Extract<T, number>
  | (Extract<T, bigint> extends never ? never : Extract<T, bigint> | string)

type MemberOf<T, K> = T extends unknown ? (K extends keyof T ? T[K] : never) : never
type ElementOf<T> = T extends ReadonlyArray<infer U> ? U : never

/**
 * Distributes over the encoded type, beside which the decoded one stands whole. A number is told by both
 * directions: any object with a text called `text` extends a PlainNumber.
 */
type Each<T, E> = E extends string
  ? E | Extract<T, bigint | number>
  : E extends null | undefined | boolean | number | bigint
    ? E
    : [E, PlainNumber] extends [PlainNumber, E]
      ? PlainNumber | NumberOf<T>
      : E extends ReadonlyArray<infer U>
        ? ReadonlyArray<ProgramInput<ElementOf<T>, U>>
        : E extends object
          ? { readonly [K in keyof E]: ProgramInput<MemberOf<T, K>, E[K]> }
          : T

/**
 * Type of an input by its decoded and its encoded type: optional members stay optional, branded texts
 * are text, and numbers take the forms above.
 */
export type ProgramInput<T, E> = [PlainJson.Plain] extends [E] ? PlainJson.Printable : Each<T, E>

interface InputValue {
  readonly value: unknown
  readonly path: ReadonlyArray<string>
  readonly faults: Array<Fault>
}
type Step = (input: InputValue) => unknown

/** JSON values of an input, with the faults of values that no JSON value stands for. */
interface Conversion {
  readonly plain: PlainJson.Plain
  readonly faults: ReadonlyArray<Fault>
}

/** Memo of the conversions of declared schemas. */
const conversions = new WeakMap<SchemaAST.AST, Step>()

/** Converts an input of a schema; whether it is valid is judged by the schema's decoder. */
export const convert = (schema: Schema.Top, value: unknown): Conversion => {
  const faults: Array<Fault> = []
  return { plain: stepOf(schema.ast)({ value, path: [], faults }) as PlainJson.Plain, faults }
}

const stepOf = (ast: SchemaAST.AST): Step => {
  const made = conversions.get(ast)
  if (made !== undefined) return made
  let step: Step | undefined
  // A schema that contains itself finds the step that is under way.
  conversions.set(ast, (input) => (step ?? untyped)(input))
  step = ast.encoding === undefined ? ofNode(ast) : ofEncoded(ast)
  conversions.set(ast, step)
  return step
}

/**
 * A value of the decoded form is encoded, unchecked: the decoder finds what is wrong with it. A node
 * with members is walked by its own ones, which know their decoded forms, where only a default stands
 * between it and what is sent.
 */
const ofEncoded = (ast: SchemaAST.AST): Step => {
  const encode = encoderOf(ast)
  const source = ast.encoding?.at(-1)?.to
  const inner = source === undefined || hasSameMembers(ast, source) ? ofNode(ast) : stepOf(source)
  return (input) => {
    if (!isDecodedForm(input.value)) return inner(input)
    const encoded = encode(input.value)
    return encoded === undefined ? untyped(input) : encoded
  }
}

const hasSameMembers = (ast: SchemaAST.AST, source: SchemaAST.AST): boolean =>
  (SchemaAST.isArrays(ast) && SchemaAST.isArrays(source)) ||
  (SchemaAST.isUnion(ast) && SchemaAST.isUnion(source)) ||
  (SchemaAST.isObjects(ast) &&
    SchemaAST.isObjects(source) &&
    namesOf(ast).join() === namesOf(source).join())

const namesOf = ({ propertySignatures }: SchemaAST.Objects) =>
  propertySignatures.map(({ name }) => String(name))

const isDecodedForm = (value: unknown): boolean =>
  typeof value === "bigint" || typeof value === "number"

const encoderOf = (ast: SchemaAST.AST) => {
  const encode = Schema.encodeUnknownExit(schemaOf(ast), { disableChecks: true })
  return (value: unknown): unknown => {
    const exit = encode(value)
    return Exit.isSuccess(exit) ? exit.value : undefined
  }
}

/** Cast: the interpreter takes any tree, whose types are unknown here. */
const schemaOf = (ast: SchemaAST.AST): Schema.Codec<unknown, unknown> =>
  Schema.make<Schema.Codec<unknown, unknown>>(ast as Schema.Codec<unknown, unknown>["ast"])

const ofNode = (ast: SchemaAST.AST): Step => {
  if (SchemaAST.isSuspend(ast)) return (input) => stepOf(ast.thunk())(input)
  if (SchemaAST.isArrays(ast)) return ofArray(ast)
  if (SchemaAST.isObjects(ast)) return ofObject(ast)
  if (SchemaAST.isUnion(ast)) return ofUnion(ast)
  return isNumber(ast) ? numeric : untyped
}

/** Checks for the node of a JSON number; one of any JSON value takes texts as well. */
const isNumber = (ast: SchemaAST.AST): boolean => {
  if (ast._tag !== "Declaration") return false
  const takes = Schema.is(schemaOf(ast))
  return takes(new PlainNumber("0")) && !takes("text")
}

/** A text becomes the number it writes; where it writes none, the decoder says what is expected. */
const numeric: Step = (input) =>
  typeof input.value === "string" ? new PlainNumber(input.value) : untyped(input)

const at = ({ faults, path }: InputValue, name: string, value: unknown): InputValue => ({
  value,
  path: [...path, name],
  faults
})

const ofArray = (ast: SchemaAST.Arrays): Step => {
  const elements = ast.elements.map(stepOf)
  const [rest = untyped] = ast.rest.map(stepOf)
  return (input) =>
    Array.isArray(input.value)
      ? input.value.map((item, nth) => (elements[nth] ?? rest)(at(input, String(nth), item)))
      : untyped(input)
}

const ofObject = (ast: SchemaAST.Objects): Step => {
  const members = new Map(
    ast.propertySignatures.map(({ name, type }) => [String(name), stepOf(type)])
  )
  const [others = untyped] = ast.indexSignatures.map(({ type }) => stepOf(type))
  return (input) => (isMembers(input.value) ? ofMembers(input, members, others) : untyped(input))
}

const isMembers = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isPlainNumber(value)

/** An undefined member is an absent one. */
const ofMembers = (input: InputValue, members: ReadonlyMap<string, Step>, others: Step): unknown =>
  Object.fromEntries(
    Object.entries(input.value ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, (members.get(name) ?? others)(at(input, name, value))]]
    )
  )

const ofUnion = ({ types }: SchemaAST.Union): Step => {
  const flat = types.flatMap((type) => (SchemaAST.isUnion(type) ? type.types : [type]))
  const chosen = flat.map((type) => ({ encoded: SchemaAST.toEncoded(type), step: stepOf(type) }))
  const encoders = flat.filter(({ encoding }) => encoding !== undefined).map(encoderOf)
  const isText = chosen.some(({ encoded }) => SchemaAST.isString(encoded))
  const words = new Set(
    chosen.flatMap(({ encoded }) => (SchemaAST.isLiteral(encoded) ? [encoded.literal] : []))
  )
  const hasNumber = chosen.some(({ encoded }) => isNumber(encoded))
  return (input) => {
    const { value } = input
    if (typeof value === "string") {
      return isText || words.has(value) || !hasNumber ? value : numeric(input)
    }
    if (isDecodedForm(value)) {
      for (const encode of encoders) {
        const encoded = encode(value)
        if (encoded !== undefined) return encoded
      }
      return untyped(input)
    }
    const meant = chosen.find(({ encoded }) => mayBe(encoded, value))
    return (meant?.step ?? untyped)(input)
  }
}

const wanted =
  "a decimal is given as text or as a Decimal: a JavaScript number keeps 15 to 17 digits alone"

/** A value that no declared member takes, as the JSON value that stands for it. */
const untyped: Step = (input) => {
  const { faults, path, value } = input
  switch (typeof value) {
    case "bigint":
      return new PlainNumber(String(value))
    case "number": {
      if (!Number.isSafeInteger(value)) faults.push({ pointer: pointer(path), detail: wanted })
      return new PlainNumber(String(value))
    }
    case "string":
    case "boolean":
      return value
    case "object":
      if (value === null || isPlainNumber(value)) return value
      return Array.isArray(value)
        ? value.map((item, nth) => untyped(at(input, String(nth), item)))
        : ofMembers(input, new Map(), untyped)
    default:
      faults.push({ pointer: pointer(path), detail: `there is no JSON of a ${typeof value}` })
      return null
  }
}
