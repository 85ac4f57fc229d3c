/** Two months of a par fund under a standing approval over HTTP: nobody acts at the API, only programs at the ledger's door. */
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
const passes = async (of: {
  readonly date: string
  readonly ends: string
  readonly paid: string
}) => {
  await fund.at(`${of.date}T12:00:00Z`)
  await fund.publishes({ value: "0.000095759", valuationTime: `${of.date}T11:00:00Z` })
  for (const time of ["00:02:00", "00:04:00", "00:06:00"]) await fund.at(`${of.ends}T${time}Z`)
  for (const time of ["00:00:01", "01:01:00"]) await fund.at(`${of.paid}T${time}Z`)
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
})
