/** Checks of reconciliation that compare the cash of bank statements with orders, and with itself. */
import { Effect, Result, Stream } from "effect"
import { compare, type PlainDifference } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as PolicyTerms from "../../instruments/policy/PolicyTerms.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { ownerOf } from "../../statements/external-statement/ExternalStatement.ts"
import * as LineRows from "../../statements/external-statement/LineRows.ts"
import type { CashDirection } from "../../vocabulary/sets.ts"
import * as Rules from "../run/RunRules.ts"
import * as Continuity from "./CashContinuityLookups.ts"
import * as CashUnmatched from "./CashUnmatchedLookups.ts"
import * as Check from "./Check.ts"
import { aboutSource, type OfStatement } from "./OfStatement.ts"
import * as SettledCash from "./SettledCashLookups.ts"
import * as Statements from "./StatementCheckLookups.ts"
import * as InForce from "./StatementsInForceLookups.ts"
import type { UnmatchedLines } from "./UnmatchedSums.ts"

/** The tolerance is the allowance for charges of banks. */
export const cashSettlement = Check.define("cash-settlement", {
  doc: "Finds delivered orders that no bank lines pay, and orders of which a correction or a reversal of the bank took cash back.",
  rule: "cash-of-orders",
  needs: "An order paid by wire that is delivered, or of which cash was taken back.",
  cannot: {},
  severity:
    "blocking past the grace time since the delivery, and where a correction took the cash back, else a warning",
  judgesAll: true,
  facts: SettledCash.settled,
  differences: (order: SettledCash.SettledOrder, tolerance, timing) =>
    compare({
      instrumentId: order.instrumentId,
      subject: { resourceKind: order.kind, id: order.orderId },
      holderId: order.holderId,
      severity: order.isLost || Check.isOverdue(order.since, timing) ? "blocking" : "warning",
      unit: order.currency,
      expected: order.due,
      actual: order.paidAmount,
      tolerance,
      entry: order.entry,
      statementId: order.entry?.externalStatementId ?? null
    })
})

/**
 * Compares the lines of a reference with what orders took of them: a payment and its return under one
 * reference come to nothing. Of statements that contradict each other about the reference, the first
 * one's sum is expected, the other's is actual.
 */
export const cashUnmatched = Check.define("cash-unmatched", {
  doc: "Finds what orders have not taken of booked bank lines.",
  rule: "bank-lines-without-an-order",
  needs: "A booked line of a statement of cash in force that no order took whole.",
  cannot: {},
  severity: "a warning; blocking where statements contradict each other about the reference",
  judgesAll: true,
  facts: CashUnmatched.unmatched,
  differences: ({ instrumentId, contradiction, ...lines }: UnmatchedLines, tolerance) =>
    compare({
      instrumentId,
      subject: { resourceKind: "external-account", id: lines.subjectId },
      holderId: null,
      severity: contradiction === null ? "warning" : "blocking",
      unit: lines.currency,
      // What people accepted as cash of no order is no acceptance of statements that contradict each other.
      figure: contradiction === null ? "untaken" : "contradiction",
      expected: contradiction?.stated ?? lines.takenAmount,
      actual: contradiction?.otherwise ?? lines.booked,
      tolerance,
      statementId: lines.statementId
    })
})

/** Balances of a statement and the sum of its entries. */
interface StatementBalance extends OfStatement {
  readonly of: "balance"
  readonly currency: string
  readonly opening: Decimal.Decimal
  /** Credits less debits. */
  readonly booked: Decimal.Decimal
  readonly closing: Decimal.Decimal
}

/** The links of one account and business date, of which there are several where sources share it. */
interface BalanceContinuity {
  readonly of: "continuity"
  readonly links: ReadonlyArray<Continuity.BalanceLink>
}

type BalanceFact = StatementBalance | BalanceContinuity

/**
 * The subject of a statement's own balances is its source and date; that of an opening that is not the
 * closing before it is the account and the date, and of several links the worst comes first.
 */
export const cashBalance = Check.define("cash-balance", {
  doc: "Compares opening balance and entries of a bank's statement with its closing balance, and the opening with the closing before it.",
  rule: "balance-of-a-bank-statement",
  needs: "A statement of cash in force.",
  cannot: {
    ...InForce.ownReasons,
    ...InForce.lineReasons,
    "balances-none": "the source is configured to state no balances",
    "other-currency": "an entry is in another currency than the account",
    "opening-missing": "the statement has no opening balance in the currency of the account",
    "closing-missing": "the statement has no closing balance in the currency of the account"
  },
  severity:
    "blocking; a warning while a statement is missing between the two whose balances are compared, and is not overdue",
  isDated: true,
  facts: (instrument, at, terms) => Stream.unwrap(balances(instrument, at, terms)),
  comparedAt: (fact: BalanceFact) => (fact.of === "balance" ? fact.comparedAt : null),
  differences: (fact: BalanceFact, tolerance) =>
    fact.of === "balance"
      ? ofBalance(fact, tolerance)
      : fact.links.flatMap((link) => ofLink(link, tolerance)).toSorted(worstFirst),
  // Each statement that differs, until it is corrected.
  again: (fact: BalanceFact, tolerance) =>
    (fact.of === "balance"
      ? ofBalance(fact, tolerance)
      : fact.links.flatMap((link) => ofLink(link, tolerance))
    ).flatMap(({ statementId }) => statementId ?? [])
})

