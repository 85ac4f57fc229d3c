/** Holder statements over HTTP: rows, pages, roles, and what bad input gets. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Csv from "./csv-reader.ts"
import * as Distributing from "./distributing.ts"
import * as Http from "./venue.ts"

let fund: Distributing.Fund

beforeAll(async () => {
  fund = await Distributing.open({ holders: ["h1", "h2", "h3"] })
  await fund.mints("h1", "100")
  await fund.at("2026-07-31T23:30:00Z")
  await fund.publishes({ value: "0.0001", valuationTime: "2026-07-31T16:00:00Z" })
  await fund.moves({ from: "h1", to: "h2", units: "40" })
  await fund.at("2026-08-20T12:00:00Z")
  await fund.mints("h2", "2.5")
})
afterAll(() => fund.close())

const path = "/v1/holders/h1/statements"

const refusedAs = async (target: string, as?: string, claims?: Distributing.Json) => {
  const { status, text } = await fund.venue.read(target, as ?? "operator", claims)
  const { errors } = JSON.parse(text) as Http.Problem
  return [status, ...(errors ?? []).map(({ pointer }) => pointer)]
}

describe("holder statements over HTTP", () => {
  it("show each month with all of its members, decimals with ten places", async () => {
    const { text } = await fund.venue.read(`${path}?zone=Europe/Zurich`)
    expect(text).toContain('"opening":100.0000000000')
    const { value, next } = JSON.parse(text) as { readonly value: unknown; readonly next: unknown }
    expect(next).toBeNull()
    const none = { price: 1, currency: "USD", paid: [] }
    const moved = { at: expect.any(String), ledgerTime: expect.any(String), reference: null }
    expect(value).toEqual([
      {
        ...{ month: "2026-06", zone: "Europe/Zurich", final: true },
        instruments: [
          {
            ...{ ...none, instrumentId: "fund-a", opening: 0, closing: 100, value: 100 },
            ...{ priceAt: null, movementCount: 1 },
            movements: [{ ...moved, seq: 1, kind: "mint", units: 100, balanceAfter: 100 }]
          }
        ]
      },
      expect.objectContaining({ month: "2026-07", final: false }),
      {
        ...{ month: "2026-08", zone: "Europe/Zurich", final: false },
        instruments: [
          {
            ...{ ...none, instrumentId: "fund-a", opening: 100, closing: 60, value: 60 },
            ...{ priceAt: "2026-07-31T16:00:00.000000Z", movementCount: 1 },
            movements: [{ ...moved, seq: 4, kind: "transfer", units: -40, balanceAfter: 60 }]
          }
        ]
      }
    ])
  })

  it("page by month, by a cursor that holds for the same question alone", async () => {
    const months: Array<string> = []
    let after = ""
    for (let pages = 0; pages < 5; pages++) {
      const { text } = await fund.venue.read(`${path}?limit=1${after}`)
      const { value, next } = JSON.parse(text) as {
        readonly value: ReadonlyArray<{ readonly month: string }>
        readonly next: string | null
      }
      months.push(...value.map(({ month }) => month))
      if (next === null) break
      after = `&after=${next}`
    }
    expect(months).toEqual(["2026-06", "2026-07", "2026-08"])
    const { text } = await fund.venue.read(`${path}?limit=1`)
    const { next } = JSON.parse(text) as { readonly next: string }
    const elsewhere = ["zone=Asia/Tokyo", "to=2026-07", "instrumentId=fund-a"]
    for (const other of elsewhere) {
      expect(await refusedAs(`${path}?limit=1&after=${next}&${other}`)).toEqual([
        400,
        "/query/after"
      ])
    }
  })

  it.each([
    ["month=2026-13", "/query/month"],
    ["from=2026", "/query/from"],
    ["to=nothing", "/query/to"],
    ["zone=Atlantis/Capital", "/query/zone"],
    ["month=2026-07&from=2026-07", "/query/from"],
    ["month=2026-07&to=2026-07", "/query/to"],
    ["from=2026-08&to=2026-07", "/query/to"],
    ["format=csv", "/query/format"]
  ])("refuses %s", async (query, pointer) => {
    expect(await refusedAs(`${path}?${query}`)).toEqual([400, pointer])
  })

  it("answers a holder its own, another's as if it were none, and no outside program", async () => {
    for (const role of ["operator", "approver", "risk", "compliance", "auditor", "app"]) {
      expect((await fund.venue.read(path, role)).status, role).toBe(200)
    }
    for (const role of ["registrar", "feed", "monitor"]) {
      expect((await fund.venue.read(path, role)).status, role).toBe(403)
    }
    const own = await fund.venue.read(path, "investor", { holder: "h1" })
    const { value } = JSON.parse((await fund.venue.read(path)).text) as { readonly value: unknown }
    expect((JSON.parse(own.text) as { readonly value: unknown }).value).toEqual(value)
    expect(await refusedAs(path, "investor", { holder: "h2" })).toEqual([404])
    expect(await refusedAs("/v1/holders/h9/statements")).toEqual([404])
  })
})

const year = "/v1/holders/h1/tax-statements/2026"

describe("tax statements over HTTP", () => {
  it.each([
    ["/v1/holders/h1/tax-statements/26", "/path/year"],
    ["/v1/holders/h1/tax-statements/20x6", "/path/year"],
    ["/v1/holders/h1/tax-statements/3026", "/path/year"],
    [`${year}?zone=Atlantis/Capital`, "/query/zone"],
    [`${year}?format=csv`, "/query/format"]
  ])("refuse %s", async (target, pointer) => {
    expect(await refusedAs(target)).toEqual([400, pointer])
  })

  it("answer a holder its own, another's as if it were none, and log who read one", async () => {
    for (const role of ["operator", "approver", "risk", "compliance", "auditor", "app"]) {
      expect((await fund.venue.read(year, role)).status, role).toBe(200)
    }
    for (const role of ["registrar", "feed", "monitor"]) {
      expect((await fund.venue.read(year, role)).status, role).toBe(403)
    }
    expect((await fund.venue.read(year, "investor", { holder: "h1" })).status).toBe(200)
    expect(await refusedAs(year, "investor", { holder: "h2" })).toEqual([404])
    expect(await refusedAs("/v1/holders/h9/tax-statements/2026")).toEqual([404])
    const { text } = await fund.venue.read("/v1/audit-log?action=export.read", "auditor")
    const { value } = JSON.parse(text) as { readonly value: ReadonlyArray<Distributing.Json> }
    const logged = value.filter(
      ({ route }) => route === "/v1/holders/{holderId}/tax-statements/{year}"
    )
    expect(new Set(logged.map(({ role }) => role))).toEqual(
      new Set(["operator", "approver", "risk", "compliance", "auditor", "app", "investor"])
    )
    expect(logged[0]).toMatchObject({ stage: "read", resourceKind: "holder", resourceId: "h1" })
  })

  it("show what left the holder's books", async () => {
    const { value } = JSON.parse((await fund.venue.read(year)).text) as {
      readonly value: Distributing.Json
    }
    expect(value).toEqual({
      ...{ year: 2026, zone: "UTC", final: false, version: 1, corrects: null },
      ...{ holderIds: ["h1"], currencies: [], basis: [] },
      disposals: [],
      transfersOut: [
        {
          ...{ instrumentId: "fund-a", lotId: expect.any(String), units: 40 },
          ...{ acquiredOn: "2026-06-30", movedOn: "2026-07-31", cost: null, currency: "USD" },
          ...{ kind: "transfer", reference: null }
        }
      ]
    })
  })
})

describe("what bad input gets from the reports of a holder and an instrument", () => {
  const reports = [
    "/v1/holders/h1/statements",
    "/v1/holders/h1/tax-statements/2026",
    "/v1/holders/h1/portfolio",
    "/v1/holders/h1/movements",
    "/v1/instruments/fund-a/register",
    "/v1/instruments/fund-a/movements"
  ] as const
  const fetchTarget = async (target: string, headers: Readonly<Record<string, string>> = {}) => {
    const as = await Http.bearer(["operator"])
    const answer = await Http.send(fund.venue, { path: target, as, headers })
    const text = await answer.text()
    if (answer.status === 200) return [200]
    const { errors, retryable, type } = JSON.parse(text) as Http.Problem
    const pointers = (errors ?? []).map(({ pointer }) => pointer)
    return [
      answer.status,
      type.split(/[:/]/u).at(-1),
      ...(answer.status === 409 ? [retryable] : pointers)
    ]
  }

  it.each(reports)("a point that there is not, of %s", async (path) => {
    expect(await fetchTarget(`${path}?asOf=2020-01-01T00:00:00Z`)).toEqual([
      409,
      "before-horizon",
      false
    ])
    expect(await fetchTarget(`${path}?at=9999999`)).toEqual([409, "offset-unavailable", true])
    expect(await fetchTarget(`${path}?asOf=2031-01-01T00:00:00Z`)).toEqual([
      ...[400, "invalid-request", "/query/asOf"]
    ])
    for (const at of ["-1", "1.5", "x", ""]) {
      expect(await fetchTarget(`${path}?at=${at}`)).toEqual([400, "invalid-request", "/query/at"])
    }
    expect(await fetchTarget(`${path}?unheard=of`)).toEqual([
      400,
      "invalid-request",
      "/query/unheard"
    ])
  })

  it.each(reports)("a holder or an instrument that never was, in %s", async (path) => {
    const other = path.replace("/h1/", "/h9/").replace("/fund-a/", "/fund-z/")
    expect(await fetchTarget(other)).toEqual([404, "not-found"])
  })

  it.each([
    "/v1/holders/h1/movements",
    "/v1/instruments/fund-a/register",
    "/v1/instruments/fund-a/movements"
  ])("a format that is none, or that Accept excludes, of %s", async (path) => {
    for (const format of ["xml", "CSV", ""]) {
      const refused = [400, "invalid-request", "/query/format"]
      expect(await fetchTarget(`${path}?format=${format}`)).toEqual(refused)
    }
    const json = { accept: "application/json" }
    expect(await fetchTarget(`${path}?format=csv`, json)).toEqual([406, "not-acceptable"])
    expect(await fetchTarget(`${path}?format=csv`, { accept: "text/csv" })).toEqual([200])
  })

  it("a month before the first and a year to come get no row", async () => {
    for (const query of ["month=2026-05", "to=2026-05", "month=2031-01", "from=2031-01"]) {
      expect(await fund.reads(`${path}?${query}`)).toEqual([])
    }
    expect(await fund.reads("/v1/holders/h1/tax-statements/2031")).toMatchObject({
      ...{ year: 2031, final: false, currencies: [], disposals: [], transfersOut: [], basis: [] }
    })
  })

  it("another's holder gets 404 in a path, and 403 in a filter", async () => {
    const claims = { holder: "h2" }
    for (const path of reports.filter((path) => path.includes("h1"))) {
      expect(await refusedAs(path, "investor", claims), path).toEqual([404])
    }
    for (const list of ["subscriptions", "redemptions", "distributions"]) {
      expect(await refusedAs(`/v1/${list}?holderId=h1`, "investor", claims), list).toEqual([403])
    }
  })
})

/** Last in this file, since it sets the clock to the end of the year. */
describe("G47: a holder's months over HTTP", () => {
  it("never begin at another midnight than the zone's, and have the movements of its export", async () => {
    const gives = (units: string) => fund.moves({ from: "h3", to: "h2", units })
    const moves: ReadonlyArray<readonly [string, () => Promise<void>]> = [
      ["2026-10-01T03:50:00Z", () => fund.mints("h3", "100")],
      ["2026-10-15T12:00:00Z", () => fund.mints("h3", "50")],
      ["2026-11-01T03:30:00Z", () => gives("20")],
      ["2026-11-01T04:00:00Z", () => fund.mints("h3", "5")],
      ["2026-11-01T05:30:00Z", () => gives("1")],
      ["2026-12-01T04:50:00Z", () => gives("4")]
    ]
    for (const [instant, move] of moves) {
      await fund.at(instant)
      await move()
    }
    const monthsIn = async (zone: string) => {
      const { text } = await fund.venue.read(`/v1/holders/h3/statements?zone=${zone}`)
      // Figures are compared as text.
      const months = text.split('{"month":').slice(1)
      return months.map((month) => [
        month.slice(1, 8),
        ...["opening", "units", "closing"].flatMap((name) =>
          [...month.matchAll(new RegExp(`"${name}":(-?[0-9.]+)`, "gu"))].map(
            ([, figure = ""]) => `${name} ${figure.replace(".0000000000", "")}`
          )
        )
      ])
    }
    expect(await monthsIn("America/New_York")).toEqual([
      ["2026-09", "opening 0", "units 100", "closing 100"],
      ["2026-10", "opening 100", "units 50", "units -20", "closing 130"],
      ["2026-11", "opening 130", "units 5", "units -1", "units -4", "closing 130"]
    ])
    expect(await monthsIn("UTC")).toEqual([
      ["2026-10", "opening 0", "units 100", "units 50", "closing 150"],
      ["2026-11", "opening 150", "units -20", "units 5", "units -1", "closing 134"],
      ["2026-12", "opening 134", "units -4", "closing 130"]
    ])
    const answer = await Http.send(fund.venue, {
      path: "/v1/holders/h3/movements?format=csv",
      as: await Http.bearer(["operator"])
    })
    const { party } = fund.wallet("h3")
    const signed = Csv.records(await answer.text())
      // The export shows locks too, which are no movements of a statement.
      .filter(({ kind }) => kind === "mint" || kind === "transfer")
      .map(({ to, units }) => `${to === party ? "" : "-"}${units}`.replace(".0000000000", ""))
    expect(signed.toSorted()).toEqual(["-1", "-20", "-4", "100", "5", "50"])
  })
})
