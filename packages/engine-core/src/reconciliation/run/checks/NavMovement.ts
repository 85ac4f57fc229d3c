/**
 * Check `nav-movement`, pure: compares the administrator's latest NAV with the last accepted price
 * (docs/domain/reconciliation.md#move-of-the-nav).
 */
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { Guardrail } from "../../../instruments/instrument/Manifest.ts"
import { moveOf } from "../../../instruments/price/NavFeedRules.ts"
import * as Decimal from "../../../kernel/Decimal.ts"

const check = "nav-movement"

/** The latest NAV, and the price that it moved from. */
export interface Move {
  readonly instrumentId: string
  readonly externalSourceId: string
  readonly statementId: string
  readonly currency: string
  readonly nav: Decimal.Decimal
  /** Price of the last accepted point of an earlier business date. */
  readonly accepted: Decimal.Decimal
  readonly guardrail: Guardrail
}

/** Returns a warning where the move is outside the guardrail; its edges are inside. */
export const differences = ({
  accepted,
  guardrail,
  nav,
  instrumentId,
  externalSourceId,
  currency,
  statementId
}: Move): ReadonlyArray<Difference> => {
  if (moveOf({ last: accepted, next: nav, guardrail }) === "inside") return []
  const found = compare({
    check,
    instrumentId,
    subject: { resourceKind: "external-source", id: externalSourceId },
    holderId: null,
    severity: "warning",
    unit: currency,
    statementId,
    expected: accepted,
    actual: nav,
    tolerance: Decimal.zero
  })
  // The bounds are fractions of the accepted price, and judged above.
  const tolerance = Decimal.lessThan(nav, accepted) ? guardrail.down : guardrail.up
  return found.map((difference) => ({ ...difference, tolerance }))
}
