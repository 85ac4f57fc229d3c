/**
 * Templates of backed instruments: a reserve and its terms, agreements that lock assets for it,
 * mints against it, redemptions from it, amendments of its terms, and its reports.
 *
 * A reserve is drained by no party: the authority of its holder over locked holdings exists only inside
 * `MintOrder.Settle`, `ReserveRedemptionOrder.Settle` and `LockAgreement.Release`. The reserve counts
 * for itself what is outstanding and locked, so that two mints which each fit, and together do not,
 * cannot both settle.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { define } from "./Template.ts"
import type { TypeRef } from "./Template.ts"

const named = (entity: string): TypeRef => ({
  packageName: "bursar-admin-v1",
  module: "Bursar.Admin.Reserve",
  entity
})

const cid = Field.contractId
const made = Schema.Struct({ contractId: cid })
const nothing = { consuming: true, argument: Field.unit, result: Field.unit } as const

/** Argument of a choice that one of several parties exercises, named by `party`. */
const by = Schema.Struct({ party: Field.party })

/** Most assets that a reserve has. */
export const reserveAssetsMax = 20

/** An asset that a reserve counts, and how it counts. */
export const ReserveAssetTerms = Schema.Struct({
  asset: Field.asset,
  /** Party whose points price the asset; absent: one unit is worth 1. */
  priceSource: Field.optional(Field.party),
  /** Longest age of a point that counts, in microseconds; absent: any age. */
  freshness: Field.optional(Field.count),
  /** Fraction of the worth that does not count. */
  haircut: Field.decimal,
  /** Largest fraction of the requirement that the asset may carry; absent: all. */
  maxShare: Field.optional(Field.decimal)
})
export type ReserveAssetTerms = typeof ReserveAssetTerms.Type

/** Terms of a reserve: its assets, their haircuts and the cover that it must have. */
export const ReserveTerms = Schema.Struct({
  assets: Field.list(ReserveAssetTerms),
  /** Least counted value by the value outstanding. */
  minCover: Field.decimal
})
export type ReserveTerms = typeof ReserveTerms.Type

/** Members of a reserve that no amendment changes. */
const body = {
  venue: Field.party,
  reserveId: Field.text,
  /** The backed instrument; its registrar is its issuer. */
  instrument: Field.asset,
  issuer: Field.party,
  /** Party that owns every holding of the reserve. */
  holder: Field.party,
  /** Unit of account of every price. */
  unit: Field.text,
  /** Places that units of a mint and payouts round to. */
  decimals: Field.count,
  /** Places that the share price of an accumulating reserve rounds to. */
  priceDecimals: Field.count,
  /** Worth of a unit at par; absent: the reserve is accumulating. */
  parValue: Field.optional(Field.decimal),
  /** Share price of an accumulating reserve while nothing is outstanding; absent: 1. */
  initialSharePrice: Field.optional(Field.decimal),
  /** Wait after the acceptance before a loosening is in force, in microseconds. */
  loosenDelay: Field.count
} as const

/** The venue asks the instrument's issuer and the reserve's holder; each accepts once. */
export const ReserveProposal = define({
  typeRef: named("ReserveProposal"),
  payload: Schema.Struct({ ...body, terms: ReserveTerms, accepted: Field.parties }),
  choices: {
    /** Returns the proposal with one more signature; on the last signature, the reserve. */
    Accept: {
      consuming: true,
      argument: by,
      result: Schema.Struct({ proposal: Field.optional(cid), reserve: Field.optional(cid) })
    },
    Decline: { consuming: true, argument: by, result: Field.unit },
    Withdraw: nothing
  }
})

/** An amount of an asset. */
const assetAmount = { asset: Field.asset, amount: Field.decimal } as const

/** Amount of an asset. */
export const AssetAmount = Schema.Struct(assetAmount)
export type AssetAmount = typeof AssetAmount.Type

/**
 * Contracts by which the ledger judges the cover for itself: every holding that is locked for the
 * reserve, once, and one point of each asset that has a price source, or none where it has no point.
 */
const judging = { holdingCids: Field.list(cid), pointCids: Field.list(cid) } as const

/** Cover of a reserve as the ledger computes it. */
export const LedgerCover = Schema.Struct({
  /** In the unit of account, rounded up to 10 places. */
  required: Field.decimal,
  /** In the unit of account, rounded down to 10 places. */
  counted: Field.decimal,
  /** Counted by the value outstanding, rounded down to 10 places; absent: nothing is outstanding. */
  ratio: Field.optional(Field.decimal),
  state: Schema.Literals(["covered", "low", "unknown"])
})
export type LedgerCover = typeof LedgerCover.Type

const depositOrder = {
  depositor: Field.party,
  asset: Field.asset,
  deposit: Field.decimal,
  /** Units that the deposit mints, fixed at the start. */
  units: Field.decimal,
  executeBefore: Field.instant
} as const

