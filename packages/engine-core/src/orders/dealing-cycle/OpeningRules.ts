/** Pure rules of opening a dealing cycle: its cut-off, and the time by which it must settle. */
import type * as Date from "../../kernel/Date.ts"
import * as Duration from "../../kernel/Duration.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import { type CutOffRule, nextCutOff, settleBy } from "../order/CutOffRules.ts"

interface OpeningInput {
  readonly cutOff: CutOffRule
  /** The cut-off that the caller names; null: the next one. */
  readonly cutOffAt: Instant.Instant | null
  /** The time to settle that the caller names; null: that of the orders. */
  readonly settleBy: Instant.Instant | null
  readonly now: Instant.Instant
}

interface OpeningTimes {
  readonly cutOffAt: Instant.Instant
  readonly date: Date.Date
  readonly settleBy: Instant.Instant
}

/**
 * Computes the cut-off and the time to settle of a cycle that is opened now, and checks both. The cut-off
 * must be one of the instrument's cut-off rule, in the zone of that rule: on a day when the clock skips
 * the time of day, the instant of the skip; on a day when the clock shows it twice, the first of the
 * two. The time to settle must not be after the orders' own, at which their locked cash is released. A
 * cut-off that is past or too far ahead is refused before any other condition is judged.
 */
export const openingOf = (
  opening: OpeningInput
): { readonly opened: OpeningTimes | null; readonly rows: ReadonlyArray<Judgement> } => {
  const { cutOff, cutOffAt: named, now } = opening
  const ofNamed = named === null ? [] : ofReach(named, now)
  if (ofNamed.some(({ refuses }) => refuses)) return { opened: null, rows: ofNamed }
  const { at, date } = cutOffOf(opening)
  const latest = settleBy(at)
  // Instants on the ledger have microseconds.
  const until = opening.settleBy === null ? latest : Instant.toMicros(opening.settleBy)
  const rows: ReadonlyArray<Judgement> = [
    ...ofNamed,
    condition("cut-off-of-instrument", named === null || named === at, {
      detail: `The instrument's next cut-off from there is ${Instant.format(at)}.`,
      recovery: `Name a cut-off of the instrument: ${cutOff.zone}, on ${cutOff.days.join(", ")}.`
    }),
    condition(
      "settle-by-after-cut-off",
      Instant.isAfter(until, at) && Instant.atOrBefore(until, latest),
      { detail: `The orders of this cut-off run out at ${Instant.format(latest)}.` }
    )
  ]
  return { opened: { cutOffAt: at, date, settleBy: until }, rows }
}

/** Greatest distance of a named cut-off from now. */
const reach = Duration.days(366)

const ofReach = (named: Instant.Instant, now: Instant.Instant): ReadonlyArray<Judgement> => [
  condition("cut-off-to-come", Instant.isAfter(named, now)),
  condition("cut-off-in-reach", Instant.atOrBefore(named, Instant.add(now, reach)))
]

const nanosecond = 1n

/** Returns the next cut-off after now, or the first at or after the named instant. */
const cutOffOf = ({ cutOff, cutOffAt, now }: OpeningInput) =>
  nextCutOff(cutOff, cutOffAt === null ? now : Instant.fromNanos(cutOffAt - nanosecond))
