/** Reader of CSV statements by the columns and the notation of their source (docs/domain/statements.md#csv). */
import { type Date, Decimal, Instant, Zone } from "@bursar/engine-core/kernel"
import { StatementCsv, type StatementSource } from "@bursar/engine-core/ports"
import type { Stream } from "effect"
import * as AccountNumber from "./AccountNumber.ts"
import { CsvRow } from "./CsvRow.ts"
import { endOfDay, isOfYears, otherYears } from "./Days.ts"
import { decoder } from "./Decoding.ts"
import { refused } from "./Faults.ts"
import { LineBuffer, repeated } from "./LineBuffer.ts"
import { StatementRows } from "./Rows.ts"
import * as Steps from "./Steps.ts"

type Line = StatementSource.Line
type Reading = StatementSource.Reading

/** Product of the rows of a kind: a line each, or the NAV of the header. */
interface Kind {
  /** Line of the row; null where it makes none. */
  readonly line: (row: CsvRow) => Line | null
  /** Members of the header that the rows gave, once all of them were read. */
  readonly header: (asOf: Instant.Instant) => Partial<StatementSource.Header>
}

/**
 * Reads a file of a source that sends CSV; lines are handed on while the file is read. Fails as
 * `StatementSource.Reader` declares.
 */
export const read = <E, R>(
  reading: Reading,
  bytes: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<StatementSource.Part, StatementSource.StatementFault | E, R> => {
  const { charset } = reading
  const declaration = { by: "source", encoding: formOf(reading).encoding } as const
  return Steps.run(Steps.sliced(bytes), () =>
    Steps.joined(decoder({ charset, declaration }), readText(reading))
  )
}

const readText = (reading: Reading): Steps.Step<string, StatementSource.Part> => {
  const { kind } = reading
  const csv = formOf(reading)
  const fault = StatementCsv.fault(kind, csv)
  if (fault !== null) throw new Error(`a source of CSV is configured wrongly: ${fault}`)
  return new CsvReader(reading, csv)
}

const formOf = ({ csv }: Reading): StatementSource.CsvForm => {
  if (csv === null) throw new Error("a source of CSV has no columns")
  return csv
}

class CsvReader implements Steps.Step<string, StatementSource.Part> {
  readonly #reading: Reading
  readonly #rows: StatementRows
  readonly #kind: Kind
  readonly #lines: LineBuffer
  #row: CsvRow | null = null
  #businessDate: Date.Date | null
  #passedOver = 0
  #taken = 0

  constructor(reading: Reading, form: StatementSource.CsvForm) {
    this.#reading = reading
    this.#businessDate = reading.businessDate
    this.#kind = kinds[reading.kind](reading)
    this.#lines = new LineBuffer(reading)
    this.#rows = new StatementRows(form.delimiter, (cells, number) => {
      if (this.#row === null) {
        this.#row = new CsvRow(form, cells)
      } else {
        this.#row.set(cells, number)
        this.#take(this.#row)
      }
    })
  }

  write(text: string): ReadonlyArray<StatementSource.Part> {
    this.#rows.take(text)
    return this.#lines.flush()
  }

  end(): ReadonlyArray<StatementSource.Part> {
    this.#rows.end()
    if (this.#row === null) throw refused("statement-columns", "The file has no row of columns.")
    if (this.#taken === 0 && this.#passedOver > 0) {
      throw refused("statement-account", "No row is of the source's own account or ISIN.")
    }
    const businessDate = this.#businessDate
    if (businessDate === null) {
      throw refused("statement-field", "The file says no business date, and the sender named none.")
    }
    if (!isOfYears(businessDate)) {
      throw refused("statement-field", `The business date ${otherYears}.`)
    }
    const { currency, kind, zone } = this.#reading
    const asOf = endOfDay(businessDate, Zone.of(zone))
    const header: StatementSource.Header = {
      businessDate,
      asOf,
      period: null,
      reference: null,
      currency,
      totalQuantity: null,
      totalAmount: null,
      statedLines: null,
      basis: kind === "holdings" || kind === "custody" ? (this.#reading.basis ?? "settled") : null,
      opening: null,
      closing: null,
      nav: null,
      ...this.#kind.header(asOf)
    }
    return [...this.#lines.flush(), { part: "header", header }]
  }

  #take(row: CsvRow): void {
    if (!isOwn(row, this.#reading)) {
      this.#passedOver++
      return
    }
    this.#taken++
    this.#checkDate(row)
    const line = this.#kind.line(row)
    if (line !== null && !this.#lines.add(line)) throw repeated(line, { line: row.number })
  }

  /** One file is of one business date: that of its rows, and that which the sender named. */
  #checkDate(row: CsvRow): void {
    if (!row.has("businessDate")) return
    const date = row.date("businessDate")
    this.#businessDate ??= date
    if (date === this.#businessDate) return
    throw row.refused("statement-field", "businessDate: it is another than the statement's")
  }
}

/** Checks whether a row is of the source's own account or ISIN. */
const isOwn = (row: CsvRow, { account, isin, kind }: Reading): boolean =>
  kind === "cash"
    ? !row.has("account") ||
      (account !== null && AccountNumber.isSame(row.text("account"), account.number))
    : !row.has("isin") || row.text("isin") === isin

const kinds: Readonly<Record<StatementSource.Reading["kind"], (reading: Reading) => Kind>> = {
  holdings: () => ({
    line: (row) => ({
      kind: "holdings",
      account: row.subject("account"),
      quantity: row.figure("quantity"),
      locked: row.figureOrNull("locked")
    }),
    header: () => ({})
  }),
  custody: () => ({
    line: (row) => ({
      kind: "custody",
      asset: row.subject("asset"),
      account: row.subject("account"),
      quantity: row.figure("quantity")
    }),
    header: () => ({})
  }),
  cash: ({ currency }) => ({
    line: (row) => ({
      kind: "cash",
      bookingDate: bookingDateOf(row),
      valueDate: row.dateOrNull("valueDate"),
      ...amountOf(row),
      currency: row.textOrNull("currency") ?? currency,
      bankReference: row.textOrNull("bankReference"),
      reference: row.textOrNull("reference"),
      counterparty: counterpartyOf(row),
      ...(truthOf(row, "reversal") ? { reversal: true as const } : {})
    }),
    header: () => ({})
  }),
  nav: (reading) => navOf(reading)
}

const bookingDateOf = (row: CsvRow): Date.Date => {
  row.subject("bookingDate")
  return row.date("bookingDate")
}

const counterpartyOf = (row: CsvRow): StatementSource.CashEntry["counterparty"] => {
  const name = row.textOrNull("counterpartyName")
  const account = row.textOrNull("counterpartyAccount")
  return name === null && account === null ? null : { name, account }
}

type Entry = Pick<StatementSource.CashEntry, "amount" | "direction">

/** Words of a direction cell, in lower case: in full, of ISO 20022, and letters of banks. */
const directions: ReadonlyMap<string, Entry["direction"]> = new Map([
  ...["credit", "crdt", "cr", "c", "h"].map((word) => [word, "credit"] as const),
  ...["debit", "dbit", "dr", "d", "s"].map((word) => [word, "debit"] as const)
])

const amountOf = (row: CsvRow): Entry => {
  if (!row.has("amount")) return amountOfSides(row)
  const amount = row.figure("amount")
  if (!row.has("direction")) {
    return {
      amount: Decimal.abs(amount),
      direction: Decimal.isNegative(amount) ? "debit" : "credit"
    }
  }
  const direction = directions.get(row.text("direction").toLowerCase())
  if (direction === undefined) {
    throw row.refused("statement-field", "direction: it is neither credit nor debit")
  }
  if (!Decimal.isNegative(amount)) return { amount, direction }
  throw row.refused("statement-field", "amount: it is below zero beside its direction")
}

/** Amount of one of two columns; the other is empty or zero. */
const amountOfSides = (row: CsvRow): Entry => {
  const credit = row.magnitudeOrNull("credit")
  const debit = row.magnitudeOrNull("debit")
  const [amount = null, other = null, direction] =
    credit === null || (debit !== null && Decimal.isZero(credit))
      ? [debit, credit, "debit" as const]
      : [credit, debit, "credit" as const]
  if (amount === null) throw row.refused("statement-field", "credit and debit are both empty")
  if (other === null || Decimal.isZero(other)) return { amount, direction }
  throw row.refused("statement-field", "credit and debit both have an amount")
}

/** Words of a cell that says yes or no, in lower case. */
const truths: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "y", "1"].map((word) => [word, true] as const),
  ...["false", "no", "n", "0"].map((word) => [word, false] as const)
])

