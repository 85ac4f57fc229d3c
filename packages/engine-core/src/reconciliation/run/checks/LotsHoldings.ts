/**
 * Check `lots-holdings`, pure: compares the lots of each holder with its units on the register
 * (docs/domain/reconciliation.md#lots-against-units).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import type { Lot } from "../../../instruments/lot/Lot.ts"
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
  /** The party's open lots; none for a party on the register that has none. */
  readonly lots: Iterable<Pick<Lot, "remaining">>
}

/**
 * Returns a blocking difference for each position whose lots do not add up to its units within the
 * tolerance. The subject is the holder, and the party where there is no holder, so that differences
 * of several such parties are neither one finding nor set off against each other.
 */
export const differences = (
  positions: Iterable<Position>,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  [...positions].flatMap(({ instrumentId, party, holderId, units, lots }) =>
    compare({
      check,
      instrumentId,
      subject: { resourceKind: "holder", id: holderId ?? party },
      holderId,
      severity: "blocking",
      unit: "units",
      expected: Decimal.sum(Array.from(lots, ({ remaining }) => remaining)),
      actual: units,
      tolerance
    })
  )
