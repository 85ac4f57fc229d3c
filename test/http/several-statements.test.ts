/**
 * Files of a bank with several statements over HTTP: recorded all or none, each entry pays once, and the
 * answer lists what the file has.
 */
import type { ConfiguredSource } from "@bursar/engine-core"
import { Duration } from "@bursar/engine-core/kernel"
import * as Statements from "@bursar/storage-adapters/statements"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Bank from "../operations/bank-files.ts"
import * as Distributing from "./distributing.ts"
import * as Venue from "./venue.ts"

const source: ConfiguredSource.ConfiguredSource = {
  externalSourceId: "bank" as ConfiguredSource.ConfiguredSource["externalSourceId"],
  kind: "cash",
  adapter: "camt.053",
  instruments: ["fund-a"],
  // No day of the week is due, so that none is overdue on the way.
  calendar: [],
  dueBy: { time: "06:00", zone: "UTC", daysAfter: 1 },
  grace: Duration.of("PT2H"),
  account: "account-a",
  accountIs: null,
  basis: null,
  places: null,
  zone: "UTC",
  validFor: null,
  reversals: "as-marked",
  assets: null,
  csv: null
}

let fund: Distributing.Fund
beforeAll(async () => {
  const terms = { ...Distributing.accumulating, pricing: "historic" }
  fund = await Distributing.open({
    instruments: { "fund-a": terms },
    holders: ["alice"],
    priced: [{ instrumentId: "fund-a", unitDecimals: 6, pricing: "historic" as const }],
    plugged: Statements.layer,
    settings: {
      sealingKeys: [{ keyId: "k1", secret: new Uint8Array(32).fill(7) }],
      statementSources: [source]
    }
  })
  await fund.writes("/v1/external-accounts", {
    ...{ externalAccountId: "account-a", kind: "cash", instrumentId: "fund-a" },
    ...{ currency: "USD", number: Bank.number }
  })
  await fund.publishes({
    ...{ instrumentId: "fund-a", metric: "price", value: "1" },
    valuationTime: "2026-06-30T11:00:00Z"
  })
  for (const nth of [1, 2, 3]) {
    const order = { instrumentId: "fund-a", holderId: "alice", payment: "wire", amount: 100 }
    await fund.writes("/v1/subscriptions", { subscriptionId: `order-${nth}`, ...order })
  }
  await fund.work()
})
afterAll(() => fund.close())

interface Answer {
  readonly status: number
  readonly location: string | null
  readonly body: Readonly<Record<string, unknown>>
}

/** Statements that an answer lists, as `date recorded`. */
const listed = ({ body }: Answer) =>
  (body["statements"] as ReadonlyArray<Readonly<Record<string, unknown>>>).map(
    ({ businessDate, recorded }) => `${businessDate} ${recorded}`
  )
const idsOf = ({ body }: Answer): ReadonlyArray<string> =>
  (body["statements"] as ReadonlyArray<{ readonly externalStatementId: string }>).map(
    ({ externalStatementId }) => externalStatementId
  )

/** Hands a file in. */
const hand = async (
  statements: ReadonlyArray<Bank.BankStatement>,
  options: {
    readonly role?: "feed" | "operator"
    readonly query?: string
    readonly name?: string
  } = {}
): Promise<Answer> => {
  const response = await Venue.send(fund.venue, {
    method: "POST",
    path: `/v1/external-statements?externalSourceId=bank${options.query ?? ""}`,
    as: await Venue.bearer([options.role ?? "operator"]),
    body: Bank.camt(statements, options),
    headers: { "content-type": "application/xml", "idempotency-key": crypto.randomUUID() }
  })
  const answer = {
    status: response.status,
    location: response.headers.get("location"),
    body: await Venue.json<Readonly<Record<string, unknown>>>(response)
  }
  await fund.venue.settle()
  return answer
}

const sunday = "2026-06-28"
const monday = "2026-06-29"
const paid = (reference: string | null, date: string): Bank.Booked => ({
  ...{ amount: 100, reference, date }
})

/** Sunday in two statements, each with a payment that says what the other one says; Monday repeats one. */
const first: Bank.BankStatement = {
  ...{ date: sunday, sequence: 1, opening: 0, booked: [paid(null, sunday), paid("B", sunday)] }
}
const second: Bank.BankStatement = {
  ...{ date: sunday, sequence: 2, opening: 200, booked: [paid(null, sunday)] }
}
const third: Bank.BankStatement = {
  ...{ date: monday, sequence: 3, opening: 300, booked: [paid("C", monday), paid("B", sunday)] }
}

/** Delivers an order by a line; empty: delivered, else the check that refused it. */
const delivers = async (nth: number, statementId: string, line: number) => {
  const path = `/v1/subscriptions/order-${nth}:deliver`
  const ended = await fund.venue.write(path, { cash: [{ statementId, line, amount: 100 }] })
  if (ended["state"] === "succeeded") return ""
  return ((ended["problem"] ?? ended) as Readonly<Record<string, string>>)["check"]
}

interface Shown {
  readonly statement: Readonly<Record<string, unknown>>
  readonly lines: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly raw: string
}

