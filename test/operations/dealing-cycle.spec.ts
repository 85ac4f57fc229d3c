/** Dealing cycles through their operations and the wallets of outside parties, from opening to end. */
import { EventQueries, Queries, Records } from "@bursar/engine-core"
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Scripted from "@bursar/storage-adapters/screening"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as DealingCycleQueries from "#core/orders/dealing-cycle/DealingCycleQueries.ts"
import { orderStateAt, redemptions } from "#core/orders/redemption/Redemption.ts"
import { judge } from "#core/kernel/Gates.ts"
import { cycleJoinings } from "#core/orders/dealing-cycle/CycleJoinings.ts"
import { admitted, allocationsMax, dealingCycles } from "#core/orders/dealing-cycle/DealingCycle.ts"
import { joining } from "#core/orders/dealing-cycle/OpenCycleLookups.ts"
import { kindOf, unexpectedFacts } from "#core/projection/Unexpected.ts"
import { approvals } from "#core/writes/Approval.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const engine = (options: Parameters<typeof world>[0] = {}) => Effect.provide(world(options))
const includes = (self: object, members: object) => assert.deepInclude(self, members)

/** Every control event of cycles and orders, in the order of the feed. */
const orderEvents = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const page = yield* feed.page({
    caller: Calls.operator,
    params: { resourceKind: ["subscription", "redemption", "dealing-cycle"] },
    limit: 1000
  })
  return page.value
    .filter(({ type }) => !type.startsWith("operation.") && !type.startsWith("approval."))
    .map(({ type, resourceId }) => `${resourceId} ${type}`)
})

const price = "1.0437"

describe("a cycle of subscriptions", () => {
  it.effect("settles every order at one price, and tells of itself after its orders", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
      const [first, second] = holders
      if (first === undefined || second === undefined) throw new Error("two holders")
      const opened = yield* Cycles.opens("c1")
      assert.strictEqual(opened.why, "")
      includes(opened.result, {
        cycleId: "c1",
        state: "open",
        acceptsOrders: true,
        lost: false,
        cutOffAt: Instant.format(Instant.of(Cycles.friday)),
        settleBy: Instant.format(Instant.of("2026-08-05T20:00:00Z"))
      })
      yield* Cycles.subscribes(stage, first, { id: "s1", amount: "100000" })
      yield* Cycles.subscribes(stage, second, { id: "s2", amount: "50000" })
      includes(yield* Cycles.cycle("c1"), {
        members: { subscriptions: 2, redemptions: 0 },
        gross: {
          subscribed: Decimal.of("150000"),
          refunded: Decimal.zero,
          redeemed: Decimal.zero,
          minted: Decimal.zero,
          burned: Decimal.zero
        }
      })
      assert.strictEqual((yield* Cycles.subscription("s1")).cycleId, "c1")
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused window cut-off-passed")
      yield* Cycles.at(Cycles.friday)
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused nav-feed orders-priced")
      yield* Fund.publishes(stage, price, Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "95812.973076", price })
      yield* Cycles.attests(stage, { id: "s2", units: "47906.486538", price })
      const settled = yield* Cycles.settles("c1")
      assert.strictEqual(settled.why, "")
      const cycle = yield* Cycles.cycle("c1")
      includes(cycle, {
        state: "ended",
        endedAs: "settled",
        acceptsOrders: false,
        price: Decimal.of(price),
        swungPrice: null,
        gate: null,
        orders: { subscriptions: ["s1", "s2"], redemptions: [] },
        gross: {
          subscribed: Decimal.of("150000"),
          refunded: Decimal.zero,
          redeemed: Decimal.zero,
          minted: Decimal.of("143719.459614"),
          burned: Decimal.zero
        },
        fundNet: { cash: Decimal.of("150000"), units: Decimal.of("143719.459614") },
        cycleCid: null
      })
      includes(yield* Cycles.subscription("s2"), { state: "closed", valueDate: "2026-07-31" })
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "150000")
      assert.strictEqual(yield* Cycles.holds(first, "fund-a"), "95812.973076")
      assert.deepStrictEqual((yield* orderEvents).slice(-5), [
        "s1 subscription.delivered",
        "s1 subscription.ended",
        "s2 subscription.delivered",
        "s2 subscription.ended",
        "c1 dealing-cycle.settled"
      ])
      assert.deepStrictEqual(yield* Fund.surprises, [])
      assert.strictEqual(yield* Fund.countActive(Templates.DealingCycle), 0)
    }).pipe(engine())
  )
})

/** A cycle whose orders are priced and allocated at the cut-off. */
const ready = (options: { readonly holders?: ReadonlyArray<string> } = {}) =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Cycles.opened(options.holders ?? ["h1", "h2"])
    yield* Cycles.opens("c1")
    for (const [index, holder] of holders.entries()) {
      yield* Cycles.subscribes(stage, holder, { id: `s${index + 1}`, amount: "100000" })
    }
    yield* Cycles.at(Cycles.friday)
    yield* Fund.publishes(stage, price, Cycles.friday)
    for (const index of holders.keys()) {
      yield* Cycles.attests(stage, { id: `s${index + 1}`, units: "95812.973076", price })
    }
    return { stage, holders }
  })

