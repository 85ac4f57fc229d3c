/**
 * Statements of other parties' programs, read whole: their figures, and the refusals of the bad
 * ones.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import {
  faultOf,
  ofCash,
  ofNav,
  ofPositions,
  plain,
  type Reading,
  readPieces,
  readText,
  type Statement,
  statementOf,
  statementsIn,
  utf8
} from "./reading.ts"

const folder = new URL("../../../shared/data/iso20022/", import.meta.url)
const isThere = existsSync(folder)
const textOf = (path: string): string => readFileSync(new URL(path, folder), "utf8")

const ofAccount = (number: string, currency: string): Reading =>
  ofCash({ account: { number, currency }, currency, zone: "UTC" })

/** Closing less opening less what is booked; null where an amount is missing or of another currency. */
const difference = ({ lines, header }: Statement): string | null => {
  const entries = lines.flatMap((line) => (line.kind === "cash" ? [line] : []))
  const isForeign = entries.some(({ currency }) => currency !== header.currency)
  if (header.opening === null || header.closing === null || isForeign) return null
  const booked = entries.map(({ amount, direction }) =>
    direction === "credit" ? amount : Decimal.negate(amount)
  )
  return plain(Decimal.subtract(header.closing, Decimal.sum([header.opening, ...booked])))
}

/** File, account, currency, business date, lines, opening, closing, difference. */
type Good = readonly [
  string,
  string,
  string,
  string,
  number,
  string | null,
  string | null,
  string | null
]

const good: ReadonlyArray<Good> = [
  [
    "darko-camt_053_ver_2_extended_uk_account.xml",
    "GB87HAND40516218000025",
    "GBP",
    "2015-04-28",
    2,
    "6.87",
    "6.77",
    "0"
  ],
  [
    "genkgo-camt053.v2.all-balance-types.xml",
    "CH2801234000123456789",
    "EUR",
    "2015-01-22",
    1,
    "1.01",
    "4.04",
    "-5.82"
  ],
  [
    "genkgo-camt053.v2.five.decimals.xml",
    "NL26VAYB8060476890",
    "EUR",
    "2014-12-31",
    1,
    "18.15",
    "27.05",
    "0.05"
  ],
  [
    "genkgo-camt053.v2.minimal.xml",
    "NL26VAYB8060476890",
    "EUR",
    "2014-12-31",
    1,
    "18.15",
    null,
    null
  ],
  ["isojs-ing-example_camt.xml", "NL08INGB0000001234", "EUR", "2014-01-03", 9, "1000", "1605", "0"],
  [
    "isojs-nordea-example_camt.xml",
    "FI8529501800030574",
    "EUR",
    "2019-05-08",
    6,
    "200.5",
    "8800.5",
    "0"
  ],
  [
    "seb-business_sample_camt.053.001.04.xml",
    "50000000054910000003",
    "SEK",
    "2010-10-18",
    3,
    "500000",
    "435678.5",
    "0"
  ],
  [
    "subite-2024-10.001.02.xml",
    "BE68793230773034",
    "EUR",
    "2024-10-31",
    314,
    "33443.03",
    "59370.37",
    "0"
  ],
  [
    "viafintech-valid_example.xml",
    "DE14740618130000033626",
    "EUR",
    "2013-12-27",
    5,
    "33.06",
    "23.06",
    "0"
  ],
  [
    "viafintech-valid_example_v8.xml",
    "CH1111111111111111111",
    "CHF",
    "2023-06-20",
    3,
    "82721.95",
    "84515.25",
    null
  ],
  [
    "viafintech-valid_example_with_batch.xml",
    "NL18INGB00012345678",
    "EUR",
    "2019-06-23",
    3,
    "7329.8",
    "23038.2",
    "12774.14"
  ],
  [
    "viafintech-valid_example_with_datetime.xml",
    "11111111",
    "USD",
    "2023-07-07",
    1,
    null,
    "606.8",
    null
  ],
  [
    "viafintech-valid_example_with_instdamt.xml",
    "CH9788761065025111111",
    "CHF",
    "2019-05-13",
    1,
    "100",
    "4500",
    "-100"
  ]
]

/** Good files of which this engine takes no statement: pages, no closing balance. */
const notTaken: ReadonlyArray<readonly [string, string, string, string]> = [
  ["genkgo-camt053.v4.xml", "NL26VAYB8060476890", "EUR", "statement-complete 32"],
  ["genkgo-camt053.v8.xml", "NL26VAYB8060476890", "EUR", "statement-complete 32"],
  ["genkgo-camt53.only-Dt-with-DtTm.xml", "GB33BUKB20201555555555", "RON", "statement-field 9"],
  ["prowide-camt.053.001.07.xml", "2345234534", "USD", "statement-field 30"],
  ["viafintech-valid_example_with_other_id.xml", "1234567890", "EUR", "statement-account 1"]
]

const bad: ReadonlyArray<readonly [string, string]> = [
  ["genkgo-camt053.v2.wrong.xml", "statement-account 1"],
  ["subite-LT-2024-03-07.no-sts-no-cdtdbt.001.08.xml", "statement-complete 2"],
  ["subite-LT-2024-03-08.no-sts-no-cdtdbt.001.08.xml", "statement-complete 2"],
  ["subite-LT-2024-03-11.no-sts-no-cdtdbt.001.08.xml", "statement-complete 2"],
  ["thebes-camt053-shape.001.08.xml", "statement-account 9"],
  ["thebes-cbpr-pending-two-roots.001.08.xml", "malformed 10:10"],
  ["thebes-hvps-two-roots.001.08.xml", "malformed 10:10"],
  ["thebes-doctype-entity.xml", "malformed 1:58"]
]

