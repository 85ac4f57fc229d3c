/** The order of checks: of two faults in one request the earlier step answers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bearer, open, type Sent, send, slugOf, token, type Venue } from "./venue.ts"

let venue: Venue
let operator: string
let wrongRole: string
let expired: string
beforeAll(async () => {
  venue = await open()
  operator = await bearer(["operator"])
  wrongRole = await bearer(["feed"])
  expired = `Bearer ${await token({ roles: ["operator"], exp: 1 })}`
  await send(venue, { ...good(), headers: { "idempotency-key": "used" } })
})
afterAll(() => venue.close())

const body = '{"holderId":"order-1","text":"one","amount":1,"owner":null}'
const good = (): Sent => ({ method: "POST", path: "/v1/holders", as: operator, body })

interface Fault {
  readonly slug: string
  readonly put: (sent: Sent) => Sent
}

const withHeader = (name: string, value: string) => (sent: Sent) => ({
  ...sent,
  headers: { ...sent.headers, [name]: value }
})

/** One fault a step, in the order of contract.md section 23. */
const steps: ReadonlyArray<Fault> = [
  { slug: "headers-too-large", put: withHeader("x-long", "a".repeat(8200)) },
  { slug: "not-found", put: (sent) => ({ ...sent, path: sent.path.replace("holders", "nobody") }) },
  { slug: "method-not-allowed", put: (sent) => ({ ...sent, method: "PUT" }) },
  { slug: "invalid-request", put: withHeader("x-request-id", "has space") },
  { slug: "unauthenticated", put: (sent) => ({ ...sent, as: expired }) },
  {
    slug: "permission-denied",
    put: (sent) => (sent.as === expired ? sent : { ...sent, as: wrongRole })
  },
  { slug: "not-acceptable", put: withHeader("accept", "text/csv") },
  { slug: "unsupported-media-type", put: withHeader("content-type", "text/plain") },
  {
    slug: "body-too-large",
    put: (sent) => ({ ...sent, body: String(sent.body).padEnd(1024 * 1024 + 1, " ") })
  },
  {
    slug: "invalid-request",
    put: (sent) => ({ ...sent, body: String(sent.body).replace('"text":"one"', '"text":1') })
  },
  {
    slug: "idempotency-key-reused",
    put: (sent) => ({
      ...sent,
      headers: { ...sent.headers, "idempotency-key": "used" },
      body: String(sent.body).replace("order-1", "order-2")
    })
  }
]

describe("two faults at once", () => {
  const pairs = steps.flatMap((earlier, i) =>
    steps.slice(i + 1).map((later, j) => [earlier, later, `${i}`, `${i + 1 + j}`] as const)
  )
  it.each(pairs.map(([a, b, i, j]) => [`${i} ${a.slug}`, `${j} ${b.slug}`, a, b] as const))(
    "%s answers before %s",
    async (_, __, earlier, later) => {
      // The later one first: what the earlier one replaces is what it is judged by.
      const response = await send(venue, earlier.put(later.put(good())))
      expect(await slugOf(response)).toBe(earlier.slug)
    }
  )

  it("each fault alone gives its own answer, and none gives none", async () => {
    for (const { slug, put } of steps) {
      expect(await slugOf(await send(venue, put(good())))).toBe(slug)
    }
    expect((await send(venue, good())).status).toBeLessThan(300)
  })

  it("on approve an auditor is refused before its role is looked at", async () => {
    const auditor = await bearer(["auditor"])
    const path = "/v1/approvals/ak_absent:approve"
    const response = await send(venue, { method: "POST", path, as: auditor, body: "{" })
    expect(await slugOf(response)).toBe("auditor-never-approves")
  })

  it("on approve the role is judged before anything of the body is", async () => {
    const path = "/v1/approvals/ak_absent:approve"
    const headers = { "content-type": "text/plain" }
    const response = await send(venue, { method: "POST", path, as: operator, body: "{", headers })
    expect(await slugOf(response)).toBe("permission-denied")
  })

  it("a replay answers although the record it acts on is refused by then", async () => {
    const sent: Sent = {
      method: "POST",
      path: "/v1/instruments/i-9:pause",
      as: operator,
      headers: { "idempotency-key": "replay-1" }
    }
    const first = await send(venue, sent)
    await venue.settle()
    const again = await send(venue, sent)
    expect([first.status, again.status]).toEqual([202, 200])
  })
})

describe("public routes", () => {
  it("need no bearer and are not refused for a bad one", async () => {
    for (const path of ["/v1/health", "/v1/tenants/venue-1", "/v1/openapi.json"]) {
      for (const as of [undefined, "Bearer nonsense"]) {
        const response = await send(venue, { path, ...(as === undefined ? {} : { as }) })
        expect([path, response.status]).toEqual([path, 200])
      }
    }
  })
})
