/**
 * Two months of a par fund under a standing approval over HTTP: no person calls the API; only
 * programs act at the ledger's door.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"

let fund: Distributing.Fund

beforeAll(async () => {
  fund = await Distributing.open({ holders: ["alice", "bob"] })
  await fund.mints("alice", "1000000")
  await fund.mints("bob", "333333.333333")
  const granted = await fund.venue.write("/v1/standing-approvals", {
    standingApprovalId: "monthly",
    instrumentId: "fund-a",
    until: "2027-01-01T00:00:00Z",
    maxNet: 700
  })
  expect(granted, JSON.stringify(granted)).toMatchObject({ state: "succeeded" })
})
afterAll(() => fund.close())

const distribution = (month: string) =>
  fund.reads<Distributing.Json>(`/v1/distributions/fund-a.${month}`)

const dues = async () =>
  (
    await fund.reads<ReadonlyArray<{ readonly type: string; readonly payload: Distributing.Json }>>(
      "/v1/events?type=distribution.due"
    )
  ).map(({ payload }) => ({ month: payload["month"], refused: payload["refused"] }))

/** Publishes a point of a month, and lets its record date and payment date pass. */
const passes = async (period: {
  readonly date: string
  readonly ends: string
  readonly paid: string
}) => {
  await fund.at(`${period.date}T12:00:00Z`)
  await fund.publishes({ value: "0.000095759", valuationTime: `${period.date}T11:00:00Z` })
  for (const time of ["00:02:00", "00:04:00", "00:06:00"]) await fund.at(`${period.ends}T${time}Z`)
  for (const time of ["00:00:01", "01:01:00"]) await fund.at(`${period.paid}T${time}Z`)
}

describe("distributions under a standing approval", () => {
  it("July runs by itself from its record date to paid", async () => {
    await passes({ date: "2026-07-28", ends: "2026-08-01", paid: "2026-08-03" })
    expect(await distribution("2026-07")).toMatchObject({
      state: "paid",
      counts: { due: 0, rolled: 2 },
      executedBy: { standingApprovalId: "monthly" }
    })
    expect(await dues()).toEqual([{ month: "2026-07", refused: null }])
    expect(await fund.reads("/v1/standing-approvals/monthly")).toMatchObject({
      state: "active",
      uses: 1,
      usedNet: 434.1
    })
    const operations = await fund.reads<ReadonlyArray<Distributing.Json>>(
      "/v1/operations?kind=distribution.execute"
    )
    expect(operations).toMatchObject([{ state: "succeeded", role: null, maker: null }])
  })

  it("August passes the limit of the approval: it is refused, announced once, and paid by people", async () => {
    await passes({ date: "2026-08-03", ends: "2026-09-01", paid: "2026-09-03" })
    expect(await dues()).toMatchObject([
      { month: "2026-07", refused: null },
      { month: "2026-08", refused: null },
      { month: "2026-08", refused: { problem: "rule-refused" } }
    ])
    expect(await fund.reads("/v1/standing-approvals/monthly")).toMatchObject({
      state: "active",
      uses: 1,
      usedNet: 434.1
    })
    await fund.venue.write("/v1/distributions", { instrumentId: "fund-a", month: "2026-08" })
    for (const time of ["01:10:00", "02:20:00"]) await fund.at(`2026-09-03T${time}Z`)
    expect(await distribution("2026-08")).toMatchObject({
      state: "paid",
      executedBy: { standingApprovalId: null }
    })
    expect(await dues()).toHaveLength(3)
  })

  it("both months and the approval are told in events of their own, each by its type and its record", async () => {
    const revoked = await fund.venue.write("/v1/standing-approvals/monthly:revoke", {})
    expect(revoked, JSON.stringify(revoked)).toMatchObject({ state: "succeeded" })
    const approval = { resourceKind: "standing-approval", resourceId: "monthly" }
    const month = (name: string) => ({
      resourceKind: "distribution",
      resourceId: `fund-a.2026-${name}`,
      payload: { month: `2026-${name}` }
    })
    const action = "distribution.execute"
    const announced = {
      "standing-approval.granted": [{ ...approval, payload: { action, rateChange: "alert" } }],
      "standing-approval.revoked": [{ ...approval, payload: { action } }],
      "distribution.payable": [month("07"), month("08")],
      "distribution.paid": [month("07"), month("08")]
    }
    for (const [type, expected] of Object.entries(announced)) {
      const found = await fund.reads<ReadonlyArray<object>>(`/v1/events?type=${type}`)
      expect(found, type).toHaveLength(expected.length)
      expect(found, type).toMatchObject(
        expected.map((event) => ({ ...event, type, kind: "control", instrumentId: "fund-a" }))
      )
      const [first] = expected
      const { resourceId, resourceKind } = first!
      const ofRecord = `resourceKind=${resourceKind}&resourceId=${resourceId}&type=${type}`
      expect(await fund.reads(`/v1/events?${ofRecord}`), type).toMatchObject([first])
    }
    const due = await fund.reads("/v1/events?resourceKind=scheduled-distribution")
    expect(due).toMatchObject([
      { resourceId: "fund-a:2026-07", type: "distribution.due", kind: "control" },
      { resourceId: "fund-a:2026-08", type: "distribution.due", kind: "control" },
      { resourceId: "fund-a:2026-08", type: "distribution.due", kind: "control" }
    ])
    // Beside the runs of every day, which are of the whole venue.
    const ofFund = "/v1/events?type=reconciliation.run&instrumentId=fund-a"
    const runs = await fund.reads<ReadonlyArray<object>>(ofFund)
    expect(runs.at(-1)).toMatchObject({
      resourceKind: "reconciliation-run",
      instrumentId: "fund-a",
      payload: { trigger: "schedule", verdict: "clear", findings: 0 }
    })
  })

  it("what was paid is a series of the instrument, by the day of each payment", async () => {
    const path = "/v1/instruments/fund-a/series?metric=distributions&interval=month&from=2026-08-01"
    const { points } = await fund.reads<{ readonly points: ReadonlyArray<object> }>(path)
    const [august, september] = await Promise.all(
      ["07", "08"].map(
        async (month) =>
          (await distribution(`2026-${month}`))["totals"] as { readonly net: unknown }
      )
    )
    expect(points).toMatchObject([
      { start: "2026-08-01T00:00:00.000000Z", sum: august?.net },
      { start: "2026-09-01T00:00:00.000000Z", sum: september?.net }
    ])
  })
})
