/** Pure rules of the verdict of an instrument (docs/domain/reconciliation.md#verdict-of-an-instrument). */
import { type Finding, ageDays } from "../../findings/Finding.ts"
import type { NotCompared } from "../../findings/NotCompared.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Verdict } from "../../vocabulary/sets.ts"
import { type ComparisonOutcome, isShown } from "../run/RunRules.ts"
import type { InstrumentVerdict } from "./InstrumentVerdict.ts"

/** Sums over findings of an instrument, after a run. */
interface Sums {
  readonly open: InstrumentVerdict["open"]
  /** Number of accepted findings that are more than `info`. */
  readonly accepted: number
  /** The instant at which the oldest open finding was first seen. */
  readonly oldest: Instant.Instant | null
}

/** Sums over all findings of an instrument, and over those of which investors and apps read. */
export interface Tally extends Sums {
  readonly shown: Sums
}

const nothing: Sums = {
  open: { blocking: 0, warning: 0, info: 0 },
  accepted: 0,
  oldest: null
}

export const noFindings: Tally = { ...nothing, shown: nothing }

/** Adds a finding to the sums; a cleared one counts for nothing. */
export const tallied = (
  { shown, ...self }: Tally,
  finding: Pick<Finding, "state" | "severity" | "firstSeenAt" | "check">
): Tally => ({
  ...withFinding(self, finding),
  shown: isShown(finding) ? withFinding(shown, finding) : shown
})

const withFinding = (
  self: Sums,
  { state, severity, firstSeenAt }: Pick<Finding, "state" | "severity" | "firstSeenAt">
): Sums => {
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
  const isWhole = ran.length === checks.length
  const daysOf = ({ oldest }: Sums) => (oldest === null ? null : ageDays(oldest, pin.judgedAt))
  const { open, shown } = tally
  return {
    instrumentId,
    runId,
    verdict: verdictOf(tally, { isWhole }),
    open,
    oldestDays: daysOf(tally),
    // A finding that blocks is shown by its hold, and so by the verdict, and is not counted.
    shown: {
      verdict: open.blocking > 0 ? "blocked" : verdictOf(shown, { isWhole }),
      open: shown.open,
      oldestDays: daysOf(shown)
    },
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
  { open, accepted }: Sums,
  { isWhole }: { readonly isWhole: boolean }
): Verdict => {
  if (open.blocking > 0) return "blocked"
  if (!isWhole) return "incomplete"
  return open.warning + accepted > 0 ? "findings" : "clear"
}
