/**
 * Check `cash-unmatched`, pure: finds what orders have not taken of booked bank lines
 * (docs/domain/reconciliation.md#bank-lines-without-an-order).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { CashEntry } from "../../../statements/external-statement/StatementLine.ts"

export const check = "cash-unmatched"

/** A booked line with something left. */
export interface OpenLine {
  readonly externalAccountId: string
  /** Currency of the account that the statement is of. */
  readonly accountCurrency: string
  readonly statementId: string
  readonly entry: Pick<
    CashEntry,
    "amount" | "bankReference" | "bookingDate" | "currency" | "direction"
  >
  /** Sum that orders took of the line, without a sign. */
  readonly taken: Decimal.Decimal
}

/** The open lines of one reference of the bank: credits less debits. */
export interface Unmatched {
  readonly instrumentId: string
  readonly subjectId: string
  readonly currency: string
  readonly booked: Decimal.Decimal
  readonly taken: Decimal.Decimal
  /** The newest statement that has one of the lines. */
  readonly statementId: string
}

/**
 * Id of the subject of a line: its account and the bank's reference. Lines without a reference are one
 * subject for each booking date. A line in another currency than its account has its own subjects,
 * since amounts of two currencies are never added.
 */
export const subjectIdOf = ({
  externalAccountId,
  accountCurrency,
  entry: { bankReference, bookingDate, currency }
}: Pick<OpenLine, "externalAccountId" | "accountCurrency" | "entry">): string => {
  const account =
    currency === accountCurrency ? externalAccountId : `${externalAccountId}/${currency}`
  return `${account}:${bankReference ?? `:${bookingDate}`}`
}

/** Sums of open lines, by the id of their subject. */
export type Sums = Map<string, Omit<Unmatched, "instrumentId">>

/**
 * Adds lines, of which the last are of the newest statement, to the sums of their subjects, in place:
 * there may be as many subjects as lines.
 */
export const addTo = (sums: Sums, lines: ReadonlyArray<OpenLine>): void => {
  for (const line of lines) {
    const { entry, statementId, taken } = line
    const { currency } = entry
    const signed = (amount: Decimal.Decimal): Decimal.Decimal =>
      entry.direction === "credit" ? amount : Decimal.negate(amount)
    const subjectId = subjectIdOf(line)
    const before = sums.get(subjectId)
    sums.set(subjectId, {
      subjectId,
      currency,
      statementId,
      booked: Decimal.add(before?.booked ?? Decimal.zero, signed(entry.amount)),
      taken: Decimal.add(before?.taken ?? Decimal.zero, signed(taken))
    })
  }
}

/**
 * Returns a warning for a reference whose lines come to another sum than orders took of them. A payment
 * and its return under one reference come to nothing.
 */
export const differences = (
  { instrumentId, subjectId, currency, booked, taken, statementId }: Unmatched,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId,
    subject: { resourceKind: "external-account", id: subjectId },
    holderId: null,
    severity: "warning",
    unit: currency,
    expected: taken,
    actual: booked,
    tolerance,
    statementId
  })
