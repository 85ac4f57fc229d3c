/** Terms of a subscription: those of the policy, the price of its day, and its deadline. */
import { EventQueries, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { orderStateAt, subscriptions } from "#core/orders/subscription/Subscription.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

const engine = () => Effect.provide(world())
const includes = (self: object, members: object) => assert.deepInclude(self, members)
const order = Cycles.subscription

const policies = (version: number, body: Readonly<Record<string, Calls.Json>>) =>
  Calls.write("policy.set", { instrumentId: "fund-a" }, body, Calls.operator, String(version))

const claims = (holderId: string, members: Readonly<Record<string, Calls.Json>>) =>
  Calls.write(
    "subscription.claim",
    {},
    { instrumentId: "fund-a", holderId, payment: "wire", ...members }
  )

const acts = (verb: string, id: string, body: Calls.Json = {}) =>
  Calls.write(`subscription.${verb}`, { subscriptionId: id }, body)

const paid = (amount: number, line = 1) => ({
  cash: [{ statementId: "stmt-1", line, amount }]
})

const oneHolder = (change: Readonly<Record<string, Calls.Json>> = {}) =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Cycles.opened(["h1"], change)
    const [holder] = holders
    if (holder === undefined) throw new Error("one holder")
    return { stage, holder }
  })

const eventTypesOf = (resourceId: string) =>
  Effect.gen(function* () {
    const feed = yield* EventQueries.EventQueries
    const page = yield* feed.page({
      caller: Calls.operator,
      params: { resourceKind: ["subscription"], resourceId },
      limit: 100
    })
    return page.value.filter(({ type }) => !type.startsWith("operation.")).map(({ type }) => type)
  })

describe("the policy's terms", () => {
  it.effect("of a later version apply to orders that were claimed after it alone", () =>
    Effect.gen(function* () {
      const { stage } = yield* oneHolder()
      yield* claims("h1", { subscriptionId: "s1", amount: 100000 })
      const set = yield* policies(1, { fees: { subscription: 0.005, redemption: 0 } })
      assert.strictEqual(set.why, "")
      yield* claims("h1", { subscriptionId: "s2", amount: 100000 })
      includes(yield* order("s1"), { policyVersion: 1, feeRate: Decimal.zero, fee: Decimal.zero })
      includes(yield* order("s2"), {
        policyVersion: 2,
        feeRate: Decimal.of("0.005"),
        fee: Decimal.of("500")
      })
      yield* Fund.publishesInTime(stage, "1.0437", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "95812.973076", price: "1.0437" })
      // G3.
      yield* Cycles.attests(stage, { id: "s2", units: "95333.908211", price: "1.0437" })
      includes(yield* order("s2"), { state: "priced", units: Decimal.of("95333.908211") })
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never let an order through outside the window, or below and above the limits", () =>
    Effect.gen(function* () {
      const { stage } = yield* oneHolder({ minimumSubscription: 100 })
      const why = (members: Readonly<Record<string, Calls.Json>>) =>
        Effect.map(claims("h1", members), (ended) => ended.why)
      yield* policies(1, { limits: { maxSubscription: 1000 } })
      assert.strictEqual(
        yield* why({ amount: 1000.01 }),
        "rule-refused policy maximum-subscription"
      )
      assert.strictEqual(yield* why({ amount: 1000 }), "")
      // Before any price the cost of units is unknown.
      assert.strictEqual(yield* why({ units: 1000000 }), "")
      yield* Fund.publishesInTime(stage, "2", "2026-07-31T11:00:00Z")
      assert.strictEqual(yield* why({ units: 500 }), "")
      assert.strictEqual(yield* why({ units: 500.01 }), "rule-refused policy maximum-subscription")
      assert.strictEqual(yield* why({ units: 49 }), "rule-refused policy minimum-subscription")
      yield* policies(2, { window: { closesAt: "2026-07-31T13:00:00Z" } })
      assert.strictEqual(yield* why({ amount: 1000 }), "")
      yield* Cycles.at("2026-07-31T13:00:00Z")
      assert.strictEqual(yield* why({ amount: 1000 }), "rule-refused window window-open")
      yield* policies(3, { window: { opensAt: "2026-07-31T14:00:00Z" } })
      assert.strictEqual(yield* why({ amount: 1000 }), "rule-refused window window-open")
      yield* Cycles.at("2026-07-31T14:00:00Z")
      assert.strictEqual(yield* why({ amount: 1000 }), "")
    }).pipe(engine())
  )

  it.effect(
    "never let units out before their cash where they forbid it, or close the order unpaid",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* oneHolder()
        yield* claims("h1", { subscriptionId: "s1", amount: 100000 })
        yield* claims("h1", { subscriptionId: "s2", amount: 100000 })
        yield* Fund.publishesInTime(stage, "1.0437", Cycles.friday)
        yield* Cycles.attests(stage, { id: "s1", units: "95812.973076", price: "1.0437" })
        yield* Cycles.attests(stage, { id: "s2", units: "95812.973076", price: "1.0437" })
        assert.strictEqual((yield* acts("deliver", "s1")).why, "rule-refused cash cash-matched")
        yield* policies(1, { deliverBeforeCash: true })
        assert.strictEqual((yield* acts("deliver", "s1")).result.state, "delivered")
        assert.strictEqual((yield* acts("settle", "s1")).why, "rule-refused cash cash-matched")
        assert.strictEqual((yield* acts("settle", "s1", paid(100000))).result.state, "closed")
        // A change that only tightens is in force at once, for an order claimed before too.
        yield* policies(2, { deliverBeforeCash: false })
        assert.strictEqual((yield* acts("deliver", "s2")).why, "rule-refused cash cash-matched")
      }).pipe(engine())
  )
})

