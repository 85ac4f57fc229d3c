/** Pure rules of screenings: requested, answered, stale. */
import type * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { ScreeningFinding } from "../../ports/ScreeningSource.ts"
import type { Screening } from "../holder/HolderDetails.ts"
import { ScreeningMachine } from "./Screening.ts"

const unscreened: Screening = {
  state: ScreeningMachine.initial,
  screenedAt: null,
  listVersion: null,
  validUntil: null
}

/** The stored screening; `unscreened` for a holder that has none. */
export const startOf = (before: Screening | null): Screening => before ?? unscreened

/** The screening after its request is sent; undefined where its state allows no request. */
export const afterRequest = (before: Screening | null): Screening | undefined => {
  const self = startOf(before)
  return Machine.allows(ScreeningMachine, self.state, "ask")
    ? { ...self, state: Machine.follow(ScreeningMachine, self.state, "ask"), validUntil: null }
    : undefined
}

/** The stale screening, by the clock or by a newer list; undefined where it is not clear. */
export const aged = (self: Screening): Screening | undefined =>
  Machine.allows(ScreeningMachine, self.state, "age")
    ? { ...self, state: Machine.follow(ScreeningMachine, self.state, "age") }
    : undefined

const triggers = { none: "clear", possible: "doubt", confirmed: "confirm" } as const

/**
 * The screening after an answer of the source; undefined where the answer changes nothing, such as a
 * possible hit that is repeated before people have judged it. A clear screening is valid for the
 * shortest duration of `rescreenAfter`, and no longer than its source says.
 */
export const answered = (
  self: Screening,
  { found, screenedAt, listVersion, validUntil }: ScreeningFinding,
  rescreenAfter: ReadonlyArray<Duration.Duration>
): Screening | undefined => {
  const on = triggers[found]
  if (!Machine.allows(ScreeningMachine, self.state, on)) return undefined
  const state = Machine.follow(ScreeningMachine, self.state, on)
  const ends = rescreenAfter.map((age) => Instant.add(screenedAt, age))
  if (validUntil !== null) ends.push(validUntil)
  return {
    state,
    screenedAt,
    listVersion,
    validUntil: state === "clear" ? (ends.toSorted(Instant.compare)[0] ?? null) : null
  }
}

/** Instant before which a screening is too old; undefined where no age is set. */
export const tooOldBefore = (
  now: Instant.Instant,
  rescreenAfter: ReadonlyArray<Duration.Duration>
): Instant.Instant | undefined =>
  rescreenAfter
    .map((age) => Instant.subtract(now, age))
    .toSorted(Instant.compare)
    .at(-1)
