/**
 * Refunds: an amount that bought no units is returned to its holder, on the ledger at once, by wire
 * once the bank's statement shows it.
 */
import { type Caller, Queries, Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as DealingCycleQueries from "#core/orders/dealing-cycle/DealingCycleQueries.ts"
import { openOrderOf } from "#core/orders/order/OpenOrderLookups.ts"
import * as OpenOrderQueries from "#core/overviews/OpenOrderQueries.ts"
import { standingSettlements } from "#core/orders/standing-settlement/StandingSettlement.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as SubscriptionQueries from "#core/orders/subscription/SubscriptionQueries.ts"
import { approvals } from "#core/writes/Approval.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Bank from "./bank.ts"
import * as Fund from "./fund.ts"
import * as Restricting from "./restricting.ts"
import { gives } from "./worklist.ts"

const engine = () => Effect.provide(world())
const includes = (self: object, members: object) => assert.deepInclude(self, members)
const d = Decimal.of

/** Units are whole: an amount buys what it can of them, and the rest is cash. */
const whole = { unitDecimals: 0 }
const price = "13.37"

const stageOf = (change: Readonly<Record<string, Calls.Json>> = {}) =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Cycles.opened(["h1", "h2"], { ...whole, ...change })
    const [one, two] = holders
    if (one === undefined || two === undefined) throw new Error("two holders are on the stage")
    return { stage, one, two }
  })

const priced = (
  stage: Fund.Parties,
  orders: ReadonlyArray<{ readonly id: string; readonly units: string }>
) =>
  Effect.gen(function* () {
    yield* Cycles.at(Cycles.friday)
    yield* Fund.publishes(stage, price, Cycles.friday)
    for (const order of orders) yield* Cycles.attests(stage, { ...order, price })
  })

const settles = (id: string, body: Calls.Json = {}) =>
  Calls.write("subscription.settle", { subscriptionId: id }, body)

const waitingOn = (id: string) =>
  Effect.map(Cycles.subscription(id), (self) =>
    subscriptions.waitingOn(self).map(({ role, action }) => `${role} ${action}`)
  )

const open = Effect.gen(function* () {
  const queries = yield* Queries
  const caller: Caller.Caller = Calls.person("aida", "auditor")
  const page = yield* queries.page(OpenOrderQueries.list, {
    caller,
    params: {},
    point: {},
    page: { limit: 100 }
  })
  return page.value
})

