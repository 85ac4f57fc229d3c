/**
 * Members of the plan of an execution that every line is computed from: pins, prices and days of
 * points, earlier distributions, and where the lines of each ledger step begin.
 */
import { Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Month from "../../kernel/Month.ts"
import * as Offset from "../../kernel/Offset.ts"
import type * as Party from "../../kernel/Party.ts"
import type { ValuationMode } from "../../vocabulary/sets.ts"
import * as Field from "../../templates/Field.ts"
import { DistributionId } from "./DistributionTerms.ts"
import type { PeriodPricing, LineTerms } from "./DistributionRules.ts"

const { Array: List, NullOr, String: Text, Struct } = Schema

/** Lines that one ledger step adds. */
export const LineStep = Struct({
  /** Number of lines, at least one. */
  lines: Integer.schema,
  /** Holder or party of the line before the first; null: the step begins with the first line. */
  after: NullOr(Struct({ of: Schema.Literals(["holder", "party"]), after: NullOr(Text) })),
  /** Hash of the lines (docs/domain/figures.md#hash-of-the-lines). */
  hash: Text
})
export type LineStep = typeof LineStep.Type

/** Members of a plan that its distribution does not keep. */
export const sourceFields = {
  /** Instant at which attributes and rates were judged. */
  executedAt: Instant.schema,
  /** Price or index of `fromPoint`; null where there is none. */
  fromPrice: NullOr(Decimal.schema),
  /** Price or index of `toPoint`. */
  toPrice: Decimal.schema,
  /** Of a par instrument: points whose days reach into the period, by date. */
  points: List(
    Struct({
      contractId: Field.contractId,
      /** Income of one unit for one day, in currency. */
      income: Decimal.schema,
      days: Integer.schema,
      /** Last offset of the point's date, at whose end the units count. */
      offset: Offset.schema
    })
  ),
  /** The instrument's last executed distribution, whose carries are taken in. */
  previous: NullOr(Struct({ distributionId: DistributionId, month: Month.schema })),
  /** Distributions with lines that are due, suspended or delivered. */
  unrolledIn: List(Text),
  /** Offsets at which parties that are no holders have units. */
  partyOffsets: List(Offset.schema),
  /** Sum of the lines' carryIn, in currency. */
  carryIn: Decimal.schema,
  steps: List(LineStep)
} as const

const SourceMembers = Struct(sourceFields)

/** All inputs of the lines of a distribution, besides records at its pins. */
export interface LineSource
  extends Pick<
    typeof SourceMembers.Type,
    "executedAt" | "points" | "previous" | "unrolledIn" | "partyOffsets"
  > {
  readonly instrumentId: string
  readonly registrar: Party.Party
  readonly unitDecimals: number
  readonly terms: LineTerms
  readonly ratesSeen: ReadonlyArray<Decimal.Decimal>
  readonly withholding: Decimal.Decimal
  readonly recordOffset: Offset.Offset
  readonly recordEndsAt: Instant.Instant
  readonly executedOffset: Offset.Offset
}

/** Members of a plan that decide the amounts of lines, besides the pins. */
type PlanTerms = Pick<typeof SourceMembers.Type, "fromPrice" | "toPrice"> & {
  readonly valuation: ValuationMode
  readonly payoutPrice: Decimal.Decimal | null
  readonly payoutDecimals: number
  readonly unitDecimals: number
}

/** Returns the terms of every line of a plan. */
export const termsOf = ({
  valuation,
  fromPrice,
  toPrice,
  payoutPrice,
  payoutDecimals,
  unitDecimals
}: PlanTerms): LineTerms => ({
  pricing: pricingOf({ valuation, from: fromPrice, to: toPrice }),
  payoutDecimals,
  payout: payoutPrice === null ? null : { price: payoutPrice, unitDecimals }
})

const pricingOf = ({
  valuation,
  from,
  to
}: {
  readonly valuation: ValuationMode
  readonly from: Decimal.Decimal | null
  readonly to: Decimal.Decimal
}): PeriodPricing => {
  if (valuation === "par") return { valuation }
  if (from === null) throw new Error(`income by ${valuation} is counted from a point`)
  return valuation === "accumulating"
    ? { valuation, exPrice: from, cumPrice: to }
    : { valuation, fromIndex: from, toIndex: to }
}
