/** Decoding of answers that keeps unlisted words of open sets as `{ unknown }`. */
import { ValueSet } from "@bursar/engine-core"
import type { PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Result, Schema, type SchemaIssue } from "effect"

/**
 * A value that a set gained after this client was built
 * (docs/contract/growth.md#open-and-closed-sets).
 */
export interface Unknown {
  readonly unknown: string
}

export const isUnknown = (value: unknown): value is Unknown =>
  typeof value === "object" && value !== null && "unknown" in value

/**
 * Type-level predicate: whether a text type is a union of literals, and not `string` or a branded
 * text.
 */
type IsWord<T extends string> = Record<never, never> extends { [K in T]: 1 } ? false : true

/** Type-level predicate: whether a type is plain JSON, which has no words of declared sets. */
type AnyJson<T> = PlainJson.Plain extends T ? true : PlainJson.PlainNumber extends T ? true : false

/**
 * Decoded type of an answer: the declared type, with `{ unknown }` added to every union of words.
 */
export type Seen<T> =
  AnyJson<T> extends true
    ? T
    : T extends string
      ? IsWord<T> extends true
        ? T | Unknown
        : T
      : T extends number | bigint | boolean | null | undefined
        ? T
        : T extends ReadonlyArray<infer U>
          ? ReadonlyArray<Seen<U>>
          : { readonly [K in keyof T]: Seen<T[K]> }

/** Type of an input: plain `string` wherever the declaration has a branded text, such as an id. */
export type Told<T> =
  AnyJson<T> extends true
    ? T
    : T extends string
      ? IsWord<T> extends true
        ? T
        : string
      : T extends number | bigint | boolean | null | undefined
        ? T
        : T extends ReadonlyArray<infer U>
          ? ReadonlyArray<Told<U>>
          : { readonly [K in keyof T]: Told<T[K]> }

type Path = ReadonlyArray<PropertyKey>

interface Stranger {
  readonly path: Path
  readonly text: string
  /**
   * A listed word of the same set, which takes the place of the unlisted one while the rest is
   * decoded.
   */
  readonly known: string
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
): Effect.Effect<Seen<A>, string> => {
  const decoding = Schema.decodeUnknownEffect(schema, { errors: "all" })
  const round = (
    value: unknown,
    aside: ReadonlyArray<Stranger>,
    left: number
  ): Effect.Effect<Seen<A>, string> =>
    Effect.flatMap(Effect.result(decoding(value)), (decoded) => {
      if (Result.isSuccess(decoded)) {
        const seen = aside.reduce<unknown>(
          (whole, { path, text }) => put(whole, path, { unknown: text }),
          decoded.success
        )
        // Cast: `{ unknown }` in the place of words is the only difference between A and Seen<A>.
        return Effect.succeed(seen as Seen<A>)
      }
      const strangers = strangersOf(decoded.failure.issue, value)
      if (strangers.length === 0 || left === 0) return Effect.fail(decoded.failure.message)
      const known = strangers.reduce((whole, { path, known }) => put(whole, path, known), value)
      return round(known, [...aside, ...strangers], left - 1)
    })
  return round(json, [], roundsMax)
}

const strangersOf = (issue: SchemaIssue.Issue, value: unknown): ReadonlyArray<Stranger> => {
  const found = new Map<string, Stranger>()
  const look = (one: SchemaIssue.Issue, path: Path): void => {
    if (one._tag === "Pointer") return look(one.issue, [...path, ...one.path])
    if (one._tag === "AnyOf") {
      const text = at(value, path)
      const known = firstWord(one)
      if (ValueSet.mayGrow(one.ast) && typeof text === "string") {
        if (known !== undefined) found.set(path.join("/"), { path, text, known })
        return
      }
    }
    if ("issues" in one) for (const inner of one.issues) look(inner, path)
    else if ("issue" in one) look(one.issue, path)
  }
  look(issue, [])
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
  if (Array.isArray(whole)) return whole.map((one, i) => (String(i) === String(name) ? inner : one))
  return { ...whole, [name]: inner }
}
