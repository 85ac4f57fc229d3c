/** An act that gives units to a holder, judged before the holder's recovery and sent after it: the ledger takes one of the two, never both. */
import { Records } from "@bursar/engine-core"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { admissions } from "#core/admissions/Admission.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Late from "./late.ts"
import * as Powers from "./powers.ts"

/** `instrument state endedBy` of every admission of a holder, and whether a recovery ended it. */
const admitted = (holderId: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* Stream.runCollect(
      records.stream(admissions, { where: { holderId: [holderId] } })
    )
    return found
      .map(({ record: { endedBy, instrumentId, recoveredBy, state } }) =>
        [instrumentId, state, recoveredBy === null ? endedBy : "recovery"]
          .filter((one) => one !== null)
          .join(" ")
      )
      .toSorted()
  })

/** Plans an act, does the other thing to its end, then sends what was planned; how the act ended. */
const afterwards = <E, R1, R2>(
  race: Late.Race,
  choice: string,
  act: { readonly kind: string; readonly call: Effect.Effect<Calls.Ended, E, R1> },
  other: Effect.Effect<unknown, unknown, R2>
) =>
  Effect.gen(function* () {
    race.choice = choice
    race.first = Effect.orDie(Effect.provide(other, yield* Effect.context<R2>()))
    const done = yield* Powers.ran(yield* act.call, act.kind)
    assert.isNull(race.first, "it was never sent")
    return done
  })

const recovered = Effect.map(Powers.recovers("h1"), (done) => {
  assert.strictEqual(done.why, "")
  return done
})

/** h1's order, priced, its cash on the ledger. */
const ordered = (stage: Fund.Parties, by: Cycles.Holder, times: { readonly cutOff: string }) =>
  Effect.gen(function* () {
    assert.strictEqual((yield* Cycles.subscribes(stage, by, { id: "s1", amount: "9" })).why, "")
    yield* Cycles.at(times.cutOff)
    yield* Fund.publishes(stage, "1", times.cutOff)
    yield* Cycles.attests(stage, { id: "s1", units: "9", price: "1" })
  })

const bought = {
  subscriptionId: "s1",
  instrumentId: "fund-a",
  holderId: "h1",
  payment: "wire",
  amount: 9
}
const cash = { cash: [{ statementId: "stmt-1", line: 1, amount: 9 }] }

/** An order paid by wire, priced, where no market mints: the registrar is asked. */
const byWire = Effect.gen(function* () {
  const stage = yield* Fund.opened({ holderCap: 100 })
  const h1 = yield* Cycles.joins(stage, "h1")
  yield* Powers.mints(stage, h1, "100")
  yield* Powers.agrees(stage)
  yield* Powers.consents(h1)
  const next = yield* Powers.succeeds(stage, h1)
  assert.strictEqual((yield* Calls.write("subscription.claim", {}, bought)).why, "")
  yield* Cycles.at(Cycles.monday)
  yield* Fund.publishes(stage, "1", Cycles.monday)
  yield* Fund.attests(stage.oracle, "9", "1")
  return { stage, h1, next }
})

const delivers = Calls.write("subscription.deliver", { subscriptionId: "s1" }, cash)
const delivering = { kind: "subscription.deliver", call: delivers }
const settling = {
  kind: "subscription.settle",
  call: Calls.write("subscription.settle", { subscriptionId: "s1" }, {})
}
const releases = Calls.write("subscription.release", { subscriptionId: "s1" }, {})

/** The predecessor has nothing, the successor all, and no fact was one that no table allows. */
const followed = (
  holders: { readonly h1: Cycles.Holder; readonly next: Cycles.Holder },
  units = "100"
) =>
  Effect.gen(function* () {
    assert.strictEqual(yield* Cycles.holds(holders.h1, "fund-a"), "0")
    assert.strictEqual(yield* Cycles.holds(holders.next, "fund-a"), units)
    assert.strictEqual((yield* Powers.holder("h1")).state, "succeeded")
    assert.deepEqual(yield* Fund.surprises, [])
  })

