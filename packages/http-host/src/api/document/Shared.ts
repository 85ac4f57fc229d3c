/** Parts that several routes have alike, each declared once and referred to. */
import {
  type Change,
  isArray,
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  walk
} from "./Json.ts"

/**
 * Declares once the parameters that several routes have alike. Of parameters of one name that differ,
 * the one that most routes have is declared; the others stay where they are.
 */
export const parameters = (
  paths: JsonObject,
  declared: JsonObject
): { readonly paths: JsonObject; readonly parameters: JsonObject } => {
  const counts = new Map<string, Map<string, number>>()
  for (const parameter of operationsOf(paths).flatMap(parametersOf)) {
    if (parameter.$ref !== undefined) continue
    const [name, text] = [nameOf(parameter), JSON.stringify(parameter)]
    const variants = counts.get(name) ?? new Map<string, number>()
    counts.set(name, variants.set(text, (variants.get(text) ?? 0) + 1))
  }
  const shared = new Map<string, string>()
  for (const [name, variants] of counts) {
    const [most] = [...variants].toSorted(([, a], [, b]) => b - a)
    if (most !== undefined && most[1] > 1 && declared[name] === undefined) shared.set(name, most[0])
  }
  const referred = (parameter: JsonObject): JsonObject => {
    const name = nameOf(parameter)
    return parameter.$ref === undefined && shared.get(name) === JSON.stringify(parameter)
      ? { $ref: `#/components/parameters/${name}` }
      : parameter
  }
  const all = { ...declared }
  for (const [name, text] of shared) Object.assign(all, { [name]: JSON.parse(text) })
  return {
    parameters: sorted(all),
    paths: eachOperation(paths, (operation) => ({
      ...operation,
      parameters: parametersOf(operation).map(referred)
    }))
  }
}

const parametersOf = ({ parameters }: JsonObject): ReadonlyArray<JsonObject> =>
  isArray(parameters) ? parameters.filter(isObject) : []

/** Name of a shared parameter: `instrumentId` of a path is `InstrumentIdInPath`. */
const nameOf = (parameter: JsonObject): string => {
  const name = String(parameter.name)
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}${parameter.in === "path" ? "InPath" : ""}`
}

/**
 * Declares once each scalar that has a title, such as the id of a holder, under the title. Of scalars of
 * one title that differ, the most frequent one is declared.
 */
export const scalars = (parts: {
  readonly paths: JsonObject
  readonly schemas: JsonObject
}): { readonly paths: JsonObject; readonly schemas: JsonObject } => {
  const counts = new Map<string, Map<string, number>>()
  const count: Change = (object) => {
    const scalar = scalarOf(object)
    if (scalar === undefined) return object
    const text = JSON.stringify(scalar.schema)
    const variants = counts.get(scalar.title) ?? new Map<string, number>()
    counts.set(scalar.title, variants.set(text, (variants.get(text) ?? 0) + 1))
    return object
  }
  walk(parts.schemas, count)
  eachBody(parts.paths, count)
  const shared = new Map<string, string>()
  for (const [title, variants] of counts) {
    const [most] = [...variants].toSorted(([, a], [, b]) => b - a)
    if (most !== undefined && parts.schemas[title] === undefined) shared.set(title, most[0])
  }
  const refer: Change = (object) => {
    const scalar = scalarOf(object)
    if (scalar === undefined || shared.get(scalar.title) !== JSON.stringify(scalar.schema)) {
      return object
    }
    const reference = { $ref: `#/components/schemas/${scalar.title}` }
    return scalar.isNullable ? { anyOf: [reference, { type: "null" }] } : reference
  }
  const schemas = {
    ...objectOf(walk(parts.schemas, refer)),
    ...Object.fromEntries([...shared].map(([title, text]) => [title, JSON.parse(text) as Json]))
  }
  return { paths: eachBody(parts.paths, refer), schemas: sorted(schemas) }
}

interface Scalar {
  readonly title: string
  /** Its schema, without the title and without null. */
  readonly schema: JsonObject
  readonly isNullable: boolean
}

const scalarOf = ({ title, type, ...rest }: JsonObject): Scalar | undefined => {
  const types = [type].flat().filter((one) => one !== "null")
  const [single] = types
  if (typeof title !== "string" || typeof single !== "string" || types.length !== 1)
    return undefined
  if (single === "object" || single === "array" || rest.example !== undefined) return undefined
  return { title, schema: { type: single, ...rest }, isNullable: isArray(type) }
}

/**
 * Declares once the members by which every answer of a read says when it is of. Reads of the ledger's
 * time have one more.
 */
export const points = (
  paths: JsonObject
): { readonly paths: JsonObject; readonly schemas: JsonObject } => {
  const schemas: Record<string, JsonObject> = {}
  const split: Change = (object) => {
    const { ledgerTime, now, offset, ...own } = objectOf(object.properties)
    if (now === undefined || offset === undefined || own.value === undefined) return object
    const name = ledgerTime === undefined ? "ReadPoint" : "PinnedReadPoint"
    const properties = { offset, ...(ledgerTime === undefined ? {} : { ledgerTime }), now }
    schemas[name] = { type: "object", properties, required: Object.keys(properties) }
    return {
      allOf: [
        { $ref: `#/components/schemas/${name}` },
        { ...object, properties: own, required: Object.keys(own) }
      ]
    }
  }
  return {
    paths: eachOperation(paths, ({ responses, ...rest }) => ({
      ...rest,
      ...(responses === undefined ? {} : { responses: walk(responses, split) })
    })),
    schemas
  }
}

/** Changes every schema of what calls ask and of what they answer; parameters stay as they are. */
const eachBody = (paths: JsonObject, change: Change): JsonObject =>
  eachOperation(paths, ({ requestBody, responses, ...rest }) => ({
    ...rest,
    ...(requestBody === undefined ? {} : { requestBody: walk(requestBody, change) }),
    ...(responses === undefined ? {} : { responses: walk(responses, change) })
  }))

const eachOperation = (paths: JsonObject, change: Change): JsonObject =>
  Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(objectOf(item)).map(([method, operation]) => [
          method,
          isObject(operation) ? change(operation) : (operation ?? null)
        ])
      )
    ])
  )

export const operationsOf = (paths: JsonObject): ReadonlyArray<JsonObject> =>
  Object.values(paths)
    .flatMap((item) => Object.values(objectOf(item)))
    .filter(isObject)

const sorted = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1)))
