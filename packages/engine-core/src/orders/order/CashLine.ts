/** A line of a bank statement that pays an order, and the checks of bank lines: each pays one order. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { check, type Objection } from "../../kernel/Gates.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Amount from "../../vocabulary/Amount.ts"

const StatementId = RecordId.make("ExternalStatementId")

const lineMax = 1_000_000
/** Largest number of lines in one call. */
const linesMax = 100

/** The venue names the lines in its calls: the engine does not read bank statements. */
export const CashLine = Schema.Struct({
  statementId: StatementId,
  line: Integer.between({ minimum: 1, maximum: lineMax }),
  amount: Amount.bankCash
}).annotate({
  identifier: "CashLine",
  description: "A line of a bank statement that paid an order, or paid it back."
})
export type CashLine = typeof CashLine.Type

export const CashLines = Schema.Array(CashLine).check(Schema.isMaxLength(linesMax))

/** Key of a line among all statements. */
export const nameOf = ({ statementId, line }: Pick<CashLine, "statementId" | "line">): string =>
  `${statementId}:${line}`

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
): ReadonlyArray<Objection> => [
  againstRepeated([...cash.lines, ...lines]),
  againstOver(cash, lines)
]

const againstRepeated = (lines: ReadonlyArray<CashLine>): Objection =>
  check("cash-line-repeated", new Set(lines.map(nameOf)).size === lines.length)

const expectedCash = ({ expected }: Pick<Cash, "expected">) =>
  expected === null ? {} : { detail: `The order comes to ${Decimal.formatPlain(expected)}.` }

const againstOver = (cash: Cash, lines: ReadonlyArray<CashLine>): Objection =>
  check(
    "cash-over",
    cash.expected === null || Decimal.atMost(matchedWith(cash, lines), cash.expected),
    expectedCash(cash)
  )

/** Bank lines that a call names for an order: those that paid it, and those that paid its refund. */
export interface Named {
  readonly cash: ReadonlyArray<CashLine>
  readonly refunds: ReadonlyArray<CashLine>
}

/** An order's cash, the refund owed, the refund paid so far, and the bank lines that paid it. */
interface Refunding {
  readonly cash: Cash
  readonly refund: Decimal.Decimal | null
  readonly refunded: Decimal.Decimal | null
  readonly refunds: ReadonlyArray<CashLine>
}

/** Returns the part of an order's refund that is not paid yet; never below 0. */
export const unrefunded = ({
  refund,
  refunded
}: Pick<Refunding, "refund" | "refunded">): Decimal.Decimal =>
  Decimal.max(Decimal.zero, Decimal.subtract(refund ?? Decimal.zero, refunded ?? Decimal.zero))

/**
 * Checks of the bank lines of a settlement: the cash is matched in whole, and the refunds are at most
 * the part that is not paid yet. A line pays one way, so no line is named both as cash and as refund.
 */
export const againstSettling = (
  self: Refunding,
  { cash, refunds }: Named
): ReadonlyArray<Objection> => {
  const left = unrefunded(self)
  return [
    againstRepeated([...self.cash.lines, ...self.refunds, ...cash, ...refunds]),
    againstOver(self.cash, cash),
    unpaid(self.cash, cash),
    check("refund-over", Decimal.atMost(Decimal.sum(refunds.map(({ amount }) => amount)), left), {
      detail: `The order has ${Decimal.formatPlain(left)} to pay back.`
    })
  ]
}

/** Checks that the bank lines match all of the order's cash; null: this act does not need all of it. */
export const unpaid = (cash: Cash, lines: ReadonlyArray<CashLine> | null): Objection =>
  check(
    "cash-matched",
    lines === null ||
      (cash.expected !== null && Decimal.atLeast(matchedWith(cash, lines), cash.expected)),
    expectedCash(cash)
  )

/** Checks that no bank line pays another order; `taken` is the first that does, undefined: none does. */
export const againstTaken = (
  taken: Pick<CashLine, "statementId" | "line"> | undefined
): Objection =>
  check("cash-line-taken", taken === undefined, {
    detail:
      taken === undefined ? null : `Line ${taken.line} of ${taken.statementId} pays another order.`
  })

/** The order that a line pays. */
const Paid = {
  kind: Schema.Literals(["subscription", "redemption"]),
  orderId: Schema.String
} as const
const Paying = Schema.Struct({ ...CashLine.fields, ...Paid })
export type Paying = typeof Paying.Type

const Take = Schema.Struct({
  on: Schema.Literal("take"),
  ...Paid,
  amount: Decimal.schema
})

/**
 * Reservations of bank lines. A line is reserved when a delivery or settlement that names it is planned,
 * so that two orders never count the same cash. If that order ended without the line, another order may
 * reserve it.
 */
export const cashLines = Collection.define<Paying, typeof Take.Type>("cash-line", {
  doc: "Which order a line of a bank statement pays.",
  id: nameOf,
  record: Paying,
  fact: Take,
  evolve: (self, fact) =>
    match(fact)
      .with({ on: "take" }, ({ on: _, ...taken }) => ({ ...self, ...taken }))
      .exhaustive(),
  keptBy: "engine"
})
