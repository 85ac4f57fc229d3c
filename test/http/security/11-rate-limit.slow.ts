/**
 * Attack 11: more calls than a subject may make, on one instance or on several.
 *
 * Each switched off in a copy and seen red: the refusal in RateLimit.ts (the burst, the small budget,
 * the list, two instances), its time to come back (the same but two instances), `charge` (the list),
 * the count in the store (two instances), and the headers in Gates.ts (what is told of a budget).
 */
import { Export, Read, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import type { SigningKey } from "@bursar/http-host"
import { Effect, Exit, Redacted, Schema, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { table } from "#host/api/Route.ts"
import { secret, sign } from "../signing.ts"
import { getNote, listNotes, NoteId, notes, tables, View } from "../tables.ts"
import { bearer, json, open, send, slugOf, token, type Venue } from "../venue.ts"

const figures = (response: Response) =>
  ["limit", "remaining", "reset"].map((name) => response.headers.get(`x-ratelimit-${name}`))
const none = [null, null, null]

const loaded = performance.now()

/** Seconds that begin at this figure and get fewer while the test runs. */
const near = (seconds: string | number | null | undefined, from: number) => {
  expect(Number(seconds)).toBeLessThanOrEqual(from)
  expect(Number(seconds)).toBeGreaterThan(from - 60 - (performance.now() - loaded) / 1_000)
}

describe("a burst", () => {
  let venue: Venue
  beforeAll(async () => {
    // The contract's own figures: 600 in 60 seconds.
    venue = await open({ rateLimit: { limit: 600, window: 60_000 } })
  })
  afterAll(() => venue.close())

  it("of more than 600 has refusals, which say when to come back; who waits is let in", async () => {
    const as = await bearer(["operator"], { sub: "burst" })
    const started = performance.now()
    const answers: Array<{ readonly status: number; readonly retryAfter: string | null }> = []
    const call = async () => {
      const response = await send(venue, { path: "/v1/holders?limit=1", as })
      const { headers, status } = response
      answers.push({ status, retryAfter: headers.get("retry-after") })
      expect(figures(response)[0]).toBe("600")
      await response.arrayBuffer()
    }
    while (!answers.some(({ status }) => status === 429) && answers.length < 2_000) {
      await Promise.all(Array.from({ length: 10 }, call))
    }
    const admitted = answers.filter(({ status }) => status === 200).length
    // Ten are given back each second, and not one more.
    const refilled = ((performance.now() - started) / 1000) * 10
    expect(admitted).toBeGreaterThanOrEqual(600)
    expect(admitted).toBeLessThanOrEqual(600 + Math.ceil(refilled))
    const refused = answers.find(({ status }) => status === 429)
    expect(Number(refused?.retryAfter)).toBeGreaterThanOrEqual(1)

    const problem = await send(venue, { path: "/v1/holders?limit=1", as })
    if (problem.status === 429) expect(await slugOf(problem)).toBe("rate-limited")
    const wait = Number(refused?.retryAfter) * 1000
    await new Promise((resolve) => setTimeout(resolve, wait))
    expect((await send(venue, { path: "/v1/holders?limit=1", as })).status).toBe(200)
  })
})

describe("the headers of a budget", () => {
  let venue: Venue
  beforeAll(async () => {
    venue = await open({ rateLimit: { limit: 20, window: 60_000 } })
  })
  afterAll(() => venue.close())

  // Seen red where only routes had them: a signed-in caller's 404 of no route, 405, 414 and 400 had none.
  it("never are left out of an answer to a signed-in caller, or given to anybody else", async () => {
    const as = await bearer(["operator"], { sub: "every answer" })
    const answers: ReadonlyArray<
      readonly [status: number, Omit<Parameters<typeof send>[1], "as">]
    > = [
      [404, { path: "/v1/nowhere" }],
      [404, { path: "/v1/holders/" }],
      [405, { method: "DELETE", path: "/v1/holders" }],
      [405, { method: "POST", path: "/v1/health" }],
      [414, { path: `/v1/holders?after=${"x".repeat(9_000)}` }],
      [431, { path: "/v1/holders", headers: { "x-many": "x".repeat(9_000) } }],
      [400, { path: "/v1/holders", headers: { "x-request-id": "a b" } }],
      [400, { path: "/v1/holders?limit=0" }],
      [404, { path: "/v1/holders/nobody" }],
      [200, { path: "/v1/holders?limit=1" }]
    ]
    const stranger = `Bearer ${await token({ exp: 1 })}`
    for (const [index, [status, call]] of answers.entries()) {
      const response = await send(venue, { ...call, as })
      expect([index, response.status]).toEqual([index, status])
      expect([index, ...figures(response).slice(0, 2)]).toEqual([index, "20", String(19 - index)])
      await response.arrayBuffer()
      for (const no of [undefined, stranger]) {
        const { as: _, ...anonymous } = { as, ...call }
        const other = await send(venue, no === undefined ? anonymous : { ...anonymous, as: no })
        expect([index, ...figures(other)]).toEqual([index, ...none])
        await other.arrayBuffer()
      }
    }
    const health = await send(venue, { path: "/v1/health", as })
    expect(figures(health)).toEqual(none)
    await health.arrayBuffer()
  })
})

describe("a small budget", () => {
  let venue: Venue
  let number = 0
  /** A new subject, with its whole budget of 20. */
  const fresh = (roles: ReadonlyArray<string> = ["operator"]) =>
    bearer(roles, { sub: `fresh-${number++}` })
  const keys: ReadonlyArray<SigningKey> = [
    {
      keyId: "k-1",
      sub: "signer",
      secret: Redacted.make(new Uint8Array(secret)),
      notBefore: null,
      notAfter: null
    }
  ]
  beforeAll(async () => {
    // A call is given back after an hour: no answer here depends on how fast the test is.
    venue = await open({
      rateLimit: { limit: 20, window: 20 * 3_600_000, perRole: { app: 5 } },
      signing: { keys }
    })
  })
  afterAll(() => venue.close())

  it("is told on every answer whose bearer was accepted, whatever the answer is", async () => {
    const as = await fresh()
    const calls = [
      [200, { path: "/v1/holders?limit=1" }],
      [200, { method: "HEAD", path: "/v1/holders" }],
      [200, { path: "/v1/holders" }],
      [404, { path: "/v1/holders/nobody" }],
      [400, { path: "/v1/holders?x=1" }],
      [406, { path: "/v1/holders", headers: { accept: "text/csv" } }],
      [
        415,
        {
          method: "POST",
          path: "/v1/holders",
          body: "{}",
          headers: { "content-type": "text/plain" }
        }
      ],
      [413, { method: "POST", path: "/v1/holders", body: " ".repeat(1024 * 1024 + 1) }],
      [202, { method: "POST", path: "/v1/holders:onboard", body: '{"holderId":"o-1"}' }],
      [200, { method: "POST", path: "/v1/holders:onboard", body: '{"holderId":"o-1"}' }],
      [500, { path: "/v1/holders/broken" }],
      [403, { method: "POST", path: "/v1/approvals/ak_1:approve" }]
    ] as const
    for (const [i, [status, sent]] of calls.entries()) {
      const response = await send(venue, { ...sent, as })
      const [limit, remaining, reset] = figures(response)
      expect([sent.path, response.status, limit, remaining]).toEqual([
        sent.path,
        status,
        "20",
        String(19 - i)
      ])
      near(reset, (i + 1) * 3600)
      await response.arrayBuffer()
    }
  })

  it("is spent: 429, also for what would be refused later; a refusal costs nothing", async () => {
    const as = await fresh(["app"])
    for (let i = 0; i < 5; i++)
      await send(venue, {
        path: "/v1/holders:onboard",
        method: "POST",
        as,
        body: `{"holderId":"x-${i}"}`
      })
    for (let i = 0; i < 3; i++) {
      const response = await send(venue, { path: "/v1/holders", method: "POST", as, body: "{" })
      expect(response.status).toBe(429)
      const [limit, remaining, reset] = figures(response)
      expect([limit, remaining]).toEqual(["5", "0"])
      near(reset, 72_000)
      // Twenty hours for five calls: the next one is admitted after four.
      near(response.headers.get("retry-after"), 14_400)
      expect(await slugOf(response)).toBe("rate-limited")
    }
  })

  it("is told with the 401 of a refused signature, which costs its call", async () => {
    const as = await bearer(["operator"], { sub: "signer" })
    const first = await send(venue, { path: "/v1/holders", as })
    expect([first.status, ...figures(first).slice(0, 2)]).toEqual([401, "20", "19"])
    const headers = sign({ method: "GET", target: "/v1/holders" })
    const second = await send(venue, { path: "/v1/holders", as, headers })
    expect([second.status, figures(second)?.[1]]).toEqual([200, "18"])
  })

  it("is told on no public route", async () => {
    const as = await fresh()
    const calls = [
      [200, { path: "/v1/health" }],
      [200, { path: "/v1/tenants/venue-1" }],
      [404, { path: "/v1/tenants/venue-2" }],
      [200, { path: "/v1/openapi.json" }],
      [200, { path: "/docs" }]
    ] as const
    for (const [status, sent] of calls) {
      const response = await send(venue, { ...sent, as })
      expect([sent.path, response.status, figures(response)]).toEqual([sent.path, status, none])
    }
    const expired = `Bearer ${await token({ exp: 1 })}`
    const denied = await send(venue, { path: "/v1/holders", as: expired })
    expect([denied.status, figures(denied)]).toEqual([401, none])
    const last = await send(venue, { path: "/v1/holders?limit=1", as })
    expect(figures(last)[1]).toBe("19")
  })

  it("never stops a public route, however often it is called", async () => {
    for (const { path, admits, name } of table(tables)) {
      if (admits.by !== "anyone") continue
      const target = path.template.replace("{tenantId}", "venue-1")
      for (let i = 0; i < 30; i++) {
        const response = await send(venue, { path: target })
        expect([name, response.status]).toEqual([name, 200])
      }
    }
  })

  it("is what the venue announces", async () => {
    const { value } = await json<{ value: { rateLimit: object } }>(
      await send(venue, { path: "/v1/tenants/venue-1" })
    )
    expect(value.rateLimit).toEqual({ limit: 20, window: "PT20H" })
  })
})

describe("a list without a limit", () => {
  // Red where the price of a page is a call, however many records it has.
  it("has the price of its pages: each costs a call, and one more for a thousand records", async () => {
    const venue = await open({ rateLimit: { limit: 100, window: 100 * 3_600_000 } })
    await venue.run(seed(2_500))
    const as = await bearer(["operator"], { sub: "pager" })
    const ask = async (path: string) => {
      const response = await send(venue, { path, as })
      await response.arrayBuffer()
      return Number(figures(response)[1])
    }
    let left = await ask("/v1/holders?limit=1")
    for (const [path, calls] of [
      ["/v1/holders?limit=999", 1],
      ["/v1/holders?limit=1000", 2],
      // From the cache of printed answers, at the same price.
      ["/v1/holders?limit=1000", 2],
      ["/v1/events?limit=10", 1],
      ["/v1/audit-log?limit=10", 1]
    ] as const) {
      await ask(path)
      const now = await ask("/v1/holders?limit=1")
      expect([path, left - now - 1]).toEqual([path, calls])
      left = now
    }
    await venue.close()
  })

  it("costs a call, and one more for every thousand records once it is taken, owed if need be", async () => {
    const venue = await open({ rateLimit: { limit: 10, window: 10 * 3_600_000 } })
    await venue.run(seed(2_500))
    const as = await bearer(["operator"], { sub: "reader" })
    const ask = async (query: string) => {
      const response = await send(venue, { path: `/v1/holders${query}`, as })
      await response.arrayBuffer()
      return [response.status, figures(response)[1], response.headers.get("retry-after")]
    }
    expect(await ask("?limit=999")).toEqual([200, "9", null])
    expect(await ask("")).toEqual([200, "8", null])
    expect(await ask("?limit=1")).toEqual([200, "5", null])
    expect(await ask("?text=two")).toEqual([200, "4", null])
    expect(await ask("")).toEqual([200, "3", null])
    expect(await ask("")).toEqual([200, "0", null])
    // Two more are owed than there are: the next call is admitted after three hours, not after one.
    const [status, remaining, retryAfter] = await ask("?limit=1")
    expect([status, remaining]).toEqual([429, "0"])
    near(retryAfter, 3 * 3_600)
    await venue.close()
  })
})

const exportParams = Schema.Struct({ holderId: NoteId, ...Export.parameters })

/** A note, and every note there is. */
const exportNotes = Read.exported({
  name: "holders.export",
  doc: "Answers one note and all notes.",
  route: "GET /v1/holders/{holderId}/export",
  audience: { operator: "all" },
  pinned: true,
  params: exportParams,
  value: Schema.Struct({ note: getNote.value, notes: Schema.Array(listNotes.item) }),
  refuses: ["not-found"],
  recordIn: "note",
  record: { ...getNote, params: exportParams },
  rowsIn: "notes",
  rows: { ...listNotes, params: exportParams, where: () => ({}) },
  csv: Export.of({
    row: View,
    rows: (found: ReadonlyArray<typeof View.Type>) => found
  })
})

describe("an export", () => {
  it("costs a call, and one more for every thousand rows, in either form; a refused one costs a call", async () => {
    const queries = [...tables.queries, exportNotes]
    const venue = await open({
      tables: { ...tables, queries },
      rateLimit: { limit: 20, window: 20 * 3_600_000 }
    })
    await venue.run(seed(2_500))
    const as = await bearer(["operator"], { sub: "exporter" })
    const ask = async (path: string) => {
      const response = await send(venue, { path, as })
      const text = await response.text()
      return { text, figures: [response.status, figures(response)[1]] }
    }
    const whole = await ask("/v1/holders/n-00007/export")
    expect(whole.figures).toEqual([200, "19"])
    const { value } = JSON.parse(whole.text) as {
      value: { note: { holderId: string }; notes: ReadonlyArray<{ holderId: string }> }
    }
    expect(value.note.holderId).toBe("n-00007")
    expect(new Set(value.notes.map(({ holderId }) => holderId)).size).toBe(2_500)
    const table = await ask("/v1/holders/n-00007/export?format=csv")
    expect(table.figures).toEqual([200, "16"])
    expect(table.text.split("\r\n")).toHaveLength(2_500 + 2)
    expect((await ask("/v1/holders/n-none/export?format=csv")).figures).toEqual([404, "13"])
    expect((await ask("/v1/holders?limit=1")).figures).toEqual([200, "12"])
    await venue.close()
  })
})

const noteId = Schema.decodeSync(NoteId)

/** Records this number of notes without a call to the API. */
const seed = (count: number) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const act = { cause: { by: "request", requestId: "seed" }, now } as const
    yield* records.transact(
      Effect.forEach(
        Array.from({ length: count }, (_, i) => noteId(`n-${String(i).padStart(5, "0")}`)),
        (holderId) =>
          records.open(notes, { holderId, text: "one", amount: Decimal.one, owner: null }, act),
        { discard: true }
      )
    )
  })

describe("two instances over one database", () => {
  const scope = Effect.runSync(Scope.make())
  let venues: ReadonlyArray<Venue>
  beforeAll(async () => {
    const url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
    const storage = Postgres.layer({ url: Redacted.make(url), maxConnections: 4 })
    const rateLimit = { limit: 20, window: 20 * 3_600_000 }
    venues = [await open({ storage, rateLimit }), await open({ storage, rateLimit })]
  })
  afterAll(async () => {
    for (const venue of venues) await venue.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("share one budget: of forty calls at once, twenty on each, twenty are admitted", async () => {
    const as = await bearer(["operator"], { sub: "both" })
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const venue = venues[i % 2]
        if (venue === undefined) throw new Error("no venue")
        const response = await send(venue, { path: "/v1/holders?limit=1", as })
        await response.arrayBuffer()
        return response.status
      })
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(20)
  })
})
