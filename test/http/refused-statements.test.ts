/**
 * Statements that are well formed and cannot be read over HTTP: each is refused by its check with its
 * line, or accepted with what a run then says of it. Forms that are broken are in external-statements.
 */
import type { ConfiguredSource } from "@bursar/engine-core"
import { Decimal, Duration } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Statements from "@bursar/storage-adapters/statements"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bodyOf } from "../operations/instrumentBody.ts"
import { balance, balances, camt, entry, file, header, stmt } from "../statements/reading.ts"
import * as Venue from "./venue.ts"
import * as Wallets from "./wallets.ts"

const path = "/v1/external-statements"
const isin = "US0378331005"

const sourceOf = (
  externalSourceId: string,
  configuredSource: Pick<ConfiguredSource.ConfiguredSource, "adapter" | "kind"> &
    Partial<ConfiguredSource.ConfiguredSource>
): ConfiguredSource.ConfiguredSource => ({
  externalSourceId: externalSourceId as ConfiguredSource.ConfiguredSource["externalSourceId"],
  instruments: ["fund-a"],
  calendar: [],
  dueBy: { time: "18:00", zone: "UTC", daysAfter: 1 },
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
  ...configuredSource
})

const csv = {
  encoding: "utf-8",
  delimiter: ";",
  decimal: ",",
  group: ".",
  dateFormat: "dd.MM.yyyy",
  columns: { account: "Konto", quantity: "Stand" }
} as const

let venue: Wallets.WholeVenue
beforeAll(async () => {
  venue = await Wallets.open({
    plugged: Statements.layer,
    settings: {
      sealingKeys: [{ keyId: "k1", secret: new Uint8Array(32).fill(7) }],
      statementSources: [
        sourceOf("bank", { adapter: "camt.053", kind: "cash", account: "account-1" }),
        sourceOf("register", { adapter: "semt.002", kind: "holdings", accountIs: "holder" }),
        sourceOf("places", {
          adapter: "semt.002",
          kind: "holdings",
          accountIs: "external-account"
        }),
        sourceOf("administrator", {
          ...{ adapter: "reda.001", kind: "nav", validFor: Duration.of("P1D") }
        }),
        sourceOf("table", { adapter: "csv", kind: "holdings", accountIs: "holder", csv })
      ]
    }
  })
  const registrar = await venue.wallet("registrar")
  const fund = { ...bodyOf(), instrumentId: "fund-a", registrar: registrar.party, oracle: null }
  const written = [
    await venue.write("/v1/instruments", { ...fund, identifiers: { isin } }),
    await venue.write("/v1/external-accounts", {
      ...{ externalAccountId: "account-1", kind: "cash", instrumentId: "fund-a" },
      ...{ currency: "EUR", number: "CH93 0076 2011 6238 5295 7" }
    })
  ]
  for (const each of written) expect(each).toMatchObject({ state: "succeeded" })
  await registrar.acts(
    Templates.create(Templates.Holding, {
      ...{ registrar: registrar.party, owner: registrar.party, provider: venue.party },
      ...{ instrument: { admin: registrar.party, id: "fund-a" }, amount: Decimal.of("120") },
      ...{ restricted: false, lock: null, label: "", meta: {} }
    })
  )
})
afterAll(() => venue.close())

const hand = async (source: string, body: string | Uint8Array, query = "") =>
  Venue.send(venue, {
    method: "POST",
    path: `${path}?externalSourceId=${source}${query}`,
    as: await Venue.bearer(["operator"]),
    body,
    headers: {
      "content-type": source === "table" ? "text/csv" : "application/xml",
      "idempotency-key": crypto.randomUUID()
    }
  })

const storedOf = async () =>
  ((await venue.read(`${path}?limit=1000`)).value as ReadonlyArray<unknown>).length

const message = (form: string, root: string, body: string): string =>
  `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${form}">\n<${root}>${body}</${root}></Document>`

const pages = "<Pgntn><PgNb>1</PgNb><LastPgInd>true</LastPgInd></Pgntn>"
const position = (options: { readonly quantity?: string; readonly more?: string } = {}): string =>
  `<BalForAcct><FinInstrmId><ISIN>${isin}</ISIN></FinInstrmId><AggtBal>` +
  `<ShrtLngInd>LONG</ShrtLngInd><Qty><Qty><Qty><Unit>${options.quantity ?? "10"}</Unit></Qty></Qty></Qty>` +
  `</AggtBal>${options.more ?? ""}</BalForAcct>`
