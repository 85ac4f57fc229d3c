/** Pure rules of findings: identity over runs, and the differences that an acceptance covers. */
import * as Decimal from "../kernel/Decimal.ts"
import type { FindingSeverity } from "../vocabulary/sets.ts"
import { explain, type Items, noItems } from "./Explained.ts"
import type { AcceptedFigure, Fact, Finding, FindingIdentity, Moment, Sighting } from "./Finding.ts"

/** Identity of a finding across runs. */
export type FindingKey = Pick<Finding, "check" | "subject" | "instrumentId">

/**
 * Key of a finding's identity: the same check of the same subject and instrument is the same
 * finding, whatever its figures (docs/domain/reconciliation.md#identity-of-a-finding). No two
 * identities have the same key.
 */
export const identityOf = ({ check, subject, instrumentId }: FindingKey): string =>
  JSON.stringify([check, subject.resourceKind, subject.id, instrumentId])

/** Id of the finding, the same in every run; `sha256` must answer lower-case hex. */
export const idTextOf = (finding: FindingKey, sha256: (text: string) => string): string =>
  `fnd_${sha256(identityOf(finding)).slice(0, 32)}`

/**
 * Checks whether the unexplained amount has grown beyond the accepted one. An acceptance covers every
 * amount between the accepted one and zero: an accepted shortage of 100 covers one of 60, not one
 * of 101, and no surplus.
 */
const grew = (accepted: Decimal.Decimal, now: Decimal.Decimal): boolean =>
  Decimal.isNegative(accepted)
    ? Decimal.lessThan(now, accepted) || Decimal.isPositive(now)
    : Decimal.greaterThan(now, accepted) || Decimal.isNegative(now)

/**
 * Members of a finding by which its acceptance is judged, with the unit and the difference that it had
 * when people accepted it (AcceptedLookups).
 */
export type AcceptedFigures = Pick<
  Finding,
  "accepted" | "unit" | "figure" | "difference" | "acceptedFigures"
>

type MeasuredFigure = Pick<Sighting, "unit" | "figure" | "difference" | "unexplained">

/**
 * Checks whether the figure that differs is the accepted one. Of an acceptance before figures were named
 * nobody knows which it was for: it covers the very amount that was accepted.
 */
const isOfFigure = (
  { difference, figure, unexplained }: AcceptedFigure,
  now: MeasuredFigure
): boolean => {
  if (figure === (now.figure ?? null)) return true
  if (figure !== null || difference === null) return false
  return now.difference !== null && Decimal.equals(unexplained, now.unexplained)
}

/** Checks whether an accepted figure covers a difference: with amounts within it, or both without. */
const covers = (accepted: AcceptedFigure, now: MeasuredFigure): boolean => {
  if (accepted.unit !== now.unit || !isOfFigure(accepted, now)) return false
  if (accepted.difference !== null && now.difference !== null) {
    return !grew(accepted.unexplained, now.unexplained)
  }
  // Releases before compared amounts alone: a finding of theirs may have lost its accepted amounts.
  const isUnmeasured = accepted.difference === null && Decimal.isZero(accepted.unexplained)
  return isUnmeasured && now.difference === null
}

/**
 * Checks whether people accepted a difference that a run finds: of a figure and the unit that they
 * accepted, and either with amounts within the accepted one, or without amounts like what they accepted
 * (docs/domain/reconciliation.md#acceptance).
 */
export const isAccepted = (
  { accepted, acceptedFigures = [], difference, figure = null, unit }: AcceptedFigures,
  now: MeasuredFigure
): boolean =>
  (accepted !== null &&
    covers({ figure, unit, difference, unexplained: accepted.unexplained }, now)) ||
  acceptedFigures.some((each) => covers(each, now))

/**
 * The fact of a later run that finds a known finding. A cleared one is reopened, with its id and
 * its age since the first run; so is an accepted one whose difference is not the accepted one. Another
 * accepted finding stays accepted: it is listed and blocks nothing.
 */
export const foundAgain = (
  self: Pick<Finding, "state"> & AcceptedFigures,
  sighting: Sighting
): Extract<Fact, { on: "see" | "reopen" }> => {
  const isReopened =
    self.state === "cleared" || (self.accepted !== null && !isAccepted(self, sighting))
  return { on: isReopened ? "reopen" : "see", seen: sighting }
}

