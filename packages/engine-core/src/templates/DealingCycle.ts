/**
 * Templates of dealing cycles: all ledger-paid orders of one cut-off, settled with the fund's net
 * in one transaction.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { RedemptionFill } from "./Redemption.ts"
import { define } from "./Template.ts"

const cid = Field.contractId

/** Cycle whose orders deal at one price and settle together. */
export const DealingCycle = define({
  typeRef: {
    packageName: "bursar-admin-v1",
    module: "Bursar.Admin.Market",
    entity: "DealingCycle"
  },
  payload: Schema.Struct({
    venue: Field.party,
    fund: Field.party,
    registrar: Field.party,
    cycleId: Field.text,
    instrument: Field.asset,
    cash: Field.asset,
    cutOffAt: Field.instant,
    settleBy: Field.instant
  }),
  choices: {
    Settle: {
      consuming: true,
      argument: Schema.Struct({
        marketCid: cid,
        lots: Field.list(
          Schema.Struct({
            lotCid: cid,
            allocationCid: cid,
            credentialCid: cid,
            configurationCid: Field.optional(cid),
            intentCid: Field.optional(cid),
            /** Part of the order's cash that goes back to its holder. */
            refund: Field.optional(Field.decimal)
          })
        ),
        redemptions: Field.list(
          Schema.Struct({
            redemptionCid: cid,
            unitsAllocationCid: cid,
            intentCid: Field.optional(cid),
            /** The fund's own allocation to this holder; absent, the cycle's cash pays. */
            allocationCid: Field.optional(cid),
            fill: Field.optional(RedemptionFill)
          })
        ),
        /** The fund's cash for its net: sender and receiver the fund, reference the cycle. */
        allocations: Field.list(cid),
        /** The fund's net out of cash it has agreed to be drawn on. */
        provision: Field.optional(
          Schema.Struct({
            provisionCid: cid,
            holdingCids: Field.list(cid),
            amount: Field.decimal
          })
        )
      }),
      result: Schema.Struct({
        /**
         * The fund's cash after settling: one holding, or one for each provider that keeps its
         * cash.
         */
        fund: Field.list(cid),
        remainders: Field.list(Schema.Struct({ redemptionId: Field.text, contractId: cid }))
      })
    },
    /**
     * Ends the cycle with nothing settled; each order is released by a choice of its own contract
     * in the same transaction.
     */
    Release: {
      consuming: true,
      argument: Schema.Struct({ allocations: Field.list(cid), intents: Field.list(cid) }),
      result: Field.unit
    }
  }
})
