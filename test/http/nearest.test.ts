/** Details of refusals that help: nearest words and routes, missing members by name, a link to the page of the slug. */
import { Catalogue, Refusal } from "@bursar/engine-core"
import { Nearest, Shape } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { register } from "#core/feeds/webhook/WebhookOperations.ts"
import { bearer, json, open, type Problem, raw, send, type Sent, type Venue } from "./venue.ts"

let venue: Venue
let operator = ""
beforeAll(async () => {
  venue = await open({ basePath: "/engine" })
  operator = await bearer(["operator"])
})
afterAll(() => venue.close())

const problem = async (sent: Sent): Promise<Problem> =>
  json<Problem>(await send(venue, { as: operator, ...sent }))

describe("a word that a set lacks", () => {
  it("is refused with the nearest words of the set", async () => {
    const { detail, errors } = await problem({ path: "/v1/operations?state=quued" })
    expect(detail).toMatch(/^no word of OperationState; the nearest: queued, \w+, \w+$/u)
    expect(errors).toEqual([{ pointer: "/query/state", detail }])
  })

  it("is no star, which is refused with what to send in its place", () => {
    const decode = (events: ReadonlyArray<string>) => {
      const read = Shape.decoder(register.input).decode(
        { url: "https://receiver.example/", events, secret: null },
        () => "/body"
      )
      return Result.isFailure(read) ? read.failure.details.errors : undefined
    }
    expect(decode(["*"])).toEqual([
      {
        pointer: "/body/events/0",
        detail: expect.stringMatching(/; all of them are meant where none is listed$/u)
      }
    ])
    expect(decode(["hold.opened", "hold.relesed"])?.at(-1)).toEqual({
      pointer: "/body/events/1",
      detail: expect.stringMatching(/; the nearest: hold\.released, /u)
    })
  })

  it("is compared by its edit distance", () => {
    const word = fc.string({ maxLength: 12 })
    fc.assert(
      fc.property(word, word, word, (a, b, c) => {
        const [ab, ba] = [Nearest.distance(a, b), Nearest.distance(b, a)]
        expect(ab).toBe(ba)
        expect(ab === 0).toBe(a.toLowerCase() === b.toLowerCase())
        expect(Nearest.distance(a, c)).toBeLessThanOrEqual(ab + Nearest.distance(b, c))
        expect(ab).toBeLessThanOrEqual(Math.max(a.toLowerCase().length, b.toLowerCase().length))
      })
    )
    expect(Nearest.distance("kitten", "sitting")).toBe(3)
    // Texts of callers are compared to a length.
    expect(Nearest.distance("a".repeat(100_000), "b".repeat(100_000))).toBe(64)
  })
})

/** Faults that a write of this kind finds in a body. */
const faultsOf = (kind: string, body: object) => {
  const operation = Catalogue.operations.find((one) => one.kind === kind)
  if (operation === undefined) throw new Error(`there is no ${kind}`)
  const read = Shape.decoder(operation.input).decode(body, () => "/body")
  return Result.isFailure(read) ? read.failure.details : undefined
}

