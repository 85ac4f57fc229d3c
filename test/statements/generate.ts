/**
 * Generators of statement files, for tests, demo and bench: camt.053, semt.002, reda.001, CSV and JSON
 * from one statement. A file comes in pieces of text, so that one of a million lines is never whole
 * in memory.
 */
import { Date, Decimal, type Duration, Instant, Zone } from "@bursar/engine-core/kernel"
import type { StatementSource } from "@bursar/engine-core/ports"
import { Stream } from "effect"

type Header = StatementSource.Header
type Line = StatementSource.Line
export type CashEntry = StatementSource.CashEntry
export type HoldingsLine = StatementSource.HoldingsLine
export type CustodyLine = StatementSource.CustodyLine
type Reading = StatementSource.Reading

/** A statement of a kind: what a reader answers of its file. */
export interface Statement<L extends Line = Line> {
  readonly kind: Reading["kind"]
  readonly header: Header
  /** In file order; those of an account next to one another in custody. */
  readonly lines: Iterable<L>
  readonly account: Reading["account"]
  readonly isin: string | null
}

/** File in pieces of text. */
export type Texts = Iterable<string>

/** Zone in which the generated files of a date alone end their day. */
export const zone = "Europe/Zurich"

/** Header of a date, with all else left out. */
export const headerOf = (
  given: { readonly businessDate: string; readonly currency: string } & Partial<
    Omit<Header, "businessDate" | "currency">
  >
): Header => {
  const businessDate = Date.of(given.businessDate)
  return {
    asOf: Zone.startOfDay(Zone.of(zone), Date.next(businessDate)),
    period: null,
    reference: null,
    totalQuantity: null,
    totalAmount: null,
    statedLines: null,
    basis: null,
    opening: null,
    closing: null,
    nav: null,
    ...given,
    businessDate
  }
}

/** Header of a NAV that lives for a time from the end of its day. */
export const navHeaderOf = ({
  nav,
  validFor,
  ...given
}: Omit<Parameters<typeof headerOf>[0], "nav"> & {
  readonly nav: Pick<StatementSource.Nav, "official" | "indicative" | "ripcord">
  readonly validFor: Duration.Duration
}): Header => {
  const header = headerOf(given)
  const indicativeAsOf = nav.indicative === null ? null : header.asOf
  const expiresAt = Instant.add(header.asOf, validFor)
  return { ...header, nav: { ...nav, indicativeAsOf, expiresAt } }
}

export const cashEntry = (
  given: Pick<CashEntry, "amount" | "direction"> &
    Partial<Omit<CashEntry, "bookingDate">> & { readonly bookingDate: string }
): CashEntry => ({
  kind: "cash",
  valueDate: null,
  currency: "CHF",
  bankReference: null,
  reference: null,
  counterparty: null,
  ...given,
  bookingDate: Date.of(given.bookingDate)
})

/** Balance of an account after its entries. */
export const closingOf = (
  opening: Decimal.Decimal,
  entries: Iterable<Pick<CashEntry, "amount" | "direction">>
): Decimal.Decimal => {
  let total = opening
  for (const { amount, direction } of entries) {
    total = direction === "credit" ? Decimal.add(total, amount) : Decimal.subtract(total, amount)
  }
  return total
}

/** Reading that takes the generated file of a statement back. */
export const readingOf = (
  adapter: Reading["adapter"],
  { account, header, isin, kind }: Statement,
  more: Partial<Reading> = {}
): Reading => ({
  adapter,
  kind,
  charset: null,
  account,
  isin,
  currency: header.currency,
  zone,
  validFor: null,
  basis: null,
  csv: null,
  businessDate: adapter === "csv" ? header.businessDate : null,
  corrects: false,
  linesMax: 10_000_000,
  ...more
})

// Bytes

export type Encoding =
  | "utf-8"
  | "utf-16le"
  | "utf-16be"
  | "iso-8859-1"
  | "iso-8859-15"
  | "windows-1252"

