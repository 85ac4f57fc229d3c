/** Gates of an execution over HTTP: every check refuses the act as its precheck says, and rates that differ by vector G36. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"
import type * as Venue from "./venue.ts"

const { accumulating, par } = Distributing

/** Funds whose points state 0.15 first and 0.2 later: how vector G36 acts on each of them. */
const rated = ["announced", "acknowledged", "refusing", "scheduled", "strictly-scheduled"] as const

let fund: Distributing.Fund

const publishesRates = async (instrumentId: string) => {
  for (const [day, withholdingRate] of [
    ["2026-07-20", "0.15"],
    ["2026-07-28", "0.2"]
  ] as const) {
    const valuationTime = `${day}T11:00:00Z`
    await fund.publishes({ instrumentId, value: "0.0001", valuationTime, withholdingRate })
  }
}

const granted = (instrumentId: string, rateChange: "alert" | "refuse") => ({
  standingApprovalId: `of-${instrumentId}`,
  instrumentId,
  until: "2026-12-01T00:00:00Z",
  rateChange
})

interface Asked {
  readonly instrumentId: string
  readonly month: string
  readonly acknowledgedRate?: number
}

/** The check that refuses an execution; its precheck has to name the same, and as its first. */
const refusedBy = async (request: Asked): Promise<string> => {
  const { instrumentId, month, acknowledgedRate } = request
  const { status, value } = await fund.calls("/v1/distributions", request)
  const { type, gate, check } = value as Distributing.Json & Partial<Venue.Problem>
  const rate = acknowledgedRate === undefined ? "" : `&acknowledgedRate=${acknowledgedRate}`
  const { gates, allowed } = await fund.reads<{
    readonly allowed: boolean
    readonly gates: ReadonlyArray<Record<"gate" | "check", string> & { readonly ok: boolean }>
  }>(`/v1/instruments/${instrumentId}/precheck?act=distribution.execute&month=${month}${rate}`)
  const first = gates.find(({ ok }) => !ok)
  expect({ request, status, type, allowed, check: `${gate}/${check}` }).toEqual({
    request,
    status: 422,
    type: "urn:bursar:problem:rule-refused",
    allowed: false,
    check: `${first?.gate}/${first?.check}`
  })
  return `${gate}/${check}`
}

const july = (instrumentId: string) => ({ instrumentId, month: "2026-07" })

const rateChanges = async () =>
  (
    await fund.reads<ReadonlyArray<Distributing.Json>>(
      "/v1/events?resourceKind=distribution&type=distribution.rate-changed"
    )
  ).map(({ resourceId }) => resourceId)

/** Each announcement of a fund's July: null, or the slug of the refusal. */
const dues = async (instrumentId: string) =>
  (
    await fund.reads<ReadonlyArray<{ readonly payload: Distributing.Json }>>(
      `/v1/events?type=distribution.due&instrumentId=${instrumentId}`
    )
  ).map(({ payload }) => (payload["refused"] as { readonly problem: string } | null)?.problem)

const executions = async (instrumentId: string) =>
  (
    await fund.reads<ReadonlyArray<{ readonly resource: { readonly id: string } }>>(
      "/v1/operations?kind=distribution.execute"
    )
  ).filter(({ resource }) => resource.id === `${instrumentId}.2026-07`)

