/** Mints and reserve redemptions through their operations and the wallets of outside parties. */
import { EventQueries, Records, verify } from "@bursar/engine-core"
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { lots } from "#core/instruments/lot/Lot.ts"
import { movements } from "#core/instruments/register/Movement.ts"
import * as OpenOrderQueries from "#core/overviews/OpenOrderQueries.ts"
import * as PrecheckQueries from "#core/overviews/precheck/PrecheckQueries.ts"
import * as ReserveOrderQueries from "#core/reserves/reserve-order/ReserveOrderQueries.ts"
import { holds } from "#core/restraints/hold/Hold.ts"
import * as HoldQueries from "#core/restraints/hold/HoldQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { id } from "../machines/subscriptions.ts"
import * as WorkLaw from "../reads/work-law.ts"
import * as BrokenReserveOrders from "../rules/broken-reserve-orders.ts"
import * as Backed from "./backed.ts"
import { rowsOf, sets, under } from "./controlled.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Minting from "./minting.ts"
import * as Powers from "./powers.ts"
import * as Stated from "./stated-reserves.ts"
import * as Venue from "./venue.ts"

const d = Decimal.of
const engine = () => Effect.provide(world())
const reserveId = id<"ReserveId">("res-1")

const inDays = (days: number) =>
  Effect.map(Instant.now, (now) => Instant.format(Instant.add(now, Duration.days(days))))

const cancels = (
  kind: "mint" | "reserve-redemption",
  orderId: string,
  reserveId: string = "res-1"
) =>
  Calls.write(
    `${kind}.cancel`,
    { reserveId, [kind === "mint" ? "mintId" : "reserveRedemptionId"]: orderId },
    {}
  )

/** The clock at the deadline, which the fund's start is a day before, and the engine after it. */
const pastDeadline = Effect.andThen(Cycles.at("2026-08-01T12:30:00Z"), Minting.turn)

/** A hold that a run would open for a reserve whose cover is low. */
const coverHold = (scene: Backed.Scene) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    yield* records.transact(
      records.open(
        holds,
        {
          holdId: id<"HoldId">("hold-cover"),
          instrumentId: id<"InstrumentId">("fund-a"),
          registrar: scene.registrar.party,
          source: "cover",
          blocks: ["mint", "distribution"],
          reason: "reserve-cover",
          findings: ["fnd-1"],
          runId: "run-1",
          cover: { reserveId: "res-1", ratio: d("0.9"), minCover: d("1.02") },
          state: "open",
          openedAt: now,
          by: null,
          until: null,
          releasedAt: null,
          releasedBy: [],
          override: null
        },
        { cause: { by: "clock" }, now }
      )
    )
  })

const eventsOf = (type: string) =>
  Effect.gen(function* () {
    const feed = yield* EventQueries.EventQueries
    const page = yield* feed.page({ caller: Calls.operator, params: {}, limit: 1000 })
    return page.value
      .filter((event) => event.type === type)
      .map(({ resourceId, payload }) => ({ resourceId, payload }))
  })

const openOrders = Effect.map(Venue.list(OpenOrderQueries.list, {}), ({ value }) =>
  value.map(({ orderId, kind, state, quantity }) => {
    const units = quantity === null ? "-" : Decimal.formatPlain(quantity)
    return `${kind} ${orderId} ${state} ${units}`
  })
)

const cash = (scene: Backed.Scene, mintId: string, deposit: number) => ({
  mintId,
  asset: scene.usd,
  deposit
})
const bills = (scene: Backed.Scene, mintId: string, deposit: number) => ({
  mintId,
  asset: scene.bill,
  deposit
})

