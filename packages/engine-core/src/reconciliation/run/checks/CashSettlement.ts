/**
 * Check `cash-settlement`, pure: finds orders whose units were delivered, or that are settled, and whose
 * cash no bank lines have (docs/domain/reconciliation.md#cash-of-orders).
 */
import type * as Decimal from "../../../kernel/Decimal.ts"
import type * as Instant from "../../../kernel/Instant.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { Terms } from "../Check.ts"
import { isOverdue } from "../GraceRules.ts"

const check = "cash-settlement"

/** An order paid by wire that is delivered or settled. */
export interface SettledOrder {
  readonly instrumentId: string
  readonly kind: "subscription" | "redemption"
  readonly orderId: string
  readonly holderId: string
  readonly currency: string
  /** Cash of the order, or of its refund, in `currency`. */
  readonly due: Decimal.Decimal
  /** Cash of it that lines of statements in force have. */
  readonly paid: Decimal.Decimal
  /** Since when the cash is owed: the delivery of the units. */
  readonly since: Instant.Instant
  /** True where a correction, or a reversal by the bank, took back cash that the order had taken. */
  readonly isLost: boolean
  /** Line of the entry that the order took and the bank took back; null: there is none. */
  readonly entry: Difference["entry"]
}

/**
 * Returns a difference for an order whose lines come to less than its cash, beyond the allowance for
 * charges of banks: blocking once the grace time since the delivery is over, or where a correction took
 * the cash back, else a warning.
 */
export const differences = (
  {
    instrumentId,
    kind,
    orderId,
    holderId,
    currency,
    due,
    paid,
    since,
    isLost,
    entry
  }: SettledOrder,
  tolerance: Decimal.Decimal,
  terms: Pick<Terms, "grace" | "now">
): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId,
    subject: { resourceKind: kind, id: orderId },
    holderId,
    severity: isLost || isOverdue(since, terms) ? "blocking" : "warning",
    unit: currency,
    expected: due,
    actual: paid,
    tolerance,
    entry,
    statementId: entry?.externalStatementId ?? null
  })
