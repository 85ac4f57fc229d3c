/** Pure rules of an order's times: the cut-off it deals at, and the time by which it must settle. */
import * as Date from "../../kernel/Date.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as TimeOfDay from "../../kernel/TimeOfDay.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { Weekday } from "../../vocabulary/sets.ts"

export interface CutOffRule {
  readonly time: TimeOfDay.TimeOfDay
  readonly days: ReadonlyArray<Weekday>
  readonly zone: Zone.Zone
}

/** A cut-off, and its day in the zone of the rule. */
export interface CutOff {
  readonly at: Instant.Instant
  readonly date: Date.Date
}

/** Days that are searched: a week, and a day on either side for zones whose clock jumps over a midnight. */
const daysSearched = 9

/** Returns the first cut-off strictly after the claim, and its day in the zone of the rule. */
export const nextCutOff = (rule: CutOffRule, claimedAt: Instant.Instant): CutOff => {
  let date = Date.previous(Zone.dateAt(rule.zone, claimedAt))
  for (let searched = 0; searched < daysSearched; searched++, date = Date.next(date)) {
    if (!rule.days.includes(Date.weekday(date))) continue
    const at = Zone.instantAt(rule.zone, { date, time: rule.time })
    if (Instant.isAfter(at, claimedAt)) return { at, date }
  }
  throw new Error("a cut-off names at least one day of the week")
}

/** Returns the last cut-off at or before an instant, and its day in the zone of the rule. */
const lastCutOff = (rule: CutOffRule, by: Instant.Instant): CutOff => {
  let date = Date.next(Zone.dateAt(rule.zone, by))
  for (let searched = 0; searched < daysSearched; searched++, date = Date.previous(date)) {
    if (!rule.days.includes(Date.weekday(date))) continue
    const at = Zone.instantAt(rule.zone, { date, time: rule.time })
    if (Instant.atOrBefore(at, by)) return { at, date }
  }
  throw new Error("a cut-off names at least one day of the week")
}

/** Time from the cut-off in which a ledger-paid order must settle. */
const settleWithin = Duration.days(5)

/**
 * Returns the instant by which a ledger-paid order must settle. Allocated cash is locked on the ledger,
 * so the lock has an end. A wire-paid order locks nothing and has no such time: only the venue
 * releases it.
 */
export const settleBy = (cutOffAt: Instant.Instant): Instant.Instant =>
  Instant.add(cutOffAt, settleWithin)

/**
 * Facts of a snapshot from which the cut-off of an order follows; null: the snapshot does not have
 * it.
 */
export interface CutOffShown {
  /** Cut-off that its claim names, or that of its dealing cycle. */
  readonly named: Instant.Instant | null
  /** The venue's request for its cash: committed with its claim, and with a deadline by its cut-off. */
  readonly request: {
    readonly claimedAt: Instant.Instant
    readonly settleBefore: Instant.Instant
  } | null
  /** Valuation of the point that priced it forward from its cut-off. */
  readonly valuedAt: Instant.Instant | null
  /** Creation of its contract. */
  readonly createdAt: Instant.Instant
}

/**
 * Returns the cut-off of an order that a snapshot shows: the one that the ledger names, else the last one
 * by the valuation that priced it, else the next one after the creation of its contract. The last two
 * may be later than its own and are never earlier, so that no order expires too soon.
 */
export const shownCutOff = (
  rule: CutOffRule,
  { createdAt, named, request, valuedAt }: CutOffShown
): CutOff => {
  const at =
    named ?? (request === null ? null : Instant.subtract(request.settleBefore, settleWithin))
  // The cut-off that the request was planned for passed before the ledger committed the claim.
  if (
    named === null &&
    request !== null &&
    at !== null &&
    !Instant.isAfter(at, request.claimedAt)
  ) {
    return nextCutOff(rule, request.claimedAt)
  }
  if (at !== null) return { at, date: Zone.dateAt(rule.zone, at) }
  return valuedAt === null ? nextCutOff(rule, createdAt) : lastCutOff(rule, valuedAt)
}
