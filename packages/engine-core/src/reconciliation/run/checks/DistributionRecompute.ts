/**
 * Check `distribution-recompute`, pure: compares the stored lines of a distribution with those
 * computed again from its pins (docs/domain/reconciliation.md#lines-computed-again).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference, withoutAmounts } from "../../../findings/FindingRules.ts"

export const check = "distribution-recompute"

/** Figures of a line that are compared, in the order in which they are computed. */
export const members = [
  "units",
  "entitlement",
  "carryIn",
  "gross",
  "equalisation",
  "rate",
  "withheld",
  "net",
  "carryOut",
  "payoutUnits"
] as const
type Member = (typeof members)[number]

export type Figures = Readonly<Record<Member, Decimal.Decimal | null>>

/** Members that are no amounts of the instrument's currency, with their units. */
const unitOf: Readonly<Partial<Record<Member, string>>> = {
  units: "units",
  payoutUnits: "units",
  rate: "rate"
}

interface OfDistribution {
  readonly instrumentId: string
  readonly distributionId: string
  readonly currency: string
}

/** One line, computed again and as it is stored. */
export interface Line extends OfDistribution {
  readonly of: "line"
  readonly lineId: string
  /** Null where the party is no holder of the venue. */
  readonly holderId: string | null
  readonly expected: Figures
  /** Null where no such line is stored. */
  readonly actual: Figures | null
}

/** All lines of one distribution: their number, and whether they have the hash that was signed. */
interface Whole extends OfDistribution {
  readonly of: "lines"
  readonly expectedCount: number
  readonly actualCount: number
  readonly isHashed: boolean
}

/** A distribution of a snapshot, of which neither pins nor the lines that ended are known. */
interface UnplannedDistribution extends OfDistribution {
  readonly of: "unplanned"
}

export type Fact = Line | Whole | UnplannedDistribution

/**
 * Returns a blocking difference for each line with a figure that differs by more than the tolerance,
 * the first such figure; and one for a distribution with more or fewer lines, with lines that do not
 * have its hash, or of a snapshot.
 */
export const differences = (fact: Fact, tolerance: Decimal.Decimal): ReadonlyArray<Difference> => {
  switch (fact.of) {
    case "line":
      return ofLine(fact, tolerance)
    case "lines":
      return ofWhole(fact)
    case "unplanned":
      return [withoutAmounts({ ...aboutWhole(fact), unit: "plan" })]
  }
}

const ofLine = (
  { instrumentId, lineId, holderId, currency, expected, actual }: Line,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  members
    .flatMap((member) =>
      compare({
        check,
        instrumentId,
        subject: { resourceKind: "distribution", id: lineId },
        holderId,
        severity: "blocking",
        unit: unitOf[member] ?? currency,
        expected: expected[member] ?? Decimal.zero,
        actual: actual?.[member] ?? Decimal.zero,
        tolerance
      })
    )
    .slice(0, 1)

const aboutWhole = ({ instrumentId, distributionId }: OfDistribution) =>
  ({
    check,
    instrumentId,
    subject: { resourceKind: "distribution", id: distributionId },
    holderId: null,
    severity: "blocking"
  }) as const

const ofWhole = (whole: Whole): ReadonlyArray<Difference> => {
  const counted = compare({
    ...aboutWhole(whole),
    unit: "lines",
    expected: Decimal.fromInteger(whole.expectedCount),
    actual: Decimal.fromInteger(whole.actualCount),
    tolerance: Decimal.zero
  })
  return counted.length > 0 || whole.isHashed
    ? counted
    : [withoutAmounts({ ...aboutWhole(whole), unit: "hash" })]
}
