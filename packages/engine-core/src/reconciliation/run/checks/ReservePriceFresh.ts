/**
 * Check `reserve-price-fresh`, pure: counts the assets of a reserve without a price that counts
 * (docs/domain/reconciliation.md#prices-of-reserves).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"

const check = "reserve-price-fresh"

/** Assets of the terms in force at the run's pin. */
export interface Prices {
  readonly instrumentId: string
  readonly reserveId: string
  /** Number of assets whose price is past their freshness, or has not come. */
  readonly stale: number
}

/** Returns a warning where the price of an asset does not count. */
export const differences = (
  { instrumentId, reserveId, stale }: Prices,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId,
    subject: { resourceKind: "reserve", id: reserveId },
    holderId: null,
    severity: "warning",
    unit: "assets",
    expected: Decimal.zero,
    actual: Decimal.fromInteger(stale),
    tolerance
  })
