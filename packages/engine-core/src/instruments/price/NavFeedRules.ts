/** Pure rules of the NAV feed: calendar, grace, guardrail. */
import * as Date from "../../kernel/Date.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Rational from "../../kernel/Rational.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { CutOff, Guardrail, Manifest } from "../instrument/Manifest.ts"
import type { Subject } from "./NavFeed.ts"

/**
 * Where the move of a NAV against the last accepted price lies: (new − last)/last against [−down,
 * +up], exactly; on either edge it is inside (docs/domain/instruments.md#nav-guardrail). A first
 * price has no move, and without a guardrail none deviates.
 */
export const moveOf = (of: {
  readonly last: Decimal.Decimal | null
  readonly next: Decimal.Decimal
  readonly guardrail: Guardrail | null
}): "inside" | "outside" => {
  const { last, next, guardrail } = of
  if (last === null || guardrail === null) return "inside"
  const from = Rational.of(last)
  // Without a division, so that a price of zero, from which every move is boundless, needs no rule.
  const moved = Rational.subtract(Rational.of(next), from)
  const most = Rational.multiply(from, Rational.of(guardrail.up))
  const least = Rational.negate(Rational.multiply(from, Rational.of(guardrail.down)))
  return Rational.atMost(moved, most) && Rational.atLeast(moved, least) ? "inside" : "outside"
}

/** A week, and a day on either side for zones whose clock jumps over a midnight. */
const daysLookedAt = 9

/** The last cut-off at or before an instant, and the business day it ends in its zone. */
export const lastCutOff = (
  { days, time, zone }: CutOff,
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

/** Members of the administrator's latest statement that the feed is judged by. */
export interface Stated {
  readonly businessDate: Date.Date
  /** Null where a pulled ripcord withholds it. */
  readonly official: Decimal.Decimal | null
  readonly ripcord: boolean
  readonly expiresAt: Instant.Instant
  /** The price of the last point that was accepted before it; null: it is the first. */
  readonly accepted: Decimal.Decimal | null
}

/**
 * The feed as `NavFeed` judges it. The business date whose statement must be here is the last one
 * whose cut-off and grace have both passed: that of today while its grace still runs is not missed
 * yet, and the one before it is missed for good if it never came.
 */
export const feedOf = (of: {
  readonly terms: Pick<Manifest, "navFeed" | "cutOff" | "navGuardrail">
  readonly latest: Stated | null
  readonly now: Instant.Instant
}): Subject["feed"] => {
  const { latest, now, terms } = of
  const { cutOff, navFeed, navGuardrail: guardrail } = terms
  if (navFeed === null) return null
  const grace = navFeed.grace ?? Duration.zero
  const due = lastCutOff(cutOff, Instant.subtract(now, grace))
  const isHere = latest !== null && !Date.isBefore(latest.businessDate, due.date)
  return {
    businessDate: isHere ? "received" : { missingFrom: Instant.add(due.at, grace) },
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
