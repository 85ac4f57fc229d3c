/** Sample values for every parameter and body of a document, enough to call every route. */

export type Json =
  | null
  | boolean
  | number
  | string
  | ReadonlyArray<Json>
  | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }

export const objectOf = (json: Json | undefined): JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json) ? (json as JsonObject) : {}
export const listOf = (json: Json | undefined): ReadonlyArray<Json> =>
  Array.isArray(json) ? json : []

/** Target of a reference, or the value itself. */
export const deref = (document: Json, json: Json | undefined): JsonObject => {
  const { $ref } = objectOf(json)
  if (typeof $ref !== "string") return objectOf(json)
  const found = $ref
    .slice(2)
    .split("/")
    .reduce<Json | undefined>((at, name) => objectOf(at)[name], document)
  return deref(document, found)
}

/** Texts that match the patterns that the interface has. */
const texts: ReadonlyArray<string> = [
  "sample-1",
  "sample::1220ab",
  "ab".repeat(32),
  "PT24H",
  "16:00",
  "2026-07",
  "US",
  "USD",
  "5493001KJTIIGC8Y1R12",
  "UTC"
]

const formats: Readonly<Record<string, string>> = {
  "date-time": "2026-07-31T16:00:00Z",
  date: "2026-07-31",
  uri: "https://receiver.example/hook"
}

const text = (shape: JsonObject): string => {
  const { format, maxLength, minLength, pattern } = shape
  if (typeof format === "string" && formats[format] !== undefined) return formats[format]
  if (typeof pattern === "string") {
    const found = texts.find((one) => new RegExp(pattern, "u").test(one))
    if (found === undefined) throw new Error(`no sample matches ${pattern}`)
    return found
  }
  const long = "sample".padEnd(Number(minLength ?? 0), "x")
  return maxLength === undefined ? long : long.slice(0, Number(maxLength))
}

/** The least a schema takes: members that may lack, lack. */
export const sample = (document: Json, schema: Json | undefined): Json => {
  const shape = deref(document, schema)
  const [first] = listOf(shape["enum"])
  if (first !== undefined) return first
  if (shape["const"] !== undefined) return shape["const"]
  const parts = listOf(shape["allOf"])
  if (parts.length > 0) {
    return Object.assign({}, ...parts.map((part) => objectOf(sample(document, part))))
  }
  const [choice] = listOf(shape["anyOf"])
  if (choice !== undefined) return sample(document, choice)
  const types = [shape["type"]].flat()
  if (types.includes("object") || shape["properties"] !== undefined) {
    const properties = objectOf(shape["properties"])
    return Object.fromEntries(
      listOf(shape["required"]).map((name) => [
        String(name),
        sample(document, properties[String(name)])
      ])
    )
  }
  if (types.includes("array")) {
    return Number(shape["minItems"] ?? 0) > 0 ? [sample(document, shape["items"])] : []
  }
  if (types.includes("string")) return text(shape)
  if (types.includes("boolean")) return true
  if (types.includes("integer") || types.includes("number")) return Number(shape["minimum"] ?? 1)
  return null
}
