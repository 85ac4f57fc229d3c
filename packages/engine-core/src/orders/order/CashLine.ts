/** A line of a bank statement that paid an order: each line pays one order, once. */
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
/** How many lines may pay one order in one call. */
const linesMax = 100

/** Until statements are read in, the venue names the lines itself. */
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

/** What an order's cash is, as far as bank lines say it. */
export interface Cash {
  readonly expected: Decimal.Decimal | null
  readonly matched: Decimal.Decimal
  readonly lines: ReadonlyArray<CashLine>
}

/** What is matched once these lines are. */
export const matchedWith = (
  { matched }: Pick<Cash, "matched">,
  lines: ReadonlyArray<CashLine>
): Decimal.Decimal => Decimal.sum([matched, ...lines.map(({ amount }) => amount)])

/** Bank lines that repeat, or that come to more than the order's cash. */
export const againstLines = (
  cash: Cash,
  lines: ReadonlyArray<CashLine>
): ReadonlyArray<Objection> => [
  againstRepeated([...cash.lines, ...lines]),
  againstOver(cash, lines)
]

const againstRepeated = (lines: ReadonlyArray<CashLine>): Objection =>
  check("cash-line-repeated", new Set(lines.map(nameOf)).size === lines.length)

const comesTo = ({ expected }: Pick<Cash, "expected">) =>
  expected === null ? {} : { detail: `The order comes to ${Decimal.formatPlain(expected)}.` }

const againstOver = (cash: Cash, lines: ReadonlyArray<CashLine>): Objection =>
  check(
    "cash-over",
    cash.expected === null || Decimal.atMost(matchedWith(cash, lines), cash.expected),
    comesTo(cash)
  )

/** The bank lines that are named for an order: those that paid it, and those that paid it back. */
export interface Named {
  readonly cash: ReadonlyArray<CashLine>
  readonly refunds: ReadonlyArray<CashLine>
}

/** What of an order's cash goes back, and what of it went, as far as the record tells. */
interface Refunding {
  readonly cash: Cash
  readonly refund: Decimal.Decimal | null
  readonly refunded: Decimal.Decimal | null
  readonly refunds: ReadonlyArray<CashLine>
}

/** What is still to be paid back of an order's refund; never below 0. */
export const unrefunded = ({
  refund,
  refunded
}: Pick<Refunding, "refund" | "refunded">): Decimal.Decimal =>
  Decimal.max(Decimal.zero, Decimal.subtract(refund ?? Decimal.zero, refunded ?? Decimal.zero))

/**
 * Everything that the bank lines of a settlement are judged by: its cash in whole, of its refund no more
 * than is still to be paid back. A line is one way, so none is named for both.
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

/** Bank lines that do not come to all of the order's cash; null: nobody asks for all of it yet. */
export const unpaid = (cash: Cash, lines: ReadonlyArray<CashLine> | null): Objection =>
  check(
    "cash-matched",
    lines === null ||
      (cash.expected !== null && Decimal.atLeast(matchedWith(cash, lines), cash.expected)),
    comesTo(cash)
  )

/** A bank line that pays another order already; undefined: none of the named ones does. */
export const againstTaken = (
  taken: Pick<CashLine, "statementId" | "line"> | undefined
): Objection =>
  check("cash-line-taken", taken === undefined, {
    detail:
      taken === undefined ? null : `Line ${taken.line} of ${taken.statementId} pays another order.`
  })

/** The order that a line pays: one way in, the other out. */
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
 * A line is taken when a delivery or settlement that names it is planned, so that two orders never
 * count the same cash. An order that ended without it lets the next one take it.
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
