/** Pure sums of booked bank lines that orders have not taken whole, by the bank's reference. */
import * as Decimal from "../../kernel/Decimal.ts"
import type { CashEntry } from "../../statements/external-statement/StatementLine.ts"

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
  readonly takenAmount: Decimal.Decimal
}

/** The open lines of one reference of the bank: credits less debits. */
export interface UnmatchedLines {
  readonly instrumentId: string
  readonly subjectId: string
  readonly currency: string
  readonly booked: Decimal.Decimal
  readonly takenAmount: Decimal.Decimal
  /** The newest statement that has one of the lines. */
  readonly statementId: string
  /** Sums of two statements that contradict each other about the reference; null: none do. */
  readonly contradiction: ContradictedSums | null
}

/** Sums that two statements state of one reference on one date, credits less debits. */
interface ContradictedSums {
  readonly stated: Decimal.Decimal
  readonly otherwise: Decimal.Decimal
}

/**
 * Id of the subject of a line: its account and the bank's reference. Lines without a reference are one
 * subject for each booking date. A line in another currency than its account has its own subjects,
 * since amounts of two currencies are never added.
 */
const subjectIdOf = ({
  externalAccountId,
  accountCurrency,
  entry: { bankReference, bookingDate, currency }
}: Pick<OpenLine, "externalAccountId" | "accountCurrency" | "entry">): string => {
  const account =
    currency === accountCurrency ? externalAccountId : `${externalAccountId}/${currency}`
  return `${account}:${bankReference ?? `:${bookingDate}`}`
}

/** Sums of open lines, by the id of their subject. */
export type Sums = Map<string, Omit<UnmatchedLines, "instrumentId">>

/**
 * Adds lines, of which the last are of the newest statement, to the sums of their subjects, in place:
 * there may be as many subjects as lines.
 */
export const addTo = (sums: Sums, lines: ReadonlyArray<OpenLine>): void => {
  for (const line of lines) {
    const { entry, statementId, takenAmount } = line
    const { currency } = entry
    const signed = (amount: Decimal.Decimal): Decimal.Decimal => signedOf({ ...entry, amount })
    const subjectId = subjectIdOf(line)
    const before = sums.get(subjectId)
    sums.set(subjectId, {
      subjectId,
      currency,
      statementId,
      booked: Decimal.add(before?.booked ?? Decimal.zero, signed(entry.amount)),
      takenAmount: Decimal.add(before?.takenAmount ?? Decimal.zero, signed(takenAmount)),
      contradiction: before?.contradiction ?? null
    })
  }
}

/** An amount as it moves the account: a debit is below 0. */
export const signedOf = ({
  amount,
  direction
}: Pick<CashEntry, "amount" | "direction">): Decimal.Decimal =>
  direction === "credit" ? amount : Decimal.negate(amount)

/** Adds a contradiction of two statements to the sums of its subject, in place; the first one stays. */
export const contradict = (
  sums: Sums,
  line: Pick<OpenLine, "externalAccountId" | "accountCurrency" | "entry" | "statementId">,
  contradiction: ContradictedSums
): void => {
  const subjectId = subjectIdOf(line)
  const before = sums.get(subjectId)
  sums.set(subjectId, {
    subjectId,
    currency: line.entry.currency,
    booked: Decimal.zero,
    takenAmount: Decimal.zero,
    ...before,
    statementId: line.statementId,
    contradiction: before?.contradiction ?? contradiction
  })
}
