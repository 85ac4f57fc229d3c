/** Judges JSON against a published OpenAPI description, every schema closed and every union with exactly one known arm. */
import * as Yaml from "effect/encoding/Yaml"
import { dig } from "./opened.ts"

export interface Description {
  readonly document: unknown
  readonly paths: ReadonlyArray<string>
}

export const read = (text: string): Description => {
  const document = Yaml.parse(text)
  return { document, paths: Object.keys(dig(document, "paths") ?? {}) }
}

const resolve = ({ document }: Description, schema: unknown): unknown => {
  const ref = dig(schema, "$ref")
  return typeof ref === "string"
    ? resolve({ document, paths: [] }, dig(document, ...ref.split("/").slice(1)))
    : schema
}

type Faults = ReadonlyArray<string>

const entries = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  typeof value === "object" && value !== null ? Object.entries(value) : []

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Faults of a value against its schema; empty: it has none. */
export const judge = (
  description: Description,
  named: unknown,
  value: unknown,
  at = ""
): Faults => {
  const schema = resolve(description, named)
  if (schema === undefined) return [`${at}: there is no such schema`]
  const arms = list(dig(schema, "oneOf"))
  if (arms.length > 0) {
    const fits = arms.filter((arm) => judge(description, arm, value, at).length === 0)
    return fits.length === 1 ? [] : [`${at}: ${fits.length} arms fit`]
  }
  switch (dig(schema, "type")) {
    case "object":
      return ofObject(description, schema, value, at)
    case "array":
      return Array.isArray(value)
        ? value.flatMap((item, n) => judge(description, dig(schema, "items"), item, `${at}/${n}`))
        : [`${at}: no array`]
    case "string": {
      const allowed = list(dig(schema, "enum"))
      return typeof value !== "string"
        ? [`${at}: no string`]
        : allowed.length > 0 && !allowed.includes(value)
          ? [`${at}: ${value} is none of ${allowed.join(", ")}`]
          : []
    }
    case "integer":
      return Number.isSafeInteger(value) ? [] : [`${at}: no integer`]
    case "boolean":
      return typeof value === "boolean" ? [] : [`${at}: no boolean`]
    case undefined:
      // A schema that says nothing: a ledger value.
      return value === undefined ? [`${at}: missing`] : []
    default:
      return [`${at}: a type this judge does not know`]
  }
}

const ofObject = (
  description: Description,
  schema: unknown,
  value: unknown,
  at: string
): Faults => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [`${at}: no object`]
  const properties = new Map(entries(dig(schema, "properties")))
  const more = dig(schema, "additionalProperties")
  const missing = list(dig(schema, "required")).filter(
    (name) => !Object.hasOwn(value, String(name))
  )
  return [
    ...missing.map((name) => `${at}/${String(name)}: missing`),
    ...entries(value).flatMap(([name, member]) => {
      const inner = properties.get(name)
      if (inner !== undefined) return judge(description, inner, member, `${at}/${name}`)
      return typeof more === "object" && more !== null
        ? judge(description, more, member, `${at}/${name}`)
        : [`${at}/${name}: not described`]
    })
  ]
}

interface Call {
  readonly method: "get" | "post"
  readonly path: string
}

const operation = ({ document }: Description, { method, path }: Call): unknown =>
  dig(document, "paths", path, method)

export const request = (description: Description, call: Call): unknown =>
  dig(operation(description, call), "requestBody", "content", "application/json", "schema")

/** The schema of an answer; for a status that is not named as JSON, that of every other. */
export const answer = (
  description: Description,
  call: Call & { readonly status: number }
): unknown => {
  const responses = dig(operation(description, call), "responses")
  const json = (name: string) => dig(responses, name, "content", "application/json", "schema")
  return json(String(call.status)) ?? json("default")
}
