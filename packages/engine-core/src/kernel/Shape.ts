/**
 * Decoder of outside input: refuses unknown members and lists every fault with its JSON pointer.
 */
import { Exit, Result, Schema, SchemaAST, SchemaIssue } from "effect"
import * as AbsentNulls from "./AbsentNulls.ts"
import * as Nearest from "./Nearest.ts"
import { type Fault, type Refused, refuse } from "./Refusal.ts"
import { mayGrow } from "../vocabulary/ValueSet.ts"

/** Largest number of faults that one answer lists. */
const faultsMax = 50

const unknownMember = "there is no such member"
const missingMember = "it is missing"

/** Words that a fault names of a set. */
const nearestMax = 3

/** Messages of the most frequent faults; the others say what was expected. */
const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "MissingKey"
      ? missingMember
      : issue._tag === "UnexpectedKey"
        ? unknownMember
        : SchemaIssue.defaultLeafHook(issue)
})

/** One step of an RFC 6901 pointer. */
const escape = (segment: string): string => segment.replaceAll("~", "~0").replaceAll("/", "~1")

/** A pointer (RFC 6901) to the member at the end of these names, outermost first. */
export const pointer = (path: ReadonlyArray<string>): string =>
  path.map((segment) => `/${escape(segment)}`).join("")

type Segment = PropertyKey | { readonly key: PropertyKey }
const keyOf = (segment: Segment): string =>
  String(typeof segment === "object" ? segment.key : segment)

/** Lists the faults of a schema's issue; `place` returns the root pointer of a first member. */
export const faults = (
  issue: SchemaIssue.Issue,
  {
    elsewhere = [],
    input,
    place
  }: {
    /** The input as it was decoded. */
    readonly input: unknown
    /** Names of members that the same call may have, and another decoder reads. */
    readonly elsewhere?: ReadonlyArray<string>
    readonly place: (member: string | undefined) => string
  }
): ReadonlyArray<Fault> => {
  const faultAt = new Map<
    string,
    { readonly path: ReadonlyArray<string>; readonly detail: string }
  >()
  for (const { path: segments, message } of format(issue).issues) {
    const path = (segments ?? []).map(keyOf)
    const at = `${place(path[0])}${pointer(path)}`
    if (!faultAt.has(at)) faultAt.set(at, { path, detail: message })
  }
  const [sets, members] = [setsOf(issue), membersBeside(issue)]
  return [...faultAt].slice(0, faultsMax).map(([at, { detail, path }]) => {
    const set = sets.get(pointer(path))
    const value = set === undefined ? undefined : valueAt(input, path)
    if (set !== undefined && typeof value === "string") {
      return { pointer: at, detail: noWord(set, { word: value, path }) }
    }
    const beside = members.get(pointer(path))
    if (beside === undefined || detail !== unknownMember) return { pointer: at, detail }
    const names = path.length === 1 ? [...beside, ...elsewhere] : beside
    return { pointer: at, detail: noMember(path.at(-1) ?? "", names) }
  })
}

/** Says that a member is none, with the one that its name is near to. */
const noMember = (name: string, names: ReadonlyArray<string>): string => {
  const nearest = Nearest.near(name, names)
  return nearest === null ? unknownMember : `${unknownMember}; the nearest is ${nearest}`
}

/** One sentence for a fault, which names the member where the fault's own detail does not. */
export const summary = ({ detail, pointer }: Fault): string => {
  if (detail === missingMember) return `${pointer} is missing`
  return detail.startsWith(unknownMember) ? `${pointer}: ${detail}` : detail
}

/** A set of words, with its name where it has one. */
export interface WordSet {
  readonly name: string | undefined
  readonly words: ReadonlyArray<string>
}

/** Every part of an issue with the pointer of its value, outermost first. */
function* partsOf(
  issue: SchemaIssue.Issue,
  at = ""
): Generator<readonly [string, SchemaIssue.Issue]> {
  yield [at, issue]
  switch (issue._tag) {
    case "Filter":
    case "Encoding":
      yield* partsOf(issue.issue, at)
      break
    case "Pointer":
      yield* partsOf(issue.issue, `${at}${pointer(issue.path.map(keyOf))}`)
      break
    case "Composite":
    case "AnyOf":
      for (const part of issue.issues) yield* partsOf(part, at)
  }
}

/** Finds the sets whose words an issue is about, by the pointer of the value. */
const setsOf = (issue: SchemaIssue.Issue): ReadonlyMap<string, WordSet> => {
  const sets = new Map<string, WordSet>()
  for (const [at, part] of partsOf(issue)) {
    const words = part._tag === "AnyOf" && !sets.has(at) ? wordsOf(part.ast) : []
    if (part._tag === "AnyOf" && words.length > 0) sets.set(at, { name: nameOf(part.ast), words })
  }
  return sets
}

