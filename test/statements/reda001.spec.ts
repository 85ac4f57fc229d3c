/** Reader of reda.001: which net asset value a file states, and what it is refused for. */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import { describe, expect, it } from "vitest"
import { faultOf, ofNav, plain, readText, statementOf } from "./reading.ts"

const own = "LU0000000017"
const report = (
  valuations: string,
  over: { readonly head?: string; readonly version?: string } = {}
) =>
  `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:reda.001.001.${over.version ?? "04"}"><PricRpt>` +
  `${over.head ?? "<PricRptId>NAV-1</PricRptId><Fctn>NEWP</Fctn>"}${valuations}</PricRpt></Document>`

const price = (
  over: {
    readonly type?: string
    readonly amount?: string
    readonly currency?: string
    readonly estimated?: string
  } = {}
): string =>
  `<PricDtls><Tp>${over.type ?? "NAVL"}</Tp><ValInInvstmtCcy><Amt Ccy="${over.currency ?? "USD"}">${over.amount ?? "1.0437"}</Amt></ValInInvstmtCcy>` +
  `<EstmtdPricInd>${over.estimated ?? "false"}</EstmtdPricInd></PricDtls>`

/** Valuation of the share class, with members in place of its own. */
const valuation = (over: Readonly<Record<string, string>> = {}): string => {
  const members = {
    NAVDtTm: "<NAVDtTm><Dt>2026-03-02</Dt></NAVDtTm>",
    FinInstrmDtls: `<FinInstrmDtls><Id><SEDOL>1</SEDOL></Id><Id><ISIN>${own}</ISIN></Id></FinInstrmDtls>`,
    TtlNAV: '<TtlNAV Ccy="EUR">9</TtlNAV><TtlNAV Ccy="USD">100000.00</TtlNAV>',
    TtlUnitsNb: "<TtlUnitsNb><Unit>95812.973076</Unit></TtlUnitsNb>",
    OffclValtnInd: "<OffclValtnInd>true</OffclValtnInd>",
    SspdInd: "<SspdInd>false</SspdInd>",
    PricDtls: price({ type: "OFFR", amount: "1.09" }) + price(),
    ...over
  }
  return `<PricValtnDtls>${Object.values(members).join("")}</PricValtnDtls>`
}
const unofficial = { OffclValtnInd: "<OffclValtnInd>false</OffclValtnInd>" }
const suspended = { SspdInd: "<SspdInd>true</SspdInd>" }

describe("a net asset value", () => {
  it("is read in full", async () => {
    const { lines, header } = await statementOf(ofNav(), report(valuation()))
    expect(lines).toEqual([])
    expect(header).toEqual({
      businessDate: "2026-03-02",
      asOf: Instant.of("2026-03-02T23:00:00Z"),
      period: null,
      reference: "NAV-1",
      currency: "USD",
      totalQuantity: Decimal.of("95812.973076"),
      totalAmount: Decimal.of("100000"),
      statedLines: null,
      basis: null,
      opening: null,
      closing: null,
      nav: {
        official: Decimal.of("1.0437"),
        indicative: null,
        indicativeAsOf: null,
        expiresAt: Instant.of("2026-03-03T23:00:00Z"),
        ripcord: false
      }
    })
  })

  it.each([
    [
      "an estimate beside the official",
      valuation({ PricDtls: price() + price({ amount: "2", estimated: "true" }) }),
      "1.0437",
      "2",
      false
    ],
    [
      "ENAV beside the official",
      valuation({ PricDtls: price({ type: "ENAV", amount: "2", estimated: "1" }) + price() }),
      "1.0437",
      "2",
      false
    ],
    [
      "13 places of which 10 are not zero",
      valuation({ PricDtls: price({ amount: "1.0000000001000" }) }),
      "1.0000000001",
      null,
      false
    ],
    [
      "a price in another currency beside it",
      valuation({ PricDtls: price() + price({ currency: "EUR", amount: "2" }) }),
      "1.0437",
      null,
      false
    ],
    ["a suspension without a price", valuation({ ...suspended, PricDtls: "" }), "0", null, true],
    ["a suspension with a price", valuation(suspended), "1.0437", null, true],
    [
      "a suspension with an estimate",
      valuation({
        ...suspended,
        ...unofficial,
        PricDtls: price({ estimated: "true", amount: "2" })
      }),
      "0",
      "2",
      true
    ]
  ])("is read with %s", async (_, body, official, indicative, ripcord) => {
    const { nav, asOf } = (await statementOf(ofNav(), report(body))).header
    expect([plain(nav?.official), plain(nav?.indicative), nav?.ripcord]).toEqual([
      official,
      indicative,
      ripcord
    ])
    expect(nav?.indicativeAsOf).toEqual(indicative === null ? null : asOf)
  })

  it("is as of its valuation, of the date of its NAV, and expires after the life that the source gives", async () => {
    const times = {
      NAVDtTm:
        "<ValtnDtTm><DtTm>2026-03-03T17:00:00Z</DtTm></ValtnDtTm><NAVDtTm><DtTm>2026-03-02T23:59:00-05:00</DtTm></NAVDtTm>"
    }
    const { header } = await statementOf(
      ofNav({ validFor: Duration.of("PT1H") }),
      report(valuation(times))
    )
    expect([header.businessDate, header.asOf, header.nav?.expiresAt]).toEqual([
      "2026-03-02",
      Instant.of("2026-03-03T17:00:00Z"),
      Instant.of("2026-03-03T18:00:00Z")
    ])
  })

  it("is that of its own share class, whatever the others say", async () => {
    const other = valuation({ OffclValtnInd: "", PricDtls: "" }).replace(own, "LU0000000025")
    expect(
      (await statementOf(ofNav(), report(other + valuation() + other))).header.nav?.official
    ).toBe(Decimal.of("1.0437"))
  })

  it.each(["03", "04", "05"])("is read in version %s", async (version) => {
    expect(faultOf(await readText(ofNav(), report(valuation(), { version })))).toBe("read")
  })

  it("is a replacement where the sender names what is corrected", async () => {
    const text = report(valuation(), { head: "<Fctn>REPL</Fctn>" })
    expect(faultOf(await readText(ofNav({ corrects: true }), text))).toBe("read")
    expect(faultOf(await readText(ofNav(), text))).toBe("statement-function 1")
  })
})

