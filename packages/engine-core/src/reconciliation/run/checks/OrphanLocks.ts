/**
 * Check `orphan-locks`, pure: finds units that are locked for an order or a reserve that has ended
 * (docs/domain/reconciliation.md#orphan-locks).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"

const check = "orphan-locks"

/** A holding that is locked for something of the venue's. */
export interface Lock {
  readonly instrumentId: string
  /** The locked holding. */
  readonly contractId: string
  readonly holderId: string | null
  readonly units: Decimal.Decimal
  /** Whether the order or reserve that the lock names still needs it. */
  readonly isLive: boolean
}

/** Returns a warning for a lock that nothing needs any more. */
export const differences = (
  { instrumentId, contractId, holderId, units, isLive }: Lock,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  isLive
    ? []
    : compare({
        check,
        instrumentId,
        subject: { resourceKind: "contract", id: contractId },
        holderId,
        severity: "warning",
        unit: "units",
        expected: Decimal.zero,
        actual: units,
        tolerance
      })
