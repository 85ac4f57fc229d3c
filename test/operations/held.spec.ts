/** Every act of orders under a hold and under each mode of restriction: which are stopped, which pass. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as BrokenCycles from "../rules/broken-cycles.ts"
import * as BrokenOrders from "../rules/broken-orders.ts"
import type { Act as Judged } from "../rules/broken.ts"
import {
  type Act,
  type Control,
  controls,
  refusing,
  rowsOf,
  sets,
  under,
  writes
} from "./controlled.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import { bodyOf } from "./instrumentBody.ts"

const engine = () => Effect.provide(world())
const cents = "100000"
const price = "1.0437"
const bought = "95812.973076"
const line = (n: number, amount: number, statementId = "stmt-1") => ({
  cash: [{ statementId, line: n, amount }]
})

/** The check that stops an act under each control; empty: the act passes. */
type Stops = Readonly<Record<Control, string>>
const hold = "hold not-held"
const comingIn: Stops = {
  hold,
  freeze: "restriction may-receive",
  "receive-only": "",
  "redeem-only": "restriction may-receive"
}
/** A holder under any restriction may not order more. */
const placed: Stops = {
  hold,
  freeze: "restriction may-subscribe",
  "receive-only": "restriction may-subscribe",
  "redeem-only": "restriction may-subscribe"
}
const goingBack: Stops = {
  hold,
  freeze: "restriction may-redeem",
  "receive-only": "restriction may-redeem",
  "redeem-only": ""
}
const beingPaid: Stops = {
  hold,
  freeze: "restriction may-be-paid",
  "receive-only": "",
  "redeem-only": ""
}
const heldOnly: Stops = { hold, freeze: "", "receive-only": "", "redeem-only": "" }

/**
 * The act is judged by the rows that its table names, is refused at the door under each control that
 * stops it, and is carried out under the last that lets it pass.
 */
const driven = (venue: Party.Party, act: Act, judged: Judged | null, stops: Stops) =>
  Effect.gen(function* () {
    if (judged !== null) {
      const rows = yield* rowsOf(venue, act)
      assert.deepStrictEqual(
        rows.map(({ gate, check }) => `${gate} ${check}`),
        judged.checks
      )
      assert.isTrue(rows.every(({ ok }) => ok))
    }
    const passing = controls.filter((control) => stops[control] === "")
    for (const control of controls) {
      const refusals = stops[control] === "" ? [] : [stops[control]]
      assert.deepStrictEqual(
        [control, yield* under(control, refusing(venue, act))],
        [control, refusals]
      )
      if (stops[control] === "") continue
      const { why, state } = yield* under(control, writes(act))
      assert.deepStrictEqual(
        [act.kind, control, state, why],
        [act.kind, control, "refused", `rule-refused ${stops[control]}`]
      )
    }
    const last = passing.at(-1)
    const done = yield* last === undefined ? writes(act) : under(last, writes(act))
    assert.deepStrictEqual([act.kind, last, done.why], [act.kind, last, ""])
  })

const claim = (
  kind: "subscription" | "redemption",
  members: Readonly<Record<string, Calls.Json>>
) => ({
  kind: `${kind}.claim`,
  body: { instrumentId: "fund-a", holderId: "h1", ...members }
})
const onSubscription = (verb: string, subscriptionId: string, body = {}): Act => ({
  kind: `subscription.${verb}`,
  params: { subscriptionId },
  body
})
const onRedemption = (verb: string, redemptionId: string, body = {}): Act => ({
  kind: `redemption.${verb}`,
  params: { redemptionId },
  body
})
const onCycle = (verb: string, cycleId: string): Act => ({
  kind: `dealing-cycle.${verb}`,
  params: { cycleId }
})
const onStanding = (verb: string, body = {}): Act => ({
  kind: `standing-settlement.${verb}`,
  params: { standingSettlementId: "st1" },
  body
})

const founded = Effect.gen(function* () {
  const { stage, holders } = yield* Cycles.opened(["h1"])
  const [holder] = holders
  if (holder === undefined) throw new Error("no holder")
  return { stage, venue: stage.venue, holder }
})

/** The same with units that the registrar minted in the holder's hands. */
const endowed = Effect.gen(function* () {
  const at = yield* founded
  const credential = yield* Fund.newestContract(Templates.Credential)
  yield* at.stage.registrar.act(
    Templates.exercise(Templates.Credential, credential.cid, "Receive", {
      amount: Decimal.of("1000"),
      reference: { kind: "opening", id: "o1" },
      configurationCid: null
    })
  )
  return at
})

