/**
 * Bodies of writes, each declared once: a call takes one, and its operation shows it again as it was sent
 * (docs/contract/operations.md#the-answer-to-a-write).
 */
import { componentOf, isArray, isObject, type Json, type JsonObject, objectOf } from "./Json.ts"

/** Schemas of bodies by their names, and of the components that they refer to. */
interface Bodies {
  /** Shows a schema of a body as it is sent. */
  readonly show: (schema: JsonObject) => JsonObject
  /** Copies of components, by their names: as they are sent. */
  readonly copies: () => JsonObject
}

/**
 * A body as it is sent: a null may stand for an absent member at every depth. Members may be added
 * within `/v1`, so the schema says nothing of others: a call says that it takes no others
 * (`asCall`), and an answer may have them.
 */
export const reader = (schemas: JsonObject): Bodies => {
  const copies: Record<string, JsonObject> = {}

  const shown = (json: Json | undefined): Json => {
    if (isArray(json)) return json.map(shown)
    if (!isObject(json)) return json ?? null
    const component = componentOf(json)
    if (component !== undefined) return refer(component, json)
    const { additionalProperties, properties, ...rest } = json
    const needed = new Set(isArray(json.required) ? json.required : [])
    return {
      ...Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, shown(member)])),
      ...(isObject(properties)
        ? {
            properties: Object.fromEntries(
              Object.entries(properties).map(([name, member]) => [
                name,
                needed.has(name) ? shown(member) : orNull(objectOf(shown(member)))
              ])
            )
          }
        : {}),
      ...(isObject(additionalProperties)
        ? { additionalProperties: shown(additionalProperties) }
        : {})
    }
  }

  const refer = (name: string, reference: JsonObject): JsonObject => {
    if (!hasMembers(schemas[name], schemas)) return reference
    const copy = `${name}AsSent`
    if (copies[copy] === undefined) {
      copies[copy] = {}
      copies[copy] = objectOf(shown(schemas[name]))
    }
    return { $ref: `#/components/schemas/${copy}` }
  }

  return {
    copies: () => copies,
    show: (schema) => {
      const component = componentOf(schema)
      return objectOf(shown(component === undefined ? schema : schemas[component]))
    }
  }
}

/** The body of a call, which takes no member but its own. */
export const asCall = (body: string): JsonObject => ({
  allOf: [{ $ref: `#/components/schemas/${body}` }],
  unevaluatedProperties: false
})

/** A secret as it is shown, in the place of what was sent. */
export const mask = {
  type: ["string", "null"],
  description: "Masked: a few digits of it or of its SHA-256."
}

/** Checks whether a schema has members somewhere, by which a sent value differs from a validated one. */
const hasMembers = (json: Json | undefined, schemas: JsonObject): boolean => {
  if (isArray(json)) return json.some((item) => hasMembers(item, schemas))
  if (!isObject(json)) return false
  const component = componentOf(json)
  if (component !== undefined) return hasMembers(schemas[component], schemas)
  return isObject(json.properties) || Object.values(json).some((one) => hasMembers(one, schemas))
}

/** The schema that takes null too. */
const orNull = (schema: JsonObject): JsonObject => {
  if (Object.keys(schema).length === 0) return schema
  const { anyOf, type } = schema
  const types = [type].flat()
  if (types.includes("null") || (isArray(anyOf) && anyOf.some(isNull))) return schema
  if (isArray(anyOf) && schema["x-extensible"] === undefined) {
    return { ...schema, anyOf: [...anyOf, { type: "null" }] }
  }
  return typeof type === "string" && schema.enum === undefined
    ? { ...schema, type: [type, "null"] }
    : { anyOf: [schema, { type: "null" }] }
}

const isNull = (json: Json): boolean => isObject(json) && json.type === "null"
