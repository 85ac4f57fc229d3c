/**
 * Lazily decoded structs: proxies over a stored JSON text, each member of which is decoded when it is
 * first read. A printer of members as they are stored prints their text (JsonPrinter.ts).
 */
import { Schema, SchemaAST, Struct } from "effect"
import * as CompiledCodec from "./CompiledCodec.ts"
import * as PlainJson from "./PlainJson.ts"

type AnySchema = Schema.Codec<unknown, unknown>

/** Members of the texts that a schema prints, in their order. */
interface Layout {
  readonly nodes: ReadonlyArray<SchemaAST.AST>
  /** Name of each member as it is printed, with the brace or comma before it and the colon after it. */
  readonly labels: ReadonlyArray<string>
  readonly decoders: ReadonlyArray<(text: string) => unknown>
}

/** A stored text, and where the value of each member ends in it. */
class Source {
  readonly layout: Layout
  readonly text: string
  readonly ends: ReadonlyArray<number>
  /** Members that were decoded. */
  readonly values: Array<unknown> = []

  constructor(layout: Layout, text: string, ends: ReadonlyArray<number>) {
    this.layout = layout
    this.text = text
    this.ends = ends
  }

  valueOf(place: number): unknown {
    const memo = this.values[place]
    if (memo !== undefined) return memo
    const value = this.layout.decoders[place]!(this.textOf(place))
    this.values[place] = value
    return value
  }

  /** JSON text of a member. */
  textOf(place: number): string {
    return this.text.slice(
      this.labelOf(place) + this.layout.labels[place]!.length,
      this.ends[place]
    )
  }

  /** JSON text of neighbouring members, with their names. */
  textBetween(first: number, last: number): string {
    return this.text.slice(this.labelOf(first) + 1, this.ends[last])
  }

  private labelOf(place: number): number {
    return place === 0 ? 0 : this.ends[place - 1]!
  }
}

/** Names of a struct's members, shared by all structs that are made alike. */
export class Shape {
  /** Places in the source of the members that are as stored. */
  readonly places: ReadonlyMap<string, number>
  /** Names of the members beside them. */
  readonly others: ReadonlyArray<string>
  private readonly picked = new WeakMap<object, Shape>()
  private readonly extended = new Map<string, Shape>()

  constructor(places: ReadonlyMap<string, number>, others: ReadonlyArray<string>) {
    this.places = places
    this.others = others
  }

  pick(members: object): Shape {
    const memo = this.picked.get(members)
    if (memo !== undefined) return memo
    const has = (name: string) => Object.hasOwn(members, name)
    const shape = new Shape(
      new Map([...this.places].filter(([name]) => has(name))),
      this.others.filter(has)
    )
    this.picked.set(members, shape)
    return shape
  }

  extend(names: ReadonlyArray<string>): Shape {
    const key = names.join()
    const memo = this.extended.get(key)
    if (memo !== undefined) return memo
    const shape = new Shape(new Map([...this.places].filter(([name]) => !names.includes(name))), [
      ...new Set([...this.others, ...names])
    ])
    this.extended.set(key, shape)
    return shape
  }
}

/** A struct behind its proxy: members of a source, and values that are no member of it. */
export interface Lazy {
  readonly source: Source
  readonly shape: Shape
  readonly others: Readonly<Record<string, unknown>>
}

/** Key under which a proxy answers with what is behind it. */
const LAZY = Symbol("lazy")

/** Source and shape behind the proxy of a lazily decoded struct; undefined for any other value. */
export const behind = (value: unknown): Lazy | undefined =>
  typeof value === "object" && value !== null
    ? (value as { readonly [LAZY]?: Lazy })[LAZY]
    : undefined

const has = ({ shape }: Lazy, name: string | symbol): boolean =>
  typeof name === "string" && (shape.places.has(name) || shape.others.includes(name))

const memberOf = (lazy: Lazy, name: string | symbol): unknown => {
  if (typeof name === "symbol") return name === LAZY ? lazy : undefined
  const place = lazy.shape.places.get(name)
  return place === undefined ? lazy.others[name] : lazy.source.valueOf(place)
}

const handler: ProxyHandler<Lazy> = {
  get: memberOf,
  has,
  ownKeys: ({ shape }) => [...shape.places.keys(), ...shape.others],
  getOwnPropertyDescriptor: (lazy, name) =>
    has(lazy, name)
      ? { value: memberOf(lazy, name), enumerable: true, configurable: true, writable: false }
      : undefined,
  set: () => false,
  defineProperty: () => false,
  deleteProperty: () => false
}

/** No members, and no prototype that a name could be found in. */
const NONE: Readonly<Record<string, unknown>> = Object.create(null)

/**
 * Reader of texts that print the members of all these structs one after another: the struct whose members
 * are decoded as they are read. It answers undefined to a text that has other members or another order,
 * and is undefined itself for a schema that asks more of a struct than its members.
 */
