/** Limit of an order's cash and units, so that every figure computed from them fits a decimal. */
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Amount from "../../kernel/Amount.ts"

/** Checks whether an order is below the limit; a holder can sign any figure on the ledger. */
export const isSized = ({
  amount,
  units
}: {
  readonly amount: Decimal.Decimal | null
  readonly units: Decimal.Decimal | null
}): boolean => [amount, units].every((size) => size === null || Amount.isBelowOrderLimit(size))
