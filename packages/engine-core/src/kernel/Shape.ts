/**
 * Decoder of outside input: refuses unknown members and lists every fault with its JSON pointer.
 */
import { Exit, Result, Schema, SchemaAST, SchemaIssue } from "effect"
import * as AbsentNulls from "./AbsentNulls.ts"
import { type Fault, type Refused, refuse } from "./Refusal.ts"

/** Largest number of faults that one answer lists. */
const faultsMax = 50

const unknownMember = "there is no such member"

/** Messages of the most frequent faults; the others say what was expected. */
const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "MissingKey"
      ? "it is missing"
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
  place: (member: string | undefined) => string
): ReadonlyArray<Fault> => {
  const faultAt = new Map<string, Fault>()
  for (const { path: segments, message } of format(issue).issues) {
    const path = (segments ?? []).map(keyOf)
    const at = `${place(path[0])}${pointer(path)}`
    if (!faultAt.has(at)) faultAt.set(at, { pointer: at, detail: message })
  }
  return [...faultAt.values()].slice(0, faultsMax)
}

export interface Decoder<A> {
  readonly decode: (
    input: unknown,
    place: (member: string | undefined) => string
  ) => Result.Result<A, Refused<"invalid-request">>
}

/**
 * A decoder that refuses unknown members, takes a null of an optional member as absent, and lists every
 * fault it finds.
 */
export const decoder = <A>(schema: Schema.Codec<A, unknown>): Decoder<A> => {
  const decode = Schema.decodeUnknownExit(schema)
  const takesNothing = isEmptyStruct(schema)
  const withoutNulls = AbsentNulls.of(schema)
  return {
    decode: (input, place) => {
      if (takesNothing) {
        const errors = membersOf(input).map((name) => ({
          pointer: `${place(name)}/${escape(name)}`,
          detail: unknownMember
        }))
        if (errors.length > 0)
          return refuse("invalid-request", { errors: errors.slice(0, faultsMax) })
      }
      const exit = decode(withoutNulls(input), { errors: "all", onExcessProperty: "error" })
      if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
      const reason = exit.cause.reasons.find((candidate) => candidate._tag === "Fail")
      if (reason === undefined)
        throw new Error("a decoder died on outside input", { cause: exit.cause })
      const errors = faults(reason.error.issue, place)
      return refuse("invalid-request", {
        detail: errors[0]?.detail ?? "The request is malformed.",
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