describe("a mint", () => {
  it.effect("locks the deposit, mints the units and says so once", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      assert.deepStrictEqual(yield* Minting.endings("mint.settle"), ["succeeded", "succeeded"])
      assert.deepInclude(yield* Minting.mint("m-bill"), {
        state: "settled",
        endedAs: "settled",
        units: d("1050"),
        price: d("2.1"),
        sharePrice: d("1"),
        coverAfter: d("1.0746666666")
      })
      assert.strictEqual(yield* Cycles.holds(scene.h1, "fund-a"), "1500")
      assert.strictEqual(yield* Cycles.holds(scene.custodian, "USD"), "1000")
      assert.strictEqual(yield* Cycles.holds(scene.custodian, "BILL"), "500")
      // Each asset is locked in one holding, and the request for a deposit has ended.
      assert.strictEqual((yield* Cycles.active(Templates.SettlementIntent)).length, 0)
      const locked = (yield* Cycles.active(Templates.Holding)).filter(
        ({ payload }) => payload.lock?.context === "res-1"
      )
      assert.strictEqual(locked.length, 2)
      const { outstanding } = yield* Backed.reserve()
      assert.strictEqual(outstanding, d("1500"))
      assert.deepStrictEqual(
        (yield* eventsOf("reserve.minted")).map(({ resourceId }) => resourceId),
        ["m-cash", "m-bill"]
      )
      const records = yield* Records
      const minted = yield* records.list(movements, { where: {}, limit: 100 })
      assert.deepStrictEqual(
        minted
          .map(({ record }) => record)
          .filter(({ instrumentId }) => instrumentId === "fund-a")
          .map(({ kind, reference, units }) => [kind, reference?.id, Decimal.formatPlain(units)]),
        [
          ["mint", "m-cash", "450"],
          ["mint", "m-bill", "1050"]
        ]
      )
      const acquired = (yield* records.list(lots, { limit: 100 })).map(({ record }) => record)
      assert.deepStrictEqual(
        acquired
          .filter(({ instrumentId }) => instrumentId === "fund-a")
          .map(({ origin, basePrice, cost }) => [origin?.id, basePrice, cost]),
        [
          ["m-cash", d("1"), d("450")],
          ["m-bill", d("1"), d("1050")]
        ]
      )
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("is the cost of its own units alone, whatever is minted in its name later", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const { cid } = yield* Powers.saying(Templates.Credential, { holder: scene.h1.party })
      yield* scene.registrar.act(
        Templates.exercise(Templates.Credential, cid, "Receive", {
          amount: d("1050"),
          reference: { kind: "mint", id: "m-bill" },
          configurationCid: null
        })
      )
      const records = yield* Records
      const found = yield* records.list(lots, { limit: 100 })
      assert.deepStrictEqual(
        found
          .map(({ record }) => record)
          .filter(
            ({ instrumentId, party }) => instrumentId === "fund-a" && party === scene.h1.party
          )
          .map(({ cost, origin, units }) => [origin?.id, units, cost]),
        [
          ["m-cash", d("450"), d("450")],
          ["m-bill", d("1050"), d("1050")],
          ["m-bill", d("1050"), null]
        ]
      )
    }).pipe(engine())
  )

  // G53.
  it.effect("of an empty reserve needs what its holder has locked beyond the deposit", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.opened({ terms: { minCover: 1.02 } })
      const start = Minting.starts(scene, cash(scene, "m-a", 100))
      const low = "rule-refused reserve-cover cover"
      assert.strictEqual((yield* start).why, low)
      yield* Backed.locks(scene, { amount: "1.9999999999", asset: scene.usd })
      assert.strictEqual((yield* start).why, low)
      yield* Backed.locks(scene, { amount: "0.0000000001", asset: scene.usd })
      assert.strictEqual((yield* start).why, "")
      yield* Minting.accepts(scene, cash(scene, "m-a", 100))
      yield* Minting.turn
      assert.strictEqual((yield* Minting.mint("m-a")).coverAfter, d("1.02"))
    }).pipe(engine())
  )

  // G58, and the law of both: the party never gets more than the prices of the settlement give.
  it.effect("never gives more units than the deposit is worth at the settlement", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      yield* Backed.locks(scene, { amount: "5000", asset: scene.usd })
      const mint = bills(scene, "m-b", 500)
      yield* Minting.starts(scene, mint)
      yield* Backed.prices(scene, "2.09")
      yield* Minting.accepts(scene, mint)
      yield* Minting.turn
      assert.deepStrictEqual((yield* Minting.endings("mint.settle")).slice(-1), [
        "reserve-cover price-moved"
      ])
      assert.strictEqual((yield* Minting.mint("m-b")).state, "ready")
      // Once the price is back, the next try settles it; at a higher price its units stay as they were.
      yield* Backed.prices(scene, "2.11")
      yield* Minting.retry
      assert.deepInclude(yield* Minting.mint("m-b"), { state: "settled", units: d("1050") })
    }).pipe(engine())
  )

  it.effect("of two that each fit, and together do not, the second waits", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.opened({ terms: { minCover: 1.02 } })
      yield* Backed.locks(scene, { amount: "2", asset: scene.usd })
      const [one, two] = [cash(scene, "m-1", 100), { ...cash(scene, "m-2", 100), holder: scene.h2 }]
      assert.strictEqual((yield* Minting.starts(scene, one)).why, "")
      assert.strictEqual((yield* Minting.starts(scene, two)).why, "")
      yield* Minting.accepts(scene, one)
      yield* Minting.accepts(scene, two)
      yield* Minting.turn
      const states = [yield* Minting.mint("m-1"), yield* Minting.mint("m-2")]
      assert.sameMembers(
        states.map(({ state }) => state),
        ["settled", "ready"]
      )
      assert.strictEqual((yield* Backed.reserve()).outstanding, d("100"))
      // A further lock by the custodian lets the engine settle the mint that waits.
      yield* Backed.locks(scene, { amount: "2", asset: scene.usd })
      yield* Minting.retry
      assert.strictEqual((yield* Backed.reserve()).outstanding, d("200"))
    }).pipe(engine())
  )
})

