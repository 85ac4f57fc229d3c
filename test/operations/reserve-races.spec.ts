/** Races of acts on one reserve: each pair in both orders, and with answers lost. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Faults } from "@bursar/storage-adapters/simulated-ledger"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { amendments } from "#core/reserves/amendment/Amendment.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { firstOf, isLong } from "../long-run.ts"
import * as Backed from "./backed.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Minting from "./minting.ts"
import * as Powers from "./powers.ts"

const engine = () => Effect.provide(world())

const mintOf = (scene: Backed.Scene) => ({ mintId: "m-1", asset: scene.usd, deposit: 100 })

/** The reserve of the golden vectors, with a mint of 100 that its depositor is still to accept. */
const started = Effect.gen(function* () {
  const scene = yield* Minting.base
  assert.strictEqual((yield* Minting.starts(scene, mintOf(scene))).state, "succeeded")
  return scene
})

const tightens = (scene: Backed.Scene) =>
  Effect.gen(function* () {
    yield* Backed.amends("am-1", Backed.termsOf(scene, { minCover: 1.1, maxShare: 0.3 }))
    yield* Backed.answersAmendment(scene, "am-1")
  })

const closes = () => Effect.asVoid(Calls.write("reserve.close", { reserveId: "res-1" }, {}))
const falls = (scene: Backed.Scene) => Backed.prices(scene, "1.0")

const races = [
  // With the mint the cover would be 1.0175 of 1.10; it counts 1.0955 of 1.02 before.
  ["terms that tighten", tightens, "reserve-cover cover"],
  ["a price that falls", falls, "reserve-cover cover"],
  ["the close of the reserve", closes, "policy reserve-active"]
] as const

const lost = ["dropAfterCommit", "dropBeforeCommit", "contention"] as const
const every = Array.from({ length: 1000 }, (_, index) => index + 1)
/** Faults of one submission, or of every one: then whatever else happens comes first. */
const losses = [
  ...lost.map((fault) => [fault, { [fault]: [1] }] as const),
  ["every dropBeforeCommit", { dropBeforeCommit: every }] as const
]

const settled = (mintId = "m-1") => Effect.map(Minting.mint(mintId), ({ state }) => state)

