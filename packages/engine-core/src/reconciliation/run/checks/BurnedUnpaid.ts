/**
 * Check `burned-unpaid`, pure: finds redemptions whose units are burned and whose cash is still owed
 * after the grace time (docs/domain/reconciliation.md#burned-and-unpaid).
 */
import type * as Decimal from "../../../kernel/Decimal.ts"
import type * as Instant from "../../../kernel/Instant.ts"
import { compare, type Difference, withoutAmounts } from "../../../findings/FindingRules.ts"
import type { Terms } from "../Check.ts"
import { isOverdue } from "../GraceRules.ts"

const check = "burned-unpaid"

/** A redemption that is burned and not settled. */
export interface BurnedRedemption {
  readonly instrumentId: string
  readonly redemptionId: string
  readonly holderId: string
  readonly currency: string
  /** Cash that the holder is owed, in `currency`. */
  readonly proceeds: Decimal.Decimal
  /** Cash that bank lines have paid of it. */
  readonly paid: Decimal.Decimal
  readonly burnedAt: Instant.Instant
}

/**
 * Returns a blocking difference for a redemption that is past the grace time since its burn: what is
 * paid less what is owed, and without amounts where all is paid and the ledger has not settled it.
 */
export const differences = (
  { instrumentId, redemptionId, holderId, currency, proceeds, paid, burnedAt }: BurnedRedemption,
  tolerance: Decimal.Decimal,
  terms: Pick<Terms, "grace" | "now">
): ReadonlyArray<Difference> => {
  if (!isOverdue(burnedAt, terms)) return []
  const about = {
    check,
    instrumentId,
    subject: { resourceKind: "redemption", id: redemptionId },
    holderId,
    severity: "blocking"
  } as const
  const short = compare({ ...about, unit: currency, expected: proceeds, actual: paid, tolerance })
  return short.length > 0 ? short : [withoutAmounts({ ...about, unit: "settlement" })]
}
