/**
 * Check `statement-total`, pure: compares the total and the number of lines that a statement states
 * with its lines (docs/domain/reconciliation.md#statement-against-its-lines).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import { aboutSource, type OfStatement } from "./OfStatement.ts"

export const check = "statement-total"

export interface Totals extends OfStatement {
  /** Sum of the quantities of the lines; null where the statement states no total of them. */
  readonly sum: Decimal.Decimal | null
  readonly totalQuantity: Decimal.Decimal | null
  /** Number of lines that are stored. */
  readonly lines: number
  /** Number of lines that the file states, or that were read where it states none. */
  readonly lineCount: number
}

/**
 * Returns a blocking difference where the stated total differs from the sum of the lines by more than
 * the tolerance, or else the stated number of lines from the lines at all. The subject is the source.
 */
export const differences = (
  totals: Totals,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> => {
  const about = { check, severity: "blocking", ...aboutSource(totals) } as const
  const total =
    totals.sum === null || totals.totalQuantity === null
      ? []
      : compare({
          ...about,
          unit: "units",
          expected: totals.sum,
          actual: totals.totalQuantity,
          tolerance
        })
  if (total.length > 0) return total
  return compare({
    ...about,
    unit: "lines",
    expected: Decimal.fromInteger(totals.lines),
    actual: Decimal.fromInteger(totals.lineCount),
    tolerance: Decimal.zero
  })
}