const prices = (stage: Fund.Parties, id: string) =>
  Effect.andThen(
    Fund.publishes(stage, price, Cycles.friday),
    Cycles.attests(stage, { id, units: bought, price })
  )

/**
 * Checks of a claim, without those that a claim by wire skips: it has no signature and joins no
 * cycle.
 */
const byWire = (judged: Judged): Judged => ({
  ...judged,
  checks: judged.checks.filter(
    (check) => !check.startsWith("consent") && check !== "ledger transaction-size"
  )
})

/** A claim into an open cycle deals at the point of the cycle's other orders, too. */
const intoCycle = (judged: Judged): Judged => ({
  ...judged,
  checks: judged.checks.flatMap((check) =>
    check === "nav-feed feed-usable" ? ["nav-feed one-point", check] : [check]
  )
})

/** Signs an order in the holder's own wallet. */
const signs = (
  stage: Fund.Parties,
  by: Fund.Outsider,
  claim: { readonly orderId: string; readonly amount?: string; readonly units?: string }
) => {
  const order = {
    venue: stage.venue,
    fund: stage.fund.party,
    holder: by.party,
    orderId: claim.orderId,
    instrument: stage.asset,
    paymentAsset: Cycles.cash(stage),
    expiresAt: null,
    amount: claim.amount === undefined ? null : Decimal.of(claim.amount),
    units: claim.units === undefined ? null : Decimal.of(claim.units)
  }
  return by.act(
    claim.units === undefined
      ? Templates.create(Templates.SubscriptionOrder, order)
      : Templates.create(Templates.RedemptionOrder, { ...order, custodian: null })
  )
}

describe("an act of one order is stopped by the controls that cover it, each with its own check", () => {
  it.effect("a subscription by wire: claimed, delivered, closed", () =>
    Effect.gen(function* () {
      const { stage, venue } = yield* founded
      const claims = claim("subscription", { subscriptionId: "s1", amount: 100_000 })
      yield* driven(venue, claims, byWire(BrokenOrders.subscriptionClaim), placed)
      yield* prices(stage, "s1")
      const delivers = onSubscription("deliver", "s1", line(1, 100_000))
      yield* driven(venue, delivers, BrokenOrders.subscriptionDeliver, comingIn)
      const closes = onSubscription("settle", "s1")
      yield* driven(venue, closes, BrokenOrders.subscriptionClose, heldOnly)
      assert.strictEqual((yield* Cycles.subscription("s1")).state, "closed")
    }).pipe(engine())
  )

  it.effect("a subscription on the ledger: claimed, paid and minted in one", () =>
    Effect.gen(function* () {
      const { stage, venue, holder } = yield* founded
      yield* Cycles.paysIn(stage, holder, cents)
      yield* signs(stage, holder, { orderId: "buy-1", amount: cents })
      const claims = claim("subscription", {
        subscriptionId: "s1",
        payment: "ledger",
        orderId: "buy-1"
      })
      yield* driven(venue, claims, intoCycle(BrokenOrders.subscriptionClaim), placed)
      const allocated = { assetId: "USD", amount: cents, to: stage.fund, reference: "s1" }
      yield* Cycles.allocates(stage, holder, allocated)
      yield* prices(stage, "s1")
      const settles = onSubscription("settle", "s1")
      yield* driven(venue, settles, BrokenOrders.subscriptionExchange, comingIn)
      assert.strictEqual((yield* Cycles.subscription("s1")).state, "closed")
    }).pipe(engine())
  )

  it.effect("a redemption by wire: claimed, and paid once it is burned", () =>
    Effect.gen(function* () {
      const { stage, venue, holder } = yield* endowed
      const claims = claim("redemption", { redemptionId: "r1", units: 100 })
      yield* driven(venue, claims, byWire(BrokenOrders.redemptionClaim), goingBack)
      yield* Fund.publishes(stage, "1.5", Cycles.friday)
      yield* Cycles.pays(stage, { id: "r1", units: "100", price: "1.5", proceeds: "150" })
      const { cid } = yield* Fund.freeHolding(holder.party)
      yield* holder.act(
        Templates.exercise(Templates.Holding, cid, "RequestBurn", {
          amount: Decimal.of("100"),
          reference: { kind: "redemption", id: "r1" },
          custodian: null,
          executeBefore: Instant.of("2026-09-01T00:00:00Z")
        })
      )
      const request = yield* Fund.newestContract(Templates.BurnRequest)
      yield* stage.registrar.act(
        Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {})
      )
      assert.strictEqual((yield* Cycles.redemption("r1")).state, "burned")
      const settles = onRedemption("settle", "r1", line(1, 150, "stmt-2"))
      yield* driven(venue, settles, BrokenOrders.redemptionPaidByWire, beingPaid)
      assert.strictEqual((yield* Cycles.redemption("r1")).state, "settled")
    }).pipe(engine())
  )

  it.effect("a redemption on the ledger: claimed, burned and paid in one", () =>
    Effect.gen(function* () {
      const { stage, venue, holder } = yield* endowed
      yield* signs(stage, holder, { orderId: "sell-1", units: "100" })
      const claims = claim("redemption", {
        redemptionId: "r1",
        payment: "ledger",
        orderId: "sell-1"
      })
      yield* driven(venue, claims, intoCycle(BrokenOrders.redemptionClaim), goingBack)
      yield* Cycles.locksUnits(stage, holder, { id: "r1", units: "100" })
      yield* Fund.publishes(stage, "1.5", Cycles.friday)
      yield* Cycles.pays(stage, { id: "r1", units: "100", price: "1.5", proceeds: "150" })
      yield* Cycles.paysIn(stage, stage.fund, "150")
      const paid = { assetId: "USD", amount: "150", to: holder, reference: "r1" }
      yield* Cycles.allocates(stage, stage.fund, paid)
      const settles = onRedemption("settle", "r1")
      yield* driven(venue, settles, BrokenOrders.redemptionExchange, goingBack)
      assert.strictEqual((yield* Cycles.redemption("r1")).state, "settled")
    }).pipe(engine())
  )
})

