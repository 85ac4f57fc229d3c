/**
 * Port: readers of statements. A bank, an administrator or a custodian sends a file in a form of its
 * own; a reader turns its bytes into lines and a header, and refuses a file that it cannot read
 * without a guess (docs/domain/statements.md#forms).
 */
import { Context, Data, Effect, Layer, Stream } from "effect"
import type * as Date from "../kernel/Date.ts"
import type * as Decimal from "../kernel/Decimal.ts"
import type * as Duration from "../kernel/Duration.ts"
import type * as Instant from "../kernel/Instant.ts"
import type {
  CashDirection,
  StatementAdapter,
  StatementBasis,
  StatementKind
} from "../vocabulary/sets.ts"

/** Columns and notation of a CSV source. */
export interface CsvForm {
  readonly encoding: string
  /** One character between cells. */
  readonly delimiter: string
  /** The decimal mark, and the mark between groups of digits; null: digits are not grouped. */
  readonly decimal: "." | ","
  readonly group: "." | "," | " " | "'" | null
  /** Form of dates, such as `dd.MM.yyyy`. */
  readonly dateFormat: string
  /** Name in the file of each column of the lines that the source fills. */
  readonly columns: Readonly<Record<string, string>>
}

/** Instructions for the reading of a file, by its source and the instrument it is of. */
export interface Reading {
  readonly adapter: StatementAdapter
  readonly kind: StatementKind
  /** Charset parameter that the sender declared, in lower case; null: none. */
  readonly charset: string | null
  /** Account whose statement is taken, as it was mapped; null: not a cash source. */
  readonly account: { readonly number: string; readonly currency: string } | null
  /** ISIN of the instrument; null where its terms name none. */
  readonly isin: string | null
  /** Currency of the instrument, or of the account. */
  readonly currency: string
  /** Zone of dates without an offset. */
  readonly zone: string
  /** Life of a NAV from its `asOf`; null: not a source of NAVs. */
  readonly validFor: Duration.Duration | null
  /** Basis of the positions where the file names none; null: settled. */
  readonly basis: StatementBasis | null
  readonly csv: CsvForm | null
  /** Business date that the sender named, for a form that has none. */
  readonly businessDate: Date.Date | null
  /** True where the sender says that the statement corrects another. */
  readonly corrects: boolean
  readonly linesMax: number
}

/** Units of an account. */
export interface HoldingsLine {
  readonly kind: "holdings"
  readonly account: string
  readonly quantity: Decimal.Decimal
  /** Part of the quantity that is not available; null where the file does not state it. */
  readonly locked: Decimal.Decimal | null
}

/** Booked entry of a cash account. */
export interface CashEntry {
  readonly kind: "cash"
  readonly bookingDate: Date.Date
  readonly valueDate: Date.Date | null
  /** At least 0; the direction decides the sign. */
  readonly amount: Decimal.Decimal
  readonly currency: string
  readonly direction: CashDirection
  /** The bank's own reference of the entry; lines of one batch may share that of their entry. */
  readonly bankReference: string | null
  /** Reference that the payer gave. */
  readonly reference: string | null
  readonly counterparty: { readonly name: string | null; readonly account: string | null } | null
  /** True where the bank marks the entry as taking back an earlier one; absent: it does not. */
  readonly reversal?: true
}

/** Units of an asset at a custodian. */
export interface CustodyLine {
  readonly kind: "custody"
  /** ISIN, or the identifier that the file has. */
  readonly asset: string
  readonly account: string
  readonly quantity: Decimal.Decimal
}

/** Line of a statement. */
export type Line = HoldingsLine | CashEntry | CustodyLine

/** Net asset value of a unit. */
export interface Nav {
  /** Official NAV; 0 where a suspended one has no price. */
  readonly official: Decimal.Decimal
  readonly indicative: Decimal.Decimal | null
  readonly indicativeAsOf: Instant.Instant | null
  readonly expiresAt: Instant.Instant
  /** True: valuation is suspended, and no value of the statement may be used. */
  readonly ripcord: boolean
}

