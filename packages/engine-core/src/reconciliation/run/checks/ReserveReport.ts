/**
 * Check `reserve-report`, pure: compares the figures that the ledger reported of a reserve with those
 * that the engine computes (docs/domain/reconciliation.md#reports-of-reserves).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference, grew, withoutAmounts } from "../../../findings/FindingRules.ts"
import { blockingOn } from "./ReserveSubject.ts"

export const check = "reserve-report"

/** A figure as the engine computes it and as the ledger reported it; null: there is none. */
export interface Figure {
  /** Unit of the figure: the unit of account, `units` or `ratio`. */
  readonly unit: string
  readonly computed: Decimal.Decimal | null
  readonly reported: Decimal.Decimal | null
}

/** A report of a reserve. */
export interface ComparedReport {
  readonly instrumentId: string
  readonly reserveId: string
  readonly priceDecimals: number
  /** Whether ledger and engine judge the cover alike, and report the same assets. */
  readonly isAlike: boolean
  readonly figures: ReadonlyArray<Figure>
}

/** Reports of a reserve, oldest first. */
export interface Reports {
  readonly reports: ReadonlyArray<ComparedReport>
  /** Unexplained amount that people accepted of the reserve's finding; null: none is accepted. */
  readonly accepted: Decimal.Decimal | null
}

/** One atom of the share price: the tolerance where the policy names none. */
export const atomOf = (places: number): Decimal.Decimal =>
  Decimal.fromAtoms(10n ** BigInt(Decimal.places - places))

/**
 * Returns the difference of the newest report that differs and that no acceptance covers, else of the
 * newest that differs.
 */
export const differences = (
  { accepted, reports }: Reports,
  policy: Decimal.Decimal | null
): ReadonlyArray<Difference> => {
  const found = reports.toReversed().flatMap((report) => differencesOf(report, policy))
  const isNew = ({ unexplained }: Difference) => accepted === null || grew(accepted, unexplained)
  const open = found.filter(isNew)
  return (open.length > 0 ? open : found).slice(0, 1)
}

/**
 * Returns a blocking difference of the first figure that differs by more than the tolerance, or one
 * without amounts where a figure is there on one side alone, or where the cover is judged otherwise.
 */
export const differencesOf = (
  { instrumentId, reserveId, priceDecimals, isAlike, figures }: ComparedReport,
  policy: Decimal.Decimal | null
): ReadonlyArray<Difference> => {
  const tolerance = policy ?? atomOf(priceDecimals)
  const about = { check, ...blockingOn({ instrumentId, reserveId }) } as const
  for (const { unit, computed, reported } of figures) {
    if (computed === null && reported === null) continue
    if (computed === null || reported === null) return [withoutAmounts({ ...about, unit })]
    const found = compare({ ...about, unit, expected: computed, actual: reported, tolerance })
    if (found.length > 0) return found
  }
  return isAlike ? [] : [withoutAmounts({ ...about, unit: "cover" })]
}