describe("an act judged before a recovery and sent after it", () => {
  it.effect(
    "a settlement of an order paid on the ledger is refused, and its cash goes back",
    () => {
      const { race, tamper } = Late.beside()
      return Effect.gen(function* () {
        const { stage, h1 } = yield* Powers.founded()
        const next = yield* Powers.succeeds(stage, h1)
        yield* ordered(stage, h1, { cutOff: Cycles.monday })
        const settled = yield* afterwards(race, "Lot.Settle", settling, recovered)
        assert.strictEqual(settled.why, "rule-refused admission holder-active")
        yield* followed({ h1, next })
        assert.deepEqual(yield* admitted("h1"), ["fund-a revoked recovery"])
        assert.strictEqual((yield* releases).why, "")
        assert.strictEqual(yield* Cycles.holds(h1, "USD"), "9")
        assert.deepEqual(yield* Powers.books(stage), {
          register: "100",
          locked: "0",
          supply: "100"
        })
      }).pipe(Effect.provide(world({ tamper })))
    }
  )

  it.effect("a delivery by the market is refused", () => {
    const { race, tamper } = Late.beside()
    return Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      yield* Calls.write("subscription.claim", {}, bought)
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.attests(stage, { id: "s1", units: "9", price: "1" })
      const done = yield* afterwards(race, "Lot.Deliver", delivering, recovered)
      assert.strictEqual(done.why, "rule-refused admission holder-active")
      yield* followed({ h1, next })
    }).pipe(Effect.provide(world({ tamper })))
  })

  it.effect("a registrar is not asked to mint", () => {
    const { race, tamper } = Late.beside()
    return Effect.gen(function* () {
      const { h1, next } = yield* byWire
      const done = yield* afterwards(race, "Lot.Deliver", delivering, recovered)
      assert.strictEqual(done.why, "rule-refused admission holder-active")
      assert.strictEqual(yield* Fund.countActive(Templates.MintRequest), 0)
      yield* followed({ h1, next })
    }).pipe(Effect.provide(world({ tamper })))
  })

  it.effect("nor asked again after it would not", () => {
    const { race, tamper } = Late.beside()
    return Effect.gen(function* () {
      const { stage, h1, next } = yield* byWire
      assert.strictEqual((yield* delivers).why, "")
      const { cid } = yield* Powers.saying(Templates.MintRequest, {})
      yield* stage.registrar.act(Templates.exercise(Templates.MintRequest, cid, "Reject", {}))
      const call = Calls.write("subscription.deliver", { subscriptionId: "s1" }, {})
      const again = { kind: "subscription.deliver", call }
      const done = yield* afterwards(race, "DeliveredLot.Redeliver", again, recovered)
      assert.strictEqual(done.why, "rule-refused admission holder-active")
      assert.strictEqual(yield* Fund.countActive(Templates.MintRequest), 0)
      yield* followed({ h1, next })
    }).pipe(Effect.provide(world({ tamper })))
  })

  it.effect("a dealing cycle with its order does not settle, and does without it", () => {
    const { race, tamper } = Late.beside()
    return Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      yield* Cycles.opens("c1", { cutOffAt: Cycles.monday })
      assert.strictEqual((yield* Cycles.subscribes(stage, h2, { id: "s2", amount: "5" })).why, "")
      yield* ordered(stage, h1, { cutOff: Cycles.monday })
      yield* Cycles.attests(stage, { id: "s2", units: "5", price: "1" })
      assert.strictEqual((yield* Cycles.subscription("s1")).cycleId, "c1")
      const settled = yield* afterwards(
        race,
        "DealingCycle.Settle",
        { kind: "dealing-cycle.settle", call: Cycles.settles("c1") },
        recovered
      )
      assert.strictEqual(settled.why, "rule-refused admission holder-active")
      yield* followed({ h1, next })
      assert.strictEqual((yield* releases).why, "")
      assert.strictEqual((yield* Cycles.settles("c1")).why, "")
      assert.strictEqual(yield* Cycles.holds(h2, "fund-a"), "5")
      yield* followed({ h1, next })
    }).pipe(Effect.provide(world({ tamper })))
  })

  it.effect("a forced transfer to it moves nothing", () => {
    const { race, tamper } = Late.beside()
    return Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded()
      yield* Powers.mints(stage, h2, "10")
      yield* Powers.consents(h2)
      const next = yield* Powers.succeeds(stage, h1)
      const done = yield* afterwards(
        race,
        "IssuerPowersAgreement.ForceMove",
        { kind: "holder.force-transfer", call: Powers.forces("h2", "h1") },
        recovered
      )
      assert.strictEqual(done.why, "rule-refused admission holder-active")
      assert.strictEqual(yield* Cycles.holds(h2, "fund-a"), "10")
      yield* followed({ h1, next })
    }).pipe(Effect.provide(world({ tamper })))
  })

  it.effect("an order in an instrument of which the holder has nothing is refused as well", () => {
    const { race, tamper } = Late.beside()
    return Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      yield* Powers.another(stage, "fund-b")
      yield* Powers.admits(h1, "fund-b")
      yield* Powers.mints(stage, h1, "3", "fund-b")
      yield* Powers.agrees(stage, { instrumentId: "fund-b" })
      yield* Powers.consents(h1, { instrumentId: "fund-b" })
      const next = yield* Powers.succeeds(stage, h1, { admitted: ["fund-b"] })
      // Its units of fund-a are gone, and its order in fund-a stands.
      yield* ordered(stage, h1, { cutOff: Cycles.monday })
      assert.strictEqual(
        (yield* Powers.forces("h1", "h2", { instruments: [{ instrumentId: "fund-a" }] })).why,
        ""
      )
      const settled = yield* afterwards(race, "Lot.Settle", settling, recovered)
      assert.strictEqual(settled.why, "rule-refused admission holder-active")
      assert.strictEqual(yield* Cycles.holds(next, "fund-b"), "3")
      assert.strictEqual(yield* Cycles.holds(h1, "fund-a"), "0")
      assert.deepEqual(yield* admitted("h1"), [
        "fund-a revoked recovery",
        "fund-b revoked recovery"
      ])
      assert.strictEqual((yield* Powers.holder("h1")).state, "succeeded")
    }).pipe(Effect.provide(world({ tamper })))
  })
})