/** Head of a statement: its source, its dates and its totals. */
export interface Header {
  readonly businessDate: Date.Date
  readonly asOf: Instant.Instant
  readonly period: { readonly from: Instant.Instant; readonly to: Instant.Instant } | null
  readonly reference: string | null
  readonly currency: string
  readonly totalQuantity: Decimal.Decimal | null
  readonly totalAmount: Decimal.Decimal | null
  /** Number of lines that the file itself states; null: it states none. */
  readonly statedLines: number | null
  readonly basis: StatementBasis | null
  /** Balances of a cash account, signed; null where the file has none in the account's currency. */
  readonly opening: Decimal.Decimal | null
  readonly closing: Decimal.Decimal | null
  /** Null but for a statement of a NAV. */
  readonly nav: Nav | null
  /**
   * The bank's own number of the statement: digits without leading zeros. Of two statements of an
   * account the later one has the larger number. Absent: the file states none.
   */
  readonly sequence?: string
}

/** Place of a statement in a file that may have several. */
export interface StatementPlace {
  /** Line at which it begins, from 1. */
  readonly line: number
  /** JSON pointer of its element. */
  readonly pointer: string
}

/**
 * Parts of a file in the order they are read: the lines of a statement in file order, and its header
 * after them. Only a form whose files may have several statements names their places.
 */
export type Part =
  | { readonly part: "lines"; readonly lines: ReadonlyArray<Line> }
  | { readonly part: "header"; readonly header: Header; readonly place?: StatementPlace }

/** The bytes are no file of the form: broken, of another encoding, hostile. Nothing is stored. */
export class StatementMalformed extends Data.TaggedError("StatementMalformed")<{
  readonly detail: string
  /** Place in the file, counted from 1; null where the fault has none. */
  readonly line: number | null
  readonly column: number | null
  /** JSON pointer of the member that is wrong, where the form has members; absent: the file. */
  readonly pointer?: string
}> {}

/** The file is well formed, and a check of its form refuses it. */
export class StatementRefused extends Data.TaggedError("StatementRefused")<{
  /** Name of a condition of the table of conditions. */
  readonly check: StatementCondition
  readonly detail: string
  readonly line: number | null
  /** JSON pointer of the member that is refused, where the form has members; absent: the file. */
  readonly pointer?: string
}> {}

/**
 * The charset parameter names another encoding than the file has, or one that is not read. Nothing is
 * stored, and the caller hears 415 `unsupported-media-type`.
 */
export class StatementCharset extends Data.TaggedError("StatementCharset")<{
  readonly detail: string
}> {}

/** The file has more lines than the deployment takes. */
export class StatementTooLong extends Data.TaggedError("StatementTooLong")<{
  readonly linesMax: number
}> {}

/** Fault of a file that is no statement. */
export type StatementFault =
  | StatementMalformed
  | StatementRefused
  | StatementCharset
  | StatementTooLong

/** Conditions that a reader itself judges: rows of the table of conditions, gate policy. */
export const statementConditions = [
  "statement-account",
  "statement-complete",
  "statement-field",
  "statement-places",
  "statement-assets",
  "statement-nav",
  "statement-function",
  "statement-columns"
] as const

/** Condition that a statement must meet to be taken in. */
export type StatementCondition = (typeof statementConditions)[number]

/**
 * Reads a file as a stream, in memory that does not grow with it. MUST answer at least one header, each
 * after the lines of its statement and none of another, and MUST NOT look anything up outside the file.
 */
export interface Reader {
  readonly read: <E, R>(
    reading: Reading,
    bytes: Stream.Stream<Uint8Array, E, R>
  ) => Stream.Stream<Part, StatementFault | E, R>
}

/** Port of the readers of statements' files. */
export class StatementSource extends Context.Service<StatementSource, Reader>()(
  "@bursar/engine-core/ports/StatementSource"
) {}

/** Reader of no form: an engine whose settings name a source of statements does not start with it. */
export const none: Reader = {
  read: ({ adapter }) =>
    Stream.unwrap(Effect.die(new Error(`this deployment has no reader of ${adapter}`)))
}

/** Layer of a venue that takes no statements. */
export const layerNone: Layer.Layer<StatementSource> = Layer.succeed(StatementSource, none)