const payoutOrder = {
  owner: Field.party,
  units: Field.decimal,
  asset: Field.asset,
  /** Amount that the units are paid, fixed at the start. */
  payout: Field.decimal,
  executeBefore: Field.instant
} as const

/** Reserve of assets that backs the units of an instrument. */
export const Reserve = define({
  typeRef: named("Reserve"),
  payload: Schema.Struct({
    ...body,
    /** Units outstanding, by the reserve's own count. */
    outstanding: Field.decimal,
    /** Locked amounts by the reserve's own count; none of them is 0. */
    locked: Field.list(AssetAmount),
    terms: ReserveTerms,
    /** Accepted terms that loosen, and the instant from which they are in force. */
    pending: Field.optional(
      Schema.Struct({
        amendmentId: Field.text,
        terms: ReserveTerms,
        effectiveAt: Field.instant
      })
    ),
    /** True: nothing more is minted. */
    closing: Field.flag
  }),
  choices: {
    ComputeReport: {
      consuming: false,
      argument: Schema.Struct({ reportId: Field.text, supply: Field.decimal, ...judging }),
      result: made
    },
    StartMint: {
      consuming: false,
      argument: Schema.Struct({
        mintId: Field.text,
        ...depositOrder,
        supply: Field.decimal,
        ...judging
      }),
      result: made
    },
    StartRedemption: {
      consuming: false,
      argument: Schema.Struct({
        reserveRedemptionId: Field.text,
        ...payoutOrder,
        supply: Field.decimal,
        ...judging
      }),
      result: made
    },
    /** Counts a settled order; venue, issuer and holder exercise it together. */
    Take: {
      consuming: true,
      argument: Schema.Struct({
        supply: Field.decimal,
        /** Units minted; below 0, burned. */
        change: Field.decimal,
        asset: Field.asset,
        /** Amount locked; below 0, paid. */
        lockedChange: Field.decimal
      }),
      result: made
    },
    /** Counts what is locked by its holder, or released to it; venue and holder exercise it together. */
    Note: {
      consuming: true,
      argument: Schema.Struct({ asset: Field.asset, lockedChange: Field.decimal }),
      result: made
    },
    /** Sets terms at once that only tighten, else after the delay; venue and issuer together. */
    Amend: {
      consuming: true,
      argument: Schema.Struct({ amendmentId: Field.text, terms: ReserveTerms }),
      result: made
    },
    WithdrawPending: {
      consuming: true,
      argument: Schema.Struct({ amendmentId: Field.text }),
      result: made
    },
    /** The issuer sets the counter right where units left by another way than an order. */
    Recount: {
      consuming: true,
      argument: Schema.Struct({ outstanding: Field.decimal }),
      result: made
    },
    /** Ends the mints; `empty` ends the contract, where nothing is outstanding or locked. */
    Close: {
      consuming: true,
      argument: Schema.Struct({ empty: Field.flag }),
      result: Schema.Struct({ reserve: Field.optional(cid) })
    }
  }
})

const agreement = {
  venue: Field.party,
  lockAgreementId: Field.text,
  reserveId: Field.text,
  asset: Field.asset,
  holder: Field.party
} as const

/** The asset's registrar accepts first, then the holder, which locks what it agreed to. */
export const LockAgreementProposal = define({
  typeRef: named("LockAgreementProposal"),
  payload: Schema.Struct({
    ...agreement,
    /** Amount that the holder locks when it accepts; it may be 0. */
    amount: Field.decimal,
    accepted: Field.parties
  }),
  choices: {
    Accept: {
      consuming: true,
      argument: Schema.Struct({
        party: Field.party,
        /** Named by the holder where it locks an amount. */
        reserveCid: Field.optional(cid),
        holdingCids: Field.list(cid)
      }),
      result: Schema.Struct({
        proposal: Field.optional(cid),
        agreement: Field.optional(cid),
        locked: Field.optional(cid),
        reserve: Field.optional(cid)
      })
    },
    Decline: { consuming: true, argument: by, result: Field.unit },
    Withdraw: nothing
  }
})

/** Holdings of the asset may be locked for the reserve, and released on the ledger's own judgement. */
export const LockAgreement = define({
  typeRef: named("LockAgreement"),
  payload: Schema.Struct(agreement),
  choices: {
    LockMore: {
      consuming: false,
      argument: Schema.Struct({
        reserveCid: cid,
        holdingCid: cid,
        amount: Field.decimal,
        /** Holding that is locked of the asset before; the two become one. */
        lockedCid: Field.optional(cid)
      }),
      result: Schema.Struct({ locked: cid, change: Field.optional(cid), reserve: cid })
    },
    Release: {
      consuming: true,
      argument: Schema.Struct({
        reserveCid: cid,
        /** Everything that is locked of the asset. */
        lockedCids: Field.list(cid),
        /** Contracts by which the ledger judges the cover without it. */
        ...judging,
        supply: Field.decimal,
        /** Ends a closing reserve of which nothing is outstanding and nothing else is locked. */
        last: Field.flag
      }),
      result: Schema.Struct({ released: Field.list(cid), reserve: Field.optional(cid) })
    }
  }
})

