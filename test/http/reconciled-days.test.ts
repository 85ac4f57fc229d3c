/**
 * Days of a fund over HTTP: a bank, an administrator and a transfer agent hand in their statements, and
 * each difference is found by its check, holds, ages, and is cleared or released.
 */
import type { ConfiguredSource } from "@bursar/engine-core"
import { Duration } from "@bursar/engine-core/kernel"
import * as Statements from "@bursar/storage-adapters/statements"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"
import * as Venue from "./venue.ts"

let fund: Distributing.Fund

const sourceOf = (
  externalSourceId: string,
  changes: Partial<ConfiguredSource.ConfiguredSource>
): ConfiguredSource.ConfiguredSource => ({
  externalSourceId: externalSourceId as ConfiguredSource.ConfiguredSource["externalSourceId"],
  kind: "holdings",
  adapter: "json",
  instruments: ["fund-a"],
  calendar: ["monday", "tuesday", "wednesday", "thursday", "friday"],
  dueBy: { time: "06:00", zone: "UTC", daysAfter: 1 },
  grace: Duration.of("PT2H"),
  account: null,
  accountIs: null,
  basis: null,
  places: null,
  zone: "UTC",
  validFor: null,
  reversals: "as-marked",
  assets: null,
  csv: null,
  ...changes
})

beforeAll(async () => {
  fund = await Distributing.open({
    terms: {
      ...{ valuation: "accumulating", holderCap: 100 },
      navFeed: { externalSourceId: "administrator", grace: "PT2H" },
      navGuardrail: { up: 0.05, down: 0.05 }
    },
    holders: ["alice", "bob"],
    plugged: Statements.layer,
    settings: {
      sealingKeys: [{ keyId: "k1", secret: new Uint8Array(32).fill(7) }],
      statementSources: [
        sourceOf("agent", { accountIs: "holder" }),
        sourceOf("administrator", { kind: "nav", validFor: Duration.of("P1D") }),
        sourceOf("bank", { kind: "cash", account: "account-1" })
      ]
    }
  })
  await fund.mints("alice", "100")
  await fund.mints("bob", "20.5")
  await fund.writes("/v1/external-accounts", {
    ...{ externalAccountId: "account-1", kind: "cash", instrumentId: "fund-a" },
    ...{ currency: "USD", number: "CH93 0076 2011 6238 5295 7" }
  })
})
afterAll(() => fund.close())

// ---- what outside parties hand in

const hand = async (source: string, body: object, corrects: string | null = null) => {
  const response = await Venue.send(fund.venue, {
    method: "POST",
    path:
      `/v1/external-statements?externalSourceId=${source}` +
      (corrects === null ? "" : `&corrects=${corrects}`),
    as: await Venue.bearer(["feed"]),
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() }
  })
  const receipt = await Venue.json<{ readonly externalStatementId: string }>(response)
  expect([response.status, receipt]).toMatchObject([201, {}])
  await fund.venue.settle()
  return receipt.externalStatementId
}

interface Day {
  readonly date: string
  readonly units?: string
  readonly stated?: object
  readonly nav?: string
  readonly ripcord?: boolean
  readonly outstanding?: string
  readonly entries?: ReadonlyArray<object>
  readonly closing?: string
  /** Statements of the day that these ones correct. */
  readonly corrects?: Handed
}
/** Ids of the statements of a day. */
interface Handed {
  readonly agent: string
  readonly administrator: string
  readonly bank: string
}

/** Hands in the three statements of a day, as of its evening; returns their ids. */
const handDay = async (stated: Day): Promise<Handed> => {
  const day = { businessDate: stated.date, asOf: `${stated.date}T19:00:00Z` }
  const lines = [
    { account: "alice", quantity: stated.units ?? "100" },
    { account: "bob", quantity: "20.5" }
  ]
  const { corrects = null } = stated
  return {
    agent: await hand(
      "agent",
      { kind: "holdings", ...day, ...stated.stated, lines },
      corrects?.agent ?? null
    ),
    administrator: await hand(
      "administrator",
      {
        ...{ kind: "nav", ...day, totalQuantity: stated.outstanding ?? "120.5" },
        nav: { official: stated.nav ?? "1", ripcord: stated.ripcord ?? false }
      },
      corrects?.administrator ?? null
    ),
    bank: await hand(
      "bank",
      {
        ...{ kind: "cash", ...day, currency: "USD", opening: "0", closing: stated.closing ?? "0" },
        lines: stated.entries ?? []
      },
      corrects?.bank ?? null
    )
  }
}

