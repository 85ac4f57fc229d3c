/**
 * Check `distribution-unpaid`, pure: finds payable distributions with lines that nobody paid or rolled
 * long after their payment date (docs/domain/reconciliation.md#unpaid-distributions).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import type * as Instant from "../../../kernel/Instant.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { Terms } from "../Check.ts"
import { isOverdue } from "../GraceRules.ts"

const check = "distribution-unpaid"

/** A payable distribution. */
export interface Payable {
  readonly instrumentId: string
  readonly distributionId: string
  /** Beginning of its payment date. */
  readonly payableFrom: Instant.Instant
  /** Number of lines that are due. */
  readonly due: number
  /** Number of lines that are delivered and not rolled. */
  readonly delivered: number
}

/**
 * Returns a warning with the number of lines that are due, or delivered and not rolled, once the grace
 * time since the payment date has passed. Never blocking: a hold would stop the payment itself.
 */
export const differences = (
  { instrumentId, distributionId, payableFrom, due, delivered }: Payable,
  tolerance: Decimal.Decimal,
  terms: Pick<Terms, "grace" | "now">
): ReadonlyArray<Difference> =>
  isOverdue(payableFrom, terms)
    ? compare({
        check,
        instrumentId,
        subject: { resourceKind: "distribution", id: distributionId },
        holderId: null,
        severity: "warning",
        unit: "lines",
        expected: Decimal.zero,
        actual: Decimal.fromInteger(due + delivered),
        tolerance
      })
    : []
