/**
 * Line of a bank statement that pays an order, and its conditions: the amount that an order may take of
 * it, and the amount that it has left (docs/domain/statements.md#cash-lines).
 */
import { Schema } from "effect"
import { statementLinesLimit } from "../../engine/Settings.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import type { CashEntry } from "../../statements/external-statement/StatementLine.ts"
import * as Amount from "../../kernel/Amount.ts"
import type { CashDirection } from "../../vocabulary/sets.ts"

const StatementId = RecordId.make("ExternalStatementId")

/** Largest number of lines in one call. */
const linesMax = 100

/** Cash of a line of a stored statement; the line may have more, and pay other orders with it. */
export const CashLine = Schema.Struct({
  statementId: StatementId,
  line: Integer.between({ minimum: 1, maximum: statementLinesLimit }),
  amount: Amount.bankCash
}).annotate({
  identifier: "CashLine",
  description: "A line of a bank statement that paid an order, or paid it back."
})
export type CashLine = typeof CashLine.Type

export const CashLines = Schema.Array(CashLine).check(Schema.isMaxLength(linesMax))

/** Key of a line among all statements. */
export const nameOf = ({
  statementId,
  line
}: {
  readonly statementId: string
  readonly line: number
}): string => `${statementId}:${line}`

/** An order's expected cash, the sum of the bank lines that paid it, and those lines. */
export interface Cash {
  readonly expected: Decimal.Decimal | null
  readonly matched: Decimal.Decimal
  readonly lines: ReadonlyArray<CashLine>
}

/** Sums the matched cash with these lines. */
export const matchedWith = (
  { matched }: Pick<Cash, "matched">,
  lines: ReadonlyArray<CashLine>
): Decimal.Decimal => Decimal.sum([matched, ...lines.map(({ amount }) => amount)])

/** Checks that no bank line repeats and that all of them together are at most the order's cash. */
export const againstLines = (
  cash: Cash,
  lines: ReadonlyArray<CashLine>
): ReadonlyArray<Judgement> => [
  againstRepeated([...cash.lines, ...lines]),
  againstOver(cash, lines)
]

const againstRepeated = (lines: ReadonlyArray<CashLine>): Judgement =>
  condition("cash-line-repeated", new Set(lines.map(nameOf)).size === lines.length)

const expectedCash = ({ expected }: Pick<Cash, "expected">) =>
  expected === null ? {} : { detail: `The order comes to ${Decimal.formatPlain(expected)}.` }

const againstOver = (cash: Cash, lines: ReadonlyArray<CashLine>): Judgement =>
  condition(
    "cash-over",
    cash.expected === null || Decimal.atMost(matchedWith(cash, lines), cash.expected),
    expectedCash(cash)
  )

/** Bank lines that a call names for an order: those that paid it, and those that paid its refund. */
export interface NamedLines {
  readonly cash: ReadonlyArray<CashLine>
  readonly refunds: ReadonlyArray<CashLine>
}

/** An order's cash, the refund owed, the refund paid so far, and the bank lines that paid it. */
interface OrderRefund {
  readonly cash: Cash
  readonly refund: Decimal.Decimal | null
  readonly refunded: Decimal.Decimal | null
  readonly refunds: ReadonlyArray<CashLine>
}

/** Returns the part of an order's refund that is not paid yet; never below 0. */
export const unrefunded = ({
  refund,
  refunded
}: Pick<OrderRefund, "refund" | "refunded">): Decimal.Decimal =>
  Decimal.max(Decimal.zero, Decimal.subtract(refund ?? Decimal.zero, refunded ?? Decimal.zero))

/**
 * Checks of the bank lines of a settlement: the cash is matched in whole, and the refunds are at most
 * the part that is not paid yet. A line pays one way, so no line is named both as cash and as refund.
 */
