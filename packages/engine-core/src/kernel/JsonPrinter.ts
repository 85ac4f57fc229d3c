/**
 * JSON printers of values by their schema. A member of a lazily decoded struct that the schema prints as
 * it is stored is printed as its stored text, so that it is neither decoded nor encoded.
 */
import type { Schema, SchemaAST } from "effect"
import * as CompiledCodec from "./CompiledCodec.ts"
import * as LazyStruct from "./LazyStruct.ts"
import * as PlainJson from "./PlainJson.ts"

type AnySchema = Schema.Codec<unknown, unknown>

/** Prints a value by the schema's compiled encoder; throws on a value that the schema does not take. */
export const of = (schema: AnySchema): ((value: unknown) => string) => {
  const whole = encoded(schema)
  const members = LazyStruct.membersOf(schema)
  if (members === undefined) return whole
  const partsOf = planned(members, joined)
  return (value) => {
    const lazy = LazyStruct.behind(value)
    const parts = lazy === undefined ? undefined : partsOf(lazy.shape, lazy)
    return lazy === undefined || parts === undefined
      ? whole(value)
      : `{${parts.map((part) => part(lazy)).join()}}`
  }
}

/**
 * JSON texts of the members of a lazily decoded struct, in the schema's order; undefined for any other
 * value.
 */
export const texts = (
  schema: AnySchema
): ((value: unknown) => ReadonlyArray<string> | undefined) => {
  const members = LazyStruct.membersOf(schema)
  if (members === undefined) return () => undefined
  const partsOf = planned(members, (parts) => parts.map(({ text }) => text))
  return (value) => {
    const lazy = LazyStruct.behind(value)
    return lazy && partsOf(lazy.shape, lazy)?.map((part) => part(lazy))
  }
}

/**
 * Checks that at least half of the members that a schema prints are members of a stored struct with the
 * same schema: for fewer, finding where they end in the text costs more than printing them as stored saves.
 */
export const isMostly = (schema: AnySchema, stored: AnySchema): boolean => {
  const members = LazyStruct.membersOf(schema) ?? []
  const nodes = new Map((LazyStruct.membersOf(stored) ?? []).map(({ name, type }) => [name, type]))
  return 2 * members.filter(({ name, type }) => nodes.get(name) === type).length >= members.length
}

/** Cast: the engine's codecs encode to values that PlainJson prints; it throws on others. */
const encoded = (schema: AnySchema): ((value: unknown) => string) => {
  const encode = CompiledCodec.encoder(schema)
  return (value) => PlainJson.stringify(encode(value) as PlainJson.Printable)
}

type Part = (lazy: LazyStruct.Lazy) => string

/** Print of a member: as the stored text at its place, or by its own encoder. */
interface Member {
  readonly label: string
  readonly place: number | undefined
  readonly text: Part
}

/** Memo of how each shape is printed; answers undefined where a member of the schema is missing. */
const planned = (
  members: ReadonlyArray<SchemaAST.PropertySignature>,
  join: (planned: ReadonlyArray<Member>) => ReadonlyArray<Part>
) => {
  const plans = new WeakMap<LazyStruct.Shape, ReadonlyArray<Part> | null>()
  const made = (shape: LazyStruct.Shape, nodes: ReadonlyArray<SchemaAST.AST>) => {
    const plan: Array<Member> = []
    for (const { name, type } of members) {
      const key = String(name)
      const place = shape.places.get(key)
      if (place === undefined && (type.context?.isOptional || !shape.others.includes(key)))
        return null
      plan.push(
        memberOf(key, { type, place, stored: place === undefined ? undefined : nodes[place] })
      )
    }
    return join(plan)
  }
  return (shape: LazyStruct.Shape, { source }: LazyStruct.Lazy) => {
    let plan = plans.get(shape)
    if (plan === undefined) {
      plan = made(shape, source.layout.nodes)
      plans.set(shape, plan)
    }
    return plan ?? undefined
  }
}

const memberOf = (
  name: string,
  {
    type,
    place,
    stored
  }: {
    readonly type: SchemaAST.AST
    readonly place: number | undefined
    readonly stored: SchemaAST.AST | undefined
  }
): Member => {
  const label = `${PlainJson.stringify(name)}:`
  if (place !== undefined && stored === type) {
    return { label, place, text: ({ source }) => source.textOf(place) }
  }
  const print = encoded(LazyStruct.schemaOf(type))
  return {
    label,
    place: undefined,
    text: ({ source, others }) => print(place === undefined ? others[name] : source.valueOf(place))
  }
}

/** Parts of a whole struct: neighbours that are neighbours in the stored text too are one part. */
const joined = (plan: ReadonlyArray<Member>): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  for (let index = 0; index < plan.length; index++) {
    const { label, place, text } = plan[index]!
    if (place === undefined) {
      parts.push((lazy) => label + text(lazy))
      continue
    }
    let last = place
    while (plan[index + 1]?.place === last + 1) [index, last] = [index + 1, last + 1]
    parts.push(({ source }) => source.textBetween(place, last))
  }
  return parts
}
