/**
 * Check `nav-price`, pure: compares the administrator's NAV of a business date with the official
 * point of the same date (docs/domain/reconciliation.md#nav-against-the-price).
 */
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import * as Decimal from "../../../kernel/Decimal.ts"
import { isWithin } from "../../../statements/nav-feed/PointVerdict.ts"

export const check = "nav-price"

/** NAV and price of one business date. */
export interface DatedFigures {
  readonly instrumentId: string
  readonly externalSourceId: string
  readonly businessDate: string
  readonly statementId: string
  /** Currency of both, in units of which a unit is worth so much. */
  readonly currency: string
  readonly nav: Decimal.Decimal
  readonly price: Decimal.Decimal
}

/**
 * Returns a difference where the figures are not equal: a warning while |NAV − price| / NAV is
 * within the tolerance, its edge included, and blocking beyond.
 */
export const differences = (
  { nav, price, instrumentId, externalSourceId, businessDate, currency, statementId }: DatedFigures,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> => {
  const severity = isWithin({ nav, price }, tolerance) ? "warning" : "blocking"
  const found = compare({
    check,
    instrumentId,
    subject: { resourceKind: "external-source", id: `${externalSourceId}:${businessDate}` },
    holderId: null,
    severity,
    unit: currency,
    statementId,
    expected: price,
    actual: nav,
    tolerance: Decimal.zero
  })
  // The tolerance is a fraction of the NAV, which the severity is judged by; any difference is shown.
  return found.map((difference) => ({ ...difference, tolerance }))
}
