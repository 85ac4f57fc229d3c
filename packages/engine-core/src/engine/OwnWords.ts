/** Judges the words of rooms in the input of callers: one that no room of the venue has is refused. */
import { Context, Effect, Result, type Schema, SchemaAST } from "effect"
import { type Fault, type Refused, refuse } from "../kernel/Refusal.ts"
import * as Shape from "../kernel/Shape.ts"
import * as OwnWord from "../vocabulary/OwnWord.ts"

/** Words that the rooms of a venue add, by the name of the set that is open to them. */
type WordsBySet = ReadonlyMap<string, ReadonlyArray<string>>

/** The words of this venue's rooms; without a room there is none. */
export const OwnWords = Context.Reference<WordsBySet>("@bursar/engine-core/OwnWords", {
  defaultValue: () => new Map()
})

/** A word of a room in an input, with the set that it must be of. */
interface FoundWord {
  readonly set: Shape.WordSet
  readonly word: string
  readonly path: ReadonlyArray<string>
}

type Finder = (value: unknown, path: ReadonlyArray<string>) => ReadonlyArray<FoundWord>

/** Memo of the finders of declared schemas; null: the schema has no set that is open to rooms. */
const finders = new WeakMap<SchemaAST.AST, Finder | null>()

const finderOf = (ast: SchemaAST.AST): Finder | null => {
  const made = finders.get(ast)
  if (made !== undefined) return made
  // A schema that contains itself has no set of its own below it again.
  finders.set(ast, null)
  const finder = makeFinder(ast)
  finders.set(ast, finder)
  return finder
}

const makeFinder = (ast: SchemaAST.AST): Finder | null => {
  if (SchemaAST.isSuspend(ast)) return finderOf(ast.thunk())
  if (SchemaAST.isUnion(ast)) {
    const set = Shape.openSetOf(ast)
    if (set !== null) {
      return (value, path) =>
        typeof value === "string" && OwnWord.isOwn(value) ? [{ set, word: value, path }] : []
    }
    const inside = ast.types.flatMap((type) => finderOf(type) ?? [])
    return inside.length === 0 ? null : (value, path) => inside.flatMap((find) => find(value, path))
  }
  if (SchemaAST.isArrays(ast)) {
    const [item] = [...ast.elements, ...ast.rest].flatMap((type) => finderOf(type) ?? [])
    if (item === undefined) return null
    return (value, path) =>
      Array.isArray(value) ? value.flatMap((one, nth) => item(one, [...path, String(nth)])) : []
  }
  if (!SchemaAST.isObjects(ast)) return null
  const members = ast.propertySignatures.flatMap(({ name, type }) => {
    const find = finderOf(type)
    return find === null ? [] : [{ name: String(name), find }]
  })
  if (members.length === 0) return null
  return (value, path) =>
    typeof value === "object" && value !== null
      ? members.flatMap(({ find, name }) =>
          Object.hasOwn(value, name) ? find(Reflect.get(value, name), [...path, name]) : []
        )
      : []
}

/**
 * Judge of decoded inputs: each word of a room is one that a room of this venue has, else it is refused with
 * the nearest words of its set. `pointerOf` returns the pointer of a place in the input.
 */
export type Judge = <A>(
  schema: Schema.Codec<A, unknown>,
  input: A,
  pointerOf: (path: ReadonlyArray<string>) => string
) => Result.Result<void, Refused<"invalid-request">>

/** Makes the judge of this venue's words. */
export const judging: Effect.Effect<Judge> = Effect.map(OwnWords, (own): Judge => {
  return (schema, input, pointerOf) => {
    const find = finderOf(SchemaAST.toType(schema.ast))
    const errors = (find?.(input, []) ?? []).flatMap(
      ({ path, set, word }): ReadonlyArray<Fault> => {
        const words = own.get(set.name ?? "") ?? []
        if (words.includes(word)) return []
        const all = { ...set, words: [...set.words, ...words] }
        const detail = Shape.noWord(all, { word, path })
        return [{ pointer: pointerOf(path), detail }]
      }
    )
    const [first] = errors
    return first === undefined
      ? Result.void
      : refuse("invalid-request", { detail: first.detail, errors })
  }
})
