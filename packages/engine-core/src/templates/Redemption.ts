/** Templates of redemptions, from the holder's order to burned units and paid cash. */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { PaymentMode, shownDecimals } from "./Market.ts"
import { define } from "./Template.ts"
import type { TypeRef } from "./Template.ts"

const named = (entity: string): TypeRef => ({
  packageName: "bursar-admin-v1",
  module: "Bursar.Admin.Market",
  entity
})

const cid = Field.contractId
const created = Schema.Struct({ contractId: cid })
const nothing = { consuming: true, argument: Field.unit, result: Field.unit } as const

/** Order of a holder to redeem units. */
export const RedemptionOrder = define({
  typeRef: named("RedemptionOrder"),
  payload: Schema.Struct({
    venue: Field.party,
    fund: Field.party,
    holder: Field.party,
    orderId: Field.text,
    instrument: Field.asset,
    paymentAsset: Field.asset,
    /** Exactly one of amount and units is given. */
    amount: Field.optional(Field.decimal),
    units: Field.optional(Field.decimal),
    custodian: Field.optional(Field.party),
    expiresAt: Field.optional(Field.instant)
  }),
  choices: {
    Claim: {
      consuming: true,
      argument: Schema.Struct({
        redemptionId: Field.text,
        custodian: Field.optional(Field.party),
        currency: Field.text,
        cycleId: Field.optional(Field.text),
        oracle: Field.party
      }),
      result: created
    },
    Withdraw: nothing
  }
})

/**
 * Members of a claim that its priced redemption keeps. In ledger mode fund and paymentAsset are
 * given.
 */
const claimed = {
  venue: Field.party,
  redemptionId: Field.text,
  orderId: Field.optional(Field.text),
  instrument: Field.asset,
  holder: Field.party,
  custodian: Field.optional(Field.party),
  fund: Field.optional(Field.party),
  mode: PaymentMode,
  currency: Field.text,
  paymentAsset: Field.optional(Field.asset),
  /** Exactly one of units and amount is given. */
  orderedUnits: Field.optional(Field.decimal),
  orderedAmount: Field.optional(Field.decimal),
  oracle: Field.party,
  /** The dealing cycle that settles it together with others. */
  cycleId: Field.optional(Field.text),
  /** The redemption of which this order is the remainder after a partial fill. */
  remainderOf: Field.optional(Field.text),
  /** Cut-off that a remainder waits for: no earlier point prices it. */
  cutOffAt: Field.optional(Field.instant),
  shownDecimals,
  /**
   * Base units of a rebasing instrument that the holder had free at the claim: an order for all that
   * they show, or are worth, burns them whole.
   */
  freeUnits: Schema.optionalKey(Schema.NullOr(Field.decimal))
} as const

/**
 * Allocations of an order that are released: its units, its cash and the venue's request for them.
 */
const put = Schema.Struct({
  unitsAllocationCid: Field.optional(cid),
  allocationCid: Field.optional(cid),
  intentCid: Field.optional(cid)
})

/** Claim of the venue on a redemption, until it is priced or its units return. */
export const RedemptionClaim = define({
  typeRef: named("RedemptionClaim"),
  payload: Schema.Struct(claimed),
  choices: {
    Price: {
      consuming: true,
      argument: Schema.Struct({
        pointCid: cid,
        price: Field.decimal,
        units: Field.decimal,
        proceeds: Field.decimal
      }),
      result: created
    },
    /** A remainder joins the cycle of its day, which was opened after it. */
    Join: { consuming: true, argument: Schema.Struct({ cycleCid: cid }), result: created },
    Withdraw: { consuming: true, argument: put, result: Field.unit }
  }
})

/** Partial fill of an order: the filled part; the remainder is a claim of its own, unpriced. */
export const RedemptionFill = Schema.Struct({
  units: Field.decimal,
  proceeds: Field.decimal,
  remainderId: Field.text,
  /** The cut-off of the next dealing day, at which the rest deals. */
  cutOffAt: Field.optional(Field.instant),
  /** The cycle of that day, where it is open: the rest joins it at once. */
  cycleCid: Field.optional(cid)
})
export type RedemptionFill = typeof RedemptionFill.Type

/** Redemption that has its price and awaits its payment. */
export const PricedRedemption = define({
  typeRef: named("PricedRedemption"),
  payload: Schema.Struct({
    ...claimed,
    units: Field.decimal,
    price: Field.decimal,
    proceeds: Field.decimal,
    pointCid: cid,
    valuationTime: Field.instant
  }),
  choices: {
    /**
     * Paid by wire it only ends: the units are burned by then, and evidence shows the cash. Paid on
     * the ledger the fund's cash goes to the holder, and the units that the holder allocated are
     * burned in the same transaction.
     */
    Settle: {
      consuming: true,
      argument: Schema.Struct({
        marketCid: Field.optional(cid),
        unitsAllocationCid: Field.optional(cid),
        /** The fund's own allocation of the proceeds; else holdingCids. */
        allocationCid: Field.optional(cid),
        /** Cash of the fund that the fund has named by making the venue its provider. */
        holdingCids: Field.list(cid),
        intentCid: Field.optional(cid),
        /** The SHA-256 of what shows the cash outside the ledger. */
        evidence: Field.optional(Field.digest),
        fill: Field.optional(RedemptionFill)
      }),
      result: Schema.Struct({
        cash: Field.optional(cid),
        remainder: Field.optional(cid),
        /** Holdings that go back unlocked: units not burned, and the fund's cash not paid. */
        change: Field.list(cid)
      })
    },
    Release: {
      consuming: true,
      argument: Schema.Struct({
        ...put.fields,
        /** True where the holder withdraws the order, false where the venue releases it. */
        withdrawn: Schema.optionalKey(Schema.NullOr(Field.flag))
      }),
      result: Field.unit
    }
  }
})
