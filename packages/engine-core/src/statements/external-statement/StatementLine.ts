/**
 * Lines of statements as they are stored: bulk rows under their statement, numbered from 1 in file
 * order. Numbers of accounts are stored as keyed hashes, names and numbers of counterparties sealed.
 */
import type * as Date from "../../kernel/Date.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import type { CashDirection } from "../../vocabulary/sets.ts"

interface NumberedLine {
  /** Number of the line in its file, from 1. */
  readonly line: number
}

/**
 * Account of a line, by which it is compared: the keyed hash of an account's number, or the holder's
 * id or party where the source's accounts are those.
 */
interface OfAccount {
  readonly account: string
}

export interface HoldingsLine extends NumberedLine, OfAccount {
  readonly kind: "holdings"
  readonly quantity: Decimal.Decimal
  readonly locked: Decimal.Decimal | null
}

export interface CashEntry extends NumberedLine {
  readonly kind: "cash"
  readonly bookingDate: Date.Date
  readonly valueDate: Date.Date | null
  readonly amount: Decimal.Decimal
  readonly currency: string
  readonly direction: CashDirection
  readonly bankReference: string | null
  readonly reference: string | null
  /**
   * Place of the counterparty in its block of lines, from 0; null: the file has none. A text: the
   * sealed counterparty itself, as earlier versions stored it.
   */
  readonly counterparty: number | string | null
  /** True where the bank marks the entry as taking back an earlier one; absent: it does not. */
  readonly reversal?: true
  /** Sealed names and accounts of a block's counterparties; its first line alone has them. */
  readonly counterparties?: string
}

export interface CustodyLine extends NumberedLine, OfAccount {
  readonly kind: "custody"
  /** Identifier of the asset in the file, such as its ISIN. */
  readonly asset: string
  readonly quantity: Decimal.Decimal
}

export type StatementLine = HoldingsLine | CashEntry | CustodyLine