const euro: Readonly<Record<string, number>> = { "iso-8859-15": 0xa4, "windows-1252": 0x80 }

/** Bytes of a text; of signs beyond Latin-1, the encodings of one byte have the euro sign alone. */
export const encoded = (text: string, encoding: Encoding = "utf-8"): Uint8Array => {
  if (encoding === "utf-8") return Buffer.from(text, "utf8")
  if (encoding === "utf-16le") return Buffer.from(text, "utf16le")
  if (encoding === "utf-16be") return Buffer.from(text, "utf16le").swap16()
  return Uint8Array.from(text, (sign) => {
    const code = sign === "€" ? (euro[encoding] ?? 0x100) : (sign.codePointAt(0) ?? 0)
    if (code > 0xff) throw new RangeError(`${encoding} has no ${sign}`)
    return code
  })
}

export const text = (texts: Texts): string => [...texts].join("")

/** Bytes of a file as they would arrive. */
export const bytes = (texts: Texts, encoding?: Encoding): Stream.Stream<Uint8Array> =>
  Stream.map(Stream.fromIterable(texts), (piece) => encoded(piece, encoding))

/** Joins pieces into ones of some ten thousand characters. */
const batched = function* (texts: Texts): Generator<string> {
  let batch = ""
  for (const piece of texts) {
    batch += piece
    if (batch.length < 16_384) continue
    yield batch
    batch = ""
  }
  if (batch !== "") yield batch
}

// XML

const escaped = (value: string): string =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const element = (name: string, ...within: ReadonlyArray<string>): string =>
  `<${name}>${within.join("")}</${name}>`

const textOf = (name: string, value: string | null): string =>
  value === null ? "" : element(name, escaped(value))

const amountOf = (amount: Decimal.Decimal, currency: string): string =>
  `<Amt Ccy="${currency}">${Decimal.formatPlain(Decimal.abs(amount))}</Amt>`

const sideOf = (isCredit: boolean): string => element("CdtDbtInd", isCredit ? "CRDT" : "DBIT")

const dateOf = (name: string, date: string | null): string =>
  date === null ? "" : element(name, element("Dt", date))

const documentOf = function* (namespace: string, message: Texts): Generator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${namespace}">`
  yield* message
  yield "</Document>\n"
}

export type Camt053Version = "02" | "08" | "13"

/**
 * Bank statement. Amounts have at most 5 places and texts at most 35 characters, as the schema asks;
 * a closing balance is required.
 */
export const camt053 = (statement: Statement, version: Camt053Version = "08"): Texts =>
  batched(documentOf(`camt.053.001.${version}`, camt053Message(statement, version)))

const camt053Message = function* (
  { account, header, lines }: Statement,
  version: Camt053Version
): Generator<string> {
  if (account === null || header.closing === null) {
    throw new Error("a bank statement has an account and a closing balance")
  }
  const { businessDate, closing, opening, period, reference } = header
  const created = element("CreDtTm", "2026-01-01T00:00:00Z")
  yield "<BkToCstmrStmt>"
  yield element("GrpHdr", element("MsgId", "MSG-1"), created)
  yield `<Stmt>${element("Id", escaped(reference ?? "STMT"))}${created}`
  if (period !== null) {
    const from = element("FrDtTm", Instant.format(period.from))
    yield element("FrToDt", from, element("ToDtTm", Instant.format(period.to)))
  }
  yield element("Acct", accountIdOf(account.number), element("Ccy", account.currency))
  if (opening !== null) yield balanceOf("OPBD", { amount: opening, businessDate, account })
  yield balanceOf("CLBD", { amount: closing, businessDate, account })
  for (const line of lines) yield `${entryOf(line, version)}\n`
  yield "</Stmt></BkToCstmrStmt>"
}

const accountIdOf = (number: string): string =>
  element("Id", /^[A-Z]{2}[0-9]{2}/u.test(number) ? element("IBAN", number) : otherId(number))

