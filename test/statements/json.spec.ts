/** Statements in their own JSON form that are refused, each with its place, and those that are read. */
import { Date, Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import type { StatementSource } from "@bursar/engine-core/ports"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../architecture/sources.ts"
import * as generate from "./generate.ts"
import { faultOf, readPieces, whole } from "./reading.ts"

const reading = (more: Partial<StatementSource.Reading> = {}): StatementSource.Reading => ({
  adapter: "json",
  kind: "holdings",
  charset: null,
  account: null,
  isin: "LU0000000017",
  currency: "USD",
  zone: generate.zone,
  validFor: Duration.of("P3D"),
  basis: null,
  csv: null,
  businessDate: null,
  corrects: false,
  linesMax: 3,
  ...more
})
const bytes = (text: string) => [generate.encoded(text)]
const outcome = (text: string, more: Partial<StatementSource.Reading> = {}) =>
  readPieces(reading(more), bytes(text))
const head = '"kind":"holdings","businessDate":"2026-03-02"'
const file = (...lines: ReadonlyArray<string>) => `{${head},"lines":[${lines.join(",")}]}`
const line = (more: string, account = "a") => `{"account":"${account}",${more}}`
const one = line('"quantity":"1"')

const cash: Partial<StatementSource.Reading> = {
  kind: "cash",
  account: { number: "CH1", currency: "USD" }
}
const entry = '"bookingDate":"2026-03-02","amount":"1","direction":"credit"'
const cashFile = (members: string, ...lines: ReadonlyArray<string>) =>
  `{"kind":"cash","businessDate":"2026-03-02"${members},"lines":[${lines.join(",")}]}`
const nav = { kind: "nav" as const }
const navFile = (value: string, members = "") =>
  `{"kind":"nav","businessDate":"2026-03-02"${members},"nav":${value}}`

type Row = readonly [string, string, string, Partial<StatementSource.Reading>?]
const faults: ReadonlyArray<Row> = [
  ["nothing", "", "malformed 1:1"],
  ["an array", `[${file(one)}]`, "malformed 1:1"],
  ["XML", "<Document/>", "malformed 1:1"],
  ["a text that ends in a line", file(one).slice(0, -8), "malformed 1:81"],
  ["a text that ends after its lines", file(one).slice(0, -1), "malformed 1:88"],
  ["text after the statement", `${file(one)}\n x`, "malformed 2:2"],
  ["two statements", `${file(one)}\n${file(one)}`, "malformed 2:1"],
  ["no lines", `{${head}}`, "malformed 1:null"],
  ["lines that are no array", `{${head},"lines":{"0":${one}}}`, "malformed 1:null"],
  ["lines that are null", `{${head},"lines":null}`, "malformed 1:null"],
  ["a line that is a number", file("1"), "malformed 1:57"],
  ["a line that is an array", file(`[${one}]`), "malformed 1:57"],
  ["no comma between lines", `{${head},"lines":[${one} ${one}]}`, "malformed 1:88"],
  ["a comma after the lines", `{${head},"lines":[${one},]}`, "malformed 1:88"],
  ["a comma before the lines", `{${head},"lines":[,${one}]}`, "malformed 1:57"],
  ["lines twice", `{${head},"lines":[${one}],\n"lines":[]}`, "malformed 2:9"],
  ["lines twice, once escaped", `{${head},"lines":[],\n"lin\\u0065s":[]}`, "malformed 2:14"],
  ["a member twice", `{"kind":"holdings",${head},"lines":[]}`, "malformed 1:26"],
  ["a member of a line twice", file(line('"quantity":"1","quantity":"2"')), "malformed 1:97"],
  [
    "a member of a line twice, once escaped",
    file(line('"quantity":"1","quantit\\u0079":"2"')),
    "malformed 1:102"
  ],
  ["__proto__", file(line('"quantity":"1","__proto__":"2"')), "malformed 1:98"],
  ["a member that there is not", `{${head},"issuer":"x","lines":[]}`, "malformed 1:1"],
  [
    "a member of a line that there is not",
    file(line('"quantity":"1","units":"1"')),
    "malformed 1:57"
  ],
  [
    "a fault in the second of two rows",
    `{${head},"lines":[\n${one},\n  {"account":}]}`,
    "malformed 3:14"
  ],
  ["a fault after the lines", `{${head},"lines":[\n${one}\n],\n"period":}`, "malformed 4:10"],
  [
    "values 33 deep",
    `{${head},"lines":[],"x":${"[".repeat(33)}${"]".repeat(33)}}`,
    "malformed 1:94"
  ],
  ["a text of over 64 KiB", file(line(`"quantity":"1"`, "a".repeat(65_537))), "malformed 1:65607"],
  ["a line of over 1 MiB", file(`{"account":["${"a".repeat(1_100_000)}`), "malformed 1:57"],
  ["a header of over 1 MiB", `{"x":"${"a".repeat(1_100_000)}`, "malformed 1:1"],
  ["a number for a quantity", file(line('"quantity":1')), "malformed 1:57"],
  ["an exponent", file(line('"quantity":"1e3"')), "malformed 1:57"],
  ["a plus", file(line('"quantity":"+1"')), "malformed 1:57"],
  ["a leading zero", file(line('"quantity":"01"')), "malformed 1:57"],
  ["a negative zero", file(line('"quantity":"-0"')), "malformed 1:57"],
  ["no quantity", file('{"account":"a"}'), "malformed 1:57"],
  ["an empty account", file(line('"quantity":"1"', "")), "malformed 1:57"],
  ["eleven places", file(line('"quantity":"0.00000000001"')), "statement-places 1"],
  ["an account twice", file(one, one), "statement-assets 1"],
  [
    "four lines of three",
    file(...["a", "b", "c", "d"].map((name) => line('"quantity":"1"', name))),
    "too long 3"
  ],
  ["another kind than the source sends", cashFile(""), "statement-field null"],
  [
    "a kind that there is not",
    `{"kind":"fees","businessDate":"2026-03-02","lines":[]}`,
    "malformed 1:1"
  ],
  [
    "a date that there is not",
    `{"kind":"holdings","businessDate":"2026-02-30","lines":[]}`,
    "malformed 1:1"
  ],
  [
    "the year 9999",
    `{"kind":"holdings","businessDate":"9999-12-31","lines":[]}`,
    "statement-field null"
  ],
  [
    "an asOf of the year 1",
    `{${head},"asOf":"0001-01-01T00:00:00Z","lines":[]}`,
    "statement-field null"
  ],
  [
    "another date than the sender names",
    file(one),
    "statement-field null",
    { businessDate: Date.of("2026-03-03") }
  ],
  ["the ISIN of another class", `{${head},"isin":"LU9","lines":[]}`, "statement-account null"],
  [
    "a period that ends before it begins",
    `{${head},"period":{"from":"2026-03-02T00:00:00Z","to":"2026-03-01T00:00:00Z"},"lines":[]}`,
    "statement-field 1"
  ],
  [
    "a NAV beside holdings",
    `{${head},"nav":{"official":"1","ripcord":false},"lines":[]}`,
    "statement-nav null"
  ],
  ["another account", cashFile(',"account":"CH2"'), "statement-account null", cash],
  [
    "another currency of the account",
    cashFile(',"currency":"CHF"'),
    "statement-account null",
    cash
  ],
  ["a negative amount", cashFile("", `{${entry.replace('"1"', '"-1"')}}`), "malformed 1:53", cash],
  [
    "a direction that there is not",
    cashFile("", `{${entry.replace("credit", "up")}}`),
    "malformed 1:53",
    cash
  ],
  [
    "a member of a counterparty that there is not",
    cashFile("", `{${entry},"counterparty":{"name":"x","bic":"y"}}`),
    "malformed 1:53",
    cash
  ],
  ["no NAV", `{"kind":"nav","businessDate":"2026-03-02"}`, "statement-nav null", nav],
  [
    "a NAV with lines",
    `{"kind":"nav","businessDate":"2026-03-02","lines":[${one}]}`,
    "malformed 1:52",
    nav
  ],
  ["a NAV that is a number", navFile('{"official":1,"ripcord":false}'), "malformed 1:1", nav],
  ["a negative NAV", navFile('{"official":"-1","ripcord":false}'), "malformed 1:1", nav],
  ["no word on suspension", navFile('{"official":"1"}'), "malformed 1:1", nav],
  [
    "a NAV whose end nobody says",
    navFile('{"official":"1","ripcord":false}'),
    "statement-nav null",
    { ...nav, validFor: null }
  ]
]

describe("a JSON statement", () => {
  it.each(faults.map((row) => ({ fault: row[0], row })))(
    "is refused for $fault",
    async ({ row: [, text, expected, more] }) => {
      expect(faultOf(await outcome(text, more))).toBe(expected)
    }
  )

  it.each(["utf-16le", "utf-16be", "iso-8859-1"] as const)("is refused in %s", async (encoding) => {
    const text = generate.encoded(
      `${encoding === "iso-8859-1" ? "" : "\ufeff"}${file(line('"quantity":"1"', "é"))}`,
      encoding
    )
    const refused = await readPieces(reading(), [text])
    expect(faultOf(refused)).toMatch(/^malformed 1:/u)
  })

  it("names the member at fault, and never its value", async () => {
    const refused = await outcome(file(one, line('"quantity":"planted"', "b")))
    expect(JSON.stringify(refused)).toContain("/lines/1/quantity")
    expect(JSON.stringify(refused)).not.toContain("planted")
  })

  it("has its lines anywhere among its members, and a byte order mark or none", async () => {
    const members = [`"lines":[${one}]`, '"kind":"holdings"', '"businessDate":"2026-03-02"']
    for (const mark of ["", "\ufeff"]) {
      for (const order of [members, [...members].reverse()]) {
        const { header, lines } = await whole(
          reading(),
          bytes(`${mark}{ ${order.join(" , ")} }\r\n`)
        )
        expect(header.businessDate).toBe("2026-03-02")
        expect(lines).toHaveLength(1)
      }
    }
  })

  it("has lines whose texts hold brackets, quotes and escapes", async () => {
    const account = '}]"\\{[,é😀'
    const { lines } = await whole(
      reading(),
      bytes(file(`{"account":${JSON.stringify(account)},"quantity":"1"}`))
    )
    expect(lines).toMatchObject([{ account }])
  })

  it("fills what it leaves out from its source", async () => {
    const { header, lines } = await whole(reading({ basis: "trade" }), bytes(file(one)))
    expect(header).toEqual(
      generate.headerOf({ businessDate: "2026-03-02", currency: "USD", basis: "trade" })
    )
    expect(lines).toEqual([{ kind: "holdings", account: "a", quantity: Decimal.one, locked: null }])
  })

  it("of cash has entries in the currency of the account, or in their own", async () => {
    const text = cashFile(
      ',"opening":"-1","closing":"1"',
      `{${entry}}`,
      `{${entry},"currency":"EUR"}`
    )
    const { header, lines } = await whole(reading(cash), bytes(text))
    expect(lines).toMatchObject([{ currency: "USD" }, { currency: "EUR" }])
    expect(header).toMatchObject({ opening: Decimal.of("-1"), closing: Decimal.one, basis: null })
  })

  it("of a NAV lives as long as its source says, or until its own end", async () => {
    const asOf = ',"asOf":"2026-03-02T18:00:00Z"'
    const lived = await whole(
      reading(nav),
      bytes(navFile('{"official":"1.5","ripcord":false}', asOf))
    )
    expect(lived.header.nav).toEqual({
      official: Decimal.of("1.5"),
      indicative: null,
      indicativeAsOf: null,
      expiresAt: Instant.of("2026-03-05T18:00:00Z"),
      ripcord: false
    })
    const value =
      '{"official":"0","indicative":"1","expiresAt":"2026-03-03T00:00:00Z","ripcord":true}'
    const ended = await whole(reading(nav), bytes(navFile(value, asOf)))
    expect(ended.header.nav).toMatchObject({
      indicativeAsOf: Instant.of("2026-03-02T18:00:00Z"),
      expiresAt: Instant.of("2026-03-03T00:00:00Z"),
      ripcord: true
    })
  })

  it("that the documentation shows is read", async () => {
    const page = readFileSync(join(root, "packages/engine-core/docs/domain/statements.md"), "utf8")
    const example = /```json\n(?<text>[^`]+)```/u.exec(page)?.groups?.["text"] ?? ""
    const account = { number: "CH93 0076 2011 6238 5295 7", currency: "CHF" }
    const { header, lines } = await whole(
      reading({ kind: "cash", account, currency: "CHF" }),
      bytes(example)
    )
    expect(header).toMatchObject({ statedLines: 1, closing: Decimal.of("1250.5") })
    expect(lines).toMatchObject([{ bankReference: "B-1", counterparty: { name: "Example AG" } }])
  })
})

describe("an entry that takes another one back", () => {
  it.each([
    [',"reversal":true', true],
    [',"reversal":false', undefined],
    [',"reversal":null', undefined],
    ["", undefined]
  ])("is marked where the file says so: %s", async (member, reversal) => {
    const { lines } = await whole(reading(cash), bytes(cashFile("", `{${entry}${member}}`)))
    expect(lines.map((line) => line.kind === "cash" && line.reversal)).toEqual([reversal])
  })
})
