/** Months of a par fund over HTTP: executed by two people, cleared, delivered, rolled and carried, with one holder frozen and cured. */
import { verify } from "@bursar/engine-core"
import { Basis, Date as CalendarDate, Decimal, PlainJson } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
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

const distribution = (month: string) =>
  fund.reads<Distributing.Json>(`/v1/distributions/${idOf(month)}`)

const stateOf = async (month: string) => (await distribution(month))["state"]

interface Line extends Distributing.Json {
  readonly lineId: string
  readonly holderId: string
  readonly state: string
}

/** Lines of a month by their holder. */
const linesOf = async (month: string): Promise<Readonly<Record<string, Line>>> => {
  const found = await fund.reads<ReadonlyArray<Line>>(`/v1/distributions/${idOf(month)}/lines`)
  return Object.fromEntries(found.map((line) => [line.holderId, line]))
}

const Detailed = Schema.Struct({ value: Schema.Struct({ basis: Schema.Array(Basis.Basis) }) })

/** Figures of a holder's line, computed again from the basis that the API shows. */
const recomputed = async (month: string, holderId: string) => {
  const { lineId } = (await linesOf(month))[holderId] ?? { lineId: "" }
  const { text } = await fund.venue.read(`/v1/distributions/${idOf(month)}/lines/${lineId}`)
  const { value } = Schema.decodeUnknownSync(Detailed)(Result.getOrThrow(PlainJson.parse(text)))
  return Object.fromEntries(
    value.basis.map((basis) => [basis.field, Result.getOrThrow(verify(basis))])
  )
}

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

describe("the months of a par fund", () => {
  let restrictionId = ""

  it("July is cleared by a run of its own, and open to the registrar but for a frozen holder", async () => {
    await fund.at("2026-07-28T12:00:00Z")
    await publishes("2026-07-28", "0.000095759")
    const frozen = await fund.venue.write(
      "/v1/holders/carol:restrict",
      { mode: "freeze", reason: "pledge" },
      "compliance"
    )
    expect(frozen).toMatchObject({ state: "succeeded" })
    restrictionId = String((frozen["result"] as Distributing.Json)["restrictionId"])
    await fund.at("2026-08-01T00:02:00Z")
    await executed("2026-07")
    await fund.at("2026-08-01T00:05:00Z")
    expect(await stateOf("2026-07")).toBe("payable")
    expect(await contractOf("2026-07")).toMatchObject({ sealed: true, open: true })
    expect(await linesOf("2026-07")).toMatchObject({
      alice: { state: "due", gross: 383.03, withheld: 57.45, net: 325.58, carryOut: 0.006 },
      bob: { state: "due", gross: 127.67, withheld: 19.15, net: 108.52 },
      carol: { state: "suspended", reason: "restriction", gross: 0.38, net: 0.32 }
    })
    expect(await distribution("2026-07")).toMatchObject({
      rollState: "waiting",
      counts: { due: 2, suspended: 1, delivered: 0, rolled: 0, carried: 0, void: 0 },
      totals: { holders: 3, gross: 511.08, net: 434.42 },
      waitingOn: [
        { party: fund.registrar.party, action: "DistributionLine.Deliver" },
        { role: "operator", action: "distribution.roll" }
      ]
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
    expect((await linesOf("2026-07"))["bob"]).toMatchObject({
      paidOn: "2026-08-03",
      evidence: { reference: "fund-a.2026-07.2", paidOn: "2026-08-03" }
    })
    expect(await distribution("2026-07")).toMatchObject({ state: "payable", rollState: "ready" })
  })

  it("every figure of a line follows from the basis that is shown with it", async () => {
    expect(await recomputed("2026-07", "bob")).toMatchObject({
      entitlement: "127.6786666665",
      gross: "127.67",
      withheld: "19.15",
      net: "108.52",
      carryOut: "0.0086666665"
    })
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
    expect(await distribution("2026-07")).toMatchObject({
      state: "paid",
      rollState: "rolled",
      counts: { suspended: 1, rolled: 2 },
      waitingOn: []
    })
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
      alice: { state: "due", carryIn: 0.006, carriedFrom: "2026-07" },
      bob: { state: "due", carryIn: 0.0086666665, carriedFrom: "2026-07" },
      carol: { state: "carried", reason: "unrolled", gross: 0, net: 0 }
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

  it("the frozen holder is paid what July owed once the restriction is lifted, and July stays paid", async () => {
    const before = await events()
    const lifted = await fund.venue.write(`/v1/restrictions/${restrictionId}:lift`, {
      reason: "the pledge has ended"
    })
    expect(lifted).toMatchObject({ state: "succeeded" })
    expect(await statesOf("2026-07")).toMatchObject({ carol: "due" })
    await fund.at("2026-09-10T12:00:00Z")
    await fund.at("2026-09-10T12:01:00Z")
    expect((await linesOf("2026-07"))["carol"]).toMatchObject({
      state: "delivered",
      net: 0.32,
      paidOn: "2026-09-10"
    })
    await fund.at("2026-09-10T13:05:00Z")
    expect(await statesOf("2026-07")).toMatchObject({ carol: "rolled" })
    expect(await stateOf("2026-07")).toBe("paid")
    expect(await events()).toEqual(before)
  })

  it("September pays the cured holder what August carried", async () => {
    const carried = (await linesOf("2026-08"))["carol"]
    await fund.at("2026-09-30T12:00:00Z")
    await publishes("2026-09-30", "0.0001")
    await fund.at("2026-10-01T00:02:00Z")
    await executed("2026-09")
    await fund.at("2026-10-05T00:00:01Z")
    const line = (await linesOf("2026-09"))["carol"]
    expect(line).toMatchObject({ state: "delivered", carriedFrom: "2026-08" })
    expect(line?.["carryIn"]).toBe(carried?.["carryOut"])
  })

  it("October counts as paid on the day of its delivery where the evidence names a day before the record date", async () => {
    await fund.at("2026-10-05T01:10:00Z")
    await fund.at("2026-10-30T12:00:00Z")
    await publishes("2026-10-30", "0.0001")
    await fund.at("2026-11-01T00:02:00Z")
    await executed("2026-10")
    fund.pays([
      { paid: idOf("2026-10"), reference: "early", paidOn: CalendarDate.of("2026-10-15") }
    ])
    await fund.at("2026-11-03T00:00:01Z")
    const line = (await linesOf("2026-10"))["alice"]
    expect(line).toMatchObject({
      state: "delivered",
      paidOn: "2026-11-03",
      evidence: { reference: "early", paidOn: "2026-10-15" }
    })
    await fund.venue.write("/v1/reconciliation-runs", {})
    const found = await fund.reads<ReadonlyArray<Distributing.Json>>(
      "/v1/findings?check=policy-replay&instrumentId=fund-a"
    )
    // Each line is a breach of its own.
    const lineIds = Object.values(await linesOf("2026-10")).map(({ lineId }) => lineId)
    expect(lineIds).toHaveLength(3)
    expect(
      found.toSorted((a, b) =>
        JSON.stringify(a["subject"]) < JSON.stringify(b["subject"]) ? -1 : 1
      )
    ).toMatchObject(
      lineIds.toSorted().map((id) => ({ severity: "blocking", state: "open", subject: { id } }))
    )
  })
})
