/** Templates of the primary market and of subscriptions, from order to delivered lot. */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { Funding } from "./Standing.ts"
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

const market = {
  venue: Field.party,
  marketId: Field.text,
  instrument: Field.asset,
  fund: Field.party,
  registrar: Field.party,
  /** The asset in which ledger-paid orders are paid. */
  cash: Field.asset,
  attestors: Field.parties,
  required: Field.count,
  oracle: Field.party,
  until: Field.optional(Field.instant)
}

/** Argument of a choice that one of several parties exercises, named by `party`. */
const by = Schema.Struct({ party: Field.party })

/** Proposal of a primary market of an instrument at the venue. */
export const PrimaryMarketProposal = define({
  typeRef: named("PrimaryMarketProposal"),
  payload: Schema.Struct({ ...market, accepted: Field.parties }),
  choices: {
    /** Returns the proposal with one more signature; on the last signature, the market. */
    Accept: {
      consuming: true,
      argument: by,
      result: Schema.Struct({
        proposal: Field.optional(cid),
        market: Field.optional(cid)
      })
    },
    Decline: { consuming: true, argument: by, result: Field.unit },
    Withdraw: nothing
  }
})

/** Cost of an order in units beside its units' price; absent where its cash amount is fixed. */
const dues = {
  /** A fraction of the units' price, on top of it. */
  feeRate: Field.optional(Field.decimal),
  /** The places that cash is rounded up to. */
  cashDecimals: Field.optional(Field.count)
} as const

/** Way in which orders are paid: by wire or on the ledger. */
export const PaymentMode = Schema.Literals(["wire", "ledger"])

/** Agreement of a fund, its registrar and the venue by which orders deal. */
export const PrimaryMarket = define({
  typeRef: named("PrimaryMarket"),
  payload: Schema.Struct(market),
  choices: {
    ClaimSubscription: {
      consuming: false,
      argument: Schema.Struct({
        orderCid: cid,
        subscriptionId: Field.text,
        custodian: Field.optional(Field.party),
        currency: Field.text,
        /** The open cycle of the order's own cut-off; absent, the order is settled by itself. */
        cycleCid: Field.optional(cid),
        ...dues
      }),
      result: created
    },
    ClaimRedemption: {
      consuming: false,
      argument: Schema.Struct({
        orderCid: cid,
        redemptionId: Field.text,
        custodian: Field.optional(Field.party),
        currency: Field.text,
        cycleCid: Field.optional(cid)
      }),
      result: created
    },
    OpenCycle: {
      consuming: false,
      argument: Schema.Struct({
        cycleId: Field.text,
        cutOffAt: Field.instant,
        settleBy: Field.instant,
        /**
         * Remainders of orders that were filled in part: they wait for this cut-off and join the
         * cycle.
         */
        remainders: Schema.optionalKey(Schema.NullOr(Field.list(cid)))
      }),
      result: created
    },
    OpenStanding: {
      consuming: false,
      argument: Schema.Struct({
        standingSettlementId: Field.text,
        funding: Field.list(Funding),
        deadline: Field.optional(Field.instant),
        expiresAt: Field.instant
      }),
      result: created
    },
    MintFor: {
      consuming: false,
      argument: Schema.Struct({
        subscriptionId: Field.text,
        units: Field.decimal,
        credentialCid: cid,
        attestors: Field.parties,
        configurationCid: Field.optional(cid)
      }),
      result: Schema.Struct({ holding: cid })
    },
    /**
     * Burns units out of what the holder allocated to the redemption; the rest goes back to it. It
     * mirrors MintFor: the registrar's authority comes from the market, the holder's only from
     * inside a priced redemption. Without it a redemption paid on the ledger could not burn in the
     * transaction that pays (docs/domain/ledger-writes.md#choices-of-the-markets).
     */
    BurnFor: {
      consuming: false,
      argument: Schema.Struct({
        redemptionId: Field.text,
        holder: Field.party,
        unitsAllocationCid: cid,
        units: Field.decimal
      }),
      result: Schema.Struct({ change: Field.optional(cid) })
    },
    /**
     * The fund takes no more orders: the market stands on, past its time from now on. Were the
     * contract archived, the orders placed while it was agreed could not settle under it
     * (docs/domain/agreements.md#primary-markets).
     */
    End: { consuming: true, argument: Field.unit, result: created }
  }
})

/** Order of a holder to subscribe units. */
export const SubscriptionOrder = define({
  typeRef: named("SubscriptionOrder"),
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
    expiresAt: Field.optional(Field.instant)
  }),
  choices: {
    Claim: {
      consuming: true,
      argument: Schema.Struct({
        subscriptionId: Field.text,
        custodian: Field.optional(Field.party),
        currency: Field.text,
        cycleId: Field.optional(Field.text),
        ...dues,
        oracle: Field.party,
        attestors: Field.parties,
        required: Field.count
      }),
      result: created
    },
    Withdraw: nothing
  }
})

/**
 * Places of the units that holders are shown, of a rebasing instrument alone. Then units are ordered as
 * they are shown, the price is the index, and the units that are minted or burned are base units: those
 * ordered, over the index, half up at 10 places (docs/domain/orders.md#rebasing).
 */
export const shownDecimals = Schema.optionalKey(Schema.NullOr(Field.count))

/** Members of a claim that its lot keeps. In ledger mode fund and paymentAsset are given. */
const claimed = {
  venue: Field.party,
  subscriptionId: Field.text,
  orderId: Field.optional(Field.text),
  instrument: Field.asset,
  holder: Field.party,
  custodian: Field.optional(Field.party),
  fund: Field.optional(Field.party),
  mode: PaymentMode,
  currency: Field.text,
  paymentAsset: Field.optional(Field.asset),
  /** The cash expected; absent while an order in units is unpriced. */
  cash: Field.optional(Field.decimal),
  ...dues,
  oracle: Field.optional(Field.party),
  /** The dealing cycle that settles it together with others. */
  cycleId: Field.optional(Field.text),
  shownDecimals
}