/** Finds the members that a shape has, by the pointer of one that it lacks. */
const membersBeside = (issue: SchemaIssue.Issue): ReadonlyMap<string, ReadonlyArray<string>> => {
  const members = new Map<string, ReadonlyArray<string>>()
  for (const [at, part] of partsOf(issue)) {
    if (part._tag !== "UnexpectedKey" || !SchemaAST.isObjects(part.ast)) continue
    const names = part.ast.propertySignatures.map(({ name }) => String(name))
    members.set(at, [...(members.get(at) ?? []), ...names])
  }
  return members
}

const nameOf = (ast: SchemaAST.AST): string | undefined => {
  const name = ast.annotations?.["identifier"]
  return typeof name === "string" ? name : undefined
}

/** Words of a union of words and null, or of a set that is open to rooms; empty for any other shape. */
const wordsOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  if (!SchemaAST.isUnion(ast)) return []
  const words = ast.types.map((type) => {
    if (SchemaAST.isNull(type) || isOpenSide(ast, type)) return []
    return SchemaAST.isLiteral(type) && typeof type.literal === "string" ? [type.literal] : null
  })
  return words.includes(null) ? [] : words.flatMap((word) => word ?? [])
}

/** Checks whether a member of a union is the text of a set's open side, and no word itself. */
const isOpenSide = (union: SchemaAST.AST, type: SchemaAST.AST): boolean =>
  SchemaAST.isString(type) && mayGrow(union)

/** Value at the end of these names; undefined where there is none. A text stands for a list of itself. */
const valueAt = (input: unknown, path: ReadonlyArray<string>): unknown => {
  let value = input
  for (const name of path) {
    if (typeof value === "string" && name === "0") continue
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined
    value = Reflect.get(value, name)
  }
  return value
}

/** The set of a union that is open to words of rooms, with the words of the engine; null: it is none. */
export const openSetOf = (ast: SchemaAST.Union): WordSet | null =>
  ast.types.some((type) => isOpenSide(ast, type))
    ? { name: nameOf(ast), words: wordsOf(ast) }
    : null

/** Says which words of a set are nearest to one that it lacks. */
export const noWord = (
  { name, words }: WordSet,
  { word, path }: { readonly word: string; readonly path: ReadonlyArray<string> }
): string => {
  const lacks = name === undefined ? "it takes other words" : `no word of ${name}`
  // In a list, where nothing named means all.
  if (word === "*" && /^\d+$/u.test(path.at(-1) ?? "")) {
    return `${lacks}; all of them are meant where none is listed`
  }
  return `${lacks}; the nearest: ${Nearest.words(word, { set: words, count: nearestMax }).join(", ")}`
}

/** Reader of one shape of JSON, whose faults point to their place. */
export interface Decoder<A> {
  readonly decode: (
    input: unknown,
    place: (member: string | undefined) => string
  ) => Result.Result<A, Refused<"invalid-request">>
}

/**
 * A decoder that refuses unknown members, takes a null of an optional member as absent, and lists every
 * fault it finds. `elsewhere` are names that the same call may have and another decoder reads: an unknown
 * member may be near to one of them.
 */
export const decoder = <A>(
  schema: Schema.Codec<A, unknown>,
  elsewhere: ReadonlyArray<string> = []
): Decoder<A> => {
  const decode = Schema.decodeUnknownExit(schema)
  const takesNothing = isEmptyStruct(schema)
  const withoutNulls = AbsentNulls.of(schema)
  return {
    decode: (input, place) => {
      if (takesNothing) {
        const errors = membersOf(input).map((name) => ({
          pointer: `${place(name)}/${escape(name)}`,
          detail: noMember(name, elsewhere)
        }))
        const [first] = errors
        if (first !== undefined) {
          return refuse("invalid-request", {
            detail: summary(first),
            errors: errors.slice(0, faultsMax)
          })
        }
      }
      const exit = decode(withoutNulls(input), { errors: "all", onExcessProperty: "error" })
      if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
      const reason = exit.cause.reasons.find((candidate) => candidate._tag === "Fail")
      if (reason === undefined)
        throw new Error("a decoder died on outside input", { cause: exit.cause })
      const errors = faults(reason.error.issue, { input, place, elsewhere })
      const [first] = errors
      return refuse("invalid-request", {
        detail: first === undefined ? "The request is malformed." : summary(first),
        errors
      })
    }
  }
}

/** Effect takes a struct without members to be any object; here it takes none. */
const isEmptyStruct = ({ ast }: Schema.Codec<unknown, unknown>): boolean =>
  SchemaAST.isObjects(ast) &&
  ast.propertySignatures.length === 0 &&
  ast.indexSignatures.length === 0

const membersOf = (input: unknown): ReadonlyArray<string> =>
  typeof input === "object" && input !== null ? Object.keys(input) : []
