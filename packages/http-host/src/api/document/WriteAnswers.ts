/** Answers of the kinds of write: the answer of any write, with this kind's request and result. */
import type { Route } from "../Route.ts"
import { type JsonObject, objectOf } from "./Json.ts"
import * as Requests from "./Requests.ts"

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
 * Replaces the answer of each kind by the answer of any write and the three members that are its own:
 * `kind`, which is constant, `request` and `result`. `requests` are the names of the schemas that show
 * what was sent, whose members may lack.
 */
export const make = (
  schemas: JsonObject,
  writes: ReadonlyArray<WriteInput>
): { readonly schemas: JsonObject; readonly requests: ReadonlySet<string> } => {
  const sent = Requests.reader(schemas)
  const changed: Record<string, JsonObject> = {}
  const requests: Record<string, JsonObject> = {}
  for (const { answer, input, route } of writes) {
    const request = answer.replace(/Answer$/, "Request")
    requests[request] = sent.show(input, secretsOf(route))
    const { description, properties } = objectOf(schemas[answer])
    const own = {
      kind: { type: "string", const: route.name },
      request: { $ref: `#/components/schemas/${request}` },
      result: objectOf(properties).result ?? {}
    }
    changed[answer] = {
      ...(description === undefined ? {} : { description }),
      allOf: [{ $ref: `#/components/schemas/${common}` }, { type: "object", properties: own }]
    }
  }
  const shown = { ...requests, ...sent.copies() }
  for (const name of Object.keys(shown)) {
    if (schemas[name] !== undefined) throw new Error(`two schemas are called ${name}`)
  }
  return { schemas: { ...schemas, ...changed, ...shown }, requests: new Set(Object.keys(shown)) }
}

const secretsOf = ({ answers }: Route): ReadonlyArray<string> =>
  answers.with === "write" ? (answers.operation.secrets ?? []) : []