describe("an act of many orders is stopped by the controls that cover it, each with its own check", () => {
  it.effect("a cycle of subscriptions: opened, settled", () =>
    Effect.gen(function* () {
      const { stage, venue, holder } = yield* founded
      const opens = { kind: "dealing-cycle.open", body: { cycleId: "c1", instrumentId: "fund-a" } }
      const { checks } = BrokenCycles.cycleOpen
      const named = checks.filter((check) => !/cut-off-(to-come|in-reach)$/u.test(check))
      yield* driven(venue, opens, { ...BrokenCycles.cycleOpen, checks: named }, heldOnly)
      yield* Cycles.subscribes(stage, holder, { id: "s1", amount: cents })
      yield* Cycles.at(Cycles.friday)
      yield* prices(stage, "s1")
      const sold = BrokenCycles.cycleSettle.checks.filter((check) => !check.endsWith("may-redeem"))
      const judged = { ...BrokenCycles.cycleSettle, checks: sold }
      yield* driven(venue, onCycle("settle", "c1"), judged, comingIn)
      assert.strictEqual((yield* Cycles.cycle("c1")).endedAs, "settled")
    }).pipe(engine())
  )

  it.effect("a cycle with a redemption, which names the order that stops it", () =>
    Effect.gen(function* () {
      const { stage, venue, holder } = yield* endowed
      yield* Cycles.opens("c1")
      yield* Cycles.redeems(stage, holder, { id: "r1", units: "100" })
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, "1.5", Cycles.friday)
      yield* Cycles.pays(stage, { id: "r1", units: "100", price: "1.5", proceeds: "150" })
      yield* Cycles.paysIn(stage, stage.fund, "150")
      const paid = { assetId: "USD", amount: "150", to: stage.fund, reference: "c1" }
      yield* Cycles.allocates(stage, stage.fund, paid)
      const settles = onCycle("settle", "c1")
      const rows = yield* under("freeze", rowsOf(venue, settles))
      assert.deepStrictEqual(
        rows.filter(({ ok }) => !ok).map(({ detail }) => detail),
        ["The holder of the order r1 is restricted."]
      )
      yield* driven(venue, settles, null, goingBack)
      assert.strictEqual((yield* Cycles.redemption("r1")).state, "settled")
    }).pipe(engine())
  )

  it.effect("a standing settlement: opened, settled, resumed", () =>
    Effect.gen(function* () {
      const { stage, venue, holder } = yield* endowed
      const funded = [
        { party: holder.party, asset: Cycles.cash(stage), amount: 3000 },
        { party: holder.party, asset: stage.asset, amount: 500 },
        { party: stage.fund.party, asset: Cycles.cash(stage), amount: 2000 }
      ]
      const opens = {
        kind: "standing-settlement.open",
        body: { standingSettlementId: "st1", instrumentId: "fund-a", funding: funded }
      }
      yield* driven(venue, opens, BrokenCycles.standingOpen, heldOnly)
      const commits = (by: Fund.Outsider, amount: string) =>
        Effect.gen(function* () {
          const { cid } = yield* Fund.newestContract(Templates.StandingSettlement)
          const holding = yield* Fund.freeHolding(by.party)
          yield* by.act(
            Templates.exercise(Templates.StandingSettlement, cid, "Commit", {
              party: by.party,
              holdingCid: holding.cid,
              amount: Decimal.of(amount)
            })
          )
        })
      // All that it gives away is locked or gone before the next holding comes in.
      yield* commits(holder, "500")
      const rest = yield* Fund.freeHolding(holder.party)
      yield* holder.act(
        Templates.exercise(Templates.Holding, rest.cid, "Allocate", {
          allocationId: "r1",
          executor: stage.venue,
          receiver: stage.fund.party,
          amount: Decimal.of("500"),
          settleBefore: Instant.of("2026-08-20T20:00:00Z")
        })
      )
      yield* Cycles.paysIn(stage, holder, "3000")
      yield* commits(holder, "3000")
      yield* Cycles.paysIn(stage, stage.fund, "2000")
      yield* commits(stage.fund, "2000")
      yield* signs(stage, holder, { orderId: "buy-1", amount: "1000" })
      const ledger = { payment: "ledger" }
      yield* writes(claim("subscription", { subscriptionId: "s1", orderId: "buy-1", ...ledger }))
      yield* Fund.publishes(stage, "2", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "500", price: "2" })
      const settles = onStanding("settle", { subscriptions: ["s1"] })
      const bought = BrokenCycles.standingSettle.checks.filter(
        (check) => !check.endsWith("may-redeem")
      )
      const judged = { ...BrokenCycles.standingSettle, checks: bought }
      yield* driven(venue, settles, judged, comingIn)
      // Pausing only tightens, so no hold stops it; resuming lets orders settle again.
      const paused = yield* under("hold", writes(onStanding("pause")))
      assert.strictEqual(paused.result.state, "paused")
      yield* driven(venue, onStanding("resume"), null, heldOnly)
      const closed = yield* under("hold", under("freeze", writes(onStanding("close"))))
      assert.strictEqual(closed.result.state, "closed")
    }).pipe(engine())
  )
})