const navOf = ({ currency, validFor }: Reading): Kind => {
  let navLine:
    | (Pick<StatementSource.Header, "totalQuantity" | "totalAmount"> & {
        readonly official: Decimal.Decimal
        readonly indicative: Decimal.Decimal | null
        readonly ripcord: boolean
      })
    | null = null
  return {
    line: (row) => {
      if (navLine !== null)
        throw row.refused("statement-account", "it is a second NAV of the instrument")
      const unit = row.textOrNull("currency") ?? currency
      if (unit !== currency) {
        throw row.refused("statement-nav", `currency: it is not ${currency}`)
      }
      const ripcord = truthOf(row, "suspended")
      const official = row.magnitudeOrNull("official")
      if (official === null && !ripcord) {
        throw row.refused("statement-nav", "official is empty, and the NAV is not suspended")
      }
      navLine = {
        official: official ?? Decimal.zero,
        indicative: row.magnitudeOrNull("indicative"),
        ripcord,
        totalQuantity: row.magnitudeOrNull("totalQuantity"),
        totalAmount: row.figureOrNull("totalAmount")
      }
      return null
    },
    header: (asOf) => {
      if (navLine === null) throw refused("statement-nav", "The file has no NAV.")
      if (validFor === null) throw new Error("a source of NAVs says no life of a NAV")
      const { official, indicative, ripcord, totalQuantity, totalAmount } = navLine
      const indicativeAsOf = indicative === null ? null : asOf
      const expiresAt = Instant.add(asOf, validFor)
      return {
        totalQuantity,
        totalAmount,
        nav: { official, indicative, indicativeAsOf, expiresAt, ripcord }
      }
    }
  }
}

/** Answer of a cell; a source without the column says no. */
const truthOf = (row: CsvRow, column: "suspended" | "reversal"): boolean => {
  if (!row.has(column) || (column === "reversal" && row.textOrNull(column) === null)) return false
  const truth = truths.get(row.text(column).toLowerCase())
  if (truth !== undefined) return truth
  throw row.refused("statement-field", `${column}: it is neither true nor false`)
}