export const reader = (
  structs: ReadonlyArray<AnySchema>
): ((text: string) => object | undefined) | undefined => {
  const members: Array<SchemaAST.PropertySignature> = []
  for (const struct of structs) {
    const own = membersOf(struct)
    if (own === undefined) return undefined
    members.push(...own)
  }
  const names = members.map(({ name }) => String(name))
  const layout: Layout = {
    nodes: members.map(({ type }) => type),
    labels: names.map((name, place) => `${place === 0 ? "{" : ","}${PlainJson.stringify(name)}:`),
    decoders: members.map(({ type }) => {
      const decode = CompiledCodec.decoder(schemaOf(type))
      return (text) => decode(parsed(text))
    })
  }
  const shape = new Shape(new Map(names.map((name, place) => [name, place])), [])
  return (text) => {
    const ends = endsOf(layout.labels, text)
    return ends === undefined
      ? undefined
      : new Proxy<Lazy>({ source: new Source(layout, text, ends), shape, others: NONE }, handler)
  }
}

/** As `PlainJson.parseTrusted`, of the text of one member. */
const parsed = (text: string): PlainJson.Plain => {
  const first = text.charCodeAt(0)
  if (first === QUOTE && !text.includes("\\")) return text.slice(1, -1)
  return isDigit(first) ? new PlainJson.PlainNumber(text) : PlainJson.parseTrusted(text)
}

/** The members of a struct; undefined for a schema that asks more of it than its members. */
export const membersOf = ({
  ast
}: AnySchema): ReadonlyArray<SchemaAST.PropertySignature> | undefined =>
  SchemaAST.isObjects(ast) &&
  ast.indexSignatures.length === 0 &&
  ast.checks === undefined &&
  ast.encoding === undefined &&
  ast.propertySignatures.every(({ name }) => typeof name === "string")
    ? ast.propertySignatures
    : undefined

/** Cast: a node of a codec's schema is one of a codec. */
export const schemaOf = (ast: SchemaAST.AST): AnySchema =>
  Schema.make<AnySchema>(ast as AnySchema["ast"])

/** As `Struct.pick`, by the names of `members`; what is lazily decoded stays so. */
export const pick = <T extends object, K extends keyof T & string>(
  struct: T,
  members: Readonly<Record<K, unknown>>
): Pick<T, K> => {
  const lazy = behind(struct)
  if (lazy === undefined) return Struct.pick(struct, Struct.keys(members))
  return proxied({ ...lazy, shape: lazy.shape.pick(members) })
}

/** As `{ ...struct, ...values }`; what is lazily decoded stays so, but for the members of `values`. */
export const extend = <T extends object, V extends object>(struct: T, values: V): T & V => {
  const lazy = behind(struct)
  if (lazy === undefined) return { ...struct, ...values }
  return proxied({
    source: lazy.source,
    shape: lazy.shape.extend(Object.keys(values)),
    others: Object.assign(Object.create(null), lazy.others, values)
  })
}

/** Cast: the proxy has the members that the shape names, of the types that their decoders answer. */
const proxied = <T>(lazy: Lazy): T => new Proxy<Lazy>(lazy, handler) as T

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** Ends of the values behind all labels of a compact text; undefined for a text that differs from them. */
const endsOf = (labels: ReadonlyArray<string>, text: string): ReadonlyArray<number> | undefined => {
  const ends: Array<number> = []
  let at = 0
  for (const label of labels) {
    if (!text.startsWith(label, at)) return undefined
    at = valueEnd(text, at + label.length)
    if (at < 0) return undefined
    ends.push(at)
  }
  return at === text.length - 1 && text.charCodeAt(at) === CLOSE_BRACE ? ends : undefined
}

/** End of the value that begins here; −1: there is none. */
const valueEnd = (text: string, start: number): number => {
  const code = text.charCodeAt(start)
  if (code === QUOTE) return stringEnd(text, start)
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return nestedEnd(text, start)
  let at = start
  while (isOfWord(text.charCodeAt(at))) at++
  return at === start ? -1 : at
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** Checks for a character of a number, true, false or null. */
const isOfWord = (code: number): boolean =>
  isDigit(code) || (code >= 0x61 && code <= 0x7a) || code === 0x2e || code === 0x2d

const stringEnd = (text: string, start: number): number => {
  let at = text.indexOf('"', start + 1)
  while (at > 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at + 1 || -1
}

/** Checks for an odd number of backslashes before a character. */
const isEscaped = (text: string, at: number): boolean => {
  let before = at
  while (text.charCodeAt(before - 1) === BACKSLASH) before--
  return (at - before) % 2 === 1
}

const nestedEnd = (text: string, start: number): number => {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = stringEnd(text, at)
      if (end < 0) return -1
      at = end - 1
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return at + 1
  }
  return -1
}
