/** Look-up of the units that a holder may redeem. */
import { Effect, Stream } from "effect"
import { heldBy } from "../../instruments/register/HoldingLookups.ts"
import { freeUnits } from "../../instruments/register/RegisterRules.ts"
import { orderBelow } from "../../kernel/Amount.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Machine from "../../kernel/Machine.ts"
import { Records } from "../../records/Records.ts"
import type { PaymentMode } from "../../vocabulary/sets.ts"
import {
  standingParties,
  standingSettlements,
  committedBy,
  StandingSettlementMachine
} from "../standing-settlement/StandingSettlement.ts"
import { burnedBy, isPledging, pairOf, type Redemption, redemptions } from "./Redemption.ts"
import { underWayOf } from "./ClaimedUnitsSteps.ts"
import { figuresAt, isTakenWithinLimit } from "./RedemptionPricing.ts"

type HolderPosition = Pick<Redemption, "holderId" | "instrumentId" | "registrar" | "party">

/**
 * Loads the units that a holder holds of an instrument, those that its open redemptions take, with the
 * claims under way of other operations, and those that are free, each as the register keeps them: base units of a rebasing instrument. An order by amount
 * counts at the latest price, and an unpriced one of a rebasing instrument at the latest index; one that
 * takes more there than any order counts as the limit of one. Units
 * committed to a standing settlement are free for a redemption paid on the ledger, and locked for any
 * other.
 */
export const unitsOf = Effect.fnUntraced(function* (
  position: HolderPosition,
  on: {
    readonly payment: PaymentMode
    readonly lastPrice: Decimal.Decimal | null
    /** The operation that claims units; null: none does. */
    readonly operationId: string | null
  }
) {
  const records = yield* Records
  const underWay = yield* underWayOf(position, on.operationId)
  const { units, locked } = yield* heldBy(position)
  const { leaving, pledged, waiting } = yield* records
    .stream(redemptions, { where: { giving: [pairOf(position)] } })
    .pipe(
      Stream.runFold(
        () => ({ leaving: Decimal.zero, pledged: Decimal.zero, waiting: underWay }),
        (sums, { record }) => {
          const taken = takenBy(record, on.lastPrice)
          return {
            leaving: Decimal.add(sums.leaving, taken),
            pledged: isPledging(record) ? Decimal.add(sums.pledged, taken) : sums.pledged,
            // A claim recorded since it was read under way is counted as an order alone.
            waiting: sums.waiting.filter((claim) => claim.redemptionId !== record.redemptionId)
          }
        }
      )
    )
  const committed = on.payment === "ledger" ? yield* committedOf(position) : Decimal.zero
  const claimed = Decimal.sum(waiting.map((claim) => claim.units))
  const free = freeUnits({
    units,
    locked: Decimal.subtract(locked, committed),
    pledged: Decimal.add(pledged, claimed)
  })
  return { held: units, leaving: Decimal.add(leaving, claimed), free }
})

const takenBy = (self: Redemption, lastPrice: Decimal.Decimal | null): Decimal.Decimal => {
  const isCounted = self.pricedAt !== null || (self.units !== null && !self.isRebasing)
  if (isCounted) return burnedBy(self) ?? Decimal.zero
  if (lastPrice === null) return Decimal.zero
  if (!isTakenWithinLimit(self, lastPrice)) return orderBelow
  const { baseUnits, units } = figuresAt(self, lastPrice)
  return baseUnits ?? units
}

/** Sums the units that a holder has committed to standing settlements that have not ended. */
const committedOf = Effect.fnUntraced(function* (position: HolderPosition) {
  const records = yield* Records
  const named = yield* Stream.runCollect(
    records.stream(standingParties, { where: { holderId: [position.holderId] } })
  )
  const found = yield* records.many(
    standingSettlements,
    named.map(({ record }) => record.standingSettlementId)
  )
  const whose = {
    party: position.party,
    asset: { admin: position.registrar, id: position.instrumentId }
  }
  return Decimal.sum(
    found
      .filter(({ state }) => !Machine.isTerminal(StandingSettlementMachine, state))
      .map((self) => committedBy(self, whose)?.amount ?? Decimal.zero)
  )
})
