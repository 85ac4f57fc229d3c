/**
 * The digits of every decimal: the API's document states them, and each refusal for them names them.
 */
import { Catalogue, Vocabulary } from "@bursar/engine-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { routes } from "#host/api/Api.ts"
import * as Document from "#host/api/Document.ts"
import { bearer, open, type Problem, send, type Venue } from "./venue.ts"

type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
interface JsonObject {
  readonly [name: string]: Json
}
const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)
const membersOf = (json: Json | undefined): ReadonlyArray<readonly [string, Json]> =>
  isObject(json) ? Object.entries(json) : []

const document: JsonObject = JSON.parse(Document.text(routes))
const at = (json: Json | undefined, ...path: ReadonlyArray<string>): Json | undefined =>
  path.reduce<Json | undefined>((found, name) => (isObject(found) ? found[name] : undefined), json)
const deref = (json: Json | undefined): Json | undefined =>
  isObject(json) && typeof json["$ref"] === "string"
    ? deref(at(document, ...json["$ref"].slice(2).split("/")))
    : json

const isDecimal = (shape: JsonObject): boolean => shape["format"] === "decimal"

/** Every decimal of the document, with the names that lead to it. */
function* decimals(
  json: Json,
  path: ReadonlyArray<string>
): Generator<readonly [string, JsonObject]> {
  if (Array.isArray(json)) {
    for (const [index, item] of json.entries()) yield* decimals(item, [...path, String(index)])
  }
  if (!isObject(json)) return
  if (isDecimal(json)) yield [path.join("/"), json]
  for (const [name, member] of Object.entries(json)) yield* decimals(member, [...path, name])
}

/** A member name that a map of the request takes. */
const named = "register-line"

/** The decimals that a body of this shape takes: the members that lead to each, and its shape. */
const taken = (
  given: Json | undefined
): ReadonlyArray<readonly [ReadonlyArray<string>, JsonObject]> => {
  const shape = deref(given)
  if (!isObject(shape)) return []
  if (isDecimal(shape)) return [[[], shape]]
  const under = (name: string, member: Json | undefined) =>
    taken(member).map(([path, decimal]) => [[name, ...path], decimal] as const)
  const choices = [shape["anyOf"], shape["allOf"], shape["oneOf"]].flatMap((some) =>
    Array.isArray(some) ? some : []
  )
  return [
    ...membersOf(shape["properties"]).flatMap(([name, member]) => under(name, member)),
    ...under("0", shape["items"]),
    ...under(named, shape["additionalProperties"]),
    ...choices.flatMap(taken)
  ]
}

/** Properties of a shape, together with those of the parts that it is composed of. */
const propertiesOf = (shape: Json | undefined): JsonObject | undefined => {
  const parts = [at(shape, "allOf") ?? []].flat().map((part) => propertiesOf(deref(part)))
  const all = [at(shape, "properties"), ...parts].filter(isObject)
  return all.length === 0 ? undefined : Object.assign({}, ...all)
}

/**
 * The JSON text of a body that says this number at the end of these members. The decimals, integers and ids
 * beside it are sound ones: where a member may be null, one that lacks is all that is told of it.
 */
const bodyWith = (
  given: Json | undefined,
  [name, ...rest]: ReadonlyArray<string>,
  number: string
): string => {
  if (name === undefined) return number
  const shape = deref(given)
  const inner = (member: Json | undefined) => bodyWith(member, rest, number)
  if (name === "0") return `[${inner(at(shape, "items"))}]`
  const properties = propertiesOf(shape)
  const choices = at(shape, "anyOf")
  if (properties === undefined && Array.isArray(choices)) {
    return bodyWith(
      choices.find((one) => at(deref(one), "type") !== "null"),
      [name, ...rest],
      number
    )
  }
  const beside = membersOf(properties).flatMap(([other, member]) => {
    const schema = deref(member)
    if (other === name || !isObject(schema)) return []
    if (isDecimal(schema)) return [`"${other}":0.5`]
    if (schema["type"] === "integer") return [`"${other}":1`]
    return schema["type"] === "string" && schema["enum"] === undefined ? [`"${other}":"id-1"`] : []
  })
  const own = at(properties, name) ?? at(shape, "additionalProperties")
  return `{${[`"${name}":${inner(own)}`, ...beside].join(",")}}`
}

interface Place {
  readonly method: string
  readonly path: string
  readonly pointer: string
  readonly description: Json | undefined
  /** The call that says this number there. */
  readonly saying: (number: string) => { readonly path: string; readonly body?: string }
}

const pathOf = (template: string): string => template.replaceAll(/\{[A-Za-z]+\}/g, "id-1")

/** Query parameters that hold a decimal among other things, each with a value around it. */
const around: Readonly<Record<string, (number: string) => string>> = {
  cash: (number) => `camt-7:1:${number}`,
  refunds: (number) => `camt-7:1:${number}`,
  moves: (number) => `holder-1:holder-2:${number}`
}

