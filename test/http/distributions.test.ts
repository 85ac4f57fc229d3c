/** Three months of a par fund over HTTP: executed by two people, cleared, delivered, rolled and carried; one holder frozen and cured. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import * as Distributing from "./distributing.ts"

let fund: Distributing.Fund

beforeAll(async () => {
  fund = await Distributing.open({ holders: ["alice", "bob", "carol"] })
  await fund.mints("alice", "1000000")
  await fund.mints("bob", "333333.333333")
  await fund.mints("carol", "1000")
})
afterAll(() => fund.close())

const executed = async (month: string) => {
  const body = { instrumentId: "fund-a", month }
  const ended = await fund.venue.write("/v1/distributions", body)
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: "succeeded" })
}

const idOf = (month: string) => `fund-a.${month}`

const stateOf = (month: string) =>
  fund.venue.run(
    Effect.gen(function* () {
      const records = yield* Records
      return (yield* records.get(distributions, idOf(month))).state
    })
  )

/** Figures and state of each line, by its holder. */
const linesOf = (month: string) =>
  fund.venue.run(
    Effect.gen(function* () {
      const records = yield* Records
      const where = { distributionId: [idOf(month)] }
      const found = yield* Stream.runCollect(records.stream(distributionLines, { where }))
      return Object.fromEntries(
        found.map(({ record }) => {
          const { state, reason, carriedFrom } = record
          const [carryIn, gross, withheld, net, carryOut] = [
            record.carryIn,
            record.gross,
            record.withheld,
            record.net,
            record.carryOut
          ].map(Decimal.formatPlain)
          const figures = { carryIn, carriedFrom, gross, withheld, net, carryOut }
          return [record.holderId ?? "", { state, reason, ...figures }]
        })
      )
    })
  )

const statesOf = async (month: string) =>
  Object.fromEntries(
    Object.entries(await linesOf(month)).map(([holderId, { state }]) => [holderId, state])
  )

const contractOf = async (month: string) =>
  (await fund.registrar.sees(Templates.Distribution)).find(({ payload }) => payload.month === month)
    ?.payload

const received = async (name: string) =>
  (await fund.wallet(name).sees(Templates.DeliveredLine)).map(
    ({ payload }) => `${payload.lineId} ${Decimal.formatPlain(payload.net)}`
  )

/** Events of distributions, in order. */
const events = async () =>
  (
    await fund.reads<ReadonlyArray<{ readonly type: string; readonly resourceId: string }>>(
      "/v1/events?resourceKind=distribution"
    )
  )
    .filter(({ type }) => type.startsWith("distribution."))
    .map(({ type, resourceId }) => `${resourceId} ${type}`)

const publishes = (date: string, value: string) =>
  fund.publishes({ value, valuationTime: `${date}T11:00:00Z` })

describe("three months of a par fund", () => {
  it("July is cleared by a run of its own, and open to the registrar but for a frozen holder", async () => {
    await fund.at("2026-07-28T12:00:00Z")
    await publishes("2026-07-28", "0.000095759")
    const frozen = await fund.venue.write(
      "/v1/holders/carol:restrict",
      { mode: "freeze", reason: "pledge" },
      "compliance"
    )
    expect(frozen).toMatchObject({ state: "succeeded" })
    await fund.at("2026-08-01T00:02:00Z")
    await executed("2026-07")
    await fund.at("2026-08-01T00:05:00Z")
    expect(await stateOf("2026-07")).toBe("payable")
    expect(await contractOf("2026-07")).toMatchObject({ sealed: true, open: true })
    expect(await linesOf("2026-07")).toMatchObject({
      alice: { state: "due", gross: "383.03", withheld: "57.45", net: "325.58", carryOut: "0.006" },
      bob: { state: "due", gross: "127.67", withheld: "19.15", net: "108.52" },
      carol: { state: "suspended", reason: "restriction", gross: "0.38", net: "0.32" }
    })
    const runs = await fund.reads<ReadonlyArray<Distributing.Json>>("/v1/reconciliation-runs")
    expect(runs).toMatchObject([{ trigger: "schedule", verdict: "clear" }])
  })

  it("nothing is delivered before the payment date, and then every line that does not wait", async () => {
    await fund.at("2026-08-02T23:59:00Z")
    expect(await statesOf("2026-07")).toEqual({ alice: "due", bob: "due", carol: "suspended" })
    await fund.at("2026-08-03T00:00:01Z")
    expect(await statesOf("2026-07")).toEqual({
      alice: "delivered",
      bob: "delivered",
      carol: "suspended"
    })
    expect(await received("alice")).toEqual(["fund-a.2026-07.1 325.58"])
    expect(await received("carol")).toEqual([])
    expect(await stateOf("2026-07")).toBe("payable")
  })

  it("the engine rolls it an hour after the last delivery, which makes it paid", async () => {
    await fund.at("2026-08-03T00:50:00Z")
    expect(await statesOf("2026-07")).toMatchObject({ alice: "delivered" })
    await fund.at("2026-08-03T01:01:00Z")
    expect(await statesOf("2026-07")).toEqual({
      alice: "rolled",
      bob: "rolled",
      carol: "suspended"
    })
    expect(await stateOf("2026-07")).toBe("paid")
    expect(await received("alice")).toEqual([])
    expect(await events()).toEqual([
      "fund-a.2026-07 distribution.payable",
      "fund-a.2026-07 distribution.paid"
    ])
  })

  it("August takes in what July left over, and carries the holder that July has not paid", async () => {
    await fund.at("2026-08-31T12:00:00Z")
    await publishes("2026-08-31", "0.0001")
    await fund.at("2026-09-01T00:02:00Z")
    await executed("2026-08")
    // July's last point lends August its days up to the thirtieth: 30 days, and one of August's own.
    expect(await linesOf("2026-08")).toMatchObject({
      alice: { state: "due", carryIn: "0.006", carriedFrom: "2026-07" },
      bob: { state: "due", carryIn: "0.0086666665", carriedFrom: "2026-07" },
      carol: { state: "carried", reason: "unrolled", gross: "0", net: "0" }
    })
    await fund.at("2026-09-03T00:00:01Z")
    await fund.at("2026-09-03T01:01:00Z")
    expect(await stateOf("2026-08")).toBe("paid")
    expect((await events()).slice(2)).toEqual([
      "fund-a.2026-08 distribution.carried",
      "fund-a.2026-08 distribution.payable",
      "fund-a.2026-08 distribution.paid"
    ])
  })
})