const otherId = (number: string): string => element("Othr", textOf("Id", number))

const balanceOf = (
  type: "OPBD" | "CLBD",
  statement: {
    readonly amount: Decimal.Decimal
    readonly businessDate: string
    readonly account: { readonly currency: string }
  }
): string =>
  element(
    "Bal",
    element("Tp", element("CdOrPrtry", element("Cd", type))),
    amountOf(statement.amount, statement.account.currency),
    sideOf(!Decimal.isNegative(statement.amount)),
    dateOf("Dt", statement.businessDate)
  )

const entryOf = (entry: Line, version: Camt053Version): string => {
  if (entry.kind !== "cash") throw new Error("a bank statement has entries alone")
  const isCredit = entry.direction === "credit"
  const amount = amountOf(entry.amount, entry.currency)
  return element(
    "Ntry",
    amount,
    sideOf(isCredit),
    element("Sts", version === "02" ? "BOOK" : element("Cd", "BOOK")),
    dateOf("BookgDt", entry.bookingDate),
    dateOf("ValDt", entry.valueDate),
    textOf("AcctSvcrRef", entry.bankReference),
    element("BkTxCd", element("Prtry", element("Cd", "NTRF"))),
    element(
      "NtryDtls",
      element(
        "TxDtls",
        entry.reference === null ? "" : element("Refs", textOf("EndToEndId", entry.reference)),
        version === "02" ? "" : amount + sideOf(isCredit),
        partiesOf(entry, version)
      )
    )
  )
}

const partiesOf = ({ counterparty, direction }: CashEntry, version: Camt053Version): string => {
  if (counterparty === null) return ""
  const role = direction === "credit" ? "Dbtr" : "Cdtr"
  const { account, name } = counterparty
  const named = textOf("Nm", name)
  return element(
    "RltdPties",
    name === null ? "" : element(role, version === "02" ? named : element("Pty", named)),
    account === null ? "" : element(`${role}Acct`, accountIdOf(account))
  )
}

const basisCodes = { trade: "TRAD", contractual: "CONT", settled: "SETT" } as const

/**
 * Custody report: of holdings, a sub-account a line and the instrument's ISIN; of custody, the
 * positions of each account in a sub-account. Quantities have at most 17 places of 18 digits.
 */
export const semt002 = (statement: Statement): Texts =>
  batched(documentOf("semt.002.001.11", semt002Message(statement)))

const semt002Message = function* ({ header, isin, lines }: Statement): Generator<string> {
  const accounts = subAccountsOf(lines, isin)
  const first = accounts.next()
  const isActive = first.done !== true
  yield "<SctiesBalCtdyRpt>"
  yield element("Pgntn", element("PgNb", "1"), element("LastPgInd", "true"))
  yield element(
    "StmtGnlDtls",
    textOf("StmtId", header.reference ?? "STMT"),
    dateOf("StmtDtTm", header.businessDate),
    element("Frqcy", element("Cd", "DAIL")),
    element("UpdTp", element("Cd", "COMP")),
    element("StmtBsis", element("Cd", basisCodes[header.basis ?? "settled"])),
    element("ActvtyInd", String(isActive)),
    element("SubAcctInd", String(isActive))
  )
  yield element("SfkpgAcct", element("Id", "REGISTER"))
  if (first.done !== true) yield first.value
  yield* accounts
  yield "</SctiesBalCtdyRpt>"
}

const subAccountsOf = function* (
  lines: Iterable<Line>,
  isin: string | null
): Generator<string, undefined> {
  let account: string | null = null
  let positions = ""
  const written = (): string =>
    element(
      "SubAcctDtls",
      element("SfkpgAcct", textOf("Id", account)),
      element("ActvtyInd", "true"),
      positions
    )
  for (const line of lines) {
    if (line.kind === "cash") throw new Error("a custody report has no entries")
    if (account !== null && account !== line.account) {
      yield `${written()}\n`
      positions = ""
    }
    account = line.account
    positions += positionOf(line, line.kind === "custody" ? line.asset : isin)
  }
  if (account !== null) yield `${written()}\n`
}

