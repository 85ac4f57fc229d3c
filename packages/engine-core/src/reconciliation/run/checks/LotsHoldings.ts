/**
 * Check `lots-holdings`, pure: compares the lots of each holder with its units on the register
 * (docs/domain/reconciliation.md#lots-against-units).
 */
import type * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"

export const check = "lots-holdings"

/** One party's units and lots of an instrument, both read at one offset. */
export interface Position {
  readonly instrumentId: string
  readonly party: string
  /** Null where the party is no holder of the venue. */
  readonly holderId: string | null
  /** Units on the register, base units of a rebasing instrument; 0 for a party that is not on it. */
  readonly units: Decimal.Decimal
  /** Sum of the units that remain of the party's lots; 0 for a party without one. */
  readonly remaining: Decimal.Decimal
}

/**
 * Returns a blocking difference where the party's lots do not add up to its units within the
 * tolerance. The subject is the holder, and the party where there is no holder, so that differences
 * of several such parties are neither one finding nor set off against each other.
 */
export const differences = (
  { instrumentId, party, holderId, units, remaining }: Position,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId,
    subject: { resourceKind: "holder", id: holderId ?? party },
    holderId,
    severity: "blocking",
    unit: "units",
    expected: remaining,
    actual: units,
    tolerance
  })
