/** Terms, dates and pins of a distribution, fixed when its first ledger step is planned. */
import { Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Month from "../../kernel/Month.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Field from "../../templates/Field.ts"
import * as sets from "../../vocabulary/sets.ts"

export const DistributionId = RecordId.make("DistributionId")
export type DistributionId = typeof DistributionId.Type

/** Largest length of a distribution's id: the ids of its lines append a dot and a number. */
export const idLengthMax = 100

const { NullOr, String: Text } = Schema

/** Sums over the lines of one distribution, in the instrument's currency unless said. */
export const Totals = Schema.Struct({
  /** Number of lines. */
  holders: Integer.schema,
  entitlement: Decimal.schema,
  gross: Decimal.schema,
  equalisation: Decimal.schema,
  withheld: Decimal.schema,
  net: Decimal.schema,
  /** Units of the instrument; null where none are paid. */
  payoutUnits: NullOr(Decimal.schema),
  /** Stays with the fund: rests of leavers, of entitlements and of nets that bought no unit. */
  residual: Decimal.schema,
  /** Sum of the lines' carryOut. */
  carried: Decimal.schema,
  /** Net of the lines that were suspended when the distribution was sealed; 0 before. */
  suspended: Decimal.schema
}).annotate({
  identifier: "DistributionTotals",
  description: "Sums over the lines of a distribution."
})
export type Totals = typeof Totals.Type

/** Members of the plan of an execution that its distribution keeps. */
export const fields = {
  distributionId: DistributionId,
  instrumentId: InstrumentId,
  month: Month.schema,
  recordDate: Date.schema,
  /** The midnight in `zone` that ends the record date. */
  recordEndsAt: Instant.schema,
  /**
   * Last offset whose ledger time is before `recordEndsAt`, at which the register of record is read;
   * null for a distribution that a snapshot of the ledger showed.
   */
  recordOffset: NullOr(Offset.schema),
  /** Null where income accrues daily (par): no price goes ex. */
  exDate: NullOr(Date.schema),
  paymentDate: Date.schema,
  /** Business zone of the instrument when the month began. */
  zone: Zone.schema,
  /** Version of the policy in force at the end of the record date. */
  policyVersion: Integer.schema,
  valuation: sets.ValuationMode.schema,
  fromPoint: NullOr(Field.contractId),
  toPoint: Field.contractId,
  /** Contracts of the points that the figures were computed from. */
  pointCids: Schema.Array(Field.contractId),
  /** Rate of lines without a rate of their own: the latest of the period, else the instrument's. */
  withholding: Decimal.schema,
  /** Distinct rates that points of the period state, the latest last. */
  ratesSeen: Schema.Array(Decimal.schema),
  acknowledgedRate: NullOr(Decimal.schema),
  rateChange: sets.RateChange.schema,
  /** For units {registrar, instrument}, for cash {registrar, currency}. */
  payoutAsset: Field.asset,
  payout: sets.PayoutForm.schema,
  /** Price of a unit that is paid out; null where none are paid. */
  payoutPrice: NullOr(Decimal.schema),
  payoutDecimals: Integer.schema,
  linesHash: Text,
  totals: Totals,
  /** Head of the projection at which the first step was planned: all else is read there. */
  executedOffset: Offset.schema,

  /** First instant at which the registrar may deliver: the payment date begins in `zone`. */
  payableFrom: Instant.schema,
  registrar: Party.schema,
  currency: Text,
  unitDecimals: Integer.schema,
  /** Number of lines that are left out because an earlier one of their holder is not rolled. */
  unrolled: Integer.schema,
  /** The standing approval that the execution uses; null: people approved it. */
  standingApprovalId: NullOr(Text)
} as const
