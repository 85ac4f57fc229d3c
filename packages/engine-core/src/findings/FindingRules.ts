/** Pure rules of findings: identity, age, and whether a finding is the same as an earlier one. */
import * as Decimal from "../kernel/Decimal.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Fact, Finding, Seen } from "./Finding.ts"

/** Identity of a finding across runs. */
export type Same = Pick<Finding, "check" | "subject" | "instrumentId">

/**
 * The finding's identity as one text: the same check of the same subject and instrument is the same
 * finding, whatever the figures (docs/domain/reconciliation.md#identity-of-a-finding). No two
 * identities share a text.
 */
export const identityOf = ({ check, subject, instrumentId }: Same): string =>
  JSON.stringify([check, subject.resourceKind, subject.id, instrumentId])

/** The id it goes by in every run; `sha256` gives lower-case hex. */
export const idTextOf = (of: Same, sha256: (text: string) => string): string =>
  `fnd_${sha256(identityOf(of)).slice(0, 32)}`

const hours = 24n
const NANOS_PER_HOUR = 3_600_000_000_000n

/** Whole days of 24 hours from the run that first saw it to a later one; none before the first. */
export const ageDays = (first: Instant.Instant, seenAt: Instant.Instant): number =>
  Instant.isBefore(seenAt, first) ? 0 : Number((seenAt - first) / (hours * NANOS_PER_HOUR))

/**
 * Whether what is unexplained now is more than what was accepted. Accepted is an amount with its
 * sign, and with it everything between it and nothing: a shortage of 100 that was accepted covers one
 * of 60, not one of 101, and no surplus at all.
 */
export const grew = (accepted: Decimal.Decimal, now: Decimal.Decimal): boolean =>
  Decimal.isNegative(accepted)
    ? Decimal.lessThan(now, accepted) || Decimal.isPositive(now)
    : Decimal.greaterThan(now, accepted) || Decimal.isNegative(now)

/**
 * The fact that a later run found it again. One that was cleared is open again, under its id and with
 * the age of its first day; so is an accepted one whose unexplained amount grew. What was accepted
 * and did not grow stays accepted: it is listed and stops nothing.
 */
export const foundAgain = (
  self: Pick<Finding, "state" | "accepted">,
  seen: Seen
): Extract<Fact, { on: "see" | "reopen" }> => {
  const again =
    self.state === "cleared" ||
    (self.accepted !== null && grew(self.accepted.unexplained, seen.unexplained))
  return { on: again ? "reopen" : "see", seen }
}

/** Whether it stops its instrument: open, and blocking by what is unexplained of it. */
export const blocks = ({ state, severity }: Pick<Finding, "state" | "severity">): boolean =>
  state === "open" && severity === "blocking"
