/** Parts that several routes have alike, each declared once and referred to. */
import { Month } from "@bursar/engine-core/kernel"
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

/**
 * Declares once the parameters that several routes have alike. Of parameters of one name that differ,
 * the one that most routes have is declared under it, and lists, dates and months under names of their own.
 */
export const parameters = (
  paths: JsonObject,
  declaredParameters: JsonObject
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
    const [most, ...others] = [...variants].toSorted(([, a], [, b]) => b - a)
    if (most === undefined) continue
    const named = [
      [name, most] as const,
      ...others.map((one) => [formOf(name, one[0]), one] as const)
    ]
    for (const [own, [text, count]] of named) {
      if (count > 1 && declaredParameters[own] === undefined && !namesOf(shared).has(own))
        shared.set(text, own)
    }
  }
  const referred = (parameter: JsonObject): JsonObject => {
    const name = shared.get(JSON.stringify(parameter))
    return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
  }
  const all = { ...declaredParameters }
  for (const [text, name] of shared) Object.assign(all, { [name]: JSON.parse(text) })
  return {
    parameters: sorted(all),
    paths: eachOperation(paths, (operation) => ({
      ...operation,
      parameters: parametersOf(operation).map(referred)
    }))
  }
}

const namesOf = (shared: ReadonlyMap<string, string>): ReadonlySet<string> =>
  new Set(shared.values())

/** Name of a parameter that is of another form than most of its name: a list, a date or a month. */
const formOf = (name: string, text: string): string => {
  const { format, items, pattern, type } = objectOf(objectOf(JSON.parse(text)).schema)
  if (type === "array") return `${componentOf(objectOf(items)) ?? name}List`
  if (pattern === Month.pattern) return `${name}Month`
  return format === "date" ? `${name}Date` : name
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
    if (!scalar.isNullable) return reference(scalar.title)
    nullable.add(scalar.title)
    return reference(orNull(scalar.title))
  }
  const nullable = new Set<string>()
  const referring = objectOf(walk(parts.schemas, refer))
  const paths = eachBody(parts.paths, refer)
  const used = new Set([...reachedFrom(referring), ...reachedFrom(paths)])
  const schemas = {
    ...referring,
    ...Object.fromEntries(
      [...shared].flatMap(
        ([title, text]): Array<[string, Json]> =>
          used.has(title) || nullable.has(title) ? [[title, JSON.parse(text)]] : []
      )
    ),
    ...Object.fromEntries(
      [...nullable].map((title) => [orNull(title), { anyOf: [reference(title), { type: "null" }] }])
    )
  }
  return { paths, schemas: sorted(schemas) }
}

const orNull = (title: string): string => `${title}OrNull`

const reference = (title: string): JsonObject => ({ $ref: `#/components/schemas/${title}` })

