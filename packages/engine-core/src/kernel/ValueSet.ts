/** A set of words of the API, closed within /v1 or open to new members. */
import { Schema, type SchemaAST } from "effect"

/** A closed set gains no value within /v1; an extensible one may. */
export type Growth = "closed" | "extensible"

export interface ValueSet<V extends string = string> {
  readonly name: string
  readonly doc: string
  readonly growth: Growth
  readonly members: ReadonlyArray<V>
  /** What a request may carry and a record may hold: the listed members, nothing else. */
  readonly schema: Schema.Literals<ReadonlyArray<V>>
  readonly has: (text: string) => text is V
}

/**
 * The schema of a set of words: the listed ones and nothing else, and on it whether the set may grow,
 * so that whoever reads an answer by its schema needs no list of the sets there are.
 */
export const schemaOf = <V extends string>(of: {
  readonly name: string
  readonly doc: string
  readonly members: ReadonlyArray<V>
  readonly growth: Growth
}): Schema.Literals<ReadonlyArray<V>> =>
  Schema.Literals<ReadonlyArray<V>>(of.members).annotate({
    identifier: of.name,
    description: of.doc,
    growth: of.growth
  })

/** Whether a schema is one of a set that may grow. */
export const mayGrow = ({ annotations }: SchemaAST.AST): boolean =>
  annotations?.["growth"] === ("extensible" satisfies Growth)

const make =
  (growth: Growth) =>
  <const V extends string>(name: string, doc: string, members: ReadonlyArray<V>): ValueSet<V> => {
    const known = new Set<string>(members)
    return {
      name,
      doc,
      growth,
      members,
      schema: schemaOf({ name, doc, members, growth }),
      has: (text): text is V => known.has(text)
    }
  }

export const closed = make("closed")
export const extensible = make("extensible")

export type Member<X> = X extends ValueSet<infer V> ? V : never
