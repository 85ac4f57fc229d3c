/** Lots of subscriptions: their base price and cost, what orders show of them, and mints that claim to be of one. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { lots } from "#core/instruments/lot/Lot.ts"
import * as SubscriptionQueries from "#core/orders/subscription/SubscriptionQueries.ts"
import * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Venue from "./venue.ts"

const engine = () => Effect.provide(world())
const d = Decimal.of
const farDeadline = Instant.of("2030-01-01T00:00:00Z")
const textOf = (amount: Decimal.Decimal | null) =>
  amount === null ? "none" : Decimal.formatPlain(amount)

/** A holder that bought 100 units at 1 on the Friday, and ordered for 100 more at the Monday's swung price. */
const priced = Effect.gen(function* () {
  const { holders, stage } = yield* Cycles.opened(["h1"])
  const [holder] = holders
  if (holder === undefined) throw new Error("one holder")
  yield* Cycles.opens("c1")
  yield* Cycles.subscribes(stage, holder, { id: "s1", amount: "100" })
  yield* Cycles.at(Cycles.friday)
  yield* Fund.publishes(stage, "1", Cycles.friday)
  yield* Cycles.attests(stage, { id: "s1", units: "100", price: "1" })
  yield* Cycles.settles("c1")
  yield* Cycles.changes(1, { swing: { threshold: 0.01, up: 0.0015, down: 0.001 } })
  yield* Cycles.opens("c2")
  yield* Cycles.subscribes(stage, holder, { id: "s2", amount: "100" })
  yield* Cycles.at(Cycles.monday)
  yield* Fund.publishes(stage, "1", Cycles.monday)
  yield* Cycles.attests(stage, { id: "s2", units: "99.850224", price: "1.0015" })
  return { holder, stage }
})

const bought = Effect.tap(priced, () => Cycles.settles("c2"))

type Scene = Effect.Success<typeof bought>

/** The registrar burns so many units of a holding of the holder that has them. */
const burns = ({ holder, stage }: Scene, amount: string) =>
  Effect.gen(function* () {
    const held = (yield* Cycles.active(Templates.Holding)).find(
      ({ payload }) =>
        payload.owner === holder.party &&
        payload.instrument.id === "fund-a" &&
        Decimal.atLeast(d(String(payload.amount)), d(amount))
    )
    if (held === undefined) throw new Error("the holder has fewer units")
    yield* holder.act(
      Templates.exercise(Templates.Holding, held.cid, "RequestBurn", {
        amount: d(amount),
        reference: { kind: "anything", id: "b" },
        custodian: null,
        executeBefore: farDeadline
      })
    )
    const request = yield* Fund.newestContract(Templates.BurnRequest)
    yield* stage.registrar.act(Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {}))
  })

/** The registrar mints units to the holder in the name of an order. */
const mints = ({ stage }: Scene, claim: { readonly id: string; readonly amount: string }) =>
  Effect.flatMap(Fund.newestContract(Templates.Credential), ({ cid }) =>
    stage.registrar.act(
      Templates.exercise(Templates.Credential, cid, "Receive", {
        amount: d(claim.amount),
        reference: { kind: "subscription", id: claim.id },
        configurationCid: null
      })
    )
  )

const shown = (id: string, at?: Effect.Success<typeof Venue.offsetNow>) =>
  Effect.map(
    Venue.read(
      SubscriptionQueries.get,
      { subscriptionId: id as never },
      at === undefined ? {} : { point: { at } }
    ),
    ({ value: { lot, price } }) =>
      lot === null ? "none" : [price, lot.basePrice, lot.units, lot.remaining].map(textOf).join(" ")
  )

/** Cost left of the holder's units, as its portfolio says it. */
const cost = (point: { readonly at?: Effect.Success<typeof Venue.offsetNow> }) =>
  Effect.map(
    Venue.read(PortfolioQueries.portfolio, { holderId: "h1" as never }, { point }),
    ({ value }) => textOf(value[0]?.cost ?? null)
  )

const listed = Effect.map(Venue.list(SubscriptionQueries.list, {}), ({ value }) =>
  value.map(({ lot }) => textOf(lot?.remaining ?? null))
)

/** Lots oldest first: base price, remaining units, cost left of cost. */
const kept = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(lots, { limit: 100 })
  const own = found.filter(({ record }) => record.instrumentId === "fund-a")
  return own.map(({ record: { basePrice, cost, costLeft, lotId, origin, remaining } }) =>
    [
      lotId.includes("/") ? "numbered" : lotId,
      origin?.id ?? "none",
      ...[basePrice, remaining, costLeft, cost].map(textOf)
    ].join(" ")
  )
})

describe("the lot of a subscription", () => {
  it.effect("never has the swung price as its base, or another cost than the cash paid", () =>
    Effect.gen(function* () {
      yield* bought
      assert.deepEqual(yield* kept, ["s1 s1 1 100 100 100", "s2 s2 1 99.850224 100 100"])
      assert.strictEqual(yield* shown("s2"), "1.0015 1 99.850224 99.850224")
    }).pipe(engine())
  )

  it.effect("shows what is left of it at every point, the oldest first", () =>
    Effect.gen(function* () {
      const scene = yield* bought
      const before = yield* Venue.offsetNow
      yield* burns(scene, "60")
      const between = yield* Venue.offsetNow
      yield* burns(scene, "40")
      yield* burns(scene, "9.850224")
      assert.deepEqual(yield* listed, ["0", "90"])
      assert.strictEqual(yield* shown("s1"), "1 1 100 0")
      assert.strictEqual(yield* shown("s1", between), "1 1 100 40")
      const costs = [yield* cost({ at: before }), yield* cost({ at: between }), yield* cost({})]
      assert.deepEqual(costs, ["200", "140", "90.14"])
      assert.strictEqual(yield* shown("s1", before), "1 1 100 100")
      assert.deepEqual(yield* kept, ["s1 s1 1 0 0 100", "s2 s2 1 90 90.14 100"])
    }).pipe(engine())
  )

  it.effect("is opened once: other mints in the name of an order have no price", () =>
    Effect.gen(function* () {
      const scene = yield* priced
      yield* mints(scene, { id: "s2", amount: "5" })
      yield* Cycles.settles("c2")
      yield* mints(scene, { id: "s1", amount: "100" })
      yield* mints(scene, { id: "s9", amount: "1" })
      assert.deepEqual(yield* kept, [
        "s1 s1 1 100 100 100",
        "numbered s2 none 5 none none",
        "numbered s1 none 100 none none",
        "numbered s9 none 1 none none",
        "s2 s2 1 99.850224 100 100"
      ])
      assert.strictEqual(yield* cost({}), "none")
    }).pipe(engine())
  )
})