const findings = async () => {
  const scope = { instrumentIds: ["fund-a"], checks: ["cash-balance"] }
  expect(await fund.calls("/v1/reconciliation-runs", { scope })).toMatchObject({ status: 201 })
  const query = "state=open&instrumentId=fund-a&check=cash-balance"
  const found = await fund.reads<ReadonlyArray<Distributing.Json>>(`/v1/findings?${query}`, "risk")
  return found.map(({ difference, severity, subject }) => [
    ...[severity, (subject as Distributing.Json)["id"], difference]
  ])
}

describe("a file with several statements", () => {
  let whole: Answer

  it("is refused whole, at the statement and the element, where one of them is", async () => {
    const gap = await hand([first, { ...second, opening: 1 }])
    expect([gap.status, gap.body["check"]]).toEqual([422, "statement-of-date"])
    expect(gap.body["errors"]).toMatchObject([{ pointer: "/body/Document/BkToCstmrStmt/Stmt/1" }])
    const broken = await hand([first, { ...third, booked: [paid("C", "no date")] }])
    expect([broken.status, broken.body["check"]]).toEqual([422, "statement-field"])
    expect(broken.body["errors"]).toMatchObject([
      { pointer: "/body/Document/BkToCstmrStmt/Stmt/1/Ntry/0" }
    ])
    expect(await fund.reads("/v1/external-statements", "risk")).toEqual([])
  })

  it("is recorded in order, and its newest statement answers with all of them", async () => {
    whole = await hand([first, second, third], { role: "feed" })
    expect(whole.status).toBe(201)
    expect(listed(whole)).toEqual([`${sunday} true`, `${sunday} true`, `${monday} true`])
    const [one, two, three] = idsOf(whole)
    expect(whole.location).toBe(`/v1/external-statements/${three}`)
    expect(Object.keys(whole.body).toSorted()).toEqual(
      ["businessDate", "contentHash", "externalStatementId", "statements"].toSorted()
    )
    const list = await fund.reads<ReadonlyArray<Distributing.Json>>(
      "/v1/external-statements",
      "risk"
    )
    expect(
      list.map(({ externalStatementId, placeInDay, sequence }) => [
        ...[externalStatementId, placeInDay, sequence]
      ])
    ).toEqual([
      [one, 1, "1"],
      [two, 2, "2"],
      [three, 1, "3"]
    ])
    const shown = await Promise.all(
      [one, two, three].map((id) => fund.reads<Shown>(`/v1/external-statements/${id}`, "risk"))
    )
    expect(shown.map(({ lines }) => lines.map(({ line }) => line))).toEqual([[1, 2], [1], [1, 2]])
    const file = Bank.camt([first, second, third])
    expect(shown.map(({ raw }) => raw)).toEqual([file, file, file])
    // Only Monday repeats an entry: the two payments of Sunday that say the same are two.
    const sameAs = shown.map(({ lines }) => lines.map((line) => line["sameAs"]))
    expect(sameAs).toEqual([[null, null], [null], [null, { externalStatementId: one, line: 2 }]])
    expect(await findings()).toEqual([])
  })

  it("is answered the same, and announced once, when its bytes come again", async () => {
    const again = await hand([first, second, third], { role: "feed" })
    expect(again).toEqual({ ...whole, status: 200 })
    const events = await fund.reads<ReadonlyArray<Distributing.Json>>(
      "/v1/events?type=statement.received&limit=100",
      "risk"
    )
    expect(events.map(({ resourceId }) => resourceId)).toEqual(idsOf(whole))
  })

  it("pays an order by each of two payments that say the same, and by a repeated one once", async () => {
    const [one = "", two = "", three = ""] = idsOf(whole)
    expect(await delivers(1, one, 1)).toBe("")
    expect(await delivers(2, one, 1)).toBe("line-left")
    expect(await delivers(2, two, 1)).toBe("")
    expect(await delivers(3, one, 2)).toBe("")
    expect(await delivers(3, three, 2)).not.toBe("")
  })

  it("adds what is new beside what is there, and is refused where nothing is", async () => {
    const next: Bank.BankStatement = {
      ...{ date: "2026-06-30", sequence: 4, opening: 500, booked: [paid("D", "2026-06-30")] }
    }
    const nothing = await hand([second, third])
    expect([nothing.status, nothing.body["check"]]).toEqual([422, "statement-of-date"])
    const more = await hand([third, { ...next, date: monday, opening: 500 }])
    expect(more.status).toBe(201)
    expect(listed(more)).toEqual([`${monday} false`, `${monday} true`])
    expect(more.body).toMatchObject({ placeInDay: 2, sequence: "4" })
  })

  it("corrects one statement of a day at its place; the balance after it is compared with it", async () => {
    const [, two = ""] = idsOf(whole)
    const better = { ...second, booked: [paid(null, sunday), { ...paid("E", sunday), amount: 7 }] }
    const corrected = await hand([first, better], { query: `&corrects=${two}` })
    expect(corrected.status).toBe(201)
    expect(corrected.body).toMatchObject({ corrects: two, placeInDay: 2 })
    expect(await findings()).toEqual([["blocking", `account-a:${monday}`, -7]])
  })
})