describe("an order in units paid on the ledger", () => {
  const signs = (stage: Fund.Parties, by: Fund.Outsider, orderId: string, units: string) =>
    by.act(
      Templates.create(Templates.SubscriptionOrder, {
        venue: stage.venue,
        fund: stage.fund.party,
        holder: by.party,
        orderId,
        instrument: stage.asset,
        paymentAsset: Cycles.cash(stage),
        amount: null,
        units: Decimal.of(units),
        expiresAt: null
      })
    )

  it.effect(
    "never takes other cash than its lot is worth, asks for it early, or mints unpaid",
    () =>
      Effect.gen(function* () {
        const { stage, holder } = yield* oneHolder({ fees: { subscription: 0.005, redemption: 0 } })
        yield* Cycles.paysIn(stage, holder, "2")
        yield* Cycles.paysIn(stage, holder, "5")
        yield* signs(stage, holder, "mine-1", "1.000001")
        const claimed = yield* claims("h1", {
          subscriptionId: "s1",
          payment: "ledger",
          orderId: "mine-1"
        })
        assert.strictEqual(claimed.why, "")
        includes(yield* order("s1"), {
          orderedAs: "units",
          amount: null,
          units: Decimal.of("1.000001"),
          feeRate: Decimal.of("0.005"),
          intentCid: null
        })
        assert.strictEqual(yield* Fund.countActive(Templates.SettlementIntent), 0)
        yield* Fund.publishesInTime(stage, "1.0437", Cycles.friday)
        yield* Cycles.attests(stage, { id: "s1", units: "1.000001", price: "1.0437" })
        const priced = yield* order("s1")
        includes(priced, { state: "priced", fee: Decimal.of("0.01") })
        assert.strictEqual(priced.cash.expected, Decimal.of("1.06"))
        assert.deepStrictEqual(subscriptions.waitingOn(priced), [
          { party: holder.party, action: "Holding.Allocate", by: priced.settleBy }
        ])
        const cash = (amount: string) =>
          Cycles.allocates(stage, holder, {
            assetId: "USD",
            amount,
            to: stage.fund,
            reference: "mine-1"
          })
        yield* cash("1.05")
        assert.isNull((yield* order("s1")).allocation)
        assert.strictEqual((yield* acts("settle", "s1")).why, "rule-refused cash cash-allocated")
        yield* cash("1.06")
        assert.strictEqual(orderStateAt(yield* order("s1"), Instant.of(Cycles.friday)), "ready")
        assert.strictEqual((yield* acts("settle", "s1")).why, "")
        includes(yield* order("s1"), { state: "closed", units: Decimal.of("1.000001") })
        assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "1.06")
        assert.strictEqual(yield* Cycles.holds(holder, "fund-a"), "1.000001")
        assert.deepStrictEqual(yield* Fund.surprises, [
          "subscription allocate: It is of another amount."
        ])
      }).pipe(engine())
  )

  it.effect("never follows the fee of the day it settles instead of the day it was claimed", () =>
    Effect.gen(function* () {
      const { stage, holder } = yield* oneHolder({ fees: { subscription: 0.005, redemption: 0 } })
      yield* Cycles.paysIn(stage, holder, "5000")
      yield* signs(stage, holder, "mine-1", "1000")
      yield* claims("h1", { subscriptionId: "s1", payment: "ledger", orderId: "mine-1" })
      yield* policies(1, { fees: { subscription: 0.1, redemption: 0 } })
      yield* Fund.publishesInTime(stage, "1.0437", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "1000", price: "1.0437" })
      assert.strictEqual((yield* order("s1")).cash.expected, Decimal.of("1048.92"))
      yield* Cycles.allocates(stage, holder, {
        assetId: "USD",
        amount: "1048.92",
        to: stage.fund,
        reference: "s1"
      })
      assert.strictEqual((yield* acts("settle", "s1")).why, "")
    }).pipe(engine())
  )
})

