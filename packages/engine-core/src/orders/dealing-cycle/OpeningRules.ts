/** Pure rules of cut-offs: which a cycle may be opened for, and until when it may settle. */
import type * as Date from "../../kernel/Date.ts"
import * as Duration from "../../kernel/Duration.ts"
import { check, type Objection } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import { type CutOffRule, nextCutOff, settleBy } from "../order/CutOffRules.ts"

export interface Opening {
  readonly cutOff: CutOffRule
  /** The cut-off and the time to settle that the caller names; null: the next one, and the orders' own. */
  readonly cutOffAt: Instant.Instant | null
  readonly settleBy: Instant.Instant | null
  readonly now: Instant.Instant
}

export interface Opened {
  readonly cutOffAt: Instant.Instant
  readonly date: Date.Date
  readonly settleBy: Instant.Instant
}

/**
 * The cut-off and the time to settle of a cycle that is opened now, and one row a check of the two.
 * A cut-off is one of the instrument's own rule, in its named zone: on the day a clock skips it,
 * the instant it skips at, and on the day a clock shows it twice, the first of the two. A cycle
 * settles before its orders run out, which is when the cash that is locked for them goes back. A
 * cut-off that the instrument's rule does not have is refused without further checks.
 */
export const openingOf = (
  opening: Opening
): { readonly opened: Opened | null; readonly rows: ReadonlyArray<Objection> } => {
  const { cutOff, cutOffAt: named, now } = opening
  const ofNamed = named === null ? [] : ofReach(named, now)
  if (ofNamed.some(({ refuses }) => refuses)) return { opened: null, rows: ofNamed }
  const { at, date } = cutOffOf(opening)
  const latest = settleBy(at)
  // The ledger counts microseconds.
  const until = opening.settleBy === null ? latest : Instant.toMicros(opening.settleBy)
  const rows: ReadonlyArray<Objection> = [
    ...ofNamed,
    check("cut-off-of-instrument", named === null || named === at, {
      detail: `The instrument's next cut-off from there is ${Instant.format(at)}.`,
      recovery: `Name a cut-off of the instrument: ${cutOff.zone}, on ${cutOff.days.join(", ")}.`
    }),
    check(
      "settle-by-after-cut-off",
      Instant.isAfter(until, at) && Instant.atOrBefore(until, latest),
      { detail: `The orders of this cut-off run out at ${Instant.format(latest)}.` }
    )
  ]
  return { opened: { cutOffAt: at, date, settleBy: until }, rows }
}

/** How far ahead a cut-off may be named. */
const reach = Duration.days(366)

const ofReach = (named: Instant.Instant, now: Instant.Instant): ReadonlyArray<Objection> => [
  check("cut-off-to-come", Instant.isAfter(named, now)),
  check("cut-off-in-reach", Instant.atOrBefore(named, Instant.add(now, reach)))
]

const nanosecond = 1n

/** The next cut-off after now, or the one at the named instant or after it. */
const cutOffOf = ({ cutOff, cutOffAt, now }: Opening) =>
  nextCutOff(cutOff, cutOffAt === null ? now : Instant.fromNanos(cutOffAt - nanosecond))
