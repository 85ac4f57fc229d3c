/**
 * Check `cash-balance`, pure: compares opening balance and entries of a bank's statement with its
 * closing balance, and the opening with the closing of the statement before it
 * (docs/domain/reconciliation.md#balance-of-a-bank-statement).
 */
import { Result } from "effect"
import type * as Date from "../../../kernel/Date.ts"
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { CashDirection } from "../../../vocabulary/sets.ts"
import { aboutSource, type OfStatement } from "./OfStatement.ts"

export const check = "cash-balance"

/** Entries of one direction and currency. */
interface BookedEntries {
  readonly direction: CashDirection
  readonly currency: string
  readonly amount: Decimal.Decimal
}

export interface StatedBalances {
  /** Currency of the account. */
  readonly currency: string
  /** Signed; null where the statement has none in the account's currency. */
  readonly opening: Decimal.Decimal | null
  readonly closing: Decimal.Decimal | null
  readonly booked: ReadonlyArray<BookedEntries>
}

interface Balance extends OfStatement {
  readonly of: "balance"
  readonly currency: string
  readonly opening: Decimal.Decimal
  /** Credits less debits. */
  readonly booked: Decimal.Decimal
  readonly closing: Decimal.Decimal
}

/** The opening of a statement, beside the closing of the account's statement in force before it. */
export interface Link {
  readonly instrumentId: string
  readonly externalAccountId: string
  readonly externalSourceId: string
  readonly statementId: string
  readonly businessDate: Date.Date
  readonly currency: string
  readonly closing: Decimal.Decimal
  readonly opening: Decimal.Decimal
  /** Business dates of the source's calendar between the two of which no statement came. */
  readonly missing: ReadonlyArray<Date.Date>
  /** Whether the last of the missing dates is overdue; true where none is missing. */
  readonly isOverdue: boolean
}

/** The links of one account and business date, of which there are several where sources share it. */
interface Continuity {
  readonly of: "continuity"
  readonly links: ReadonlyArray<Link>
}

export type Fact = Balance | Continuity

/** Groups links by account and date, each statement once. */
export const linked = (links: ReadonlyArray<Link>): ReadonlyArray<Continuity> => {
  const byStatement = new Map(links.map((link) => [link.statementId, link]))
  const byDate = Map.groupBy(byStatement.values(), subjectIdOf)
  return [...byDate.values()].map((own) => ({ of: "continuity", links: own }))
}

const subjectIdOf = ({ businessDate, externalAccountId }: Link): string =>
  `${externalAccountId}:${businessDate}`

/** Reason why a statement cannot be balanced. */
type Why = "opening-missing" | "closing-missing" | "other-currency"

/** Sums the entries of a statement, where it has both balances and one currency. */
export const balanceOf = (
  { currency, opening, closing, booked }: StatedBalances,
  statement: OfStatement
): Result.Result<Balance, Why> => {
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

/**
 * Returns the differences of a statement of cash: its own balances that do not add up, or an opening that
 * is not the closing before it.
 */
export const differences = (fact: Fact, tolerance: Decimal.Decimal): ReadonlyArray<Difference> =>
  fact.of === "balance"
    ? ofBalance(fact, tolerance)
    : fact.links
        .flatMap((link) => ofLink(link, tolerance))
        .toSorted(worstFirst)
        .slice(0, 1)

/** The statements of a fact that differ: each is compared again until it is corrected. */
export const again = (fact: Fact, tolerance: Decimal.Decimal): ReadonlyArray<string> =>
  (fact.of === "balance"
    ? ofBalance(fact, tolerance)
    : fact.links.flatMap((link) => ofLink(link, tolerance))
  ).flatMap(({ statementId }) => statementId ?? [])

const worstFirst = (a: Difference, b: Difference): number =>
  Number(b.severity === "blocking") - Number(a.severity === "blocking") ||
  Decimal.compare(Decimal.abs(b.unexplained), Decimal.abs(a.unexplained)) ||
  ((a.statementId ?? "") < (b.statementId ?? "") ? -1 : 1)

/**
 * A blocking difference where opening and entries do not come to the closing balance within the
 * tolerance. The subject is the source and the business date; the unit is the currency.
 */
const ofBalance = (balance: Balance, tolerance: Decimal.Decimal): ReadonlyArray<Difference> =>
  compare({
    check,
    severity: "blocking",
    ...aboutSource(balance),
    unit: balance.currency,
    expected: Decimal.add(balance.opening, balance.booked),
    actual: balance.closing,
    tolerance
  })

/**
 * A difference where a statement does not open with the closing before it: blocking, and a warning while
 * a statement between them is missing that is not overdue. The subject is the account and the date.
 */
const ofLink = (link: Link, tolerance: Decimal.Decimal): ReadonlyArray<Difference> =>
  compare({
    check,
    severity: link.isOverdue ? "blocking" : "warning",
    instrumentId: link.instrumentId,
    subject: { resourceKind: "external-account", id: subjectIdOf(link) },
    holderId: null,
    statementId: link.statementId,
    unit: link.currency,
    expected: link.closing,
    actual: link.opening,
    tolerance,
    missingDates: link.missing
  })