const positionOf = (line: HoldingsLine | CustodyLine, isin: string | null): string => {
  const locked = line.kind === "holdings" ? line.locked : null
  return element(
    "BalForSubAcct",
    element("FinInstrmId", textOf("ISIN", isin)),
    element(
      "AggtBal",
      element("ShrtLngInd", Decimal.isNegative(line.quantity) ? "SHOR" : "LONG"),
      element("Qty", element("Qty", unitsOf(line.quantity)))
    ),
    locked === null ? "" : element("NotAvlblBal", unitsOf(locked))
  )
}

const unitsOf = (quantity: Decimal.Decimal): string =>
  element("Qty", element("Unit", Decimal.formatPlain(Decimal.abs(quantity))))

/** Price report of one share class, whose NAV lives for the time that the reading says. */
export const reda001 = ({ header, isin }: Statement): Texts =>
  documentOf("reda.001.001.04", [reda001Message(header, isin)])

const reda001Message = (header: Header, isin: string | null): string => {
  const { businessDate, currency, nav, reference, totalAmount, totalQuantity } = header
  if (nav === null) throw new Error("a price report has a NAV")
  const priceOf = (value: Decimal.Decimal, isEstimated: boolean): string =>
    element(
      "PricDtls",
      element("Tp", "NAVL"),
      element("ValInInvstmtCcy", amountOf(value, currency)),
      element("ForExctnInd", "true"),
      element("CumDvddInd", "true"),
      element("EstmtdPricInd", String(isEstimated))
    )
  return element(
    "PricRpt",
    element("MsgId", element("Id", "NAV-1"), element("CreDtTm", "2026-01-01T00:00:00Z")),
    element("MsgPgntn", element("PgNb", "1"), element("LastPgInd", "true")),
    textOf("PricRptId", reference ?? "NAV"),
    element("Fctn", "NEWP"),
    element(
      "PricValtnDtls",
      dateOf("NAVDtTm", businessDate),
      element(
        "FinInstrmDtls",
        element("Id", textOf("ISIN", isin)),
        element("Nm", "Class A"),
        element("DualFndInd", "false")
      ),
      totalAmount === null
        ? ""
        : `<TtlNAV Ccy="${currency}">${Decimal.formatPlain(totalAmount)}</TtlNAV>`,
      totalQuantity === null
        ? ""
        : element("TtlUnitsNb", element("Unit", Decimal.formatPlain(totalQuantity))),
      element("ValtnTp", "USUA"),
      element("OffclValtnInd", "true"),
      element("SspdInd", String(nav.ripcord)),
      nav.ripcord && Decimal.isZero(nav.official) ? "" : priceOf(nav.official, false),
      nav.indicative === null ? "" : priceOf(nav.indicative, true)
    )
  )
}

// CSV

/** Columns of every field of a kind, named as the fields. */
export const csvForm = (
  kind: Reading["kind"],
  more: Partial<StatementSource.CsvForm> = {}
): StatementSource.CsvForm => ({
  encoding: "utf-8",
  delimiter: ";",
  decimal: ",",
  group: ".",
  dateFormat: "dd.MM.yyyy",
  columns: Object.fromEntries(csvColumns[kind].map((column) => [column, column])),
  ...more
})

const csvColumns: Readonly<Record<Reading["kind"], ReadonlyArray<string>>> = {
  holdings: ["account", "quantity", "locked"],
  cash: [
    "bookingDate",
    "valueDate",
    "amount",
    "currency",
    "direction",
    "bankReference",
    "reference",
    "counterpartyName",
    "counterpartyAccount"
  ],
  custody: ["asset", "account", "quantity"],
  nav: ["official", "indicative", "suspended", "totalQuantity", "totalAmount"]
}

