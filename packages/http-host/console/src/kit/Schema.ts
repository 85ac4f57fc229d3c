/** Fields of a form, computed from the JSON Schema of an operation's request; and the input that they hold. */
import { callTable } from "@bursar/http-host/plain-client"
import type { RequestSchemas } from "../interface/Interface.ts"
import { entered as enteredInstant } from "../words/Instants.ts"

export type Json = Readonly<Record<string, unknown>>

export type FieldKind =
  | { readonly is: "text"; readonly pattern: string | null; readonly longest: number | null }
  | { readonly is: "decimal" | "integer" | "instant" | "date" | "json" }
  | { readonly is: "flag" }
  | { readonly is: "choice"; readonly words: ReadonlyArray<string> }
  | { readonly is: "many"; readonly words: ReadonlyArray<string> }
  | { readonly is: "group"; readonly fields: ReadonlyArray<Field> }
  | { readonly is: "list"; readonly item: FieldKind }

export interface Field {
  readonly name: string
  readonly isRequired: boolean
  readonly mayBeNull: boolean
  readonly description: string | null
  readonly kind: FieldKind
}

type Components = Readonly<Record<string, Json>>

/** Follows references and the single member of `allOf`. */
const resolved = (schema: Json, components: Components): Json => {
  const reference = schema["$ref"]
  if (typeof reference === "string") {
    const target = components[reference.split("/").at(-1) ?? ""]
    return target === undefined
      ? {}
      : resolved({ ...target, ...without(schema, "$ref") }, components)
  }
  const parts = schema["allOf"]
  if (Array.isArray(parts)) {
    const all = parts.map((part) => resolved(part as Json, components))
    return all.reduce<Json>(
      (whole, part) => ({
        ...whole,
        ...part,
        ...(whole["properties"] === undefined && part["properties"] === undefined
          ? {}
          : { properties: { ...(whole["properties"] as Json), ...(part["properties"] as Json) } }),
        required: [
          ...((whole["required"] as ReadonlyArray<string>) ?? []),
          ...((part["required"] as ReadonlyArray<string>) ?? [])
        ]
      }),
      without(schema, "allOf")
    )
  }
  return schema
}

const without = (schema: Json, name: string): Json => {
  const { [name]: _, ...rest } = schema
  return rest
}

const typesOf = (schema: Json): ReadonlyArray<string> =>
  [schema["type"] ?? []].flat().filter((type): type is string => typeof type === "string")

interface Alternatives {
  readonly options: ReadonlyArray<Json>
  readonly mayBeNull: boolean
}

/** Alternatives without null, those of alternatives among them, and whether null is one. */
const alternatives = (schema: Json, components: Components): Alternatives => {
  const whole = resolved(schema, components)
  const all = (whole["anyOf"] ?? whole["oneOf"]) as ReadonlyArray<Json> | undefined
  if (all === undefined) {
    const types = typesOf(whole)
    return {
      options: types.join() === "null" ? [] : [whole],
      mayBeNull: types.includes("null")
    }
  }
  const found = all.map((each) => alternatives(each, components))
  return {
    options: found.flatMap(({ options }) => options),
    mayBeNull: found.some(({ mayBeNull }) => mayBeNull)
  }
}

const depthMax = 4

const kindOf = (schema: Json, components: Components, depth: number): FieldKind => {
  const words = schema["enum"]
  if (Array.isArray(words))
    return { is: "choice", words: words.filter((each) => each !== null).map(String) }
  const types = typesOf(schema).filter((type) => type !== "null")
  const [type] = types
  if (type === "boolean") return { is: "flag" }
  if (type === "integer") return { is: "integer" }
  if (type === "number" || schema["format"] === "decimal") return { is: "decimal" }
  if (type === "string") {
    if (schema["format"] === "date-time") return { is: "instant" }
    if (schema["format"] === "date") return { is: "date" }
    return {
      is: "text",
      pattern: typeof schema["pattern"] === "string" ? schema["pattern"] : null,
      longest: typeof schema["maxLength"] === "number" ? schema["maxLength"] : null
    }
  }
  if (type === "array" && depth < depthMax && typeof schema["items"] === "object") {
    const item = fieldOf("", {
      schema: schema["items"] as Json,
      components,
      isRequired: true,
      depth: depth + 1
    }).kind
    return item.is === "choice" ? { is: "many", words: item.words } : { is: "list", item }
  }
  if (type === "object" && schema["properties"] !== undefined && depth < depthMax) {
    return { is: "group", fields: fieldsOf(schema, components, depth + 1) }
  }
  return { is: "json" }
}

