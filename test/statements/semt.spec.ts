/** Reader of semt.002 and semt.003: which positions a file states, and what it is refused for. */
import { Instant } from "@bursar/engine-core/kernel"
import { describe, expect, it } from "vitest"
import { faultOf, ofPositions, plain, type Reading, readText, statementOf } from "./reading.ts"

const own = "LU0000000017"
const report = (
  body: string,
  { details = "", root = "SctiesBalCtdyRpt", message = "semt.002.001.11" } = {}
): string =>
  `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${message}"><${root}>` +
  `<Pgntn><PgNb>1</PgNb><LastPgInd>true</LastPgInd></Pgntn>${details}${body}</${root}></Document>`

/** General details of a complete statement, with members in place of its own. */
const general = (over: Readonly<Record<string, string>> = {}): string => {
  const members = {
    StmtId: "<StmtId>H-1</StmtId>",
    StmtDtTm: "<StmtDtTm><Dt>2026-03-02</Dt></StmtDtTm>",
    UpdTp: "<UpdTp><Cd>COMP</Cd></UpdTp>",
    StmtBsis: "<StmtBsis><Cd>TRAD</Cd></StmtBsis>",
    ActvtyInd: "<ActvtyInd>true</ActvtyInd>",
    ...over
  }
  return `<StmtGnlDtls>${Object.values(members).join("")}</StmtGnlDtls>`
}
const safe = (id: string): string => `<SfkpgAcct><Id>${id}</Id></SfkpgAcct>`
const place = (country: string): string =>
  `<SfkpgPlc><SfkpgPlcFrmt><Ctry>${country}</Ctry></SfkpgPlcFrmt></SfkpgPlc>`
const quantity = (amount: string, unit = "Unit"): string =>
  `<Qty><Qty><Qty><${unit}>${amount}</${unit}></Qty></Qty></Qty>`
const position = (
  body: {
    readonly id?: string
    readonly side?: string
    readonly qty?: string
    readonly more?: string
  },
  element = "BalForAcct"
): string =>
  `<${element}><FinInstrmId>${body.id ?? `<ISIN>${own}</ISIN>`}</FinInstrmId>` +
  `<AggtBal>${body.side ?? "<ShrtLngInd>LONG</ShrtLngInd>"}${body.qty ?? quantity("10")}</AggtBal>` +
  `${body.more ?? ""}</${element}>`
const sub = (account: string, body: string, active = "true"): string =>
  `<SubAcctDtls>${account}<ActvtyInd>${active}</ActvtyInd>${body}</SubAcctDtls>`
const inSub = (body: Parameters<typeof position>[0]): string => position(body, "BalForSubAcct")
const isin = (value: string): string => `<ISIN>${value}</ISIN>`

const holdings = ofPositions("holdings")
const custody = ofPositions("custody", { isin: null })

const shown = async (reading: Reading, body: string, details = general()) => {
  const { lines } = await statementOf(reading, report(body, { details }))
  return lines.map((line) =>
    line.kind === "holdings"
      ? `${line.account} ${plain(line.quantity)} ${plain(line.locked)}`
      : line.kind === "custody"
        ? `${line.account} ${line.asset} ${plain(line.quantity)}`
        : "no position"
  )
}

