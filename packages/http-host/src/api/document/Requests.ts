/**
 * Requests as an operation shows them (docs/contract/operations.md#the-answer-to-a-write): the ids of
 * the path and the members of the body as they were sent.
 */
import { componentOf, isArray, isObject, type Json, type JsonObject, objectOf } from "./Json.ts"

/** Schemas of requests by kind, and of the components that they refer to, by name. */
interface SentRequests {
  /** Shows the request of a write with this input; `secrets` names its masked members. */
  readonly show: (input: JsonObject, secrets: ReadonlyArray<string>) => JsonObject
  /** Copies of components, by their names: as they are sent, and not as they are validated. */
  readonly copies: () => JsonObject
}

/**
 * Differs from the schema of the call: members may be added within `/v1`, as in every answer, and a
 * null that stood for an absent member is shown.
 */
export const reader = (schemas: JsonObject): SentRequests => {
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
    show: (input, secrets) => {
      const component = componentOf(input)
      const shape = objectOf(shown(component === undefined ? input : schemas[component]))
      const masked = Object.entries(objectOf(shape.properties)).map(([name, member]) => [
        name,
        secrets.includes(name) ? mask : (member ?? null)
      ])
      return { ...shape, properties: Object.fromEntries(masked) }
    }
  }
}

const mask = { type: ["string", "null"], description: "Masked: a few digits of its SHA-256." }

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