describe("what gives back, tightens or moves nothing is stopped by no control", () => {
  /** Under both at once. */
  const held = <A, E, R>(what: Effect.Effect<A, E, R>) => under("hold", under("freeze", what))
  const passes = (act: Act) =>
    Effect.gen(function* () {
      const { why } = yield* held(writes(act))
      assert.deepStrictEqual([act.kind, why], [act.kind, ""])
    })

  it.effect("a withdrawal and a release of a subscription, or of a redemption", () =>
    Effect.gen(function* () {
      const { stage } = yield* endowed
      for (const subscriptionId of ["s1", "s2"]) {
        yield* writes(claim("subscription", { subscriptionId, amount: 100_000 }))
      }
      for (const redemptionId of ["r1", "r2"]) {
        yield* writes(claim("redemption", { redemptionId, units: 100 }))
      }
      yield* prices(stage, "s2")
      yield* Cycles.pays(stage, { id: "r2", units: "100", price, proceeds: "104.37" })
      yield* passes(onSubscription("withdraw", "s1"))
      yield* passes(onSubscription("release", "s2"))
      yield* passes(onRedemption("withdraw", "r1"))
      yield* passes(onRedemption("release", "r2"))
      assert.strictEqual((yield* Cycles.subscription("s2")).state, "released")
      assert.strictEqual((yield* Cycles.redemption("r2")).state, "released")
    }).pipe(engine())
  )

  it.effect("a cycle that is let go, or an admission that is taken back and offered anew", () =>
    Effect.gen(function* () {
      const { stage, holder } = yield* founded
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, holder, { id: "s1", amount: cents })
      yield* passes(onCycle("release", "c1"))
      assert.strictEqual((yield* Cycles.subscription("s1")).state, "withdrawn")
      const params = { holderId: "h1", instrumentId: "fund-a" }
      const offers = {
        kind: "admission.offer",
        params: { holderId: "h1" },
        body: { instrumentId: "fund-a" }
      }
      const again = yield* held(writes(offers))
      assert.strictEqual(again.why, "rule-refused admission not-admitted-yet")
      yield* passes({ kind: "admission.withdraw", params })
      const rows = yield* rowsOf(stage.venue, offers)
      assert.deepStrictEqual(
        rows.map(({ gate, check }) => `${gate} ${check}`),
        BrokenCycles.admissionOffer.checks
      )
      yield* passes(offers)
    }).pipe(engine())
  )

  it.effect(
    "the engine's own release of what did not settle in time, which then fails for ever",
    () =>
      Effect.gen(function* () {
        const { stage, holder } = yield* endowed
        yield* Cycles.subscribes(stage, holder, { id: "s1", amount: cents })
        yield* Cycles.redeems(stage, holder, { id: "r1", units: "100" })
        yield* Cycles.at(Cycles.friday)
        yield* prices(stage, "s1")
        yield* Cycles.pays(stage, { id: "r1", units: "100", price, proceeds: "104.37" })
        yield* Cycles.opens("c1")
        yield* Cycles.subscribes(stage, holder, { id: "s2", amount: cents })
        yield* sets("hold")
        yield* sets("freeze")
        // A priced order waits for its holder, and no settlement of it succeeds.
        const settles = onSubscription("settle", "s1")
        assert.strictEqual((yield* writes(settles)).why, "rule-refused hold not-held")
        assert.strictEqual((yield* Cycles.subscription("s1")).state, "priced")
        yield* Cycles.at("2026-08-20T20:00:00Z")
        yield* Cycles.turns
        assert.strictEqual((yield* Cycles.subscription("s1")).state, "released")
        assert.strictEqual((yield* Cycles.redemption("r1")).state, "released")
        assert.strictEqual((yield* Cycles.subscription("s2")).state, "withdrawn")
        assert.strictEqual((yield* Cycles.cycle("c1")).endedAs, "released")
        assert.deepStrictEqual(yield* failed, [])
      }).pipe(engine())
  )
})

