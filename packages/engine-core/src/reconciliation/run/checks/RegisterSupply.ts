/**
 * Check `register-supply`, pure: compares the units on the register with the supply on the ledger
 * (docs/domain/reconciliation.md#register-against-supply).
 */
import type * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"

const check = "register-supply"

/** Sums of one instrument at one offset, base units of a rebasing instrument. */
export interface Sums {
  readonly instrumentId: string
  /** Sum of the register's entries. */
  readonly register: Decimal.Decimal
  /** Sum of the holdings that are active on the ledger. */
  readonly supply: Decimal.Decimal
}

/** Returns a blocking difference where supply and register differ by more than the tolerance. */
export const differences = (
  { instrumentId, register, supply }: Sums,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId,
    subject: { resourceKind: "instrument", id: instrumentId },
    holderId: null,
    severity: "blocking",
    unit: "units",
    expected: register,
    actual: supply,
    tolerance
  })
