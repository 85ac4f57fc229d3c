/**
 * Check `reserve-cover`, pure: compares what the locked assets of a reserve count with what they must
 * (docs/domain/reconciliation.md#cover-of-reserves).
 */
import type * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { CoverState } from "../../../vocabulary/sets.ts"

export const check = "reserve-cover"

/** Cover of a reserve at the run's pin, in its unit of account. */
export interface Covered {
  readonly instrumentId: string
  readonly reserveId: string
  /** Unit of account. */
  readonly unit: string
  readonly state: CoverState
  /** Rounded up. */
  readonly required: Decimal.Decimal
  /** Rounded down. */
  readonly counted: Decimal.Decimal
}

/**
 * Returns a blocking difference where the cover is low or unknown by more than the tolerance. A reserve
 * that is covered has none, however its figures are rounded.
 */
export const differences = (
  { instrumentId, reserveId, unit, state, required, counted }: Covered,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  state === "covered"
    ? []
    : compare({
        check,
        instrumentId,
        subject: { resourceKind: "reserve", id: reserveId },
        holderId: null,
        severity: "blocking",
        unit,
        expected: required,
        actual: counted,
        tolerance
      })