const fieldOf = (
  name: string,
  {
    components,
    depth,
    isRequired,
    schema
  }: {
    readonly schema: Json
    readonly components: Components
    readonly isRequired: boolean
    readonly depth: number
  }
): Field => {
  const whole = resolved(schema, components)
  const { mayBeNull, options } = alternatives(whole, components)
  // An open set is its words, or any further text.
  const [first] = options.map((each) => resolved(each, components))
  const isOpenSet = options.length === 2 && Array.isArray(first?.["enum"])
  const kind: FieldKind =
    options.length === 1 || isOpenSet
      ? kindOf(first ?? {}, components, depth)
      : options.every((each) =>
            ["string", "number"].includes(typesOf(resolved(each, components))[0] ?? "")
          )
        ? ({
            is: options.some((each) => typesOf(each).includes("number")) ? "decimal" : "text",
            pattern: null,
            longest: null
          } as FieldKind)
        : { is: "json" }
  const description = whole["description"]
  return {
    name,
    isRequired,
    mayBeNull,
    kind,
    description: typeof description === "string" ? description : null
  }
}

/** Fields of an object's schema, those that are required first. */
export const fieldsOf = (schema: Json, components: Components, depth = 0): ReadonlyArray<Field> => {
  const whole = resolved(schema, components)
  const required = new Set((whole["required"] as ReadonlyArray<string> | undefined) ?? [])
  return Object.entries((whole["properties"] as Readonly<Record<string, Json>> | undefined) ?? {})
    .map(([name, member]) =>
      fieldOf(name, { schema: member, components, isRequired: required.has(name), depth })
    )
    .toSorted((a, b) => (a.isRequired === b.isRequired ? 0 : a.isRequired ? -1 : 1))
}

/** Values of a form: text as typed, a group of values, or a list of them. */
export type FormValue =
  | string
  | boolean
  | ReadonlyArray<FormValue>
  | { readonly [name: string]: FormValue }
  | undefined

/** Faults of what a form holds, by the pointer of its field. */
export interface Entered {
  readonly input: unknown
  readonly faults: ReadonlyMap<string, string>
}

/** Where a value stands in its form, and the zone of a time that names none. */
interface Place {
  readonly pointer: string
  readonly zone: string
}

/** Input of a request from the values of its fields; a field that is empty is left out. */
export const enteredOf = (
  fields: ReadonlyArray<Field>,
  values: { readonly [name: string]: FormValue },
  { pointer, zone }: Place = { pointer: "", zone: "UTC" }
): Entered => {
  const faults = new Map<string, string>()
  const input: Record<string, unknown> = {}
  for (const { isRequired, kind, name } of fields) {
    const at = `${pointer}/${name}`
    const one = valueOf(kind, values[name], { pointer: at, zone })
    for (const [place, detail] of one.faults) faults.set(place, detail)
    if (one.input !== undefined) input[name] = one.input
    else if (isRequired && one.faults.size === 0) faults.set(at, "is missing")
  }
  return { input, faults }
}

/** Checks whether nothing was entered into a field, or into any field of a group. */
const isEmpty = (value: FormValue): boolean =>
  value === undefined ||
  value === "" ||
  (typeof value === "object" && Object.values(value).every(isEmpty))

const none = new Map<string, string>()
const fault = (pointer: string, detail: string): Entered => ({
  input: undefined,
  faults: new Map([[pointer, detail]])
})

/** The value of JSON that a person typed: a number keeps its digits, a whole one as a bigint. */
const jsonOf = (text: string): unknown =>
  (JSON.parse as (text: string, reviver: Reviver) => unknown)(text, (_, value, context) => {
    if (typeof value !== "number") return value
    const digits = context?.source ?? String(value)
    return /^-?\d{1,18}$/u.test(digits) ? BigInt(digits) : digits
  })

/** Reviver with source access (https://tc39.es/proposal-json-parse-with-source/). */
type Reviver = (name: string, value: unknown, context?: { readonly source?: string }) => unknown

/** Checks whether the platform's JSON tells the text of a number. */
const hasSource = jsonOf("1.0") === "1.0"

