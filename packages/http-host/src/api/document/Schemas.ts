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

/** OpenAPI 3.1 writes "T or null" as a list of types, which every reader of it knows. */
export const nullable = (of: JsonObject): JsonObject => walkObject(of, collapse)

/** A struct without members, which the generator tells as "anything but null". */
export const struct = (object: JsonObject): JsonObject => {
  const { not, ...rest } = object
  return isObject(not) && not.type === "null"
    ? { type: "object", properties: {}, ...rest, additionalProperties: false }
    : object
}

const collapse = (given: JsonObject): JsonObject => {
  const object = struct(given)
  const { anyOf, ...rest } = object
  if (!isArray(anyOf)) return object
  // A choice of which one is anything is no choice.
  if (anyOf.some((choice) => isObject(choice) && Object.keys(choice).length === 0)) return rest
  if (anyOf.length > 2) return object
  const [one, other] = anyOf
  // A choice of one is no choice.
  if (isObject(one) && other === undefined) return { ...one, ...rest }
  if (!isObject(one) || !isObject(other) || other.type !== "null") return object
  if (typeof one.type !== "string" || isArray(one.enum)) return object
  return { ...one, ...rest, type: [one.type, "null"] }
}

/** Answers may gain members: they are shown open. */
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

/** Sets that may gain values say so; everything is in the order of its name. */
export const components = (schemas: JsonObject, extensible: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(
    Object.entries(schemas)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => [
        name,
        extensible.has(name) && isObject(schema) ? opened(schema) : (schema ?? null)
      ])
  )

const opened = ({ type, enum: values, ...rest }: JsonObject): JsonObject => ({
  ...rest,
  anyOf: [{ type, enum: values }, { type: "string" }],
  "x-extensible": true
})

/**
 * The components as calls and answers show them: what answers show is open and whole, what only
 * calls show is as it is judged, what neither shows is left out. A shape with members that may lack
 * cannot be both; it is declared twice.
 */
export const bySide = (
  schemas: JsonObject,
  of: { readonly asked: Json; readonly answered: Json }
): JsonObject => {
  const asked = reached(of.asked, schemas)
  const answered = reached(of.answered, schemas)
  return Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => {
      if (schema === undefined || (!asked.has(name) && !answered.has(name))) return []
      if (!answered.has(name)) return [[name, schema] as const]
      const shown = walk(schema, (object) => whole(open(object)))
      if (asked.has(name) && JSON.stringify(shown) !== JSON.stringify(walk(schema, open))) {
        throw new Error(`${name} is asked with members that may lack, and answered`)
      }
      return [[name, shown] as const]
    })
  )
}

/** A schema that the generator met in two guises is shown once, under its own name. */
export const withoutDoubles = (schemas: JsonObject) => {
  const same = new Map<string, string>()
  for (const [name, schema] of Object.entries(schemas)) {
    const own = name.replace(/_\d+$/, "")
    if (own !== name && JSON.stringify(schemas[own]) === JSON.stringify(schema)) same.set(name, own)
  }
  const redirect: Change = (object) => {
    const own = same.get(componentOf(object) ?? "")
    return own === undefined ? object : { ...object, $ref: `#/components/schemas/${own}` }
  }
  const kept = Object.entries(schemas).filter(([name]) => !same.has(name))
  return { schemas: Object.fromEntries(kept), redirect }
}
