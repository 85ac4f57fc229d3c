/**
 * Check `cash-unmatched`, pure: finds what orders have not taken of booked bank lines
 * (docs/domain/reconciliation.md#bank-lines-without-an-order).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { CashEntry } from "../../../statements/external-statement/StatementLine.ts"

const check = "cash-unmatched"

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
export interface UnmatchedLines {
  readonly instrumentId: string
  readonly subjectId: string
  readonly currency: string
  readonly booked: Decimal.Decimal
  readonly taken: Decimal.Decimal
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
    const { entry, statementId, taken } = line
    const { currency } = entry
    const signed = (amount: Decimal.Decimal): Decimal.Decimal => signedOf({ ...entry, amount })
    const subjectId = subjectIdOf(line)
    const before = sums.get(subjectId)
    sums.set(subjectId, {
      subjectId,
      currency,
      statementId,
      booked: Decimal.add(before?.booked ?? Decimal.zero, signed(entry.amount)),
      taken: Decimal.add(before?.taken ?? Decimal.zero, signed(taken)),
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
    taken: Decimal.zero,
    ...before,
    statementId: line.statementId,
    contradiction: before?.contradiction ?? contradiction
  })
}

/**
 * Returns a warning for a reference whose lines come to another sum than orders took of them. A payment
 * and its return under one reference come to nothing. Where statements contradict each other about the
 * reference, the difference blocks: the first one's sum is expected, the other's is actual.
 */
export const differences = (
  { instrumentId, subjectId, currency, booked, taken, statementId, contradiction }: UnmatchedLines,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId,
    subject: { resourceKind: "external-account", id: subjectId },
    holderId: null,
    severity: contradiction === null ? "warning" : "blocking",
    unit: currency,
    expected: contradiction?.stated ?? taken,
    actual: contradiction?.otherwise ?? booked,
    tolerance,
    statementId
  })
