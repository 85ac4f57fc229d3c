/** The document as plain JSON, walked and changed piece by piece. */

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [member: string]: Json | undefined
}

export const isArray = (json: Json | undefined): json is ReadonlyArray<Json> => Array.isArray(json)
export const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !isArray(json)

/** Returns an object unchanged, and the empty object for anything else. */
export const objectOf = (json: Json | undefined): JsonObject => (isObject(json) ? json : {})

/** Cast: the generator types its schemas loosely, and they are JSON. */
export const jsonOf = (schema: object): JsonObject => schema as JsonObject

export type Change = (object: JsonObject) => JsonObject

/** Maps every object of a value bottom-up; members that become undefined are left out. */
export const walk = (json: Json, change: Change): Json => {
  if (isArray(json)) return json.map((item) => walk(item, change))
  return isObject(json) ? walkObject(json, change) : json
}

export const walkObject = (json: JsonObject, change: Change): JsonObject => {
  const members = Object.entries(json).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, walk(value, change)] as const]
  )
  return change(Object.fromEntries(members))
}

/** Names of the components that a value refers to, transitively. */
export const reached = (from: Json, schemas: JsonObject): ReadonlySet<string> => {
  const found = new Set<string>()
  const look = (json: Json | undefined): void => {
    if (isArray(json)) for (const item of json) look(item)
    if (!isObject(json)) return
    const name = componentOf(json)
    if (name !== undefined && !found.has(name)) {
      found.add(name)
      look(schemas[name])
    }
    for (const member of Object.values(json)) look(member)
  }
  look(from)
  return found
}

const schemaPrefix = "#/components/schemas/"

/** Name of the component that a reference points at; undefined where the value is no reference. */
export const componentOf = ({ $ref }: JsonObject): string | undefined =>
  typeof $ref === "string" && $ref.startsWith(schemaPrefix)
    ? $ref.slice(schemaPrefix.length)
    : undefined
