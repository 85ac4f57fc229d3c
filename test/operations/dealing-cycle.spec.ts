/** Dealing cycles through their operations and the wallets of outside parties, from opening to end. */
import { EventReads } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Stage from "./stage.ts"

const engine = (options: Parameters<typeof world>[0] = {}) => Effect.provide(world(options))
const includes = (self: object, members: object) => assert.deepInclude(self, members)

/** Every control event of cycles and orders, in the order of the feed. */
const told = Effect.gen(function* () {
  const feed = yield* EventReads.EventReads
  const page = yield* feed.page({
    caller: Stage.operator,
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
        cutOffAt: Instant.format(Instant.of(Cycles.friday)),
        settleBy: Instant.format(Instant.of("2026-08-05T20:00:00Z"))
      })
      yield* Cycles.subscribes(stage, first, { id: "s1", amount: "100000" })
      yield* Cycles.subscribes(stage, second, { id: "s2", amount: "50000" })
      includes(yield* Cycles.cycle("c1"), {
        members: { subscriptions: 2, redemptions: 0 },
        gross: {
          subscribed: Decimal.of("150000"),
          redeemed: Decimal.zero,
          minted: Decimal.zero,
          burned: Decimal.zero
        }
      })
      assert.strictEqual((yield* Cycles.subscription("s1")).cycleId, "c1")
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused window cut-off-passed")
      yield* Cycles.at(Cycles.friday)
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused nav-feed orders-priced")
      yield* Stage.publishes(stage, price, Cycles.friday)
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
      assert.deepStrictEqual((yield* told).slice(-5), [
        "s1 subscription.delivered",
        "s1 subscription.ended",
        "s2 subscription.delivered",
        "s2 subscription.ended",
        "c1 dealing-cycle.settled"
      ])
      assert.deepStrictEqual(yield* Stage.surprises, [])
      assert.strictEqual(yield* Stage.count(Templates.DealingCycle), 0)
    }).pipe(engine())
  )
})