describe("a statement of positions", () => {
  it("gives the units of each sub-account, with what is locked", async () => {
    const locked = "<NotAvlblBal><Qty><Unit>2</Unit></Qty></NotAvlblBal>"
    expect(
      await shown(
        holdings,
        safe("MAIN") +
          sub(safe("hol-1"), inSub({ qty: quantity("10.5"), more: locked })) +
          sub("<BlckChainAdrOrWllt><Id>0xab</Id></BlckChainAdrOrWllt>", inSub({})) +
          sub(safe("hol-3"), "", "false")
      )
    ).toEqual(["hol-1 10.5 2", "0xab 10 null"])
  })

  it("prefers the safekeeping account to the wallet", async () => {
    const wallet = "<BlckChainAdrOrWllt><Id>0xab</Id></BlckChainAdrOrWllt>"
    expect(await shown(holdings, safe("A") + wallet + position({}))).toEqual(["A 10 null"])
    expect(await shown(holdings, wallet + position({}))).toEqual(["0xab 10 null"])
  })

  it.each([
    ["units", quantity("7"), "7"],
    ["a face amount", quantity("7", "FaceAmt"), "7"],
    ["an amortised value", quantity("7", "AmtsdVal"), "7"],
    ["token units", quantity("7", "DgtlTknUnit"), "7"],
    ["a quantity one element deep", "<Qty><Unit>7</Unit></Qty>", "7"]
  ])("reads %s", async (_, qty, expected) => {
    expect(await shown(holdings, safe("A") + position({ qty }))).toEqual([`A ${expected} null`])
  })

  it("counts a short position below zero", async () => {
    const side = "<ShrtLngInd>SHOR</ShrtLngInd>"
    expect(await shown(holdings, safe("A") + position({ side }))).toEqual(["A -10 null"])
  })

  it("sums up the places of one asset in one account", async () => {
    const locked = "<NotAvlblBal><Qty><Unit>2</Unit></Qty></NotAvlblBal>"
    expect(
      await shown(
        holdings,
        safe("A") +
          position({ more: place("CH") }) +
          position({ more: locked + place("LU") }) +
          position({ side: "<ShrtLngInd>SHOR</ShrtLngInd>", qty: quantity("1"), more: locked })
      )
    ).toEqual(["A 19 4"])
  })

  it.each([
    ["a country", (at: string) => `<Ctry>${at}</Ctry>`],
    ["a type and text", (at: string) => `<Id><SfkpgPlcTp>CUST</SfkpgPlcTp><Id>${at}</Id></Id>`],
    [
      "a type and code",
      (at: string) => `<TpAndId><SfkpgPlcTp>CUST</SfkpgPlcTp><Id>${at}</Id></TpAndId>`
    ],
    ["a name of the sender's own", (at: string) => `<Prtry><Id>${at}</Id></Prtry>`]
  ])("tells places apart by %s, in either form", async (_, named) => {
    for (const wrap of [
      (body: string) => body,
      (body: string) => `<SfkpgPlcFrmt>${body}</SfkpgPlcFrmt>`
    ]) {
      const at = (name: string) => position({ more: `<SfkpgPlc>${wrap(named(name))}</SfkpgPlc>` })
      expect(await shown(holdings, safe("A") + at("CH") + at("LU"))).toEqual(["A 20 null"])
      const twice = report(safe("A") + at("CH") + at("CH"), { details: general() })
      expect(faultOf(await readText(holdings, twice))).toBe("statement-assets 1")
    }
  })

  it("takes every asset of a custodian, and those of the instrument's ISIN as holdings", async () => {
    const other = "<OthrId><Id>CUSIP-1</Id></OthrId><OthrId><Id>X</Id></OthrId>"
    const body = safe("A") + position({}) + position({ id: isin("XS1") }) + position({ id: other })
    expect(await shown(holdings, body)).toEqual(["A 10 null"])
    expect(await shown(custody, body)).toEqual([`A ${own} 10`, "A XS1 10", "A CUSIP-1 10"])
  })

  it("states nothing where it is complete and nothing is held", async () => {
    const details = general({ ActvtyInd: "<ActvtyInd>false</ActvtyInd>" })
    expect(await shown(holdings, safe("A"), details)).toEqual([])
  })

  it.each([
    ["TRAD", null, "trade"],
    ["CONT", null, "contractual"],
    ["SETT", "trade", "settled"]
  ] as const)("counts as its basis %s says", async (code, basis, expected) => {
    const details = general({ StmtBsis: `<StmtBsis><Cd>${code}</Cd></StmtBsis>` })
    const { header } = await statementOf(
      { ...holdings, basis },
      report(safe("A") + position({}), { details })
    )
    expect(header.basis).toBe(expected)
  })

  it.each([
    ["contractual", "contractual"],
    [null, "settled"]
  ] as const)(
    "counts as the source says where the file has no code: %s",
    async (basis, expected) => {
      const details = general({ StmtBsis: "<StmtBsis><Prtry><Id>X</Id></Prtry></StmtBsis>" })
      const { header } = await statementOf(
        { ...holdings, basis },
        report(safe("A") + position({}), { details })
      )
      expect(header.basis).toBe(expected)
    }
  )

  it.each([
    ["<Dt>2026-03-02</Dt>", "2026-03-02T23:00:00Z"],
    ["<DtTm>2026-03-02T18:00:00+00:00</DtTm>", "2026-03-02T18:00:00Z"]
  ])("is as of its moment %s", async (moment, asOf) => {
    const details = general({ StmtDtTm: `<StmtDtTm>${moment}</StmtDtTm>` })
    const { header } = await statementOf(holdings, report(safe("A") + position({}), { details }))
    expect([header.businessDate, header.asOf, header.reference]).toEqual([
      "2026-03-02",
      Instant.of(asOf),
      "H-1"
    ])
  })

  const versions = (from: number) =>
    Array.from({ length: 13 - from }, (_, index) => String(index + from).padStart(2, "0"))
  it.each([
    ...versions(5).map((version) => ["semt.002", "SctiesBalCtdyRpt", version] as const),
    ...versions(4).map((version) => ["semt.003", "SctiesBalAcctgRpt", version] as const)
  ])("is read as %s, %s, version %s", async (adapter, root, version) => {
    const text = report(safe("A") + position({}), {
      details: general(),
      root,
      message: `${adapter}.001.${version}`
    })
    expect(faultOf(await readText({ ...holdings, adapter }, text))).toBe("read")
    const other = adapter === "semt.002" ? "semt.003" : "semt.002"
    expect(faultOf(await readText({ ...holdings, adapter: other }, text))).toMatch(/^malformed/u)
  })
})