describe("under a deployment that alerts", () => {
  beforeAll(async () => {
    fund = await Distributing.open({
      instruments: {
        ...Object.fromEntries(rated.map((instrumentId) => [instrumentId, par])),
        unrolled: par,
        priced: { ...accumulating, navFeed: { externalSourceId: "nav-1", grace: "PT2H" } },
        "cum-price": accumulating,
        "never-paid": {
          ...par,
          distribution: { ...par.distribution, schedule: "none", calendar: null }
        }
      },
      holders: ["h1"]
    })
    for (const instrumentId of [...rated, "unrolled", "cum-price"]) {
      await fund.mints("h1", "1000", instrumentId)
    }
    await fund.sets("refusing", { rateChange: "refuse" })
    await fund.sets("unrolled", { partialDistribution: "refuse" })
    await fund.writes("/v1/standing-approvals", granted("scheduled", "alert"))
    await fund.writes("/v1/standing-approvals", granted("strictly-scheduled", "refuse"))
    // No line is delivered, so that July's are not rolled in August.
    fund.delivers({ accept: [] })
  })
  afterAll(() => fund.close())

  describe("an execution and its precheck", () => {
    it("are refused alike where nothing is distributed, no point is dated, or a hold is open", async () => {
      expect(await refusedBy(july("never-paid"))).toBe("policy/distributes")
      expect(await refusedBy(july("announced"))).toBe("policy/in-order")
      const held = await fund.writes("/v1/instruments/announced:pause", { reason: "an inquiry" })
      expect(await refusedBy(july("announced"))).toBe("hold/not-held")
      await fund.writes(`/v1/holds/${String(held["holdId"])}:release`, {})
    })

    it("are refused alike until the record date has passed", async () => {
      await fund.at("2026-07-28T12:00:00Z")
      for (const instrumentId of rated) await publishesRates(instrumentId)
      await fund.publishes({
        instrumentId: "unrolled",
        value: "0.001",
        valuationTime: "2026-07-28T11:00:00Z"
      })
      for (const instrumentId of ["priced", "cum-price"]) {
        for (const [day, value] of [
          ["01", "1.00"],
          ["28", "1.05"]
        ] as const) {
          const valuationTime = `2026-07-${day}T11:00:00Z`
          await fund.publishes({ instrumentId, metric: "price", value, valuationTime })
        }
      }
      expect(await refusedBy(july("cum-price"))).toBe("window/record-date-passed")
      await fund.at("2026-08-01T00:00:59Z")
      expect(await refusedBy(july("cum-price"))).toBe("window/record-date-passed")
      await fund.at("2026-08-01T00:02:00Z")
      await fund.writes("/v1/distributions", july("cum-price"))
    })

    it("are refused alike where the feed of a price cannot be used", async () => {
      expect(await refusedBy(july("priced"))).toBe("nav-feed/feed-usable")
    })

    it("are refused alike where a price has not gone ex, and where policy waits for earlier lines", async () => {
      await fund.writes("/v1/distributions", july("unrolled"))
      await fund.at("2026-08-28T12:00:00Z")
      const valuationTime = "2026-08-28T11:00:00Z"
      await fund.publishes({ instrumentId: "unrolled", value: "0.001", valuationTime })
      await fund.publishes({
        instrumentId: "cum-price",
        metric: "price",
        value: "1.04",
        valuationTime
      })
      expect(await refusedBy({ instrumentId: "cum-price", month: "2026-08" })).toBe(
        "policy/went-ex"
      )
      expect(await refusedBy({ instrumentId: "unrolled", month: "2026-08" })).toBe(
        "policy/lines-rolled"
      )
    })
  })

  describe("G36: rates that differ in the points of a month", () => {
    it("a a –: are executed at the latest and announced, and another rate cannot be acknowledged", async () => {
      const request = { ...july("announced"), acknowledgedRate: 0.15 }
      expect(await refusedBy(request)).toBe("policy/rate-acknowledged")
      expect(await fund.writes("/v1/distributions", july("announced"))).toMatchObject({
        withholding: 0.2,
        ratesSeen: [0.15, 0.2],
        acknowledgedRate: null
      })
      expect(await rateChanges()).toContain("announced.2026-07")
    })

    it("a a 0.2: are executed without an event where the latest is acknowledged", async () => {
      const request = { ...july("acknowledged"), acknowledgedRate: 0.2 }
      expect(await fund.writes("/v1/distributions", request)).toMatchObject({
        withholding: 0.2,
        acknowledgedRate: 0.2
      })
      expect(await rateChanges()).not.toContain("acknowledged.2026-07")
    })

    it("a r –: are blocked by the policy's word; a r 0.2: and no longer once acknowledged", async () => {
      expect(await refusedBy(july("refusing"))).toBe("policy/rate-change")
      const [row] = await fund.reads<ReadonlyArray<Distributing.Json>>(
        "/v1/distribution-calendar?instrumentId=refusing&from=2026-07&to=2026-07"
      )
      expect(row).toMatchObject({ periodState: "blocked" })
      const request = { ...july("refusing"), acknowledgedRate: 0.2 }
      expect(await fund.writes("/v1/distributions", request)).toMatchObject({ withholding: 0.2 })
      expect(await rateChanges()).not.toContain("refusing.2026-07")
    })

    it("a a a by the scheduler: are executed with the event", async () => {
      expect(await executions("scheduled")).toMatchObject([{ state: "succeeded", role: null }])
      expect(await dues("scheduled")).toEqual([undefined])
      expect(await rateChanges()).toContain("scheduled.2026-07")
    })

    it("a a r by the scheduler: are refused by the approval's word, and announced with the refusal", async () => {
      expect((await executions("strictly-scheduled"))[0]).toMatchObject({
        state: "failed",
        problem: { gate: "policy", check: "rate-change" }
      })
      expect(await dues("strictly-scheduled")).toEqual([undefined, "rule-refused"])
      expect(await rateChanges()).not.toContain("strictly-scheduled.2026-07")
    })
  })
})

describe("under a deployment that refuses", () => {
  beforeAll(async () => {
    fund = await Distributing.open({ holders: ["h1"], settings: { rateChange: "refuse" } })
    await fund.mints("h1", "1000")
    await fund.writes("/v1/standing-approvals", granted("fund-a", "alert"))
    await fund.at("2026-07-28T12:00:00Z")
    await publishesRates("fund-a")
  })
  afterAll(() => fund.close())

  it("G36: r a a by the scheduler: the month is blocked and no operation is opened", async () => {
    for (const time of ["00:02:00", "00:04:00"]) await fund.at(`2026-08-01T${time}Z`)
    expect(await executions("fund-a")).toEqual([])
    expect(await dues("fund-a")).toEqual([undefined])
    expect(await refusedBy(july("fund-a"))).toBe("policy/rate-change")
  })
})
