/**
 * Check `statement-overdue`, pure: compares the business dates that a source owes statements of with
 * those that came (docs/domain/reconciliation.md#overdue-statements).
 */
import type * as Date from "../../../kernel/Date.ts"
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"

export const check = "statement-overdue"

/** Missing dates from which on a source that owes them blocks. */
const blockingFrom = 2

export interface OwedStatements {
  readonly instrumentId: string
  readonly externalSourceId: string
  /** Business dates whose statements are overdue, oldest first. */
  readonly overdue: ReadonlyArray<Date.Date>
}

/**
 * Returns a difference where statements are overdue: a warning for one date, blocking from two on.
 * The subject is the source.
 */
export const differences = ({
  instrumentId,
  externalSourceId,
  overdue
}: OwedStatements): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId,
    subject: { resourceKind: "external-source", id: externalSourceId },
    holderId: null,
    severity: overdue.length >= blockingFrom ? "blocking" : "warning",
    unit: "dates",
    expected: Decimal.fromInteger(overdue.length),
    actual: Decimal.zero,
    tolerance: Decimal.zero
  })
