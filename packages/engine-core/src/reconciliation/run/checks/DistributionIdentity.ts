/**
 * Check `distribution-identity`, pure: tests the conservation identities of a distribution, and its
 * sums against those that the ledger sealed (docs/domain/reconciliation.md#identities-of-a-distribution).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"

export const check = "distribution-identity"

/** Sums of a distribution's lines, in currency unless said. */
interface Sums {
  readonly entitlement: Decimal.Decimal
  readonly gross: Decimal.Decimal
  readonly equalisation: Decimal.Decimal
  readonly withheld: Decimal.Decimal
  readonly net: Decimal.Decimal
  readonly carryOut: Decimal.Decimal
  /** In units; 0 where none are paid. */
  readonly payoutUnits: Decimal.Decimal
}

export interface Fact {
  readonly instrumentId: string
  readonly distributionId: string
  readonly currency: string
  /** Number and sums of lines as the ledger sealed them. */
  readonly sealed: Sums & { readonly lines: number }
  readonly stored: Sums & {
    readonly lines: number
    readonly carryIn: Decimal.Decimal
    /** Due less gross and carryOut of the lines with units: what would be lost. */
    readonly lost: Decimal.Decimal
    /** Number of lines that pay cash in more decimal places than the currency has. */
    readonly unpayable: number
  }
  /**
   * Bounds of the sum of entitlements where it follows from the units: an accumulating instrument's
   * income, less at most what cutting each line takes. Null for other instruments.
   */
  readonly accrued: { readonly least: Decimal.Decimal; readonly most: Decimal.Decimal } | null
}

interface Identity {
  readonly unit: string
  readonly expected: Decimal.Decimal
  readonly actual: Decimal.Decimal
}

/** The identities of a distribution, in the order in which they are reported. */
const identitiesOf = ({ accrued, currency, sealed, stored }: Fact): ReadonlyArray<Identity> => [
  {
    unit: "lines",
    expected: Decimal.fromInteger(sealed.lines),
    actual: Decimal.fromInteger(stored.lines)
  },
  ...(["entitlement", "gross", "equalisation", "withheld", "net", "carryOut"] as const).map(
    (name) => ({ unit: currency, expected: sealed[name], actual: stored[name] })
  ),
  { unit: "units", expected: sealed.payoutUnits, actual: stored.payoutUnits },
  // Gross is paid or withheld.
  { unit: currency, expected: stored.gross, actual: Decimal.add(stored.net, stored.withheld) },
  {
    unit: "lines",
    expected: Decimal.zero,
    actual: Decimal.fromInteger(stored.unpayable)
  },
  // The due amount of a holder with units is paid or carried.
  { unit: currency, expected: Decimal.zero, actual: stored.lost },
  ...(accrued === null
    ? []
    : [
        {
          unit: currency,
          expected: Decimal.min(Decimal.max(stored.entitlement, accrued.least), accrued.most),
          actual: stored.entitlement
        }
      ])
]

/** Returns a blocking difference for the first identity that does not hold within the tolerance. */
export const differences = (fact: Fact, tolerance: Decimal.Decimal): ReadonlyArray<Difference> =>
  identitiesOf(fact)
    .flatMap((identity) =>
      compare({
        check,
        instrumentId: fact.instrumentId,
        subject: { resourceKind: "distribution", id: fact.distributionId },
        holderId: null,
        severity: "blocking",
        tolerance,
        ...identity
      })
    )
    .slice(0, 1)
