/**
 * Recovery of a lost key: all units move to the registered successor, and none becomes free on the
 * way.
 */
import { FourEyes } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import { polled, world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const engine = (inputsMax?: number) =>
  Effect.provide(world(inputsMax === undefined ? {} : { settings: { inputsMax } }))
/** An engine whose operations of several steps let a test act between two of them. */
const between = Effect.provide(world({ settings: { inputsMax: 16 }, storage: polled }))

const named = (...all: ReadonlyArray<Cycles.Holder>) =>
  Object.fromEntries(all.map(({ holderId, party }) => [party, holderId]))

const state = (id: string) => Effect.map(Powers.holder(id), (holder) => holder.state)

/** A second instrument, of which h1 holds some: its successor is admitted to both. */
const ofTwo = Effect.gen(function* () {
  const founded = yield* Powers.founded()
  const { stage, h1 } = founded
  yield* Powers.another(stage, "fund-b")
  yield* Powers.admits(h1, "fund-b")
  yield* Powers.mints(stage, h1, "5", "fund-b")
  yield* Powers.agrees(stage, { instrumentId: "fund-b" })
  yield* Powers.consents(h1, { instrumentId: "fund-b" })
  const next = yield* Powers.succeeds(stage, h1, { admitted: ["fund-a", "fund-b"] })
  return { ...founded, next }
})

describe("a recovery (T-REX, lost wallet)", () => {
  it.effect("never leaves units with the old wallet, or frees what was frozen on it", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      yield* Powers.restricts("h1", { reason: "lost-key" })
      const done = yield* Powers.recovers("h1")
      assert.strictEqual(done.why, "")
      assert.deepEqual(done.result["succeeded"], ["h1"])
      assert.deepEqual(
        [yield* Cycles.holds(h1, "fund-a"), yield* Cycles.holds(next, "fund-a")],
        ["0", "100"]
      )
      assert.deepEqual(yield* Powers.moved(named(h1, next)), ["recovery h1 h1-next 100"])
      assert.deepEqual(yield* Powers.restricted, [
        "h1 freeze lost-key carried",
        "h1-next freeze lost-key active carried-from"
      ])
      assert.deepEqual(
        (yield* Powers.forcedEvents).map(({ type, resourceId }) => `${type} ${resourceId}`),
        ["holder.restricted h1", "holder.recovered h1", "holder.restricted h1-next"]
      )
      assert.deepEqual(yield* Powers.summed, ["holder.recovered h1 fund-a to h1-next 100"])
      assert.strictEqual(yield* state("h1"), "succeeded")
      assert.deepEqual(yield* Powers.books(stage), { register: "100", locked: "0", supply: "100" })
      assert.deepEqual(yield* Fund.surprises, [])
      // The new wallet is as frozen as the old one was.
      yield* Cycles.redeems(stage, next, { id: "r1", units: "10" }).pipe(
        Effect.map(({ why }) => assert.strictEqual(why, "rule-refused restriction may-redeem"))
      )
    }).pipe(engine())
  )

  it.effect("never lands on a successor that is restricted itself (OpenZeppelin)", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      yield* Powers.restricts("h1-next", { mode: "receive-only", reason: "other" })
      assert.strictEqual(
        (yield* Powers.recovers("h1")).why,
        "rule-refused restriction successor-unrestricted"
      )
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "0")
    }).pipe(engine())
  )

  it.effect(
    "never is stopped by what an earlier part of it carried, or takes that for the successor's own",
    () =>
      Effect.gen(function* () {
        const { next } = yield* ofTwo
        yield* Powers.restricts("h1", { reason: "lost-key" })
        const first = yield* Powers.recovers("h1", { instruments: ["fund-a"] })
        assert.strictEqual(first.why, "")
        assert.deepEqual(first.result["succeeded"], [])
        assert.strictEqual(yield* state("h1"), "active")
        assert.deepEqual(yield* Powers.restricted, [
          "h1 freeze lost-key active",
          "h1-next freeze lost-key active carried-from"
        ])
        const last = yield* Powers.recovers("h1", { instruments: ["fund-b"] })
        assert.strictEqual(last.why, "")
        assert.deepEqual(last.result["succeeded"], ["h1"])
        assert.strictEqual(yield* state("h1"), "succeeded")
        assert.deepEqual(yield* Powers.restricted, [
          "h1 freeze lost-key carried",
          "h1-next freeze lost-key active carried-from"
        ])
        assert.strictEqual(yield* Cycles.holds(next, "fund-b"), "5")
      }).pipe(engine())
  )

  it.effect(
    "of two instruments is announced for each, and succeeds the holder once no units are left",
    () =>
      Effect.gen(function* () {
        const { stage, h1, next } = yield* ofTwo
        const done = yield* Powers.recovers("h1")
        assert.strictEqual(done.why, "")
        assert.deepEqual((yield* Powers.summed).toSorted(), [
          "holder.recovered h1 fund-a to h1-next 100",
          "holder.recovered h1 fund-b to h1-next 5"
        ])
        assert.deepEqual(yield* Powers.moved(named(h1, next), "fund-b"), ["recovery h1 h1-next 5"])
        assert.strictEqual(yield* state("h1"), "succeeded")
        assert.deepEqual(yield* Powers.books(stage, "fund-b"), {
          register: "5",
          locked: "0",
          supply: "5"
        })
        const again = yield* Powers.recovers("h1")
        assert.strictEqual(again.why, "rule-refused units units-held")
        const named_ = yield* Powers.recovers("h1", { instruments: ["fund-a"] })
        assert.strictEqual(named_.why, "rule-refused units units-held")
        assert.strictEqual((yield* Powers.offers("h1")).why, "state-conflict HolderState")
      }).pipe(engine())
  )

  it.effect("of an instrument and its holders moves all that each of them holds", () =>
    Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded()
      yield* Powers.mints(stage, h2, "7")
      yield* Powers.consents(h2)
      const first = yield* Powers.succeeds(stage, h1, { waits: "no" })
      const second = yield* Powers.succeeds(stage, h2)
      const done = yield* Calls.write(
        "instrument.recover",
        { instrumentId: "fund-a" },
        { holderIds: ["h1", "h2"] }
      )
      assert.strictEqual(done.why, "")
      assert.deepEqual(done.result["succeeded"], ["h1", "h2"])
      assert.deepEqual(
        [yield* Cycles.holds(first, "fund-a"), yield* Cycles.holds(second, "fund-a")],
        ["100", "7"]
      )
      assert.deepEqual(yield* Powers.summed, [
        "holder.recovered h1 fund-a to h1-next 100",
        "holder.recovered h2 fund-a to h2-next 7"
      ])
    }).pipe(engine())
  )

  it.effect("never leaves a lock behind that nobody can open any more", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      yield* Cycles.redeems(stage, h1, { id: "r1", units: "30" })
      const done = yield* Powers.recovers("h1")
      assert.strictEqual(done.why, "")
      const [move] = done.result["moves"] as ReadonlyArray<{
        readonly released: ReadonlyArray<{ readonly units: { readonly text: string } }>
      }>
      assert.deepEqual(
        move?.released.map(({ units }) => Decimal.formatPlain(Decimal.of(units.text))),
        ["30"]
      )
      assert.deepEqual(done.result["openOrders"], [
        { orderId: "r1", kind: "redemption", holderId: "h1" }
      ])
      assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 0)
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "100")
      assert.deepEqual(yield* Powers.books(stage), { register: "100", locked: "0", supply: "100" })
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never brings new units to the old wallet by an order that it left open", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      yield* Powers.succeeds(stage, h1)
      yield* Calls.write(
        "subscription.claim",
        {},
        {
          subscriptionId: "s1",
          instrumentId: "fund-a",
          holderId: "h1",
          payment: "wire",
          amount: 100
        }
      )
      const done = yield* Powers.recovers("h1")
      assert.deepEqual(done.result["openOrders"], [
        { orderId: "s1", kind: "subscription", holderId: "h1" }
      ])
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.attests(stage, { id: "s1", units: "100", price: "1" })
      const cash = [{ statementId: "stmt-1", line: 1, amount: 100 }]
      const delivered = yield* Calls.write(
        "subscription.deliver",
        { subscriptionId: "s1" },
        { cash }
      )
      assert.strictEqual(delivered.why, "rule-refused admission holder-active")
      const released = yield* Calls.write("subscription.release", { subscriptionId: "s1" }, {})
      assert.strictEqual(released.why, "")
      assert.strictEqual(yield* Cycles.holds(h1, "fund-a"), "0")
    }).pipe(engine())
  )

  it.effect("of a holding in very many parts is announced once, as a whole", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded("1")
      for (let nth = 1; nth < 25; nth++) yield* Powers.mints(stage, h1, "1")
      const next = yield* Powers.succeeds(stage, h1)
      yield* Powers.restricts("h1", { reason: "lost-key" })
      const started = yield* Powers.recovers("h1")
      assert.strictEqual(started.state, "running")
      // The units that wait at the old wallet are as frozen as those that have moved.
      assert.deepEqual(yield* Powers.restricted, [
        "h1 freeze lost-key active",
        "h1-next freeze lost-key active carried-from"
      ])
      assert.deepEqual(yield* Powers.summed, [])
      const done = yield* Powers.ran(started, "holder.recover")
      assert.strictEqual(done.why, "")
      assert.deepEqual(yield* Powers.summed, ["holder.recovered h1 fund-a to h1-next 25"])
      assert.deepEqual(yield* Powers.restricted, [
        "h1 freeze lost-key carried",
        "h1-next freeze lost-key active carried-from"
      ])
      assert.strictEqual(yield* state("h1"), "succeeded")
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "25")
    }).pipe(between)
  )

  it.effect("never takes units that nobody signed, and leaves them to another recovery", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded("1")
      for (let nth = 1; nth < 12; nth++) yield* Powers.mints(stage, h1, "1")
      yield* Powers.another(stage, "fund-b")
      yield* Powers.admits(h1, "fund-b")
      const next = yield* Powers.succeeds(stage, h1, { admitted: ["fund-a", "fund-b"] })
      const started = yield* Powers.recovers("h1")
      assert.strictEqual(started.state, "running")
      yield* Powers.mints(stage, h1, "3")
      // The venue has no powers over fund-b: its units would stop the moves that were signed.
      yield* Powers.mints(stage, h1, "5", "fund-b")
      const done = yield* Powers.ran(started, "holder.recover")
      assert.strictEqual(done.why, "")
      assert.deepEqual(yield* Powers.summed, ["holder.recovered h1 fund-a to h1-next 12"])
      assert.deepEqual(
        [yield* Cycles.holds(h1, "fund-a"), yield* Cycles.holds(h1, "fund-b")],
        ["3", "5"]
      )
      assert.strictEqual(yield* state("h1"), "active")
      // The admission stands as long as there are units to recover.
      assert.strictEqual((yield* Powers.recovers("h1", { instruments: ["fund-a"] })).why, "")
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "15")
      yield* Powers.agrees(stage, { instrumentId: "fund-b" })
      yield* Powers.consents(h1, { instrumentId: "fund-b" })
      assert.strictEqual((yield* Powers.recovers("h1")).why, "")
      assert.strictEqual(yield* state("h1"), "succeeded")
    }).pipe(between)
  )

  it.effect("that was broken off is counted once by the one that ends it", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded("1")
      for (let nth = 1; nth < 25; nth++) yield* Powers.mints(stage, h1, "1")
      yield* Powers.succeeds(stage, h1)
      const started = yield* Powers.recovers("h1")
      yield* Fund.revokesPowers(h1)
      const broken = yield* Powers.ran(started, "holder.recover")
      assert.strictEqual(broken.why, "rule-refused consent issuer-powers-consent")
      assert.deepEqual(yield* Powers.summed, [])
      assert.strictEqual(yield* state("h1"), "active")
      yield* Powers.consents(h1)
      const again = yield* Powers.recovers("h1")
      assert.strictEqual((yield* Powers.ran(again, "holder.recover")).why, "")
      assert.deepEqual(yield* Powers.summed, ["holder.recovered h1 fund-a to h1-next 25"])
      assert.strictEqual(yield* state("h1"), "succeeded")
    }).pipe(between)
  )
})

