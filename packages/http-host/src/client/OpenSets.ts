/** Decoding of answers that keeps unlisted words of open sets as `{ unknown }`. */
import { ValueSet, type Vocabulary } from "@bursar/engine-core"
import type { PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Result, Schema, type SchemaIssue } from "effect"

/**
 * A value that a set gained after this client was built
 * (docs/contract/growth.md#open-and-closed-sets).
 */
export interface UnknownValue {
  readonly unknown: string
}

/** Whether a value is a word that this client does not know. */
export const isUnknown = (value: unknown): value is UnknownValue =>
  typeof value === "object" && value !== null && "unknown" in value

/**
 * Type-level predicate: whether a text type is a union of literals and words of rooms, and not `string`
 * or a branded text.
 */
type IsWord<T extends string> = T extends Vocabulary.OwnWord.OwnWord
  ? true
  : Record<never, never> extends { [K in T]: 1 }
    ? false
    : true

/** Type-level predicate: whether a type is plain JSON, which has no words of declared sets. */
type AnyJson<T> = PlainJson.Plain extends T ? true : PlainJson.PlainNumber extends T ? true : false

/**
 * Decoded type of an answer: the declared type, with `{ unknown }` added to every union of words.
 */
export type DecodedValue<T> =
  AnyJson<T> extends true
    ? T
    : T extends string
      ? IsWord<T> extends true
        ? T | UnknownValue
        : T
      : T extends number | bigint | boolean | null | undefined
        ? T
        : T extends ReadonlyArray<infer U>
          ? ReadonlyArray<DecodedValue<U>>
          : { readonly [K in keyof T]: DecodedValue<T[K]> }

/** Type of an input: plain `string` wherever the declaration has a branded text, such as an id. */
export type Input<T> =
  AnyJson<T> extends true
    ? T
    : T extends string
      ? IsWord<T> extends true
        ? T
        : string
      : T extends number | bigint | boolean | null | undefined
        ? T
        : T extends ReadonlyArray<infer U>
          ? ReadonlyArray<Input<U>>
          : { readonly [K in keyof T]: Input<T[K]> }

type Path = ReadonlyArray<PropertyKey>

interface UnlistedWord {
  readonly path: Path
  readonly text: string
  /**
   * A listed word of the same set, which takes the place of the unlisted one while the rest is
   * decoded.
   */
  readonly substitute: string
}

/**
 * Largest number of decoding rounds: the unlisted words inside a union member are found only once
 * its own tag decodes.
 */
const roundsMax = 8

/**
 * Decodes an answer. Unlisted words of extensible sets are replaced by listed ones while the rest
 * is decoded, and then by `{ unknown }`. Fails with a sentence on any other fault.
 */
export const decode = <A>(
  schema: Schema.Codec<A, unknown>,
  json: PlainJson.Plain
): Effect.Effect<DecodedValue<A>, string> => {
  const decoding = Schema.decodeUnknownEffect(schema, { errors: "all" })
  const round = (
    value: unknown,
    aside: ReadonlyArray<UnlistedWord>,
    repeatsLeft: number
  ): Effect.Effect<DecodedValue<A>, string> =>
    Effect.flatMap(Effect.result(decoding(value)), (decoded) => {
      if (Result.isSuccess(decoded)) {
        const restored = aside.reduce<unknown>(
          (whole, { path, text }) => put(whole, path, { unknown: text }),
          decoded.success
        )
        // Cast: `{ unknown }` in the place of words is the only difference between A and Decoded<A>.
        return Effect.succeed(restored as DecodedValue<A>)
      }
      const unlisted = unlistedOf(decoded.failure.issue, value)
      if (unlisted.length === 0 || repeatsLeft === 0) return Effect.fail(decoded.failure.message)
      const listed = unlisted.reduce((whole, word) => put(whole, word.path, word.substitute), value)
      return round(listed, [...aside, ...unlisted], repeatsLeft - 1)
    })
  return round(json, [], roundsMax)
}

const unlistedOf = (issue: SchemaIssue.Issue, value: unknown): ReadonlyArray<UnlistedWord> => {
  const found = new Map<string, UnlistedWord>()
  const collect = (issue: SchemaIssue.Issue, path: Path): void => {
    if (issue._tag === "Pointer") return collect(issue.issue, [...path, ...issue.path])
    if (issue._tag === "AnyOf") {
      const text = at(value, path)
      const substitute = firstWord(issue)
      if (ValueSet.mayGrow(issue.ast) && typeof text === "string") {
        if (substitute !== undefined) found.set(path.join("/"), { path, text, substitute })
        return
      }
    }
    if ("issues" in issue) for (const inner of issue.issues) collect(inner, path)
    else if ("issue" in issue) collect(issue.issue, path)
  }
  collect(issue, [])
  return [...found.values()]
}

const firstWord = ({ ast }: SchemaIssue.AnyOf): string | undefined => {
  const [first] = ast.types
  return first?._tag === "Literal" && typeof first.literal === "string" ? first.literal : undefined
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (found, name) =>
      typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined,
    value
  )

/** Returns a copy of a JSON value with the value at a path replaced. */
const put = (whole: unknown, path: Path, value: unknown): unknown => {
  const [name, ...rest] = path
  if (name === undefined || typeof whole !== "object" || whole === null) return value
  const inner = put(Reflect.get(whole, name), rest, value)
  if (Array.isArray(whole))
    return whole.map((item, i) => (String(i) === String(name) ? inner : item))
  return { ...whole, [name]: inner }
}