describe("an order with an accumulating reserve", () => {
  // G55 and G57.
  it.effect(
    "is for the share price of its start, and never settles for more than that of its end",
    () =>
      Effect.gen(function* () {
        const scene = yield* Minting.opened({
          instrument: { valuation: "accumulating" },
          terms: { minCover: 0.97, maxShare: null },
          body: { initialSharePrice: 0.5555555555 }
        })
        yield* Minting.mintsFor(scene, cash(scene, "m-0", 1000))
        yield* Backed.locks(scene, { amount: "500", asset: scene.bill })
        assert.strictEqual((yield* Backed.reserve()).outstanding, d("1800"))
        yield* Minting.starts(scene, cash(scene, "m-a", 100))
        assert.deepInclude(yield* Minting.mint("m-a"), {
          units: d("87.804878"),
          sharePrice: d("1.1388888889"),
          price: d("1")
        })
        yield* Backed.prices(scene, "2.11")
        yield* Minting.accepts(scene, cash(scene, "m-a", 100))
        yield* Minting.turn
        assert.deepStrictEqual((yield* Minting.endings("mint.settle")).slice(-1), [
          "reserve-cover price-moved"
        ])
        yield* Backed.prices(scene, "2.1")
        yield* Minting.retry
        assert.deepInclude(yield* Minting.mint("m-a"), {
          state: "settled",
          units: d("87.804878"),
          coverAfter: d("0.9755813953")
        })
        const redeeming = { reserveRedemptionId: "r-a", asset: scene.usd, units: 87.804878 }
        yield* Minting.redeems(scene, redeeming)
        assert.deepInclude(yield* Minting.redemption("r-a"), {
          state: "settled",
          payout: d("99.999999")
        })
        // A stale price of an asset that the units own stops a mint, and no redemption for another asset.
        yield* Cycles.at("2026-07-31T14:00:00Z")
        const stale = "rule-refused reserve-cover price-fresh"
        assert.strictEqual((yield* Minting.starts(scene, cash(scene, "m-b", 100))).why, stale)
        const again = { ...redeeming, reserveRedemptionId: "r-b", units: 1 }
        assert.strictEqual((yield* Minting.startsRedemption(scene, again)).why, "")
      }).pipe(engine())
  )
})

describe("a reserve redemption", () => {
  it.effect("burns the units and pays what they are worth, and no more at its settlement", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const redemption = { reserveRedemptionId: "r-1", asset: scene.bill, units: 100 }
      const started = yield* Minting.startsRedemption(scene, redemption)
      assert.deepInclude(started, { state: "succeeded", why: "" })
      assert.deepInclude(yield* Minting.redemption("r-1"), {
        state: "started",
        payout: d("47.619047")
      })
      yield* Backed.prices(scene, "2.11")
      yield* Minting.acceptsRedemption(scene, redemption)
      yield* Minting.turn
      // G58: 100 units are worth 47.393364 bills by now.
      assert.deepStrictEqual((yield* Minting.endings("reserve-redemption.settle")).slice(-1), [
        "reserve-cover price-moved"
      ])
      yield* Backed.prices(scene, "2.09")
      yield* Minting.retry
      assert.deepInclude(yield* Minting.redemption("r-1"), {
        state: "settled",
        endedAs: "settled",
        payout: d("47.619047"),
        heldCid: null
      })
      assert.strictEqual(yield* Cycles.holds(scene.h1, "BILL"), "47.619047")
      assert.strictEqual(yield* Cycles.holds(scene.h1, "fund-a"), "1400")
      assert.strictEqual(yield* Cycles.holds(scene.custodian, "BILL"), "452.380953")
      assert.strictEqual((yield* Backed.reserve()).outstanding, d("1400"))
      assert.deepStrictEqual(
        (yield* eventsOf("reserve.redeemed")).map(({ resourceId }) => resourceId),
        ["r-1"]
      )
      const records = yield* Records
      const burned = (yield* records.list(movements, { limit: 100 })).map(({ record }) => record)
      assert.deepStrictEqual(
        burned
          .filter(({ kind }) => kind === "burn")
          .map(({ reference, units }) => [reference, units]),
        [[{ resourceKind: "reserve-redemption", id: "r-1" }, d("100")]]
      )
      // The oldest lot is relieved first, with its part of the cost.
      const left = (yield* records.list(lots, { limit: 100 })).map(({ record }) => record)
      assert.deepStrictEqual(
        left
          .filter(({ instrumentId }) => instrumentId === "fund-a")
          .map(({ remaining, costLeft }) => [remaining, costLeft]),
        [
          [d("350"), d("350")],
          [d("1050"), d("1050")]
        ]
      )
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never promises an asset or units twice", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const redemptionOf = (reserveRedemptionId: string, units: number) => ({
        ...{ reserveRedemptionId, units },
        asset: scene.bill
      })
      const start = (reserveRedemptionId: string, units: number) =>
        Effect.map(
          Minting.startsRedemption(scene, redemptionOf(reserveRedemptionId, units)),
          ({ why }) => why
        )
      const short = "rule-refused reserve-cover asset-available"
      assert.strictEqual(yield* start("r-1", 1050.000003), short)
      assert.strictEqual(yield* start("r-1", 1000), "")
      // 476.190476 of the 500 bills are promised to the first, which has accepted nothing yet.
      assert.strictEqual(yield* start("r-2", 50.000005), short)
      const taken = "rule-refused units units-free"
      const inCash = { ...redemptionOf("r-3", 500.000001), asset: scene.usd }
      assert.strictEqual((yield* Minting.startsRedemption(scene, inCash)).why, taken)
      // Units that the first has locked are counted once.
      yield* under("hold", Minting.acceptsRedemption(scene, redemptionOf("r-1", 1000)))
      assert.strictEqual((yield* Minting.startsRedemption(scene, inCash)).why, taken)
      const rest = { ...inCash, units: 500 }
      assert.strictEqual((yield* Minting.startsRedemption(scene, rest)).why, "")
    }).pipe(engine())
  )
})

