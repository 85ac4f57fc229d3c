/** Bound of an order's cash and units, so that no figure computed from them exceeds a decimal. */
import type * as Decimal from "../kernel/Decimal.ts"
import * as Amount from "../vocabulary/Amount.ts"

/** Whether an order is of a size to deal in: on the ledger any figure can be signed. */
export const isSized = (of: {
  readonly amount: Decimal.Decimal | null
  readonly units: Decimal.Decimal | null
}): boolean =>
  [of.amount, of.units].every((size) => size === null || Amount.isBelowOrderLimit(size))