export const againstSettling = (
  self: OrderRefund,
  { cash, refunds }: NamedLines
): ReadonlyArray<Judgement> => {
  const left = unrefunded(self)
  return [
    againstRepeated([...self.cash.lines, ...self.refunds, ...cash, ...refunds]),
    againstOver(self.cash, cash),
    unpaid(self.cash, cash),
    condition(
      "refund-over",
      Decimal.atMost(Decimal.sum(refunds.map(({ amount }) => amount)), left),
      {
        detail: `The order has ${Decimal.formatPlain(left)} to pay back.`
      }
    )
  ]
}

/** Checks that the bank lines match all of the order's cash; null: this act does not need all of it. */
export const unpaid = (cash: Cash, lines: ReadonlyArray<CashLine> | null): Judgement =>
  condition(
    "cash-matched",
    lines === null ||
      (cash.expected !== null && Decimal.atLeast(matchedWith(cash, lines), cash.expected)),
    expectedCash(cash)
  )

/** Direction of an order's cash: `cash` pays the order, `refund` pays a part of it back. */
export type Pays = "cash" | "refund"

/** Direction of the bank lines that pay an order, or its refund. */
export const directionOf = (kind: "subscription" | "redemption", pays: Pays): CashDirection =>
  kind === "subscription" && pays === "cash" ? "credit" : "debit"

/**
 * Cause for which an entry pays no order: the bank took it back, it takes another one back itself, or
 * retention deleted statements that may have stated it, so that nobody knows what was taken of it.
 */
export type SpentCause = "reversed" | "reversal" | "deleted"

const sentences: Readonly<Record<SpentCause, string>> = {
  reversed: "was taken back by the bank",
  reversal: "takes another entry back",
  deleted: "was booked on a date whose statements have been deleted"
}

/** A bank line that a call names, beside the stored line. */
export interface FoundLine {
  readonly line: CashLine
  readonly direction: CashDirection
  /** Null: no statement in force, of an account of the order's instrument, has the line. */
  readonly entry: Pick<CashEntry, "direction" | "currency"> | null
  /** Amount that the entry has left for this order, over all its copies. */
  readonly amountLeft: Decimal.Decimal
  readonly spent: SpentCause | null
}

const worded = ({ line, statementId }: CashLine): string => `Line ${line} of ${statementId}`

const first = (
  found: ReadonlyArray<FoundLine>,
  {
    fails,
    says
  }: { readonly fails: (found: FoundLine) => boolean; readonly says: (found: FoundLine) => string }
) => {
  const failing = found.find(fails)
  return [failing === undefined, { detail: failing === undefined ? null : says(failing) }] as const
}

/**
 * Checks of the bank lines that a call names, against the stored lines: each is a line of a
 * statement in force, of an account that is mapped to the order's instrument; has the direction and
 * the currency of the cash that it pays; and has that amount left.
 */
export const againstBank = (
  found: ReadonlyArray<FoundLine>,
  { currency }: { readonly currency: string }
): ReadonlyArray<Judgement> => [
  condition(
    "line-known",
    ...first(found, {
      fails: ({ entry }) => entry === null,
      says: ({ line }) =>
        `${worded(line)} is in no statement in force of an account of the order's instrument.`
    })
  ),
  condition(
    "line-side",
    ...first(found, {
      fails: ({ entry, direction }) =>
        entry !== null && (entry.direction !== direction || entry.currency !== currency),
      says: ({ line, entry, direction }) =>
        `${worded(line)} is a ${entry?.direction} in ${entry?.currency}, and the order takes a ${direction} in ${currency}.`
    })
  ),
  condition(
    "line-left",
    ...first(found, {
      fails: ({ entry, line, amountLeft }) =>
        entry !== null && !Decimal.atMost(line.amount, amountLeft),
      says: ({ line, amountLeft, spent }) =>
        spent === null
          ? `${worded(line)} has ${Decimal.formatPlain(amountLeft)} left.`
          : `${worded(line)} ${sentences[spent]}, and has nothing left.`
    })
  )
]
