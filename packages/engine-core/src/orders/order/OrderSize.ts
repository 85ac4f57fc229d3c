/** Limits of an order's cash, units and price, so that every figure computed from them fits a decimal. */
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

/**
 * Checks whether the figures that outside parties signed as the price of an order are within the limits of
 * one; `proceeds` of a redemption only. It is judged before anything is computed of them: the sum of two
 * larger ones, or their product, may have more digits than a decimal
 * (docs/domain/orders.md#prices-beyond-an-order).
 */
export const isPriceSized = ({
  price,
  units,
  proceeds
}: {
  readonly price: Decimal.Decimal
  readonly units: Decimal.Decimal
  readonly proceeds?: Decimal.Decimal
}): boolean =>
  Amount.isPriceWithinLimit(price) &&
  Amount.isOrderWithinLimit(units) &&
  (proceeds === undefined || Amount.isWorthWithinLimit(proceeds))

/** Detail of the breach of a price that no order has. */
export const beyondAnOrder = "Its figures are beyond those of an order: it prices nothing."
