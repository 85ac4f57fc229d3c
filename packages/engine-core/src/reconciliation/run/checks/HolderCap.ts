/**
 * Check `holder-cap`, pure: compares the holders with a place in an instrument with its cap
 * (docs/domain/reconciliation.md#holders-against-the-cap).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"

const check = "holder-cap"

/** The admissions of one instrument that hold a place, and the cap of the policy in force. */
export interface Places {
  readonly instrumentId: string
  readonly holderCap: number
  /** Number of admissions that are admitted or offered. */
  readonly taken: number
}

/** Returns a warning where more places are taken than the cap has; fewer are no difference. */
export const differences = (
  { instrumentId, holderCap, taken }: Places,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  taken <= holderCap
    ? []
    : compare({
        check,
        instrumentId,
        subject: { resourceKind: "instrument", id: instrumentId },
        holderId: null,
        severity: "warning",
        unit: "holders",
        expected: Decimal.fromInteger(holderCap),
        actual: Decimal.fromInteger(taken),
        tolerance
      })