describe("a refund of an order paid on the ledger", () => {
  it.effect("is paid in the settling transaction, out of the order's own cash", () =>
    Effect.gen(function* () {
      const { stage, one } = yield* stageOf()
      yield* Cycles.subscribes(stage, one, { id: "s1", amount: "50.00" })
      yield* priced(stage, [{ id: "s1", units: "3" }])
      includes(yield* Cycles.subscription("s1"), { refund: d("9.89"), refunded: Decimal.zero })
      const settled = yield* settles("s1")
      assert.strictEqual(settled.why, "")
      includes(yield* Cycles.subscription("s1"), {
        state: "closed",
        refund: d("9.89"),
        refunded: d("9.89")
      })
      assert.strictEqual(yield* Cycles.holds(one, "USD"), "9.89")
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "40.11")
      assert.deepStrictEqual(yield* waitingOn("s1"), [])
      assert.deepStrictEqual(yield* open, [])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("is none where the rest stays in the fund", () =>
    Effect.gen(function* () {
      const { stage, one } = yield* stageOf({ residual: "fund" })
      yield* Cycles.subscribes(stage, one, { id: "s1", amount: "50.00" })
      yield* priced(stage, [{ id: "s1", units: "3" }])
      assert.strictEqual((yield* settles("s1")).why, "")
      includes(yield* Cycles.subscription("s1"), {
        residual: d("9.89"),
        refund: Decimal.zero,
        refunded: Decimal.zero
      })
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "50")
      assert.strictEqual(yield* Cycles.holds(one, "USD"), "0")
    }).pipe(engine())
  )

  it.effect("takes no bank lines", () =>
    Effect.gen(function* () {
      const { stage, one } = yield* stageOf()
      yield* Cycles.subscribes(stage, one, { id: "s1", amount: "50.00" })
      yield* priced(stage, [{ id: "s1", units: "3" }])
      const named = { refunds: [{ statementId: "stmt-1", line: 1, amount: 9.89 }] }
      assert.strictEqual((yield* settles("s1", named)).why, "rule-refused cash cash-on-ledger")
    }).pipe(engine())
  )
})

describe("refunds in a dealing cycle", () => {
  it.effect("are legs of their own, and the fund's net is what its accounts move by", () =>
    Effect.gen(function* () {
      const { stage, one, two } = yield* stageOf()
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, one, { id: "s1", amount: "60.00" })
      yield* Cycles.subscribes(stage, two, { id: "s2", amount: "50.00" })
      yield* priced(stage, [
        { id: "s1", units: "4" },
        { id: "s2", units: "3" }
      ])
      const figures = {
        gross: {
          subscribed: d("110"),
          refunded: d("16.41"),
          redeemed: Decimal.zero,
          minted: d("7"),
          burned: Decimal.zero
        },
        fundNet: { cash: d("93.59"), units: d("7") }
      }
      includes(yield* Cycles.cycle("c1"), figures)
      // The approver signs the refund among the figures.
      const action = yield* Calls.openAction("dealing-cycle.settle", { cycleId: "c1" }, {})
      const records = yield* Records
      const { figures: signed } = yield* records.get(approvals, String(action))
      includes(signed ?? {}, { subscribed: "110", refunded: "16.41", fundCash: "93.59" })
      const settled = yield* Calls.approveAction(action)
      assert.strictEqual(settled.why, "")
      includes(yield* Cycles.cycle("c1"), { endedAs: "settled", ...figures })
      includes(yield* Cycles.subscription("s1"), { refund: d("6.52"), refunded: d("6.52") })
      includes(yield* Cycles.subscription("s2"), { refund: d("9.89"), refunded: d("9.89") })
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "93.59")
      assert.strictEqual(yield* Cycles.holds(one, "USD"), "6.52")
      assert.strictEqual(yield* Cycles.holds(two, "USD"), "9.89")
      const queries = yield* Queries
      type Params = Parameters<(typeof DealingCycleQueries.get)["run"]>[0]
      const { value } = yield* queries.one(DealingCycleQueries.get, {
        caller: Calls.operator,
        params: { cycleId: "c1" as Params["cycleId"] },
        point: {}
      })
      const asset = Cycles.cash(stage)
      for (const [holder, amount] of [
        [one, "6.52"],
        [two, "9.89"]
      ] as const) {
        assert.deepInclude(value.legs, {
          from: stage.fund.party,
          to: holder.party,
          asset,
          amount: d(amount)
        })
      }
      // The fund's legs in, less its legs out, are its net.
      const cash = value.legs.filter((leg) => leg.asset.id === "USD")
      const into = Decimal.sum(
        cash.filter(({ to }) => to === stage.fund.party).map((l) => l.amount)
      )
      const out = Decimal.sum(
        cash.filter(({ from }) => from === stage.fund.party).map((l) => l.amount)
      )
      assert.strictEqual(Decimal.subtract(into, out), value.fundNet.cash)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("what a dealing cycle would come to", () => {
  it.effect("under terms by which the rest stays in the fund, has no refunds", () =>
    Effect.gen(function* () {
      const { stage, one } = yield* stageOf()
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, one, { id: "s1", amount: "60.00" })
      yield* priced(stage, [{ id: "s1", units: "4" }])
      assert.strictEqual((yield* Cycles.changes(1, { residual: "fund" })).why, "")
      const queries = yield* Queries
      type Params = Parameters<(typeof DealingCycleQueries.get)["run"]>[0]
      const under = (policyVersion: number) =>
        Effect.map(
          queries.one(DealingCycleQueries.get, {
            caller: Calls.operator,
            params: { cycleId: "c1" as Params["cycleId"], policyVersion },
            point: {}
          }),
          ({ value }) => [value.gross.refunded, value.fundNet.cash].map(Decimal.formatPlain)
        )
      assert.deepStrictEqual(yield* under(1), ["6.52", "53.48"])
      assert.deepStrictEqual(yield* under(2), ["0", "60"])
    }).pipe(engine())
  )

  it.effect("counts no cash that goes back towards what the fund pays", () =>
    Effect.gen(function* () {
      // Of 54.00 the fee takes 5.40 and three units 40.11: 8.49 goes back, 45.51 is left.
      const fees = { subscription: 0.1, redemption: 0 }
      const { stage, one, two } = yield* stageOf({ fees })
      yield* gives(stage, two, "4")
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, one, { id: "s1", amount: "54.00" })
      assert.strictEqual((yield* Cycles.redeems(stage, two, { id: "r1", units: "4" })).why, "")
      yield* priced(stage, [{ id: "s1", units: "3" }])
      yield* Cycles.pays(stage, { id: "r1", units: "4", price, proceeds: "53.48" })
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused cash fund-cash")
      yield* Cycles.paysIn(stage, stage.fund, "7.97")
      const aside = { assetId: "USD", amount: "7.97", to: stage.fund, reference: "c1" }
      yield* Cycles.allocates(stage, stage.fund, aside)
      assert.strictEqual((yield* Cycles.settles("c1")).why, "")
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "0")
      assert.strictEqual(yield* Cycles.holds(one, "USD"), "8.49")
      assert.strictEqual(yield* Cycles.holds(two, "USD"), "53.48")
    }).pipe(engine())
  )
})

describe("a refund in an iteration of a standing settlement", () => {
  it.effect("goes back to who committed the cash, free", () =>
    Effect.gen(function* () {
      const { stage, one } = yield* stageOf()
      const usd = Cycles.cash(stage)
      const body = {
        standingSettlementId: "st1",
        instrumentId: "fund-a",
        funding: [{ party: one.party, asset: usd, amount: 100 }]
      }
      assert.strictEqual((yield* Calls.write("standing-settlement.open", {}, body)).why, "")
      yield* Cycles.paysIn(stage, one, "100")
      const { cid } = yield* Fund.newestContract(Templates.StandingSettlement)
      yield* one.act(
        Templates.exercise(Templates.StandingSettlement, cid, "Commit", {
          party: one.party,
          holdingCid: (yield* Fund.freeHolding(one.party)).cid,
          amount: d("100")
        })
      )
      yield* one.act(
        Templates.create(Templates.SubscriptionOrder, {
          venue: stage.venue,
          fund: stage.fund.party,
          holder: one.party,
          orderId: "order-s1",
          instrument: stage.asset,
          paymentAsset: usd,
          amount: d("50"),
          units: null,
          expiresAt: null
        })
      )
      const order = { instrumentId: "fund-a", holderId: "h1", orderId: "order-s1" }
      const claim = { ...order, subscriptionId: "s1", payment: "ledger" }
      assert.strictEqual((yield* Calls.write("subscription.claim", {}, claim)).why, "")
      yield* priced(stage, [{ id: "s1", units: "3" }])
      const settled = yield* Calls.write(
        "standing-settlement.settle",
        { standingSettlementId: "st1" },
        { subscriptions: ["s1"] }
      )
      assert.strictEqual(settled.why, "")
      includes(yield* Cycles.subscription("s1"), { state: "closed", refunded: d("9.89") })
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "40.11")
      assert.strictEqual(yield* Cycles.holds(one, "USD"), "59.89")
      const records = yield* Records
      const { committed } = yield* records.get(standingSettlements, "st1")
      assert.deepStrictEqual(
        committed.map(({ amount }) => Decimal.formatPlain(amount)),
        ["50"]
      )
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

/** A line of credits; its order is paid by one. */
const line = (number: number, amount: number, statementId = Bank.credits) => ({
  statementId,
  line: number,
  amount
})
/** A line of debits; a refund is paid by one. */
const back = (number: number, amount: number) => line(number, amount, Bank.debits)

describe("a refund of an order paid by wire", () => {
  /** Delivered: 9.89 of its 50.00 bought nothing. */
  const delivered = Effect.gen(function* () {
    const on = yield* stageOf()
    yield* Calls.write(
      "subscription.claim",
      {},
      { subscriptionId: "s1", instrumentId: "fund-a", holderId: "h1", payment: "wire", amount: 50 }
    )
    yield* priced(on.stage, [{ id: "s1", units: "3" }])
    const delivering = yield* Calls.write(
      "subscription.deliver",
      { subscriptionId: "s1" },
      { cash: [line(1, 50)] }
    )
    assert.strictEqual(delivering.why, "")
    return on
  })

  it.effect("is paid by the bank lines that the settlement names", () =>
    Effect.gen(function* () {
      yield* delivered
      const settled = yield* settles("s1", { refunds: [back(2, 4.89), back(3, 5)] })
      assert.strictEqual(settled.why, "")
      const self = yield* Cycles.subscription("s1")
      includes(self, { state: "closed", refund: d("9.89"), refunded: d("9.89") })
      assert.deepStrictEqual(
        self.refunds.map((one) => [one.line, Decimal.formatPlain(one.amount)]),
        [
          [2, "4.89"],
          [3, "5"]
        ]
      )
      const canonical =
        '[{"amount":4.89,"line":2,"statementId":"stmt-2"},{"amount":5,"line":3,"statementId":"stmt-2"}]'
      const digest = createHash("sha256").update(canonical).digest("hex")
      assert.include(yield* Fund.lastCommands("subscription.settle"), digest)
      assert.deepStrictEqual(yield* waitingOn("s1"), [])
      assert.deepStrictEqual(yield* open, [])
      assert.strictEqual(yield* Fund.countActive(Templates.OwedRefund), 0)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("is owed by a closed order until it is evidenced, in parts or at once", () =>
    Effect.gen(function* () {
      const { one } = yield* delivered
      const closed = yield* settles("s1")
      assert.strictEqual(closed.why, "")
      includes(yield* Cycles.subscription("s1"), {
        state: "closed",
        endedAs: "closed",
        refund: d("9.89"),
        refunded: Decimal.zero
      })
      assert.strictEqual(closed.result.orderState, "settled")
      assert.deepStrictEqual(yield* waitingOn("s1"), ["operator subscription.settle"])
      const [row] = yield* open
      includes(row ?? {}, { orderId: "s1", state: "awaiting-refund", by: null })
      assert.deepStrictEqual(
        row?.waitingOn.map(({ role, action }) => `${role} ${action}`),
        ["operator subscription.settle"]
      )
      // The holder's own wallet shows the debt.
      const { payload } = yield* Fund.newestContract(Templates.OwedRefund)
      includes(payload, { holder: one.party, subscriptionId: "s1", amount: "9.8900000000" })

      const part = yield* settles("s1", { refunds: [back(2, 4)] })
      assert.strictEqual(part.why, "")
      includes(yield* Cycles.subscription("s1"), { state: "closed", refunded: d("4") })
      assert.deepStrictEqual(yield* waitingOn("s1"), ["operator subscription.settle"])
      const rest = yield* settles("s1", { refunds: [back(3, 5.89)] })
      assert.strictEqual(rest.why, "")
      includes(yield* Cycles.subscription("s1"), { state: "closed", refunded: d("9.89") })
      assert.strictEqual(
        JSON.stringify(rest.result.refunded),
        JSON.stringify({ text: "9.8900000000" })
      )
      assert.deepStrictEqual(yield* waitingOn("s1"), [])
      assert.deepStrictEqual(yield* open, [])
      assert.strictEqual(yield* Fund.countActive(Templates.OwedRefund), 0)
      assert.strictEqual((yield* settles("s1")).why, "state-conflict SubscriptionState")
      assert.strictEqual(
        (yield* settles("s1", { refunds: [back(4, 1)] })).why,
        "state-conflict SubscriptionState"
      )
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  // Switched off to see it red: `againstRefund`, and the state `awaiting-refund` of an open order.
  it.effect(
    "is not paid to a holder whose payments are stopped, and keeps the holder from being closed",
    () =>
      Effect.gen(function* () {
        yield* delivered
        assert.strictEqual((yield* Restricting.restricts("h1", "r1")).why, "")
        const stopped = "rule-refused restriction may-be-paid"
        assert.strictEqual((yield* settles("s1", { refunds: [back(2, 9.89)] })).why, stopped)
        // Closing alone pays nobody.
        assert.strictEqual((yield* settles("s1")).why, "")
        assert.strictEqual((yield* settles("s1", { refunds: [back(2, 9.89)] })).why, stopped)
        assert.strictEqual(yield* openOrderOf("h1"), "s1")
        assert.strictEqual((yield* Restricting.lifts("r1")).why, "")
        assert.strictEqual((yield* settles("s1", { refunds: [back(2, 9.89)] })).why, "")
        assert.strictEqual(yield* openOrderOf("h1"), null)
      }).pipe(engine())
  )

  it.effect("is never more than is owed, nor of a line that is named twice or pays elsewhere", () =>
    Effect.gen(function* () {
      yield* delivered
      const whyOf = (refunds: ReadonlyArray<Calls.Json>, cash: ReadonlyArray<Calls.Json> = []) =>
        Effect.map(settles("s1", { refunds, cash }), ({ why }) => why)
      assert.strictEqual(yield* whyOf([back(2, 9.9)]), "rule-refused cash refund-over")
      assert.strictEqual(
        yield* whyOf([back(2, 1), back(2, 1)]),
        "rule-refused cash cash-line-repeated"
      )
      // The line that paid the order is not one that paid it back.
      assert.strictEqual(yield* whyOf([line(1, 1)]), "rule-refused cash cash-line-repeated")
      assert.strictEqual((yield* settles("s1", { refunds: [back(2, 4)] })).why, "")
      assert.strictEqual(yield* whyOf([back(3, 5.9)]), "rule-refused cash refund-over")
      assert.strictEqual(yield* whyOf([back(2, 1)]), "rule-refused cash cash-line-repeated")
      assert.strictEqual(yield* whyOf([back(3, 1)], [line(4, 1)]), "rule-refused cash cash-over")
      assert.strictEqual(yield* whyOf([]), "state-conflict SubscriptionState")
    }).pipe(engine())
  )

  it.effect("holds its line against every other order, from its naming on", () =>
    Effect.gen(function* () {
      const { stage } = yield* delivered
      yield* settles("s1")
      yield* Bank.states({ id: "exact", entries: [{ amount: "9.89", direction: "debit" }] })
      const second = { subscriptionId: "s2", instrumentId: "fund-a", holderId: "h2", amount: 50 }
      yield* Calls.write("subscription.claim", {}, { ...second, payment: "wire" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, price, Cycles.monday)
      yield* Cycles.attests(stage, { id: "s2", units: "3", price })
      yield* Calls.write("subscription.deliver", { subscriptionId: "s2" }, { cash: [line(2, 50)] })
      const named = { refunds: [line(1, 9.89, "exact")] }
      const pays = Effect.map(settles("s2", named), ({ why }) => why)
      // Named for a refund that the ledger has not taken yet, as after a crash.
      yield* Bank.reserves({
        order: { kind: "subscription", orderId: "s1" },
        named: { statementId: "exact", line: 1, amount: "9.89" },
        pays: "refund"
      })
      assert.strictEqual(yield* pays, "rule-refused cash line-left")
      assert.strictEqual((yield* settles("s1", named)).why, "")
      assert.strictEqual(yield* pays, "rule-refused cash line-left")
    }).pipe(engine())
  )

  it.effect("stands in the record at every point as the ledger had it there", () =>
    Effect.gen(function* () {
      yield* delivered
      yield* settles("s1")
      const queries = yield* Queries
      const readAt = (point: object) =>
        queries.one(SubscriptionQueries.get, {
          caller: Calls.operator,
          params: { subscriptionId: "s1" as never },
          point
        })
      const before = yield* readAt({})
      yield* settles("s1", { refunds: [back(2, 9.89)] })
      const after = yield* readAt({})
      assert.isAbove(after.offset, before.offset)
      assert.strictEqual(after.value.refunded, d("9.89"))
      const again = yield* readAt({ at: before.offset })
      assert.deepStrictEqual(again.value, before.value)
    }).pipe(engine())
  )
})
