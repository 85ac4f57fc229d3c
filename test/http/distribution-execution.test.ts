/** Executions of distributions over HTTP: figures that two people sign, lines on the ledger, refusals by name. */
import * as Templates from "@bursar/engine-core/templates"
import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"
import type * as Venue from "./venue.ts"

let fund: Distributing.Fund

beforeAll(async () => {
  fund = await Distributing.open({ holders: ["h1", "h2", "h3"] })
  for (const name of ["h1", "h2", "h3"]) await fund.mints(name, "333333.333333")
})
afterAll(() => fund.close())

const july = { instrumentId: "fund-a", month: "2026-07" }
const august = { ...july, month: "2026-08" }
const september = { ...july, month: "2026-09" }

const executes = (body: unknown, as?: string) => fund.calls("/v1/distributions", body, as)

/** A refused call: its status, its slug with the check that fails, the pointers of its errors. */
const refusal = async (body: unknown, as?: string) => {
  const { status, value } = await executes(body, as)
  const { type, gate, check, errors } = value as Distributing.Json & Partial<Venue.Problem>
  const slug = String(type).replace("urn:bursar:problem:", "")
  return {
    status,
    refused: slug === "rule-refused" ? `${gate}/${check}` : slug,
    pointers: (errors ?? []).map(({ pointer }) => pointer)
  }
}
const refusedBy = async (body: unknown) => (await refusal(body)).refused