/** The evening of a day on which the oracle published this price. */
const evening = async (date: string, price: string) => {
  await fund.at(`${date}T17:00:00Z`)
  await fund.publishes({ metric: "price", value: price, valuationTime: `${date}T16:00:00Z` })
  await fund.at(`${date}T20:00:00Z`)
}

// ---- what the venue reads

interface Run {
  readonly runId: string
  readonly verdict: string
  readonly checks: ReadonlyArray<{
    readonly check: string
    readonly ran: boolean
    readonly why: string | null
  }>
}

const runs = async (): Promise<Run> => {
  const { status, value } = await fund.calls("/v1/reconciliation-runs", {})
  expect(status).toBe(201)
  return value as unknown as Run
}

interface Found {
  readonly findingId: string
  readonly check: string
  readonly severity: string
  readonly subject: { readonly id: string }
  readonly ageDays: number
}

const openFindings = () =>
  fund.reads<ReadonlyArray<Found>>("/v1/findings?state=open&instrumentId=fund-a", "risk")

const found = async () =>
  (await openFindings()).map(({ check, severity, subject }) => `${severity} ${check} ${subject.id}`)

const verdictOf = async (query = "") =>
  (
    await fund.reads<ReadonlyArray<Distributing.Json>>(
      `/v1/reconciliation-verdict?instrumentId=fund-a${query}`,
      "monitor"
    )
  )[0]

const eventsOf = async (type: string) =>
  fund.reads<ReadonlyArray<Distributing.Json>>(`/v1/events?type=${type}&limit=1000`, "auditor")

/** Source and date of each event of an overdue statement. */
const overdueDates = async () =>
  (await eventsOf("statement.overdue")).map(
    ({ payload, resourceId }) =>
      `${String(resourceId)} ${String((payload as Distributing.Json)["businessDate"])}`
  )

const feedState = async () =>
  (await fund.reads<Distributing.Json>("/v1/instruments/fund-a"))["navFeedState"]

const idle = "nothing-to-compare"

describe("a day on which all agree", () => {
  it("is clear: every check ran, or had nothing to compare", async () => {
    await evening("2026-07-01", "1")
    await handDay({ date: "2026-07-01" })
    const { checks, verdict } = await runs()
    expect(
      Object.fromEntries(checks.map(({ check, ran, why }) => [check, ran ? why : `! ${why}`]))
    ).toEqual({
      "register-supply": null,
      "movements-balance": null,
      "register-line": null,
      "statement-total": null,
      "lots-holdings": null,
      "supply-outstanding": null,
      "nav-price": null,
      "nav-movement": idle,
      "nav-usable": null,
      "statement-overdue": null,
      "statement-gap": null,
      "cash-settlement": idle,
      "cash-unmatched": idle,
      "cash-balance": null,
      "burned-unpaid": idle,
      "claim-aging": idle,
      "custody-reserve": idle,
      "reserve-cover": idle,
      "reserve-report": idle,
      "reserve-price-fresh": idle,
      "distribution-recompute": idle,
      "distribution-identity": idle,
      "distribution-unpaid": idle,
      "suspended-lines": idle,
      "restriction-effect": idle,
      "admission-effect": null,
      "holder-cap": null,
      "projection-drift": null,
      "orphan-locks": idle,
      "policy-replay": idle
    })
    expect([verdict, await found()]).toEqual(["clear", []])
    expect(await verdictOf()).toMatchObject({ verdict: "clear", open: { blocking: 0 } })
    expect(await feedState()).toBe("usable")
  })

  it("has its sources with the newest date of each, and an event of each statement", async () => {
    const sources = await fund.reads<ReadonlyArray<Distributing.Json>>("/v1/external-sources")
    expect(
      sources.map(({ externalSourceId, lastBusinessDate, state }) => [
        ...[externalSourceId, lastBusinessDate, state]
      ])
    ).toEqual(["administrator", "agent", "bank"].map((source) => [source, "2026-07-01", "active"]))
    expect(await fund.reads("/v1/external-sources/bank", "auditor")).toEqual(sources[2])
    expect(await eventsOf("statement.received")).toHaveLength(3)
    const started = await fund.reads<ReadonlyArray<Run>>(
      "/v1/reconciliation-runs?trigger=statement",
      "approver"
    )
    expect(started.map(({ verdict }) => verdict)).toContain("clear")
  })
})