type BalanceDifference = PlainDifference<"info" | "warning" | "blocking">

const worstFirst = (a: BalanceDifference, b: BalanceDifference): number =>
  Number(b.severity === "blocking") - Number(a.severity === "blocking") ||
  Decimal.compare(Decimal.abs(b.unexplained), Decimal.abs(a.unexplained)) ||
  ((a.statementId ?? "") < (b.statementId ?? "") ? -1 : 1)

/** Opening and entries that do not come to the closing balance block. */
const ofBalance = (balance: StatementBalance, tolerance: Decimal.Decimal) =>
  compare({
    severity: "blocking",
    ...aboutSource(balance),
    unit: balance.currency,
    expected: Decimal.add(balance.opening, balance.booked),
    actual: balance.closing,
    tolerance
  })

const ofLink = (link: Continuity.BalanceLink, tolerance: Decimal.Decimal) =>
  compare({
    severity: link.isOverdue ? "blocking" : "warning",
    instrumentId: link.instrumentId,
    subject: { resourceKind: "external-account", id: accountDateOf(link) },
    holderId: null,
    statementId: link.statementId,
    unit: link.currency,
    expected: link.closing,
    actual: link.opening,
    tolerance,
    missingDates: link.missing
  })

const accountDateOf = ({ businessDate, externalAccountId }: Continuity.BalanceLink): string =>
  `${externalAccountId}:${businessDate}`

/**
 * Loads the balances of statements of cash, and once all are read the closing balances before them
 * beside their openings.
 */
const balances = Effect.fnUntraced(function* (
  instrument: Instrument,
  at: Check.Point,
  { now }: Pick<Check.CheckTerms, "now">
) {
  const continuity = yield* Continuity.make(instrument, at)
  const sources = yield* InForce.sourcesToCompare(instrument, at, {
    check: "cash-balance",
    kinds: ["cash"]
  })
  const stating = sources.map((each) =>
    each.source.balances === "none" ? InForce.withoutStatements(each, "balances-none") : each
  )
  const overdue = { ...graceOf(instrument), now }
  const links: Array<Continuity.BalanceLink> = []
  const own = Stream.fromIterable(InForce.statementsOf(stating)).pipe(
    Stream.mapEffect((element) =>
      continuity.around(element, overdue).pipe(
        Effect.tap((around) => Effect.sync(() => void links.push(...around))),
        Effect.andThen(InForce.orUnreadable(balanceOf(element, at), element))
      )
    ),
    Stream.flattenIterable
  )
  const notes = Stream.fromIterable(InForce.notesOf(stating))
  const byDate = Stream.suspend(() => Stream.fromIterable(linked(links)))
  return Stream.concat(Stream.concat(notes, own), byDate)
})

/** Grace time of overdue statements that the policy names; null: each source has its own. */
const graceOf = ({ manifest }: Instrument) => ({
  grace: Rules.termsOf("statement-overdue", manifest ?? PolicyTerms.defaults).grace
})

/** Loads the balances of a statement of cash and the sums of its entries. */
const balanceOf = Effect.fnUntraced(function* (element: InForce.SourceStatement, at: Check.Point) {
  const { statement } = element
  yield* Statements.countOfLines(statement)
  const bulk = yield* Bulk
  const comparedAt = yield* Statements.ownMomentOf(element, at)
  const sums = yield* orUnavailable(bulk.sum(ownerOf(statement)))
  const booked = sums.map((sum) => ({
    ...LineRows.ofCashGroup(sum.group),
    amount: Statements.quantityOf(sum)
  }))
  const balance = balanced({ ...statement, booked }, Statements.ofStatement(element, comparedAt))
  if (Result.isFailure(balance)) return yield* new Check.CheckNotRun({ why: balance.failure })
  return [balance.success]
})

/** Balances as a statement states them. */
export interface StatedBalances {
  /** Currency of the account. */
  readonly currency: string
  /** Signed; null where the statement has none in the account's currency. */
  readonly opening: Decimal.Decimal | null
  readonly closing: Decimal.Decimal | null
  readonly booked: ReadonlyArray<{
    readonly direction: CashDirection
    readonly currency: string
    readonly amount: Decimal.Decimal
  }>
}

/** Sums the entries of a statement, where it has both balances and one currency. */
export const balanced = (
  { currency, opening, closing, booked }: StatedBalances,
  statement: OfStatement
): Result.Result<StatementBalance, "opening-missing" | "closing-missing" | "other-currency"> => {
  if (booked.some((entries) => entries.currency !== currency)) return Result.fail("other-currency")
  if (opening === null) return Result.fail("opening-missing")
  if (closing === null) return Result.fail("closing-missing")
  const signed = booked.map(({ direction, amount }) =>
    direction === "credit" ? amount : Decimal.negate(amount)
  )
  return Result.succeed({
    ...statement,
    of: "balance",
    currency,
    opening,
    booked: Decimal.sum(signed),
    closing
  })
}

/** Groups links by account and date, each statement once. */
export const linked = (
  links: ReadonlyArray<Continuity.BalanceLink>
): ReadonlyArray<BalanceContinuity> => {
  const byStatement = new Map(links.map((link) => [link.statementId, link]))
  const byDate = Map.groupBy(byStatement.values(), accountDateOf)
  return [...byDate.values()].map((own) => ({ of: "continuity", links: own }))
}