/** Checks that fail in a precheck, in order, and its figures. */
const prechecks = async (query: string, role = "operator") => {
  const { gates, figures } = await fund.reads<{
    readonly gates: ReadonlyArray<{ gate: string; check: string; ok: boolean }>
    readonly figures: Distributing.Json | null
  }>(`/v1/instruments/fund-a/precheck?act=distribution.execute&${query}`, role)
  const failing = gates.filter(({ ok }) => !ok).map(({ gate, check }) => `${gate}/${check}`)
  return { failing, figures }
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/** Line of a third of a million units for four days, as the hash of the lines has it. */
const third = ["333333.333333", "127.67", "0", "19.15", "108.52", "0.0086666665"]
const linesHash = sha256(
  `bursar-lines-v1\n${sha256(JSON.stringify(["h1", "h2", "h3"].map((holder) => [holder, ...third])))}`
)

const events = async (type: string) =>
  (
    await fund.reads<ReadonlyArray<Distributing.Json>>("/v1/events?resourceKind=distribution")
  ).filter((event) => event["type"] === type)

describe("the execution of a distribution over HTTP", () => {
  it("refuses bad input by its member, and whoever may not execute", async () => {
    const pointers = [
      [{ ...july, month: "2026-13" }, "/body/month"],
      [{ ...july, month: "2026-7" }, "/body/month"],
      [{ ...july, month: "0000-01" }, "/body/month"],
      [{ ...july, month: "99999-01" }, "/body/month"],
      [{ ...july, month: "-2026-07" }, "/body/month"],
      [{ ...july, month: "2026-07 " }, "/body/month"],
      [{ ...july, month: "\u0662\u0660\u0662\u0666-\u0660\u0667" }, "/body/month"],
      [{ ...july, month: 202607 }, "/body/month"],
      [{ ...july, month: ["2026-07"] }, "/body/month"],
      [{ ...july, month: null }, "/body/month"],
      [{ ...july, distributionId: "m\u00fcnchen" }, "/body/distributionId"],
      [{ ...july, distributionId: "a/b" }, "/body/distributionId"],
      [{ ...july, distributionId: "d".repeat(129) }, "/body/distributionId"],
      [{ ...july, instrumentId: "fund-\u0430" }, "/body/instrumentId"],
      [{ ...july, acknowledgedRate: "0.15" }, "/body/acknowledgedRate"],
      [{ ...july, acknowledgedRate: {} }, "/body/acknowledgedRate"],
      [{ ...july, acknowledgedRate: 1.01 }, "/body/acknowledgedRate"],
      [{ ...july, acknowledgedRate: -0.1 }, "/body/acknowledgedRate"],
      [{ ...july, amount: 5 }, "/body/amount"],
      [{ month: "2026-07" }, "/body/instrumentId"]
    ] as const
    for (const [body, pointer] of pointers) {
      expect(await refusal(body)).toMatchObject({ status: 400, pointers: [pointer] })
    }
    for (const role of ["investor", "app", "registrar", "auditor", "risk", "compliance"]) {
      expect(await refusal(july, role)).toMatchObject({ status: 403 })
    }
    expect(await refusal({ ...july, instrumentId: "fund-z" })).toMatchObject({ status: 404 })
    // The last one is asked for without a walk through 8,000 years.
    for (const [month, refused] of [
      ["0001-01", "policy/distributes"],
      ["1969-12", "policy/distributes"],
      ["2026-05", "policy/distributes"],
      ["2026-06", "policy/in-order"],
      ["9998-12", "policy/in-order"],
      ["9999-12", "policy/distributes"]
    ] as const) {
      expect([month, await refusal({ ...july, month })]).toEqual([
        month,
        { status: 422, refused, pointers: [] }
      ])
      expect((await prechecks(`month=${month}`)).failing).toContain("policy/in-order")
    }
  })

  it("is refused without a point, and until a minute after its record date", async () => {
    expect(await refusedBy(july)).toBe("policy/in-order")
    await fund.at("2026-07-28T12:00:00Z")
    await fund.publishes({ value: "0.000095759", valuationTime: "2026-07-28T11:00:00Z" })
    expect(await refusedBy(july)).toBe("window/record-date-passed")
    expect(await refusedBy(august)).toBe("policy/in-order")
    await fund.at("2026-08-01T00:00:30Z")
    expect(await refusedBy(july)).toBe("window/record-date-passed")
    expect((await prechecks("month=2026-07")).failing).toEqual(["window/record-date-passed"])
  })

  it("shows, asks two people for, and pays the figures of vector G31", async () => {
    await fund.at("2026-08-01T00:02:00Z")
    const figures = {
      month: "2026-07",
      recordDate: "2026-07-31",
      rate: "0.15",
      lines: "3",
      entitlement: "383.0359999995",
      gross: "383.01",
      withheld: "57.45",
      net: "325.56",
      carried: "0.0259999995",
      residual: "0.0000000001",
      linesHash
    }
    expect(await prechecks("month=2026-07")).toMatchObject({ failing: [], figures })
    // The totals of a distribution are not shown to an app, nor is what they will be.
    expect(await prechecks("month=2026-07", "app")).toEqual({ failing: [], figures: null })
    expect((await prechecks("month=2026-07&acknowledgedRate=0.15")).failing).toEqual([
      "policy/rate-acknowledged"
    ])
    const answer = await executes(july)
    expect(answer).toMatchObject({ status: 202, value: { state: "awaiting" } })
    const approval = `/v1/approvals/${String(answer.value["actionKey"])}`
    expect(await fund.reads(approval, "approver")).toMatchObject({ figures })
    expect((await fund.registrar.sees(Templates.Distribution)).length).toBe(0)

    const approved = await fund.calls(`${approval}:approve`, {}, "approver")
    expect(approved.status).toBe(202)
    await fund.venue.settle()
    const operation = String(approved.value["operationId"])
    expect(await fund.reads(`/v1/operations/${operation}`)).toMatchObject({
      state: "succeeded",
      result: {
        distributionId: "fund-a.2026-07",
        linesHash,
        ratesSeen: [],
        totals: { holders: 3, gross: 383.01, withheld: 57.45, net: 325.56 },
        executedBy: { operationId: operation, standingApprovalId: null }
      }
    })
  })

  it("has its lines on the ledger, each for its holder, and shows them to none before delivery", async () => {
    const lines = await fund.registrar.sees(Templates.DistributionLine)
    expect(lines.map(({ payload }) => payload.lineId).toSorted()).toEqual([
      "fund-a.2026-07.1",
      "fund-a.2026-07.2",
      "fund-a.2026-07.3"
    ])
    for (const { payload } of lines) expect(payload.waits).toBe(false)
    const [contract] = await fund.registrar.sees(Templates.Distribution)
    expect(contract?.payload).toMatchObject({ month: "2026-07", sealed: true, linesHash })
    expect(await fund.wallet("h1").sees(Templates.DistributionLine)).toEqual([])
  })

  it("is refused for a month that is executed, and for one before it", async () => {
    expect(await refusal(july)).toMatchObject({ status: 409, refused: "state-conflict" })
    expect(await refusedBy({ ...july, distributionId: "again" })).toBe("state-conflict")
    expect(await refusedBy({ ...july, month: "2026-06" })).toBe("policy/in-order")
    expect(await refusedBy({ ...august, distributionId: "fund-a.2026-07" })).toBe("already-exists")
  })

  it("takes the latest of rates that differ, carries unrolled holders, and announces both", async () => {
    // The registrar delivers nothing of July, so that its holders are carried.
    fund.delivers({ accept: [] })
    await fund.at("2026-08-20T12:00:00Z")
    await fund.publishes({
      value: "0.00009",
      valuationTime: "2026-08-10T11:00:00Z",
      withholdingRate: "0.15"
    })
    await fund.publishes({
      value: "0.00009",
      valuationTime: "2026-08-20T11:00:00Z",
      withholdingRate: "0.2"
    })
    await fund.at("2026-09-01T00:02:00Z")
    expect(await refusedBy({ ...august, acknowledgedRate: 0.15 })).toBe("policy/rate-acknowledged")
    expect((await prechecks("month=2026-08&acknowledgedRate=0.2")).failing).toEqual([])
    const ended = await fund.venue.write("/v1/distributions", august)
    expect(ended).toMatchObject({
      state: "succeeded",
      result: { withholding: 0.2, ratesSeen: [0.15, 0.2], totals: { gross: 0, net: 0 } }
    })
    const payload = { month: "2026-08", rate: 0.2, ratesSeen: [0.15, 0.2] }
    expect(await events("distribution.rate-changed")).toMatchObject([{ payload }])
    expect(await events("distribution.carried")).toMatchObject([
      { payload: { month: "2026-08", carried: 3 } }
    ])
    const lines = await fund.registrar.sees(Templates.DistributionLine)
    expect(lines.filter(({ payload }) => payload.distributionId.endsWith("2026-08"))).toEqual([])
  })

  it("is refused under a hold, before all else", async () => {
    await fund.at("2026-09-20T12:00:00Z")
    await fund.publishes({ value: "0.00009", valuationTime: "2026-09-20T11:00:00Z" })
    const pausing = { reason: "an inquiry" }
    const paused = await fund.venue.write("/v1/instruments/fund-a:pause", pausing)
    expect(paused).toMatchObject({ state: "succeeded" })
    expect((await prechecks("month=2026-09")).failing).toEqual([
      "hold/not-held",
      "window/record-date-passed"
    ])
    expect(await refusedBy(september)).toBe("hold/not-held")
  })
})
