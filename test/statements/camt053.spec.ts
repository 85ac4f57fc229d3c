/** Reader of camt.053: which lines, balances and dates a file states, and what it is refused for. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import {
  account,
  balance,
  balances,
  camt,
  entry,
  faultOf,
  file,
  header,
  inSlices,
  ofCash,
  plain,
  readText,
  statementOf,
  statementsIn,
  stmt,
  utf8
} from "./reading.ts"

const tx = (body: string): string => `<TxDtls>${body}</TxDtls>`
const batch = (...transactions: ReadonlyArray<string>): string =>
  entry({ NtryDtls: `<NtryDtls>${transactions.map(tx).join("")}</NtryDtls>` })
const amount = (value: string, currency = "EUR"): string => `<Amt Ccy="${currency}">${value}</Amt>`
const dbit = "<CdtDbtInd>DBIT</CdtDbtInd>"

const shown = async (text: string, reading = ofCash()) => {
  const { lines } = await statementOf(reading, text)
  return lines.map((line) =>
    line.kind === "cash"
      ? `${line.direction} ${plain(line.amount)} ${line.currency} ${line.bankReference} ${line.reference}`
      : "no entry"
  )
}

describe("a statement of a bank", () => {
  it("gives its entries and balances in full", async () => {
    const parties =
      "<RltdPties><Dbtr><Pty><Nm>A. Payer</Nm></Pty></Dbtr><DbtrAcct><Id><IBAN>DE1</IBAN></Id></DbtrAcct>" +
      "<Cdtr><Nm>The fund</Nm></Cdtr></RltdPties>"
    const refs = "<Refs><AcctSvcrRef>TX-1</AcctSvcrRef><EndToEndId>sub-1</EndToEndId></Refs>"
    const period =
      "<FrToDt><FrDtTm>2026-03-01T00:00:00</FrDtTm><ToDtTm>2026-03-05T00:00:00+01:00</ToDtTm></FrToDt>"
    const { lines, header: read } = await statementOf(
      ofCash(),
      camt(header + stmt(`${period}${balances}${batch(refs + amount("50") + parties)}`))
    )
    expect(lines).toEqual([
      {
        kind: "cash",
        bookingDate: Date.of("2026-03-02"),
        valueDate: Date.of("2026-03-03"),
        amount: Decimal.of("50"),
        currency: "EUR",
        direction: "credit",
        bankReference: "TX-1",
        reference: "sub-1",
        counterparty: { name: "A. Payer", account: "DE1" }
      }
    ])
    expect(read).toEqual({
      businessDate: Date.of("2026-03-02"),
      asOf: Instant.of("2026-03-02T23:00:00Z"),
      period: {
        from: Instant.of("2026-02-28T23:00:00Z"),
        to: Instant.of("2026-03-04T23:00:00Z")
      },
      reference: "S-1",
      currency: "EUR",
      totalQuantity: null,
      totalAmount: null,
      statedLines: null,
      basis: null,
      opening: Decimal.of("100"),
      closing: Decimal.of("150"),
      nav: null
    })
  })

  it.each([
    ["a transaction without amount", [amount("20"), ""], ["credit 50 EUR BANK-1 null"]],
    ["amounts that do not sum up", [amount("20"), amount("31")], ["credit 50 EUR BANK-1 null"]],
    [
      "amounts that sum up",
      [amount("20"), amount("30")],
      ["credit 20 EUR BANK-1 null", "credit 30 EUR BANK-1 null"]
    ],
    [
      "a charge by its own direction",
      [amount("60"), amount("10") + dbit],
      ["credit 60 EUR BANK-1 null", "debit 10 EUR BANK-1 null"]
    ],
    ["amounts in another currency", [amount("50", "USD")], ["credit 50 EUR BANK-1 null"]],
    [
      "amounts of the transactions beside instructed ones",
      [
        `<AmtDtls><InstdAmt>${amount("9", "USD")}</InstdAmt><TxAmt>${amount("50")}</TxAmt></AmtDtls>`
      ],
      ["credit 50 EUR BANK-1 null"]
    ],
    [
      "an amount of the entry's currency in TxAmt alone",
      [`${amount("55", "USD")}<AmtDtls><TxAmt>${amount("20")}</TxAmt></AmtDtls>`, amount("30")],
      ["credit 20 EUR BANK-1 null", "credit 30 EUR BANK-1 null"]
    ],
    [
      "one transaction without amount that has references",
      ["<Refs><EndToEndId>E</EndToEndId></Refs>"],
      ["credit 50 EUR BANK-1 E"]
    ]
  ])("never loses or doubles cash of a batch: %s", async (_, transactions, expected) => {
    expect(await shown(file(batch(...transactions)))).toEqual(expected)
  })

  it.each([
    ["NOTPROVIDED", "<Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs>", "null"],
    [
      "structured before text",
      "<RmtInf><Ustrd>text</Ustrd><Strd><CdtrRefInf><Ref>RF18</Ref></CdtrRefInf></Strd></RmtInf>",
      "RF18"
    ],
    ["text in parts", "<RmtInf><Ustrd>one </Ustrd><Ustrd> two</Ustrd></RmtInf>", "one two"],
    [
      "the payment's before all",
      "<Refs><EndToEndId>E</EndToEndId></Refs><RmtInf><Ustrd>text</Ustrd></RmtInf>",
      "E"
    ],
    ["none", "", "null"]
  ])("takes the payer's reference: %s", async (_, body, expected) => {
    expect(await shown(file(batch(body)))).toEqual([`credit 50 EUR BANK-1 ${expected}`])
  })

  it("reads a batch whose transactions lie in details of their own, however many", async () => {
    const parts = Array.from({ length: 1_200 }, () => `<NtryDtls>${tx(amount("0.01"))}</NtryDtls>`)
    const text = file(entry({ Amt: amount("12"), NtryDtls: parts.join("") }))
    const { lines } = await statementOf(ofCash({ linesMax: 1_200 }), text)
    expect(lines).toHaveLength(1_200)
  })

  it("takes the bank's reference of the transaction, the entry, its number, in this order", async () => {
    const refs = (reference: string) => `<Refs><AcctSvcrRef>${reference}</AcctSvcrRef></Refs>`
    expect(
      await shown(
        file(
          batch(refs("T")),
          batch(refs("NONREF")),
          entry({ AcctSvcrRef: "" }),
          entry({ AcctSvcrRef: "", NtryRef: "" })
        )
      )
    ).toEqual([
      "credit 50 EUR T null",
      "credit 50 EUR BANK-1 null",
      "credit 50 EUR N-1 null",
      "credit 50 EUR null null"
    ])
  })

  it("counts booked entries alone, with the status as code or as text", async () => {
    const status = (sts: string) => entry({ Sts: `<Sts>${sts}</Sts>` })
    const codes = ["PDNG", "INFO", "FUTR"]
    expect(
      await shown(
        file(
          status("BOOK"),
          ...codes.map((code) => status(`<Cd>${code}</Cd>`)),
          ...codes.map(status)
        )
      )
    ).toEqual(["credit 50 EUR BANK-1 null"])
  })

  it("never turns a reversal round: the direction is the entry's own", async () => {
    expect(await shown(file(entry({ Sts: "<RvslInd>true</RvslInd><Sts>BOOK</Sts>" })))).toEqual([
      "credit 50 EUR BANK-1 null"
    ])
  })

  it("marks a reversal, and names its other side, never the owner of the account", async () => {
    const parties = (debtor: readonly [string, string], creditor: readonly [string, string]) =>
      "<RltdPties>" +
      `<Dbtr><Nm>${debtor[0]}</Nm></Dbtr><DbtrAcct><Id><IBAN>${debtor[1]}</IBAN></Id></DbtrAcct>` +
      `<Cdtr><Nm>${creditor[0]}</Nm></Cdtr><CdtrAcct><Id><IBAN>${creditor[1]}</IBAN></Id></CdtrAcct>` +
      "</RltdPties>"
    const us = ["The fund", "ch93 0076 2011 6238 5295 7"] as const
    const other = ["A. Payer", "DE89370400440532013000"] as const
    const reversed = (way: string, named: string) =>
      entry({
        CdtDbtInd: `<CdtDbtInd>${way}</CdtDbtInd>`,
        Sts: "<RvslInd>true</RvslInd><Sts>BOOK</Sts>",
        NtryDtls: `<NtryDtls>${tx(named)}</NtryDtls>`
      })
    const { lines } = await statementOf(
      ofCash(),
      file(
        reversed("DBIT", parties(other, us)),
        reversed("DBIT", parties(us, other)),
        reversed("CRDT", parties(us, other)),
        reversed("CRDT", parties(other, us))
      )
    )
    expect(
      lines.map((line) =>
        line.kind === "cash" ? [line.direction, line.reversal, line.counterparty?.name] : []
      )
    ).toEqual([
      ["debit", true, "A. Payer"],
      ["debit", true, "A. Payer"],
      ["credit", true, "A. Payer"],
      ["credit", true, "A. Payer"]
    ])
    const plainEntry = await statementOf(
      ofCash(),
      file(entry({ Sts: "<RvslInd>0</RvslInd><Sts>BOOK</Sts>" }))
    )
    expect(plainEntry.lines[0]).not.toHaveProperty("reversal")
    const unread = file(entry({ Sts: "<RvslInd>no</RvslInd><Sts>BOOK</Sts>" }))
    expect(faultOf(await readText(ofCash(), unread))).toMatch(/^statement-field/)
  })

  it.each([
    ["an amount", "Amt", { Amt: '<Amt Ccy="EUR">1<Chrgs>2</Chrgs>00</Amt>' }],
    ["a code", "CdtDbtInd", { CdtDbtInd: "<CdtDbtInd>CR<X/>DT</CdtDbtInd>" }],
    ["a status beside its code", "Sts", { Sts: "<Sts>BOOK<Cd>BOOK</Cd></Sts>" }],
    ["a reference", "AcctSvcrRef", { AcctSvcrRef: "<AcctSvcrRef>A<B>x</B></AcctSvcrRef>" }]
  ])("never reads the text of %s around an element within it", async (_, name, texts) => {
    const answer = await readText(ofCash(), file(entry(texts)))
    expect(faultOf(answer)).toMatch(/^statement-field/)
    // A status may have its code in an element, so that only its own text is at fault.
    if (name !== "Sts") {
      expect(answer).toMatchObject({
        failure: { detail: `${name} has an element within its text.` }
      })
    }
  })

  it("says that the check digits of an account are wrong", async () => {
    const wrong = account.replace("CH93", "CH94")
    const text = camt(header + `<Stmt><Id>1</Id>${wrong}${balances}</Stmt>`)
    expect(await readText(ofCash(), text)).toMatchObject({
      failure: {
        check: "statement-account",
        detail: "The account is an IBAN whose check digits are wrong."
      }
    })
  })

  it("keeps an entry in another currency as a line", async () => {
    expect(await shown(file(entry({ Amt: amount("7", "CHF") })))).toEqual([
      "credit 7 CHF BANK-1 null"
    ])
  })

  it("passes over statements of other accounts and of the account in another currency", async () => {
    const other = (acct: string) => `<Stmt><Id>O</Id>${acct}<Ntry/><Bal/></Stmt>`
    const others =
      other("<Acct><Id><Othr><Id>77</Id></Othr></Id></Acct>") + other(account.replace("EUR", "CHF"))
    const { header: read } = await statementOf(
      ofCash(),
      camt(header + others + stmt(balances) + others)
    )
    expect(read.reference).toBe("S-1")
  })

  it.each([
    [
      "an IBAN in small letters",
      "<IBAN>ch9300762011623852957</IBAN>",
      "CH93 0076 2011 6238 5295 7"
    ],
    ["another number", "<Othr><Id>12-34.5/6</Id></Othr>", "123456"]
  ])("knows its account by %s, without a currency", async (_, id, number) => {
    const acct = `<Acct><Id>${id}</Id></Acct>`
    const text = camt(`<Stmt>${acct}${balances}${entry()}</Stmt>`)
    const { lines } = await statementOf(ofCash({ account: { number, currency: "EUR" } }), text)
    expect(lines).toHaveLength(1)
  })

  it.each([
    ["OPBD before PRCD", balance("PRCD", "1") + balance("OPBD", "2"), "2", "150"],
    ["PRCD where there is no OPBD", balance("PRCD", "1"), "1", "150"],
    ["a debit balance below zero", balance("OPBD", "1", { side: "DBIT" }), "-1", "150"],
    ["none in another currency", balance("OPBD", "1", { currency: "SEK" }), null, "150"],
    ["none where there is none", balance("OPAV", "1") + balance("ITBD", "2"), null, "150"]
  ])("takes the opening balance: %s", async (_, opening, expected, closing) => {
    const { header: read } = await statementOf(
      ofCash(),
      camt(stmt(opening + balance("CLBD", "150")))
    )
    expect([plain(read.opening), plain(read.closing)]).toEqual([expected, closing])
  })

  it("takes the business date of a closing balance in another currency, and no figure of it", async () => {
    const { header: read } = await statementOf(
      ofCash(),
      camt(stmt(balance("OPBD", "1") + balance("CLBD", "2", { currency: "SEK" })))
    )
    expect([read.businessDate, read.closing]).toEqual(["2026-03-02", null])
  })

  it.each([
    ["a date alone", "<Dt>2026-03-02</Dt>", "2026-03-02", "2026-03-02T23:00:00Z"],
    ["a date with an offset", "<Dt>2026-03-02-05:00</Dt>", "2026-03-02", "2026-03-02T23:00:00Z"],
    [
      "its own offset",
      "<DtTm>2026-03-02T23:30:00-05:00</DtTm>",
      "2026-03-02",
      "2026-03-03T04:30:00Z"
    ],
    ["no offset", "<DtTm>2026-03-02T18:00:00.5</DtTm>", "2026-03-02", "2026-03-02T17:00:00.5Z"],
    [
      "midnight of the end",
      "<DtTm>2026-03-02T24:00:00</DtTm>",
      "2026-03-02",
      "2026-03-02T23:00:00Z"
    ],
    [
      "nine digits of a second",
      "<DtTm>2026-03-02T18:00:00.123456789000Z</DtTm>",
      "2026-03-02",
      "2026-03-02T18:00:00.123456789Z"
    ],
    ["the night of a clock change", "<Dt>2026-03-28</Dt>", "2026-03-28", "2026-03-28T23:00:00Z"],
    ["the day of a clock change", "<Dt>2026-03-29</Dt>", "2026-03-29", "2026-03-29T22:00:00Z"]
  ])("is as of the closing balance: %s", async (_, date, day, asOf) => {
    const { header: read } = await statementOf(ofCash(), camt(stmt(balance("CLBD", "1", { date }))))
    expect([read.businessDate, read.asOf]).toEqual([day, Instant.of(asOf)])
  })

  it.each(["COPY", "DUPL", "CODU"])("reads a copy like any other: %s", async (code) => {
    const text = camt(stmt(`<CpyDplctInd>${code}</CpyDplctInd>${balances}${entry()}`))
    expect(await shown(text)).toHaveLength(1)
  })

  it.each(Array.from({ length: 13 }, (_, index) => String(index + 2).padStart(2, "0")))(
    "is read in version %s",
    async (version) => {
      expect(await shown(camt(stmt(balances + entry()), version))).toHaveLength(1)
    }
  )

  it.each([
    ["+0050.0000000000000", "50"],
    [".5", "0.5"],
    ["5.", "5"],
    [" 50 ", "50"],
    ["-0", "0"],
    ["0.0000000001", "0.0000000001"],
    ["9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999"]
  ])("reads the decimal %s", async (written, expected) => {
    expect(await shown(file(entry({ Amt: amount(written) })))).toEqual([
      `credit ${expected} EUR BANK-1 null`
    ])
  })
})

describe("a statement of a bank is refused, with check and line", () => {
  const refusals: ReadonlyArray<readonly [string, string, string]> = [
    ["no statement", camt(header), "statement-account 1"],
    [
      "a statement of another account",
      camt(stmt(balances)).replace("CH93", "CH94"),
      "statement-account 1"
    ],
    [
      "an account of two numbers",
      file().replace("</IBAN>", "</IBAN><Othr><Id>1</Id></Othr>"),
      "statement-field 1"
    ],
    [
      "two accounts in one statement",
      file().replace("<Bal>", `\n${account}<Bal>`),
      "statement-account 2"
    ],
    [
      "entries before the account",
      camt(`<Stmt>\n${entry()}${account}${balances}</Stmt>`),
      "statement-account 2"
    ],
    ["no account", camt(`<Stmt>\n${balances}${entry()}</Stmt>`), "statement-account 2"],
    [
      "page 2 of the message",
      camt(
        "<GrpHdr>\n<MsgPgntn><PgNb>2</PgNb><LastPgInd>true</LastPgInd></MsgPgntn></GrpHdr>" +
          stmt(balances)
      ),
      "statement-complete 2"
    ],
    [
      "a page of the statement that is not the last",
      camt(stmt(`<StmtPgntn><PgNb>1</PgNb><LastPgInd>false</LastPgInd></StmtPgntn>${balances}`)),
      "statement-complete 1"
    ],
    ["no closing balance", camt(stmt(balance("OPBD", "1"))), "statement-field 1"],
    [
      "two closing balances",
      camt(stmt(`${balances}\n${balance("CLBD", "1")}`)),
      "statement-field 2"
    ],
    [
      "a balance without direction",
      camt(stmt(balances.replace("<CdtDbtInd>CRDT</CdtDbtInd>", ""))),
      "statement-field 1"
    ],
    [
      "a closing balance without date",
      camt(stmt(balance("CLBD", "1", { date: "" }))),
      "statement-field 1"
    ],
    ["an entry without status", file(`\n${entry({ Sts: "" })}`), "statement-field 2"],
    [
      "a status of the bank's own",
      file(entry({ Sts: "<Sts><Prtry>X</Prtry></Sts>" })),
      "statement-field 1"
    ],
    ["an entry without direction", file(`\n${entry({ CdtDbtInd: "" })}`), "statement-field 2"],
    [
      "another direction",
      file(entry({ CdtDbtInd: "<CdtDbtInd>CR</CdtDbtInd>" })),
      "statement-field 1"
    ],
    ["an entry without amount", file(entry({ Amt: "" })), "statement-field 1"],
    [
      "an amount that is twice there",
      file(entry({ Amt: amount("1") + amount("1") })),
      "statement-field 1"
    ],
    ["an amount without currency", file(entry({ Amt: "<Amt>1</Amt>" })), "statement-field 1"],
    ["an amount below zero", file(entry({ Amt: amount("-1") })), "statement-field 1"],
    ["an amount with an exponent", file(entry({ Amt: amount("1e3") })), "statement-field 1"],
    ["an amount that is empty", file(entry({ Amt: amount(" ") })), "statement-field 1"],
    ["an amount with a comma", file(entry({ Amt: amount("1,5") })), "statement-field 1"],
    [
      "an amount of 29 digits",
      file(entry({ Amt: amount(`1${"0".repeat(28)}`) })),
      "statement-field 1"
    ],
    ["eleven places", file(entry({ Amt: amount("1.00000000001") })), "statement-places 1"],
    ["an entry without booking date", file(entry({ BookgDt: "" })), "statement-field 1"],
    [
      "a day that does not exist",
      file(entry({ ValDt: "<ValDt><Dt>2026-02-30</Dt></ValDt>" })),
      "statement-field 1"
    ],
    [
      "a date and a date-time",
      file(entry({ ValDt: "<ValDt><Dt>2026-02-03</Dt><DtTm>2026-02-03T00:00:00</DtTm></ValDt>" })),
      "statement-field 1"
    ],
    [
      "a year of another age",
      camt(stmt(balance("CLBD", "1", { date: "<Dt>9999-12-31</Dt>" }))),
      "statement-field 1"
    ],
    [
      "a second that does not exist",
      camt(stmt(balance("CLBD", "1", { date: "<DtTm>2026-03-02T18:00:60Z</DtTm>" }))),
      "statement-field 1"
    ],
    [
      "an offset that no place has",
      camt(stmt(balance("CLBD", "1", { date: "<DtTm>2026-03-02T18:00:00+15:00</DtTm>" }))),
      "statement-field 1"
    ]
  ]
  it.each(refusals)("%s", async (_, text, expected) => {
    expect(faultOf(await readText(ofCash(), text))).toBe(expected)
  })

  it("never hands on more lines, or holds more transactions, than a statement may have", async () => {
    const few = ofCash({ linesMax: 2 })
    expect(faultOf(await readText(few, file(entry(), entry(), entry())))).toBe("too long 2")
    expect(faultOf(await readText(few, file(batch("", "", ""))))).toBe("too long 2")
    expect(faultOf(await readText(few, file(entry(), entry())))).toBe("read")
  })

  it("never repeats the account or a name of the file in its detail", async () => {
    for (const [, text] of refusals) {
      const answer = await readText(ofCash(), text)
      expect(JSON.stringify(answer)).not.toMatch(/CH9300762011623852957|BANK-1|Payer/u)
    }
  })
})

describe("a file with several statements of the account", () => {
  const statementOf = (body: string, own = account) => `<Stmt><Id>S</Id>${own}${body}</Stmt>`
  const other = account.replace("CH9300762011623852957", "DE89370400440532013000")
  const day = (date: string) =>
    balance("OPBD", "100.00", { date: `<Dt>${date}</Dt>` }) +
    balance("CLBD", "150.00", { date: `<Dt>${date}</Dt>` })
  const numbered = (tag: string, number: string) => `<${tag}>${number}</${tag}>`
  const withBank = (reference: string) =>
    entry({ AcctSvcrRef: `<AcctSvcrRef>${reference}</AcctSvcrRef>` })

  const text = camt(
    header +
      [
        statementOf(
          numbered("ElctrncSeqNb", "0012") +
            numbered("LglSeqNb", "7") +
            day("2026-03-02") +
            withBank("B-1") +
            withBank("B-2")
        ),
        statementOf(day("2026-03-02") + withBank("B-3"), other),
        statementOf(numbered("LglSeqNb", "13") + day("2026-03-03")),
        statementOf(day("2026-03-04") + withBank("B-4"))
      ].join("\n")
  )

  const shown = async (pieces: Iterable<Uint8Array>) =>
    Result.getOrThrow(await statementsIn(ofCash(), pieces)).map((each) => [
      each.header.businessDate,
      each.header.sequence ?? null,
      each.lines.map((line) => (line.kind === "cash" ? line.bankReference : null)),
      each.place
    ])

  const expected = [
    ["2026-03-02", "12", ["B-1", "B-2"], { line: 1, pointer: "/Document/BkToCstmrStmt/Stmt/0" }],
    ["2026-03-03", "13", [], { line: 3, pointer: "/Document/BkToCstmrStmt/Stmt/2" }],
    ["2026-03-04", null, ["B-4"], { line: 4, pointer: "/Document/BkToCstmrStmt/Stmt/3" }]
  ]

  it("gives each its own lines, balances, number and place", async () => {
    expect(await shown([utf8(text)])).toEqual(expected)
  })

  it.each([1, 7, 333])("never depends on how it arrives: pieces of %i bytes", async (size) => {
    expect(await shown(inSlices(utf8(text), size))).toEqual(expected)
  })

  it.each([
    [
      "an amount of the second entry of the second one",
      camt(
        statementOf(day("2026-03-02")) +
          statementOf(
            day("2026-03-03") + withBank("B-1") + entry({ Amt: '<Amt Ccy="EUR">x</Amt>' })
          )
      ),
      "statement-field /Document/BkToCstmrStmt/Stmt/1/Ntry/1"
    ],
    [
      "a balance of the first one",
      camt(
        statementOf(day("2026-03-02").replace("100.00", "1,00")) + statementOf(day("2026-03-03"))
      ),
      "statement-field /Document/BkToCstmrStmt/Stmt/0/Bal"
    ],
    [
      "no closing balance of the second one",
      camt(statementOf(day("2026-03-02")) + statementOf(balance("OPBD", "1"))),
      "statement-field /Document/BkToCstmrStmt/Stmt/1"
    ],
    [
      "a number that is none",
      camt(statementOf(numbered("ElctrncSeqNb", "12a") + day("2026-03-02"))),
      "statement-field /Document/BkToCstmrStmt/Stmt/0"
    ],
    [
      "a page of the second one",
      camt(
        statementOf(day("2026-03-02")) +
          statementOf(
            "<StmtPgntn><PgNb>2</PgNb><LastPgInd>true</LastPgInd></StmtPgntn>" + day("2026-03-03")
          )
      ),
      "statement-complete /Document/BkToCstmrStmt/Stmt/1"
    ]
  ])("names the statement and the element of a fault: %s", async (_, broken, fault) => {
    const answer = await statementsIn(ofCash(), [utf8(broken)])
    const found = Result.isFailure(answer) ? answer.failure : null
    expect(found?._tag === "StatementRefused" ? `${found.check} ${found.pointer}` : found).toBe(
      fault
    )
  })

  it("has no more lines in all than a file may", async () => {
    const two = camt(
      statementOf(day("2026-03-02") + withBank("B-1")) +
        statementOf(day("2026-03-03") + withBank("B-2"))
    )
    const answer = await statementsIn(ofCash({ linesMax: 1 }), [utf8(two)])
    expect(Result.isFailure(answer) ? answer.failure._tag : "read").toBe("StatementTooLong")
  })
})
