/** Vectors of a line's figures that need no story of their own, over HTTP: days, rates, negative income. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"

let fund: Distributing.Fund

const withholding = { ...Distributing.par.distribution, withholding: 0.3 }

beforeAll(async () => {
  fund = await Distributing.open({
    instruments: {
      "fund-a": { ...Distributing.par, distribution: withholding },
      "fund-b": Distributing.par
    },
    holders: ["alice", "bob", "carol"],
    admissions: { bob: ["fund-a"], carol: ["fund-a"] }
  })
  await fund.mints("alice", "1000000")
  for (const name of ["bob", "carol"]) await fund.mints(name, "100")
  await fund.mints("alice", "100000", "fund-b")
  await states("bob", null)
  await states("carol", "2026-08-01T00:00:00Z")
})
afterAll(() => fund.close())

/** States a verified rate of 0 of a holder, until an instant. */
const states = (holderId: string, validUntil: string | null) =>
  fund.writes(`/v1/holders/${holderId}:set-attributes`, {
    attributes: [
      {
        ...{ name: "tax-rate", value: "0", state: "valid", validUntil },
        ...{ validFrom: "2026-01-01T00:00:00Z", evidenceHash: "ab".repeat(32) }
      }
    ]
  })

const executes = async (instrumentId: string, month: string) => {
  await fund.writes("/v1/distributions", { instrumentId, month })
  return fund.lines(`${instrumentId}.${month}`)
}

/** Executes a month, and has its lines delivered and rolled before the next one. */
const pays = async (instrumentId: string, month: string, until: string) => {
  const lines = await executes(instrumentId, month)
  await fund.at(`${until}T00:01:00Z`)
  await fund.at(`${until}T02:00:00Z`)
  return lines
}

const entitlement = (line: Distributing.Figures | undefined) => line?.["entitlement"]
const rated = (line: Distributing.Figures | undefined) => [line?.["rate"], line?.["rateSource"]]

describe("the days of a point about a record date", () => {
  it("G21: July gets the Friday, and August the weekend at the Friday's income", async () => {
    await fund.at("2026-07-31T13:00:00Z")
    const income = { value: "0.000096553", withholdingRate: "0.15" }
    await fund.publishes({ ...income, valuationTime: "2026-07-31T12:00:00Z" })
    await publishesNegative()
    await fund.at("2026-08-01T00:02:00Z")
    const july = await pays("fund-a", "2026-07", "2026-08-04")
    expect(entitlement(july["alice"])).toBe("96.553")
    // G33: the point's rate, an own one of 0, and one that ran out at the very end of the record date.
    expect(["alice", "bob", "carol"].map((name) => rated(july[name]))).toEqual([
      ["0.15", "point"],
      ["0", "attribute"],
      ["0.15", "point"]
    ])
    await fund.publishes({ value: "0", valuationTime: "2026-08-03T12:00:00Z" })
    await fund.publishes({
      ...{ instrumentId: "fund-b", value: "0.0009", valuationTime: "2026-08-01T12:00:00Z" }
    })
    await fund.at("2026-09-01T00:02:00Z")
    const august = await executes("fund-a", "2026-08")
    expect(entitlement(august["alice"])).toBe("193.106")
    // Its points state no rate.
    expect(rated(august["alice"])).toEqual(["0.3", "default"])
  })
})

/** Points of G49: 20, 8 and 3 days of July, the second of them with a loss. */
const publishesNegative = async () => {
  for (const [day, value] of [
    ["01", "0.0000951"],
    ["21", "-0.0003"],
    ["29", "0.0000951"]
  ] as const) {
    const valuationTime = `2026-07-${day}T12:00:00Z`
    await fund.publishes({ instrumentId: "fund-b", value, valuationTime })
  }
}

describe("a month that lost more than it earned", () => {
  it("G49: pays nothing, and the next month pays what is left after the loss", async () => {
    const july = await executes("fund-b", "2026-07")
    const loss = { entitlement: "-21.27", gross: "0", carryOut: "-21.27", state: "carried" }
    expect(july["alice"]).toMatchObject(loss)
    await fund.at("2026-09-01T00:05:00Z")
    // 100,000 · 0.0009 · 31 = 2,790, less the loss.
    expect((await executes("fund-b", "2026-08"))["alice"]).toMatchObject({
      ...{ entitlement: "2790", carryIn: "-21.27", carriedFrom: "2026-07" },
      ...{ gross: "2768.73", withheld: "415.31", net: "2353.42", carryOut: "0" }
    })
  })
})
