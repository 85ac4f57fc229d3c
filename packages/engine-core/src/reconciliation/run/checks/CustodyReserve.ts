/**
 * Check `custody-reserve`, pure: compares what a custodian states of a reserve's accounts with what is
 * locked for it on the ledger (docs/domain/reconciliation.md#custody-of-reserves).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import type { Moment } from "../../../findings/Finding.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { OfStatement } from "./OfStatement.ts"

export const check = "custody-reserve"

/** A position of the reserve's accounts, at the moment of the statement. */
export interface Position {
  /** Name of the asset within the finding: that of the source where it maps the asset to none. */
  readonly asset: string
  /** Locked on the ledger; null: the source maps the asset to none of the ledger. */
  readonly locked: Decimal.Decimal | null
  /** Sum of the statement's lines. */
  readonly stated: Decimal.Decimal
}

/** A statement of a custodian with its positions in a reserve's accounts. */
export interface CustodyStatement extends OfStatement {
  readonly reserveId: string
  readonly positions: ReadonlyArray<Position>
}

/**
 * Returns a blocking difference for each asset of which the statement has more or less than is locked,
 * and a warning for each that the source does not map.
 */
const differencesOf = (
  { reserveId, positions, businessDate, ...statement }: CustodyStatement,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  positions.flatMap(({ asset, locked, stated }) =>
    compare({
      check,
      instrumentId: statement.instrumentId,
      subject:
        locked === null
          ? { resourceKind: "external-source", id: `${statement.externalSourceId}:${asset}` }
          : { resourceKind: "reserve", id: `${reserveId}:${asset}:${businessDate}` },
      holderId: null,
      severity: locked === null ? "warning" : "blocking",
      unit: "units",
      expected: locked ?? Decimal.zero,
      actual: stated,
      tolerance,
      comparedAt: statement.comparedAt,
      statementId: statement.statementId
    })
  )

/**
 * Differences of all statements of a reserve and a business date: of one asset that several state, the
 * largest alone.
 */
export const differences = (
  statements: ReadonlyArray<CustodyStatement>,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> => {
  const all = statements.flatMap((stated) => differencesOf(stated, tolerance))
  const bySubject = Map.groupBy(all, ({ subject }) => `${subject.resourceKind}/${subject.id}`)
  return [...bySubject.values()].flatMap((found) => found.toSorted(largestFirst).slice(0, 1))
}

/** The statements with a blocking difference: later runs compare each again. */
export const again = (
  statements: ReadonlyArray<CustodyStatement>,
  tolerance: Decimal.Decimal
): ReadonlyArray<string> =>
  statements
    .flatMap((stated) => differencesOf(stated, tolerance))
    .flatMap(({ severity, statementId }) => (severity === "blocking" ? (statementId ?? []) : []))

const sizeOf = ({ difference }: Difference): Decimal.Decimal =>
  Decimal.abs(difference ?? Decimal.zero)

const largestFirst = (a: Difference, b: Difference): number => Decimal.compare(sizeOf(b), sizeOf(a))

/** The newest moment that was compared; null: no statement was. */
export const comparedAt = (statements: ReadonlyArray<CustodyStatement>): Moment | null =>
  statements
    .map((stated) => stated.comparedAt)
    .reduce<Moment | null>(
      (newest, moment) => (newest === null || moment.instant > newest.instant ? moment : newest),
      null
    )