describe("an order that does not settle", () => {
  it.effect("is cancelled by one person, and gives back what was set aside", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const hold = yield* sets("hold")
      const mint = cash(scene, "m-1", 100)
      yield* hold
      yield* Minting.starts(scene, mint)
      yield* Minting.starts(scene, cash(scene, "m-2", 100))
      const redeeming = { reserveRedemptionId: "r-1", asset: scene.usd, units: 100 }
      yield* Minting.startsRedemption(scene, redeeming)
      const again = yield* sets("hold")
      yield* Minting.accepts(scene, mint)
      yield* Minting.acceptsRedemption(scene, redeeming)
      assert.deepStrictEqual(yield* openOrders, [
        "mint m-1 ready 100",
        "mint m-2 started 100",
        "reserve-redemption r-1 ready 100"
      ])
      assert.strictEqual((yield* cancels("mint", "m-1", "res-2")).why, "not-found")
      for (const mintId of ["m-1", "m-2"]) {
        assert.strictEqual((yield* cancels("mint", mintId)).why, "")
        assert.deepInclude(yield* Minting.mint(mintId), {
          state: "cancelled",
          endedAs: "cancelled"
        })
      }
      assert.strictEqual((yield* cancels("reserve-redemption", "r-1")).why, "")
      assert.strictEqual((yield* Minting.redemption("r-1")).endedAs, "cancelled")
      assert.strictEqual((yield* cancels("mint", "m-1")).why, "state-conflict ReserveOrderState")
      assert.deepStrictEqual(yield* openOrders, [])
      // Neither the deposit nor the units are locked any more, and nothing is asked for.
      const locked = (yield* Cycles.active(Templates.Holding)).filter(
        ({ payload }) => payload.owner === scene.h1.party && payload.lock !== null
      )
      assert.strictEqual(locked.length, 0)
      for (const template of [Templates.Allocation, Templates.SettlementIntent]) {
        assert.strictEqual((yield* Cycles.active(template)).length, 0)
      }
      yield* again
      yield* Minting.turn
      assert.strictEqual((yield* Backed.reserve()).outstanding, d("1500"))
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("ends as declined where its party declines it", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      yield* Minting.starts(scene, cash(scene, "m-1", 100))
      const { cid } = yield* Powers.saying(Templates.MintOrder, { mintId: "m-1" })
      yield* scene.h1.act(Templates.exercise(Templates.MintOrder, cid, "Decline", {}))
      assert.deepInclude(yield* Minting.mint("m-1"), { state: "cancelled", endedAs: "declined" })
    }).pipe(engine())
  )

  it.effect("waits for another allocation where the first is gone", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const mint = cash(scene, "m-1", 100)
      yield* Minting.starts(scene, mint)
      const away = yield* sets("hold")
      yield* Minting.accepts(scene, mint)
      const { cid } = yield* Powers.saying(Templates.Allocation, { reference: "m-1" })
      yield* scene.h1.act(Templates.exercise(Templates.Allocation, cid, "Allocation_Withdraw", {}))
      yield* away
      yield* Minting.turn
      assert.deepInclude(yield* Minting.mint("m-1"), { state: "ready", heldCid: null })
      const { value } = yield* Venue.read(ReserveOrderQueries.getMint, {
        reserveId,
        mintId: id("m-1")
      })
      assert.deepInclude(value.waitingOn[0], { party: scene.h1.party, action: "MintOrder.Accept" })
      yield* Cycles.allocates(scene, scene.h1, {
        assetId: "USD",
        amount: "100",
        to: scene.custodian,
        reference: "m-1"
      })
      yield* Minting.names(scene.h1, "m-1")
      yield* Minting.turn
      assert.strictEqual((yield* Minting.mint("m-1")).state, "settled")
    }).pipe(engine())
  )

  it.effect("waits for the release of a hold that stops it, and says so", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const order = cash(scene, "m-1", 100)
      yield* Minting.starts(scene, order)
      const redeeming = { reserveRedemptionId: "x-1", asset: scene.usd, units: 10 }
      yield* Minting.startsRedemption(scene, redeeming)
      yield* Calls.write("instrument.pause", { instrumentId: "fund-a" }, { reason: "to see" })
      const actions = Effect.gen(function* () {
        const mint = yield* Venue.read(ReserveOrderQueries.getMint, {
          reserveId,
          mintId: id("m-1")
        })
        const mints = yield* Venue.list(ReserveOrderQueries.listMints, { reserveId })
        const redemptions = yield* Venue.list(ReserveOrderQueries.listRedemptions, { reserveId })
        const open = yield* Venue.list(OpenOrderQueries.list, {})
        const waits = [
          ...[mint.value.waitingOn, ...mints.value.map((one) => one.waitingOn)],
          ...[...redemptions.value, ...open.value].map((one) => one.waitingOn)
        ]
        return [
          ...new Set(waits.flatMap((all) => all.map(({ action }) => action as string)))
        ].sort()
      })
      // What has not been accepted waits for its party, hold or no hold.
      assert.deepEqual(yield* actions, ["MintOrder.Accept", "ReserveRedemptionOrder.Accept"])
      yield* Minting.accepts(scene, order)
      yield* Minting.acceptsRedemption(scene, redeeming)
      yield* Minting.turn
      assert.deepEqual(yield* actions, ["hold.release"])
      // The work of operators and risk is the hold, and the two orders that it stops.
      const waiting = yield* WorkLaw.check(WorkLaw.staff)
      const { value } = yield* Venue.list(HoldQueries.list, {})
      yield* Calls.write("hold.release", { holdId: value[0]!.holdId }, { reason: "seen" })
      assert.isAtLeast(waiting - (yield* WorkLaw.check(WorkLaw.staff)), 6)
    }).pipe(engine())
  )

  it.effect("expires at its deadline, stays open, and is cancelled by the engine", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const redeeming = { reserveRedemptionId: "r-1", asset: scene.usd, units: 100 }
      yield* Minting.starts(scene, cash(scene, "m-1", 100))
      yield* Minting.startsRedemption(scene, redeeming)
      yield* sets("hold")
      yield* Minting.accepts(scene, cash(scene, "m-1", 100))
      yield* Minting.acceptsRedemption(scene, redeeming)
      const { deadline } = yield* Minting.mint("m-1")
      // Refused again and again while the hold is open, ever more rarely: the next try would come in 17 hours.
      for (let times = 0; times < 10; times++) {
        yield* TestClock.adjust(60_000 * 2 ** times)
        yield* Minting.turn
      }
      assert.isAbove((yield* Minting.endings("mint.settle")).length, 5)
      yield* Cycles.at(Instant.format(deadline))
      assert.sameMembers(yield* openOrders, [
        "mint m-1 expired 100",
        "reserve-redemption r-1 expired 100"
      ])
      yield* pastDeadline
      assert.deepInclude(yield* Minting.mint("m-1"), { state: "cancelled", endedAs: "expired" })
      assert.deepInclude(yield* Minting.redemption("r-1"), {
        state: "cancelled",
        endedAs: "expired"
      })
      assert.deepStrictEqual(yield* Minting.endings("mint.cancel"), ["succeeded"])
      assert.deepStrictEqual(yield* Minting.endings("reserve-redemption.cancel"), ["succeeded"])
      assert.deepStrictEqual(yield* openOrders, [])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("past its deadline ends also where its owner has unlocked the units by itself", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const redeeming = { reserveRedemptionId: "r-1", asset: scene.usd, units: 100 }
      yield* Minting.startsRedemption(scene, redeeming)
      yield* sets("hold")
      yield* Minting.acceptsRedemption(scene, redeeming)
      const { deadline, heldCid } = yield* Minting.redemption("r-1")
      yield* Cycles.at(Instant.format(deadline))
      yield* scene.h1.act(
        Templates.exercise(Templates.Holding, heldCid ?? "", "Unlock", {
          releasers: [scene.h1.party]
        })
      )
      yield* pastDeadline
      assert.strictEqual((yield* Minting.redemption("r-1")).endedAs, "expired")
    }).pipe(engine())
  )
})

