/** Files of statements for benches, made piece by piece, and the bare parsers that are their bounds. */
import { parse } from "csv-parse"
import { SaxesParser } from "saxes"

const encoder = new TextEncoder()

/** A file of so many lines; files of different numbers have no line in common, and other dates. */
export interface File {
  readonly lines: number
  readonly number: number
}

export const accountNumber = "CH9300762011623852957"

/** Business date of a file: the days of 2026 from its first on. */
export const dateOf = ({ number }: Pick<File, "number">): string =>
  new globalThis.Date(Date.UTC(2026, 0, 1 + number)).toISOString().slice(0, 10)

const entriesAtOnce = 100

/** An entry of a single transaction, the kind that banks send most. */
const entryAt = (n: number, date: string): string =>
  `<Ntry><NtryRef>${n}</NtryRef><Amt Ccy="EUR">${n}.25</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>` +
  `<BookgDt><Dt>${date}</Dt></BookgDt><ValDt><Dt>${date}</Dt></ValDt>` +
  `<AcctSvcrRef>BANK-${n}</AcctSvcrRef><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>` +
  `<NtryDtls><TxDtls><Refs><EndToEndId>sub-${n}</EndToEndId></Refs><Amt Ccy="EUR">${n}.25</Amt><CdtDbtInd>CRDT</CdtDbtInd>` +
  `<RltdPties><Dbtr><Pty><Nm>Payer ${n}</Nm></Pty></Dbtr><DbtrAcct><Id><IBAN>DE${n}</IBAN></Id></DbtrAcct></RltdPties>` +
  `<RmtInf><Ustrd>Order ${n}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>\n`

/** Pieces of a camt.053 of so many entries. */
export function* camt(file: File): Generator<Uint8Array> {
  const date = dateOf(file)
  yield encoder.encode(
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>S</Id>' +
      `<Acct><Id><IBAN>${accountNumber}</IBAN></Id><Ccy>EUR</Ccy></Acct>` +
      '<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1</Amt><CdtDbtInd>CRDT</CdtDbtInd>' +
      `<Dt><Dt>${date}</Dt></Dt></Bal>`
  )
  for (let sent = 0; sent < file.lines; sent += entriesAtOnce) {
    const count = Math.min(entriesAtOnce, file.lines - sent)
    yield encoder.encode(Array.from({ length: count }, (_, n) => entryAt(sent + n, date)).join(""))
  }
  yield encoder.encode("</Stmt></BkToCstmrStmt></Document>")
}

const rowsAtOnce = 1_000

/** Pieces of a table of holdings of so many accounts, each of its own units. */
export function* csv({ lines, number }: File): Generator<Uint8Array> {
  yield encoder.encode("account;quantity;locked\r\n")
  for (let sent = 0; sent < lines; sent += rowsAtOnce) {
    const rows = Array.from({ length: Math.min(rowsAtOnce, lines - sent) }, (_, n) => {
      const account = sent + n
      return `acct-${number}-${account};${(account * 7) % 1_000_000},${String(account % 1_000_000).padStart(6, "0")};0,5\r\n`
    })
    yield encoder.encode(rows.join(""))
  }
}

/** An entry as the bare parser finds it: the text of each element by its name, the last one of a name. */
export type Elements = Readonly<Record<string, string>>

/** Reads a camt.053 with the parser alone; `entries` takes those of a piece, and is waited for. */
export const bareCamt = async (
  pieces: Iterable<Uint8Array>,
  entries?: (found: ReadonlyArray<Elements>) => Promise<void>
): Promise<void> => {
  const parser = new SaxesParser({ xmlns: false })
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let found: Array<Elements> = []
  if (entries !== undefined) {
    let entry: Record<string, string> = {}
    let text = ""
    parser.on("opentag", () => {
      text = ""
    })
    parser.on("text", (part) => {
      text += part
    })
    parser.on("closetag", ({ name }) => {
      if (text !== "") entry[name] = text
      text = ""
      if (name !== "Ntry") return
      found.push(entry)
      entry = {}
    })
  }
  for (const piece of pieces) {
    parser.write(decoder.decode(piece, { stream: true }))
    if (found.length === 0) continue
    await entries?.(found)
    found = []
  }
  parser.close()
}

/** Reads a table with the parser alone, as `bareCamt` reads entries; the first row is its columns. */
export const bareCsv = async (
  pieces: Iterable<Uint8Array>,
  rows?: (found: ReadonlyArray<ReadonlyArray<string>>) => Promise<void>
): Promise<number> => {
  const parser = parse({ delimiter: ";" })
  let count = 0
  let found: Array<ReadonlyArray<string>> = []
  parser.on("data", (row: ReadonlyArray<string>) => {
    if (count++ > 0 && rows !== undefined) found.push(row)
  })
  const taken = async () => {
    if (found.length === 0) return
    const batch = found
    found = []
    await rows?.(batch)
  }
  for (const piece of pieces) {
    if (!parser.write(piece)) await new Promise((resolve) => parser.once("drain", resolve))
    await taken()
  }
  parser.end()
  await new Promise((resolve) => parser.once("end", resolve))
  await taken()
  return count
}