describe("a net asset value is refused, with check and line", () => {
  const last = "<MsgPgntn><PgNb>1</PgNb><LastPgInd>false</LastPgInd></MsgPgntn><Fctn>NEWP</Fctn>"
  it.each([
    [
      "an estimate alone",
      report(`\n${valuation({ PricDtls: price({ estimated: "true" }) })}`),
      "statement-nav 2"
    ],
    ["an unofficial valuation alone", report(valuation(unofficial)), "statement-nav 1"],
    [
      "a price in another currency alone",
      report(valuation({ PricDtls: price({ currency: "EUR" }) })),
      "statement-nav 1"
    ],
    ["no price", report(valuation({ PricDtls: "" })), "statement-nav 1"],
    [
      "two official prices",
      report(valuation({ PricDtls: `${price()}\n${price()}` })),
      "statement-nav 2"
    ],
    [
      "two indicative prices",
      report(
        valuation({ PricDtls: price() + price({ estimated: "true" }) + price({ type: "ENAV" }) })
      ),
      "statement-nav 1"
    ],
    [
      "two totals in one currency",
      report(valuation({ TtlNAV: '<TtlNAV Ccy="USD">1</TtlNAV><TtlNAV Ccy="USD">2</TtlNAV>' })),
      "statement-nav 1"
    ],
    [
      "an estimate or not",
      report(valuation({ PricDtls: price({ estimated: "maybe" }) })),
      "statement-field 1"
    ],
    ["no official flag", report(valuation({ OffclValtnInd: "" })), "statement-field 1"],
    ["no suspension flag", report(valuation({ SspdInd: "" })), "statement-field 1"],
    ["no date", report(valuation({ NAVDtTm: "" })), "statement-field 1"],
    [
      "eleven places",
      report(valuation({ PricDtls: price({ amount: "1.00000000001" }) })),
      "statement-places 1"
    ],
    [
      "a price below zero",
      report(valuation({ PricDtls: price({ amount: "-1" }) })),
      "statement-field 1"
    ],
    ["a part", report(valuation(), { head: "\n<Fctn>PART</Fctn>" }), "statement-function 2"],
    ["no function", report(valuation(), { head: "" }), "statement-field 1"],
    ["another page", report(valuation(), { head: last }), "statement-complete 1"],
    ["another share class", report(valuation().replace(own, "LU9")), "statement-account 1"],
    ["the share class twice", report(`${valuation()}\n${valuation()}`), "statement-account 2"],
    [
      "a valuation of two share classes",
      report(valuation().replace("<SEDOL>1</SEDOL>", "<ISIN>LU9</ISIN>")),
      "statement-account 1"
    ],
    [
      "a valuation of its own and another share class",
      report(valuation().replace("</ISIN></Id>", "</ISIN></Id><Id><ISIN>LU9</ISIN></Id>")),
      "statement-account 1"
    ],
    [
      "two reports",
      report(`${valuation()}</PricRpt>\n<PricRpt><Fctn>NEWP</Fctn>`),
      "statement-field 2"
    ],
    ["no report", report("").replaceAll("PricRpt>", "Other>"), "statement-account 1"]
  ])("%s", async (_, text, expected) => {
    expect(faultOf(await readText(ofNav(), text))).toBe(expected)
  })

  it("an instrument without ISIN has no valuation", async () => {
    expect(faultOf(await readText(ofNav({ isin: null }), report(valuation())))).toBe(
      "statement-account 1"
    )
  })
})