/** Order of a holder to mint units against an asset. */
export const MintOrder = define({
  typeRef: named("MintOrder"),
  payload: Schema.Struct({
    venue: Field.party,
    issuer: Field.party,
    holder: Field.party,
    mintId: Field.text,
    reserveId: Field.text,
    instrument: Field.asset,
    ...depositOrder,
    /** The depositor's allocation; absent until it accepts. */
    allocationCid: Field.optional(cid)
  }),
  choices: {
    /** Names the allocation that pays the deposit; another one may be named later. */
    Accept: { consuming: true, argument: Schema.Struct({ allocationCid: cid }), result: made },
    Decline: nothing,
    Settle: {
      consuming: true,
      argument: Schema.Struct({
        reserveCid: cid,
        lockAgreementCid: cid,
        supply: Field.decimal,
        /** Credential of the depositor for the instrument. */
        credentialCid: cid,
        configurationCid: Field.optional(cid),
        /** Credential of the reserve's holder for a restricted deposit. */
        depositCredentialCid: Field.optional(cid),
        intentCid: Field.optional(cid),
        /** Holding that is locked of the asset before. */
        lockedCid: Field.optional(cid),
        ...judging
      }),
      result: Schema.Struct({
        reserve: cid,
        locked: cid,
        holding: cid,
        coverBefore: LedgerCover,
        coverAfter: LedgerCover
      })
    },
    Cancel: {
      consuming: true,
      argument: Schema.Struct({
        allocationCid: Field.optional(cid),
        intentCid: Field.optional(cid)
      }),
      result: Field.unit
    }
  }
})

/** Order of a holder to redeem units for an asset of the reserve. */
export const ReserveRedemptionOrder = define({
  typeRef: named("ReserveRedemptionOrder"),
  payload: Schema.Struct({
    venue: Field.party,
    issuer: Field.party,
    holder: Field.party,
    reserveRedemptionId: Field.text,
    reserveId: Field.text,
    instrument: Field.asset,
    ...payoutOrder,
    /** The owner's locked units; absent until it accepts. */
    lockedUnitsCid: Field.optional(cid)
  }),
  choices: {
    /** Locks the units until the deadline. */
    Accept: {
      consuming: true,
      argument: Schema.Struct({ holdingCid: cid }),
      result: Schema.Struct({ contractId: cid, change: Field.optional(cid) })
    },
    Decline: nothing,
    Settle: {
      consuming: true,
      argument: Schema.Struct({
        reserveCid: cid,
        supply: Field.decimal,
        /** Credential of the owner for a restricted payout. */
        payoutCredentialCid: Field.optional(cid),
        /** Holding that is locked of the asset that is paid. */
        lockedCid: cid,
        ...judging
      }),
      result: Schema.Struct({
        reserve: cid,
        /** Holding that stays locked of the asset; absent: none. */
        locked: Field.optional(cid),
        paid: cid,
        coverBefore: LedgerCover,
        coverAfter: LedgerCover
      })
    },
    Cancel: {
      consuming: true,
      argument: Schema.Struct({ lockedUnitsCid: Field.optional(cid) }),
      result: Field.unit
    }
  }
})

/** The venue asks the issuer for other terms. */
export const AmendmentProposal = define({
  typeRef: named("AmendmentProposal"),
  payload: Schema.Struct({
    venue: Field.party,
    amendmentId: Field.text,
    reserveId: Field.text,
    issuer: Field.party,
    holder: Field.party,
    terms: ReserveTerms
  }),
  choices: {
    Accept: { consuming: true, argument: Schema.Struct({ reserveCid: cid }), result: made },
    Decline: nothing,
    Withdraw: nothing
  }
})

/** An asset of a report: what is locked of it and what it counts. */
export const ReserveReportLine = Schema.Struct({
  ...assetAmount,
  /** Absent: its source has published no point. */
  price: Field.optional(Field.decimal),
  fresh: Field.flag,
  /** In the unit of account, rounded down to 10 places, as is `counted`. */
  value: Field.decimal,
  counted: Field.decimal
})

/** A statement of the reserve that the ledger computed. */
export const ReserveReport = define({
  typeRef: named("ReserveReport"),
  payload: Schema.Struct({
    venue: Field.party,
    issuer: Field.party,
    holder: Field.party,
    reportId: Field.text,
    reserveId: Field.text,
    outstanding: Field.decimal,
    cover: LedgerCover,
    /** Worth of one unit, rounded down; absent: an asset has no price, or the units own nothing. */
    sharePrice: Field.optional(Field.decimal),
    lines: Field.list(ReserveReportLine),
    pointCids: Field.list(cid),
    at: Field.instant
  }),
  choices: {}
})