const places: ReadonlyArray<Place> = membersOf(document["paths"]).flatMap(([template, methods]) =>
  membersOf(methods).flatMap(([method, operation]): ReadonlyArray<Place> => {
    const path = pathOf(template)
    const shape = at(operation, "requestBody", "content", "application/json", "schema")
    const parameters = at(operation, "parameters")
    return [
      ...taken(shape).map(([members, { description }]) => ({
        method: method.toUpperCase(),
        path: template,
        pointer: `/body/${members.join("/")}`,
        description,
        saying: (number: string) => ({ path, body: bodyWith(shape, members, number) })
      })),
      ...(Array.isArray(parameters) ? parameters : []).flatMap((given): ReadonlyArray<Place> => {
        const parameter = deref(given)
        const name = at(parameter, "name")
        if (typeof name !== "string" || at(parameter, "in") !== "query") return []
        const schema = deref(at(parameter, "schema"))
        const plain = isObject(schema) && isDecimal(schema)
        const wrap = plain ? (number: string) => number : around[name]
        if (wrap === undefined) return []
        return [
          {
            method: method.toUpperCase(),
            path: template,
            pointer: `/query/${name}`,
            description: at(parameter, "description"),
            saying: (number: string) => ({
              path: `${path}?${new URLSearchParams({ [name]: wrap(number) })}`
            })
          }
        ]
      })
    ]
  })
)

const before = /(?<most>[0-9]+) digits? before the point/u
const after = /(?<most>[0-9]+) (?:digits? )?after (?:it|the point)/u
const mostOf = (limit: RegExp, text: Json | undefined): string | undefined =>
  typeof text === "string" ? limit.exec(text)?.groups?.["most"] : undefined

it("every decimal of the document says how many digits it has before the point and after it", () => {
  const all = [...decimals(document, [])].filter(([path]) => !path.includes("/parameters/"))
  expect(all.length).toBeGreaterThan(20)
  const silent = all.filter(
    ([, { description }]) =>
      mostOf(before, description) === undefined || mostOf(after, description) === undefined
  )
  expect(silent.map(([path]) => path)).toEqual([])
  expect(all.filter(([, shape]) => "multipleOf" in shape)).toEqual([])
})

it("every decimal that a call takes says it too, in its body and in its query", () => {
  expect(places.length).toBeGreaterThan(40)
  const silent = places.filter(
    ({ description }) =>
      mostOf(before, description) === undefined || mostOf(after, description) === undefined
  )
  expect(silent.map(({ path, pointer }) => [path, pointer])).toEqual([])
})

// Red when the fault of any one of them says only that it is none (Decimal.ts, PrecheckRules.ts).
describe("a decimal with too many digits is refused, and told how many there may be", () => {
  let venue: Venue
  let as = ""
  beforeAll(async () => {
    venue = await open({ tables: Catalogue })
    as = await bearer(Vocabulary.Role.members)
  })
  afterAll(() => venue.close())

  const fault = async ({ method, pointer, saying }: Place, number: string) => {
    const response = await send(venue, { method, as, ...saying(number) })
    const { errors } = JSON.parse(await response.text()) as Problem
    // A list in a query is pointed at item by item.
    const own = errors?.find(
      (one) => one.pointer.replace(/\/0$/u, "") === pointer.replace(/\/0$/u, "")
    )
    return [response.status, own?.detail ?? errors] as const
  }

  it.each([
    ["eleven after the point", `1.${"1".repeat(11)}`, after],
    ["thirty-eight after the point", `1.${"1".repeat(38)}`, after],
    ["twenty-nine before the point", "9".repeat(29), before],
    ["forty before the point", "9".repeat(40), before]
  ])("%s", async (_, number, limit) => {
    for (const place of places) {
      const [status, detail] = await fault(place, number)
      const shownDetail = typeof detail === "string" ? (mostOf(limit, detail) ?? detail) : detail
      const most = limit === before ? mostOf(before, place.description) : "10"
      expect([place.path, place.pointer, status, shownDetail]).toEqual([
        place.path,
        place.pointer,
        400,
        most
      ])
    }
  })

  it.each([
    ["longer than any number", `1${"0".repeat(40)}`],
    ["a text", '"1"'],
    ["an exponent", "1e3"],
    ["a negative zero", "-0"],
    ["below zero", "-1"]
  ])("%s: what is due is told", async (_, number) => {
    const due = /plain notation|characters|a JSON number|zero|exponent|rate from|digits before/u
    for (const place of places.filter(({ pointer }) => pointer.startsWith("/body"))) {
      const [status, detail] = await fault(place, number)
      const shownDetail = typeof detail === "string" ? detail : detail?.[0]?.detail
      expect([place.path, place.pointer, status]).toEqual([place.path, place.pointer, 400])
      expect(shownDetail).toMatch(due)
    }
  })
})
