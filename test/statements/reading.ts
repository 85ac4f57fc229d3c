/** Harness: reads a file and answers the lines and header of its statements, or the fault that refused it. */
import { Decimal, Duration } from "@bursar/engine-core/kernel"
import type { StatementSource } from "@bursar/engine-core/ports"
import { Effect, Result, Stream } from "effect"
import { reader } from "#adapters/statements/Statements.ts"
import type * as Xml from "#adapters/statements/Xml.ts"

export type Reading = Xml.Reading

const base = {
  charset: null,
  account: null,
  isin: "LU0000000017",
  currency: "USD",
  zone: "Europe/Zurich",
  validFor: null,
  basis: null,
  csv: null,
  businessDate: null,
  corrects: false,
  linesMax: 1_000
} as const

/** Reading of the account CH93 0076 2011 6238 5295 7 in EUR. */
export const ofCash = (over: Partial<Reading> = {}): Reading => ({
  ...base,
  adapter: "camt.053",
  kind: "cash",
  currency: "EUR",
  account: { number: "CH93 0076 2011 6238 5295 7", currency: "EUR" },
  ...over
})

export const ofPositions = (
  kind: "holdings" | "custody",
  over: Partial<Reading> = {}
): Reading => ({ ...base, adapter: "semt.002", kind, ...over })

export const ofNav = (over: Partial<Reading> = {}): Reading => ({
  ...base,
  adapter: "reda.001",
  kind: "nav",
  validFor: Duration.of("P1D"),
  ...over
})

export interface Statement {
  readonly lines: ReadonlyArray<StatementSource.Line>
  readonly header: StatementSource.Header
}
export type Answer = Result.Result<Statement, StatementSource.StatementFault>

const encoder = new TextEncoder()
export const utf8 = (text: string): Uint8Array => encoder.encode(text)

/** Reads a file that arrives in the pieces; a defect of the reader rejects the promise. */
export const readPieces = (
  reading: StatementSource.Reading,
  pieces: Iterable<Uint8Array>
): Promise<Answer> =>
  reader.read(reading, Stream.fromIterable(pieces, { chunkSize: 1 })).pipe(
    Stream.runCollect,
    Effect.map((parts): Statement => {
      const lines = parts.flatMap((part) => (part.part === "lines" ? part.lines : []))
      const headers = parts.flatMap((part) => (part.part === "header" ? [part.header] : []))
      const [header] = headers
      if (header === undefined || headers.length > 1 || parts.at(-1)?.part !== "header") {
        throw new Error("a file that is read has one header, after its lines")
      }
      return { lines, header }
    }),
    Effect.result,
    Effect.runPromise
  )

/** Statements of a file that arrives in the pieces, in the order of the file, with their places. */
export const statementsIn = (
  reading: StatementSource.Reading,
  pieces: Iterable<Uint8Array>
): Promise<
  Result.Result<
    ReadonlyArray<Statement & { readonly place: StatementSource.StatementPlace | null }>,
    StatementSource.StatementFault
  >
> =>
  reader.read(reading, Stream.fromIterable(pieces, { chunkSize: 1 })).pipe(
    Stream.runCollect,
    Effect.map((parts) => {
      let lines: Array<StatementSource.Line> = []
      const statements = parts.flatMap((part) => {
        if (part.part === "lines") {
          lines.push(...part.lines)
          return []
        }
        const { header: read, place = null } = part
        const ended = { lines, header: read, place }
        lines = []
        return [ended]
      })
      if (lines.length > 0) throw new Error("lines are followed by the header of their statement")
      return statements
    }),
    Effect.result,
    Effect.runPromise
  )

/** Statement of a file that is read; throws the fault of one that is not. */
export const whole = async (
  reading: StatementSource.Reading,
  pieces: Iterable<Uint8Array>
): Promise<Statement> => Result.getOrThrow(await readPieces(reading, pieces))

/** Bytes cut into slices of so many, as a slow sender would send them. */
export const inSlices = (bytes: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size)
  )

/** Reads a file of text in UTF-8. */
export const readText = (reading: Reading, text: string): Promise<Answer> =>
  readPieces(reading, [utf8(text)])

/** Statement of a file that is read; throws the fault of one that is not. */
export const statementOf = async (reading: Reading, text: string): Promise<Statement> =>
  Result.getOrThrow(await readText(reading, text))

/** Reason why a file is refused, in short: `malformed 3:1`, or the check and the line. */
export const faultOf = (answer: Answer): string => {
  if (Result.isSuccess(answer)) return "read"
  const fault = answer.failure
  switch (fault._tag) {
    case "StatementMalformed":
      return `malformed ${fault.line}:${fault.column}`
    case "StatementRefused":
      return `${fault.check} ${fault.line}`
    case "StatementTooLong":
      return `too long ${fault.linesMax}`
    case "StatementCharset":
      return "charset"
  }
}

export const plain = (amount: Decimal.Decimal | null | undefined): string | null =>
  amount === null || amount === undefined ? null : Decimal.formatPlain(amount)

// A statement of ours, in the elements of camt.053.001.08

export const camt = (body: string, version = "08"): string =>
  `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}"><BkToCstmrStmt>${body}</BkToCstmrStmt></Document>`

export const account = "<Acct><Id><IBAN>CH9300762011623852957</IBAN></Id><Ccy>EUR</Ccy></Acct>"

export const balance = (
  type: string,
  amount: string,
  over: { readonly date?: string; readonly currency?: string; readonly side?: string } = {}
): string =>
  `<Bal><Tp><CdOrPrtry><Cd>${type}</Cd></CdOrPrtry></Tp><Amt Ccy="${over.currency ?? "EUR"}">${amount}</Amt>` +
  `<CdtDbtInd>${over.side ?? "CRDT"}</CdtDbtInd><Dt>${over.date ?? "<Dt>2026-03-02</Dt>"}</Dt></Bal>`

export const balances = balance("OPBD", "100.00") + balance("CLBD", "150.00")

/** A booked credit of 50 EUR, with members in place of its own. */
export const entry = (over: Readonly<Record<string, string>> = {}): string => {
  const members = {
    NtryRef: "<NtryRef>N-1</NtryRef>",
    Amt: '<Amt Ccy="EUR">50.00</Amt>',
    CdtDbtInd: "<CdtDbtInd>CRDT</CdtDbtInd>",
    Sts: "<Sts><Cd>BOOK</Cd></Sts>",
    BookgDt: "<BookgDt><Dt>2026-03-02</Dt></BookgDt>",
    ValDt: "<ValDt><Dt>2026-03-03</Dt></ValDt>",
    AcctSvcrRef: "<AcctSvcrRef>BANK-1</AcctSvcrRef>",
    NtryDtls: "",
    ...over
  }
  return `<Ntry>${Object.values(members).join("")}</Ntry>`
}

export const stmt = (body: string): string => `<Stmt><Id>S-1</Id>${account}${body}</Stmt>`
export const header = "<GrpHdr><MsgId>M-1</MsgId></GrpHdr>"

/** The whole file of a statement with the entries. */
export const file = (...entries: ReadonlyArray<string>): string =>
  camt(header + stmt(balances + entries.join("")))

/** Number of lines of a file, counted without keeping them. */
export const countLines = (reading: Reading, pieces: Iterable<Uint8Array>): Promise<number> =>
  reader.read(reading, Stream.fromIterable(pieces, { chunkSize: 1 })).pipe(
    Stream.runFold(
      () => 0,
      (count, part) => (part.part === "lines" ? count + part.lines.length : count)
    ),
    Effect.runPromise
  )