describe("a recovery is refused", () => {
  const why = Effect.map(Powers.recovers("h1"), (ended) => ended.why)

  it.effect("where there is no successor, or before it may be used", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      assert.strictEqual(yield* why, "rule-refused policy successor-registered")
      yield* Powers.succeeds(stage, h1, { waits: "no" })
      assert.strictEqual(yield* why, "rule-refused policy successor-usable")
      yield* TestClock.adjust("24 hours")
      assert.strictEqual(yield* why, "")
    }).pipe(engine())
  )

  it.effect("where the successor is admitted to nothing", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1, { admitted: [] })
      assert.strictEqual(yield* why, "rule-refused admission admitted")
      yield* Powers.admits(next, "fund-a", { validUntil: "2026-08-02T12:00:00Z" })
      yield* TestClock.adjust("24 hours")
      assert.strictEqual(yield* why, "rule-refused admission admitted")
      yield* Powers.admits(next, "fund-a")
      assert.strictEqual(yield* why, "")
    }).pipe(engine())
  )

  it.effect("where the holder did not consent, or its consent ran out or was taken back", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      yield* Powers.mints(stage, h1, "10")
      yield* Powers.agrees(stage)
      yield* Powers.succeeds(stage, h1)
      const consent = "rule-refused consent issuer-powers-consent"
      assert.strictEqual(yield* why, consent)
      yield* Powers.offers("h1")
      assert.strictEqual(yield* why, consent)
      yield* Fund.answersPowers(h1, "Decline")
      assert.strictEqual(yield* why, consent)
      yield* Powers.consents(h1, { validUntil: "2026-08-01T13:00:00Z" })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* why, consent)
      yield* Powers.consents(h1, { powers: ["force-transfer"] })
      assert.strictEqual(yield* why, consent)
      yield* Fund.revokesPowers(h1)
      yield* Powers.consents(h1)
      yield* Fund.revokesPowers(h1)
      assert.strictEqual(yield* why, consent)
      yield* Powers.consents(h1)
      assert.strictEqual(yield* why, "")
    }).pipe(engine())
  )

  it.effect("where the consent ends between the last signature and the run", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      yield* Powers.succeeds(stage, h1)
      const key = yield* Calls.openAction("holder.recover", { holderId: "h1" }, {})
      const door = yield* FourEyes
      yield* door.approve({
        actionKey: String(key),
        caller: Calls.person("ada", "approver"),
        identity: { requestId: "req-late", traceId: null, keyId: null }
      })
      // The recovery is queued, and the revocation is on the ledger before the engine reads it.
      yield* Fund.revokesPowers(h1)
      const done = yield* Powers.ran({ state: "queued", why: "", result: {} }, "holder.recover")
      assert.strictEqual(done.state, "failed")
      assert.strictEqual(done.why, "rule-refused consent issuer-powers-consent")
      assert.strictEqual(yield* Cycles.holds(h1, "fund-a"), "100")
      assert.strictEqual(yield* state("h1"), "active")
    }).pipe(engine())
  )
})
