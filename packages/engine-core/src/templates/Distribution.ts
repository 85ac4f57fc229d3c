/**
 * Templates of distributions: the months of an instrument, one executed month, and the line of each
 * payee (docs/domain/distributions.md#on-the-ledger).
 */
import { Schema } from "effect"
import * as Date from "../kernel/Date.ts"
import * as Field from "./Field.ts"
import { define } from "./Template.ts"
import type { TypeRef } from "./Template.ts"

const named = (entity: string): TypeRef => ({
  packageName: "bursar-admin-v1",
  module: "Bursar.Admin.Distribution",
  entity
})

const cid = Field.contractId
const made = Schema.Struct({ contractId: cid })

/** Largest number of lines that one AddLines takes. */
export const batchLinesMax = 1_000

/**
 * Payout of a distribution: units of the instrument by the registrar's mint, cash by its evidence
 * of a payment, or none, where a rebasing instrument's units already hold the income.
 */
export const DistributionPayout = Schema.Literals(["units", "cash", "none"])
export type DistributionPayout = typeof DistributionPayout.Type

/** Origin of a line's rate: the instrument's terms, an oracle point, or the holder's attribute. */
export const DistributionRateSource = Schema.Literals(["default", "point", "attribute"])

/** Reason why a line pays nothing and leaves all to the next month. */
export const CarryReason = Schema.Literals(["unrolled", "below-smallest"])

/** Sums of the lines' figures, in the instrument's currency unless said. */
export const DistributionTotals = Schema.Struct({
  entitlement: Field.decimal,
  carryIn: Field.decimal,
  gross: Field.decimal,
  equalisation: Field.decimal,
  withheld: Field.decimal,
  net: Field.decimal,
  carryOut: Field.decimal,
  /** In units of the instrument; 0 where none are paid. */
  payoutUnits: Field.decimal
})
export type DistributionTotals = typeof DistributionTotals.Type

/** Figures of one payee in one month, in the instrument's currency unless said. */
export const DistributedLine = Schema.Struct({
  /** Number of the line in its distribution, from 1 in the order of the lines. */
  number: Field.count,
  holder: Field.party,
  custodian: Field.optional(Field.party),
  /** Units on the register of record. */
  units: Field.decimal,
  entitlement: Field.decimal,
  carryIn: Field.decimal,
  /** Month of the line that carryIn comes from. */
  carriedFrom: Field.optional(Field.month),
  gross: Field.decimal,
  equalisation: Field.decimal,
  /** Fraction of the gross without its equalisation that is withheld, from 0 to 1. */
  rate: Field.decimal,
  rateSource: DistributionRateSource,
  withheld: Field.decimal,
  net: Field.decimal,
  carryOut: Field.decimal,
  /** In units of the instrument; absent where none are paid. */
  payoutUnits: Field.optional(Field.decimal),
  /** Present on lines with gross 0, and on those alone. */
  carried: Field.optional(CarryReason),
  /** True: the registrar must not deliver the line yet. The cause is never on the ledger. */
  waits: Field.flag
})
export type DistributedLine = typeof DistributedLine.Type

/** Terms of one month's distribution, as the venue executes them. */
const terms = {
  distributionId: Field.text,
  fund: Field.optional(Field.party),
  month: Field.month,
  recordDate: Date.schema,
  /** First instant at which the registrar may deliver. */
  payableFrom: Field.instant,
  /** Contracts of the oracle points that the figures use. */
  pointCids: Field.list(cid),
  /** Latest withholding rate of the period, from 0 to 1. */
  rate: Field.decimal,
  payout: DistributionPayout,
  /** Price of a unit that is paid out, in currency; present where units are paid, and there alone. */
  payoutPrice: Field.optional(Field.decimal),
  /** Hash of all lines, which approvers signed. */
  linesHash: Field.digest
} as const

/**
 * Guard of an instrument's months: a month is executed once, and none after a later one. Keeps the
 * latest month alone, because a list of months would grow for ever.
 */
