/** Distributions paid in units, and those that only report, over HTTP; a hold that stops the registrar on the ledger. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"

const july = { instrumentId: "fund-a", month: "2026-07" }
const path = "/v1/distributions/fund-a.2026-07"

const executes = async (fund: Distributing.Fund, body: object = july) => {
  const ended = await fund.venue.write("/v1/distributions", body)
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: "succeeded" })
}

const lineOf = async (fund: Distributing.Fund) =>
  (await fund.reads<ReadonlyArray<Distributing.Json>>(`${path}/lines`))[0]

const unitsOf = async (fund: Distributing.Fund, name: string) =>
  Decimal.formatPlain(
    Decimal.sum(
      (await fund.wallet(name).sees(Templates.Holding)).map(({ payload }) => payload.amount)
    )
  )

const publishes = (fund: Distributing.Fund, date: string, value: string) =>
  fund.publishes({ metric: "price", value, valuationTime: `${date}T11:00:00Z` })

describe("a month of an accumulating fund", () => {
  let fund: Distributing.Fund
  beforeAll(async () => {
    fund = await Distributing.open({ holders: ["alice", "bob"], terms: Distributing.accumulating })
    await fund.mints("alice", "12345.678901")
  })
  afterAll(() => fund.close())

  const contract = async () => (await fund.registrar.sees(Templates.Distribution))[0]

  /** Submits the delivery of the only line as the registrar, without its program. */
  const delivers = async (to: "alice" | "bob" = "alice") => {
    const [line] = await fund.registrar.sees(Templates.DistributionLine)
    const credential = (await fund.registrar.sees(Templates.Credential)).find(
      ({ payload }) => payload.holder === fund.wallet(to).party
    )
    const found = await contract()
    if (!line || !credential || !found) throw new Error("there is no line to deliver")
    return fund.registrar.acts(
      Templates.exercise(Templates.DistributionLine, line.contractId, "Deliver", {
        distributionCid: found.contractId,
        credentialCid: credential.contractId,
        configurationCid: null,
        evidence: null
      })
    )
  }

  it("pays what vector G16 says, in units at the ex price", async () => {
    await fund.at("2026-07-01T12:00:00Z")
    await publishes(fund, "2026-07-01", "1.0437")
    await fund.at("2026-07-31T12:00:00Z")
    await publishes(fund, "2026-07-31", "1.0481")
    await fund.at("2026-08-01T00:02:00Z")
    await executes(fund)
    await fund.at("2026-08-01T00:05:00Z")
    expect(await lineOf(fund)).toMatchObject({
      state: "due",
      entitlement: 54.3209871644,
      gross: 54.32,
      withheld: 8.15,
      net: 46.17,
      carryOut: 0.0009871644,
      payoutUnits: 44.236849
    })
    expect(await fund.reads(path)).toMatchObject({ state: "payable", payoutPrice: 1.0437 })
  })

  it("is closed on the ledger by a hold, so that the registrar cannot deliver", async () => {
    expect((await contract())?.payload.open).toBe(true)
    await expect(delivers()).rejects.toThrow("is not payable yet")
    const paused = await fund.venue.write("/v1/instruments/fund-a:pause", { reason: "an inquiry" })
    expect(paused).toMatchObject({ state: "succeeded" })
    await fund.at("2026-08-03T00:00:01Z")
    expect((await contract())?.payload.open).toBe(false)
    await expect(delivers()).rejects.toThrow("is not open")
    const { holdId } = paused["result"] as { readonly holdId: string }
    expect(await fund.reads(path)).toMatchObject({ state: "held", holdId })

    const released = await fund.venue.write(`/v1/holds/${holdId}:release`, {})
    expect(released, JSON.stringify(released)).toMatchObject({ state: "succeeded" })
    fund.delivers({ accept: [] })
    await fund.at("2026-08-03T00:05:00Z")
    await expect(delivers("bob")).rejects.toThrow("the credential is another holder's")
    fund.delivers(Distributing.policy)
    await fund.at("2026-08-03T00:10:00Z")
    expect(await lineOf(fund)).toMatchObject({ state: "delivered", evidence: null })
    expect(await unitsOf(fund, "alice")).toBe("12389.91575")
    const events = await fund.reads<ReadonlyArray<{ readonly type: string }>>(
      "/v1/events?resourceKind=distribution"
    )
    const moved = events.map(({ type }) => type).filter((type) => type.startsWith("distribution."))
    expect(moved).toEqual(["distribution.payable", "distribution.held", "distribution.payable"])
  })

  it("moves units by a movement of its own kind, which names the distribution that paid them", async () => {
    const paid = {
      kind: "distribution",
      units: 44.236849,
      from: null,
      to: fund.wallet("alice").party,
      reference: { resourceKind: "distribution", id: "fund-a.2026-07" }
    }
    for (const owner of ["instruments/fund-a", "holders/alice"]) {
      const moved = await fund.reads<ReadonlyArray<Distributing.Json>>(`/v1/${owner}/movements`)
      expect(moved.map(({ kind }) => kind)).toEqual(["mint", "distribution"])
      const filtered = await fund.reads<ReadonlyArray<Distributing.Json>>(
        `/v1/${owner}/movements?kind=distribution`
      )
      expect(filtered).toEqual([moved[1]])
      expect(filtered).toMatchObject([paid])
    }
  })

  it("is rolled by an operator before the engine does, and refuses to roll nothing", async () => {
    const rolled = await fund.venue.write(`${path}:roll`, {})
    expect(rolled).toMatchObject({ state: "succeeded", result: { state: "paid", lines: 1 } })
    expect((await fund.calls(`${path}:roll`, {})).status).toBe(409)
    expect((await fund.calls(`${path}:roll`, {}, "approver")).status).toBe(403)
  })

  it("is not executed again where its price has not gone ex", async () => {
    await fund.at("2026-08-28T12:00:00Z")
    await publishes(fund, "2026-08-28", "1.0471")
    await fund.at("2026-09-01T00:02:00Z")
    const refused = await fund.calls("/v1/distributions", { ...july, month: "2026-08" })
    expect(refused.value).toMatchObject({ gate: "policy", check: "went-ex" })
  })
})

describe("a month of a rebasing fund", () => {
  let fund: Distributing.Fund
  beforeAll(async () => {
    fund = await Distributing.open({
      holders: ["alice"],
      terms: Distributing.rebasing
    })
    await fund.mints("alice", "500")
  })
  afterAll(() => fund.close())

  it("reports the income that the units hold already, and pays nothing twice", async () => {
    await fund.at("2026-07-01T12:00:00Z")
    await fund.publishes({ metric: "index", value: "1.7", valuationTime: "2026-07-01T11:00:00Z" })
    await fund.at("2026-07-31T12:00:00Z")
    await fund.publishes({
      metric: "index",
      value: "1.7314",
      valuationTime: "2026-07-31T11:00:00Z"
    })
    await fund.at("2026-08-01T00:02:00Z")
    await executes(fund)
    await fund.at("2026-08-03T00:00:01Z")
    expect(await lineOf(fund)).toMatchObject({
      state: "delivered",
      gross: 15.7,
      rate: 0,
      withheld: 0,
      payoutUnits: null,
      evidence: null
    })
    expect(await unitsOf(fund, "alice")).toBe("500")
    await fund.at("2026-08-03T01:01:00Z")
    expect(await fund.reads(path)).toMatchObject({ state: "paid", rollState: "rolled" })
  })
})
