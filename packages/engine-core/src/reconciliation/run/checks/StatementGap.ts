/**
 * Check `statement-gap`, pure: finds business dates between the first and the last statement of a
 * source that no statement is in force of (docs/domain/reconciliation.md#gaps-between-statements).
 */
import type * as Date from "../../../kernel/Date.ts"
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"

const check = "statement-gap"

export interface Gap {
  readonly instrumentId: string
  readonly externalSourceId: string
  /** Business dates of the calendar without a statement, oldest first. */
  readonly missing: ReadonlyArray<Date.Date>
}

/** Returns a warning where dates are missing. The subject is the source. */
export const differences = ({
  instrumentId,
  externalSourceId,
  missing
}: Gap): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId,
    subject: { resourceKind: "external-source", id: externalSourceId },
    holderId: null,
    severity: "warning",
    unit: "dates",
    expected: Decimal.fromInteger(missing.length),
    actual: Decimal.zero,
    tolerance: Decimal.zero
  })
