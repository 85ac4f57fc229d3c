/** Pure rules of an order's times: the cut-off it deals at, and the time by which it must settle. */
import * as Date from "../../kernel/Date.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as TimeOfDay from "../../kernel/TimeOfDay.ts"
import * as Zone from "../../kernel/Zone.ts"

export interface CutOffRule {
  readonly time: TimeOfDay.TimeOfDay
  readonly days: ReadonlyArray<Date.Weekday>
  readonly zone: Zone.Zone
}

/** Days that are searched: a week, and a day on either side for zones whose clock jumps over a midnight. */
const daysSearched = 9

/** Returns the first cut-off strictly after the claim, and its day in the zone of the rule. */
export const nextCutOff = (
  rule: CutOffRule,
  claimedAt: Instant.Instant
): { readonly at: Instant.Instant; readonly date: Date.Date } => {
  let date = Date.previous(Zone.dateAt(rule.zone, claimedAt))
  for (let searched = 0; searched < daysSearched; searched++, date = Date.next(date)) {
    if (!rule.days.includes(Date.weekday(date))) continue
    const at = Zone.instantAt(rule.zone, { date, time: rule.time })
    if (Instant.isAfter(at, claimedAt)) return { at, date }
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
