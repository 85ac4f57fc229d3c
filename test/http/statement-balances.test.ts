/**
 * Bank statements with and without balances over HTTP: files sent back to back, balances that do not
 * continue, and a month of income that is paid, or waits for a statement by name.
 */
import type { ConfiguredSource } from "@bursar/engine-core"
import { Duration } from "@bursar/engine-core/kernel"
import * as Statements from "@bursar/storage-adapters/statements"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"
import * as Venue from "./venue.ts"

const instruments = ["fund-a", "fund-b", "fund-c"] as const
type InstrumentId = (typeof instruments)[number]

const sourceOf = (
  externalSourceId: string,
  changes: Partial<ConfiguredSource.ConfiguredSource>
): ConfiguredSource.ConfiguredSource => ({
  externalSourceId: externalSourceId as ConfiguredSource.ConfiguredSource["externalSourceId"],
  kind: "cash",
  adapter: "json",
  instruments: ["fund-a"],
  // No day of the week is due, so that none is overdue on the way.
  calendar: [],
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

let fund: Distributing.Fund
beforeAll(async () => {
  const table = {
    encoding: "utf-8",
    delimiter: ",",
    decimal: ".",
    group: null,
    dateFormat: "yyyy-MM-dd",
    columns: { bookingDate: "Booked", amount: "Amount", bankReference: "Reference" }
  } as const
  fund = await Distributing.open({
    instruments: Object.fromEntries(instruments.map((id) => [id, Distributing.accumulating])),
    holders: ["alice"],
    plugged: Statements.layer,
    settings: {
      sealingKeys: [{ keyId: "k1", secret: new Uint8Array(32).fill(7) }],
      statementSources: [
        sourceOf("table", { adapter: "csv", csv: table, account: "account-a", balances: "none" }),
        sourceOf("silent", { instruments: ["fund-b"], account: "account-b" }),
        sourceOf("bank", { instruments: ["fund-c"], account: "account-c" }),
        sourceOf("administrator", {
          ...{ kind: "nav", validFor: Duration.of("P1D"), instruments: [...instruments] }
        })
      ]
    }
  })
  for (const [nth, instrumentId] of instruments.entries()) {
    await fund.mints("alice", "100", instrumentId)
    await fund.writes("/v1/external-accounts", {
      ...{ externalAccountId: `account-${"abc"[nth]}`, kind: "cash", instrumentId },
      ...{ currency: "USD", number: `0020155555555${nth}` }
    })
  }
})
afterAll(() => fund.close())

/** Hands in a file without running what it starts. */
const sends = async (
  query: string,
  body: string,
  type: "application/json" | "text/csv" = "application/json"
) => {
  const response = await Venue.send(fund.venue, {
    method: "POST",
    path: `/v1/external-statements?${query}`,
    as: await Venue.bearer(["operator"]),
    body,
    headers: { "content-type": type, "idempotency-key": crypto.randomUUID() }
  })
  const statement = await Venue.json<{ readonly externalStatementId: string }>(response)
  expect([response.status, statement]).toMatchObject([201, {}])
  return statement.externalStatementId
}

const cash = (businessDate: string, members: object = {}) =>
  JSON.stringify({ kind: "cash", businessDate, currency: "USD", lines: [], ...members })

const publishes = (instrumentId: InstrumentId, date: string, value: string) =>
  fund.publishes({ metric: "price", instrumentId, value, valuationTime: `${date}T11:00:00Z` })

/** Executes the July of an instrument, and has its lines and its run made. */
const executes = async (instrumentId: InstrumentId) => {
  const ended = await fund.venue.write("/v1/distributions", { instrumentId, month: "2026-07" })
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: "succeeded" })
  await fund.at("2026-08-01T00:05:00Z")
}

const distribution = (instrumentId: InstrumentId, as?: string, claims?: Distributing.Json) =>
  fund.reads(`/v1/distributions/${instrumentId}.2026-07`, as, claims)

interface Verdict {
  readonly verdict: string
  readonly runId: string
  readonly notCompared: ReadonlyArray<Distributing.Json>
}
const verdictOf = async (instrumentId: InstrumentId) => {
  const path = `/v1/reconciliation-verdict?instrumentId=${instrumentId}`
  const [verdict] = await fund.reads<ReadonlyArray<Verdict>>(path, "risk")
  if (verdict === undefined) throw new Error("no run covered the instrument")
  return verdict
}
const ofCash = ({ notCompared }: Verdict) =>
  notCompared.filter(({ check }) => check === "cash-balance")

const findings = async (instrumentId: InstrumentId) =>
  (
    await fund.reads<ReadonlyArray<Distributing.Json>>(
      `/v1/findings?instrumentId=${instrumentId}&check=cash-balance`,
      "risk"
    )
  ).map(({ difference, severity, state, subject }) =>
    [severity, (subject as Distributing.Json)["id"], state, difference].join(" ")
  )

