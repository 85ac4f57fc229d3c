/** A fund that distributes monthly, its oracle's points and its holders: where distributions are executed. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Stream } from "effect"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import type * as Calls from "../engine/calls.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

/** Terms of a par fund that pays cash on the third of the month after. */
export const par = {
  valuation: "par",
  parValue: 1,
  holderCap: 5000,
  distribution: {
    schedule: "monthly",
    withholding: 0.15,
    payoutDecimals: 2,
    payout: "cash",
    calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 3 }
  }
} as const satisfies Readonly<Record<string, Calls.Json>>

/** The same by the price of its units, paid in units. */
export const accumulating = {
  ...par,
  valuation: "accumulating",
  parValue: null,
  distribution: { ...par.distribution, payout: "units" }
} as const satisfies Readonly<Record<string, Calls.Json>>

/** The fund on the last day of June, with these holders admitted. */
export const founded = (
  holderIds: ReadonlyArray<string>,
  terms: Readonly<Record<string, Calls.Json>> = par
) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened(terms, "2026-06-30T12:00:00Z")
    const holders = yield* Effect.forEach(holderIds, (id) => Cycles.joins(stage, id))
    return { stage, holders }
  })

interface Stated {
  /** Metric of the point: income of a unit for a day, or its price. */
  readonly metric?: "income" | "price"
  readonly withholdingRate?: string
  readonly instrumentId?: string
}

/** The oracle publishes a point valued at an instant. */
export const publishes = (
  stage: Fund.Parties,
  value: string,
  valuationTime: string,
  { instrumentId = "fund-a", metric = "income", withholdingRate }: Stated = {}
) =>
  stage.oracle.act(
    Templates.create(Templates.OraclePoint, {
      oracle: stage.oracle.party,
      venue: stage.venue,
      fund: stage.fund.party,
      registrar: stage.registrar.party,
      attestors: [],
      instrumentId,
      metric,
      value: Decimal.of(value),
      valuationTime: Instant.of(valuationTime),
      period: null,
      withholdingRate: withholdingRate === undefined ? null : Decimal.of(withholdingRate),
      statementRef: null,
      corrects: null
    })
  )

/** Lines of a distribution, in their order. */
export const linesOf = (distributionId: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* Stream.runCollect(
      records.stream(distributionLines, { where: { distributionId: [distributionId] } })
    )
    return found.map(({ record }) => record)
  })

export const distributionOf = (distributionId: string) =>
  Effect.flatMap(Records, (records) => records.get(distributions, distributionId))
