/** Findings over HTTP: listed the gravest first, filtered, paged, read one by one and as a run left them. */
import { Catalogue, Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Finding, FindingId, findings, first, type Sighting } from "#core/findings/Finding.ts"
import * as Venue from "./venue.ts"

let venue: Venue.Venue
let all: ReadonlyArray<Finding>

const path = "/v1/findings"
const severities = ["info", "blocking", "warning"] as const
const checks = ["register-supply", "lots-holdings"] as const
const start = Instant.of("2026-03-02T18:00:00Z")

const seenAt = (nth: number, runId: string): Sighting => ({
  runId,
  severity: severities[nth % 3] ?? "info",
  expected: Decimal.zero,
  actual: Decimal.fromInteger(nth),
  difference: Decimal.fromInteger(nth),
  unit: "units",
  tolerance: Decimal.zero,
  explained: { amount: Decimal.zero, by: [] },
  unexplained: Decimal.fromInteger(nth),
  // Of several findings first seen by one run the ids decide.
  asOf: { offset: Offset.zero, instant: Instant.fromNanos(start + BigInt((nth * 7) % 5)) },
  comparedAt: nth % 2 === 0 ? null : { offset: Offset.zero, instant: start },
  statementId: nth % 2 === 0 ? null : `st-${nth}`,
  missingDates: [],
  entry: null
})

const made = (nth: number): Finding =>
  first(
    {
      findingId: Schema.decodeSync(FindingId)(`fnd_${(nth * 31) % 97}`),
      check: checks[nth % 2] ?? "register-supply",
      instrumentId: nth % 4 === 0 ? null : `fund-${nth % 3}`,
      subject: { resourceKind: "holder", id: `h${nth}` },
      holderId: `h${nth % 5}`
    },
    seenAt(nth, `run-${nth % 4}`)
  )

const act = Effect.map(Instant.now, (now) => ({
  cause: { by: "run", runId: "test" } as const,
  now
}))

beforeAll(async () => {
  venue = await Venue.open({ tables: Catalogue })
  all = Array.from({ length: 40 }, (_, nth) => made(nth))
  await venue.run(
    Effect.gen(function* () {
      const records = yield* Records
      const by = yield* act
      yield* records.transact(
        Effect.forEach(all, (finding) => records.open(findings, finding, by), { discard: true })
      )
    })
  )
})
afterAll(() => venue.close())

interface Page {
  readonly value: ReadonlyArray<{ readonly findingId: string; readonly runId: string }>
  readonly next: string | null
  readonly now: string
}

const read = async (query: string): Promise<Page> => {
  const response = await Venue.send(venue, {
    path: `${path}${query}`,
    as: await Venue.bearer(["risk"])
  })
  expect(response.status).toBe(200)
  return Venue.json<Page>(response)
}

const pages = async (query: URLSearchParams): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  for (let after: string | null = ""; after !== null; ) {
    if (after !== "") query.set("after", after)
    const page: Page = await read(`?${query.toString()}`)
    ids.push(...page.value.map(({ findingId }) => findingId))
    after = page.next
  }
  return ids
}

const gravity = { blocking: 0, warning: 1, info: 2 } as const

/** The findings of a filter in the order that the list promises. */
const expected = (isMatch: (finding: Finding) => boolean): ReadonlyArray<string> =>
  all
    .filter(isMatch)
    .toSorted(
      (a, b) =>
        gravity[a.severity] - gravity[b.severity] ||
        Instant.order(a.firstSeenAt, b.firstSeenAt) ||
        (a.findingId < b.findingId ? -1 : 1)
    )
    .map(({ findingId }) => findingId)

describe("the list of findings", () => {
  it("has the gravest first, then the oldest, over pages of any size and for any filter", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          limit: fc.constantFrom(1, 3, 7, 100),
          severity: fc.subarray([...severities]),
          check: fc.subarray([...checks]),
          instrumentId: fc.constantFrom(undefined, "fund-1", "fund-9"),
          holderId: fc.constantFrom(undefined, "h2"),
          runId: fc.constantFrom(undefined, "run-3")
        }),
        async ({ limit, severity, check, instrumentId, holderId, runId }) => {
          const query = new URLSearchParams({ limit: String(limit) })
          for (const each of severity) query.append("severity", each)
          for (const each of check) query.append("check", each)
          if (instrumentId !== undefined) query.append("instrumentId", instrumentId)
          if (holderId !== undefined) query.append("holderId", holderId)
          if (runId !== undefined) query.append("runId", runId)
          expect(await pages(query)).toEqual(
            expected(
              (finding) =>
                (severity.length === 0 || severity.includes(finding.severity)) &&
                (check.length === 0 || (check as ReadonlyArray<string>).includes(finding.check)) &&
                (instrumentId === undefined || finding.instrumentId === instrumentId) &&
                (holderId === undefined || finding.holderId === holderId) &&
                (runId === undefined || finding.runId === runId)
            )
          )
        }
      ),
      { numRuns: 20, seed: 15 }
    )
  })

  it("shows the findings of a run as the run left them, after later runs changed them", async () => {
    const before = await read("?runId=run-1&limit=100")
    expect(before.value.length).toBe(10)
    await venue.run(
      Effect.gen(function* () {
        const records = yield* Records
        const by = yield* act
        const own = all.filter(({ runId }) => runId === "run-1")
        yield* records.transact(
          Effect.forEach(own, ({ findingId }, nth) =>
            Effect.flatMap(records.get(findings, findingId), (finding) =>
              records.append(
                findings,
                finding,
                nth % 2 === 0
                  ? { on: "see", seen: { ...seenAt(4 * nth + 1, "run-9"), severity: "info" } }
                  : { on: "clear", runId: "run-9" },
                by
              )
            )
          )
        )
      })
    )
    const now = await read("?runId=run-1&limit=100")
    expect(now.value.length).toBe(5)
    const then = await read(`?runId=run-1&limit=100&asOf=${before.now}`)
    expect(then.value).toEqual(before.value)
    const [one] = before.value
    const as = await Venue.bearer(["auditor"])
    const found = await Venue.send(venue, {
      path: `${path}/${one?.findingId}?asOf=${before.now}`,
      as
    })
    expect((await Venue.json<{ value: object }>(found)).value).toEqual(one)
  })

  it("shows the figures, and null for a moment that is the run's own", async () => {
    const { value } = await read("?limit=100&state=open&check=lots-holdings")
    for (const finding of value) {
      expect(finding).toMatchObject({
        comparedAt: { offset: 0, instant: "2026-03-02T18:00:00.000000Z" },
        explained: { amount: 0, by: [] },
        state: "open"
      })
    }
    const own = await read("?limit=100&check=register-supply")
    for (const finding of own.value) expect(finding).toMatchObject({ comparedAt: null })
  })
})

describe("a finding over HTTP", () => {
  it("is not found under an id that no run made", async () => {
    const as = await Venue.bearer(["risk"])
    const response = await Venue.send(venue, { path: `${path}/fnd_none`, as })
    expect(await Venue.slugOf(response)).toBe("not-found")
  })

  it.each(["compliance", "app", "registrar", "investor", "monitor", "feed"])(
    "is never read by %s",
    async (role) => {
      const as = await Venue.bearer([role], { holder: "h1", party: "p::12" })
      for (const forbidden of [path, `${path}/fnd_0`]) {
        expect(await Venue.slugOf(await Venue.send(venue, { path: forbidden, as }))).toBe(
          "permission-denied"
        )
      }
    }
  )
})
