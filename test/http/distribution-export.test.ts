/** Exports of a distribution: what its reads answer to the same caller, whole, as JSON and as a table. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"
import * as Venue from "./venue.ts"

const path = "/v1/distributions/fund-a.2026-07"
const names = ["alice", "bob", "carol"] as const

let fund: Distributing.Fund

beforeAll(async () => {
  fund = await Distributing.open({ holders: [...names, "dora"] })
  await fund.mints("alice", "1000000")
  await fund.mints("bob", "333333.333333")
  await fund.mints("carol", "333333.333333")
  await fund.at("2026-07-28T12:00:00Z")
  await fund.publishes({ value: "0.000095759", valuationTime: "2026-07-28T11:00:00Z" })
  const frozen = await fund.venue.write(
    "/v1/holders/carol:restrict",
    { mode: "freeze", reason: "pledge" },
    "compliance"
  )
  expect(frozen).toMatchObject({ state: "succeeded" })
  await fund.at("2026-08-01T00:02:00Z")
  const ended = await fund.venue.write("/v1/distributions", {
    instrumentId: "fund-a",
    month: "2026-07"
  })
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: "succeeded" })
  await fund.at("2026-08-01T00:05:00Z")
})
afterAll(() => fund.close())

type Line = Distributing.Json
interface Exported {
  readonly distribution: Distributing.Json
  readonly lines: ReadonlyArray<Line>
}

/** Every caller that may export, with the claims of its token. */
const callers = (): ReadonlyArray<readonly [string, Distributing.Json]> => [
  ...["operator", "approver", "risk", "compliance", "auditor", "app"].map(
    (role) => [role, {}] as const
  ),
  ["registrar", { party: fund.registrar.party }],
  ...names.map((holder) => ["investor", { holder }] as const)
]

const sendExport = async (query: string, as: string, claims: Distributing.Json = {}) =>
  Venue.send(fund.venue, { path: `${path}${query}`, as: await Venue.bearer([as], claims) })

/** Rows of a table whose cells are numbers, booleans, empty, or texts in quotes. */
const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text
    .split("\r\n")
    .slice(0, -1)
    .map((line) => line.match(/"(?:[^"]|"")*"|[^,"]+|(?<=,|^)(?=,|$)/gu) ?? [])

/** The cell of a value of a line, as a table has to show it. */
const cellOf = (value: unknown): unknown => {
  if (value === null || typeof value === "number" || typeof value === "boolean") return value
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text
}

const valueOf = (cell: string): unknown => {
  if (cell === "") return null
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : JSON.parse(cell)
}

/** Every line of the caller's table is the line of its list, field by field. */
const expectTable = async (lines: ReadonlyArray<Line>, answer: Response) => {
  expect(answer.status).toBe(200)
  expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8")
  const [head = [], ...rows] = rowsOf(await answer.text())
  const columns = head.map(valueOf)
  expect(columns).toEqual(Object.keys(lines[0] ?? {}))
  expect(rows.map((row) => row.map(valueOf))).toEqual(
    lines.map((line) => columns.map((column) => cellOf(line[String(column)])))
  )
}