const valueOf = (kind: FieldKind, value: FormValue, place: Place): Entered => {
  const { pointer, zone } = place
  if (value === undefined || value === "") return { input: undefined, faults: none }
  if (kind.is === "group") {
    // A group in which nothing was entered is left out, with all that it would require.
    if (isEmpty(value)) return { input: undefined, faults: none }
    return enteredOf(kind.fields, value as { readonly [name: string]: FormValue }, place)
  }
  if (kind.is === "list" || kind.is === "many") {
    const items = value as ReadonlyArray<FormValue>
    if (items.length === 0) return { input: undefined, faults: none }
    if (kind.is === "many") return { input: items, faults: none }
    const all = items.map((item, at) => {
      const one = valueOf(kind.item, item, { pointer: `${pointer}/${at}`, zone })
      // Left out, it would give each later row another number than the one that a refusal names.
      return one.input === undefined && one.faults.size === 0
        ? fault(`${pointer}/${at}`, "is empty: fill it in, or remove it")
        : one
    })
    return {
      input: all.map(({ input }) => input),
      faults: new Map(all.flatMap(({ faults }) => [...faults]))
    }
  }
  if (kind.is === "flag") return { input: value, faults: none }
  const text = String(value).trim()
  if (text === "") return { input: undefined, faults: none }
  if (kind.is === "integer") {
    // A whole number goes out as its digits, which a bigint keeps.
    return /^-?\d{1,18}$/u.test(text)
      ? { input: BigInt(text), faults: none }
      : fault(pointer, "is no whole number")
  }
  if (kind.is === "decimal") {
    return /^-?\d+(?:\.\d+)?$/u.test(text)
      ? { input: text, faults: none }
      : fault(pointer, "is no number: digits, and a point before the fraction")
  }
  if (kind.is === "json") {
    try {
      const input = jsonOf(text)
      return hasSource || !/\d\s*[.eE]/u.test(text)
        ? { input, faults: none }
        : fault(pointer, "has decimals, whose digits this browser keeps only in quotation marks")
    } catch {
      return fault(pointer, "is no JSON")
    }
  }
  if (kind.is === "instant") {
    const one = enteredInstant(text, zone)
    return "at" in one ? { input: one.at, faults: none } : fault(pointer, one.fault)
  }
  if (kind.is === "text") {
    if (kind.longest !== null && text.length > kind.longest)
      return fault(pointer, `has more than ${kind.longest} characters`)
    if (kind.pattern !== null && !new RegExp(kind.pattern, "u").test(text))
      return fault(pointer, "has characters that its form does not allow")
  }
  return { input: text, faults: none }
}

/** Fields of a write: those of its path that are not given, the version that it replaces, those of its body. */
export const formFields = (
  { components, requests }: RequestSchemas,
  { fixed, kind }: { readonly kind: string; readonly fixed: Readonly<Record<string, unknown>> }
): ReadonlyArray<Field> => {
  const request = requests[kind]
  if (request === undefined) return []
  const path = fieldsOf(
    { type: "object", properties: request.path, required: Object.keys(request.path) },
    components
  )
  const body = request.body === null ? [] : fieldsOf(request.body, components)
  return [...path, ...replacedFields(kind), ...body].filter(
    ({ name }) => !Object.hasOwn(fixed, name)
  )
}

/** Field of the member that a write sends as If-Match, where it has one. */
const replacedFields = (kind: string): ReadonlyArray<Field> => {
  const rows: Readonly<Record<string, string>> = callTable.writes
  const name = rows[kind]?.split(" ")[2]
  return name === undefined
    ? []
    : [
        {
          name,
          isRequired: true,
          mayBeNull: false,
          kind: { is: "text", pattern: null, longest: null },
          description:
            "The version that this replaces: the call is refused where another is in force by then."
        }
      ]
}

/**
 * Fault of a field by its pointer. A field that is drawn whole, such as a text of JSON, has the first fault
 * of its parts, since nothing below it is drawn.
 */
export const faultAt = (
  faults: ReadonlyMap<string, string>,
  pointer: string,
  { is }: Pick<FieldKind, "is">
): string | undefined => {
  const own = faults.get(pointer)
  if (own !== undefined || is === "group" || is === "list") return own
  return [...faults].find(([place]) => place.startsWith(`${pointer}/`))?.[1]
}
