/**
 * Prices that outside parties sign with figures beyond those of an order: each is kept as a breach, and
 * moves no sum, nor does it stop the projection (docs/domain/orders.md#prices-beyond-an-order).
 */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { dealingDays, idOf } from "#core/orders/dealing-cycle/DealingDay.ts"
import { findings } from "#core/findings/Finding.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { again, forgets, recordsAgain } from "./again.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Rebasing from "./rebasing.ts"
import * as Reconciling from "./reconciling.ts"

const engine = () => Effect.provide(world())
const detail = "Its figures are beyond those of an order: it prices nothing."

/** As much as a decimal holds, at the least price: every guard of the ledger passes. */
const most = "9999999999999999999999999999.9999999999"
const least = "0.0000000001"

/** A holder signs an order for an amount of cash, and the venue claims it. */
const redeemsFor = (stage: Fund.Parties, by: Cycles.Holder, id: string, amount: string) =>
  Effect.gen(function* () {
    yield* by.act(
      Templates.create(Templates.RedemptionOrder, {
        ...{ venue: stage.venue, fund: stage.fund.party, holder: by.party },
        ...{ orderId: `order-${id}`, instrument: stage.asset, paymentAsset: Cycles.cash(stage) },
        ...{ amount: Decimal.of(amount), units: null, custodian: null, expiresAt: null }
      })
    )
    return yield* Calls.write(
      "redemption.claim",
      {},
      {
        ...{ redemptionId: id, instrumentId: "fund-a", holderId: by.holderId },
        ...{ payment: "ledger", orderId: `order-${id}` }
      }
    )
  })

/** Sums of the open cycle and of its day. */
const sums = Effect.gen(function* () {
  const records = yield* Records
  const { cutOffAt, gross, instrumentId, members } = yield* Cycles.cycle("c1")
  const day = yield* records.get(dealingDays, idOf({ cutOffAt, instrumentId }))
  return { gross, members, ordered: day.ordered, dealt: day.dealt }
})

/** A cycle of two redemptions by one holder, one in units and one in cash, and of a subscription. */
const cycled = Effect.gen(function* () {
  const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
  const [h1, h2] = holders
  if (h1 === undefined || h2 === undefined) throw new Error("two holders")
  yield* Powers.mints(stage, h1, "10000")
  yield* Cycles.opens("c1")
  const claims = [
    yield* Cycles.redeems(stage, h1, { id: "r1", units: "10" }),
    yield* redeemsFor(stage, h1, "r2", "1000"),
    yield* Cycles.subscribes(stage, h2, { id: "s1", amount: "1000" })
  ]
  assert.deepStrictEqual(
    claims.map(({ why }) => why),
    ["", "", ""]
  )
  yield* Cycles.at(Cycles.friday)
  yield* Fund.publishes(stage, "2", Cycles.friday)
  return { stage, h1, before: yield* sums }
})

