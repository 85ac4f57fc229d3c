/**
 * Check `suspended-lines`, pure: compares the cash that is kept apart with the suspended lines that it is
 * for (docs/domain/reconciliation.md#cash-of-suspended-lines).
 */
import { Result } from "effect"
import type { Moment } from "../../../findings/Finding.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import * as Decimal from "../../../kernel/Decimal.ts"
import * as Instant from "../../../kernel/Instant.ts"

const check = "suspended-lines"

/** The newest statement of a segregated account. */
export interface AccountStatement {
  readonly externalAccountId: string
  readonly statementId: string
  readonly businessDate: string
  readonly currency: string
  /** Null where the statement has no closing balance in the account's currency. */
  readonly closing: Decimal.Decimal | null
  readonly comparedAt: Moment
}

/** The segregated cash of an instrument in one currency. */
export interface SegregatedCash {
  readonly instrumentId: string
  /** The account; of several the first by its id. */
  readonly externalAccountId: string
  readonly currency: string
  /** Closing balances of all accounts. */
  readonly closing: Decimal.Decimal
  /** Net amounts of the suspended lines that pay cash, at the moment of the statement. */
  readonly suspended: Decimal.Decimal
  readonly statementId: string
  readonly comparedAt: Moment
}

/** Reason why the accounts of a currency cannot be compared. */
type Why = "closing-missing" | "dates-differ"

/** The accounts of one currency as one: their balances of one business date, at its latest moment. */
type SegregatedBalance = Omit<SegregatedCash, "instrumentId" | "suspended">

/**
 * Sums the closing balances of accounts of one currency. Balances of two business dates are not added
 * (`dates-differ`), and one that is missing is no zero (`closing-missing`).
 */
export const together = (
  accounts: readonly [AccountStatement, ...ReadonlyArray<AccountStatement>]
): Result.Result<SegregatedBalance, Why> => {
  const [first] = accounts.toSorted((a, b) => (a.externalAccountId < b.externalAccountId ? -1 : 1))
  const [latest] = accounts.toSorted((a, b) =>
    Instant.order(b.comparedAt.instant, a.comparedAt.instant)
  )
  const closings = accounts.flatMap(({ closing }) => closing ?? [])
  if (first === undefined || latest === undefined) throw new Error("there is an account")
  if (accounts.some(({ businessDate }) => businessDate !== first.businessDate)) {
    return Result.fail("dates-differ")
  }
  if (closings.length < accounts.length) return Result.fail("closing-missing")
  const { externalAccountId, currency } = first
  const { comparedAt, statementId } = latest
  return Result.succeed({
    externalAccountId,
    currency,
    closing: Decimal.sum(closings),
    comparedAt,
    statementId
  })
}

/**
 * Returns a warning where the segregated cash is not what the suspended lines come to: cash short below
 * zero, cash over above.
 */
export const differences = (
  account: SegregatedCash,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId: account.instrumentId,
    subject: { resourceKind: "external-account", id: account.externalAccountId },
    holderId: null,
    severity: "warning",
    unit: account.currency,
    expected: account.suspended,
    actual: account.closing,
    tolerance,
    statementId: account.statementId,
    comparedAt: account.comparedAt
  })
