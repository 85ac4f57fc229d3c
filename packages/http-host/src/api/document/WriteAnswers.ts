/** Writes in the document: the body of each kind, and its answer with that body as it was sent. */
import type { Route } from "../Route.ts"
import { isArray, type Json, type JsonObject, objectOf, walk } from "./Json.ts"
import * as Requests from "./Requests.ts"
import { open, whole } from "./Schemas.ts"

/** A route that writes, and the schema of its whole input: the ids of its path and its body. */
export interface WriteInput {
  readonly route: Route
  /** Name of the component of the route's answer. */
  readonly answer: string
  readonly input: JsonObject
}

/** Component that the answers of all kinds are made of. */
const common = "WriteAnswer"

/**
 * Declares the body of each kind, and replaces its answer by the answer of any write and the three
 * members that are its own: `kind`, which is constant, `request` and `result`. `sent` are the names of
 * the schemas of what is sent, whose members may lack.
 */
export const make = (
  schemas: JsonObject,
  writes: ReadonlyArray<WriteInput>
): {
  readonly schemas: JsonObject
  readonly sent: ReadonlySet<string>
  /** Schema of the body of a call, by the name of its route. */
  readonly bodies: ReadonlyMap<string, JsonObject>
} => {
  const reader = Requests.reader(schemas)
  const answers: Record<string, JsonObject> = {}
  const sent: Record<string, JsonObject> = {}
  const bodies = new Map<string, JsonObject>()
  const ids = new Map<string, JsonObject>()
  for (const { answer, input, route } of writes) {
    const parts = withIds(partsOf(reader.show(input), elsewhereOf(route)), route, ids)
    const name = answer.replace(/Answer$/, "Body")
    const secrets = secretsOf(route)
    const isBodyShown = Object.keys(objectOf(parts.body.properties)).length > 0
    if (isBodyShown) {
      sent[name] = parts.body
      bodies.set(route.name, Requests.asCall(name))
    }
    const own = {
      kind: { type: "string", const: route.name },
      request: requestOf(name, { ...parts, isBodyShown, secrets }),
      result: answered(objectOf(schemas[answer]).properties)
    }
    answers[answer] = {
      allOf: [
        { $ref: `#/components/schemas/${common}` },
        { type: "object", properties: own, required: Object.keys(own) }
      ]
    }
  }
  const ownSchemas = { ...sent, ...Object.fromEntries(ids), ...reader.copies() }
  for (const name of Object.keys(ownSchemas)) {
    if (schemas[name] !== undefined) throw new Error(`two schemas are called ${name}`)
  }
  return {
    schemas: { ...schemas, ...answers, ...ownSchemas },
    sent: new Set([...Object.keys(ownSchemas), ...Object.keys(answers)]),
    bodies
  }
}

/** The result of a write, as an answer shows it. */
const answered = (properties: Json | undefined): Json =>
  walk(objectOf(properties).result ?? {}, (object) => whole(open(object)))

interface Parts {
  readonly body: JsonObject
  /** The ids of the path and what If-Match names; undefined where there are none. */
  readonly elsewhere: JsonObject | undefined
}

/** Ids that the paths of several writes have alike are declared once, as `HolderIdInPath`. */
const withIds = (parts: Parts, { path }: Route, ids: Map<string, JsonObject>): Parts => {
  const { elsewhere } = parts
  const names = Object.keys(objectOf(elsewhere?.properties))
  if (elsewhere === undefined || names.some((name) => !path.names.includes(name))) return parts
  const name = `${names.map((one) => `${one.charAt(0).toUpperCase()}${one.slice(1)}`).join("")}InPath`
  const before = ids.get(name)
  if (before !== undefined && JSON.stringify(before) !== JSON.stringify(elsewhere)) return parts
  ids.set(name, elsewhere)
  return { ...parts, elsewhere: { $ref: `#/components/schemas/${name}` } }
}

const requestOf = (
  name: string,
  {
    body,
    elsewhere,
    isBodyShown,
    secrets
  }: Parts & { readonly isBodyShown: boolean; readonly secrets: ReadonlyArray<string> }
): JsonObject => {
  const masked = Object.fromEntries(secrets.map((secret) => [secret, Requests.mask]))
  const shown =
    secrets.length > 0
      ? { ...body, properties: { ...objectOf(body.properties), ...masked } }
      : { $ref: `#/components/schemas/${name}` }
  if (elsewhere === undefined) return shown
  return isBodyShown ? { allOf: [shown, elsewhere] } : elsewhere
}

/** Takes an input apart: the members of the body, and those that the call says elsewhere. */
const partsOf = (input: JsonObject, names: ReadonlySet<string>): Parts => {
  const { properties, required, ...rest } = input
  const needed = isArray(required) ? required.map(String) : []
  const part = (isIn: (name: string) => boolean): JsonObject => {
    const own = needed.filter(isIn)
    return {
      ...rest,
      type: "object",
      properties: Object.fromEntries(
        Object.entries(objectOf(properties)).filter(([name]) => isIn(name))
      ),
      ...(own.length === 0 ? {} : { required: own })
    }
  }
  const isElsewhere = (name: string): boolean => names.has(name)
  return {
    body: part((name) => !isElsewhere(name)),
    elsewhere: names.size === 0 ? undefined : part(isElsewhere)
  }
}

const elsewhereOf = ({ answers, path }: Route): ReadonlySet<string> => {
  const ifMatch = answers.with === "write" ? answers.operation.ifMatch : undefined
  return new Set([...path.names, ...(ifMatch === undefined ? [] : [ifMatch])])
}

const secretsOf = ({ answers }: Route): ReadonlyArray<string> =>
  answers.with === "write" ? Object.keys(answers.operation.secrets ?? {}) : []
