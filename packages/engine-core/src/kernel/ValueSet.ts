/** A set of words the API uses: closed for good within /v1, or open to new members. */
import { Schema } from "effect"

export interface ValueSet<V extends string = string> {
  readonly name: string
  readonly doc: string
  /** A closed set gains no value within /v1; of an extensible one a client must expect more. */
  readonly growth: "closed" | "extensible"
  readonly members: ReadonlyArray<V>
  /** What a request may carry and a record may hold: the listed members, nothing else. */
  readonly schema: Schema.Literals<ReadonlyArray<V>>
  readonly has: (text: string) => text is V
}

const make =
  (growth: "closed" | "extensible") =>
  <const V extends string>(name: string, doc: string, members: ReadonlyArray<V>): ValueSet<V> => {
    const known = new Set<string>(members)
    return {
      name,
      doc,
      growth,
      members,
      schema: Schema.Literals<ReadonlyArray<V>>(members).annotate({
        identifier: name,
        description: doc
      }),
      has: (text): text is V => known.has(text)
    }
  }

export const closed = make("closed")
export const extensible = make("extensible")

export type Member<X> = X extends ValueSet<infer V> ? V : never