describe("a price beyond an order", () => {
  it.effect("of a redemption moves no sum, and the projection goes on", () =>
    Effect.gen(function* () {
      const { stage, h1, before } = yield* cycled
      yield* Cycles.pays(stage, { id: "r2", units: most, price: least, proceeds: "1000" })
      assert.deepStrictEqual(yield* sums, before)
      const mispriced = yield* Cycles.redemption("r2")
      assert.deepInclude(mispriced, { state: "claimed", units: null, price: null, claimCid: null })
      assert.deepStrictEqual(
        redemptions.waitingOn(mispriced).map(({ action }) => action),
        ["redemption.withdraw"]
      )
      assert.deepStrictEqual(yield* Fund.surprises, [`redemption price: ${detail}`])
      // The other orders of the cycle and of the holder go on.
      yield* Cycles.pays(stage, { id: "r1", units: "10", price: "2", proceeds: "20" })
      assert.strictEqual((yield* Cycles.redemption("r1")).state, "priced")
      const byWire = yield* Calls.write(
        "redemption.claim",
        {},
        {
          ...{ redemptionId: "r3", instrumentId: "fund-a", holderId: h1.holderId },
          ...{ payment: "wire", units: 5 }
        }
      )
      assert.strictEqual(byWire.why, "")
      yield* Reconciling.run()
      const records = yield* Records
      const open = yield* records.list(findings, { where: { state: ["open"] }, limit: 100 })
      assert.deepStrictEqual(
        open.map(
          ({ record: { check, severity, subject } }) => `${check} ${severity} ${subject.id}`
        ),
        ["policy-replay blocking r2"]
      )
      // The order does not settle at such a price: the venue withdraws it, and it leaves its cycle.
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused units units-allocated")
      const withdrawn = yield* Calls.write("redemption.withdraw", { redemptionId: "r2" }, {})
      assert.strictEqual(withdrawn.why, "")
      assert.deepInclude(yield* Cycles.redemption("r2"), {
        state: "withdrawn",
        mispricedCid: null
      })
      assert.deepStrictEqual((yield* Cycles.cycle("c1")).members, {
        subscriptions: 1,
        redemptions: 1
      })
      assert.strictEqual((yield* Cycles.cycle("c1")).gross.redeemed, Decimal.of("20"))
      assert.strictEqual(yield* Fund.countActive(Templates.RedemptionClaim), 1)
      assert.deepStrictEqual(yield* Fund.surprises, [`redemption price: ${detail}`])
    }).pipe(engine())
  )

  it.effect("of either kind ends with its cycle", () =>
    Effect.gen(function* () {
      const { stage, before } = yield* cycled
      yield* Cycles.pays(stage, { id: "r2", units: most, price: least, proceeds: "1000" })
      yield* Cycles.attests(stage, { id: "s1", units: most, price: least })
      assert.deepStrictEqual(yield* sums, before)
      const mispriced = yield* Cycles.subscription("s1")
      assert.deepInclude(mispriced, { state: "claimed", units: null, lot: null, claimCid: null })
      assert.deepStrictEqual(
        subscriptions.waitingOn(mispriced).map(({ action }) => action),
        ["subscription.withdraw"]
      )
      assert.strictEqual((yield* Cycles.releases("c1")).why, "")
      assert.deepStrictEqual(
        [
          (yield* Cycles.redemption("r1")).state,
          (yield* Cycles.redemption("r2")).state,
          (yield* Cycles.subscription("s1")).state
        ],
        ["withdrawn", "withdrawn", "withdrawn"]
      )
      assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 0)
      assert.strictEqual(yield* Fund.countActive(Templates.Lot), 0)
      assert.deepStrictEqual(yield* Fund.surprises, [
        `redemption price: ${detail}`,
        `subscription price: ${detail}`
      ])
    }).pipe(engine())
  )

  it.effect("that a snapshot shows opens no priced order, and ends with its cycle", () =>
    Effect.gen(function* () {
      const { stage } = yield* cycled
      yield* Cycles.pays(stage, { id: "r2", units: most, price: least, proceeds: "1000" })
      yield* Cycles.attests(stage, { id: "s1", units: most, price: least })
      const { gross, members } = yield* Cycles.cycle("c1")
      const surprises = yield* Fund.surprises
      yield* forgets
      const engine = yield* again
      yield* Effect.gen(function* () {
        yield* Calls.settle
        assert.strictEqual((yield* recordsAgain(stage, { holderCap: 100 })).why, "")
        assert.deepInclude(yield* Cycles.cycle("c1"), { gross, members })
        for (const order of [yield* Cycles.redemption("r2"), yield* Cycles.subscription("s1")]) {
          assert.deepInclude(order, { state: "claimed", recovered: true, price: null })
          assert.isNotNull(order.mispricedCid)
        }
        assert.deepStrictEqual(yield* Fund.surprises, surprises)
        assert.strictEqual((yield* Cycles.releases("c1")).why, "")
        assert.strictEqual((yield* Cycles.redemption("r2")).state, "withdrawn")
        assert.strictEqual((yield* Cycles.subscription("s1")).state, "withdrawn")
      }).pipe(Effect.provide(engine))
    }).pipe(engine())
  )

  it.effect("of a subscription by wire is withdrawn with its lot", () =>
    Effect.gen(function* () {
      const { stage } = yield* Cycles.opened(["h1"])
      const claim = { instrumentId: "fund-a", holderId: "h1", subscriptionId: "s1", amount: 100 }
      yield* Calls.write("subscription.claim", {}, { ...claim, payment: "wire" })
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, "2", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: most, price: least })
      const withdrawn = yield* Calls.write("subscription.withdraw", { subscriptionId: "s1" }, {})
      assert.strictEqual(withdrawn.why, "")
      assert.strictEqual((yield* Cycles.subscription("s1")).state, "withdrawn")
      assert.strictEqual(yield* Fund.countActive(Templates.Lot), 0)
      assert.deepStrictEqual(yield* Fund.surprises, [`subscription price: ${detail}`])
    }).pipe(engine())
  )

  it.effect("of a rebasing instrument computes nothing of its index", () =>
    Effect.gen(function* () {
      const scene = yield* Rebasing.opened()
      const { stage, holders } = scene
      yield* Powers.mints(stage, holders[0]!, "2000")
      yield* Rebasing.indexed(scene, "1", "2026-07-31T11:00:00Z")
      const claimed = yield* Rebasing.claims("redemption", "r1", { amount: 1000 })
      assert.strictEqual(claimed.why, "")
      const index = `1${"0".repeat(27)}`
      yield* Cycles.pays(stage, { id: "r1", units: least, price: index, proceeds: "1000" })
      assert.deepInclude(yield* Rebasing.sold("r1"), { state: "claimed", index: null, units: null })
      assert.deepStrictEqual(yield* Fund.surprises, [`redemption price: ${detail}`])
      // The projection goes on: its withdrawal is read, and so is the next order's price.
      assert.strictEqual((yield* Rebasing.acts("redemption", "withdraw", { id: "r1" })).why, "")
      assert.strictEqual((yield* Rebasing.sold("r1")).state, "withdrawn")
      assert.strictEqual((yield* Rebasing.claims("redemption", "r2", { units: 100 })).why, "")
      yield* Rebasing.prices(scene)
      assert.strictEqual((yield* Rebasing.sold("r2")).state, "priced")
    }).pipe(engine())
  )
})

