/**
 * Check `movements-balance`, pure: compares what a party's movements come to with its units on the
 * register (docs/domain/reconciliation.md#movements-against-the-register).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import { lockings, type PartyMovement } from "../../../instruments/register/Movement.ts"

const check = "movements-balance"

/** One party's movements and units of an instrument, both read at one offset. */
export interface Balance {
  readonly instrumentId: string
  readonly party: string
  /** Null where the party is no holder of the venue. */
  readonly holderId: string | null
  /** Units before the first movement: 0 unless the projection began from a snapshot. */
  readonly opening: Decimal.Decimal
  /** Sum of the movements, those out counted as negative. */
  readonly moved: Decimal.Decimal
  /** Units on the register; 0 for a party that is not on it. */
  readonly closing: Decimal.Decimal
}

/** Units by which a movement changes the balance of its party; 0 for a lock or unlock. */
export const changeOf = ({
  kind,
  party,
  to,
  units
}: Pick<PartyMovement, "kind" | "party" | "to" | "units">): Decimal.Decimal => {
  if (lockings.includes(kind)) return Decimal.zero
  return party === to ? units : Decimal.negate(units)
}

/** Units of the party before a movement, by the balance that the movement states. */
export const before = (
  movement: Pick<PartyMovement, "kind" | "party" | "to" | "units" | "balanceAfter">
): Decimal.Decimal => Decimal.subtract(movement.balanceAfter, changeOf(movement))

/**
 * Returns a blocking difference where opening and movements do not come to the closing within the
 * tolerance. The subject is the holder, and the party where there is no holder.
 */
export const differences = (
  { instrumentId, party, holderId, opening, moved, closing }: Balance,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId,
    subject: { resourceKind: "holder", id: holderId ?? party },
    holderId,
    severity: "blocking",
    unit: "units",
    expected: Decimal.add(opening, moved),
    actual: closing,
    tolerance
  })