const egypt = ofAccount("EG380019000500000000263180002", "USD")
const withoutDeclaration = (text: string): string => text.replace(/<\?xml[^>]*\?>/u, "")
/** The file, with header and document in one envelope. */
const wrapped = (path: string): string => `<Env>${withoutDeclaration(textOf(path))}</Env>`

describe.skipIf(!isThere)("statements that others wrote (needs shared/data/iso20022)", () => {
  it.each(good)("are read: %s", async (name, number, currency, ...expected) => {
    const read = await statementOf(ofAccount(number, currency), textOf(`camt.053/${name}`))
    const { businessDate, opening, closing } = read.header
    expect([
      businessDate,
      read.lines.length,
      plain(opening),
      plain(closing),
      difference(read)
    ]).toEqual(expected)
  })

  it.each(good)("never depend on how the file arrives: %s", async (name, number, currency) => {
    const bytes = new Uint8Array(readFileSync(new URL(`camt.053/${name}`, folder)))
    const pieces = Array.from({ length: Math.ceil(bytes.length / 777) }, (_, index) =>
      bytes.subarray(index * 777, (index + 1) * 777)
    )
    const reading = ofAccount(number, currency)
    expect(await readPieces(reading, pieces)).toEqual(await readPieces(reading, [bytes]))
  })

  it("give each statement of the account its own lines and balances", async () => {
    const text = textOf("camt.053/genkgo-camt053.v2.multi.statement.xml")
    const read = await statementsIn(ofAccount("NL26VAYB8060476890", "EUR"), [utf8(text)])
    const shown = Result.getOrThrow(read).map((each) => [
      each.header.reference,
      each.header.businessDate,
      each.header.sequence,
      each.lines.length,
      difference(each),
      each.place?.pointer
    ])
    const pathOf = (index: number) => `/Document/BkToCstmrStmt/Stmt/${index}`
    expect(shown).toEqual([
      ["253EURNL26VAYB8060476890", "2014-12-31", "12312", 1, "0", pathOf(0)],
      ["254EURNL26VAYB8060476890", "2014-12-31", undefined, 1, "0", pathOf(1)]
    ])
  })

  it.each(notTaken)(
    "are refused where they are not the statement of one account and day: %s",
    async (name, number, currency, expected) => {
      expect(faultOf(await readText(ofAccount(number, currency), textOf(`camt.053/${name}`)))).toBe(
        expected
      )
    }
  )

  it("are refused without balances", async () => {
    const text = textOf("camt.053/viafintech-valid_example_with_other_id.xml")
    const number = /<Othr>\s*<Id>(?<id>[^<]*)/u.exec(text)?.groups?.["id"] ?? ""
    const currency = /<Ccy>(?<currency>[^<]*)/u.exec(text)?.groups?.["currency"] ?? "EUR"
    expect(faultOf(await readText(ofAccount(number, currency), text))).toBe("statement-field 13")
  })

  it.each(bad)("are refused where they are bad: %s", async (name, expected) => {
    const number = name.startsWith("subite") ? "LT625883379695428516" : "NL26VAYB8060476890"
    expect(faultOf(await readText(ofAccount(number, "EUR"), textOf(`bad/${name}`)))).toBe(expected)
  })

  // G65
  it.each([
    ["thebes-hvps-two-roots.001.08.xml", 1, "-124140.94"],
    ["thebes-cbpr-pending-two-roots.001.08.xml", 0, "114180.71"]
  ])("are read once their two roots are in one envelope: %s", async (name, lines, expected) => {
    const read = await statementOf(egypt, wrapped(`bad/${name}`))
    expect([read.lines.length, difference(read)]).toEqual([lines, expected])
  })

  const zone = { zone: "UTC" }
  it.each([
    ["LU0000000017", "1.0437", "95812.973076"],
    ["LU0000000025", "1.0416666667", "240000"]
  ])("state the net asset value of each share class: %s", async (isin, official, units) => {
    const text = textOf("made/reda.001.001.04-nav-two-classes.xml")
    const { header } = await statementOf(ofNav({ isin, ...zone }), text)
    expect([header.businessDate, plain(header.nav?.official), plain(header.totalQuantity)]).toEqual(
      ["2026-03-02", official, units]
    )
  })

  it("state a suspension", async () => {
    const { header } = await statementOf(ofNav(zone), textOf("made/reda.001.001.04-suspended.xml"))
    expect([header.nav?.ripcord, plain(header.nav?.official)]).toEqual([true, "0"])
  })

  const shown = ({ lines }: Statement) =>
    lines.map((line) => (line.kind === "cash" ? "" : `${line.account} ${plain(line.quantity)}`))
  it.each([
    ["semt.002.001.11-holdings.xml", "holdings", ["hol-1 95812.973076", "hol-2 1234.5"]],
    ["semt.002.001.11-custody.xml", "custody", ["SAFE-1 1000", "SAFE-1 500"]],
    ["semt.002.001.11-nothing-held.xml", "custody", []]
  ] as const)("state positions: %s", async (name, kind, expected) => {
    const read = await statementOf(ofPositions(kind, zone), textOf(`made/${name}`))
    expect([read.header.businessDate, read.header.basis, shown(read)]).toEqual([
      "2026-03-02",
      "settled",
      expected
    ])
  })
})
