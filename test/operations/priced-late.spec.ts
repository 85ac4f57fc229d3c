/** An order that is priced long after its point was published is still held to the one that prices it. */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

const engine = () => Effect.provide(world())
const cutOff = Instant.of(Cycles.friday)
const minutes = (count: number) => Instant.format(Instant.add(cutOff, Duration.minutes(count)))
const before = (count: number) =>
  Instant.format(Instant.subtract(Instant.of(Fund.start), Duration.minutes(count)))

/** Publishes one point and answers its contract. */
const point = (stage: Fund.Parties, price: string, valuationTime: string) =>
  Effect.andThen(
    Fund.publishesInTime(stage, price, valuationTime),
    Effect.map(Fund.newestContract(Templates.OraclePoint), ({ cid }) => cid)
  )

/**
 * Points of other times, more than one look-up reads, valued a minute apart from the second hour
 * on.
 */
const others = (stage: Fund.Parties) =>
  stage.oracle.act(
    ...Array.from({ length: 101 }, (_, nth) =>
      Templates.create(Templates.OraclePoint, {
        oracle: stage.oracle.party,
        venue: stage.venue,
        fund: stage.fund.party,
        registrar: stage.registrar.party,
        attestors: [stage.attestor.party],
        instrumentId: "fund-a",
        metric: "price",
        value: Decimal.of("9"),
        valuationTime: Instant.of(minutes(120 + nth)),
        period: null,
        withholdingRate: null,
        statementRef: null,
        corrects: null
      })
    )
  )

const priced = (stage: Fund.Parties, pointCid: string, price: string, units: string) =>
  Effect.gen(function* () {
    const claim = yield* Fund.newestContract(Templates.SubscriptionClaim)
    yield* stage.attestor.act(
      Templates.exercise(Templates.SubscriptionClaim, claim.cid, "Attest", {
        attestor: stage.attestor.party,
        pointCid,
        price: Decimal.of(price),
        units: Decimal.of(units)
      })
    )
  })

const claimed = Calls.write(
  "subscription.claim",
  {},
  { instrumentId: "fund-a", holderId: "h1", payment: "wire", subscriptionId: "s1", amount: 100 }
)

const forward = Effect.gen(function* () {
  const { stage } = yield* Cycles.opened(["h1"])
  yield* claimed
  yield* Cycles.at(Cycles.friday)
  const first = yield* point(stage, "2", minutes(0))
  const second = yield* point(stage, "4", minutes(1))
  yield* Cycles.at(minutes(230))
  yield* others(stage)
  return { stage, first, second }
})

const historic = Effect.gen(function* () {
  const { stage } = yield* Cycles.opened(["h1"], { pricing: "historic" })
  const older = yield* point(stage, "2", before(60))
  const last = yield* point(stage, "4", before(30))
  yield* claimed
  yield* Cycles.at(Cycles.friday)
  yield* others(stage)
  return { stage, older, last }
})

describe("an order priced when a hundred points are newer than its own", () => {
  it.effect("at the first after its cut-off, breaches nothing", () =>
    Effect.gen(function* () {
      const { stage, first } = yield* forward
      yield* priced(stage, first, "2", "50")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("at another after its cut-off, is kept as a breach that names the first", () =>
    Effect.gen(function* () {
      const { stage, first, second } = yield* forward
      yield* priced(stage, second, "4", "25")
      assert.deepStrictEqual(yield* Fund.surprises, [
        `subscription price: The point ${first} prices the order.`
      ])
    }).pipe(engine())
  )

  it.effect("at the last before its claim, breaches nothing where prices are historic", () =>
    Effect.gen(function* () {
      const { stage, last } = yield* historic
      yield* priced(stage, last, "4", "25")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("at an older one before its claim, is kept as a breach that names the last", () =>
    Effect.gen(function* () {
      const { stage, last, older } = yield* historic
      yield* priced(stage, older, "2", "50")
      assert.deepStrictEqual(yield* Fund.surprises, [
        `subscription price: The point ${last} prices the order.`
      ])
    }).pipe(engine())
  )
})