describe("a cycle with an order that comes to nothing at its price", () => {
  /** Figure of an action that awaits its approver. */
  const figureOf = (actionKey: unknown, name: string) =>
    Effect.map(
      Effect.flatMap(Records, (records) => records.get(approvals, String(actionKey))),
      ({ figures }) => figures?.[name]
    )
  const settleAction = Calls.openAction("dealing-cycle.settle", { cycleId: "c1" }, {})

  it.effect("settles without a redemption that pays nothing, and gives its units back", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
      const [first, second] = holders
      if (first === undefined || second === undefined) throw new Error("two holders")
      yield* Powers.mints(stage, second, "10")
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, first, { id: "s1", amount: "100000" })
      // Nobody knows a price when it is claimed.
      const claimed = yield* Cycles.redeems(stage, second, { id: "r1", units: "0.001" })
      assert.strictEqual(claimed.why, "")
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, price, Cycles.friday)
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused nav-feed orders-priced")
      yield* Cycles.attests(stage, { id: "s1", units: "95812.973076", price })
      const actionKey = yield* settleAction
      assert.strictEqual(yield* figureOf(actionKey, "tooSmall"), "r1")
      assert.strictEqual(yield* figureOf(actionKey, "redemptions"), "0")
      includes(yield* Calls.approveAction(actionKey), { state: "succeeded", why: "" })
      const cycle = yield* Cycles.cycle("c1")
      includes(cycle, { state: "ended", endedAs: "settled" })
      assert.deepStrictEqual(cycle.orders, { subscriptions: ["s1"], redemptions: [] })
      assert.strictEqual((yield* Cycles.redemption("r1")).state, "withdrawn")
      assert.strictEqual((yield* Cycles.subscription("s1")).state, "closed")
      assert.strictEqual(yield* Cycles.holds(second, "fund-a"), "10")
      assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 0)
      assert.strictEqual(yield* Fund.countActive(Templates.RedemptionClaim), 0)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("settles without a subscription that buys nothing, and gives its cash back", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"], { unitDecimals: 0 })
      const [first, second] = holders
      if (first === undefined || second === undefined) throw new Error("two holders")
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, first, { id: "s1", amount: "5000" })
      yield* Cycles.subscribes(stage, second, { id: "s2", amount: "999.99" })
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, "1000", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "5", price: "1000" })
      const actionKey = yield* settleAction
      assert.strictEqual(yield* figureOf(actionKey, "tooSmall"), "s2")
      includes(yield* Calls.approveAction(actionKey), { state: "succeeded", why: "" })
      assert.deepStrictEqual((yield* Cycles.cycle("c1")).orders, {
        subscriptions: ["s1"],
        redemptions: []
      })
      assert.strictEqual((yield* Cycles.subscription("s2")).state, "withdrawn")
      assert.strictEqual(yield* Cycles.holds(second, "USD"), "999.99")
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "5000")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never takes one that pays nothing at the last price there is", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      yield* Powers.mints(stage, holders[0]!, "10")
      // A point that is dated ahead is no last price.
      yield* Fund.publishes(stage, "0.0001", Cycles.friday)
      yield* Fund.publishes(stage, price, Fund.start)
      for (const [id, units, why] of [
        ["r1", "0.009581", "rule-refused units too-small"],
        ["r2", "0.009582", ""]
      ] as const) {
        const ordered = { instrumentId: "fund-a", holderId: "h1", redemptionId: id }
        const claimed = yield* Calls.write(
          "redemption.claim",
          {},
          { ...ordered, payment: "wire", units: Number(units) }
        )
        assert.strictEqual(claimed.why, why)
      }
      yield* Cycles.opens("c1")
      const small = yield* Cycles.redeems(stage, holders[0]!, { id: "r3", units: "0.009581" })
      assert.strictEqual(small.why, "rule-refused units too-small")
    }).pipe(engine())
  )
})

describe("opening", () => {
  it.effect("never takes a second cycle of a cut-off, or forgets that the first has ended", () =>
    Effect.gen(function* () {
      yield* Cycles.opened([])
      assert.strictEqual((yield* Cycles.opens("c1")).why, "")
      assert.strictEqual((yield* Cycles.opens("c1")).why, "already-exists")
      assert.strictEqual((yield* Cycles.opens("c2")).why, "state-conflict DealingCycleState")
      const named = yield* Cycles.opens("c2", { cutOffAt: Cycles.monday })
      assert.strictEqual(named.why, "")
      assert.strictEqual((yield* Cycles.releases("c1")).why, "")
      assert.strictEqual((yield* Cycles.releases("c1")).why, "state-conflict DealingCycleState")
      assert.strictEqual((yield* Cycles.opens("c3")).why, "")
      includes(yield* Cycles.cycle("c3"), { cutOffAt: Instant.of(Cycles.friday), state: "open" })
    }).pipe(engine())
  )

  it.effect("never lets two that are asked for at once both through", () =>
    Effect.gen(function* () {
      yield* Cycles.opened([])
      const both = yield* Effect.all([Cycles.opens("c1"), Cycles.opens("c2")], { concurrency: 2 })
      assert.deepStrictEqual(both.map(({ why }) => why).toSorted(), [
        "",
        "state-conflict DealingCycleState"
      ])
      assert.strictEqual(yield* Fund.countActive(Templates.DealingCycle), 1)
    }).pipe(engine())
  )

  it.effect("needs a recorded instrument, a market, and a cut-off of the instrument", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      assert.strictEqual((yield* Cycles.opens("c1", { instrumentId: "none" })).why, "not-found")
      assert.strictEqual((yield* Cycles.opens("c1")).why, "rule-refused policy primary-market")
    }).pipe(engine())
  )

  it.effect("refuses a cut-off that is not the instrument's, whatever else is in order", () =>
    Effect.gen(function* () {
      yield* Cycles.opened([])
      const why = (body: Readonly<Record<string, Calls.Json>>) =>
        Effect.map(Cycles.opens("c1", body), (ended) => ended.why)
      const off = { cutOffAt: "2026-08-01T20:00:00Z" }
      assert.strictEqual(yield* why(off), "rule-refused window cut-off-of-instrument")
      const past = { cutOffAt: "2026-07-30T20:00:00Z" }
      assert.strictEqual(yield* why(past), "rule-refused window cut-off-to-come")
      const far = { cutOffAt: "2028-07-31T20:00:00Z" }
      assert.strictEqual(yield* why(far), "rule-refused window cut-off-in-reach")
      const early = { settleBy: Cycles.friday }
      assert.strictEqual(yield* why(early), "rule-refused window settle-by-after-cut-off")
      assert.strictEqual(yield* why({ cycleId: "a b" }), "invalid-request")
    }).pipe(engine())
  )

  it.effect("never opens what one ledger transaction could not settle", () =>
    Effect.gen(function* () {
      yield* Cycles.opened([])
      const refused = yield* Cycles.opens("c1")
      assert.strictEqual(refused.why, "rule-refused ledger transaction-size")
    }).pipe(engine({ settings: { inputsMax: 58 } }))
  )
})