describe("an act that commits before the recovery that was judged beside it", () => {
  it.effect("a settlement's units are left, said to be left, and recovered next", () => {
    const { race, tamper } = Late.beside()
    return Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      yield* ordered(stage, h1, { cutOff: Cycles.monday })
      const done = yield* afterwards(
        race,
        "IssuerPowersAgreement.ForceMove",
        { kind: "holder.recover", call: Powers.recovers("h1") },
        settling.call
      )
      assert.strictEqual(done.why, "")
      assert.strictEqual((yield* Powers.holder("h1")).state, "active")
      assert.strictEqual(yield* Cycles.holds(h1, "fund-a"), "9")
      assert.strictEqual((yield* Powers.recovers("h1")).why, "")
      yield* followed({ h1, next }, "109")
    }).pipe(Effect.provide(world({ tamper })))
  })
})

describe("units that a registrar was asked for before the recovery", () => {
  const recoveredWhileAsked = Effect.gen(function* () {
    const there = yield* byWire
    assert.strictEqual((yield* delivers).why, "")
    yield* recovered
    return there
  })

  it.effect("are not minted to the wallet that was left", () =>
    Effect.gen(function* () {
      const { stage, h1, next } = yield* recoveredWhileAsked
      const request = yield* Powers.saying(Templates.MintRequest, {})
      const mine = yield* Powers.saying(Templates.Credential, { holder: next.party })
      const accepted = yield* Effect.exit(
        stage.registrar.act(
          Templates.exercise(Templates.MintRequest, request.cid, "Accept", {
            credentialCid: mine.cid,
            configurationCid: null
          })
        )
      )
      assert.strictEqual(accepted._tag, "Failure")
      assert.strictEqual(
        (yield* Cycles.active(Templates.Credential)).filter(
          ({ payload }) => payload.holder === h1.party
        ).length,
        0
      )
      yield* followed({ h1, next })
    }).pipe(Effect.provide(world()))
  )

  for (const answer of ["stands", "is rejected"] as const) {
    it.effect(`are let go, and the same cash pays the successor: the request ${answer}`, () =>
      Effect.gen(function* () {
        const { stage, h1, next } = yield* recoveredWhileAsked
        if (answer === "is rejected") {
          const { cid } = yield* Powers.saying(Templates.MintRequest, {})
          yield* stage.registrar.act(Templates.exercise(Templates.MintRequest, cid, "Reject", {}))
        }
        assert.strictEqual((yield* releases).why, "")
        const ended = yield* Cycles.subscription("s1")
        assert.strictEqual(ended.state, "released")
        assert.deepEqual(ended.cash.lines, [])
        assert.strictEqual(yield* Fund.countActive(Templates.MintRequest), 0)
        assert.strictEqual(yield* Fund.countActive(Templates.DeliveredLot), 0)
        const again = { ...bought, subscriptionId: "s2", holderId: next.holderId }
        assert.strictEqual((yield* Calls.write("subscription.claim", {}, again)).why, "")
        yield* Cycles.at("2026-08-04T20:00:00Z")
        yield* Fund.publishes(stage, "1", "2026-08-04T20:00:00Z")
        yield* Fund.attests(stage.oracle, "9", "1")
        const paid = yield* Calls.write("subscription.deliver", { subscriptionId: "s2" }, cash)
        assert.strictEqual(paid.why, "")
        yield* followed({ h1, next })
      }).pipe(Effect.provide(world()))
    )
  }
})