/** Names of the components that a value refers to. */
const reachedFrom = (json: JsonObject): ReadonlySet<string> => {
  const names = new Set<string>()
  walk(json, (object) => {
    const name = componentOf(object)
    if (name !== undefined) names.add(name)
    return object
  })
  return names
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
 * Declares once the members by which every answer of a read says when it is of, and every page of a list
 * where the next one begins. Reads of the ledger's time have one more.
 */
export const points = (
  paths: JsonObject
): { readonly paths: JsonObject; readonly schemas: JsonObject } => {
  const schemas: Record<string, JsonObject> = {}
  const split: Change = (object) => {
    const { ledgerTime, now, offset, ...rest } = objectOf(object.properties)
    if (now === undefined || offset === undefined || rest.value === undefined) return object
    const point = ledgerTime === undefined ? { offset, now } : { offset, ledgerTime, now }
    // A feed has no last page: its cursor is never null.
    const { next, ...others } = rest
    const isPage = isArray(objectOf(next).type)
    const [own, properties] = isPage ? [others, { ...point, next }] : [rest, point]
    const name = `${ledgerTime === undefined ? "" : "Pinned"}${isPage ? "Page" : "ReadPoint"}`
    schemas[name] = { type: "object", properties, required: Object.keys(properties) }
    return {
      allOf: [reference(name), { ...object, properties: own, required: Object.keys(own) }]
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

/** Name of the body of a call that takes no member. */
const noMembers = "NoMembers"

/** Declares once the body of the calls that take no member, with its example. */
export const requestBodies = (
  paths: JsonObject
): { readonly paths: JsonObject; readonly requestBodies: JsonObject } => {
  const counts = new Map<string, number>()
  for (const { requestBody } of operationsOf(paths)) {
    if (!isObject(requestBody) || !hasNoMembers(requestBody)) continue
    const text = JSON.stringify(requestBody)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a)
  if (most === undefined || most[1] === 1) return { paths, requestBodies: {} }
  const referring = eachOperation(paths, (operation) =>
    JSON.stringify(operation.requestBody) === most[0]
      ? { ...operation, requestBody: { $ref: `#/components/requestBodies/${noMembers}` } }
      : operation
  )
  return { paths: referring, requestBodies: { [noMembers]: JSON.parse(most[0]) } }
}

const hasNoMembers = ({ content }: JsonObject): boolean =>
  Object.values(objectOf(content)).every((media) => {
    const { properties, type } = objectOf(objectOf(media).schema)
    return type === "object" && isObject(properties) && Object.keys(properties).length === 0
  })

/** Least number of members that are worth a part of their own. */
const partMin = 8

/**
 * A schema with all members of another one, such as the detail of a row, is that one and its own
 * members.
 */
export const extended = (schemas: JsonObject): JsonObject => {
  const parts = Object.entries(schemas)
    .filter(([, part]) => sizeOf(part) >= partMin)
    .toSorted(([, a], [, b]) => sizeOf(b) - sizeOf(a))
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const most = parts.find(([other, part]) => other !== name && isPartOf(part, schema))
      return [name, most === undefined ? (schema ?? null) : extension(objectOf(schema), most)]
    })
  )
}

const sizeOf = (schema: Json | undefined): number =>
  Object.keys(objectOf(objectOf(schema).properties)).length

const isPartOf = (part: Json | undefined, schema: Json | undefined): boolean => {
  const [inner, outer] = [objectOf(part), objectOf(schema)]
  const [members, all] = [objectOf(inner.properties), objectOf(outer.properties)]
  const names = Object.keys(members)
  if (names.length >= Object.keys(all).length) return false
  return names.every(
    (name) =>
      all[name] !== undefined &&
      JSON.stringify(all[name]) === JSON.stringify(members[name]) &&
      isNeeded(outer, name) === isNeeded(inner, name)
  )
}

const isNeeded = ({ required }: JsonObject, name: string): boolean =>
  isArray(required) && required.includes(name)

const extension = (
  schema: JsonObject,
  [name, part]: readonly [string, Json | undefined]
): JsonObject => {
  const { properties, required: _, type, ...rest } = schema
  const inner = objectOf(objectOf(part).properties)
  const own = Object.entries(objectOf(properties)).filter(([name]) => !Object.hasOwn(inner, name))
  const needed = own.flatMap(([name]) => (isNeeded(schema, name) ? [name] : []))
  return {
    ...rest,
    allOf: [
      reference(name),
      {
        type: type ?? null,
        properties: Object.fromEntries(own),
        ...(needed.length === 0 ? {} : { required: needed })
      }
    ]
  }
}

/** Changes every schema of what calls ask and of what they answer; parameters stay as they are. */
export const eachBody = (paths: JsonObject, change: Change): JsonObject =>
  eachOperation(paths, ({ requestBody, responses, ...rest }) => ({
    ...rest,
    ...(requestBody === undefined ? {} : { requestBody: walk(requestBody, change) }),
    ...(responses === undefined ? {} : { responses: walk(responses, change) })
  }))

export const eachOperation = (paths: JsonObject, change: Change): JsonObject =>
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

export const sorted = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1)))
