/** Corrections of generated schemas: open sets, open answers, members that are always present. */
import {
  type Change,
  componentOf,
  isArray,
  isObject,
  type Json,
  type JsonObject,
  reached,
  walk,
  walkObject
} from "./Json.ts"

/** Writes "T or null" as a list of types, the form of OpenAPI 3.1 that every reader supports. */
export const nullable = (schema: JsonObject): JsonObject => walkObject(schema, collapse)

/** Writes a struct without members as an object; the generator writes "anything but null". */
export const struct = (object: JsonObject): JsonObject => {
  const { not, ...rest } = object
  return isObject(not) && not.type === "null"
    ? { type: "object", properties: {}, ...rest, additionalProperties: false }
    : object
}

const collapse = (jsonSchema: JsonObject): JsonObject => {
  const object = struct(jsonSchema)
  const { anyOf, ...rest } = object
  if (!isArray(anyOf)) return object
  // A union with a member that accepts anything is replaced by that member.
  if (anyOf.some((choice) => isObject(choice) && Object.keys(choice).length === 0)) return rest
  if (anyOf.length > 2) return object
  const [first, other] = anyOf
  // A union with a single member is replaced by the member.
  if (isObject(first) && other === undefined) return { ...first, ...rest }
  if (!isObject(first) || !isObject(other) || other.type !== "null") return object
  if (typeof first.type !== "string" || isArray(first.enum)) return object
  return { ...first, ...rest, type: [first.type, "null"] }
}

/** Shows answers as open objects, because answers may gain members. */
export const open: Change = ({ additionalProperties, ...rest }) =>
  additionalProperties === false || additionalProperties === undefined
    ? rest
    : { ...rest, additionalProperties }

/**
 * Every member of an answer is always there, null where it does not apply
 * (docs/contract/json.md#whole-answers).
 */
export const whole: Change = (object) =>
  isObject(object.properties) ? { ...object, required: Object.keys(object.properties) } : object

/** Marks open sets as such and sorts the components by name. */
export const components = (schemas: JsonObject, extensible: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(
    Object.entries(schemas)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => [
        name,
        extensible.has(name) && isObject(schema) ? opened(schema) : (schema ?? null)
      ])
  )

/** Words of a set that is open to rooms. */
interface RoomWords {
  readonly members: ReadonlyArray<string>
  readonly ownWords: ReadonlyArray<string>
}

/**
 * Lists the words of a set that is open to rooms, those of the engine and then those of the rooms. The
 * schema that validates them has a pattern for the latter.
 */
export const listing =
  (sets: ReadonlyArray<RoomWords>): Change =>
  (object) => {
    const { anyOf, ...rest } = object
    if (!isArray(anyOf) || !isOpenSide(anyOf.at(-1))) return object
    const words = anyOf.slice(0, -1).flatMap((choice) => wordOf(choice) ?? [])
    const set = sets.find(
      ({ members }) =>
        members.length === anyOf.length - 1 && members.every((word, at) => words[at] === word)
    )
    return set === undefined
      ? object
      : { type: "string", enum: [...set.members, ...set.ownWords], ...rest }
  }

const isOpenSide = (choice: Json | undefined): boolean =>
  isObject(choice) && typeof choice.pattern === "string" && choice.pattern.startsWith("^x-")

const wordOf = (choice: Json): string | undefined => {
  if (!isObject(choice) || !isArray(choice.enum)) return undefined
  const [word, ...others] = choice.enum
  return typeof word === "string" && others.length === 0 ? word : undefined
}

const opened = ({ type, enum: values, ...rest }: JsonObject): JsonObject => ({
  ...rest,
  anyOf: [{ type, enum: values }, { type: "string" }],
  "x-extensible": true
})

/**
 * Writes beside the choices of each component the types that they have: the viewer takes a component
 * without one for no schema at all, and warns of it.
 */
export const typed = (schemas: JsonObject): JsonObject => {
  /** Types of a schema; undefined where one of its choices may be of any. */
  const typesOf = (json: Json | undefined): ReadonlyArray<Json> | undefined => {
    if (!isObject(json)) return undefined
    const component = componentOf(json)
    if (component !== undefined) return typesOf(schemas[component])
    if (json.type !== undefined) return isArray(json.type) ? json.type : [json.type]
    if (!isArray(json.anyOf)) return undefined
    const all = json.anyOf.map(typesOf)
    return all.some((types) => types === undefined)
      ? undefined
      : [...new Set(all.flatMap((types) => types ?? []))]
  }
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const types = isObject(schema) && isArray(schema.anyOf) ? typesOf(schema) : undefined
      const [first, ...others] = types ?? []
      return first === undefined || !isObject(schema)
        ? [name, schema ?? null]
        : [name, { type: others.length === 0 ? first : [first, ...others], ...schema }]
    })
  )
}

/**
 * Splits the components by direction. Schemas of answers are shown open and whole, schemas of calls
 * alone stay as they are validated, and unused schemas are dropped. A schema with optional members
 * cannot be in both directions: it is declared twice.
 */
export const bySide = (
  schemas: JsonObject,
  roots: {
    readonly requestBodies: Json
    readonly answerBodies: Json
    /** Names of what is sent and shown again, whose members may lack. */
    readonly sent: ReadonlySet<string>
  }
): JsonObject => {
  const inRequests = reached(roots.requestBodies, schemas)
  const inAnswers = reached(roots.answerBodies, schemas)
  return Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => {
      if (schema === undefined || (!inRequests.has(name) && !inAnswers.has(name))) return []
      if (!inAnswers.has(name) || roots.sent.has(name)) return [[name, schema] as const]
      const shown = walk(schema, (object) => whole(open(object)))
      if (inRequests.has(name) && JSON.stringify(shown) !== JSON.stringify(walk(schema, open))) {
        throw new Error(`${name} is asked with members that may lack, and answered`)
      }
      return [[name, shown] as const]
    })
  )
}

/** Removes duplicates: a schema that the generator emitted under two names keeps its own name. */
export const withoutDoubles = (schemas: JsonObject) => {
  const same = new Map<string, string>()
  for (const [name, schema] of Object.entries(schemas)) {
    const original = name.replace(/_\d+$/, "")
    if (original !== name && JSON.stringify(schemas[original]) === JSON.stringify(schema))
      same.set(name, original)
  }
  const redirect: Change = (object) => {
    const original = same.get(componentOf(object) ?? "")
    return original === undefined ? object : { ...object, $ref: `#/components/schemas/${original}` }
  }
  const entries = Object.entries(schemas).filter(([name]) => !same.has(name))
  return { schemas: Object.fromEntries(entries), redirect }
}
