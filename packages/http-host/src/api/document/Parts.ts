/**
 * Schemas that several components have inside them, and members that several components have alike: each is
 * declared once, under a name that stays (`PartNames`), and referred to.
 */
import {
  type Change,
  componentOf,
  isArray,
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  walk
} from "./Json.ts"
import * as PartNames from "./PartNames.ts"

/** Schemas of a document and whatever refers to them. */
interface Bodies {
  readonly schemas: JsonObject
  readonly paths: JsonObject
}

/**
 * Declares the inner schemas that have a name of their own, and refers to each wherever it is: where it
 * may be null too, by a choice. `eachBody` changes the schemas of bodies and answers in the paths.
 */
export const inner = (
  { paths, schemas }: Bodies,
  eachBody: (paths: JsonObject, change: Change) => JsonObject
): Bodies => {
  /** Schemas with a name, by a key that few others have. */
  const found = new Map<string, Array<NamedSchema>>()
  const refer: Change = (object) => {
    const candidates = found.get(keyOf(object))
    if (candidates === undefined) return object
    const { isNullable, schema } = split(object)
    const text = textOf(schema)
    const named = candidates.find((candidate) => candidate.text === text)
    if (named === undefined) return object
    named.isUsed = true
    if (!isNullable) return reference(named.name)
    // Beside the choice is its type, without which the viewer takes it for no schema.
    const { type = null } = schema
    return { type: [type, "null"], anyOf: [reference(named.name), { type: "null" }] }
  }
  for (const [name, place] of Object.entries(PartNames.inner)) {
    const placed = schemas[name] === undefined ? at(schemas, place) : undefined
    if (placed === undefined) continue
    const members = Object.entries(split(placed).schema).map(([keyword, value]) => [
      keyword,
      walk(value ?? null, refer)
    ])
    const schema: JsonObject = Object.fromEntries(members)
    const others = found.get(keyOf(schema)) ?? []
    found.set(keyOf(schema), [...others, { name, schema, text: textOf(schema), isUsed: false }])
  }
  const referring = { paths: eachBody(paths, refer), schemas: objectOf(walk(schemas, refer)) }
  const usedSchemas = [...found.values()].flat().filter(({ isUsed }) => isUsed)
  return {
    ...referring,
    schemas: {
      ...referring.schemas,
      ...Object.fromEntries(usedSchemas.map(({ name, schema }) => [name, schema]))
    }
  }
}

interface NamedSchema {
  readonly name: string
  readonly schema: JsonObject
  readonly text: string
  isUsed: boolean
}

/** The schema at a place of `PartNames`. */
const at = (schemas: JsonObject, place: string): JsonObject | undefined => {
  const [component = "", ...names] = place.split(".")
  const found = names.reduce<Json | undefined>(memberOf, schemas[component])
  return isObject(found) && componentOf(found) === undefined ? found : undefined
}

const memberOf = (json: Json | undefined, name: string): Json | undefined => {
  const { additionalProperties, allOf, items, properties } = objectOf(json)
  if (name === "[]") return items
  if (name === "{}") return additionalProperties
  const own = objectOf(properties)[name]
  return own !== undefined || !isArray(allOf)
    ? own
    : allOf.map((part) => memberOf(part, name)).find((found) => found !== undefined)
}

interface Split {
  /** The schema without null. */
  readonly schema: JsonObject
  readonly isNullable: boolean
}

const split = (object: JsonObject): Split => {
  const { type, ...rest } = object
  if (!isArray(type)) return { schema: object, isNullable: false }
  const [first = null, ...others] = type.filter((one) => one !== "null")
  return others.length > 0
    ? { schema: object, isNullable: false }
    : { schema: { type: first, ...rest }, isNullable: type.includes("null") }
}

/** Names of the members and length of the set of words: cheaper than the whole text. */
const keyOf = ({ description, enum: words, properties, type }: JsonObject): string =>
  type === undefined
    ? ""
    : [
        description ?? "",
        isArray(words) ? words.length : "",
        Object.keys(objectOf(properties)).join()
      ].join("|")

/** Text of a schema, the same in whichever order its keywords and what it requires were generated. */
const textOf = (json: Json | undefined): string =>
  JSON.stringify(json, (name, value: Json) => {
    if (name === "required" && isArray(value)) return value.toSorted()
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value
  })

const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })

/**
 * Declares the members that the components of a row have alike as a component of their own, and refers to it
 * from every component that has all of them.
 */
export const shared = (schemas: JsonObject): JsonObject =>
  Object.entries(PartNames.shared).reduce((before, [name, owners]) => {
    const [first, ...others] = owners.map((owner) => ownPartOf(before[owner])).filter(isObject)
    if (first === undefined || others.length === 0 || before[name] !== undefined) return before
    const members = Object.entries(objectOf(first.properties)).filter(([member]) =>
      others.every((other) => hasAlike(other, first, member))
    )
    if (members.length < membersMin) return before
    const needed = members.flatMap(([member]) => (isNeeded(first, member) ? [member] : []))
    const part: JsonObject = {
      type: "object",
      properties: Object.fromEntries(members),
      ...(needed.length === 0 ? {} : { required: needed })
    }
    const referring = Object.entries(before).map(([owner, schema]) => [
      owner,
      without(objectOf(schema), { name, part })
    ])
    return { ...Object.fromEntries(referring), [name]: part }
  }, schemas)

/** Fewer members are not worth a component. */
const membersMin = 3

/** The part of a schema that has its own members: the schema itself, or the last of its parts. */
const ownPartOf = (schema: Json | undefined): JsonObject | undefined => {
  const { allOf, properties } = objectOf(schema)
  if (isObject(properties)) return objectOf(schema)
  const own = isArray(allOf) ? allOf.at(-1) : undefined
  return isObject(own) && isObject(own.properties) ? own : undefined
}

const hasAlike = (schema: JsonObject, other: JsonObject, member: string): boolean => {
  const [own, others] = [objectOf(schema.properties)[member], objectOf(other.properties)[member]]
  if (own === undefined || others === undefined) return false
  return isNeeded(schema, member) === isNeeded(other, member) && textOf(own) === textOf(others)
}

const isNeeded = ({ required }: JsonObject, member: string): boolean =>
  isArray(required) && required.includes(member)

const without = (
  schema: JsonObject,
  { name, part }: { readonly name: string; readonly part: JsonObject }
): JsonObject => {
  const own = ownPartOf(schema)
  const members = Object.keys(objectOf(part.properties))
  const all = objectOf(own?.properties)
  if (own === undefined || members.some((member) => all[member] === undefined)) return schema
  if (!members.every((member) => hasAlike(own, part, member))) return schema
  const rest = Object.entries(objectOf(own.properties)).filter(
    ([member]) => !members.includes(member)
  )
  const needed = rest.flatMap(([member]) => (isNeeded(own, member) ? [member] : []))
  const { additionalProperties, properties: _, required: __, type = "object", ...words } = own
  const left: ReadonlyArray<JsonObject> =
    rest.length === 0
      ? []
      : [
          {
            type,
            properties: Object.fromEntries(rest),
            ...(needed.length === 0 ? {} : { required: needed })
          }
        ]
  // A schema that takes no others, or takes others of a form, is not taken apart: its parts would not.
  if (additionalProperties !== undefined) return schema
  const before = isArray(schema.allOf) ? schema.allOf.slice(0, -1) : []
  const said = isArray(schema.allOf) ? schema : words
  return { ...said, allOf: [...before, reference(name), ...left] }
}
