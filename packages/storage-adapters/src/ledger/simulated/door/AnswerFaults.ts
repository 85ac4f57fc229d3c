/** Fault injection: changes answers into forms that other versions of a real node might send. */
import type * as Faults from "../Faults.ts"
import type { Json, JsonObject } from "./Json.ts"

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Members that a node may omit, and that older versions send as null. */
const optionalOf: { readonly [marker: string]: ReadonlyArray<string> } = {
  signatories: ["contractKey", "contractKeyHash", "createdEventBlob"],
  choice: ["interfaceId", "exerciseResult"],
  updateId: ["commandId", "workflowId", "traceContext", "externalTransactionHash"]
}

/** Sends missing and empty members as null. */
const withNulls = (object: JsonObject): JsonObject => {
  const marker = Object.keys(optionalOf).find((name) => Object.hasOwn(object, name))
  if (marker === undefined) return object
  const nulls = (optionalOf[marker] ?? []).filter((name) => (object[name] ?? "") === "")
  return { ...object, ...Object.fromEntries(nulls.map((name) => [name, null])) }
}

const withoutDelta = ({ acsDelta: _, ...rest }: JsonObject): JsonObject => rest

/** Payload members, whose fields stay unchanged. */
const payloads = new Set(["createArgument", "choiceArgument", "exerciseResult", "viewValue"])

const reshape = (wire: Faults.Wire, value: Json): Json => {
  if (Array.isArray(value)) return value.map((element) => reshape(wire, element))
  if (!isObject(value)) return value
  const inner: JsonObject = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      payloads.has(name) ? member : reshape(wire, member)
    ])
  )
  const event = Object.hasOwn(value, "nodeId")
  const nulled = wire.explicitNulls === true ? withNulls(inner) : inner
  const bare = wire.missingAcsDelta === true && event ? withoutDelta(nulled) : nulled
  return wire.extraFields === true && (event || Object.hasOwn(value, "updateId"))
    ? { ...bare, unheardOf: { in: ["this version"] } }
    : bare
}

export const answer = (wire: Faults.Wire | undefined, value: Json): Json =>
  wire?.explicitNulls === true || wire?.missingAcsDelta === true || wire?.extraFields === true
    ? reshape(wire, value)
    : value

/** Adds an element of an unknown kind before each element. */
export const elements = (wire: Faults.Wire | undefined, value: Json): ReadonlyArray<Json> => {
  const shaped = answer(wire, value)
  return wire?.unknownArm === true && isObject(shaped) && Object.hasOwn(shaped, "update")
    ? [{ update: { UnheardOf: { value: {} } } }, shaped]
    : [shaped]
}
