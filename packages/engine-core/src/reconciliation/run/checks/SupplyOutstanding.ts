/**
 * Check `supply-outstanding`, pure: compares the administrator's total of units with the supply
 * (docs/domain/reconciliation.md#units-outstanding).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import type { Items } from "../../../findings/Explained.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import { aboutSource, type OfStatement } from "./OfStatement.ts"

export const check = "supply-outstanding"

export interface OutstandingSupply extends OfStatement {
  /** Units that the administrator states. */
  readonly totalQuantity: Decimal.Decimal
  /** Units on the ledger at the statement's moment, as they are shown. */
  readonly supply: Decimal.Decimal
  /** Parties that held units then. */
  readonly holders: number
  /** Places of a unit of the instrument. */
  readonly unitDecimals: number
  /** Orders in flight, of every holder. */
  readonly items: Items
}

/** An atom of a unit for each holder: each line of the administrator's register may be rounded. */
const toleranceOf = ({
  holders,
  unitDecimals
}: Pick<OutstandingSupply, "holders" | "unitDecimals">): Decimal.Decimal =>
  Decimal.fromAtoms(BigInt(holders) * 10n ** BigInt(Decimal.places - unitDecimals))

/**
 * Returns a blocking difference where the stated total differs from the supply by more than the
 * policy's tolerance, or else by more than an atom for each holder. The subject is the source.
 */
export const differences = (
  outstanding: OutstandingSupply,
  tolerance: Decimal.Decimal | null
): ReadonlyArray<Difference> =>
  compare({
    check,
    severity: "blocking",
    ...aboutSource(outstanding),
    unit: "units",
    expected: outstanding.supply,
    actual: outstanding.totalQuantity,
    tolerance: tolerance ?? toleranceOf(outstanding),
    items: outstanding.items
  })
