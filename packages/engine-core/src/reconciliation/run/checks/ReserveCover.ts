/**
 * Check `reserve-cover`, pure: compares what the locked assets of a reserve count with what they must
 * (docs/domain/reconciliation.md#cover-of-reserves).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { CoverState } from "../../../vocabulary/sets.ts"
import { blockingOn } from "./ReserveSubject.ts"

const check = "reserve-cover"

/** Cover of a reserve at the run's pin, in its unit of account. */
export interface CoverFigures {
  readonly instrumentId: string
  readonly reserveId: string
  /** Unit of account. */
  readonly unit: string
  readonly state: CoverState
  /** Locked assets of which the published price is 0 or less. */
  readonly worthless: number
  /** Rounded up. */
  readonly required: Decimal.Decimal
  /** Rounded down. */
  readonly counted: Decimal.Decimal
}

/**
 * Returns a blocking difference where the cover is low or unknown by more than the tolerance. A reserve
 * that is covered has none, however its figures are rounded, unless a locked asset lost its worth: then
 * one of the number of such assets, since a price of 0 is a fault of its source or a loss, and people
 * judge which before more is minted.
 */
export const differences = (
  { instrumentId, reserveId, unit, state, required, counted, worthless }: CoverFigures,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> => {
  const about = { check, ...blockingOn({ instrumentId, reserveId }) } as const
  const short =
    state === "covered"
      ? []
      : compare({ ...about, unit, expected: required, actual: counted, tolerance })
  if (short.length > 0 || worthless === 0) return short
  return compare({
    ...about,
    unit: "assets",
    expected: Decimal.zero,
    actual: Decimal.fromInteger(worthless),
    tolerance: Decimal.zero
  })
}