/** The failed operations, opened by people or by the engine. */
const failed = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(operations, { where: { state: ["failed"] }, limit: 100 })
  return found.map(({ record }) => record.kind)
})

describe("of several controls and faults", () => {
  const delivered = Effect.gen(function* () {
    const { stage } = yield* founded
    yield* writes(claim("subscription", { subscriptionId: "s1", amount: 100_000 }))
    yield* prices(stage, "s1")
    return onSubscription("deliver", "s1", line(1, 100_000))
  })

  it.effect("another than the first in the order of the gates is told", () =>
    Effect.gen(function* () {
      const delivers = yield* delivered
      const released = yield* sets("hold")
      const lifted = yield* sets("freeze")
      const params = { holderId: "h1", instrumentId: "fund-a" }
      yield* writes({ kind: "admission.withdraw", params })
      const whyRefused = Effect.map(writes(delivers), ({ why }) => why)
      assert.strictEqual(yield* whyRefused, "rule-refused hold not-held")
      yield* released
      assert.strictEqual(yield* whyRefused, "rule-refused restriction may-receive")
      yield* lifted
      assert.strictEqual(yield* whyRefused, "rule-refused admission admitted")
    }).pipe(engine())
  )

  it.effect("a second hold or restriction is forgotten when the first is gone", () =>
    Effect.gen(function* () {
      const delivers = yield* delivered
      const first = [yield* sets("hold"), yield* sets("redeem-only")]
      const second = [yield* sets("hold"), yield* sets("receive-only")]
      yield* Effect.all(first)
      assert.strictEqual((yield* writes(delivers)).why, "rule-refused hold not-held")
      yield* Effect.all(second)
      assert.strictEqual((yield* writes(delivers)).why, "")
    }).pipe(engine())
  )

  it.effect(
    "what has no terms is told so before that it is held, or before its holder's freeze",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* founded
        yield* stage.registrar.act(
          Templates.create(Templates.InstrumentConfiguration, {
            registrar: stage.registrar.party,
            provider: stage.venue,
            issuer: stage.fund.party,
            instrument: { admin: stage.registrar.party, id: "fund-x" },
            defaultIdentifier: { source: "venue", id: "fund-x", scheme: "internal" },
            additionalIdentifiers: [],
            holderRequirements: [],
            issuerRequirements: []
          })
        )
        const holding = { instrumentId: "fund-x", holderId: "h1" }
        const acts = [
          { kind: "subscription.claim", body: { ...holding, subscriptionId: "s9", amount: 100 } },
          { kind: "redemption.claim", body: { ...holding, redemptionId: "r9", units: 100 } }
        ]
        const whyRefused = Effect.forEach(acts, (act) => Effect.map(writes(act), ({ why }) => why))
        assert.deepStrictEqual(yield* whyRefused, Array(2).fill("rule-refused policy in-manifest"))
        const lifted = yield* sets("freeze")
        assert.deepStrictEqual(yield* whyRefused, [
          "rule-refused restriction may-subscribe",
          "rule-refused restriction may-redeem"
        ])
        yield* Calls.write("instrument.pause", { instrumentId: "fund-x" }, { reason: "to see" })
        assert.deepStrictEqual(yield* whyRefused, Array(2).fill(`rule-refused ${hold}`))
        yield* lifted
        const opens = [
          { kind: "dealing-cycle.open", body: { cycleId: "c9", instrumentId: "fund-x" } },
          {
            kind: "standing-settlement.open",
            body: {
              standingSettlementId: "st9",
              instrumentId: "fund-x",
              funding: [{ party: stage.fund.party, asset: Cycles.cash(stage), amount: 1 }]
            }
          }
        ]
        for (const act of opens) {
          assert.strictEqual((yield* writes(act)).why, `rule-refused ${hold}`)
        }
      }).pipe(engine())
  )

  it.effect("one on another holder or instrument stops the act", () =>
    Effect.gen(function* () {
      const delivers = yield* delivered
      yield* Calls.write("instrument.record", {}, { ...bodyOf(), instrumentId: "fund-b" })
      yield* Calls.write("instrument.pause", { instrumentId: "fund-b" }, { reason: "to see" })
      const frozen = { mode: "freeze", reason: "pledge" }
      yield* Calls.write(
        "holder.restrict",
        { holderId: "h1" },
        { ...frozen, instrumentId: "fund-b" }
      )
      const other = yield* Fund.outsider("other")
      yield* Calls.write("holder.register", {}, { holderId: "h2", party: other.party })
      yield* Calls.write("holder.restrict", { holderId: "h2" }, frozen)
      assert.strictEqual((yield* writes(delivers)).why, "")
    }).pipe(engine())
  )
})