/** Claim of the venue on a subscription, until its units are delivered or its cash returns. */
export const SubscriptionClaim = define({
  typeRef: named("SubscriptionClaim"),
  payload: Schema.Struct({
    ...claimed,
    orderedUnits: Field.optional(Field.decimal),
    attestors: Field.parties,
    required: Field.count,
    attested: Field.parties,
    pointCid: Field.optional(cid),
    price: Field.optional(Field.decimal),
    units: Field.optional(Field.decimal)
  }),
  choices: {
    /** Gives the claim again with one more signature, or the lot on the last required one. */
    Attest: {
      consuming: true,
      argument: Schema.Struct({
        attestor: Field.party,
        pointCid: cid,
        price: Field.decimal,
        units: Field.decimal
      }),
      result: Schema.Struct({
        claim: Field.optional(cid),
        lot: Field.optional(cid)
      })
    },
    Withdraw: {
      consuming: true,
      argument: Schema.Struct({
        allocationCid: Field.optional(cid),
        intentCid: Field.optional(cid)
      }),
      result: Field.unit
    }
  }
})

const priced = {
  ...claimed,
  units: Field.decimal,
  price: Field.decimal,
  pointCid: cid,
  valuationTime: Field.instant,
  attestors: Field.parties
}

/** Units of a subscription that is priced and not yet delivered. */
export const Lot = define({
  typeRef: named("Lot"),
  payload: Schema.Struct(priced),
  choices: {
    /**
     * Mints through the market where one is given, else asks the registrar to. Either way the
     * holder's live credential is named, so that nothing is delivered to a holder whose admission
     * has ended since the delivery was judged: its recovery ends it in the transaction that moves
     * its units.
     */
    Deliver: {
      consuming: true,
      argument: Schema.Struct({
        marketCid: Field.optional(cid),
        /** Demanded by the choice; a delivery that was made before it was may have none. */
        credentialCid: Field.optional(cid),
        configurationCid: Field.optional(cid),
        executeBefore: Field.optional(Field.instant)
      }),
      result: Schema.Struct({
        deliveredLot: cid,
        holding: Field.optional(cid),
        mintRequest: Field.optional(cid)
      })
    },
    Settle: {
      consuming: true,
      argument: Schema.Struct({
        marketCid: cid,
        allocationCid: cid,
        credentialCid: cid,
        configurationCid: Field.optional(cid),
        intentCid: Field.optional(cid),
        /** Cash that goes back to the holder: at most what the units' price leaves. */
        refund: Field.optional(Field.decimal)
      }),
      /** Cash that the fund keeps, and cash that went back to the holder. */
      result: Schema.Struct({ holding: cid, cash: cid, refund: Field.optional(cid) })
    },
    Release: {
      consuming: true,
      argument: Schema.Struct({
        allocationCid: Field.optional(cid),
        intentCid: Field.optional(cid)
      }),
      result: Field.unit
    }
  }
})

/** Cash that the bank paid back, and the SHA-256 of the bank lines that show it. */
const Refunded = Schema.Struct({ amount: Field.decimal, evidence: Field.digest })

/** Units of a subscription that were delivered and are not yet settled. */
export const DeliveredLot = define({
  typeRef: named("DeliveredLot"),
  payload: Schema.Struct({
    ...priced,
    deliveredAt: Field.instant,
    holdingCid: Field.optional(cid),
    mintRequestCid: Field.optional(cid)
  }),
  choices: {
    Settle: {
      consuming: true,
      argument: Schema.Struct({
        allocationCid: Field.optional(cid),
        /** The SHA-256 of what shows the cash outside the ledger. */
        evidence: Field.optional(Field.digest),
        /** Paid by wire, what the bank has paid back to the holder already. */
        refunded: Field.optional(Refunded),
        /** Refund that is not paid back yet; a contract records it until it is. */
        owed: Field.optional(Field.decimal)
      }),
      result: Schema.Struct({ cash: Field.optional(cid), owedRefund: Field.optional(cid) })
    },
    /** Requests the mint again where the registrar did not mint; the credential as in Deliver. */
    Redeliver: {
      consuming: true,
      argument: Schema.Struct({
        /** As in Deliver. */
        credentialCid: Field.optional(cid),
        executeBefore: Field.optional(Field.instant)
      }),
      result: Schema.Struct({ deliveredLot: cid, mintRequest: cid })
    },
    /**
     * Ends an order whose mint was requested and never accepted. An open mint request is named and
     * withdrawn with it; one that its registrar has accepted in the meantime stops the release.
     */
    Release: {
      consuming: true,
      argument: Schema.Struct({ mintRequestCid: Field.optional(cid) }),
      result: Field.unit
    }
  }
})

/**
 * A debt of the fund to the holder of a closed wire-paid order: cash that bought no units. The
 * holder sees the contract until bank lines show that the debt is paid.
 */
export const OwedRefund = define({
  typeRef: named("OwedRefund"),
  payload: Schema.Struct({
    venue: Field.party,
    subscriptionId: Field.text,
    orderId: Field.optional(Field.text),
    instrument: Field.asset,
    holder: Field.party,
    custodian: Field.optional(Field.party),
    currency: Field.text,
    amount: Field.decimal
  }),
  choices: {
    /** The bank paid this part of the debt; the rest is owed under a new contract. */
    Pay: {
      consuming: true,
      argument: Refunded,
      result: Schema.Struct({ owedRefund: Field.optional(cid) })
    }
  }
})