describe("what a recovery ends", () => {
  it.effect("the admission to the instrument that moved, and to no other", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      yield* Powers.another(stage, "fund-b")
      yield* Powers.admits(h1, "fund-b")
      yield* Powers.mints(stage, h1, "3", "fund-b")
      const next = yield* Powers.succeeds(stage, h1)
      yield* Cycles.subscribes(stage, h1, { id: "s1", amount: "9" })
      const done = yield* Powers.recovers("h1", { instruments: ["fund-a"] })
      assert.strictEqual(done.why, "")
      assert.strictEqual((yield* Powers.holder("h1")).state, "active")
      assert.deepEqual(yield* admitted("h1"), ["fund-a revoked recovery", "fund-b admitted"])
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "100")
      // The holder may be admitted anew while it is not succeeded.
      yield* Powers.admits(h1, "fund-a")
      assert.deepEqual(yield* admitted("h1"), [
        "fund-a admitted",
        "fund-a revoked recovery",
        "fund-b admitted"
      ])
    }).pipe(Effect.provide(world()))
  )

  it.effect("an offer of admission that nobody has answered", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      yield* Calls.write("admission.withdraw", { holderId: "h1", instrumentId: "fund-a" }, {})
      yield* Powers.succeeds(stage, h1)
      yield* Calls.write("admission.offer", { holderId: "h1" }, { instrumentId: "fund-a" })
      const offer = yield* Powers.saying(Templates.AdmissionOffer, { holder: h1.party })
      yield* recovered
      assert.deepEqual(yield* admitted("h1"), ["fund-a revoked venue", "fund-a withdrawn recovery"])
      const accepted = yield* Effect.exit(
        h1.act(Templates.exercise(Templates.AdmissionOffer, offer.cid, "Accept", {}))
      )
      assert.strictEqual(accepted._tag, "Failure")
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(Effect.provide(world()))
  )

  it.effect("a credential that has run out, which stays expired", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h2"])
      const [h2] = holders
      if (h2 === undefined) throw new Error("no holder")
      const h1 = yield* Cycles.joins(stage, "h1")
      yield* Powers.mints(stage, h1, "100")
      yield* Calls.write("admission.withdraw", { holderId: "h1", instrumentId: "fund-a" }, {})
      yield* Powers.admits(h1, "fund-a", { validUntil: "2026-07-31T20:00:00Z" })
      yield* Powers.agrees(stage)
      yield* Powers.consents(h1)
      yield* Powers.succeeds(stage, h1, { waits: "no" })
      yield* Cycles.at("2026-08-05T09:00:00Z")
      yield* recovered
      assert.deepEqual(yield* admitted("h1"), ["fund-a expired clock", "fund-a revoked venue"])
      assert.strictEqual(
        (yield* Cycles.active(Templates.Credential)).filter(
          ({ payload }) => payload.holder === h1.party
        ).length,
        0
      )
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(Effect.provide(world()))
  )

  it.effect("no admission of a holder whose units are moved by a forced transfer", () =>
    Effect.gen(function* () {
      yield* Powers.founded()
      assert.strictEqual((yield* Powers.forces("h1", "h2")).why, "")
      assert.deepEqual(yield* admitted("h1"), ["fund-a admitted"])
    }).pipe(Effect.provide(world()))
  )
})