describe("the price of a day", () => {
  /** Half of the fund's units are asked for: more than the threshold. */
  const swinging = Effect.gen(function* () {
    const { stage } = yield* oneHolder({
      swing: { threshold: 0.1, up: 0.0015, down: 0.001 },
      cutOff: { time: "16:00", days: ["friday", "monday"], zone: "America/New_York" }
    })
    yield* claims("h1", { subscriptionId: "s0", amount: 100000 })
    yield* Fund.publishesInTime(stage, "1.0437", Cycles.friday)
    yield* Cycles.attests(stage, { id: "s0", units: "95812.973076", price: "1.0437" })
    yield* acts("deliver", "s0", paid(100000))
    yield* Cycles.at("2026-07-31T21:00:00Z")
    yield* claims("h1", { subscriptionId: "s1", amount: 100000 })
    yield* claims("h1", { subscriptionId: "s2", amount: 50000 })
    yield* Cycles.at(Cycles.monday)
    yield* Fund.publishesInTime(stage, "1.0437", Cycles.monday)
    return stage
  })

  it.effect("never is the point's though the day's orders swing it", () =>
    Effect.gen(function* () {
      const stage = yield* swinging
      yield* Cycles.attests(stage, { id: "s1", units: "95812.973076", price: "1.0437" })
      assert.deepStrictEqual(yield* Fund.surprises, [
        "subscription price: The price is not its day's."
      ])
    }).pipe(engine())
  )

  it.effect("swung by the day's net flow is no breach", () =>
    Effect.gen(function* () {
      const stage = yield* swinging
      // G10.
      yield* Cycles.attests(stage, { id: "s1", units: "95669.468873", price: "1.04526555" })
      includes(yield* order("s1"), { state: "priced", price: Decimal.of("1.04526555") })
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect(
    "is the same for all its orders, though the policy changes between the first and the last",
    () =>
      Effect.gen(function* () {
        const stage = yield* swinging
        yield* Cycles.attests(stage, { id: "s1", units: "95669.468873", price: "1.04526555" })
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* policies(1, { swing: null })).why, "")
        yield* Cycles.attests(stage, { id: "s2", units: "47834.734436", price: "1.04526555" })
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(engine())
  )

  it.effect("of an historic order is no older than the policy's grace", () =>
    Effect.gen(function* () {
      const { stage } = yield* oneHolder({ pricing: "historic" })
      yield* policies(1, { grace: { "nav-usable": "P1D" } })
      yield* Fund.publishesInTime(stage, "1.0437", "2026-07-30T12:00:00Z")
      yield* claims("h1", { subscriptionId: "s1", amount: 100000 })
      yield* Cycles.attests(stage, { id: "s1", units: "95812.973076", price: "1.0437" })
      assert.deepStrictEqual(yield* Fund.surprises, [])
      yield* TestClock.adjust("1 second")
      yield* claims("h1", { subscriptionId: "s2", amount: 100000 })
      yield* Cycles.attests(stage, { id: "s2", units: "95812.973076", price: "1.0437" })
      assert.deepStrictEqual(yield* Fund.surprises, [
        "subscription price: The point that would price the order is stale."
      ])
    }).pipe(engine())
  )
})

describe("an order that is not settled in time", () => {
  const releases = Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.list(operations, {
      where: { kind: ["subscription.release"] },
      limit: 100
    })
    return found.map(({ record }) => record)
  })

  it.effect(
    "never keeps its holder's cash locked, or is let go by somebody, twice or too early",
    () =>
      Effect.gen(function* () {
        const { stage, holder } = yield* oneHolder()
        yield* Cycles.subscribes(stage, holder, { id: "s1", amount: "100000" })
        yield* Fund.publishesInTime(stage, "1.0437", Cycles.friday)
        yield* Cycles.attests(stage, { id: "s1", units: "95812.973076", price: "1.0437" })
        yield* Cycles.at("2026-08-05T19:50:00Z")
        yield* Cycles.turns
        assert.deepStrictEqual(yield* releases, [])
        yield* Cycles.at("2026-08-05T20:00:00Z")
        assert.strictEqual(
          orderStateAt(yield* order("s1"), Instant.of("2026-08-05T20:00:00Z")),
          "expired"
        )
        yield* Cycles.turns
        yield* Cycles.turns
        includes(yield* order("s1"), { state: "released", endedAs: "released" })
        const [opened, ...others] = yield* releases
        includes(opened ?? {}, { state: "succeeded", role: null, actorName: null })
        assert.deepStrictEqual(others, [])
        assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 0)
        assert.strictEqual(yield* Cycles.holds(holder, "USD"), "100000")
        assert.deepStrictEqual((yield* eventTypesOf("s1")).slice(-2), [
          "subscription.priced",
          "subscription.ended"
        ])
      }).pipe(engine())
  )

  it.effect("by wire is not released by the clock, for a bank's cash has no end", () =>
    Effect.gen(function* () {
      const { stage } = yield* oneHolder()
      yield* claims("h1", { subscriptionId: "s1", amount: 100000 })
      yield* Fund.publishesInTime(stage, "1.0437", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "95812.973076", price: "1.0437" })
      yield* Cycles.at("2026-09-05T20:00:00Z")
      yield* Cycles.turns
      includes(yield* order("s1"), { state: "priced" })
      assert.deepStrictEqual(yield* releases, [])
    }).pipe(engine())
  )
})