describe("a month of income", () => {
  let unbalanced: string

  it("is cleared beside a table of entries, whose source states no balances, and says so", async () => {
    await fund.at("2026-07-01T12:00:00Z")
    for (const instrumentId of instruments) {
      await publishes(instrumentId, "2026-07-01", "1.0437")
    }
    await fund.at("2026-07-31T12:00:00Z")
    for (const instrumentId of instruments) {
      await publishes(instrumentId, "2026-07-31", "1.0481")
    }
    const rows = "Booked,Amount,Reference\n2026-07-30,5.00,B-1\n"
    await sends("externalSourceId=table&businessDate=2026-07-30", rows, "text/csv")
    unbalanced = await sends("externalSourceId=silent", cash("2026-07-30"))
    await fund.at("2026-08-01T00:02:00Z")
    await executes("fund-a")
    expect(await distribution("fund-a")).toMatchObject({ state: "payable" })
    const verdict = await verdictOf("fund-a")
    expect(verdict.verdict).toBe("findings")
    const [entry] = ofCash(verdict)
    expect(entry).toMatchObject({
      subject: { resourceKind: "external-source", id: "table" },
      ...{ why: "balances-none", isNeeded: false, instrumentId: "fund-a" }
    })
    const run = await fund.reads(`/v1/reconciliation-runs/${verdict.runId}`)
    expect(run["notCompared"]).toContainEqual(entry)
    expect(run["checks"]).toContainEqual(
      expect.objectContaining({ check: "cash-balance", ran: true, why: "nothing-to-compare" })
    )
    expect(await fund.reads("/v1/external-sources/table")).toMatchObject({ balances: "none" })
    expect(await fund.reads("/v1/external-sources/silent")).toMatchObject({ balances: "stated" })
  })

  it("waits for a statement that should have balances by its name, until it is corrected", async () => {
    await executes("fund-b")
    const shown = await distribution("fund-b")
    expect(shown).toMatchObject({
      state: "executed",
      waitingOn: [
        {
          ...{ party: null, role: "feed", action: "statement.correct", by: null },
          resource: { resourceKind: "external-statement", id: unbalanced }
        }
      ]
    })
    const [listed] = await fund.reads<ReadonlyArray<Distributing.Json>>(
      "/v1/distributions?instrumentId=fund-b"
    )
    expect(listed?.["waitingOn"]).toEqual(shown["waitingOn"])
    // An app learns of no statement.
    expect(JSON.stringify(await distribution("fund-b", "app"))).not.toContain(unbalanced)
    const verdict = await verdictOf("fund-b")
    expect(verdict.verdict).toBe("incomplete")
    expect(ofCash(verdict)).toMatchObject([
      { statementId: unbalanced, why: "opening-missing", isNeeded: true }
    ])
    // The next day's file, with balances, does not stand for it.
    await sends("externalSourceId=silent", cash("2026-07-31", { opening: "0", closing: "0" }))
    await fund.at("2026-08-01T00:20:00Z")
    expect(await distribution("fund-b")).toEqual(expect.objectContaining({ state: "executed" }))
    const body = cash("2026-07-30", { opening: "0", closing: "0" })
    await sends(`externalSourceId=silent&corrects=${unbalanced}`, body)
    await fund.at("2026-08-01T00:30:00Z")
    expect(await distribution("fund-b")).toMatchObject({ state: "payable" })
    expect(ofCash(await verdictOf("fund-b"))).toEqual([])
  })
})

describe("two statements that are sent back to back", () => {
  it("are both compared, and the second ends nothing that is found of the first", async () => {
    const first = await sends(
      "externalSourceId=bank",
      cash("2026-07-29", { opening: "0", closing: "100" })
    )
    await sends("externalSourceId=bank", cash("2026-07-30", { opening: "50", closing: "50" }))
    await fund.at("2026-08-01T00:40:00Z")
    const own = "blocking bank:2026-07-29 open 100"
    const linked = "blocking account-c:2026-07-30 open -50"
    expect((await findings("fund-c")).toSorted()).toEqual([linked, own])
    expect((await verdictOf("fund-c")).verdict).toBe("blocked")
    await sends("externalSourceId=bank", cash("2026-07-31", { opening: "50", closing: "50" }))
    await fund.at("2026-08-01T00:50:00Z")
    expect((await findings("fund-c")).toSorted()).toEqual([linked, own])
    const body = cash("2026-07-29", { opening: "50", closing: "50" })
    await sends(`externalSourceId=bank&corrects=${first}`, body)
    await fund.at("2026-08-01T01:00:00Z")
    expect(new Set(await findings("fund-c"))).toEqual(
      new Set([own.replace("open", "cleared"), linked.replace("open", "cleared")])
    )
  })
})

describe("a NAV of a source that no terms map as their feed", () => {
  it("is compared with the price of its date, and one without a price is named", async () => {
    const nav = (businessDate: string, official: string) =>
      sends(
        "externalSourceId=administrator&instrumentId=fund-c",
        JSON.stringify({ kind: "nav", businessDate, nav: { official, ripcord: false } })
      )
    const named = async () =>
      (await verdictOf("fund-c")).notCompared.filter(({ check }) => check === "nav-price")
    await nav("2026-07-30", "1")
    await fund.at("2026-08-01T01:10:00Z")
    expect(await named()).toMatchObject([
      { subject: { id: "administrator" }, why: "price-missing", isNeeded: false }
    ])
    await nav("2026-07-31", "2")
    await fund.at("2026-08-01T01:20:00Z")
    expect(await named()).toEqual([])
    const found = await fund.reads<ReadonlyArray<Distributing.Json>>(
      "/v1/findings?instrumentId=fund-c&check=nav-price",
      "risk"
    )
    expect(found).toMatchObject([
      { severity: "blocking", subject: { id: "administrator:2026-07-31" }, actual: 2 }
    ])
  })
})
