/** Pure rules of the cash that a cycle pays with: cash of different providers is never merged. */
import * as Decimal from "../../kernel/Decimal.ts"

/** Cash that a settlement brings in: its amount, and the kind within which the ledger merges it. */
interface Purse {
  readonly kind: string
  readonly amount: Decimal.Decimal
}

/** Payment of a redemption out of the cycle's cash. */
export interface PursePayment {
  readonly redemptionId: string
  readonly amount: Decimal.Decimal
}

/**
 * Returns the first payment that no merged cash holds, paying each in turn out of the fullest as the ledger
 * does; null: all are paid. A payment is one allocation, which is made of cash of one kind.
 */
export const unpaidOf = (
  cash: ReadonlyArray<Purse>,
  payments: ReadonlyArray<PursePayment>
): PursePayment | null => {
  const purses = [...Map.groupBy(cash, ({ kind }) => kind).values()].map((parts) =>
    Decimal.sum(parts.map(({ amount }) => amount))
  )
  for (const payment of payments) {
    if (!Decimal.isPositive(payment.amount)) continue
    const [fullest = Decimal.zero] = purses.toSorted((a, b) => Decimal.compare(b, a))
    if (Decimal.lessThan(fullest, payment.amount)) return payment
    purses[purses.indexOf(fullest)] = Decimal.subtract(fullest, payment.amount)
  }
  return null
}