describe("what stops an order", () => {
  it.effect("a cover hold stops mints at start and settlement, and no redemption", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const mint = cash(scene, "m-1", 100)
      yield* Minting.starts(scene, mint)
      yield* coverHold(scene)
      const held = "hold not-held"
      assert.strictEqual(
        (yield* Minting.starts(scene, cash(scene, "m-2", 100))).why,
        `rule-refused ${held}`
      )
      yield* Minting.accepts(scene, mint)
      yield* Minting.redeems(scene, {
        reserveRedemptionId: "r-1",
        asset: scene.usd,
        units: 100
      })
      assert.strictEqual((yield* Minting.redemption("r-1")).state, "settled")
      assert.strictEqual((yield* Minting.mint("m-1")).state, "ready")
      assert.include(yield* Minting.endings("mint.settle"), held)
    }).pipe(engine())
  )

  const stops = {
    "mint.start": {
      hold: "hold not-held",
      freeze: "restriction may-subscribe",
      "receive-only": "restriction may-subscribe",
      "redeem-only": "restriction may-subscribe"
    },
    "reserve-redemption.start": {
      hold: "hold not-held",
      freeze: "restriction may-redeem",
      "receive-only": "restriction may-redeem",
      "redeem-only": ""
    },
    "mint.settle": {
      freeze: "restriction may-receive",
      "redeem-only": "restriction may-receive"
    },
    "reserve-redemption.settle": { freeze: "restriction may-redeem" }
  } as const

  it.effect("a hold on all, and each mode of restriction, at the start and again at the end", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const minting = cash(scene, "m-1", 100)
      const redeeming = { reserveRedemptionId: "r-1", asset: scene.usd, units: 100 }
      const starting = {
        "mint.start": Minting.starts(scene, minting),
        "reserve-redemption.start": Minting.startsRedemption(scene, redeeming)
      }
      for (const kind of ["mint.start", "reserve-redemption.start"] as const) {
        for (const control of ["hold", "freeze", "receive-only", "redeem-only"] as const) {
          const stop = stops[kind][control]
          if (stop === "") continue
          const { why } = yield* under(control, starting[kind])
          assert.deepStrictEqual([kind, control, why], [kind, control, `rule-refused ${stop}`])
        }
        assert.strictEqual((yield* starting[kind]).why, "")
      }
      for (const control of ["freeze", "redeem-only"] as const) {
        const away = yield* sets(control)
        if (control === "freeze") {
          yield* Minting.accepts(scene, minting)
          yield* Minting.acceptsRedemption(scene, redeeming)
        }
        yield* Minting.retry
        const [minted] = (yield* Minting.endings("mint.settle")).slice(-1)
        assert.strictEqual(minted, stops["mint.settle"][control])
        const [redeemed] = (yield* Minting.endings("reserve-redemption.settle")).slice(-1)
        assert.strictEqual(
          redeemed,
          control === "freeze" ? stops["reserve-redemption.settle"][control] : "succeeded"
        )
        yield* away
      }
      yield* Cycles.at("2026-07-31T12:50:00Z")
      yield* Minting.retry
      assert.strictEqual((yield* Minting.mint("m-1")).state, "settled")
    }).pipe(engine())
  )

  it.effect("an admission that ended since the start", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const mint = { ...cash(scene, "m-1", 100), holder: scene.h2 }
      yield* Minting.starts(scene, mint)
      const away = yield* sets("hold")
      yield* Minting.accepts(scene, mint)
      yield* Calls.write(
        "admission.withdraw",
        { holderId: "h2", instrumentId: "fund-a" },
        {},
        Calls.person("carl", "compliance")
      )
      yield* away
      yield* Minting.turn
      assert.include(yield* Minting.endings("mint.settle"), "admission admitted")
      assert.strictEqual((yield* Minting.mint("m-1")).state, "ready")
      // An open order binds the holder.
      const closed = yield* Calls.write("holder.close", { holderId: "h2" }, {})
      assert.strictEqual(closed.why, "rule-refused policy no-open-order")
    }).pipe(engine())
  )

  it.effect("requests that no reserve could meet", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const mint = (changes: Partial<Minting.Minting>, change = {}) =>
        Effect.map(
          Minting.starts(scene, { ...cash(scene, "m-1", 100), ...changes }, change),
          ({ why }) => why
        )
      const redeem = (changes: Partial<Minting.Redeeming>, change = {}) =>
        Effect.map(
          Minting.startsRedemption(
            scene,
            { reserveRedemptionId: "r-1", asset: scene.usd, units: 1, ...changes },
            change
          ),
          ({ why }) => why
        )
      const inCents = { admin: scene.bank.party, id: "CENT" }
      const tooLate = { deadline: yield* inDays(8) }
      const past = { deadline: "2026-07-31T11:59:59Z" }
      const nobody = { holderId: "nobody" }
      const cases: ReadonlyArray<readonly [string, Effect.Effect<string, unknown, Needs>]> = [
        ["already-exists", mint({ mintId: "m-cash" })],
        ["not-found", mint({}, nobody)],
        ["not-found", redeem({}, nobody)],
        ["invalid-request", mint({}, tooLate)],
        ["invalid-request", redeem({}, tooLate)],
        ["invalid-request", mint({ deposit: 0 })],
        ["invalid-request", mint({ deposit: -1 })],
        ["rule-refused window deadline-ahead", mint({}, past)],
        ["rule-refused window deadline-ahead", redeem({}, past)],
        ["rule-refused policy asset-in-terms", mint({ asset: inCents })],
        ["rule-refused policy asset-in-terms", redeem({ asset: inCents })],
        ["rule-refused units too-small", redeem({ asset: scene.bill, units: 0.000001 })],
        ["rule-refused units unit-decimals", redeem({ units: 1.0000001 })],
        ["rule-refused units units-free", redeem({ units: 1500.000001 })],
        ["rule-refused units units-free", redeem({ holder: scene.h2 })]
      ]
      for (const [why, call] of cases) assert.deepStrictEqual([why, yield* call], [why, why])
      // The price of the bills is stale, and cash has none.
      yield* Cycles.at("2026-07-31T14:00:00Z")
      const stale = "rule-refused reserve-cover price-fresh"
      assert.strictEqual(yield* mint({ asset: scene.bill }), stale)
      assert.strictEqual(yield* redeem({ asset: scene.bill }), stale)
    }).pipe(engine())
  )

  it.effect("the holder of the reserve, an asset without an agreement or a price", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      const mint = Effect.map(Minting.starts(scene, bills(scene, "m-1", 100)), ({ why }) => why)
      assert.strictEqual(yield* mint, "rule-refused policy lock-agreement")
      yield* Backed.locked(scene, { asset: scene.bill })
      assert.strictEqual(yield* mint, "rule-refused reserve-cover price-known")
      yield* Backed.locked(scene, { asset: scene.usd })
      const own = yield* Cycles.joinsAs(scene, "h-k", scene.custodian)
      yield* Backed.prices(scene, "2.1")
      assert.strictEqual(
        (yield* Minting.starts(scene, { ...cash(scene, "m-1", 100), holder: own })).why,
        "rule-refused policy own-reserve"
      )
      assert.strictEqual((yield* Minting.starts(scene, cash(scene, "m-1", 100))).why, "")
    }).pipe(engine())
  )
})