describe("a mint that is ready", () => {
  it.effect.each(firstOf(0, races))("is never settled after %s", ([_, happens, refused]) =>
    Effect.gen(function* () {
      const scene = yield* started
      yield* happens(scene)
      yield* Minting.accepts(scene, mintOf(scene))
      yield* Minting.turn
      assert.strictEqual(yield* settled(), "ready")
      assert.strictEqual((yield* Minting.endings("mint.settle")).at(-1), refused)
      assert.strictEqual(yield* Cycles.holds(scene.h1, "fund-a"), "1500")
      // Its deadline comes a day after its start, and gives the deposit back.
      yield* TestClock.adjust("25 hours")
      yield* Minting.turn
      yield* Minting.retry
      assert.strictEqual(yield* settled(), "cancelled")
      assert.deepStrictEqual(yield* Cycles.active(Templates.Allocation), [])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect.each(firstOf(0, races))("is settled before %s", ([_, happens]) =>
    Effect.gen(function* () {
      const scene = yield* started
      yield* Minting.accepts(scene, mintOf(scene))
      yield* Minting.turn
      assert.strictEqual(yield* settled(), "settled")
      yield* happens(scene)
      assert.strictEqual(yield* Cycles.holds(scene.h1, "fund-a"), "1600")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect.runIf(isLong)("keeps the agreement of its asset from being released", () =>
    Effect.gen(function* () {
      const scene = yield* started
      const [agreement] = (yield* Cycles.active(Templates.LockAgreement)).filter(
        ({ payload }) => payload.asset.id === "USD"
      )
      const lockAgreementId = agreement?.payload.lockAgreementId ?? ""
      const released = yield* Calls.write(
        "lock-agreement.release",
        { reserveId: "res-1", lockAgreementId },
        {}
      )
      assert.notStrictEqual(released.state, "succeeded")
      yield* Minting.accepts(scene, mintOf(scene))
      yield* Minting.turn
      assert.strictEqual(yield* settled(), "settled")
    }).pipe(engine())
  )

  it.effect.each(firstOf(0, lost))(
    "settles once where the answer of its settlement is lost by %s",
    (fault) => {
      const faults = Faults.make()
      return Effect.gen(function* () {
        const scene = yield* started
        yield* Minting.accepts(scene, mintOf(scene))
        faults.replace({ [fault]: [1] })
        yield* Minting.turn
        for (let tries = 0; tries < 4; tries++) yield* Minting.retry
        assert.strictEqual(yield* settled(), "settled")
        assert.strictEqual(yield* Cycles.holds(scene.h1, "fund-a"), "1600")
        assert.strictEqual(yield* Cycles.holds(scene.custodian, "USD"), "1100")
        const { outstanding } = yield* Backed.reserve()
        assert.strictEqual(Decimal.formatPlain(outstanding), "1600")
      }).pipe(Effect.provide(world({ faults })))
    }
  )
})

/** The reserve's agreement to lock cash. */
const cashAgreement = Effect.map(
  Cycles.active(Templates.LockAgreement),
  (found) => found.find(({ payload }) => payload.asset.id === "USD")?.payload.lockAgreementId ?? ""
)

/** The engine asks again after what it has not heard, until it knows. */
const asksAgain = Effect.gen(function* () {
  for (let tries = 0; tries < 5; tries++) yield* Minting.retry
})

describe("a settlement whose answer is lost", () => {
  const each = races.flatMap(([name, happens]) =>
    losses.map(([loss, plan]) => [loss, name, happens, plan] as const)
  )
  it.effect.each(firstOf(1, each))(
    "by %s is judged before or after %s, and once",
    ([loss, name, happens, plan]) => {
      const faults = Faults.make()
      return Effect.gen(function* () {
        const scene = yield* started
        yield* Minting.accepts(scene, mintOf(scene))
        faults.replace(plan)
        yield* Minting.turn
        faults.replace({})
        yield* happens(scene)
        yield* asksAgain
        // The order ends at its deadline if it is still open.
        yield* TestClock.adjust("25 hours")
        yield* asksAgain
        const state = yield* settled()
        // A close waits for its turn: operations of one reserve run one after another.
        const isFirst = loss !== "every dropBeforeCommit" || name === "the close of the reserve"
        assert.strictEqual(state, isFirst ? "settled" : "cancelled")
        const isSettled = state === "settled"
        assert.strictEqual(yield* Cycles.holds(scene.h1, "fund-a"), isSettled ? "1600" : "1500")
        assert.strictEqual(yield* Cycles.holds(scene.custodian, "USD"), isSettled ? "1100" : "1000")
        const { outstanding } = yield* Backed.reserve()
        assert.strictEqual(Decimal.formatPlain(outstanding), isSettled ? "1600" : "1500")
        const done = (yield* Minting.endings("mint.settle")).filter((one) => one === "succeeded")
        assert.strictEqual(done.length, isSettled ? 3 : 2)
        assert.deepStrictEqual(yield* Cycles.active(Templates.Allocation), [])
        assert.deepStrictEqual(yield* Cycles.active(Templates.MintOrder), [])
        assert.deepStrictEqual(yield* Cycles.active(Templates.SettlementIntent), [])
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(world({ faults })))
    }
  )
})

describe.runIf(isLong)("a mint and the release of its asset", () => {
  const scene = Minting.opened({ price: null })

  it.effect("never go together: after the release none starts", () =>
    Effect.gen(function* () {
      const opened = yield* scene
      assert.strictEqual((yield* Backed.releasesLock(yield* cashAgreement)).why, "")
      const { why } = yield* Minting.starts(opened, mintOf(opened))
      assert.strictEqual(why, "rule-refused policy lock-agreement")
    }).pipe(engine())
  )

  it.effect.each(losses)(
    "never go together where the answer of the release is lost by %s",
    ([loss, plan]) => {
      const faults = Faults.make()
      return Effect.gen(function* () {
        const opened = yield* scene
        const lockAgreementId = yield* cashAgreement
        const key = { reserveId: "res-1", lockAgreementId }
        const action = yield* Calls.openAction("lock-agreement.release", key, {})
        faults.replace(plan)
        yield* Calls.approveAction(action)
        faults.replace({})
        const start = yield* Minting.starts(opened, mintOf(opened))
        yield* asksAgain
        const agreement = yield* Backed.lockAgreement(lockAgreementId)
        const orders = yield* Cycles.active(Templates.MintOrder)
        const agreements = yield* Cycles.active(Templates.LockAgreement)
        const isReleased = loss === "dropAfterCommit"
        assert.strictEqual(start.why, isReleased ? "rule-refused policy lock-agreement" : "")
        assert.strictEqual(orders.length, isReleased ? 0 : 1)
        assert.strictEqual(
          agreement.state,
          orders.length === 0 ? "released" : "active",
          "an order in the asset keeps its agreement"
        )
        assert.strictEqual(
          agreements.some(({ payload }) => payload.lockAgreementId === lockAgreementId),
          orders.length > 0
        )
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(world({ faults })))
    }
  )
})

describe.runIf(isLong)("the withdrawal of terms that wait", () => {
  const waiting = Effect.gen(function* () {
    const scene = yield* Backed.opened()
    yield* Backed.reserved(scene, { loosenDelay: "PT1H" })
    yield* Backed.amends("am-1", Backed.termsOf(scene, { haircut: 0.01 }))
    yield* Backed.answersAmendment(scene, "am-1")
  })
  const params = { reserveId: "res-1", amendmentId: "am-1" }
  const amendment = Effect.flatMap(Records, (records) => records.get(amendments, "am-1"))

  it.effect.each([
    ["dropAfterCommit", "withdrawn"],
    ["dropBeforeCommit", "effective"],
    ["contention", "effective"]
  ] as const)(
    "whose answer is lost by %s as they come into force happens once or not at all, and the ledger agrees",
    ([fault, expected]) => {
      const faults = Faults.make()
      return Effect.gen(function* () {
        yield* waiting
        yield* TestClock.adjust("59 minutes")
        yield* Calls.openAction("amendment.withdraw", params, {})
        faults.replace({ [fault]: [1] })
        yield* Calls.settle
        // The second question comes once the terms are in force.
        yield* TestClock.adjust("1 minute")
        yield* asksAgain
        const { state } = yield* amendment
        assert.strictEqual(state, expected)
        const { payload } = yield* Powers.saying(Templates.Reserve, { reserveId: "res-1" })
        assert.strictEqual(payload.pending === null, state === "withdrawn")
        assert.strictEqual((yield* Backed.reserve()).pending === null, state === "withdrawn")
        const [ended] = yield* Minting.endings("amendment.withdraw")
        assert.strictEqual(ended === "succeeded", state === "withdrawn", ended)
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(world({ faults })))
    }
  )

  it.effect("is refused where they came into force before the ledger was heard of", () => {
    const faults = Faults.make()
    return Effect.gen(function* () {
      yield* waiting
      yield* TestClock.adjust("59 minutes")
      yield* Calls.openAction("amendment.withdraw", params, {})
      // Every answer within the hour is lost before the ledger judges it.
      faults.replace({ dropBeforeCommit: every })
      yield* Calls.settle
      yield* TestClock.adjust("1 minute")
      yield* Calls.settle
      faults.replace({})
      yield* asksAgain
      assert.strictEqual((yield* amendment).state, "effective")
      const { payload } = yield* Powers.saying(Templates.Reserve, { reserveId: "res-1" })
      assert.isNotNull(payload.pending)
      const [ended] = yield* Minting.endings("amendment.withdraw")
      assert.notStrictEqual(ended, "succeeded")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(Effect.provide(world({ faults })))
  })
})

/** A redemption of 210 units for 100 of the bills, which stand at 2.10. */
const paid = (scene: Backed.Scene) => ({
  reserveRedemptionId: "r-1",
  asset: scene.bill,
  units: 210
})

/** The reserve of the golden vectors, with a redemption that its owner is still to accept. */
const redeeming = Effect.gen(function* () {
  const scene = yield* Minting.base
  assert.strictEqual((yield* Minting.startsRedemption(scene, paid(scene))).why, "")
  return scene
})

const ended = (id = "r-1") => Effect.map(Minting.redemption(id), ({ state }) => state)

/** The redemption is over: its units are burned and paid, or are h1's again, and free. */
const isOver = (scene: Backed.Scene, state: "settled" | "cancelled") =>
  Effect.gen(function* () {
    const isSettled = state === "settled"
    assert.strictEqual(yield* ended(), state)
    assert.strictEqual(yield* Cycles.holds(scene.h1, "fund-a"), isSettled ? "1290" : "1500")
    assert.strictEqual(yield* Cycles.holds(scene.custodian, "BILL"), isSettled ? "400" : "500")
    const { outstanding } = yield* Backed.reserve()
    assert.strictEqual(Decimal.formatPlain(outstanding), isSettled ? "1290" : "1500")
    const settlements = yield* Minting.endings("reserve-redemption.settle")
    const done = settlements.filter((one) => one === "succeeded")
    assert.strictEqual(done.length, isSettled ? 1 : 0)
    assert.deepStrictEqual(yield* Cycles.active(Templates.ReserveRedemptionOrder), [])
    const holdings = yield* Cycles.active(Templates.Holding)
    const contexts = holdings.flatMap(({ payload: { lock } }) => lock?.context ?? [])
    assert.deepStrictEqual([...new Set(contexts)], ["res-1"])
    assert.deepStrictEqual(yield* Fund.surprises, [])
  })

const rises = (scene: Backed.Scene) => Backed.prices(scene, "2.2")
const ages = () => TestClock.adjust("61 minutes")

/** Acts between the acceptance of a redemption and its settlement that stop it. */
const stops = [
  ["a price that rises", rises, "reserve-cover price-moved"],
  ["a price that goes stale", ages, "reserve-cover price-fresh"]
] as const
/** A redemption needs no cover: it goes on in a reserve that closes, or whose cover is low. */
const passes = [
  ["terms that tighten", tightens],
  ["the close of the reserve", closes]
] as const

describe("a redemption that is ready", () => {
  it.effect.each(firstOf(1, stops))("is never settled after %s", ([_, happens, refused]) =>
    Effect.gen(function* () {
      const scene = yield* redeeming
      yield* happens(scene)
      yield* Minting.acceptsRedemption(scene, paid(scene))
      yield* Minting.turn
      assert.strictEqual(yield* ended(), "ready")
      assert.strictEqual((yield* Minting.endings("reserve-redemption.settle")).at(-1), refused)
      // Its deadline comes a day after its start, and gives the units back.
      yield* TestClock.adjust("25 hours")
      yield* Minting.turn
      yield* Minting.retry
      yield* isOver(scene, "cancelled")
    }).pipe(engine())
  )

  it.effect.each(firstOf(0, passes))("is settled after %s", ([_, happens]) =>
    Effect.gen(function* () {
      const scene = yield* redeeming
      yield* happens(scene)
      yield* Minting.acceptsRedemption(scene, paid(scene))
      yield* Minting.turn
      yield* isOver(scene, "settled")
    }).pipe(engine())
  )

  it.effect.each(firstOf(0, [...stops, ...passes]))("is settled before %s", ([_, happens]) =>
    Effect.gen(function* () {
      const scene = yield* redeeming
      yield* Minting.acceptsRedemption(scene, paid(scene))
      yield* Minting.turn
      yield* happens(scene)
      yield* isOver(scene, "settled")
    }).pipe(engine())
  )

  it.effect.each(
    firstOf(
      0,
      losses.flatMap((loss) => stops.map((stop) => [loss, stop] as const))
    )
  )(
    "whose answer is lost is judged before or after what stops it, and once: %s",
    ([[loss, plan], [_, happens]]) => {
      const faults = Faults.make()
      return Effect.gen(function* () {
        const scene = yield* redeeming
        yield* Minting.acceptsRedemption(scene, paid(scene))
        faults.replace(plan)
        yield* Minting.turn
        faults.replace({})
        yield* happens(scene)
        yield* asksAgain
        yield* TestClock.adjust("25 hours")
        yield* asksAgain
        yield* isOver(scene, loss === "every dropBeforeCommit" ? "cancelled" : "settled")
      }).pipe(Effect.provide(world({ faults })))
    }
  )
})

describe("two redemptions of which what is locked pays one", () => {
  const redemptionOf = (scene: Backed.Scene, reserveRedemptionId: string) => ({
    ...{ reserveRedemptionId, asset: scene.usd, units: 600 }
  })

  it.effect.runIf(isLong)("never start together: the second does once the first is cancelled", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      assert.strictEqual(
        (yield* Minting.startsRedemption(scene, redemptionOf(scene, "r-1"))).why,
        ""
      )
      assert.strictEqual(
        (yield* Minting.startsRedemption(scene, redemptionOf(scene, "r-2"))).why,
        "rule-refused reserve-cover asset-available"
      )
      const key = { reserveId: "res-1", reserveRedemptionId: "r-1" }
      assert.strictEqual((yield* Calls.write("reserve-redemption.cancel", key, {})).why, "")
      assert.strictEqual(
        (yield* Minting.startsRedemption(scene, redemptionOf(scene, "r-2"))).why,
        ""
      )
      yield* Minting.acceptsRedemption(scene, redemptionOf(scene, "r-2"))
      yield* Minting.turn
      assert.strictEqual(yield* ended("r-2"), "settled")
      assert.strictEqual(yield* Cycles.holds(scene.custodian, "USD"), "400")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect.each(firstOf(0, lost))(
    "never start together where the answer of the first is lost by %s",
    (fault) => {
      const faults = Faults.make()
      return Effect.gen(function* () {
        const scene = yield* Minting.base
        faults.replace({ [fault]: [1] })
        yield* Minting.startsRedemption(scene, redemptionOf(scene, "r-1"))
        yield* Minting.startsRedemption(scene, redemptionOf(scene, "r-2"))
        yield* asksAgain
        const orders = yield* Cycles.active(Templates.ReserveRedemptionOrder)
        assert.deepStrictEqual(
          orders.map(({ payload }) => payload.reserveRedemptionId),
          ["r-1"]
        )
        const endings = yield* Minting.endings("reserve-redemption.start")
        assert.strictEqual(endings.filter((one) => one === "succeeded").length, 1)
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(world({ faults })))
    }
  )
})