describe("joining", () => {
  it.effect(
    "never takes an order after the cut-off, or one that was claimed before it opened",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* Cycles.opened(["h1"])
        const [holder] = holders
        if (holder === undefined) throw new Error("a holder")
        yield* Cycles.subscribes(stage, holder, { id: "before", amount: "1000" })
        yield* Cycles.opens("c1")
        yield* Cycles.subscribes(stage, holder, { id: "joined", amount: "1000" })
        yield* Cycles.at(Cycles.friday)
        yield* Cycles.subscribes(stage, holder, { id: "late", amount: "1000" })
        assert.isNull((yield* Cycles.subscription("before")).cycleId)
        assert.strictEqual((yield* Cycles.subscription("joined")).cycleId, "c1")
        assert.isNull((yield* Cycles.subscription("late")).cycleId)
        includes(yield* Cycles.cycle("c1"), {
          acceptsOrders: false,
          members: { subscriptions: 1, redemptions: 0 }
        })
      }).pipe(engine())
  )

  it.effect("never takes more orders than one transaction settles", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [holder] = holders
      if (holder === undefined) throw new Error("a holder")
      yield* Cycles.opens("c1")
      const claimed = []
      for (const id of ["s1", "s2", "s3"]) {
        claimed.push((yield* Cycles.subscribes(stage, holder, { id, amount: "1000" })).why)
      }
      assert.deepStrictEqual(claimed, ["", "", "rule-refused ledger transaction-size"])
    }).pipe(engine({ settings: { inputsMax: 59 } }))
  )

  it.effect("never takes more orders than one transaction settles, claimed at the same time", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [holder] = holders
      if (holder === undefined) throw new Error("a holder")
      yield* Cycles.opens("c1")
      const ids = ["s1", "s2", "s3", "s4"]
      for (const id of ids) yield* Cycles.signs(stage, holder, { id, amount: "1000" })
      for (const id of ids) {
        const body = { ...Cycles.claimOf(holder, id) }
        yield* Calls.submitKind("subscription.claim", {}, body, {
          caller: Calls.operator,
          ifMatch: null
        })
      }
      yield* Calls.settle
      includes(yield* Cycles.cycle("c1"), { members: { subscriptions: 2, redemptions: 0 } })
    }).pipe(engine({ settings: { inputsMax: 59 } }))
  )

  it.effect("counts an order once that is recorded while the next claim is judged", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [holder] = holders
      if (holder === undefined) throw new Error("a holder")
      yield* Cycles.opens("c1")
      yield* Cycles.signs(stage, holder, { id: "s1", amount: "1000" })
      const claimed = yield* Calls.write("subscription.claim", {}, Cycles.claimOf(holder, "s1"))
      assert.strictEqual(claimed.why, "")
      const records = yield* Records
      let isRecorded = false
      // The order is recorded between the look-up of the claims under way and that of the cycle.
      const many: Records["Service"]["many"] = (collection, ids, pin) => {
        if (collection.name !== "subscription" || isRecorded)
          return records.many(collection, ids, pin)
        isRecorded = true
        return Effect.succeed([])
      }
      const cycle = yield* records.get(dealingCycles, "c1")
      const { against } = yield* joining(cycle, {
        kind: "subscriptions",
        operationId: "op-next"
      }).pipe(Effect.provideService(Records, Records.of({ ...records, many })))
      assert.deepEqual([isRecorded, Result.isSuccess(judge([against]))], [true, true])
    }).pipe(engine({ settings: { inputsMax: 59 } }))
  )

  it.effect("loses no room to failed claims whose operations retention has deleted", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [holder] = holders
      if (holder === undefined) throw new Error("a holder")
      yield* Cycles.opens("c1")
      yield* Cycles.signs(stage, holder, { id: "s1", amount: "1000" })
      const records = yield* Records
      const joinings = ["d1", "d2"].map((orderId) => ({
        ...{ kind: "subscriptions" as const, orderId, operationId: `op-${orderId}` }
      }))
      const act = { cause: { by: "clock" } as const, now: yield* Instant.now }
      yield* records.transact(
        Effect.orDie(records.open(cycleJoinings, { cycleId: "c1", joinings }, act))
      )
      const claimed = yield* Calls.write("subscription.claim", {}, Cycles.claimOf(holder, "s1"))
      assert.strictEqual(claimed.why, "")
    }).pipe(engine({ settings: { inputsMax: 59 } }))
  )

  it.effect("never keeps an order in the sums that has left by itself", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
      const [first, second] = holders
      if (first === undefined || second === undefined) throw new Error("two holders")
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, first, { id: "s1", amount: "1000" })
      yield* Cycles.subscribes(stage, second, { id: "s2", amount: "500" })
      const withdrawn = yield* Calls.write("subscription.withdraw", { subscriptionId: "s1" }, {})
      assert.strictEqual(withdrawn.why, "")
      includes(yield* Cycles.cycle("c1"), {
        members: { subscriptions: 1, redemptions: 0 },
        fundNet: { cash: Decimal.of("500"), units: Decimal.zero }
      })
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, "1", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s2", units: "500", price: "1" })
      includes(yield* Cycles.cycle("c1"), {
        fundNet: { cash: Decimal.of("500"), units: Decimal.of("500") }
      })
      const released = yield* Calls.write("subscription.release", { subscriptionId: "s2" }, {})
      assert.strictEqual(released.why, "")
      includes(yield* Cycles.cycle("c1"), {
        members: { subscriptions: 0, redemptions: 0 },
        fundNet: { cash: Decimal.zero, units: Decimal.zero }
      })
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused units cycle-has-orders")
    }).pipe(engine())
  )
})

