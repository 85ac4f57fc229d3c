/** Pure rules of the NAV feed: due business date, grace time, guardrail. */
import * as Date from "../../kernel/Date.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Rational from "../../kernel/Rational.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { CutOffTerms, Guardrail, Manifest } from "../instrument/Manifest.ts"
import type { FeedSubject } from "./NavFeed.ts"

/**
 * Judges the move of a NAV against the latest accepted price: (next − last)/last within [−down,
 * +up], exactly and with both ends inside (docs/domain/instruments.md#nav-guardrail). A first
 * price, and any price without a guardrail, is inside.
 */
export const moveOf = ({
  last,
  next,
  guardrail
}: {
  readonly last: Decimal.Decimal | null
  readonly next: Decimal.Decimal
  readonly guardrail: Guardrail | null
}): "inside" | "outside" => {
  if (last === null || guardrail === null) return "inside"
  const from = Rational.of(last)
  // Multiplies instead of dividing, so that a latest price of zero needs no rule of its own.
  const moved = Rational.subtract(Rational.of(next), from)
  const most = Rational.multiply(from, Rational.of(guardrail.up))
  const least = Rational.negate(Rational.multiply(from, Rational.of(guardrail.down)))
  return Rational.atMost(moved, most) && Rational.atLeast(moved, least) ? "inside" : "outside"
}

/** Days searched: a week, and a day on either side for zones whose clock skips a midnight. */
const daysLookedAt = 9

/** Latest cut-off at or before an instant, and its business date in the cut-off's zone. */
const lastCutOff = (
  { days, time, zone }: CutOffTerms,
  instant: Instant.Instant
): { readonly at: Instant.Instant; readonly date: Date.Date } => {
  let date = Date.next(Zone.dateAt(zone, instant))
  for (let looked = 0; looked < daysLookedAt; looked++, date = Date.previous(date)) {
    if (!days.includes(Date.weekday(date))) continue
    const at = Zone.instantAt(zone, { date, time })
    if (Instant.atOrBefore(at, instant)) return { at, date }
  }
  throw new Error("a cut-off names at least one day of the week")
}

/** Members of the administrator's latest statement that decide the feed's state. */
export interface LatestStatement {
  readonly businessDate: Date.Date
  /** Official NAV; null where the ripcord withholds it. */
  readonly official: Decimal.Decimal | null
  readonly ripcord: boolean
  readonly expiresAt: Instant.Instant
  /** Price of the latest point accepted before the statement; null for a first statement. */
  readonly accepted: Decimal.Decimal | null
}

/**
 * Input of `NavFeed` about a mapped feed; null without one. The due statement is that of the latest
 * business date whose cut-off and grace time have both passed; during the grace time of a date the
 * statement of the date before it is due.
 */
export const feedOf = ({
  latest,
  now,
  terms
}: {
  readonly terms: Pick<Manifest, "navFeed" | "cutOff" | "navGuardrail">
  readonly latest: LatestStatement | null
  readonly now: Instant.Instant
}): FeedSubject["feed"] => {
  const { cutOff, navFeed, navGuardrail: guardrail } = terms
  if (navFeed === null) return null
  const grace = navFeed.grace ?? Duration.zero
  const due = lastCutOff(cutOff, Instant.subtract(now, grace))
  const isReceived = latest !== null && !Date.isBefore(latest.businessDate, due.date)
  return {
    businessDate: isReceived ? "received" : { missingFrom: Instant.add(due.at, grace) },
    latest:
      latest === null
        ? null
        : {
            ripcord: latest.ripcord,
            expiresAt: latest.expiresAt,
            move:
              latest.official === null
                ? "inside"
                : moveOf({ last: latest.accepted, next: latest.official, guardrail })
          }
  }
}
