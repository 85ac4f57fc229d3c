/** Late or short funding: precheck and gates refuse the settlement before the ledger does. */
import { Queries } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as PrecheckQueries from "#core/overviews/precheck/PrecheckQueries.ts"
import { orderStateAt, redemptions } from "#core/orders/redemption/Redemption.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

const engine = () => Effect.provide(world())
type Params = Parameters<(typeof PrecheckQueries.get)["run"]>[0]

const refusing = (act: Params["act"], given: Readonly<Record<string, unknown>>) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const { value } = yield* queries.one(PrecheckQueries.get, {
      caller: Calls.operator,
      params: { instrumentId: "fund-a", act, ...given } as unknown as Params,
      point: {}
    })
    assert.strictEqual(
      value.allowed,
      value.gates.every(({ ok }) => ok)
    )
    return value.gates.filter(({ ok }) => !ok).map(({ gate, check }) => `${gate} ${check}`)
  })

/** The act is refused as its precheck says first, or done where it says nothing. */
const agrees = (
  kind: "subscription.settle" | "redemption.settle" | "dealing-cycle.settle",
  named: Readonly<Record<string, string>>,
  expected: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* refusing(kind, named), expected)
    const { why } = yield* Calls.write(kind, named, {})
    assert.strictEqual(why, expected[0] === undefined ? "" : `rule-refused ${expected[0]}`)
  })

/** Locks cash or units for the venue to move, until then and no longer. */
const locks = (
  stage: Fund.Parties,
  by: Fund.Outsider,
  claim: {
    readonly id: string
    readonly asset: string
    readonly amount: string
    readonly until: string
  }
) =>
  Effect.gen(function* () {
    const held = (yield* Cycles.active(Templates.Holding)).find(
      ({ payload }) =>
        payload.owner === by.party &&
        payload.instrument.id === claim.asset &&
        payload.lock === null &&
        Decimal.atLeast(Decimal.of(String(payload.amount)), Decimal.of(claim.amount))
    )
    if (held === undefined) throw new Error("nothing to lock")
    yield* by.act(
      Templates.exercise(Templates.Holding, held.cid, "Allocate", {
        allocationId: claim.id,
        executor: stage.venue,
        receiver: stage.fund.party,
        amount: Decimal.of(claim.amount),
        settleBefore: Instant.of(claim.until)
      })
    )
  })

/** A ledger-paid order of each way, each priced, with its cash or units not locked yet. */
const priced = Effect.gen(function* () {
  const { stage, holders } = yield* Cycles.opened(["h1"])
  const [h1] = holders
  if (h1 === undefined) throw new Error("no holder")
  yield* Cycles.subscribes(stage, h1, { id: "s0", amount: "100" })
  yield* Cycles.at(Cycles.friday)
  yield* Fund.publishes(stage, "1", Cycles.friday)
  yield* Cycles.attests(stage, { id: "s0", units: "100", price: "1" })
  yield* agrees("subscription.settle", { subscriptionId: "s0" }, [])
  return { stage, h1 }
})

const signs = (stage: Fund.Parties, by: Cycles.Holder, position: { readonly units: string }) =>
  Effect.gen(function* () {
    const order = {
      venue: stage.venue,
      fund: stage.fund.party,
      holder: by.party,
      orderId: "o1",
      instrument: stage.asset,
      paymentAsset: Cycles.cash(stage),
      expiresAt: null
    }
    yield* by.act(
      Templates.create(Templates.SubscriptionOrder, {
        ...order,
        amount: Decimal.of("100"),
        units: null
      }),
      Templates.create(Templates.RedemptionOrder, {
        ...order,
        amount: null,
        units: Decimal.of(position.units),
        custodian: null
      })
    )
    const said = { instrumentId: "fund-a", holderId: "h1", payment: "ledger", orderId: "o1" }
    for (const [kind, id] of [
      ["subscription", { subscriptionId: "s1" }],
      ["redemption", { redemptionId: "r1" }]
    ] as const) {
      assert.strictEqual((yield* Calls.write(`${kind}.claim`, {}, { ...said, ...id })).why, "")
    }
  })