export const DistributionSlot = define({
  typeRef: named("DistributionSlot"),
  payload: Schema.Struct({
    venue: Field.party,
    instrument: Field.asset,
    lastMonth: Field.optional(Field.month)
  }),
  choices: {
    Execute: {
      consuming: true,
      argument: Schema.Struct(terms),
      result: Schema.Struct({ slot: cid, distribution: cid })
    }
  }
})

/** Distribution of a month, sealed with the hashes and totals of its lines. */
export const Distribution = define({
  typeRef: named("Distribution"),
  payload: Schema.Struct({
    venue: Field.party,
    instrument: Field.asset,
    registrar: Field.party,
    ...terms,
    /** Number of lines added until now. */
    lineCount: Field.count,
    /** Sums of the lines added until now. */
    totals: DistributionTotals,
    /** True: no line is added any more. */
    sealed: Field.flag,
    /** True: the registrar may deliver lines that do not wait. */
    open: Field.flag
  }),
  choices: {
    /** Adds lines; those with a gross above 0 become contracts of their own. */
    AddLines: {
      consuming: true,
      argument: Schema.Struct({
        /** Number of lines before these. */
        expectedCount: Field.count,
        lines: Field.list(DistributedLine)
      }),
      result: Schema.Struct({
        distribution: cid,
        lines: Field.list(Schema.Struct({ number: Field.count, contractId: cid }))
      })
    },
    /** Ends the adding of lines, whose number and sums must be the signed ones. */
    Seal: {
      consuming: true,
      argument: Schema.Struct({ lineCount: Field.count, totals: DistributionTotals }),
      result: made
    },
    Open: { consuming: true, argument: Field.unit, result: made },
    Close: { consuming: true, argument: Field.unit, result: made }
  }
})

/** Fields of a line before and after its delivery. */
const line = {
  venue: Field.party,
  distributionId: Field.text,
  lineId: Field.text,
  instrument: Field.asset,
  registrar: Field.party,
  holder: Field.party,
  custodian: Field.optional(Field.party),
  units: Field.decimal,
  gross: Field.decimal,
  withheld: Field.decimal,
  net: Field.decimal,
  payoutUnits: Field.optional(Field.decimal)
} as const

/** The registrar's evidence that cash was paid. */
export const PaymentEvidence = Schema.Struct({
  /** Reference of the payment at the bank. */
  reference: Field.name,
  /** Day on which the bank paid. */
  paidOn: Date.schema
})

/**
 * Amount that one payee is owed. Its holder is no observer before the delivery: that it waits would
 * tip the holder off.
 */
export const DistributionLine = define({
  typeRef: named("DistributionLine"),
  payload: Schema.Struct({ ...line, waits: Field.flag }),
  choices: {
    /** The registrar pays: units by a mint to the holder's credential, cash by its evidence. */
    Deliver: {
      consuming: true,
      argument: Schema.Struct({
        distributionCid: cid,
        credentialCid: Field.optional(cid),
        /** Shows whether the minted units are restricted; without it they are. */
        configurationCid: Field.optional(cid),
        evidence: Field.optional(PaymentEvidence)
      }),
      result: Schema.Struct({ delivered: cid, holding: Field.optional(cid) })
    },
    /** The venue makes a line wait or lets it be delivered, and names who is to be paid. */
    Direct: {
      consuming: true,
      argument: Schema.Struct({
        holder: Field.party,
        custodian: Field.optional(Field.party),
        waits: Field.flag
      }),
      result: made
    },
    /** The venue cancels the line under an order, named by the SHA-256 of its document. */
    Void: {
      consuming: true,
      argument: Schema.Struct({ orderRef: Field.digest }),
      result: Field.unit
    }
  }
})

/** Line of a distribution that was delivered to its payee. */
export const DeliveredLine = define({
  typeRef: named("DeliveredLine"),
  payload: Schema.Struct({
    ...line,
    evidence: Field.optional(PaymentEvidence),
    /** Units that were minted; absent where none are paid. */
    holdingCid: Field.optional(cid),
    deliveredAt: Field.instant
  }),
  choices: {
    /** Ends the contract; nothing is created, so that no contract a month remains for each holder. */
    Roll: { consuming: true, argument: Field.unit, result: Field.unit }
  }
})