describe("reads and prechecks of orders", () => {
  it.effect("show what settled, with a basis that anybody can recompute", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      yield* Minting.startsRedemption(scene, {
        reserveRedemptionId: "r-1",
        asset: scene.bill,
        units: 100
      })
      const minted = yield* Venue.list(ReserveOrderQueries.listMints, { reserveId })
      const redeemed = yield* Venue.list(ReserveOrderQueries.listRedemptions, { reserveId })
      for (const { basis } of [...minted.value, ...redeemed.value]) {
        assert.strictEqual(basis.length, 1)
        for (const one of basis) assert.isTrue(Result.isSuccess(verify(one)))
      }
      const none = yield* Venue.list(ReserveOrderQueries.listMints, { reserveId, state: ["ready"] })
      assert.deepStrictEqual(none.value, [])
      const elsewhere = Venue.read(ReserveOrderQueries.getMint, {
        reserveId: id<"ReserveId">("res-2"),
        mintId: id("m-cash")
      })
      assert.strictEqual(yield* Venue.refusal(elsewhere), "not-found")
      const foreign = Venue.person("rita", ["registrar"], { party: scene.bank.party })
      const unseen = Venue.read(
        ReserveOrderQueries.getMint,
        { reserveId, mintId: id("m-cash") },
        { caller: foreign }
      )
      assert.strictEqual(yield* Venue.refusal(unseen), "not-found")
    }).pipe(engine())
  )

  it.effect("say of a start by precheck what the start itself says, and its figures", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const instrumentId = id<"InstrumentId">("fund-a")
      const holderId = id<"HolderId">("h1")
      const asking = (asset: Templates.Asset, deposit: string) =>
        Venue.read(PrecheckQueries.get, {
          instrumentId,
          act: "mint.start",
          ...{ holderId, asset },
          deposit: d(deposit)
        })
      const { value: good } = yield* asking(scene.usd, "100")
      assert.deepStrictEqual(
        [good.allowed, good.figures],
        [
          true,
          {
            price: "1",
            sharePrice: "1",
            units: "100",
            counted: "1752.8",
            required: "1632",
            coverBefore: "1.0746666666",
            coverAfter: "1.0955"
          }
        ]
      )
      const { value: low } = yield* asking(scene.bill, "100")
      assert.deepStrictEqual(
        [
          low.allowed,
          low.gates.filter(({ ok }) => !ok).map(({ check }) => check),
          low.figures?.coverAfter
        ],
        [false, ["cover"], "0.9927953216"]
      )
      assert.include(low.gates.find(({ ok }) => !ok)?.detail, "1744.2")
      const { value: back } = yield* Venue.read(PrecheckQueries.get, {
        instrumentId,
        act: "reserve-redemption.start",
        ...{ holderId, asset: scene.bill },
        units: d("100")
      })
      assert.deepStrictEqual([back.allowed, back.figures?.payout], [true, "47.619047"])
      const checksOf = (gates: typeof good.gates) =>
        gates.map(({ gate, check }) => `${gate} ${check}`)
      assert.deepStrictEqual(checksOf(good.gates), BrokenReserveOrders.mintStart.checks)
      assert.deepStrictEqual(
        checksOf(back.gates),
        BrokenReserveOrders.reserveRedemptionStart.checks
      )
      const params = { reserveId: "res-1" }
      const asset = { ...scene.usd }
      const rows = yield* rowsOf(scene.venue, {
        kind: "mint.start",
        params,
        body: { holderId: "h1", asset, deposit: 100 }
      })
      assert.deepStrictEqual(checksOf(rows), checksOf(good.gates))
    }).pipe(engine())
  )
})

