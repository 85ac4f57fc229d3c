/** Golden vector G48 over HTTP: which year a payment counts in, and whole units of the sums, by text. */
import { Date } from "@bursar/engine-core/kernel"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Csv from "./csv-reader.ts"
import * as Distributing from "./distributing.ts"
import * as Http from "./venue.ts"

const { accumulating, par } = Distributing

let fund: Distributing.Fund

const income = (instrumentId: string, date: string, value: string, withholdingRate?: string) =>
  fund.publishes({
    ...{ instrumentId, value, valuationTime: `${date}T11:00:00Z` },
    ...(withholdingRate === undefined ? {} : { withholdingRate })
  })
const price = (date: string, value: string) =>
  fund.publishes({
    ...{ instrumentId: "units", metric: "price", value },
    valuationTime: `${date}T11:00:00Z`
  })
const executes = (instrumentId: string, month: string) =>
  fund.writes("/v1/distributions", { instrumentId, month })

beforeAll(async () => {
  fund = await Distributing.open({
    instruments: { cash: par, taxed: par, units: accumulating },
    holders: ["twice", "once", "paid"],
    admissions: { twice: ["cash"], once: ["taxed"], paid: ["units"] }
  })
  await fund.mints("twice", "69", "cash")
  await fund.mints("once", "1049", "taxed")
  await fund.mints("paid", "1000", "units")
})
afterAll(() => fund.close())

/** Figures of an object of a tax statement as they are written, without trailing zeros. */
const figuresOf = (text: string, name: "totals" | "wholeUnits") => {
  const [, members = ""] = new RegExp(`"${name}":\\{([^}]*)\\}`, "u").exec(text) ?? []
  return Object.fromEntries(
    [...members.matchAll(/"(\w+)":([0-9.]+)/gu)].map(([, member = "", figure = ""]) => [
      member,
      figure.replace(/\.?0+$/u, "") || "0"
    ])
  )
}

const statementOf = async (holderId: string, year: number, zone = "UTC") => {
  const path = `/v1/holders/${holderId}/tax-statements/${year}?zone=${zone}`
  const { status, text } = await fund.venue.read(path)
  expect(status).toBe(200)
  return text
}

const sumsOf = async (holderId: string) => {
  const text = await statementOf(holderId, 2026)
  return [figuresOf(text, "totals"), figuresOf(text, "wholeUnits")]
}

/** Days on which the payments of a year count. */
const daysOf = async (holderId: string, year: number, zone?: string) =>
  [...(await statementOf(holderId, year, zone)).matchAll(/"paidOn":"([^"]+)"/gu)].map(
    ([, day]) => day
  )

/** Lines of a distribution in its table. */
const tableOf = async (distributionId: string) => {
  const answer = await Http.send(fund.venue, {
    path: `/v1/distributions/${distributionId}/export?format=csv`,
    as: await Http.bearer(["auditor"])
  })
  return Csv.records(await answer.text()).map(
    ({ gross, withheld, net, paidOn }) => `${gross} ${withheld} ${net} ${paidOn}`
  )
}

describe("G48: tax statements over HTTP", () => {
  beforeAll(async () => {
    await fund.at("2026-07-01T12:00:00Z")
    for (const id of ["cash", "taxed"]) await income(id, "2026-07-01", "0")
    await price("2026-07-01", "1")
    await fund.at("2026-07-31T12:00:00Z")
    await income("cash", "2026-07-31", "0.01")
    await income("taxed", "2026-07-31", "0.01", "0.2383")
    await price("2026-07-31", "1.01")
    await fund.at("2026-08-01T00:02:00Z")
    fund.delivers({ accept: ["cash.2026-07", "taxed.2026-07"] })
    for (const id of ["cash", "taxed", "units"]) await executes(id, "2026-07")
    await fund.at("2026-08-01T12:00:00Z")
    await income("cash", "2026-08-01", "0")
    await fund.at("2026-08-03T00:00:01Z")
    await fund.at("2026-08-15T12:00:00Z")
    await fund.mints("twice", "1", "cash")
    await fund.at("2026-08-31T12:00:00Z")
    await income("cash", "2026-08-31", "0.01")
    await fund.at("2026-09-01T00:02:00Z")
    await executes("cash", "2026-08")
    await fund.at("2026-09-03T00:00:01Z")
    fund.delivers({ accept: ["units.2026-07"] })
    await fund.at("2027-01-01T04:30:00Z")
    fund.delivers({ accept: "all" })
    fund.pays([{ paid: "cash.2026-08", reference: "wire", paidOn: Date.of("2026-12-31") }])
    await fund.at("2027-01-02T12:00:00Z")
  })

  it("round whole units from the sums, never each payment for itself", async () => {
    const none = { equalisation: "0", repaid: "0" }
    expect(await sumsOf("twice")).toEqual([
      { ...none, gross: "1.39", withheld: "0.21", net: "1.18" },
      { equalisation: "0", gross: "1", withheld: "0", net: "1" }
    ])
    expect(await sumsOf("once")).toEqual([
      { ...none, gross: "10.49", withheld: "2.5", net: "7.99" },
      { equalisation: "0", gross: "10", withheld: "3", net: "8" }
    ])
  })

  it("count cash on the day that its evidence names, never on the day it was delivered on", async () => {
    expect(await daysOf("twice", 2026)).toEqual(["2026-08-03", "2026-12-31"])
    expect(await daysOf("twice", 2027)).toEqual([])
    expect(await tableOf("cash.2026-07")).toEqual([
      "0.6900000000 0.1000000000 0.5900000000 2026-08-03"
    ])
    expect(await tableOf("cash.2026-08")).toEqual([
      "0.7000000000 0.1100000000 0.5900000000 2026-12-31"
    ])
  })

  it("count units on the day of the delivery in the zone: two years of one instant", async () => {
    expect(await daysOf("paid", 2026, "America/New_York")).toEqual(["2026-12-31"])
    expect(await daysOf("paid", 2027, "America/New_York")).toEqual([])
    expect(await daysOf("paid", 2026)).toEqual([])
    expect(await daysOf("paid", 2027)).toEqual(["2027-01-01"])
  })
})