describe("an export of a distribution", () => {
  it("never differs from the distribution and the lines that its caller reads, now or as of an instant", async () => {
    for (const [as, claims] of callers()) {
      for (const asOf of ["", "asOf=2026-08-01T00:04:00.000000Z"]) {
        const reads = <A>(at: string) => fund.reads<A>(`${path}${at}?${asOf}`, as, claims)
        const exported = await reads<Exported>("/export")
        const expected = {
          distribution: (await reads("")) as Distributing.Json,
          lines: await reads<ReadonlyArray<Line>>("/lines")
        }
        expect(exported, `${as} ${asOf}`).toEqual(expected)
        expect(exported.lines.length).toBe(as === "investor" ? 1 : 3)
        await expectTable(
          expected.lines,
          await sendExport(`/export?format=csv&${asOf}`, as, claims)
        )
      }
    }
  })

  it("of an investor says nothing of another's line, and of one without a line that there is none", async () => {
    for (const format of ["json", "csv"]) {
      for (const holder of names) {
        const answer = await sendExport(`/export?format=${format}`, "investor", { holder })
        const text = await answer.text()
        expect(text).toContain(`"${holder}"`)
        for (const other of names.filter((name) => name !== holder)) {
          expect(text).not.toContain(other)
          expect(text).not.toContain(fund.wallet(other).party)
        }
      }
      const refused = async (at: string, as: string, claims: Distributing.Json) => {
        const answer = await Venue.send(fund.venue, {
          path: `/v1/distributions/${at}/export?format=${format}`,
          as: await Venue.bearer([as], claims)
        })
        const { requestId: _, ...problem } = await Venue.json<Distributing.Json>(answer)
        return problem
      }
      for (const [as, claims] of [
        ["investor", { holder: "dora" }],
        ["registrar", { party: fund.wallet("fund").party }]
      ] as const) {
        const refusal = await refused("fund-a.2026-07", as, claims)
        expect(refusal).toMatchObject({ status: 404 })
        expect(refusal).toEqual(await refused("fund-a.2026-05", as, claims))
      }
      expect((await sendExport(`/export?format=${format}`, "monitor")).status).toBe(403)
    }
  })

  it("never tells the holder, another holder or an app that a line waits for a restriction", async () => {
    /** The answer without the members that differ between holders. */
    const masked = async (query: string, as: string, holder?: string) => {
      const answer = await sendExport(query, as, holder === undefined ? {} : { holder })
      const text = await answer.text()
      expect(text).not.toMatch(/suspended|restriction/u)
      if (holder === undefined) return text
      return text
        .replaceAll(fund.wallet(holder).party, "PARTY")
        .replaceAll(holder, "HOLDER")
        .replaceAll(/2026-07\.\d+/gu, "LINE")
        .replaceAll(/"now":"[^"]*"/gu, "NOW")
        .replaceAll(/"offset":\d+,"ledgerTime":"[^"]*"/gu, "POINT")
    }
    for (const query of ["/export", "/export?format=csv"]) {
      await masked(query, "app")
      // Twins: both hold the same units, and only one of them is frozen.
      expect(await masked(query, "investor", "carol")).toBe(await masked(query, "investor", "bob"))
    }
    const { lines } = await fund.reads<Exported>(`${path}/export`)
    expect(lines.map(({ state }) => state)).toEqual(["due", "due", "suspended"])
  })

  it("is logged in the audit log in its form, and is neither kept nor tagged", async () => {
    const before = await fund.reads<ReadonlyArray<unknown>>("/v1/audit-log?action=export.read")
    for (const format of ["json", "csv"]) {
      const answer = await sendExport(`/export?format=${format}`, "risk")
      expect(answer.headers.get("etag")).toBe(null)
      expect(answer.headers.get("cache-control")).toBe("no-store")
      await answer.text()
    }
    const after = await fund.reads<ReadonlyArray<unknown>>("/v1/audit-log?action=export.read")
    const logged = { resourceKind: "distribution", resourceId: "fund-a.2026-07", role: "risk" }
    expect(after.slice(before.length)).toMatchObject([
      { ...logged, detail: { format: "json" } },
      { ...logged, detail: { format: "csv" } }
    ])
  })

  it("of another form, or with a parameter of the list, is refused by name", async () => {
    for (const [query, pointer] of [
      ["format=xlsx", "/query/format"],
      ["format=", "/query/format"],
      ["limit=1", "/query/limit"],
      ["state=due", "/query/state"],
      ["holderId=alice", "/query/holderId"]
    ]) {
      const answer = await sendExport(`/export?${query}`, "operator")
      expect([query, answer.status]).toEqual([query, 400])
      expect(await Venue.json(answer)).toMatchObject({ errors: [{ pointer }] })
    }
    const answer = await Venue.send(fund.venue, {
      path: `${path}/export?format=csv`,
      as: await Venue.bearer(["operator"]),
      headers: { accept: "application/json" }
    })
    expect(answer.status).toBe(406)
  })
})