describe("the precheck of an order at a supposed price of its asset", () => {
  const base: Stated.Stated = {
    assets: {
      A: { units: "5000" },
      B: { units: "500", price: "2.1", haircut: "0.05", maxShare: "0.4" },
      C: { units: "0", price: null }
    },
    outstanding: "1500",
    minCover: "1.02"
  }
  const mint = { asset: "B", deposit: "500" }
  const redemption = { asset: "B", units: "100" }

  it.effect("answers as it does once the source has published it, and writes nothing", () =>
    Effect.gen(function* () {
      const scene = yield* Stated.stands(base)
      const asks = (price?: string) =>
        Effect.forEach([mint, redemption], (ask) =>
          Stated.precheck(scene, { ...ask, ...(price === undefined ? {} : { price }) })
        )
      const before = yield* asks()
      const supposed = yield* asks("2.09")
      assert.deepStrictEqual(
        supposed.map(({ figures }) => [
          figures?.["price"],
          figures?.["units"] ?? figures?.["payout"]
        ]),
        [
          ["2.09", "1045"],
          ["2.09", "47.846889"]
        ]
      )
      assert.deepStrictEqual(yield* asks(), before)
      yield* Stated.publishes(scene, "B", { price: "2.09" })
      assert.deepStrictEqual(yield* asks(), supposed)
      // A supposed price is dated at the read, so that a stale price refuses no order.
      yield* TestClock.adjust("2 hours")
      assert.include(
        (yield* asks()).flatMap(({ refused }) => refused),
        "price-fresh"
      )
      assert.deepStrictEqual(yield* asks("2.09"), supposed)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect(
    "has a price where none was published, and is refused for an asset without a source",
    () =>
      Effect.gen(function* () {
        const scene = yield* Stated.stands(base)
        const unpriced = { asset: "C", deposit: "10" }
        assert.deepStrictEqual((yield* Stated.precheck(scene, unpriced)).refused, ["price-known"])
        const priced = yield* Stated.precheck(scene, { ...unpriced, price: "3" })
        assert.deepStrictEqual([priced.refused, priced.figures?.["units"]], [[], "30"])
        for (const asset of ["A", "D"]) {
          const refused = Stated.precheck(scene, { asset, deposit: "10", price: "3" })
          assert.strictEqual(yield* Venue.refusal(refused), "invalid-request")
        }
      }).pipe(engine())
  )
})

type Needs = Effect.Services<ReturnType<typeof Minting.starts>>