const positions = (
  body: string,
  options: { readonly update?: string; readonly moment?: string; readonly account?: string } = {}
): string =>
  message(
    "semt.002.001.11",
    "SctiesBalCtdyRpt",
    `${pages}<StmtGnlDtls><StmtId>H-1</StmtId><StmtDtTm>${options.moment ?? "<Dt>2026-03-02</Dt>"}</StmtDtTm>` +
      `<UpdTp><Cd>${options.update ?? "COMP"}</Cd></UpdTp><StmtBsis><Cd>SETT</Cd></StmtBsis>` +
      `<ActvtyInd>true</ActvtyInd></StmtGnlDtls>` +
      `<SfkpgAcct><Id>${options.account ?? "h-1"}</Id></SfkpgAcct>${body}`
  )
const atPlace = "<SfkpgPlc><SfkpgPlcFrmt><Ctry>CH</Ctry></SfkpgPlcFrmt></SfkpgPlc>"

const nav = (options: { readonly function?: string; readonly isOfficial?: boolean } = {}): string =>
  message(
    "reda.001.001.04",
    "PricRpt",
    `<PricRptId>NAV-1</PricRptId><Fctn>${options.function ?? "NEWP"}</Fctn><PricValtnDtls>` +
      `<NAVDtTm><Dt>2026-03-02</Dt></NAVDtTm><FinInstrmDtls><Id><ISIN>${isin}</ISIN></Id></FinInstrmDtls>` +
      `<OffclValtnInd>${options.isOfficial ?? true}</OffclValtnInd><SspdInd>false</SspdInd><PricDtls>` +
      '<Tp>NAVL</Tp><ValInInvstmtCcy><Amt Ccy="USD">1.0437</Amt></ValInInvstmtCcy>' +
      "<EstmtdPricInd>false</EstmtdPricInd></PricDtls></PricValtnDtls>"
  )

const table = (...rows: ReadonlyArray<string>): string => ["Konto;Stand", ...rows, ""].join("\n")
const ofDay = "&businessDate=2026-03-02"

describe("a statement that cannot be read", () => {
  it.each<readonly [string, string, string, string]>([
    [
      "no statement of the source's account",
      "bank",
      file(entry()).replace("CH93007", "CH94007"),
      "statement-account"
    ],
    [
      "two statements of one day that do not follow one another",
      "bank",
      camt(header + stmt(balances + entry()) + stmt(balances + entry())),
      "statement-of-date"
    ],
    [
      "the second page of a bank",
      "bank",
      camt(
        header + stmt(`<StmtPgntn><PgNb>2</PgNb><LastPgInd>true</LastPgInd></StmtPgntn>${balances}`)
      ),
      "statement-complete"
    ],
    ["an entry without Sts", "bank", file(entry({ Sts: "" })), "statement-field"],
    ["an entry without CdtDbtInd", "bank", file(entry({ CdtDbtInd: "" })), "statement-field"],
    [
      "eleven places that are not zero",
      "bank",
      file(entry({ Amt: '<Amt Ccy="EUR">50.00000000001</Amt>' })),
      "statement-places"
    ],
    [
      "the second page of a register",
      "register",
      positions(position()).replace("<PgNb>1", "<PgNb>2"),
      "statement-complete"
    ],
    ["an update DELT", "register", positions(position(), { update: "DELT" }), "statement-complete"],
    [
      "an asset twice at one place",
      "register",
      positions(position({ more: atPlace }) + position({ more: atPlace })),
      "statement-assets"
    ],
    ["a part of a report (PART)", "administrator", nav({ function: "PART" }), "statement-function"],
    ["an unofficial NAV alone", "administrator", nav({ isOfficial: false }), "statement-nav"],
    ["a bare quote in a cell", "table", table('h-1";1'), "statement-columns"],
    ["decimal marks of two notations", "table", table("h-1;1,5", "h-2;1.5"), "statement-field"],
    ["a row of totals", "table", table("h-1;1", "Total;1"), "statement-columns"],
    ["a formula in place of a number", "table", table("h-1;=1+1"), "statement-field"],
    ["a number with a space before it", "table", table("h-1; 1"), "statement-field"]
  ])("is refused with its line, and nothing of it is kept: %s", async (_, source, body, check) => {
    const before = await storedOf()
    const answer = await hand(source, body, source === "table" ? ofDay : "")
    const problem = await Venue.json<Venue.Problem & { readonly detail: string }>(answer)
    expect([answer.status, problem]).toMatchObject([422, { gate: "policy", check }])
    expect(problem.detail).toMatch(/line \d+/u)
    expect(await storedOf()).toBe(before)
  })
})

