/** A fund that distributes monthly, its oracle's points and its holders: where distributions are executed. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

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

/** A holder buys one unit by wire at a price that the oracle publishes. */
export const buys = (
  stage: Fund.Parties,
  { holderId, party }: Cycles.Holder,
  month: { readonly id: string; readonly at: string; readonly price: string; readonly pays: string }
) =>
  Effect.gen(function* () {
    const { at, id, pays, price } = month
    yield* Cycles.at(at)
    yield* Calls.write(
      "subscription.claim",
      {},
      {
        instrumentId: "fund-a",
        payment: "wire",
        subscriptionId: id,
        holderId,
        amount: Number(pays)
      }
    )
    const cutOff = at.replace("T12", "T20")
    yield* Cycles.at(cutOff)
    yield* publishes(stage, price, cutOff, { metric: "price" })
    const claim = yield* Powers.saying(Templates.SubscriptionClaim, { subscriptionId: id })
    const point = yield* Fund.newestContract(Templates.OraclePoint)
    yield* stage.oracle.act(
      Templates.exercise(Templates.SubscriptionClaim, claim.cid, "Attest", {
        attestor: stage.oracle.party,
        pointCid: point.cid,
        price: Decimal.of(price),
        units: Decimal.of("1")
      })
    )
    const cash = [{ statementId: "stmt-1", line: 1, amount: Number(pays) }]
    const { why } = yield* Calls.write("subscription.deliver", { subscriptionId: id }, { cash })
    assert.strictEqual(why, "")
    const request = yield* Powers.saying(Templates.MintRequest, {})
    const credential = yield* Powers.saying(Templates.Credential, { holder: party })
    yield* stage.registrar.act(
      Templates.exercise(Templates.MintRequest, request.cid, "Accept", {
        credentialCid: credential.cid,
        configurationCid: null
      })
    )
  })

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