describe("settling", () => {
  it.effect("never goes before a cycle of an earlier cut-off has ended", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [holder] = holders
      if (holder === undefined) throw new Error("a holder")
      yield* Cycles.opens("z-first")
      yield* Cycles.at("2026-07-31T20:00:01Z")
      yield* Cycles.opens("a-second")
      yield* Cycles.subscribes(stage, holder, { id: "s1", amount: "1000" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.attests(stage, { id: "s1", units: "1000", price: "1" })
      const early = yield* Cycles.settles("a-second")
      assert.strictEqual(early.why, "rule-refused window cycle-sequence")
      yield* Cycles.releases("z-first")
      assert.strictEqual((yield* Cycles.settles("a-second")).why, "")
    }).pipe(engine())
  )

  it.effect("never takes an order whose cash is not there", () =>
    Effect.gen(function* () {
      const { holders } = yield* ready()
      const [, second] = holders
      if (second === undefined) throw new Error("two holders")
      const allocation = (yield* Cycles.active(Templates.Allocation)).find(
        ({ payload }) => payload.sender === second.party
      )
      yield* second.act(
        Templates.exercise(Templates.Allocation, allocation?.cid ?? "", "Allocation_Withdraw", {})
      )
      const refused = yield* Cycles.settles("c1")
      assert.strictEqual(refused.why, "rule-refused cash cash-allocated")
      includes(yield* Cycles.subscription("s1"), { state: "priced" })
      // Nor does the other one settle without it.
      const apart = yield* Calls.write("subscription.settle", { subscriptionId: "s1" }, {})
      assert.strictEqual(apart.why, "rule-refused policy in-cycle")
      yield* Calls.write("subscription.release", { subscriptionId: "s2" }, {})
      assert.strictEqual((yield* Cycles.settles("c1")).why, "")
    }).pipe(engine())
  )

  it.effect("never deals at two prices, or at another than the rules make of the point", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
      yield* Cycles.opens("c1")
      for (const [index, holder] of holders.entries()) {
        yield* Cycles.subscribes(stage, holder, { id: `s${index + 1}`, amount: "1000" })
      }
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, "1", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "1000", price: "1" })
      yield* Fund.publishes(stage, "1", "2026-07-31T20:00:01Z")
      yield* Cycles.attests(stage, { id: "s2", units: "1000", price: "1" })
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused nav-feed one-point")
      yield* Calls.write("subscription.release", { subscriptionId: "s2" }, {})
      assert.strictEqual((yield* Cycles.settles("c1")).why, "")
    }).pipe(engine())
  )

  it.effect("never comes too late for what the ledger still locks", () =>
    Effect.gen(function* () {
      const { stage } = yield* ready()
      yield* Cycles.at("2026-08-05T20:00:00Z")
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused window settle-by")
      // The engine lets it go by itself.
      yield* Cycles.turns
      includes(yield* Cycles.cycle("c1"), { state: "ended", endedAs: "released" })
      includes(yield* Cycles.subscription("s1"), { state: "released" })
      includes(yield* Cycles.subscription("s2"), { state: "released" })
      assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 0)
      assert.strictEqual((yield* Cycles.settles("c1")).why, "state-conflict DealingCycleState")
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "0")
    }).pipe(engine())
  )
})

describe("releasing", () => {
  it.effect("never leaves an order standing, or cash locked, or tells of itself first", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
      const [first, second] = holders
      if (first === undefined || second === undefined) throw new Error("two holders")
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, first, { id: "s1", amount: "1000" })
      yield* Cycles.subscribes(stage, second, { id: "s2", amount: "500" })
      yield* Cycles.paysIn(stage, stage.fund, "77")
      yield* Cycles.allocates(stage, stage.fund, {
        assetId: "USD",
        amount: "77",
        to: stage.fund,
        reference: "c1"
      })
      assert.strictEqual((yield* Cycles.cycle("c1")).allocations.length, 1)
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, "1", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "1000", price: "1" })
      const released = yield* Cycles.releases("c1")
      assert.strictEqual(released.why, "")
      includes(yield* Cycles.cycle("c1"), {
        state: "ended",
        endedAs: "released",
        members: { subscriptions: 2, redemptions: 0 },
        fundNet: { cash: Decimal.zero, units: Decimal.zero },
        allocations: []
      })
      includes(yield* Cycles.subscription("s1"), { state: "released" })
      includes(yield* Cycles.subscription("s2"), { state: "withdrawn" })
      assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 0)
      assert.strictEqual(yield* Fund.countActive(Templates.SettlementIntent), 0)
      assert.strictEqual(yield* Cycles.holds(first, "USD"), "1000")
      assert.deepStrictEqual((yield* orderEvents).slice(-3), [
        "s1 subscription.ended",
        "s2 subscription.ended",
        "c1 dealing-cycle.released"
      ])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

const tuesday = "2026-08-04T20:00:00Z"

/** Holders who all bought for whole dollars on the Friday, and hold as many units from then on. */
const invested = (
  amounts: Readonly<Record<string, string>>,
  change: Readonly<Record<string, Calls.Json>> = {}
) =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Cycles.opened(Object.keys(amounts), {
      unitDecimals: 0,
      ...change
    })
    yield* Cycles.opens("c1")
    for (const holder of holders) {
      const amount = amounts[holder.holderId] ?? "0"
      yield* Cycles.subscribes(stage, holder, { id: `s-${holder.holderId}`, amount })
    }
    yield* Cycles.at(Cycles.friday)
    yield* Fund.publishes(stage, "1", Cycles.friday)
    for (const { holderId } of holders) {
      const units = amounts[holderId] ?? "0"
      yield* Cycles.attests(stage, { id: `s-${holderId}`, units, price: "1" })
    }
    assert.strictEqual((yield* Cycles.settles("c1")).why, "")
    return { stage, holders }
  })

/** The fund sets cash aside for what a cycle owes on balance. */
const sets = (stage: Fund.Parties, amount: string, reference: string) =>
  Cycles.allocates(stage, stage.fund, { assetId: "USD", amount, to: stage.fund, reference })

