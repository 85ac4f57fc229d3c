/** Pure rules of the verdict of an instrument (docs/domain/reconciliation.md#verdict-of-an-instrument). */
import { type Finding, ageDays } from "../../findings/Finding.ts"
import type { NotCompared } from "../../findings/NotCompared.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Verdict } from "../../vocabulary/sets.ts"
import type { ComparisonOutcome } from "../run/RunRules.ts"
import type { InstrumentVerdict } from "./InstrumentVerdict.ts"

/** Sums over the findings of an instrument, after a run. */
export interface Tally {
  readonly open: InstrumentVerdict["open"]
  /** Number of accepted findings that are more than `info`. */
  readonly accepted: number
  /** The instant at which the oldest open finding was first seen. */
  readonly oldest: Instant.Instant | null
}

export const noFindings: Tally = {
  open: { blocking: 0, warning: 0, info: 0 },
  accepted: 0,
  oldest: null
}

/** Adds a finding to the sums; a cleared one counts for nothing. */
export const tallied = (
  self: Tally,
  { state, severity, firstSeenAt }: Pick<Finding, "state" | "severity" | "firstSeenAt">
): Tally => {
  if (state === "cleared") return self
  if (state === "accepted") {
    return severity === "info" ? self : { ...self, accepted: self.accepted + 1 }
  }
  return {
    ...self,
    open: { ...self.open, [severity]: self.open[severity] + 1 },
    oldest: self.oldest === null ? firstSeenAt : Instant.min(self.oldest, firstSeenAt)
  }
}

/** Result of a run for one instrument. */
interface InstrumentResult {
  readonly instrumentId: InstrumentVerdict["instrumentId"]
  readonly runId: string
  readonly pin: InstrumentVerdict["pin"]
  readonly isReached: boolean
  readonly isGrounded: boolean
  /** All findings of the instrument after the run, also of checks that the run did not cover. */
  readonly tally: Tally
  readonly outcomes: ReadonlyArray<Pick<ComparisonOutcome, "check" | "ran">>
  /** Checks that had run before; of those that the run covered its own outcome counts. */
  readonly ranBefore: ReadonlyArray<string>
  /** Input that the checks of the run had and did not compare. */
  readonly notCompared: ReadonlyArray<NotCompared>
  /** The same of runs before, which counts for the checks that the run did not cover. */
  readonly notComparedBefore: ReadonlyArray<NotCompared>
  /** Every check of the release. */
  readonly checks: ReadonlyArray<string>
}

/**
 * Judges an instrument by all its findings and by each check of the release. A check that no run
 * covered yet, or that could not run the latest time, leaves the instrument incomplete.
 */
export const judge = ({
  instrumentId,
  runId,
  pin,
  isReached,
  isGrounded,
  tally,
  outcomes,
  checks,
  ranBefore,
  notCompared,
  notComparedBefore
}: InstrumentResult): InstrumentVerdict => {
  const ran = checks.filter(
    (check) => outcomes.find((outcome) => outcome.check === check)?.ran ?? ranBefore.includes(check)
  )
  return {
    instrumentId,
    runId,
    verdict: verdictOf(tally, { isWhole: ran.length === checks.length }),
    open: tally.open,
    oldestDays: tally.oldest === null ? null : ageDays(tally.oldest, pin.judgedAt),
    pin,
    isReached,
    isGrounded,
    ran,
    notCompared: [
      ...notCompared,
      ...notComparedBefore.filter(
        ({ check }) => !outcomes.some((outcome) => outcome.check === check)
      )
    ]
  }
}

const verdictOf = (
  { open, accepted }: Tally,
  { isWhole }: { readonly isWhole: boolean }
): Verdict => {
  if (open.blocking > 0) return "blocked"
  if (!isWhole) return "incomplete"
  return open.warning + accepted > 0 ? "findings" : "clear"
}
