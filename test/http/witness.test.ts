/** Witness: the watch on all answers of these tests notices each kind of breach. */
import { Refusal } from "@bursar/engine-core"
import { PlainJson, Problem } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { table } from "#host/api/Route.ts"
import { tables } from "./tables.ts"
import { type Exchange, installed, judgeOf } from "./witness.ts"

const judge = judgeOf(table(tables))

const headers = {
  "content-type": "application/json",
  "x-request-id": "req_1",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
}

const note = { holderId: "h-1", text: "one", amount: 1.5, owner: null }
const envelope = { offset: 0, ledgerTime: null, now: "2026-01-01T00:00:00Z", value: note }

const got = (change: Partial<Exchange> = {}): Exchange => ({
  method: "GET",
  target: "/v1/holders/h-1",
  status: 200,
  headers,
  body: JSON.stringify(envelope),
  ...change
})

const refusing = (slug: Refusal.BuiltInSlug): Partial<Exchange> => ({
  status: Refusal.refusals[slug].status,
  headers: { ...headers, "content-type": "application/problem+json" },
  body: PlainJson.stringify(
    Schema.encodeSync(Problem.Problem)(Problem.from(Refusal.refused(slug), "req_1"))
  )
})

describe("the watch", () => {
  it("finds nothing in an answer and a refusal that are in order", () => {
    expect(judge(got())).toEqual([])
    expect(judge(got(refusing("not-found")))).toEqual([])
    expect(judge(got({ ...refusing("not-found"), target: "/v1/nowhere" }))).toEqual([])
  })

  const breaches: ReadonlyArray<readonly [string, Partial<Exchange>, RegExp]> = [
    ["a status that is not listed", { status: 418 }, /418, which is not listed/],
    [
      "a header that no answer lacks",
      { headers: { ...headers, "cache-control": undefined } },
      /has no cache-control/
    ],
    ["a header that is not listed", { headers: { ...headers, location: "/x" } }, /has location/],
    [
      "another form",
      { headers: { ...headers, "content-type": "text/html" } },
      /answers text\/html/
    ],
    [
      "a refusal the route does not list",
      refusing("webhook-configured"),
      /refuses with webhook-configured/
    ],
    [
      "a refusal of a listed status that the route does not list",
      refusing("already-exists"),
      /refuses with already-exists/
    ]
  ]
  const [etag, tagged] = [
    'W/"a"',
    { ...headers, etag: 'W/"a"', "cache-control": "private, no-cache", vary: "Authorization" }
  ]
  const { "content-type": _, ...bare } = tagged
  const current = { status: 304, headers: bare, ifNoneMatch: `"x", ${etag}`, body: "" }
  it("finds nothing in an answer with an ETag, and in one that its caller has", () => {
    expect([got({ headers: tagged }), got(current)].flatMap(judge)).toEqual([])
  })
  const tagBreaches: ReadonlyArray<readonly [string, Partial<Exchange>, RegExp]> = [
    ["304 to who has another copy", { ...current, ifNoneMatch: '"x"' }, /says that "x" is W\/"a"/],
    ["304 to who asked for no comparison", { ...current, ifNoneMatch: undefined }, /says that/],
    ["304 with a body", { ...current, body: "{}" }, /has a body/],
    [
      "an answer that may be stored without an ETag",
      { headers: { ...tagged, etag: undefined } },
      /may be stored/
    ],
    ["an ETag that may not be stored", { headers: { ...headers, etag } }, /may not be stored/],
    [
      "an ETag of a refusal",
      { ...refusing("not-found"), headers: { ...refusing("not-found").headers, etag } },
      /has an ETag/
    ],
    [
      "one ETag of two bodies",
      { headers: tagged, body: JSON.stringify({ ...envelope, offset: 7 }) },
      /ETag of another body/
    ]
  ]
  it.each(tagBreaches)("never would miss %s", (_, change, said) => {
    judge(got({ headers: tagged }))
    expect(judge(got(change)).join()).toMatch(said)
  })
  it.each(breaches)("never would miss %s", (_, change, said) => {
    expect(judge(got(change)).join()).toMatch(said)
  })

  const shapes: ReadonlyArray<readonly [string, object, RegExp]> = [
    ["a member that lacks", { ...envelope, now: undefined }, /required property 'now'/],
    [
      "a decimal as a text",
      { ...envelope, value: { ...note, amount: "1.5" } },
      /amount must be number/
    ],
    ["an instant that is none", { ...envelope, now: "yesterday" }, /now must match format/]
  ]
  it.skipIf(!installed).each(shapes)("by the outside judge: would miss %s", (_, body, said) => {
    expect(judge(got({ body: JSON.stringify(body) })).join()).toMatch(said)
  })
})