describe("a statement of positions is refused, with check and line", () => {
  const held = safe("A") + position({})
  const inactive = { ActvtyInd: "<ActvtyInd>false</ActvtyInd>" }
  it.each([
    [
      "no pages",
      report(held, { details: general() }).replace(/<Pgntn>.*<\/Pgntn>/u, ""),
      "statement-complete 1"
    ],
    [
      "another page",
      report(held, { details: general() }).replace("<PgNb>1", "<PgNb>2"),
      "statement-complete 1"
    ],
    [
      "a page that is not the last",
      report(held, { details: general() }).replace("<LastPgInd>true", "<LastPgInd>0"),
      "statement-complete 1"
    ],
    [
      "a change alone",
      report(held, { details: `\n${general({ UpdTp: "<UpdTp><Cd>DELT</Cd></UpdTp>" })}` }),
      "statement-complete 2"
    ],
    [
      "an update of the sender's own",
      report(held, { details: general({ UpdTp: "<UpdTp><Prtry/></UpdTp>" }) }),
      "statement-complete 1"
    ],
    ["no update", report(held, { details: general({ UpdTp: "" }) }), "statement-field 1"],
    ["no details", report(held), "statement-field 1"],
    ["no details and no position", report(""), "statement-field 1"],
    ["details twice", report(held, { details: general() + general() }), "statement-field 1"],
    ["no date", report(held, { details: general({ StmtDtTm: "" }) }), "statement-field 1"],
    [
      "another basis",
      report(held, { details: general({ StmtBsis: "<StmtBsis><Cd>EVAL</Cd></StmtBsis>" }) }),
      "statement-field 1"
    ],
    [
      "no activity flag",
      report(held, { details: general({ ActvtyInd: "" }) }),
      "statement-field 1"
    ],
    [
      "positions where nothing is held",
      report(held, { details: general(inactive) }),
      "statement-field 1"
    ],
    [
      "no position where there are some",
      report(safe("A"), { details: general() }),
      "statement-field 1"
    ],
    [
      "positions of a sub-account where nothing is held",
      report(sub(safe("A"), inSub({}), "false"), { details: general() }),
      "statement-field 1"
    ],
    [
      "no position of a sub-account where there are some",
      report(held + sub(safe("B"), ""), { details: general() }),
      "statement-field 1"
    ],
    [
      "no position of the instrument",
      report(held.replace(own, "LU9"), { details: general() }),
      "statement-account 1"
    ],
    ["no account", report(`\n${position({})}`, { details: general() }), "statement-account 2"],
    [
      "no sub-account",
      report(`\n${sub("", inSub({}))}`, { details: general() }),
      "statement-account 2"
    ],
    [
      "the account after its positions",
      report(position({}) + safe("A"), { details: general() }),
      "statement-account 1"
    ],
    [
      "an asset twice at one place",
      report(`${held}\n${position({})}`, { details: general() }),
      "statement-assets 2"
    ],
    [
      "a sub-account twice",
      report(`${sub(safe("A"), inSub({}))}\n${sub(safe("A"), inSub({}))}`, { details: general() }),
      "statement-assets 2"
    ],
    [
      "an asset twice at one named place",
      report(safe("A") + position({ more: place("CH") }).repeat(2), { details: general() }),
      "statement-assets 1"
    ],
    [
      "positions after the sub-accounts",
      report(safe("A") + sub(safe("B"), inSub({})) + position({}), { details: general() }),
      "statement-field 1"
    ],
    [
      "no side",
      report(safe("A") + position({ side: "" }), { details: general() }),
      "statement-field 1"
    ],
    [
      "another side",
      report(safe("A") + position({ side: "<ShrtLngInd>FLAT</ShrtLngInd>" }), {
        details: general()
      }),
      "statement-field 1"
    ],
    [
      "no quantity",
      report(safe("A") + position({ qty: "<Qty/>" }), { details: general() }),
      "statement-field 1"
    ],
    [
      "two quantities",
      report(safe("A") + position({ qty: "<Qty><Unit>1</Unit><FaceAmt>1</FaceAmt></Qty>" }), {
        details: general()
      }),
      "statement-field 1"
    ],
    [
      "a quantity below zero",
      report(safe("A") + position({ qty: quantity("-1") }), { details: general() }),
      "statement-field 1"
    ],
    [
      "eleven places",
      report(safe("A") + position({ qty: quantity("0.00000000001") }), { details: general() }),
      "statement-places 1"
    ],
    [
      "a sum that no decimal holds",
      report(
        safe("A") +
          ["CH", "LU"]
            .map((at) => position({ qty: quantity("9".repeat(28)), more: place(at) }))
            .join(""),
        { details: general() }
      ),
      "statement-field 1"
    ],
    [
      "no asset",
      report(safe("A") + position({ id: "" }), { details: general() }),
      "statement-field 1"
    ]
  ])("%s", async (_, text, expected) => {
    expect(faultOf(await readText(holdings, text))).toBe(expected)
  })

  it("an instrument without ISIN has no holdings", async () => {
    const text = report(safe("A") + position({}), { details: general() })
    expect(faultOf(await readText({ ...holdings, isin: null }, text))).toBe("statement-account 1")
  })

  it("never more positions of an account than a statement may have lines", async () => {
    const text = report(
      safe("A") + ["CH", "LU", "DE"].map((at) => position({ more: place(at) })).join(""),
      { details: general() }
    )
    expect(faultOf(await readText({ ...holdings, linesMax: 2 }, text))).toBe("too long 2")
  })
})