describe("an order paid on the ledger", () => {
  const soon = "2026-08-04T20:00:00Z"
  const settleBy = "2026-08-08T20:00:00Z"
  const long = "2026-08-20T20:00:00Z"

  /** Claimed after the Friday's cut-off, so that both deal at the Monday's. */
  const openStanding = (until: { readonly cash: string; readonly units: string }) =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* priced
      yield* signs(stage, h1, { units: "40" })
      yield* Cycles.paysIn(stage, h1, "100")
      yield* locks(stage, h1, { id: "s1", asset: "USD", amount: "100", until: until.cash })
      yield* locks(stage, h1, { id: "r1", asset: "fund-a", amount: "40", until: until.units })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.attests(stage, { id: "s1", units: "100", price: "1" })
      yield* Cycles.pays(stage, { id: "r1", units: "40", price: "1", proceeds: "40" })
      yield* Cycles.paysIn(stage, stage.fund, "40")
      yield* Cycles.allocates(stage, stage.fund, {
        assetId: "USD",
        amount: "40",
        to: h1,
        reference: "r1"
      })
      return { stage, h1 }
    })

  it.effect("never settles on what its holder locked for less time, or is said to", () =>
    Effect.gen(function* () {
      yield* openStanding({ cash: soon, units: soon })
      assert.deepStrictEqual(yield* refusing("subscription.settle", { subscriptionId: "s1" }), [])
      assert.deepStrictEqual(yield* refusing("redemption.settle", { redemptionId: "r1" }), [])
      yield* Cycles.at(soon)
      yield* agrees("subscription.settle", { subscriptionId: "s1" }, ["cash cash-allocated"])
      yield* agrees("redemption.settle", { redemptionId: "r1" }, ["units units-allocated"])
    }).pipe(engine())
  )

  it.effect("never does not settle on what its holder locked anew", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* openStanding({ cash: soon, units: soon })
      yield* Cycles.at(soon)
      yield* Cycles.paysIn(stage, h1, "100")
      yield* locks(stage, h1, { id: "s1", asset: "USD", amount: "100", until: long })
      yield* locks(stage, h1, { id: "r1", asset: "fund-a", amount: "40", until: long })
      assert.deepStrictEqual(yield* Fund.surprises, [])
      yield* agrees("subscription.settle", { subscriptionId: "s1" }, [])
      yield* agrees("redemption.settle", { redemptionId: "r1" }, [])
    }).pipe(engine())
  )

  it.effect("never settles once its own time is past, or is said to", () =>
    Effect.gen(function* () {
      yield* openStanding({ cash: long, units: long })
      yield* Cycles.at(settleBy)
      yield* agrees("subscription.settle", { subscriptionId: "s1" }, ["window settle-by"])
      yield* agrees("redemption.settle", { redemptionId: "r1" }, ["window settle-by"])
    }).pipe(engine())
  )

  it.effect("never is refused before that time is past", () =>
    Effect.gen(function* () {
      yield* openStanding({ cash: long, units: long })
      yield* Cycles.at("2026-08-08T19:59:59Z")
      yield* agrees("subscription.settle", { subscriptionId: "s1" }, [])
      yield* agrees("redemption.settle", { redemptionId: "r1" }, [])
    }).pipe(engine())
  )
})

describe("an order to be paid an amount", () => {
  it.effect(
    "never takes units of its holder that are not locked, or is not shown as waiting for them",
    () =>
      Effect.gen(function* () {
        const { stage, h1 } = yield* priced
        yield* h1.act(
          Templates.create(Templates.RedemptionOrder, {
            venue: stage.venue,
            fund: stage.fund.party,
            holder: h1.party,
            orderId: "o1",
            instrument: stage.asset,
            paymentAsset: Cycles.cash(stage),
            expiresAt: null,
            amount: Decimal.of("40"),
            units: null,
            custodian: null
          })
        )
        const said = { instrumentId: "fund-a", holderId: "h1", payment: "ledger", orderId: "o1" }
        const claimed = yield* Calls.write("redemption.claim", {}, { ...said, redemptionId: "r1" })
        assert.strictEqual(claimed.why, "")
        const until = "2026-08-20T20:00:00Z"
        yield* locks(stage, h1, { id: "r1", asset: "fund-a", amount: "39.999999", until })
        yield* Cycles.paysIn(stage, stage.fund, "40")
        const cash = { assetId: "USD", amount: "40", to: h1, reference: "r1" }
        yield* Cycles.allocates(stage, stage.fund, cash)
        yield* Cycles.at(Cycles.monday)
        yield* Fund.publishes(stage, "1", Cycles.monday)
        yield* Cycles.pays(stage, { id: "r1", units: "40", price: "1", proceeds: "40" })
        const self = yield* Cycles.redemption("r1")
        assert.deepStrictEqual(
          [orderStateAt(self, yield* Instant.now), redemptions.waitingOn(self)],
          ["awaiting-units", [{ party: h1.party, action: "Holding.Allocate", by: self.settleBy }]]
        )
        yield* agrees("redemption.settle", { redemptionId: "r1" }, ["units units-allocated"])
        yield* locks(stage, h1, { id: "r1", asset: "fund-a", amount: "40", until })
        assert.deepStrictEqual(yield* Fund.surprises, [])
        yield* agrees("redemption.settle", { redemptionId: "r1" }, [])
      }).pipe(engine())
  )
})