/** Table of a statement, with the columns that the form names, in their order. */
export const csv = (statement: Statement, form: StatementSource.CsvForm): Texts =>
  batched(csvRows(statement, form))

const csvRows = function* (
  { header, kind, lines }: Statement,
  form: StatementSource.CsvForm
): Generator<string> {
  const columns = Object.keys(form.columns)
  const row = (cells: ReadonlyArray<string>): string =>
    `${cells.map((cell) => quoted(cell, form.delimiter)).join(form.delimiter)}\r\n`
  yield row(Object.values(form.columns))
  for (const fields of kind === "nav" ? [navFields(header)] : lines) {
    const flat = flattened(fields)
    yield row(columns.map((column) => cellOf(flat[column] ?? null, form)))
  }
}

type Cell = string | bigint | boolean | null

const navFields = ({ nav, totalAmount, totalQuantity }: Header) => ({
  official: nav?.official ?? null,
  indicative: nav?.indicative ?? null,
  suspended: nav?.ripcord ?? null,
  totalQuantity,
  totalAmount
})

const flattened = (
  fields: Line | ReturnType<typeof navFields>
): Readonly<Record<string, Cell | undefined>> => {
  if (!("counterparty" in fields)) return { ...fields }
  const { counterparty, ...entry } = fields
  return {
    ...entry,
    counterpartyName: counterparty?.name ?? null,
    counterpartyAccount: counterparty?.account ?? null
  }
}

const cellOf = (value: Cell, form: StatementSource.CsvForm): string => {
  if (value === null) return ""
  if (typeof value === "bigint") return figureOf(value as Decimal.Decimal, form)
  if (typeof value === "boolean") return String(value)
  return /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/u.test(value) ? dayOf(value, form.dateFormat) : value
}

const dayOf = (date: string, format: string): string => {
  const [year = "", month = "", day = ""] = date.split("-")
  const parts: Readonly<Record<string, string>> = {
    yyyy: year,
    MM: month,
    M: String(Number(month)),
    dd: day,
    d: String(Number(day))
  }
  return format.replaceAll(/yyyy|MM?|dd?/gu, (field) => parts[field] ?? field)
}

/** A decimal in the notation of a form. */
export const figureOf = (
  figure: Decimal.Decimal,
  { decimal, group }: Pick<StatementSource.CsvForm, "decimal" | "group">
): string => {
  const [whole = "", fraction] = Decimal.formatPlain(figure).split(".")
  const grouped = group === null ? whole : whole.replaceAll(/(?<=[0-9])(?=(?:[0-9]{3})+$)/gu, group)
  return fraction === undefined ? grouped : `${grouped}${decimal}${fraction}`
}

const quoted = (cell: string, delimiter: string): string =>
  cell.includes(delimiter) || /["\r\n]/u.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell

// JSON

/** The statement's own form. */
export const json = (statement: Statement): Texts => batched(jsonPieces(statement))

const jsonPieces = function* (statement: Statement): Generator<string> {
  const { account, header, isin, kind, lines } = statement
  const { asOf, nav, period, statedLines, ...members } = header
  const shown = {
    kind,
    ...members,
    asOf: Instant.format(asOf),
    account: account?.number ?? null,
    isin,
    period: period && { from: Instant.format(period.from), to: Instant.format(period.to) },
    nav: nav && {
      ...nav,
      indicativeAsOf: nav.indicativeAsOf === null ? null : Instant.format(nav.indicativeAsOf),
      expiresAt: Instant.format(nav.expiresAt)
    },
    lineCount: statedLines
  }
  yield `${JSON.stringify(shown, printed).slice(0, -1)},"lines":[`
  let separator = "\n"
  for (const { kind: _, ...line } of lines) {
    yield `${separator}${JSON.stringify(line, printed)}`
    separator = ",\n"
  }
  yield "\n]}\n"
}

const printed = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? Decimal.formatPlain(value as Decimal.Decimal) : value