describe("a name that is none", () => {
  it("is refused with the member that is nearest, where one is near", () => {
    expect(faultsOf("policy.set", { instrumentId: "i", oracl: null, zebra: 1 })).toMatchObject({
      detail: "/body/oracl: there is no such member; the nearest is oracle",
      errors: [
        { pointer: "/body/oracl", detail: "there is no such member; the nearest is oracle" },
        { pointer: "/body/zebra", detail: "there is no such member" }
      ]
    })
    const cutOff = { time: "16:00", days: ["monday"], zone: "UTC", zones: "UTC" }
    expect(faultsOf("policy.set", { instrumentId: "i", cutOff })?.errors).toEqual([
      { pointer: "/body/cutOff/zones", detail: "there is no such member; the nearest is zone" }
    ])
  })

  it("is refused with the parameter that is nearest, its route's own or one of all lists", async () => {
    const refused = async (path: string) => {
      const { detail, errors } = await problem({ path })
      return [detail, ...(errors ?? []).map((fault) => fault.detail)]
    }
    const near = (name: string) => `there is no such member; the nearest is ${name}`
    expect(await refused("/v1/holders?limt=1")).toEqual([
      `/query/limt: ${near("limit")}`,
      near("limit")
    ])
    expect(await refused("/v1/operations?stat=queued")).toEqual([
      `/query/stat: ${near("state")}`,
      near("state")
    ])
  })

  it("is refused, as the name of a check that a policy gives a figure, with the nearest checks", () => {
    const body = { instrumentId: "i", grace: { "register-suply": "PT1H", "lots-holdings": "PT1H" } }
    expect(faultsOf("policy.set", body)?.errors).toEqual([
      {
        pointer: "/body/grace/register-suply",
        detail: expect.stringMatching(
          /^no word of ReconciliationCheck; the nearest: register-supply, /u
        )
      }
    ])
  })

  it("is told from a word of a set without a name by the words that are taken", () => {
    const body = { instrumentId: "i", action: "distribution.exec", until: "2027-01-01T00:00:00Z" }
    expect(faultsOf("standing-approval.grant", body)?.errors).toContainEqual({
      pointer: "/body/action",
      detail: "it takes other words; the nearest: distribution.execute"
    })
  })
})

describe("a path without a route", () => {
  it.each([
    ["GET", "/v1/holder", "GET /v1/holders"],
    ["GET", "/holders", "GET /v1/holders"],
    ["GET", "/v1/holders/h-1/", undefined],
    ["GET", "/v1/operation/op_1", "GET /v1/operations/{operationId}"],
    ["POST", "/v1/instruments/i-1:puase", "POST /v1/instruments/{instrumentId}:pause"],
    ["POST", "/v1/holds/h:relase", "POST /v1/holds/{holdId}:release"],
    ["GET", "/v1/zebras", undefined],
    ["GET", "/", undefined],
    ["GET", `/v1/${"x".repeat(4_000)}`, undefined],
    ["GET", "/a/b/c/d/e/f/g/h/i/j", undefined]
  ])("%s %s is answered with the nearest: %s", async (method, path, nearest) => {
    const { detail, status } = await problem({ method, path })
    expect(status).toBe(404)
    expect(detail).toBe(
      nearest === undefined
        ? "There is no such route."
        : `There is no such route; the nearest is ${nearest}.`
    )
  })
})

describe("a member that is missing", () => {
  it("is named in the detail", async () => {
    const body = '{"holderId":"h-1","amount":1,"owner":null}'
    const { detail, errors } = await problem({ method: "POST", path: "/v1/holders", body })
    expect(detail).toBe("/body/text is missing")
    expect(errors).toEqual([{ pointer: "/body/text", detail: "it is missing" }])
  })
})

describe("the page of problems", () => {
  it("explains every slug at the place to which its problem links", async () => {
    const page = await (await send(venue, { path: "/docs/problems" })).text()
    for (const [slug, { title }] of Object.entries(Refusal.refusals)) {
      expect(page).toContain(`<section id="${slug}">`)
      expect(page).toContain(title.replaceAll("&", "&amp;").replaceAll("<", "&lt;"))
    }
    const { headers } = await send(venue, { path: "/v1/holders/absent", as: operator })
    expect(headers.get("link")).toBe('</engine/docs/problems#not-found>; rel="help"')
    const unsigned = await send(venue, { path: "/v1/holders" })
    expect(unsigned.headers.get("link")).toBe('</engine/docs/problems#unauthenticated>; rel="help"')
    const answer = await raw(venue.port, "nonsense\r\n\r\n")
    expect(answer).toContain('link: </engine/docs/problems#invalid-request>; rel="help"')
    const well = await send(venue, { path: "/v1/holders?limit=1", as: operator })
    expect([well.status, well.headers.get("link")]).toEqual([200, null])
  })
})