describe("a dealing cycle", () => {
  it.effect(
    "never settles on what a holder locked for less time than the cycle has, or is said to",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* Cycles.opened(["h1"])
        const [h1] = holders
        if (h1 === undefined) throw new Error("no holder")
        yield* Cycles.opens("c1")
        yield* signsToBuy(stage, h1)
        yield* Cycles.paysIn(stage, h1, "100")
        const soon = "2026-08-01T20:00:00Z"
        yield* locks(stage, h1, { id: "s1", asset: "USD", amount: "100", until: soon })
        yield* Cycles.at(Cycles.friday)
        yield* Fund.publishes(stage, "1", Cycles.friday)
        yield* Cycles.attests(stage, { id: "s1", units: "100", price: "1" })
        assert.deepStrictEqual(yield* refusing("dealing-cycle.settle", { cycleId: "c1" }), [])
        yield* Cycles.at(soon)
        yield* agrees("dealing-cycle.settle", { cycleId: "c1" }, ["cash cash-allocated"])
      }).pipe(engine())
  )
})

describe("a fund", () => {
  it.effect(
    "never pays for a cycle with cash that it set aside for less time than the cycle has",
    () =>
      Effect.gen(function* () {
        const { stage, h1 } = yield* priced
        yield* Cycles.opens("c2")
        yield* Cycles.redeems(stage, h1, { id: "r1", units: "40" })
        yield* Cycles.at(Cycles.monday)
        yield* Fund.publishes(stage, "1", Cycles.monday)
        yield* Cycles.pays(stage, { id: "r1", units: "40", price: "1", proceeds: "40" })
        const until = "2026-08-04T20:00:00Z"
        yield* Cycles.paysIn(stage, stage.fund, "40")
        yield* locks(stage, stage.fund, { id: "c2", asset: "USD", amount: "40", until })
        assert.deepStrictEqual(yield* refusing("dealing-cycle.settle", { cycleId: "c2" }), [])
        yield* Cycles.at(until)
        yield* agrees("dealing-cycle.settle", { cycleId: "c2" }, ["cash fund-cash"])
        const long = "2026-08-08T20:00:00Z"
        yield* Cycles.paysIn(stage, stage.fund, "40")
        yield* locks(stage, stage.fund, { id: "c2", asset: "USD", amount: "40", until: long })
        yield* agrees("dealing-cycle.settle", { cycleId: "c2" }, [])
      }).pipe(engine())
  )
})

const signsToBuy = (stage: Fund.Parties, by: Cycles.Holder) =>
  Effect.gen(function* () {
    yield* by.act(
      Templates.create(Templates.SubscriptionOrder, {
        venue: stage.venue,
        fund: stage.fund.party,
        holder: by.party,
        orderId: "o1",
        instrument: stage.asset,
        paymentAsset: Cycles.cash(stage),
        amount: Decimal.of("100"),
        units: null,
        expiresAt: null
      })
    )
    const said = { instrumentId: "fund-a", holderId: "h1", payment: "ledger", orderId: "o1" }
    const claimed = yield* Calls.write("subscription.claim", {}, { ...said, subscriptionId: "s1" })
    assert.strictEqual(claimed.why, "")
  })
