/** Calendar of distributions over HTTP: record dates in the zones of their funds, for readers of other zones. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"
import type * as Venue from "./venue.ts"

const termsOf = (businessZone: string, recordDay: number, paymentLagDays: number) => ({
  ...Distributing.accumulating,
  businessZone,
  distribution: {
    ...Distributing.accumulating.distribution,
    calendar: { frequency: "monthly", recordDay, paymentLagDays }
  }
})

let fund: Distributing.Fund

beforeAll(async () => {
  fund = await Distributing.open({
    instruments: {
      "fund-a": Distributing.par,
      "los-angeles": termsOf("America/Los_Angeles", 31, 2),
      auckland: termsOf("Pacific/Auckland", 30, 5),
      zurich: termsOf("Europe/Zurich", 31, 1),
      "month-end": termsOf("UTC", 31, 2)
    },
    holders: ["h1"],
    admissions: { h1: ["fund-a"] }
  })
})
afterAll(() => fund.close())

const path = "/v1/distribution-calendar"
const rows = (query: string, as?: string, claims?: Distributing.Json) =>
  fund.reads<ReadonlyArray<Distributing.Json>>(`${path}?${query}`, as, claims)

/** States of fund-a's months, for a reader. */
const states = async (query: string, as?: string, claims?: Distributing.Json) =>
  (await rows(`from=2026-07&to=2026-08&instrumentId=fund-a&${query}`, as, claims)).map(
    ({ month, periodState }) => `${month} ${periodState}`
  )

describe("the calendar of distributions over HTTP", () => {
  it.each([
    {
      instrumentId: "los-angeles",
      month: "2026-07",
      zones: { "": "2026-08-01", "America/Los_Angeles": "2026-07-31" },
      recordDate: "2026-07-31",
      recordEndsAt: "2026-08-01T07:00:00.000000Z",
      exDate: "2026-08-03",
      paymentDate: "2026-08-03"
    },
    {
      instrumentId: "auckland",
      month: "2026-09",
      zones: { "": "2026-09-30", "America/New_York": "2026-09-30" },
      recordDate: "2026-09-30",
      recordEndsAt: "2026-09-30T11:00:00.000000Z",
      exDate: "2026-10-01",
      paymentDate: "2026-10-05"
    },
    {
      instrumentId: "zurich",
      month: "2026-10",
      zones: { "Pacific/Auckland": "2026-11-01", "Europe/Zurich": "2026-10-31" },
      recordDate: "2026-10-31",
      recordEndsAt: "2026-10-31T23:00:00.000000Z",
      exDate: "2026-11-02",
      paymentDate: "2026-11-02"
    }
  ])("G46: $instrumentId never has another record date for a reader elsewhere", async (vector) => {
    const { instrumentId, month, zones, ...dates } = vector
    for (const [zone, on] of Object.entries(zones)) {
      const zoneQuery = zone === "" ? "" : `&zone=${zone}`
      const query = `instrumentId=${instrumentId}&from=${month}&to=${month}${zoneQuery}`
      expect(await rows(query)).toEqual([
        expect.objectContaining({ ...dates, on, zone: zone === "" ? "UTC" : zone })
      ])
    }
  })

  it("G22: the record date is a shorter month's last day, and a payment is never on a weekend", async () => {
    const datesOf = async (month: string) => {
      const [row] = await rows(`instrumentId=month-end&from=${month}&to=${month}`)
      return [row?.["recordDate"], row?.["exDate"], row?.["paymentDate"]]
    }
    expect(await datesOf("2026-07")).toEqual(["2026-07-31", "2026-08-03", "2026-08-03"])
    expect(await datesOf("2027-02")).toEqual(["2027-02-28", "2027-03-01", "2027-03-02"])
    expect(await datesOf("2028-02")).toEqual(["2028-02-29", "2028-03-01", "2028-03-02"])
  })

  it("refuses malformed months, unknown zones and members, and months beyond its end, by name", async () => {
    const refused = [
      ["from=2026-13", "/query/from"],
      ["to=2026-7", "/query/to"],
      ["to=2126-07", "/query/to"],
      ["zone=Atlantis/Capital", "/query/zone"],
      ["periodState=due", "/query/periodState"]
    ] as const
    for (const [query, pointer] of refused) {
      const { status, text } = await fund.venue.read(`${path}?${query}`, "operator")
      const { errors } = JSON.parse(text) as Venue.Problem
      expect([query, status, errors?.map((error) => error.pointer)]).toEqual([
        query,
        400,
        [pointer]
      ])
    }
  })

  it("names the zone that it counted in beside its rows, also where there are none", async () => {
    for (const [query, zone] of [
      ["from=2026-07&to=2026-07", "UTC"],
      ["from=2026-07&to=2026-07&zone=Europe/Zurich&limit=1", "Europe/Zurich"],
      ["from=2026-07&to=2026-07&zone=Europe/Zurich&instrumentId=nothing", "Europe/Zurich"]
    ]) {
      const { text } = await fund.venue.read(`${path}?${query}`, "operator")
      const answer = JSON.parse(text) as { readonly zone: string; readonly value: unknown }
      expect([query, answer.zone]).toEqual([query, zone])
      if (query?.includes("nothing") === true) expect(answer.value).toEqual([])
    }
    const { text } = await fund.venue.read("/v1/holders/h1/statements?zone=Asia/Tokyo", "operator")
    expect(JSON.parse(text)).toMatchObject({ zone: "Asia/Tokyo" })
  })

  it("shows a month without holders as nil once it is executed, and as it was as of before", async () => {
    await fund.at("2026-07-28T12:00:00Z")
    await fund.publishes({ value: "0.0001", valuationTime: "2026-07-28T11:00:00Z" })
    expect(await states("")).toEqual(["2026-07 accruing", "2026-08 accruing"])
    await fund.at("2026-08-01T00:00:05Z")
    expect(await states("")).toEqual(["2026-07 accruing", "2026-08 accruing"])
    await fund.at("2026-08-01T00:02:00Z")
    expect(await states("")).toEqual(["2026-07 due", "2026-08 accruing"])
    const { text } = await fund.venue.read(path)
    const { now } = JSON.parse(text) as { readonly now: string }
    const nil = await fund.writes("/v1/distributions", { instrumentId: "fund-a", month: "2026-07" })
    expect(nil).toMatchObject({ totals: { holders: 0, gross: 0 } })
    expect(await states("")).toEqual(["2026-07 nil", "2026-08 accruing"])
    expect(await states(`asOf=${now}`)).toEqual(["2026-07 due", "2026-08 accruing"])
  })

  it("never shows investors and apps that a hold blocks a month", async () => {
    await fund.publishes({ value: "0.0001", valuationTime: "2026-08-03T11:00:00Z" })
    await fund.at("2026-09-01T00:02:00Z")
    await fund.writes("/v1/instruments/fund-a:pause", { reason: "an inquiry" })
    expect(await states("")).toEqual(["2026-07 nil", "2026-08 blocked"])
    for (const [as, claims] of [
      ["app", {}],
      ["investor", { holder: "h1" }]
    ] as const) {
      expect(await states("", as, claims)).toEqual(["2026-07 nil", "2026-08 due"])
    }
    const calendarRows = await rows("from=2026-08&to=2026-08", "investor", { holder: "h1" })
    expect(calendarRows.map(({ instrumentId }) => instrumentId)).toEqual(["fund-a"])
  })
})
