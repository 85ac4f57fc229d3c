/**
 * Pure rules of when a holder's payments count, and when a month or a year is final, for holder and
 * tax statements (docs/domain/reports.md#payments, #final).
 */
import {
  deliveredTimeOf,
  type DistributionLine
} from "../distributions/distribution/DistributionLine.ts"
import type { PolicyVersion } from "../instruments/policy/PolicyVersion.ts"
import * as Date from "../kernel/Date.ts"
import * as Duration from "../kernel/Duration.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Zone from "../kernel/Zone.ts"

/** Days within which evidence of a cash payment counts on the day that it names. */
const evidenceDays = 31

/** Time by the ledger after which no update of an earlier time comes any more. */
const lateUpdates = Duration.seconds(60)

type PaidLine = Pick<
  DistributionLine,
  "lineId" | "evidence" | "deliveredAt" | "paidOn" | "delivery"
>

/**
 * Returns the day on which a payment counts. Units count on the day of the delivery's ledger time in
 * the zone. Cash counts on the day that its evidence names; where the evidence came more than 31 days
 * after that day, names a day before the record date or before `since`, on the day of the delivery,
 * since a month or a year that is final takes no more payments. `since` null: any day; `never`: the holder never had units, and
 * no month of it waits for evidence.
 */
export const countedOn = (
  line: PaidLine,
  { zone, since }: { readonly zone: Zone.Zone; readonly since: Date.Date | "never" | null }
): Date.Date => {
  const delivered = Zone.dateAt(zone, deliveredTimeOf(line))
  const named = line.evidence?.paidOn ?? null
  if (named === null || since === "never") return delivered
  // The line's own day is another one where the evidence names a day before the record date.
  if (line.paidOn !== null && line.paidOn !== named) return delivered
  const isLate = Date.isAfter(delivered, Date.addDays(named, evidenceDays))
  return isLate || (since !== null && Date.isBefore(named, since)) ? delivered : named
}

/** A span of days in a zone: a month or a year. */
export interface Span {
  readonly zone: Zone.Zone
  /** First day after the span. */
  readonly nextDay: Date.Date
}

/** Returns the instant at which the span has taken its last payment, where it can have any in cash. */
export const graceEndOf = ({ zone, nextDay }: Span): Instant.Instant =>
  Zone.startOfDay(zone, Date.addDays(nextDay, evidenceDays))

/** Returns the instant at which a span closes: at its end, or 31 days later where it may have cash. */
export const closesAt = (
  span: Span,
  { mayPayCash }: { readonly mayPayCash: boolean }
): Instant.Instant => (mayPayCash ? graceEndOf(span) : Zone.startOfDay(span.zone, span.nextDay))

/** Checks whether the ledger's time is so far past an instant that nothing before it still comes. */
export const hasPassed = (instant: Instant.Instant, ledgerTime: Instant.Instant | null): boolean =>
  ledgerTime !== null && Instant.atOrAfter(ledgerTime, Instant.add(instant, lateUpdates))

/** Checks whether a policy that began before an instant pays distributions in cash. */
export const paysCash = (
  versions: ReadonlyArray<Pick<PolicyVersion, "effectiveFrom" | "manifest">>,
  before: Instant.Instant
): boolean =>
  versions.some(
    ({ effectiveFrom, manifest: { distribution } }, index) =>
      (index === 0 || Instant.isBefore(effectiveFrom, before)) &&
      distribution.schedule === "monthly" &&
      distribution.payout === "cash"
  )