describe("a gate", () => {
  it.effect("never strands a unit of Centrifuge's orders, or loses what is left over", () =>
    Effect.gen(function* () {
      const orders = { a: "30", b: "31", c: "39" }
      const { stage, holders } = yield* invested(orders)
      assert.strictEqual((yield* Cycles.changes(1, { limits: { cycleCapacity: 10 } })).why, "")
      yield* Cycles.opens("c2")
      for (const holder of holders) {
        const id = `r-${holder.holderId}`
        const units = orders[holder.holderId as keyof typeof orders]
        assert.strictEqual((yield* Cycles.redeems(stage, holder, { id, units })).why, "")
      }
      includes(yield* Cycles.cycle("c2"), {
        members: { subscriptions: 0, redemptions: 3 },
        fundNet: { cash: Decimal.zero, units: Decimal.of("-100") }
      })
      yield* Cycles.at(Cycles.monday)
      // The remainder joins the next cycle, if one is open.
      yield* Cycles.opens("c3")
      yield* Fund.publishes(stage, "1", Cycles.monday)
      for (const [holderId, units] of Object.entries(orders)) {
        const id = `r-${holderId}`
        yield* Cycles.pays(stage, { id, units, price: "1", proceeds: units })
      }
      assert.strictEqual((yield* Cycles.settles("c2")).why, "rule-refused cash fund-cash")
      yield* sets(stage, "10", "c2")
      assert.strictEqual((yield* Cycles.settles("c2")).why, "")
      const gated = yield* Cycles.cycle("c2")
      includes(gated, {
        endedAs: "settled",
        gross: {
          subscribed: Decimal.zero,
          refunded: Decimal.zero,
          redeemed: Decimal.of("10"),
          minted: Decimal.zero,
          burned: Decimal.of("10")
        },
        gate: { factor: Decimal.of("0.1"), capacity: Decimal.of("10"), reason: "cycle-capacity" }
      })
      assert.deepStrictEqual(
        gated.fills.map(({ redemptionId, filled }) => [redemptionId, Decimal.formatPlain(filled)]),
        [
          ["r-a", "3"],
          ["r-b", "3"],
          ["r-c", "4"]
        ]
      )
      // One of the holders is not told by the gate what the others ordered.
      const queries = yield* Queries
      const { value: seen } = yield* queries.one(DealingCycleQueries.get, {
        caller: { ...Calls.person("ina", "investor"), holderId: "c" },
        params: { cycleId: "c2" as never },
        point: {}
      })
      assert.deepStrictEqual([seen.gate, Decimal.formatPlain(seen.gross.burned)], [null, "4"])
      includes(yield* Cycles.redemption("r-c"), {
        state: "settled",
        units: Decimal.of("4"),
        proceeds: Decimal.of("4")
      })
      const children = gated.fills.map(({ remainderId }) => remainderId ?? "")
      for (const [index, id] of children.entries()) {
        includes(yield* Cycles.redemption(id), {
          state: "claimed",
          cycleId: "c3",
          remainderOf: gated.fills[index]?.redemptionId,
          units: Decimal.of(["27", "28", "35"][index] ?? "")
        })
      }
      includes(yield* Cycles.cycle("c3"), { members: { subscriptions: 0, redemptions: 3 } })

      // Every further day fills its capacity, until nothing is left and nothing is lost.
      yield* Cycles.at(tuesday)
      yield* Fund.publishes(stage, "1", tuesday)
      for (const [index, id] of children.entries()) {
        const units = ["27", "28", "35"][index] ?? ""
        const holder = holders[index]
        if (holder === undefined) throw new Error("a holder")
        yield* Cycles.locksUnits(stage, holder, { id, units })
        yield* Cycles.pays(stage, { id, units, price: "1", proceeds: units })
      }
      yield* sets(stage, "10", "c3")
      assert.strictEqual((yield* Cycles.settles("c3")).why, "")
      const next = yield* Cycles.cycle("c3")
      const filled = new Map(next.fills.map((fill) => [fill.redemptionId, fill.filled]))
      assert.deepStrictEqual(
        children.map((id) => Decimal.formatPlain(filled.get(id) ?? Decimal.zero)),
        ["3", "3", "4"]
      )
      const held = []
      for (const holder of holders) held.push(yield* Cycles.holds(holder, "fund-a"))
      assert.deepStrictEqual(held, ["24", "25", "31"])
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "80")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

/** A venue whose screenings are clear for so long. */
const screeningFor = (rescreenAfter: string) =>
  Effect.provide(
    world({
      settings: { rescreenAfter: Duration.of(rescreenAfter) },
      screening: Scripted.layer(Scripted.clear)
    })
  )

describe("both sides of a cycle", () => {
  it.effect("never move more than their net, or leave a part of it done (G11)", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* invested({ a: "30000" }, { unitDecimals: 6 })
      const [seller] = holders
      if (seller === undefined) throw new Error("a holder")
      const [first, second] = [yield* Cycles.joins(stage, "b"), yield* Cycles.joins(stage, "c")]
      yield* Cycles.opens("c2")
      yield* Cycles.subscribes(stage, first, { id: "s1", amount: "100000" })
      yield* Cycles.subscribes(stage, second, { id: "s2", amount: "50000" })
      yield* Cycles.redeems(stage, seller, { id: "r1", units: "30000" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, price, Cycles.monday)
      yield* Cycles.attests(stage, { id: "s1", units: "95812.973076", price })
      yield* Cycles.attests(stage, { id: "s2", units: "47906.486538", price })
      yield* Cycles.pays(stage, { id: "r1", units: "30000", price, proceeds: "31311.00" })
      const before = yield* Cycles.holds(stage.fund, "USD")
      assert.strictEqual((yield* Cycles.settles("c2")).why, "")
      includes(yield* Cycles.cycle("c2"), {
        gross: {
          subscribed: Decimal.of("150000"),
          refunded: Decimal.zero,
          redeemed: Decimal.of("31311"),
          minted: Decimal.of("143719.459614"),
          burned: Decimal.of("30000")
        },
        fundNet: { cash: Decimal.of("118689"), units: Decimal.of("113719.459614") },
        orders: { subscriptions: ["s1", "s2"], redemptions: ["r1"] },
        members: { subscriptions: 2, redemptions: 1 }
      })
      assert.strictEqual(before, "30000")
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "148689")
      assert.strictEqual(yield* Cycles.holds(seller, "USD"), "31311")
      assert.strictEqual(yield* Cycles.holds(seller, "fund-a"), "0")
      assert.deepStrictEqual((yield* orderEvents).slice(-7), [
        "s1 subscription.delivered",
        "s1 subscription.ended",
        "s2 subscription.delivered",
        "s2 subscription.ended",
        "r1 redemption.burned",
        "r1 redemption.settled",
        "c2 dealing-cycle.settled"
      ])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never are settled though a redemption's units were taken back", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* invested({ a: "100" })
      const [seller] = holders
      if (seller === undefined) throw new Error("a holder")
      yield* Cycles.opens("c2")
      yield* Cycles.redeems(stage, seller, { id: "r1", units: "100" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.pays(stage, { id: "r1", units: "100", price: "1", proceeds: "100" })
      yield* sets(stage, "100", "c2")
      const units = (yield* Cycles.active(Templates.Allocation)).find(
        ({ payload }) => payload.sender === seller.party
      )
      yield* seller.act(
        Templates.exercise(Templates.Allocation, units?.cid ?? "", "Allocation_Withdraw", {})
      )
      assert.strictEqual((yield* Cycles.settles("c2")).why, "rule-refused units units-allocated")
      const apart = yield* Calls.write("redemption.settle", { redemptionId: "r1" }, {})
      assert.strictEqual(apart.why, "rule-refused policy in-cycle")
      assert.strictEqual(yield* Cycles.holds(seller, "fund-a"), "100")
      yield* Cycles.locksUnits(stage, seller, { id: "r1", units: "100" })
      assert.strictEqual((yield* Cycles.settles("c2")).why, "")
      assert.strictEqual(yield* Cycles.holds(seller, "USD"), "100")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never pay a holder whose screening is no longer clear", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* invested({ a: "100" })
      const [seller] = holders
      if (seller === undefined) throw new Error("a holder")
      yield* Cycles.opens("c2")
      assert.strictEqual((yield* Cycles.redeems(stage, seller, { id: "r1", units: "100" })).why, "")
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.pays(stage, { id: "r1", units: "100", price: "1", proceeds: "100" })
      yield* sets(stage, "100", "c2")
      const why = "rule-refused screening screening-clear"
      assert.strictEqual(
        (yield* Calls.write("redemption.settle", { redemptionId: "r1" }, {})).why,
        why
      )
      assert.strictEqual((yield* Cycles.settles("c2")).why, why)
      assert.strictEqual((yield* Cycles.redemption("r1")).state, "priced")
    }).pipe(screeningFor("P2D"))
  )

  it.effect("let an order that outlives its released cycle settle by itself", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* invested({ a: "200" })
      const [seller] = holders
      if (seller === undefined) throw new Error("a holder")
      yield* Cycles.opens("c2")
      yield* Cycles.redeems(stage, seller, { id: "r1", units: "100" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.pays(stage, { id: "r1", units: "100", price: "1", proceeds: "100" })
      // As an earlier release recorded a request to burn the units of an order in a cycle.
      const request = yield* requestsBurn(seller, "100")
      const records = yield* Records
      const now = yield* Instant.now
      const act = { cause: { by: "clock" } as const, now }
      yield* records.transact(
        records.append(
          redemptions,
          yield* Cycles.redemption("r1"),
          { on: "fund", burnRequestCid: request, at: now },
          act
        )
      )
      // The registrar was asked to burn its units: the cycle is released without it.
      const released = yield* Cycles.releases("c2")
      assert.strictEqual(released.why, "")
      const remaining = yield* Cycles.redemption("r1")
      includes(remaining, {
        state: "funded",
        cycleId: null,
        formerCycle: { cycleId: "c2", endedAs: "released" }
      })
      const queries = yield* Queries
      const { value: cycle } = yield* queries.one(DealingCycleQueries.get, {
        caller: Calls.operator,
        params: { cycleId: "c2" as never },
        point: {}
      })
      assert.deepStrictEqual(cycle.orders, { subscriptions: [], redemptions: [] })
      yield* stage.registrar.act(Templates.exercise(Templates.BurnRequest, request, "Reject", {}))
      const settles = Calls.write("redemption.settle", { redemptionId: "r1" }, {})
      assert.strictEqual((yield* settles).why, "rule-refused cash cash-allocated")
      assert.deepStrictEqual(
        orderStateAt(yield* Cycles.redemption("r1"), Instant.of(Cycles.monday)),
        "awaiting-payment"
      )
      yield* Cycles.allocates(stage, stage.fund, {
        assetId: "USD",
        amount: "100",
        to: seller,
        reference: "r1"
      })
      assert.strictEqual((yield* settles).why, "")
      includes(yield* Cycles.redemption("r1"), { state: "settled" })
    }).pipe(engine())
  )

  it.effect("name the ended cycle in what they refuse", () =>
    Effect.gen(function* () {
      yield* invested({ a: "200" })
      const cycle = yield* Cycles.cycle("c1")
      for (const on of ["settle", "release"] as const) {
        const again = admitted(cycle, on)
        assert.strictEqual(
          Result.isFailure(again) ? again.failure.details.detail : "",
          "The dealing cycle c1 has ended: it was settled."
        )
      }
      assert.strictEqual((yield* Cycles.settles("c1")).why, "state-conflict DealingCycleState")
    }).pipe(engine())
  )

  it.effect("never stop at a holder's request to burn its units, nor let its order out by it", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* invested({ a: "200", b: "200" })
      const [seller, other] = holders
      if (seller === undefined || other === undefined) throw new Error("two holders")
      yield* Cycles.opens("c2")
      yield* Cycles.redeems(stage, seller, { id: "r1", units: "100" })
      yield* Cycles.redeems(stage, other, { id: "r2", units: "100" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      for (const id of ["r1", "r2"]) {
        yield* Cycles.pays(stage, { id, units: "100", price: "1", proceeds: "100" })
      }
      yield* sets(stage, "200", "c2")
      const [units] = (yield* Cycles.active(Templates.Allocation)).filter(
        ({ payload }) => payload.sender === seller.party
      )
      yield* seller.act(
        Templates.exercise(Templates.Allocation, units?.cid ?? "", "Allocation_Withdraw", {})
      )
      const requested = yield* requestsBurn(seller, "100")
      const again = yield* requestsBurn(seller, "100")
      const inCycle = { state: "priced", burnRequestCid: null, cycleId: "c2" }
      includes(yield* Cycles.redemption("r1"), inCycle)
      assert.strictEqual((yield* Cycles.settles("c2")).why, "rule-refused units units-allocated")
      // The registrar burns units that no order gives: the order stays in its cycle, unpaid.
      yield* stage.registrar.act(Templates.exercise(Templates.BurnRequest, requested, "Accept", {}))
      includes(yield* Cycles.redemption("r1"), inCycle)
      const apart = yield* Calls.write("redemption.settle", { redemptionId: "r1" }, {})
      assert.strictEqual(apart.why, "rule-refused policy in-cycle")
      const released = yield* Calls.write("redemption.release", { redemptionId: "r1" }, {})
      assert.strictEqual(released.why, "")
      assert.strictEqual((yield* Cycles.settles("c2")).why, "")
      includes(yield* Cycles.redemption("r2"), { state: "settled" })
      yield* seller.act(Templates.exercise(Templates.BurnRequest, again, "Withdraw", {}))
      const idle = "redemption fund: Its dealing cycle burns its units."
      assert.deepStrictEqual(yield* Fund.surprises, [
        "redemption burn: The redemption does not wait for this burn.",
        idle,
        idle
      ])
    }).pipe(engine())
  )

  it.effect(
    "burn the units set aside alone, whatever the registrar was asked to burn besides",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* invested({ a: "200" })
        const [seller] = holders
        if (seller === undefined) throw new Error("a holder")
        yield* Cycles.opens("c2")
        yield* Cycles.redeems(stage, seller, { id: "r1", units: "100" })
        yield* Cycles.at(Cycles.monday)
        yield* Fund.publishes(stage, "1", Cycles.monday)
        yield* Cycles.pays(stage, { id: "r1", units: "100", price: "1", proceeds: "100" })
        yield* sets(stage, "100", "c2")
        const request = yield* requestsBurn(seller, "100")
        assert.strictEqual((yield* Cycles.settles("c2")).why, "")
        yield* stage.registrar.act(Templates.exercise(Templates.BurnRequest, request, "Reject", {}))
        assert.strictEqual(yield* Cycles.holds(seller, "fund-a"), "100")
        assert.strictEqual(yield* Cycles.holds(seller, "USD"), "100")
      }).pipe(engine())
  )
})

/** A holder asks for the burn of free units in the name of the order `r1`; the request's contract. */
const requestsBurn = (seller: Cycles.Holder, units: string) =>
  Effect.gen(function* () {
    const free = (yield* Cycles.active(Templates.Holding)).find(
      ({ payload }) =>
        payload.owner === seller.party &&
        payload.instrument.id === "fund-a" &&
        payload.lock === null &&
        Decimal.atLeast(Decimal.of(String(payload.amount)), Decimal.of(units))
    )
    yield* seller.act(
      Templates.exercise(Templates.Holding, free?.cid ?? "", "RequestBurn", {
        amount: Decimal.of(units),
        reference: { kind: "redemption", id: "r1" },
        custodian: null,
        executeBefore: Instant.of("2026-09-01T00:00:00Z")
      })
    )
    const request = (yield* Cycles.active(Templates.BurnRequest)).at(-1)
    if (request === undefined) throw new Error("no request to burn")
    return request.cid
  })

describe("a cycle of historic orders", () => {
  it.effect("takes none that another point would price, since it settles at one point alone", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"], { pricing: "historic" })
      const [holder] = holders
      if (holder === undefined) throw new Error("a holder")
      yield* Fund.publishes(stage, "1", "2026-07-31T11:00:00Z")
      yield* Cycles.opens("c1")
      for (const id of ["s1", "s2"]) {
        const claimed = yield* Cycles.subscribes(stage, holder, { id, amount: "100" })
        assert.strictEqual(claimed.why, "")
      }
      yield* Cycles.attests(stage, { id: "s1", units: "100", price: "1" })
      yield* Cycles.at("2026-07-31T13:00:00Z")
      yield* Fund.publishes(stage, "1.1", "2026-07-31T13:00:00Z")
      yield* Cycles.at("2026-07-31T13:00:01Z")
      const late = yield* Cycles.subscribes(stage, holder, { id: "s3", amount: "100" })
      assert.strictEqual(late.why, "rule-refused nav-feed one-point")
      // Once the cycle is released the order settles by itself.
      yield* Cycles.releases("c1")
      const apart = yield* Calls.write("subscription.claim", {}, Cycles.claimOf(holder, "s3"))
      assert.strictEqual(apart.why, "")
      includes(yield* Cycles.subscription("s3"), { cycleId: null })
    }).pipe(engine())
  )
})

