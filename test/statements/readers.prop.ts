/**
 * Readers of XML under mutation: a changed file is refused, or gives a statement, and is never a
 * defect.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { runsOf } from "../long-run.ts"
import {
  type Answer,
  balances,
  camt,
  countLines,
  entry,
  faultOf,
  file,
  header,
  ofCash,
  ofNav,
  ofPositions,
  type Reading,
  readPieces,
  readText,
  stmt,
  utf8
} from "./reading.ts"

/** Fixed, so that a run says the same everywhere; walked with many others before. */
const seed = 20_260_302

const details =
  "<NtryDtls><TxDtls><Refs><AcctSvcrRef>T-1</AcctSvcrRef><EndToEndId>sub-1</EndToEndId></Refs>" +
  '<Amt Ccy="EUR">20.00</Amt><RltdPties><Dbtr><Nm>Zoë</Nm></Dbtr></RltdPties></TxDtls>' +
  '<TxDtls><Amt Ccy="EUR">30.00</Amt><RmtInf><Ustrd>a &amp; b</Ustrd></RmtInf></TxDtls></NtryDtls>'
const general =
  "<Pgntn><PgNb>1</PgNb><LastPgInd>true</LastPgInd></Pgntn><StmtGnlDtls><StmtDtTm><Dt>2026-03-02</Dt></StmtDtTm>" +
  "<UpdTp><Cd>COMP</Cd></UpdTp><StmtBsis><Cd>SETT</Cd></StmtBsis><ActvtyInd>true</ActvtyInd></StmtGnlDtls>"
const position =
  "<BalForSubAcct><FinInstrmId><ISIN>LU0000000017</ISIN></FinInstrmId><AggtBal><ShrtLngInd>LONG</ShrtLngInd>" +
  "<Qty><Qty><Qty><Unit>95812.973076</Unit></Qty></Qty></Qty></AggtBal><NotAvlblBal><Qty><Unit>100.5</Unit></Qty></NotAvlblBal></BalForSubAcct>"

const samples: ReadonlyArray<readonly [string, Reading, string]> = [
  ["camt.053", ofCash(), camt(header + stmt(balances + entry() + entry({ NtryDtls: details })))],
  [
    "semt.002",
    ofPositions("holdings"),
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:semt.002.001.11"><SctiesBalCtdyRpt>${general}` +
      ["hol-1", "hol-2"]
        .map(
          (id) =>
            `<SubAcctDtls><SfkpgAcct><Id>${id}</Id></SfkpgAcct><ActvtyInd>true</ActvtyInd>${position}</SubAcctDtls>`
        )
        .join("") +
      "</SctiesBalCtdyRpt></Document>"
  ],
  [
    "reda.001",
    ofNav(),
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:reda.001.001.04"><PricRpt><Fctn>NEWP</Fctn><PricValtnDtls>' +
      "<NAVDtTm><Dt>2026-03-02</Dt></NAVDtTm><FinInstrmDtls><Id><ISIN>LU0000000017</ISIN></Id></FinInstrmDtls>" +
      "<OffclValtnInd>true</OffclValtnInd><SspdInd>false</SspdInd><PricDtls><Tp>NAVL</Tp><ValInInvstmtCcy>" +
      '<Amt Ccy="USD">1.0437</Amt></ValInInvstmtCcy><EstmtdPricInd>false</EstmtdPricInd></PricDtls></PricValtnDtls></PricRpt></Document>'
  ]
]

/** Answered: the file was read or refused. A defect of the reader rejects the promise instead. */
const isAnswer = (answer: Answer): boolean => faultOf(answer) !== ""

const where = fc.nat({ max: 1_000_000 })
const hostile = fc.constantFrom(
  "<!DOCTYPE a>",
  "&lol;",
  "&#0;",
  "&#xD800;",
  "<?x y?>",
  "<![CDATA[",
  "]]>",
  "<!--",
  "</Stmt>",
  "<Ntry>",
  "<Amt Ccy='EUR'>",
  "\u0000",
  "\ufeff",
  "\u{1d11e}",
  "9".repeat(120),
  "-",
  "e9",
  "<Document>",
  'xmlns="urn:x"',
  "<a:b/>",
  "24:00:00",
  "9999-12-31"
)