describe("a statement that is read all the same", () => {
  interface File {
    readonly value: { readonly lines: ReadonlyArray<Readonly<Record<string, unknown>>> }
  }
  const linesOf = async (answer: Response) => {
    expect([answer.status, await answer.clone().text()]).toEqual([201, expect.any(String)])
    const { externalStatementId: id } = await Venue.json<{ externalStatementId: string }>(answer)
    return ((await venue.read(`${path}/${id}`, "auditor")) as unknown as File).value.lines
  }
  const declared = (encoding: string, text: string): string =>
    `<?xml version="1.0" encoding="${encoding}"?>\n${text}`

  it.each<readonly [string, string, (text: string) => string | Uint8Array]>([
    ["2026-04-01", "UTF-8", (text) => text],
    ["2026-04-02", "UTF-8 with a mark", (text) => `\uFEFF${text}`],
    ["2026-04-03", "UTF-16", (text) => Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["2026-04-04", "ISO-8859-1", (text) => Buffer.from(declared("ISO-8859-1", text), "latin1")],
    ["2026-04-05", "ISO-8859-15", (text) => Buffer.from(declared("ISO-8859-15", text), "latin1")],
    ["2026-04-06", "Windows-1252", (text) => Buffer.from(declared("windows-1252", text), "latin1")],
    [
      "2026-04-07",
      "any prefix",
      (text) =>
        text
          .replaceAll("</", "</x:")
          .replaceAll(/<(?=[A-Z])/gu, "<x:")
          .replace("xmlns=", "xmlns:x=")
    ],
    ["2026-04-08", "CR LF", (text) => text.replaceAll("\n", "\r\n")]
  ])("of %s as %s, with its account and its figure", async (date, _, encode) => {
    const moment = `<Dt>${date}</Dt>`
    const text = positions(position({ quantity: "+007.50" }), { moment, account: "Zürich-1" })
    expect(await linesOf(await hand("register", encode(text)))).toMatchObject([
      { line: 1, account: "Zürich-1", quantity: 7.5 }
    ])
  })

  it("of an account that nobody mapped, and of an entry in another currency: a finding, and no balance", async () => {
    const moment = `<DtTm>${new Date().toISOString()}</DtTm>`
    const body = positions(position(), { moment, account: "unmapped-1" })
    const [line] = await linesOf(await hand("places", body))
    expect(JSON.stringify(line)).not.toContain("unmapped-1")
    const other = entry({ Amt: '<Amt Ccy="USD">50.00</Amt>' })
    const closing = balance("OPBD", "100.00") + balance("CLBD", "100.00")
    const entries = await linesOf(await hand("bank", camt(header + stmt(closing + other))))
    expect(entries).toMatchObject([{ currency: "USD", amount: 50 }])
    const run = await Venue.send(venue, {
      method: "POST",
      path: "/v1/reconciliation-runs",
      as: await Venue.bearer(["operator"]),
      headers: { "idempotency-key": crypto.randomUUID() }
    })
    expect(run.status).toBe(201)
    const { checks, runId, verdict } = await Venue.json<{
      readonly checks: ReadonlyArray<{ readonly check: string }>
      readonly runId: string
      readonly verdict: string
    }>(run)
    expect(verdict).toBe("blocked")
    expect(checks.find(({ check }) => check === "cash-balance")).toMatchObject({
      ran: false,
      why: "other-currency"
    })
    const found = (await venue.read(`/v1/findings?runId=${runId}&check=register-line`)).value
    expect(found).toContainEqual(
      expect.objectContaining({
        severity: "blocking",
        holderId: null,
        subject: {
          resourceKind: "external-source",
          id: expect.stringMatching(/^places:[0-9a-f]{16}$/u)
        }
      })
    )
  })
})