describe("a cycle whose market has ended", () => {
  it.effect("takes no order of the next market, which pays in another asset", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* invested({ a: "100" })
      const [holder] = holders
      if (holder === undefined) throw new Error("a holder")
      assert.strictEqual((yield* Cycles.changes(1, { limits: { cycleCapacity: 10 } })).why, "")
      yield* Cycles.opens("c2")
      const [tuesday, wednesday] = ["2026-08-04T20:00:00Z", "2026-08-05T20:00:00Z"]
      assert.strictEqual((yield* Cycles.opens("c4", { cutOffAt: wednesday })).why, "")
      yield* Cycles.redeems(stage, holder, { id: "r1", units: "100" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.pays(stage, { id: "r1", units: "100", price: "1", proceeds: "100" })
      yield* sets(stage, "10", "c2")
      assert.strictEqual((yield* Cycles.settles("c2")).why, "")
      const market = yield* Fund.newestContract(Templates.PrimaryMarket)
      yield* stage.fund.act(Templates.exercise(Templates.PrimaryMarket, market.cid, "End", {}))
      const next = { ...stage, bank: yield* Fund.outsider("other-bank") }
      yield* Fund.market(next)
      // What the gate left over waits for this day, and is paid in the first market's asset.
      assert.strictEqual((yield* Cycles.opens("c3")).why, "")
      includes(yield* Cycles.cycle("c3"), {
        ...{ cutOffAt: Instant.of(tuesday), paymentAsset: Cycles.cash(next) },
        members: { subscriptions: 0, redemptions: 0 }
      })
      yield* Cycles.at(tuesday)
      yield* Cycles.signs(next, holder, { id: "s1", amount: "100" })
      const claimed = yield* Calls.write("subscription.claim", {}, Cycles.claimOf(holder, "s1"))
      assert.strictEqual(claimed.why, "")
      includes(yield* Cycles.subscription("s1"), {
        ...{ cutOffAt: Instant.of(wednesday), cycleId: null },
        paymentAsset: Cycles.cash(next)
      })
      includes(yield* Cycles.cycle("c4"), { members: { subscriptions: 0, redemptions: 0 } })
    }).pipe(engine())
  )
})

