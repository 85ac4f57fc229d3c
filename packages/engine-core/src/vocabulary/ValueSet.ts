/** A set of words of the API, closed within /v1 or open to new members. */
import { Schema, type SchemaAST } from "effect"
import * as OwnWord from "./OwnWord.ts"

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

/** Forms of the words that rooms of a venue's own add to a set. */
const ownForms = {
  plain: { schema: OwnWord.plain, has: OwnWord.isPlain },
  dotted: { schema: OwnWord.dotted, has: OwnWord.isDotted }
} as const

/** A set to which the rooms that a venue adds bring words of their own, beside its members. */
export interface RoomSet<W extends string = string, V extends string = string> {
  readonly name: string
  readonly doc: string
  readonly growth: "extensible"
  /** Form of the words that rooms add. */
  readonly own: keyof typeof ownForms
  /** Words of the engine. */
  readonly members: ReadonlyArray<V>
  /** Accepts the members, and words that begin with `x-`; any other word is refused. */
  readonly schema: Schema.Codec<W, string>
  readonly has: (text: string) => text is W
}

/** A set of any kind, as lists of sets show it. */
export type AnyValueSet = ValueSet | RoomSet

const openToRooms =
  <O extends OwnWord.OwnWord>(own: keyof typeof ownForms) =>
  <const V extends string>(
    name: string,
    doc: string,
    members: ReadonlyArray<V>
  ): RoomSet<V | O, V> => {
    const memberSet = new Set<string>(members)
    const form = ownForms[own]
    const literals = members.map((member) => Schema.Literal(member))
    return {
      name,
      doc,
      growth: "extensible",
      own,
      members,
      // Cast: a union of the members and of the words of rooms.
      schema: Schema.Union([...literals, form.schema]).annotate({
        identifier: name,
        description: doc,
        growth: "extensible" satisfies Growth
      }) as unknown as Schema.Codec<V | O, string>,
      has: (text): text is V | O => memberSet.has(text) || form.has(text)
    }
  }

/** Declares a set to which rooms add words of one part: `x-loan`. */
export const openToPlainWords = openToRooms<OwnWord.OwnWord>("plain")

/** Declares a set to which rooms add words of two parts: `x-loan.assess`. */
export const openToDottedWords = openToRooms<OwnWord.OwnDottedWord>("dotted")

/** Words of a set: its members and, where it is open to rooms, the words of theirs. */
export type Member<X> = X extends { readonly has: (text: string) => text is infer V extends string }
  ? V
  : never
