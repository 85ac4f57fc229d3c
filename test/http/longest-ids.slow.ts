/**
 * Longest ids: every route accepts them, records under them are read and acted on, and one
 * character more is refused.
 */
import { readFileSync } from "node:fs"
import { Catalogue, Vocabulary } from "@bursar/engine-core"
import { RecordId } from "@bursar/engine-core/kernel"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Route, table } from "#host/api/Route.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import { bearer, open, type Problem, send, type Venue } from "./venue.ts"
import * as Wallets from "./wallets.ts"

/** An id of a length, of every character that an id may have. */
const idOf = (length: number): string => "Az09._~-".repeat(length).slice(0, length)
const longest = idOf(RecordId.lengthMax)
const lengths = [101, RecordId.lengthMax]

const routes = table(Catalogue).filter(({ path }) => path.names.length > 0)
interface Parameter {
  readonly in: string
  readonly name: string
  readonly schema: { readonly pattern: string }
}

const pathWith = ({ path }: Route, id: string): string =>
  path.template.replaceAll(/\{[A-Za-z]+\}/g, id)
const encoded = (id: string): string =>
  [...id].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("")

let venue: Venue
const callers = new Map<string, string | undefined>()
beforeAll(async () => {
  venue = await open({ tables: Catalogue })
  callers.set("a stranger", undefined)
  callers.set("an operator", await bearer(["operator"]))
  callers.set("an investor", await bearer(["investor"], { holder: longest }))
  callers.set("all in one", await bearer(Vocabulary.Role.members))
})
afterAll(() => venue.close())

/**
 * Status and problem of an answer to a call that names such an id, without the request's own id.
 */
const answerTo = async (route: Route, id: string, as: string | undefined, method?: string) => {
  const response = await send(venue, {
    method: method ?? route.path.method,
    path: pathWith(route, id),
    ...(as === undefined ? {} : { as }),
    ...(route.bodyMax > 0 ? { body: '{"unknown":1}' } : {})
  })
  const text = await response.text()
  if (text === "") return [response.status]
  const { type, detail, errors } = JSON.parse(text) as Problem
  return [response.status, type, detail?.replaceAll(id, "ID"), errors]
}

// Red when the router's own limit is left to it (Host.ts), at every length from 101 on.
describe("an id of the longest length", () => {
  it("is answered on every route as a short one is, to everybody", async () => {
    for (const route of routes) {
      for (const [who, as] of callers) {
        const short = await answerTo(route, "id-1", as)
        expect([route.name, who, short[0]]).not.toEqual([route.name, who, 500])
        for (const length of lengths) {
          const long = await answerTo(route, idOf(length), as)
          expect([route.name, who, length, long]).toEqual([route.name, who, length, short])
        }
      }
    }
  })

  it("is the same id when every letter of it is percent-encoded, and when only its head is asked for", async () => {
    const as = callers.get("an operator")
    for (const route of routes) {
      const plain = await answerTo(route, longest, as)
      expect([route.name, await answerTo(route, encoded(longest), as)]).toEqual([route.name, plain])
      if (route.path.method !== "GET") continue
      expect([route.name, await answerTo(route, longest, as, "HEAD")]).toEqual([
        route.name,
        plain.slice(0, 1)
      ])
    }
  })

  it("with one letter more is no id: no route has it, whoever asks", async () => {
    for (const route of routes) {
      const { method, template } = route.path
      for (const [who, as] of callers) {
        for (const id of [`${longest}x`, encoded(`${longest}x`)]) {
          const [status, , detail] = await answerTo(route, id, as)
          expect([route.name, who, status, detail]).toEqual([
            route.name,
            who,
            404,
            `There is no such route; the nearest is ${method} ${template}.`
          ])
        }
      }
    }
  })

  it("is the document's too: the limit of every parameter of a path is the engine's", () => {
    const { components, paths } = JSON.parse(
      readFileSync(new URL("../../packages/http-host/openapi.json", import.meta.url), "utf8")
    )
    for (const { name, path } of routes) {
      const { parameters } = paths[path.template][path.method.toLowerCase()]
      const inPath = (parameters as ReadonlyArray<Parameter & { readonly $ref?: string }>)
        .map(({ $ref, ...one }) =>
          $ref === undefined ? one : components.parameters[$ref.split("/").at(-1) ?? ""]
        )
        .filter((one: Parameter) => one.in === "path")
      expect([name, inPath.map((one: Parameter) => one.name)]).toEqual([name, path.names])
      for (const { name: parameter, schema } of inPath as ReadonlyArray<Parameter>) {
        const pattern = new RegExp(schema.pattern, "u")
        const taken = [longest, `${longest}x`].map((id) => pattern.test(id))
        expect([name, parameter, taken]).toEqual([name, parameter, [true, false]])
      }
    }
  })
})

describe("what is recorded under the longest id", () => {
  let whole: Wallets.WholeVenue
  beforeAll(async () => {
    whole = await Wallets.open()
  })
  afterAll(() => whole.close())

  const record = async (path: string, body: unknown, as?: string) => {
    const ended = await whole.write(path, body, as)
    expect([path, ended["state"], ended["problem"]]).toEqual([path, "succeeded", null])
  }
  const found = async (path: string, member: string) => {
    const { status, value } = await whole.read(path, "operator")
    expect([path, status]).toEqual([path, 200])
    expect(value).toMatchObject({ [member]: longest })
  }

  it("is read by it, acted on by it and found by it again", async () => {
    const { party: registrar } = await whole.wallet("registrar")
    const { party } = await whole.wallet("holder")
    await record("/v1/instruments", {
      ...bodyOf(),
      instrumentId: longest,
      registrar,
      oracle: registrar
    })
    await found(`/v1/instruments/${longest}`, "instrumentId")
    await record("/v1/holders", { holderId: longest, party })
    await found(`/v1/holders/${longest}`, "holderId")
    await record(`/v1/instruments/${longest}:pause`, { holdId: longest, reason: "a test" }, "risk")
    await found(`/v1/holds/${longest}`, "holdId")
    await record(`/v1/holds/${longest}:release`, { reason: "it is over" })
    await record(
      `/v1/holders/${longest}:restrict`,
      { mode: "freeze", reason: "pledge", instrumentId: longest },
      "compliance"
    )
    for (const list of ["restrictions", "holds"]) {
      const named = list === "holds" ? "instrumentId" : "holderId"
      const { value } = await whole.read(`/v1/${list}?${named}=${longest}`, "operator")
      expect([list, value]).toEqual([list, [expect.objectContaining({ [named]: longest })]])
    }
  })
})
