/**
 * Check `register-line`, pure: compares the units that a statement states of each holder with the
 * register at the statement's moment (docs/domain/reconciliation.md#register-against-statements).
 */
import type { Items } from "../../../findings/Explained.ts"
import type { Finding, Moment } from "../../../findings/Finding.ts"
import { compare, type Difference, grew } from "../../../findings/FindingRules.ts"
import * as Decimal from "../../../kernel/Decimal.ts"
import type { FindingSeverity } from "../../../vocabulary/sets.ts"
import type { OfStatement } from "./OfStatement.ts"

export const check = "register-line"

/** Figures that one statement states of a holder, and that the register had at its moment. */
export interface Line extends OfStatement {
  /** A holder; a party that is none; or an account that nobody mapped, under its source. */
  readonly subject: Finding["subject"]
  readonly holderId: string | null
  /** Units on the register; null: it has no line. */
  readonly register: Decimal.Decimal | null
  /** Units of all accounts of the holder on the statement; null: it has no line. */
  readonly stated: Decimal.Decimal | null
  /** Places that the source rounds to; null: it does not round. */
  readonly places: number | null
  readonly items: Items
}

/** The lines of one subject, of each statement that has one; none of a statement without a difference. */
export interface Lines {
  readonly comparedAt: Moment
  readonly lines: ReadonlyArray<Line>
  /** Unexplained amount that people accepted of the subject's finding; null: none is accepted. */
  readonly accepted: Decimal.Decimal | null
}

/** Half an atom of the places that the source rounds to; 0 where it does not round. */
export const halfAtom = (places: number | null): Decimal.Decimal =>
  places === null || places >= Decimal.places
    ? Decimal.zero
    : Decimal.fromAtoms(5n * 10n ** BigInt(Decimal.places - 1 - places))

const severities: ReadonlyArray<FindingSeverity> = ["info", "warning", "blocking"]

/** Checks whether a difference of a subject is worse than another: by severity, then by what is unexplained. */
const isWorse = (a: Difference, b: Difference): boolean => {
  const bySeverity = severities.indexOf(a.severity) - severities.indexOf(b.severity)
  if (bySeverity !== 0) return bySeverity > 0
  return Decimal.compare(Decimal.abs(a.unexplained), Decimal.abs(b.unexplained)) > 0
}

/**
 * Order of the statements, so that the order in which they arrived decides nothing: by source, the
 * newest business date first.
 */
const bySource = (a: Line, b: Line): number =>
  a.externalSourceId === b.externalSourceId
    ? b.businessDate.localeCompare(a.businessDate, "en")
    : a.externalSourceId < b.externalSourceId
      ? -1
      : 1

/**
 * Returns a blocking difference where statement and register differ by more than the policy's
 * tolerance, or else by more than half an atom of the source's places. Of several statements, of
 * several sources or dates, the worst of those that no acceptance covers, else the worst; of equal ones
 * that of the first source and its newest date. An account that nobody mapped is a difference also
 * without units: a warning then.
 */
export const differences = (
  { accepted, lines }: Lines,
  tolerance: Decimal.Decimal | null
): ReadonlyArray<Difference> => {
  const found = lines.toSorted(bySource).flatMap((line) => differenceOf(line, tolerance))
  const isNew = ({ unexplained }: Difference) => accepted === null || grew(accepted, unexplained)
  const open = found.filter(isNew)
  return (open.length > 0 ? open : found).reduce<ReadonlyArray<Difference>>(
    (worst, difference) =>
      worst[0] === undefined || isWorse(difference, worst[0]) ? [difference] : worst,
    []
  )
}

/** The statements of which a line is a blocking difference: later runs compare each again. */
export const again = ({ lines }: Lines, tolerance: Decimal.Decimal | null): ReadonlyArray<string> =>
  lines
    .flatMap((line) => differenceOf(line, tolerance))
    .flatMap(({ severity, statementId }) => (severity === "blocking" ? (statementId ?? []) : []))

const differenceOf = (line: Line, tolerance: Decimal.Decimal | null): ReadonlyArray<Difference> => {
  const expected = line.register ?? Decimal.zero
  const actual = line.stated ?? Decimal.zero
  const isUnmapped = line.subject.resourceKind === "external-source"
  const about = {
    check,
    instrumentId: line.instrumentId,
    subject: line.subject,
    holderId: line.holderId,
    severity: "blocking",
    unit: "units",
    expected,
    actual,
    items: line.items,
    comparedAt: line.comparedAt,
    statementId: line.statementId
  } as const
  const found = compare({
    ...about,
    tolerance: isUnmapped ? Decimal.zero : (tolerance ?? halfAtom(line.places))
  })
  if (found.length > 0 || !isUnmapped) return found
  const { items: _, ...rest } = about
  return [
    {
      ...rest,
      severity: "warning",
      difference: Decimal.zero,
      tolerance: Decimal.zero,
      explained: { amount: Decimal.zero, by: [] },
      unexplained: Decimal.zero,
      missingDates: [],
      entry: null
    }
  ]
}