/** Contracts of a template that a transaction created, as its submitter sees them. */
const createdBy = (
  { changes }: Effect.Success<ReturnType<Fund.Outsider["submit"]>>,
  entity: string
): ReadonlyArray<string> =>
  changes.flatMap((change) =>
    change._tag === "Created" && change.contract.template.entity === entity
      ? [change.contract.contractId]
      : []
  )

describe("a cycle whose cash lies with two providers", () => {
  it.effect("never is sent to the ledger while none of them keeps the cash of an order", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* invested({ a: "100", b: "100" })
      const [seller, buyer] = holders
      if (seller === undefined || buyer === undefined) throw new Error("two holders")
      const provider = (yield* Fund.outsider("other-provider")).party
      const amount = Decimal.of("50")
      const offered = yield* stage.bank.submit(
        Templates.createAndExercise(
          Templates.Holding,
          {
            ...{ registrar: stage.bank.party, owner: stage.bank.party, provider, amount },
            ...{ instrument: Cycles.cash(stage), restricted: false, lock: null },
            ...{ label: "", meta: {} }
          },
          "OfferTransfer",
          { receiver: buyer.party, amount, executeBefore: Instant.of("2026-08-30T00:00:00Z") }
        )
      )
      const [offerCid] = createdBy(offered, "TransferOffer")
      const accepted = yield* buyer.submit(
        Templates.exercise(Templates.TransferOffer, offerCid ?? "", "Accept", {
          credentialCid: null
        })
      )
      const elsewhere = createdBy(accepted, "Holding").at(-1)
      yield* Cycles.opens("c2")
      yield* Cycles.signs(stage, buyer, { id: "s1", amount: "50" })
      const claimed = yield* Calls.write("subscription.claim", {}, Cycles.claimOf(buyer, "s1"))
      assert.strictEqual(claimed.why, "")
      yield* buyer.act(
        Templates.exercise(Templates.Holding, elsewhere ?? "", "Allocate", {
          ...{ allocationId: "s1", executor: stage.venue, receiver: stage.fund.party, amount },
          settleBefore: Instant.of("2026-08-20T20:00:00Z")
        })
      )
      yield* Cycles.redeems(stage, seller, { id: "r1", units: "100" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.attests(stage, { id: "s1", units: "50", price: "1" })
      yield* Cycles.pays(stage, { id: "r1", units: "100", price: "1", proceeds: "100" })
      yield* sets(stage, "60", "c2")
      assert.strictEqual((yield* Cycles.settles("c2")).why, "rule-refused cash fund-cash")
      yield* sets(stage, "40", "c2")
      assert.strictEqual((yield* Cycles.settles("c2")).why, "")
      assert.strictEqual(yield* Cycles.holds(seller, "USD"), "100")
    }).pipe(engine())
  )
})

