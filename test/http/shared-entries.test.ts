/**
 * Bank entries over HTTP, as files: one entry that several statements state pays one order, whichever
 * copy an order names, and an entry that the bank took back pays none.
 */
import type { ConfiguredSource } from "@bursar/engine-core"
import { Duration } from "@bursar/engine-core/kernel"
import * as Statements from "@bursar/storage-adapters/statements"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Distributing from "./distributing.ts"
import * as Venue from "./venue.ts"

/** One fund for each story, with an account of its own. */
const stories = [
  "next-day",
  "second-feed",
  "table",
  "contradicting",
  "back-before",
  "back-after"
] as const
type Story = (typeof stories)[number]

const numberOf = (story: Story) => `002015555555${stories.indexOf(story)}`

const sourceOf = (
  story: Story,
  name: "bank" | "feed" | "table",
  changes: Partial<ConfiguredSource.ConfiguredSource> = {}
): ConfiguredSource.ConfiguredSource => ({
  externalSourceId: `${name}-${story}` as ConfiguredSource.ConfiguredSource["externalSourceId"],
  kind: "cash",
  adapter: "camt.053",
  instruments: [story],
  // No day of the week is due, so that none is overdue on the way.
  calendar: [],
  dueBy: { time: "06:00", zone: "UTC", daysAfter: 1 },
  grace: Duration.of("PT2H"),
  account: `account-${story}`,
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

const csv = {
  encoding: "utf-8",
  delimiter: ";",
  decimal: ",",
  group: null,
  dateFormat: "dd.MM.yyyy",
  columns: { bookingDate: "Booked", amount: "Amount", bankReference: "Reference" }
} as const

let fund: Distributing.Fund
beforeAll(async () => {
  const terms = { ...Distributing.accumulating, pricing: "historic" }
  fund = await Distributing.open({
    instruments: Object.fromEntries(stories.map((story) => [story, terms])),
    holders: ["alice"],
    priced: stories.map((instrumentId) => ({
      instrumentId,
      unitDecimals: 6,
      pricing: "historic" as const
    })),
    plugged: Statements.layer,
    settings: {
      sealingKeys: [{ keyId: "k1", secret: new Uint8Array(32).fill(7) }],
      statementSources: stories.flatMap((story) => [
        sourceOf(story, "bank"),
        sourceOf(story, "feed"),
        sourceOf(story, "table", { adapter: "csv", csv, balances: "none" })
      ])
    }
  })
  for (const story of stories) {
    await fund.writes("/v1/external-accounts", {
      ...{ externalAccountId: `account-${story}`, kind: "cash", instrumentId: story },
      ...{ currency: "USD", number: numberOf(story) }
    })
    await fund.publishes({
      ...{ instrumentId: story, metric: "price", value: "1" },
      valuationTime: "2026-06-30T11:00:00Z"
    })
    for (const nth of [1, 2, 3]) {
      const order = { instrumentId: story, holderId: "alice", payment: "wire", amount: 100 }
      await fund.writes("/v1/subscriptions", { subscriptionId: `${story}-${nth}`, ...order })
    }
  }
  await fund.work()
})
afterAll(() => fund.close())

// ---- files of the bank

const [monday, tuesday] = ["2026-06-28", "2026-06-29"]

const money = (amount: number) => `<Amt Ccy="USD">${amount}.00</Amt>`
const side = (amount: number) => `<CdtDbtInd>${amount < 0 ? "DBIT" : "CRDT"}</CdtDbtInd>`
const balance = (type: string, amount: number, date: string) =>
  `<Bal><Tp><CdOrPrtry><Cd>${type}</Cd></CdOrPrtry></Tp>${money(amount)}${side(amount)}<Dt><Dt>${date}</Dt></Dt></Bal>`

interface Booked {
  readonly reference: string
  /** Below zero: the bank books it out. */
  readonly amount: number
  readonly date: string
  readonly isReversal?: true
}

const entryOf = ({ amount, date, isReversal, reference }: Booked) =>
  `<Ntry>${money(Math.abs(amount))}${side(amount)}` +
  (isReversal === undefined ? "" : "<RvslInd>true</RvslInd>") +
  `<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${date}</Dt></BookgDt><ValDt><Dt>${date}</Dt></ValDt>` +
  `<AcctSvcrRef>${reference}</AcctSvcrRef></Ntry>`

/** A camt.053 of a business date, whose balances add up. */
const camt = (story: Story, date: string, opening: number, booked: ReadonlyArray<Booked>) => {
  const closing = booked.reduce((sum, { amount }) => sum + amount, opening)
  const account = `<Acct><Id><Othr><Id>${numberOf(story)}</Id></Othr></Id><Ccy>USD</Ccy></Acct>`
  const balances = balance("OPBD", opening, date) + balance("CLBD", closing, date)
  const stmt = `<Stmt><Id>${story} ${date}</Id>${account}${balances}${booked.map(entryOf).join("")}</Stmt>`
  return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr>${stmt}</BkToCstmrStmt></Document>`
}

/** Hands a file in; returns the id of its statement. */
const hand = async (
  source: string,
  body: string,
  options: { readonly type?: string; readonly query?: string } = {}
) => {
  const response = await Venue.send(fund.venue, {
    method: "POST",
    path: `/v1/external-statements?externalSourceId=${source}${options.query ?? ""}`,
    as: await Venue.bearer(["feed"]),
    body,
    headers: {
      "content-type": options.type ?? "application/xml",
      "idempotency-key": crypto.randomUUID()
    }
  })
  const receipt = await Venue.json<{ readonly externalStatementId: string }>(response)
  expect([response.status, receipt]).toMatchObject([201, {}])
  await fund.venue.settle()
  return receipt.externalStatementId
}

const paid: Booked = { reference: "A-1", amount: 100, date: monday }
const other: Booked = { reference: "B-1", amount: 5, date: tuesday }

// ---- orders and what the venue shows

type Line = readonly [statementId: string, line: number, amount: number]

/** Delivers an order of a story by these lines; empty: delivered, else what refused it. */
const delivers = async (story: Story, nth: number, ...lines: ReadonlyArray<Line>) => {
  const path = `/v1/subscriptions/${story}-${nth}:deliver`
  const cash = lines.map(([statementId, line, amount]) => ({ statementId, line, amount }))
  const ended = await fund.venue.write(path, { cash })
  if (ended["state"] === "succeeded") return ""
  const { check, gate, type } = (ended["problem"] ?? ended) as Readonly<Record<string, string>>
  return [type?.split(":").at(-1), gate, check].join(" ")
}
const left = "rule-refused cash line-left"

/** States of the three orders of a story, once every party has done what it can. */
const states = async (story: Story) => {
  await fund.work()
  return Promise.all(
    [1, 2, 3].map(async (nth) => (await fund.reads(`/v1/subscriptions/${story}-${nth}`))["state"])
  )
}

interface Shown {
  readonly lines: ReadonlyArray<Distributing.Json>
}
const lineOf = async (statementId: string, line: number) =>
  (await fund.reads<Shown>(`/v1/external-statements/${statementId}`, "risk")).lines[line - 1]

/** Runs a check of a story; its open findings. */
const found = async (story: Story, check: "cash-settlement" | "cash-unmatched") => {
  const scope = { instrumentIds: [story], checks: [check] }
  expect(await fund.calls("/v1/reconciliation-runs", { scope })).toMatchObject({ status: 201 })
  const query = `state=open&instrumentId=${story}&check=${check}`
  return fund.reads<ReadonlyArray<Distributing.Json>>(`/v1/findings?${query}`, "risk")
}

/** Open findings of a story's orders: severity, order, sums, entry. */
const findings = async (story: Story) => {
  const all = await found(story, "cash-settlement")
  return all.map(({ actual, entry, expected, severity, subject }) => ({
    ...{ severity, order: (subject as Distributing.Json)["id"], expected, actual, entry }
  }))
}

describe("an entry of 100 that three orders of 100 name", () => {
  it.each<readonly [Story, () => Promise<string>]>([
    ["next-day", () => hand("bank-next-day", camt("next-day", tuesday, 0, [other, paid]))],
    ["second-feed", () => hand("feed-second-feed", camt("second-feed", monday, 0, [other, paid]))],
    [
      "table",
      () =>
        hand(
          "table-table",
          "Booked;Amount;Reference\n29.06.2026;5,00;B-1\n28.06.2026;100,00;A-1\n",
          {
            ...{ type: "text/csv", query: `&businessDate=${tuesday}` }
          }
        )
    ]
  ])(
    "never pays more than one of them, its copy lying in another statement (%s)",
    async (story, copy) => {
      const first = await hand(`bank-${story}`, camt(story, monday, 0, [paid]))
      const second = await copy()
      expect(await delivers(story, 1, [second, 2, 100])).toBe("")
      expect(await delivers(story, 2, [first, 1, 100])).toBe(left)
      expect(await delivers(story, 3, [first, 1, 0.01], [second, 2, 99.99])).toBe(left)
      expect(await states(story)).toEqual(["delivered", "priced", "priced"])
      // Whoever reads one of the copies sees what was taken of the other.
      const taking = { taken: 100, match: "matched" }
      expect([await lineOf(first, 1), await lineOf(second, 2)]).toMatchObject([taking, taking])
      expect(await findings(story)).toEqual([])
    }
  )
})

describe("an entry that two statements of an account state otherwise", () => {
  it("pays no more than the first says, and is a blocking finding on the account until one is corrected", async () => {
    const story = "contradicting"
    const first = await hand("bank-contradicting", camt(story, monday, 0, [paid]))
    const less = { ...paid, amount: 90 }
    const rest: Booked = { reference: "C-1", amount: 10, date: monday }
    const second = await hand("feed-contradicting", camt(story, monday, 0, [less, rest]))
    const blocking = async () =>
      (await found(story, "cash-unmatched"))
        .filter(({ severity }) => severity === "blocking")
        .map(({ subject }) => subject)
    const subject = { resourceKind: "external-account", id: `account-${story}:A-1` }
    expect(await blocking()).toEqual([subject])
    expect(await delivers(story, 1, [first, 1, 100])).toBe("")
    expect(await delivers(story, 2, [second, 1, 90], [second, 2, 10])).toBe(left)
    expect(await states(story)).toEqual(["delivered", "priced", "priced"])
    const query = `&corrects=${second}`
    await hand("feed-contradicting", camt(story, monday, 0, [paid, rest]), { query })
    expect(await blocking()).toEqual([])
  })
})

const takenBack: Booked = { reference: "A-1", amount: -100, date: tuesday, isReversal: true }

describe("an entry that the bank takes back on the next day", () => {
  it("never pays an order afterwards", async () => {
    const story = "back-before"
    const first = await hand("bank-back-before", camt(story, monday, 0, [paid]))
    const second = await hand("bank-back-before", camt(story, tuesday, 100, [takenBack]))
    expect(await delivers(story, 1, [first, 1, 100])).toBe(left)
    expect(await delivers(story, 2, [second, 1, 100])).not.toBe("")
    expect(await states(story)).toEqual(["priced", "priced", "priced"])
    expect(await lineOf(first, 1)).toMatchObject({
      reversedBy: { externalStatementId: second, line: 1 }
    })
    expect(await findings(story)).toEqual([])
  })

  it("is a blocking finding on the order that it had paid, with the entry named", async () => {
    const story = "back-after"
    const first = await hand("bank-back-after", camt(story, monday, 0, [paid]))
    expect(await delivers(story, 1, [first, 1, 100])).toBe("")
    expect(await states(story)).toEqual(["delivered", "priced", "priced"])
    expect(await findings(story)).toEqual([])
    await hand("bank-back-after", camt(story, tuesday, 100, [takenBack]))
    expect(await findings(story)).toEqual([
      {
        ...{ severity: "blocking", order: "back-after-1", expected: 100, actual: 0 },
        entry: { externalStatementId: first, line: 1 }
      }
    ])
  })
})

describe("the reference of an entry", () => {
  it("finds every statement that states it, for those who list statements alone", async () => {
    const statements = await fund.reads<ReadonlyArray<Distributing.Json>>(
      "/v1/external-statements",
      "risk"
    )
    const stating: Array<unknown> = []
    for (const { externalStatementId: id } of statements) {
      const { lines } = await fund.reads<Shown>(`/v1/external-statements/${String(id)}`, "risk")
      const references = lines.flatMap(({ bankReference, reference }) => [bankReference, reference])
      if (references.includes("B-1")) stating.push(id)
    }
    expect(stating.length).toBeGreaterThan(1)
    const found = await fund.reads<ReadonlyArray<Distributing.Json>>("/v1/search?q=b-1", "risk")
    const ids = found.map(({ resource }) => (resource as Distributing.Json)["id"])
    expect(ids.toSorted()).toEqual(stating.toSorted())
    for (const { matched } of found) expect(matched).toEqual({ field: "reference", text: "B-1" })
    expect(await fund.reads("/v1/search?q=b-1", "compliance")).toEqual([])
  })
})