/**
 * Chooses one difference of each identity, since a finding shows one at a time: the first that no
 * acceptance covers, else the first. `accepted` has what people accepted, by identity.
 */
export const oneOfEach = (
  differences: ReadonlyArray<Difference>,
  accepted: ReadonlyMap<string, AcceptedFigures>
): ReadonlyArray<Difference> => {
  const chosen = new Map<string, Difference>()
  for (const difference of differences) {
    const identity = identityOf(difference)
    const earlier = chosen.get(identity)
    const figures = accepted.get(identity)
    const isCovered = (one: Difference): boolean =>
      figures !== undefined && isAccepted(figures, one)
    if (earlier === undefined || (isCovered(earlier) && !isCovered(difference))) {
      chosen.set(identity, difference)
    }
  }
  return [...chosen.values()]
}

/** A difference that a check found; the run that finds it adds id, pin and its own id. */
export type Difference = Omit<FindingIdentity, "findingId"> & Omit<Sighting, "runId" | "asOf">

/** A difference as a check returns it: the check's declaration adds its name. */
export type PlainDifference<S extends FindingSeverity = FindingSeverity> = Omit<
  Difference,
  "check" | "severity"
> & { readonly severity: S }

/** Two amounts that a check compares. */
type Comparison<S extends FindingSeverity = FindingSeverity> = Omit<
  PlainDifference<S>,
  | "expected"
  | "actual"
  | "difference"
  | "explained"
  | "unexplained"
  | "statementId"
  | "comparedAt"
  | "missingDates"
  | "entry"
  | "figure"
> & {
  readonly expected: Decimal.Decimal
  readonly actual: Decimal.Decimal
  /** Items in flight that may explain the difference; absent: there are none. */
  readonly items?: Items
  /** Absent: the figures are those of the run's pin. */
  readonly comparedAt?: Moment | null
  readonly statementId?: string | null
  /** Absent: no statement is missing that may explain the difference. */
  readonly missingDates?: Difference["missingDates"]
  /** Absent: the check compares one figure of the unit. */
  readonly figure?: string
  /** Absent: the difference is of no single bank line. */
  readonly entry?: Difference["entry"]
}

/**
 * Compares two amounts: returns their difference, actual less expected, with what items explain of
 * it, or none where both the difference and its rest are within the tolerance, the edge included.
 * The severity is the one given, and `info` where items explain the whole difference.
 */
export const compare = <S extends FindingSeverity>({
  items = noItems,
  comparedAt = null,
  statementId = null,
  missingDates = [],
  entry = null,
  figure,
  ...comparison
}: Comparison<S>): ReadonlyArray<PlainDifference<S | "info">> => {
  const difference = Decimal.subtract(comparison.actual, comparison.expected)
  const isWithin = (amount: Decimal.Decimal): boolean =>
    Decimal.atMost(Decimal.abs(amount), comparison.tolerance)
  const { explained, unexplained } = explain(difference, {
    ...items,
    tolerance: comparison.tolerance
  })
  if (isWithin(difference) && isWithin(unexplained)) return []
  const severity = isWithin(unexplained) ? "info" : comparison.severity
  const moments = { comparedAt, statementId, missingDates, entry, figure: figure ?? null }
  return [{ ...comparison, severity, difference, explained, unexplained, ...moments }]
}

/** A difference of two things that are no amounts, such as a hash; nothing explains it. */
export const withoutAmounts = <S extends FindingSeverity>(
  difference: Omit<PlainDifference<S>, keyof typeof unmeasured | "statementId" | "comparedAt"> &
    Partial<Pick<Difference, "statementId" | "comparedAt" | "figure">>
): PlainDifference<S> => ({ ...unmeasured, statementId: null, comparedAt: null, ...difference })

const unmeasured = {
  expected: null,
  actual: null,
  difference: null,
  tolerance: Decimal.zero,
  explained: { amount: Decimal.zero, by: [] },
  unexplained: Decimal.zero,
  missingDates: [],
  entry: null,
  figure: null
} as const
