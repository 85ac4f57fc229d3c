/** Attack 20: path tricks and headers that override the method: no route, and nothing ever runs. */
import { Result } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { RecordId } from "@bursar/engine-core/kernel"
import { table } from "#host/api/Route.ts"
import * as RawPath from "#host/middleware/RawPath.ts"
import { actionOf, decide, write } from "../people.ts"
import { tables } from "../tables.ts"
import { bearer, json, open, raw, send, slugOf, type Venue } from "../venue.ts"

let venue: Venue
let operator: string
/** An action that the caller may approve, so that every path that reaches it would run it. */
let action: string
beforeAll(async () => {
  venue = await open()
  operator = await bearer(["operator", "approver"])
  const maker = await bearer(["operator"], { sub: "maker" })
  action = actionOf(await write(venue, { path: "/v1/instruments/i/policy:set", as: maker }))
})
afterAll(() => venue.close())

const written = async () => {
  const listed = await send(venue, { path: "/v1/operations", as: operator })
  return (await json<{ value: ReadonlyArray<unknown> }>(listed)).value.length
}

// In RawPath.ts, each in a copy and seen red: the path decoded, its dots resolved, slashes doubled or
// at the end dropped, another case, `#` and `;` cut off, an absolute address, one letter too many, a
// verb twice, and an id that is none taken up to where it stops being one. In Arrival.ts: a header
// that names the method. The tricks then approve, or get 500 or 202. Methods in lower case are
// refused by Node's parser before RawPath.ts is asked.
describe("path tricks", () => {
  const tricks = [
    "/v1/approvals/KEY%3Aapprove",
    "/v1/approvals/KEY%3aapprove",
    "/v1/approvals/KEY:approve:approve",
    "/v1/approvals/KEY:Approve",
    "/v1/approvals/:approve",
    "/v1/approvals/KEY:approve/",
    "/v1//approvals/KEY:approve",
    "//v1/approvals/KEY:approve",
    "/v1/./approvals/KEY:approve",
    "/v1/x/../approvals/KEY:approve",
    "/v1/approvals/%2e%2e:approve",
    "/v1/approvals/KEY%2Fb:approve",
    "/v1/approvals/KEY/b:approve",
    "/v1/approvals/KEY%00:approve",
    "/v1/approvals/KEY%0d%0aX-Evil:approve",
    "/v1/approvals/%ff:approve",
    "/v1/approvals/KEY:approve%20",
    "/v1/approvals/KEY:approve#x",
    "/v1/approvals/KEY:approve;x=1",
    "/v1/holdersX",
    "/v1/holders:onboardX",
    "/v1/holders::onboard",
    "/v1/Holders:onboard",
    "/V1/holders:onboard",
    "/v1/holders:onboard:onboard",
    "/v1/instruments/i:pause/policy:set",
    "/v1/instruments:pause",
    "http://x/v1/holders:onboard",
    "*"
  ]
  it.each(tricks)("POST %s runs nothing", async (trick) => {
    const before = await written()
    const path = trick.replace("KEY", action)
    // A path outside approvals gets a body that the write behind it would accept.
    const body = trick.includes("approvals") ? "" : '{"holderId":"tr-1"}'
    const type = body === "" ? "" : "Content-Type: application/json\r\n"
    const answer = await raw(
      venue.port,
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${operator}\r\n${type}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
    )
    expect(answer).toMatch(/^HTTP\/1.1 (400|404|405)/)
    expect(answer.split("\r\n\r\n")[0]).not.toContain("Evil")
    expect(await written()).toBe(before)
  })

  it.each(["post", "Post", "POSt"])("%s is no method, and runs nothing", async (method) => {
    const before = await written()
    const answer = await raw(
      venue.port,
      `${method} /v1/approvals/${action}:approve HTTP/1.1\r\nHost: x\r\nAuthorization: ${operator}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`
    )
    expect(answer).toMatch(/^HTTP\/1.1 (400|404|405)/)
    expect(await written()).toBe(before)
  })

  it("headers that override a method override nothing", async () => {
    for (const name of ["x-http-method-override", "x-method-override", "x-http-method"]) {
      const response = await send(venue, {
        path: "/v1/holders:onboard",
        as: operator,
        headers: { [name]: "POST" }
      })
      expect(response.status).toBe(405)
    }
  })

  it("the plain paths do run, so that a trick that got there would have been seen", async () => {
    const before = await written()
    const approved = await decide(venue, { verb: "approve", action, as: operator })
    expect([approved.status, approved.written?.signedBy?.length]).toEqual([202, 1])
    const path = "/v1/holders:onboard"
    const made = await write(venue, { path, as: operator, body: '{"holderId":"tr-1"}' })
    expect([made.status, await written()]).toEqual([202, before + 2])
  })

  it("a percent-encoded id is the id it encodes", async () => {
    const response = await send(venue, { path: "/v1/holders/%61bsent", as: operator })
    expect([response.status, await slugOf(response)]).toEqual([404, "not-found"])
  })
})

describe("the judge of raw paths", () => {
  const routes = table(tables)
  const find = RawPath.compile(routes, ({ path }) => path)
  const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._~-]{0,40}$/)

  it("finds every route of the table by its own template, with the ids it was given", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...routes),
        fc.array(id, { minLength: 4, maxLength: 4 }),
        (route, ids) => {
          let at = 0
          const path = route.path.template.replaceAll(/\{[A-Za-z]+\}/g, () => ids[at++] ?? "x")
          const found = find(route.path.method, path)
          expect(found).toMatchObject({ match: "route", route: { name: route.name } })
          if (found.match === "route") {
            expect(Object.values(found.params)).toEqual(ids.slice(0, route.path.names.length))
          }
        }
      )
    )
  })

  it("finds nothing that does not spell a template, whatever the bytes are", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        const found = find("POST", `/v1/${text}`)
        if (found.match !== "route") return
        for (const value of Object.values(found.params)) {
          expect(Result.isSuccess(RecordId.parse(value))).toBe(true)
        }
        expect(text).not.toMatch(/%3a|%2f|\/\/|\/$/i)
      }),
      { numRuns: 2000 }
    )
  })
})