describe("a file that is changed at random", () => {
  it.each(samples)("never breaks the reader, whatever its bytes: %s", async (_, reading, text) => {
    const bytes = utf8(text)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(where, fc.nat({ max: 255 })), { minLength: 1, maxLength: 8 }),
        where,
        async (flips, cut) => {
          const changed = Uint8Array.from(bytes)
          for (const [at, bits] of flips)
            changed[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ bits
          const half = cut % bytes.length
          const pieces = [changed.subarray(0, half), changed.subarray(half)]
          expect(isAnswer(await readPieces(reading, pieces))).toBe(true)
        }
      ),
      { seed, numRuns: runsOf(400) }
    )
  })

  it.each(samples)("never is read once it is cut: %s", async (_, reading, text) => {
    const bytes = utf8(text)
    await fc.assert(
      fc.asyncProperty(where, async (at) => {
        const answer = await readPieces(reading, [bytes.subarray(0, at % bytes.length)])
        expect(faultOf(answer)).toMatch(/^malformed/u)
      }),
      { seed, numRuns: runsOf(150) }
    )
  })

  it.each(samples)(
    "never breaks the reader, whatever is put in, doubled or nested: %s",
    async (_, reading, text) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.oneof(
              fc.tuple(where, hostile).map(([at, put]) => (text: string) => {
                const place = at % text.length
                return text.slice(0, place) + put + text.slice(place)
              }),
              fc
                .tuple(where, where, fc.nat({ max: 40 }))
                .map(([from, to, times]) => (text: string) => {
                  const [start, end] = [from % text.length, to % text.length].toSorted(
                    (a, b) => a - b
                  )
                  return (
                    text.slice(0, start) + text.slice(start, end).repeat(times) + text.slice(end)
                  )
                }),
              fc.tuple(where, fc.nat({ max: 40 })).map(([at, times]) => (text: string) => {
                const elements = [...text.matchAll(/<(?<name>\w+)[^<>]*>[^<]*<\/\k<name>>/gu)]
                const found = elements[at % Math.max(1, elements.length)]
                return found === undefined ? text : text.replace(found[0], found[0].repeat(times))
              })
            ),
            { minLength: 1, maxLength: 3 }
          ),
          async (changes) => {
            const changed = changes.reduce(
              (text, change) => change(text).slice(0, 200_000) || "<a/>",
              text
            )
            expect(isAnswer(await readText(reading, changed))).toBe(true)
          }
        ),
        { seed, numRuns: runsOf(300) }
      )
    }
  )
})

const prefixes = fc.constantFrom(null, "p", "ns2", "x-y.z")
const ends = fc.constantFrom("\n", "\r\n", "\r", "")
const encodings = fc.constantFrom("utf-8", "utf-8 bom", "utf-16le", "utf-16be", "iso-8859-1")

const encoded = (text: string, encoding: string): Uint8Array => {
  if (encoding === "utf-8") return utf8(text)
  if (encoding === "utf-8 bom") return utf8(`\ufeff${text}`)
  if (encoding === "iso-8859-1")
    return Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${text}`, "latin1")
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le")
  return encoding === "utf-16le" ? bytes : bytes.swap16()
}

describe("a file that is written another way", () => {
  it.each(samples)("says the same: %s", async (_, reading, text) => {
    const expected = await readText(reading, text)
    expect(Result.isSuccess(expected)).toBe(true)
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          prefix: prefixes,
          end: ends,
          encoding: encodings,
          isWrapped: fc.boolean(),
          zeros: fc.constantFrom("", "0", "+", "+000"),
          comment: fc.constantFrom("", "<!-- a -->"),
          cuts: fc.array(where, { maxLength: 6 })
        }),
        async ({ prefix, end, encoding, isWrapped, zeros, comment, cuts }) => {
          const figures = text.replaceAll(/>(?<figure>[0-9]+\.[0-9]+)</gu, `>${zeros}$<figure>000<`)
          const lines = figures.replaceAll(/></gu, `>${end}${comment}<`)
          const named =
            prefix === null
              ? lines
              : lines
                  .replaceAll(/<(?<slash>\/?)(?<name>\w)/gu, `<$<slash>${prefix}:$<name>`)
                  .replace("xmlns=", `xmlns:${prefix}=`)
          const whole = isWrapped ? `<Env><AppHdr/>${named}</Env>` : named
          const bytes = encoded(whole, encoding)
          const places = [0, ...cuts.map((at) => at % bytes.length), bytes.length].toSorted(
            (a, b) => a - b
          )
          const pieces = places.slice(1).map((to, index) => bytes.subarray(places[index], to))
          expect(await readPieces(reading, pieces)).toEqual(expected)
        }
      ),
      { seed, numRuns: runsOf(200) }
    )
  })

  it("never grows in memory with its entries", async () => {
    const hundred = utf8(entry().repeat(100))
    const hundreds = 300
    const held: Array<number> = []
    const pieces = function* () {
      yield utf8(file().replace(/<\/Stmt>.*/u, ""))
      for (let sent = 1; sent <= hundreds; sent++) {
        yield hundred
        if (sent === 50 || sent === hundreds) held.push(heap())
      }
      yield utf8("</Stmt></BkToCstmrStmt></Document>")
    }
    const count = 100 * hundreds
    expect(await countLines(ofCash({ linesMax: count }), pieces())).toBe(count)
    const [first = 0, last = 0] = held
    expect(last - first).toBeLessThan(2 ** 21)
  })
})

/** Bytes on the heap after a full garbage collection. */
const heap = (): number => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  if (typeof collect === "function") collect()
  return process.memoryUsage().heapUsed
}
