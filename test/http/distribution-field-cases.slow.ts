/** Named cases of distributions from the field over HTTP: trades about the record date's midnight, and a payment that fails. */
import { Date, Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"

let fund: Distributing.Fund

beforeAll(async () => {
  fund = await Distributing.open({
    terms: { ...Distributing.par, businessZone: "America/Los_Angeles" },
    holders: ["alice", "bob", "carol", "dave"]
  })
  await fund.mints("alice", "1000")
  await fund.mints("dave", "500")
})
afterAll(() => fund.close())

const july = "fund-a.2026-07"

const trades = (to: string) => fund.moves({ from: "alice", to, units: "100" })

/** Lines that a wallet was delivered, with their nets. */
const delivered = async (name: string) =>
  (await fund.wallet(name).sees(Templates.DeliveredLine)).map(
    ({ payload }) => `${payload.lineId} ${Decimal.formatPlain(payload.net)}`
  )

const stateOf = async (name: string) => (await fund.lines(july))[name]?.["state"]

const wire = { reference: "wire", paidOn: Date.of("2026-08-03") }

/** Submits the delivery of a line as the registrar, without its program. */
const delivers = async (lineId: string, evidence: typeof wire | null) => {
  const lines = await fund.registrar.sees(Templates.DistributionLine)
  const line = lines.find(({ payload }) => payload.lineId === lineId)
  const [distribution] = await fund.registrar.sees(Templates.Distribution)
  if (!line || !distribution) throw new Error(`there is no line ${lineId} to deliver`)
  return fund.registrar.acts(
    Templates.exercise(Templates.DistributionLine, line.contractId, "Deliver", {
      ...{ distributionCid: distribution.contractId, credentialCid: null, configurationCid: null },
      evidence
    })
  )
}

const payment = (paid: string, paidOn: string) => ({
  paid,
  reference: `wire of ${paid}`,
  paidOn: Date.of(paidOn)
})

describe("a trade about the end of the record date in Los Angeles", () => {
  it("before its midnight earns for the buyer; one who buys after the record date earns nothing", async () => {
    await fund.at("2026-07-31T21:00:00Z")
    await fund.publishes({ value: "0.01", valuationTime: "2026-07-31T20:00:00Z" })
    const frozen = { mode: "freeze", reason: "pledge" }
    await fund.writes("/v1/holders/dave:restrict", frozen, "compliance")
    // August has begun in UTC, and not in the zone of the fund.
    await fund.at("2026-08-01T06:58:00Z")
    await trades("bob")
    await fund.at("2026-08-01T07:00:01Z")
    await trades("carol")
    await fund.at("2026-08-01T07:02:00Z")
    await fund.writes("/v1/distributions", { instrumentId: "fund-a", month: "2026-07" })
    await fund.at("2026-08-01T07:05:00Z")
    const lines = await fund.lines(july)
    expect(
      Object.entries(lines).map(([payee, line]) => `${payee} ${line["units"]} ${line["gross"]}`)
    ).toEqual(["alice 900 9", "bob 100 1", "dave 500 5"])
  })
})

describe("Ravencoin 840: a frozen wallet", () => {
  it("never is paid with the others, whatever the registrar's program pays", async () => {
    fund.pays([
      payment("fund-a.2026-07.1", "2026-08-03"),
      payment("fund-a.2026-07.3", "2026-08-03")
    ])
    await fund.at("2026-08-03T07:00:01Z")
    expect(await stateOf("alice")).toBe("delivered")
    expect(await stateOf("dave")).toBe("suspended")
    expect(await delivered("dave")).toEqual([])
    await expect(delivers("fund-a.2026-07.3", wire)).rejects.toThrow(/wait/u)
  })

  it("is told at the ledger's door why a payment without its evidence is none", async () => {
    expect(await stateOf("bob")).toBe("due")
    for (const [evidence, why] of [
      [null, "a payment of cash has its evidence"],
      [{ ...wire, reference: "" }, "the payment has no reference"],
      [{ ...wire, paidOn: Date.of("2026-08-05") }, "the day of the payment has not begun"]
    ] as const) {
      await expect(delivers("fund-a.2026-07.2", evidence)).rejects.toThrow(why)
    }
    expect(await stateOf("bob")).toBe("due")
  })
})

describe("Mass Payout: a payee whose wallet failed", () => {
  it("is paid once on the next try, and those who were paid are not paid again", async () => {
    expect(await stateOf("bob")).toBe("due")
    expect(await delivered("alice")).toEqual(["fund-a.2026-07.1 7.65"])
    await fund.at("2026-08-04T12:00:00Z")
    expect([await stateOf("alice"), await stateOf("bob")]).toEqual(["delivered", "due"])
    // The bank's list of the next try names everybody again.
    fund.pays([payment("fund-a.2026-07", "2026-08-04")])
    await fund.at("2026-08-04T12:05:00Z")
    await fund.at("2026-08-04T12:10:00Z")
    expect(await delivered("alice")).toEqual(["fund-a.2026-07.1 7.65"])
    expect(await delivered("bob")).toEqual(["fund-a.2026-07.2 0.85"])
    expect(await fund.lines(july)).toMatchObject({
      alice: { paidOn: "2026-08-03" },
      bob: { state: "delivered", paidOn: "2026-08-04" },
      dave: { state: "suspended" }
    })
  })
})
