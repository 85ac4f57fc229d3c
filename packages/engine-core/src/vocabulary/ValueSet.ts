/** A set of words of the API, closed within /v1 or open to new members. */
import { Schema, type SchemaAST } from "effect"

/** A closed set gains no value within /v1; an extensible one may. */
export type Growth = "closed" | "extensible"

/** Set of words of the interface, with the sentence that documents it. */
export interface ValueSet<V extends string = string> {
  readonly name: string
  readonly doc: string
  readonly growth: Growth
  readonly members: ReadonlyArray<V>
  /** Schema of requests and records: accepts the listed members and nothing else. */
  readonly schema: Schema.Literals<ReadonlyArray<V>>
  readonly has: (text: string) => text is V
}

/**
 * Schema of a set of words: accepts the listed ones and nothing else. Its annotation `growth` says
 * whether the set may grow, so that a client that reads answers by their schema can tolerate new words.
 */
export const schemaOf = <V extends string>({
  members,
  name,
  doc,
  growth
}: {
  readonly name: string
  readonly doc: string
  readonly members: ReadonlyArray<V>
  readonly growth: Growth
}): Schema.Literals<ReadonlyArray<V>> =>
  Schema.Literals<ReadonlyArray<V>>(members).annotate({
    identifier: name,
    description: doc,
    growth
  })

/** Checks that a schema is of a set that may grow. */
export const mayGrow = ({ annotations }: SchemaAST.AST): boolean =>
  annotations?.["growth"] === ("extensible" satisfies Growth)

const make =
  (growth: Growth) =>
  <const V extends string>(name: string, doc: string, members: ReadonlyArray<V>): ValueSet<V> => {
    const memberSet = new Set<string>(members)
    return {
      name,
      doc,
      growth,
      members,
      schema: schemaOf({ name, doc, members, growth }),
      has: (text): text is V => memberSet.has(text)
    }
  }

/** Declares a set that gets no new word within a version of the interface. */
export const closed = make("closed")

/** Declares a set that may get new words, which a caller must expect. */
export const extensible = make("extensible")

/** Word of a set. */
export type Member<X> = X extends ValueSet<infer V> ? V : never