describe("cash that a fund sets aside for its cycle and that is none of it", () => {
  it.effect("only warns: after its end, of another asset, or beyond the number that it takes", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* invested({ a: "100" })
      const [seller] = holders
      if (seller === undefined) throw new Error("a holder")
      yield* sets(stage, "1", "c1")
      yield* Cycles.opens("c2")
      yield* Powers.mints(stage, yield* Cycles.joinsAs(stage, "fund-holder", stage.fund), "5")
      yield* Cycles.allocates(stage, stage.fund, {
        ...{ assetId: "fund-a", amount: "1", to: stage.fund, reference: "c2" }
      })
      for (let nth = 0; nth <= allocationsMax; nth++) yield* sets(stage, "1", "c2")
      assert.lengthOf((yield* Cycles.cycle("c2")).allocations, allocationsMax)
      const records = yield* Records
      const found = yield* records.list(unexpectedFacts, { limit: 10 })
      assert.deepStrictEqual(
        found
          .map(({ record: { detail, resourceKind } }) => ({ ...kindOf(resourceKind), detail }))
          .toSorted((a, b) => (a.detail < b.detail ? -1 : 1)),
        [
          "It is of another asset.",
          `The cycle has ${allocationsMax} allocations already.`,
          "The cycle has ended."
        ].map((detail) => ({ kind: "dealing-cycle", isIdle: true, detail }))
      )
    }).pipe(engine())
  )
})
