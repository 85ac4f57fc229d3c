/** Record of a reserve redemption: units that are burned for an asset out of the reserve. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as ReserveOrder from "./ReserveOrder.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"

/** Events of a redemption of backed units. */
export const reserveRedemptionEvents = {
  "reserve.redeemed": about(
    "reserve-redemption",
    Schema.Struct({
      reserveId: Schema.String,
      quantity: Decimal.schema,
      amount: Decimal.schema,
      coverAfter: Schema.NullOr(Decimal.schema)
    })
  )
} as const

const makeEvent = announcing(reserveRedemptionEvents)

export const ReserveRedemptionId = RecordId.make("ReserveRedemptionId")
export type ReserveRedemptionId = typeof ReserveRedemptionId.Type

export const ReserveRedemption = Schema.Struct({
  reserveRedemptionId: ReserveRedemptionId,
  ...ReserveOrder.members,
  /** Amount of the asset that is paid, fixed at the start. */
  payout: Decimal.schema
}).annotate({
  identifier: "ReserveRedemption",
  description: "Units of a backed instrument that are burned for an asset of its reserve."
})
export type ReserveRedemption = typeof ReserveRedemption.Type

export const reserveRedemptions = Collection.define<ReserveRedemption, ReserveOrder.Fact>(
  "reserve-redemption",
  {
    doc: "Units of a backed instrument that are burned for an asset of its reserve.",
    id: (self) => self.reserveRedemptionId,
    record: ReserveRedemption,
    fact: ReserveOrder.Fact,
    evolve: (self, fact) => {
      if (fact.on === "request") throw new Error("a reserve redemption requests no deposit")
      return ReserveOrder.evolve(self, fact)
    },
    keptBy: "ledger",
    sortKey: (self, createdAt) =>
      `${Instant.sortable(createdAt)} ${self.reserveRedemptionId} reserve-redemption`,
    filters: ReserveOrder.filtersOf("reserve-redemption"),
    ripens: ReserveOrder.ripens,
    due: ReserveOrder.due,
    lost: ReserveOrder.lost,
    waitingOn: ({ state, party, deadline, lost }) => {
      if (lost) return []
      if (state === "started") {
        return [{ party, action: "ReserveRedemptionOrder.Accept", by: deadline }]
      }
      if (state === "ready") {
        return [{ role: "engine", action: "reserve-redemption.settle", by: deadline }]
      }
      return state === "expired"
        ? [{ role: "engine", action: "reserve-redemption.cancel", by: null }]
        : []
    },
    indexedWaits: ReserveOrder.indexedWaits("reserve-redemption"),
    announce: (self, fact) =>
      fact?.on === "settle"
        ? [
            {
              ...makeEvent("reserve.redeemed", {
                reserveId: self.reserveId,
                quantity: self.units,
                amount: self.payout,
                coverAfter: self.coverAfter
              }),
              resourceKind: "reserve-redemption",
              resourceId: self.reserveRedemptionId,
              instrumentId: self.instrumentId,
              party: self.party,
              holderIds: [self.holderId]
            }
          ]
        : [],
    invariants: {
      ...ReserveOrder.invariants,
      "something is paid": ({ payout }) => Decimal.isPositive(payout)
    }
  }
)
