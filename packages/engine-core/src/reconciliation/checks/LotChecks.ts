/** Checks of reconciliation that compare lots with the units that they are of. */
import { Effect, Stream } from "effect"
import { compare } from "../../findings/FindingRules.ts"
import { positionsOf } from "../../instruments/lot/LotLookups.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Check from "./Check.ts"
import { holderIdsOf } from "./MovementSumLookups.ts"

/** Number of parties whose holders are looked up together. */
const partiesMax = 200

/** One party's units and lots of an instrument, both read at one offset. */
export interface LotPosition {
  readonly instrumentId: string
  readonly party: string
  /** Null where the party is no holder of the venue. */
  readonly holderId: string | null
  /** Units on the register, base units of a rebasing instrument; 0 for a party that is not on it. */
  readonly units: Decimal.Decimal
  /** Sum of the units that remain of the party's lots; 0 for a party without one. */
  readonly remaining: Decimal.Decimal
}

/**
 * The subject is the holder, and the party where there is no holder, so that differences of several
 * such parties are neither one finding nor set off against each other.
 */
export const lotsHoldings = Check.define("lots-holdings", {
  doc: "Compares the lots of each party with its units on the register.",
  rule: "lots-against-units",
  needs: "A party with units or lots of the instrument.",
  cannot: {},
  facts: (instrument, at) =>
    positionsOf(instrument, at.pin).pipe(
      Stream.grouped(partiesMax),
      Stream.mapEffect((found) =>
        Effect.map(
          holderIdsOf(
            found.map(({ party }) => party),
            at
          ),
          (holderIds) =>
            found.map(
              ({ party, units, remaining }): LotPosition => ({
                instrumentId: instrument.instrumentId,
                party,
                holderId: holderIds.get(party) ?? null,
                units,
                remaining
              })
            )
        )
      ),
      Stream.flattenIterable
    ),
  differences: ({ instrumentId, party, holderId, units, remaining }: LotPosition, tolerance) =>
    compare({
      instrumentId,
      subject: { resourceKind: "holder", id: holderId ?? party },
      holderId,
      severity: "blocking",
      unit: "units",
      expected: remaining,
      actual: units,
      tolerance
    })
})
