/**
 * Check `cash-balance`, pure: compares opening balance and entries of a bank's statement with its
 * closing balance (docs/domain/reconciliation.md#balance-of-a-bank-statement).
 */
import { Result } from "effect"
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { CashDirection } from "../../../vocabulary/sets.ts"
import { aboutSource, type OfStatement } from "./OfStatement.ts"

export const check = "cash-balance"

/** Entries of one direction and currency. */
export interface Booked {
  readonly direction: CashDirection
  readonly currency: string
  readonly amount: Decimal.Decimal
}

export interface Stated {
  /** Currency of the account. */
  readonly currency: string
  /** Signed; null where the statement has none in the account's currency. */
  readonly opening: Decimal.Decimal | null
  readonly closing: Decimal.Decimal | null
  readonly booked: ReadonlyArray<Booked>
}

export interface Balance extends OfStatement {
  readonly currency: string
  readonly opening: Decimal.Decimal
  /** Credits less debits. */
  readonly booked: Decimal.Decimal
  readonly closing: Decimal.Decimal
}

/** Why a statement cannot be balanced. */
export type Why = "opening-missing" | "closing-missing" | "other-currency"

/** Sums the entries of a statement, where it has both balances and one currency. */
export const balanceOf = (
  { currency, opening, closing, booked }: Stated,
  of: OfStatement
): Result.Result<Balance, Why> => {
  if (booked.some((entries) => entries.currency !== currency)) return Result.fail("other-currency")
  if (opening === null) return Result.fail("opening-missing")
  if (closing === null) return Result.fail("closing-missing")
  const signed = booked.map(({ direction, amount }) =>
    direction === "credit" ? amount : Decimal.negate(amount)
  )
  return Result.succeed({ ...of, currency, opening, booked: Decimal.sum(signed), closing })
}

/**
 * Returns a blocking difference where opening and entries do not come to the closing balance within
 * the tolerance. The subject is the source; the unit is the currency.
 */
export const differences = (of: Balance, tolerance: Decimal.Decimal): ReadonlyArray<Difference> =>
  compare({
    check,
    severity: "blocking",
    ...aboutSource(of),
    unit: of.currency,
    expected: Decimal.add(of.opening, of.booked),
    actual: of.closing,
    tolerance
  })
