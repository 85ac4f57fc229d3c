/** Worklist of an order: the moves that it names, and no others, bring every order to its end. */
import { Records } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { dealingCycles, DealingCycleMachine } from "#core/orders/dealing-cycle/DealingCycle.ts"
import { primaryMarkets, PrimaryMarketMachine } from "#core/orders/primary-market/PrimaryMarket.ts"
import { redemptions, RedemptionMachine } from "#core/orders/redemption/Redemption.ts"
import {
  standingSettlements,
  StandingSettlementMachine
} from "#core/orders/standing-settlement/StandingSettlement.ts"
import { subscriptions, SubscriptionMachine } from "#core/orders/subscription/Subscription.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import { claims, ordered, playOf, price, valued, walk } from "./worklist.ts"

const engine = () => Effect.provide(world())
const subscription = { collection: subscriptions, machine: SubscriptionMachine }
const redemption = { collection: redemptions, machine: RedemptionMachine }

describe("an order is brought to its end by the moves it waits for", () => {
  it.effect("and waits for the right party until it has ended, then for nobody", () =>
    Effect.gen(function* () {
      const play = yield* ordered
      const member = "dealing-cycle.settle"
      const bought = {
        wire: yield* walk(play, { ...subscription, id: "s-wire" }),
        units: yield* walk(play, { ...subscription, id: "s-units" }),
        alone: yield* walk(play, { ...subscription, id: "s-alone" }),
        cycle: yield* walk(play, { ...subscription, id: "s-cycle", until: member })
      }
      const sold = {
        wire: yield* walk(play, { ...redemption, id: "r-wire" }),
        alone: yield* walk(play, { ...redemption, id: "r-alone" }),
        cycle: yield* walk(play, { ...redemption, id: "r-cycle", until: member })
      }
      const cycle = yield* walk(play, {
        collection: dealingCycles,
        machine: DealingCycleMachine,
        id: "c1"
      })
      assert.deepStrictEqual(cycle.actions, ["dealing-cycle.settle"])
      assert.strictEqual((yield* walk(play, { ...subscription, id: "s-cycle" })).state, "closed")
      assert.strictEqual((yield* walk(play, { ...redemption, id: "r-cycle" })).state, "settled")
      assert.deepStrictEqual(bought.wire.states, ["claimed", "priced", "delivered", "closed"])
      assert.deepStrictEqual(bought.units.actions, [
        "SubscriptionClaim.Attest",
        "subscription.deliver",
        "subscription.settle"
      ])
      assert.deepStrictEqual(sold.wire.states, ["claimed", "priced", "funded", "burned", "settled"])
      assert.deepStrictEqual([bought.cycle.state, sold.cycle.state], ["priced", "priced"])
      assert.strictEqual(bought.alone.state, "closed")
      assert.strictEqual(sold.alone.state, "settled")
      assert.include(sold.alone.actions, "Holding.Allocate")
    }).pipe(engine())
  )

  it.effect("but for one without a market, whose units the registrar mints", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.admitted(stage)
      yield* claims("subscription", { subscriptionId: "s1", holderId: "h1", amount: 1000 })
      yield* Cycles.at(valued)
      yield* Fund.publishes(stage, price, valued, [])
      const { actions, state } = yield* walk(playOf(stage), { ...subscription, id: "s1" })
      assert.strictEqual(state, "closed")
      assert.include(actions, "MintRequest.Accept")
    }).pipe(engine())
  )

  it.effect("and so are a market and a standing settlement", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      const asset = { admin: stage.bank.party, id: "USD" }
      yield* Calls.write(
        "primary-market.propose",
        { instrumentId: "fund-a" },
        {
          fund: stage.fund.party,
          paymentAsset: asset,
          terms: { attestors: [stage.attestor.party], required: 1 }
        }
      )
      const records = yield* Records
      const [proposed] = yield* records.list(primaryMarkets, { limit: 1 })
      const market = yield* walk(playOf(stage), {
        collection: primaryMarkets,
        machine: PrimaryMarketMachine,
        id: proposed?.record.marketId ?? ""
      })
      assert.deepStrictEqual(market.states, ["proposed", "agreed"])
      yield* Fund.admitted(stage)
      const opening = yield* Calls.write(
        "standing-settlement.open",
        {},
        {
          standingSettlementId: "st1",
          instrumentId: "fund-a",
          funding: [{ party: stage.fund.party, asset, amount: 2000 }]
        }
      )
      assert.strictEqual(opening.why, "")
      const settlementKind = {
        collection: standingSettlements,
        machine: StandingSettlementMachine,
        id: "st1"
      }
      const opened = yield* walk(playOf(stage), settlementKind)
      assert.deepStrictEqual(opened.states, ["proposed", "open"])
      yield* Calls.write("standing-settlement.pause", { standingSettlementId: "st1" }, {})
      const resumed = yield* walk(playOf(stage), settlementKind)
      assert.deepStrictEqual(resumed.states, ["paused", "open"])
    }).pipe(engine())
  )
})
