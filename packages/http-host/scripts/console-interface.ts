/**
 * Table of the interface for the console, read off openapi.json: routes, roles and filters, which the page
 * has at once, and the schemas of requests, which it loads with the first form.
 */

type Json = Readonly<Record<string, unknown>>

interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
  readonly description?: string
  readonly schema: Json
}

interface RequestBody {
  readonly content: Readonly<Record<string, { readonly schema: Json }>>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters?: ReadonlyArray<Json>
  readonly requestBody?: RequestBody | { readonly $ref: string }
  readonly "x-roles"?: ReadonlyArray<string>
  readonly "x-approvers"?: number
  readonly "x-order"?: string
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly requestBodies?: Readonly<Record<string, RequestBody>>
  }
}

/** A filter of a list: the words that it may have, where they are a set. */
export interface Filter {
  readonly name: string
  readonly words: ReadonlyArray<string> | null
  readonly isRequired: boolean
}

export interface ReadRow {
  readonly path: string
  readonly roles: ReadonlyArray<string>
  /** Order of a list in words; null: it is no list. */
  readonly order: string | null
  readonly filters: ReadonlyArray<Filter>
  /** True: it answers at a point of the past. */
  readonly isPinned: boolean
}

export interface WriteRow {
  readonly path: string
  /** Roles that make it; that which only signs another person's call is none of them. */
  readonly roles: ReadonlyArray<string>
  readonly title: string
  readonly approvers: number
  /** True: If-Match names the version that it replaces. */
  readonly matches: boolean
}

/** Reads and writes by the names that both clients call them by, and words of open sets by their schema. */
export interface InterfaceTable {
  readonly reads: Readonly<Record<string, ReadRow>>
  readonly writes: Readonly<Record<string, WriteRow>>
}

/** Schemas of the requests, by the kind of the write, with the components that they name. */
export interface RequestSchemas {
  readonly requests: Readonly<
    Record<
      string,
      { readonly description: string; readonly path: Json; readonly body: Json | null }
    >
  >
  readonly components: Readonly<Record<string, Json>>
}

/** Parameters of every list, which are no filters of its own. */
const usual = new Set(["limit", "after", "at", "asOf", "updatedFrom", "updatedTo", "format"])

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation }))
  )

const parametersOf = ({ components }: Document, { parameters = [] }: Operation) =>
  parameters.map((parameter) => {
    const reference = parameter["$ref"]
    if (typeof reference !== "string") return parameter as unknown as Parameter
    const named = components.parameters[reference.split("/").at(-1) ?? ""]
    if (named === undefined) throw new Error(`openapi.json has no ${reference}`)
    return named
  })

/** Words of a set, which is closed, or open by a further text. */
const wordsOf = ({ components }: Document, schema: Json): ReadonlyArray<string> | null => {
  const reference = schema["$ref"]
  if (typeof reference === "string") {
    return wordsOf(
      { components } as Document,
      components.schemas[reference.split("/").at(-1) ?? ""] ?? {}
    )
  }
  if (Array.isArray(schema["enum"])) return schema["enum"].map(String)
  if (schema["type"] === "array")
    return wordsOf({ components } as Document, schema["items"] as Json)
  const [first] = (schema["anyOf"] ?? []) as ReadonlyArray<Json>
  return first === undefined ? null : wordsOf({ components } as Document, first)
}

const filtersOf = (document: Document, operation: Operation): ReadonlyArray<Filter> =>
  parametersOf(document, operation)
    .filter((parameter) => parameter.in === "query" && !usual.has(parameter.name))
    .map(({ name, required = false, schema }) => ({
      name,
      words: wordsOf(document, schema),
      isRequired: required
    }))

/** Name of a read as both clients call it: words with hyphens. */
const nameOf = (operationId: string): string =>
  operationId.replaceAll(
    /([a-z])([A-Z])/gu,
    (_, before: string, letter: string) => `${before}-${letter.toLowerCase()}`
  )

/** Roles of a write without its approvers: the document has them where their call signs the maker's. */
const makersOf = (operation: Operation): ReadonlyArray<string> => {
  const roles = operation["x-roles"] ?? []
  return (operation["x-approvers"] ?? 0) > 0 ? roles.filter((role) => role !== "approver") : roles
}

export const tableOf = (document: Document): InterfaceTable => {
  const all = operationsOf(document).filter(({ operation }) => operation["x-roles"] !== undefined)
  const reads = all.filter(({ method }) => method === "get")
  const writes = all.filter(({ method }) => method !== "get")
  return {
    reads: Object.fromEntries(
      reads.map(({ operation, path }) => [
        nameOf(operation.operationId),
        {
          path,
          roles: operation["x-roles"] ?? [],
          order: operation["x-order"] ?? null,
          filters: filtersOf(document, operation),
          isPinned: parametersOf(document, operation).some(({ name }) => name === "at")
        }
      ])
    ),
    writes: Object.fromEntries(
      writes.map(({ operation, path }) => [
        operation.operationId,
        {
          path,
          roles: makersOf(operation),
          title: operation.summary,
          approvers: operation["x-approvers"] ?? 0,
          matches: parametersOf(document, operation).some(({ name }) => name === "If-Match")
        }
      ])
    )
  }
}

const referencesIn = (value: unknown): ReadonlyArray<string> =>
  typeof value !== "object" || value === null
    ? []
    : Array.isArray(value)
      ? value.flatMap(referencesIn)
      : Object.entries(value).flatMap(([name, member]) =>
          name === "$ref" && typeof member === "string"
            ? [member.split("/").at(-1) ?? ""]
            : referencesIn(member)
        )

/** Schema of a request's body as JSON; null: it takes none. */
const bodyOf = ({ components }: Document, { requestBody }: Operation): Json | null => {
  if (requestBody === undefined) return null
  const body =
    "$ref" in requestBody
      ? components.requestBodies?.[requestBody.$ref.split("/").at(-1) ?? ""]
      : requestBody
  if (body === undefined) throw new Error("openapi.json names a body that it does not have")
  return body.content["application/json"]?.schema ?? null
}

export const schemasOf = (document: Document): RequestSchemas => {
  const requests = Object.fromEntries(
    operationsOf(document)
      .filter(({ method, operation }) => method !== "get" && operation["x-roles"] !== undefined)
      .map(({ operation }) => [
        operation.operationId,
        {
          description: operation.description,
          path: Object.fromEntries(
            parametersOf(document, operation)
              .filter((parameter) => parameter.in === "path")
              .map(({ name, schema }) => [name, schema])
          ),
          body: bodyOf(document, operation)
        }
      ])
  )
  const components = new Map<string, Json>()
  const waiting = [...referencesIn(requests)]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const schema = document.components.schemas[name]
    if (schema === undefined || components.has(name)) continue
    components.set(name, schema)
    waiting.push(...referencesIn(schema))
  }
  return {
    requests,
    components: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
}
