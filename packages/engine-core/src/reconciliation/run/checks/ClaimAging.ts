/**
 * Check `claim-aging`, pure: finds orders that nobody prices after their cut-off, and redemptions that
 * nobody burns after their burn request (docs/domain/reconciliation.md#ageing-orders).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import type * as Instant from "../../../kernel/Instant.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { Terms } from "../Check.ts"
import { isOverdue } from "../GraceRules.ts"

const check = "claim-aging"

/** An order that waits to be priced, or a funded redemption that waits for its burn. */
export interface WaitingOrder {
  readonly instrumentId: string
  readonly kind: "subscription" | "redemption"
  readonly orderId: string
  readonly holderId: string
  /** The cash or units that the order names. */
  readonly ordered: Decimal.Decimal
  /** `units`, or the currency of the cash. */
  readonly unit: string
  /** The cut-off of a claimed order, the burn request of a funded redemption. */
  readonly since: Instant.Instant
}

/** Returns a warning for an order that has waited longer than the grace time: nothing is done of it. */
export const differences = (
  { instrumentId, kind, orderId, holderId, ordered, unit, since }: WaitingOrder,
  tolerance: Decimal.Decimal,
  terms: Pick<Terms, "grace" | "now">
): ReadonlyArray<Difference> =>
  isOverdue(since, terms)
    ? compare({
        check,
        instrumentId,
        subject: { resourceKind: kind, id: orderId },
        holderId,
        severity: "warning",
        unit,
        expected: ordered,
        actual: Decimal.zero,
        tolerance
      })
    : []