describe("a cycle with an order of a holder that is frozen", () => {
  it.effect("settles around it, waits for it for ever, or is signed by one who did not know", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
      const [first, second] = holders
      if (first === undefined || second === undefined) throw new Error("two holders")
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, first, { id: "s1", amount: cents })
      yield* Cycles.subscribes(stage, second, { id: "s2", amount: cents })
      yield* Cycles.at(Cycles.friday)
      yield* prices(stage, "s1")
      yield* Cycles.attests(stage, { id: "s2", units: bought, price })
      const made = yield* Calls.openAction("dealing-cycle.settle", { cycleId: "c1" }, {})
      // The first holder stays free to receive; the second one is restricted.
      yield* sets("freeze", "h2")
      const why = "rule-refused restriction may-receive"
      assert.strictEqual((yield* Calls.approveAction(made)).why, why)
      const rows = yield* rowsOf(stage.venue, onCycle("settle", "c1"))
      assert.deepStrictEqual(
        rows.filter(({ ok }) => !ok).map(({ detail }) => detail),
        ["The holder of the order s2 is restricted."]
      )
      assert.strictEqual((yield* writes(onSubscription("release", "s2"))).why, "")
      // The figures that were signed included this order.
      const moved = yield* Calls.approveAction(made)
      assert.strictEqual(moved.why, "rule-refused four-eyes figures-moved")
      assert.strictEqual((yield* Calls.approveAction(made)).why, "")
      assert.strictEqual((yield* Cycles.subscription("s1")).state, "closed")
      assert.strictEqual((yield* Cycles.subscription("s2")).state, "released")
    }).pipe(engine())
  )
})