describe("a day on which every statement differs", () => {
  let handed: Handed
  const wrong = {
    date: "2026-07-02",
    units: "90",
    stated: { totalQuantity: "120.5" },
    nav: "1",
    outstanding: "121.5",
    entries: [
      {
        ...{ bookingDate: "2026-07-02", amount: "50", direction: "credit" },
        ...{ currency: "USD", bankReference: "B-1" }
      }
    ],
    closing: "49"
  }

  it("is blocked: each difference is a finding of its check, and one hold stops payouts", async () => {
    await evening("2026-07-02", "1.003")
    handed = await handDay(wrong)
    expect((await runs()).verdict).toBe("blocked")
    expect((await found()).toSorted()).toEqual([
      "blocking cash-balance bank:2026-07-02",
      "blocking nav-price administrator:2026-07-02",
      "blocking register-line alice",
      "blocking statement-total agent:2026-07-02",
      "blocking supply-outstanding administrator:2026-07-02",
      "warning cash-unmatched account-1:B-1"
    ])
    const holds = await fund.reads<ReadonlyArray<Distributing.Json>>("/v1/holds?state=open")
    expect(holds).toMatchObject([{ source: "reconciliation", blocks: ["distribution"] }])
    expect(holds[0]?.["findings"]).toHaveLength(5)
    expect(await eventsOf("reconciliation.hold")).toHaveLength(1)
    expect((await eventsOf("reconciliation.finding")).at(-1)).toMatchObject({
      payload: { counts: { "register-line": 1, "cash-unmatched": 1 } }
    })
    expect((await eventsOf("reconciliation.run")).at(-1)).toMatchObject({
      payload: { trigger: "manual", verdict: "blocked" }
    })
  })

  it("would have one finding less at the price that the NAV confirms, and stores none of it", async () => {
    const before = await openFindings()
    const blocking = (verdict: Distributing.Json | undefined) =>
      (verdict?.["open"] as Distributing.Json)["blocking"]
    expect(blocking(await verdictOf())).toBe(5)
    expect(blocking(await verdictOf("&price=1"))).toBe(4)
    expect(blocking(await verdictOf("&policyVersion=1"))).toBe(5)
    expect(await openFindings()).toEqual(before)
  })

  it("is clear again once it is corrected, and its hold is released by two", async () => {
    await fund.at("2026-07-03T21:00:00Z")
    await runs()
    expect(new Set((await openFindings()).map(({ ageDays }) => ageDays))).toContain(1)
    await handDay({ date: "2026-07-02", nav: "1.003", corrects: handed })
    await runs()
    expect((await found()).filter((text) => text.startsWith("blocking"))).toEqual([])
    const [hold] = await fund.reads<ReadonlyArray<Distributing.Json>>("/v1/holds?state=open")
    await fund.writes(`/v1/holds/${String(hold?.["holdId"])}:release`, {})
    expect(await eventsOf("hold.released")).toHaveLength(1)
    await fund.venue.settle()
    const [latest] = await fund.reads<ReadonlyArray<Run>>("/v1/reconciliation-runs?trigger=release")
    expect(latest?.verdict).not.toBe("blocked")
    const { text } = await fund.venue.read(`/v1/external-statements/${handed.agent}`, "risk")
    expect(text).toContain('"supersededBy":"est_')
  })
})

describe("days with a gap, a leap of the NAV, a suspended one, and none at all", () => {
  it("warn by name while an order waits for its price, and block from the second missing date", async () => {
    await fund.at("2026-07-06T12:00:00Z")
    const order = { instrumentId: "fund-a", holderId: "alice", payment: "wire", amount: 100 }
    await fund.writes("/v1/subscriptions", { subscriptionId: "sub-1", ...order }, "app")
    await evening("2026-07-06", "1.2")
    await handDay({ date: "2026-07-06", nav: "1.2" })
    await runs()
    const gaps = ["administrator", "agent", "bank"].map((id) => `warning statement-gap ${id}`)
    expect((await found()).toSorted()).toEqual(["warning nav-movement administrator", ...gaps])
    expect(await feedState()).toBe("deviating")

    await evening("2026-07-07", "1.2")
    await handDay({ date: "2026-07-07", nav: "0", ripcord: true })
    await runs()
    expect(await found()).toContain("warning nav-usable administrator")
    expect(await feedState()).toBe("ripcord")

    await fund.at("2026-07-10T09:00:00Z")
    await runs()
    const shown = await found()
    for (const id of ["administrator", "agent", "bank"]) {
      expect(shown).toContain(`blocking statement-overdue ${id}`)
    }
    expect(shown).toContain("warning claim-aging sub-1")
    const overdue = await overdueDates()
    for (const id of ["administrator", "agent", "bank"]) {
      for (const date of ["2026-07-08", "2026-07-09"]) expect(overdue).toContain(`${id} ${date}`)
    }
    await runs()
    const again = await overdueDates()
    expect([again, new Set(again).size]).toEqual([overdue, overdue.length])
  })
})
