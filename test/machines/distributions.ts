/** Distributions and lines that tests begin with, as the first of them would be opened. */
import { type Distribution, DistributionId } from "#core/distributions/distribution/Distribution.ts"
import {
  type DistributionLine,
  lineIdOf,
  firstOf
} from "#core/distributions/distribution/DistributionLine.ts"
import { InstrumentId } from "#core/instruments/instrument/Manifest.ts"
import * as Date from "#core/kernel/Date.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import * as Instant from "#core/kernel/Instant.ts"
import * as Month from "#core/kernel/Month.ts"
import * as Offset from "#core/kernel/Offset.ts"
import * as Party from "#core/kernel/Party.ts"
import * as Zone from "#core/kernel/Zone.ts"
import type { LineReason } from "#core/vocabulary/sets.ts"
import { Schema } from "effect"

export const registrar = Party.of(`registrar::${"1220".padEnd(68, "a")}`)
export const holder = Party.of(`holder::${"1220".padEnd(68, "b")}`)
export const successor = Party.of(`successor::${"1220".padEnd(68, "c")}`)
export const executedAt = Instant.of("2026-08-03T09:00:00Z")

/** July's distribution of a par fund in cash, with one line of 54.32. */
export const distribution = (changes: Partial<Distribution> = {}): Distribution => ({
  distributionId: Schema.decodeSync(DistributionId)("d-july"),
  instrumentId: Schema.decodeSync(InstrumentId)("fund-a"),
  month: Month.of("2026-07"),
  recordDate: Date.of("2026-07-31"),
  recordEndsAt: Instant.of("2026-08-01T00:00:00Z"),
  recordOffset: Offset.of(40),
  exDate: null,
  paymentDate: Date.of("2026-08-03"),
  zone: Zone.utc,
  policyVersion: 1,
  valuation: "par",
  fromPoint: null,
  toPoint: "00aa",
  pointCids: ["00aa"],
  withholding: Decimal.of("0.15"),
  ratesSeen: [],
  acknowledgedRate: null,
  rateChange: "alert",
  payoutAsset: { admin: registrar, id: "EUR" },
  payout: "cash",
  payoutPrice: null,
  payoutDecimals: 2,
  linesHash: "0".repeat(64),
  totals: {
    holders: 1,
    entitlement: Decimal.of("54.3209871644"),
    gross: Decimal.of("54.32"),
    equalisation: Decimal.zero,
    withheld: Decimal.of("8.15"),
    net: Decimal.of("46.17"),
    payoutUnits: null,
    residual: Decimal.zero,
    carried: Decimal.of("0.0009871644"),
    suspended: Decimal.zero
  },
  executedOffset: Offset.of(44),
  payableFrom: Instant.of("2026-08-03T00:00:00Z"),
  registrar,
  currency: "EUR",
  unitDecimals: 6,
  unrolled: 0,
  state: "executed",
  executedBy: { operationId: "op_1", standingApprovalId: null },
  executedAt,
  sealedAt: null,
  clearedByRun: null,
  holdId: null,
  ...changes
})

/** Line of 54.32 of July, which waits for these causes. */
export const line = (
  causes: ReadonlyArray<LineReason> = [],
  changes: Partial<DistributionLine> = {}
): DistributionLine => {
  const { distributionId, instrumentId, month } = distribution()
  return {
    lineId: lineIdOf(distributionId, 1),
    distributionId,
    instrumentId,
    month,
    holderId: "h1",
    party: holder,
    units: Decimal.of("12345.678901"),
    entitlement: Decimal.of("54.3209871644"),
    carryIn: Decimal.zero,
    gross: Decimal.of("54.32"),
    equalisation: Decimal.zero,
    rate: Decimal.of("0.15"),
    rateSource: "default",
    withheld: Decimal.of("8.15"),
    net: Decimal.of("46.17"),
    carryOut: Decimal.of("0.0009871644"),
    payoutUnits: null,
    state: causes.length === 0 ? "due" : "suspended",
    reason: firstOf(causes),
    carriedFrom: null,
    predecessor: null,
    evidence: null,
    deliveredAt: null,
    paidOn: null,
    deliveredUid: null,
    lost: false,
    delivery: null,
    rolledUid: null,
    number: 1,
    computedFor: { holderId: "h1", party: holder },
    payout: "cash",
    registrar,
    custodian: null,
    causes,
    lineCid: "00bb",
    directed: { party: holder, waits: causes.length > 0 },
    visible: { version: 1, at: executedAt },
    ...changes
  }
}