describe("an order that the price would make larger than any order", () => {
  it.effect("counts as the largest one, and stops no other order of its holder", () =>
    Effect.gen(function* () {
      const fund = { instrumentId: "fund-a" }
      const fees = { subscription: 0, redemption: 0.9999999999 }
      const { stage, holders } = yield* Cycles.opened(["h1"], { fees })
      const h1 = holders[0]!
      yield* Powers.mints(stage, h1, "10000")
      assert.strictEqual((yield* redeemsFor(stage, h1, "r1", "999999999999999")).why, "")
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, least, Cycles.friday)
      const claim = { ...fund, holderId: "h1", redemptionId: "r2", payment: "wire" } as const
      const byUnits = yield* Calls.write("redemption.claim", {}, { ...claim, units: 5 })
      assert.strictEqual(byUnits.why, "rule-refused units units-free")
      const byAmount = yield* Calls.write("redemption.claim", {}, { ...claim, amount: 999 })
      assert.strictEqual(byAmount.why, "rule-refused units too-large")
    }).pipe(engine())
  )

  it.effect("is refused when it is claimed", () =>
    Effect.gen(function* () {
      const { stage } = yield* Cycles.opened(["h1"])
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, least, Cycles.friday)
      const claim = { instrumentId: "fund-a", holderId: "h1", payment: "wire" } as const
      const subscribes = (id: string, amount: number) =>
        Calls.write("subscription.claim", {}, { ...claim, subscriptionId: id, amount })
      assert.strictEqual((yield* subscribes("s1", 99_999.99)).why, "")
      assert.strictEqual((yield* subscribes("s2", 100_000)).why, "rule-refused units too-large")
    }).pipe(engine())
  )
})

describe("cash beyond a cycle", () => {
  it.effect("that the fund allocates moves nothing, and the cycle is still read", () =>
    Effect.gen(function* () {
      const { stage } = yield* cycled
      const size = `9${"0".repeat(27)}`
      for (const reference of ["c1", "c1"]) {
        yield* Cycles.paysIn(stage, stage.fund, size)
        const to = { assetId: "USD", to: stage.fund, reference }
        yield* Cycles.allocates(stage, stage.fund, { ...to, amount: size })
      }
      assert.deepStrictEqual((yield* Cycles.cycle("c1")).allocations, [])
      const said = "dealing-cycle allocate: It is of more cash than a cycle moves."
      assert.deepStrictEqual(
        (yield* Fund.surprises).filter((text) => text.startsWith("dealing-cycle")),
        [said, said]
      )
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused units units-allocated")
    }).pipe(engine())
  )
})
