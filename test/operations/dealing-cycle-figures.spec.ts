/**
 * The figures of dealing cycles: signed by an approver, swung, with their basis, and in what-if
 * reads.
 */
import { Queries, Records, verify } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as DealingCycleQueries from "#core/orders/dealing-cycle/DealingCycleQueries.ts"
import { allocationsMax, dealingCycles } from "#core/orders/dealing-cycle/DealingCycle.ts"
import { settle } from "#core/orders/dealing-cycle/SettleOperations.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as Invariant from "#core/kernel/Invariant.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

const engine = (options: Parameters<typeof world>[0] = {}) => Effect.provide(world(options))
const includes = (self: object, members: object) => assert.deepInclude(self, members)
const d = Decimal.of

type Params = Parameters<(typeof DealingCycleQueries.get)["run"]>[0]

const read = (cycleId: string, params: Omit<Params, "cycleId"> = {}) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const { value } = yield* queries.one(DealingCycleQueries.get, {
      caller: Calls.operator,
      params: { cycleId: cycleId as Params["cycleId"], ...params },
      point: {}
    })
    return value
  })

/** Every basis computes its field's text again; a changed input computes no basis at all. */
const holds = (cycle: Effect.Success<ReturnType<typeof read>>) => {
  for (const basis of cycle.basis) {
    const [first, second] = basis.field.split(".")
    const part = (cycle as unknown as Readonly<Record<string, unknown>>)[first ?? ""]
    const figure = second === undefined ? part : (part as Readonly<Record<string, unknown>>)[second]
    const text = Result.getOrThrow(verify(basis))
    assert.strictEqual(Decimal.of(text), figure, basis.field)
    const [input] = basis.inputs
    if (input === undefined) continue
    const changed = {
      ...basis,
      inputs: [{ ...input, value: `${input.value}1` }, ...basis.inputs.slice(1)]
    }
    assert.isTrue(Result.isFailure(verify(changed)), `${basis.field} holds with another input`)
  }
  return cycle.basis.map(({ field }) => field).toSorted()
}

/** Two holders in a priced cycle of the Friday, each for a hundred units at 1. */
const priced = Effect.gen(function* () {
  const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
  yield* Cycles.opens("c1")
  for (const [index, holder] of holders.entries()) {
    yield* Cycles.subscribes(stage, holder, { id: `s${index + 1}`, amount: "100" })
  }
  yield* Cycles.at(Cycles.friday)
  yield* Fund.publishes(stage, "1", Cycles.friday)
  for (const index of holders.keys()) {
    yield* Cycles.attests(stage, { id: `s${index + 1}`, units: "100", price: "1" })
  }
  return { stage, holders }
})

describe("the figures an approver signs", () => {
  it.effect("are derived from the orders that the plan of the same act has loaded", () =>
    Effect.gen(function* () {
      const { stage } = yield* priced
      const input = { cycleId: "c1" as Params["cycleId"] }
      const actAt = (now: Instant.Instant) => ({
        operationId: "op_asked",
        venue: stage.venue,
        actor: "olga",
        role: "operator" as const,
        signedBy: [],
        sealed: null,
        cause: { by: "operation" as const, operationId: "op_asked" },
        now
      })
      const records = yield* Records
      let streamed = 0
      const counting: Records["Service"] = {
        ...records,
        stream: (collection, query) => {
          if (collection.name === subscriptions.name) streamed += 1
          return records.stream(collection, query)
        }
      }
      const judged = (act: ReturnType<typeof actAt>) =>
        Effect.gen(function* () {
          yield* settle.plan(input, act, 1)
          if (settle.figures === undefined) throw new Error("a settlement derives no figures")
          const { figures } = yield* settle.figures(input, act)
          return { figures, streams: streamed }
        }).pipe(Effect.provideService(Records, counting))
      const now = yield* Instant.now
      const act = actAt(now)
      const before = yield* judged(act)
      assert.strictEqual(before.streams, 1)
      yield* Calls.write("subscription.release", { subscriptionId: "s2" }, {})
      const after = yield* judged(actAt(now))
      assert.strictEqual(after.streams, 2)
      includes(before.figures, { subscriptions: d("2") })
      includes(after.figures, { subscriptions: d("1") })
    }).pipe(engine())
  )

  it.effect("never run though an order has left between two signatures", () =>
    Effect.gen(function* () {
      yield* priced
      const action = yield* Calls.openAction("dealing-cycle.settle", { cycleId: "c1" }, {})
      const released = yield* Calls.write("subscription.release", { subscriptionId: "s2" }, {})
      assert.strictEqual(released.why, "")
      const moved = yield* Calls.approveAction(action)
      assert.strictEqual(moved.why, "rule-refused four-eyes figures-moved")
      includes(yield* Cycles.cycle("c1"), { state: "open" })
      assert.strictEqual((yield* Calls.approveAction(action)).why, "")
      includes(yield* Cycles.cycle("c1"), {
        endedAs: "settled",
        orders: { subscriptions: ["s1"], redemptions: [] }
      })
    }).pipe(engine())
  )

  it.effect("never run at a point that its oracle took back between two signatures", () =>
    Effect.gen(function* () {
      const { stage } = yield* priced
      const action = yield* Calls.openAction("dealing-cycle.settle", { cycleId: "c1" }, {})
      yield* Fund.corrects(stage, "1.05", Cycles.friday)
      // The conditions are judged before the figures: the signature is refused by the point itself.
      const refused = yield* Calls.approveAction(action)
      assert.strictEqual(refused.why, "rule-refused nav-feed feed-usable")
      includes(yield* Cycles.cycle("c1"), { state: "open" })
    }).pipe(engine())
  )

  it.effect("never run under another policy than was signed", () =>
    Effect.gen(function* () {
      yield* priced
      const action = yield* Calls.openAction("dealing-cycle.settle", { cycleId: "c1" }, {})
      // No figure moves but the version itself: nothing is gated by so wide a capacity.
      yield* Cycles.changes(1, { limits: { cycleCapacity: 1000 } })
      const moved = yield* Calls.approveAction(action)
      assert.strictEqual(moved.why, "rule-refused four-eyes figures-moved")
      assert.strictEqual((yield* Calls.approveAction(action)).why, "")
    }).pipe(engine())
  )
})

describe("a swung price", () => {
  const swing = { swing: { threshold: 0.01, up: 0.0015, down: 0.001 } }

  it.effect("never is not the one that all of a day's orders deal at", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* priced
      yield* Cycles.settles("c1")
      assert.strictEqual((yield* Cycles.changes(1, swing)).why, "")
      const [first, second] = holders
      if (first === undefined || second === undefined) throw new Error("two holders")
      yield* Cycles.opens("c2")
      yield* Cycles.subscribes(stage, first, { id: "s3", amount: "100" })
      yield* Cycles.redeems(stage, second, { id: "r1", units: "10" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      // 100 in, 10 out, of 200: far above a hundredth, so everybody deals at 1.0015.
      yield* Cycles.attests(stage, { id: "s3", units: "99.850224", price: "1.0015" })
      yield* Cycles.pays(stage, { id: "r1", units: "10", price: "1", proceeds: "10" })
      const refused = yield* Cycles.settles("c2")
      assert.strictEqual(refused.why, "rule-refused nav-feed price-of-cycle")
      yield* Calls.write("redemption.release", { redemptionId: "r1" }, {})
      assert.strictEqual((yield* Cycles.settles("c2")).why, "")
      includes(yield* Cycles.cycle("c2"), { price: d("1"), swungPrice: d("1.0015") })
      const cycle = yield* read("c2")
      assert.deepStrictEqual(holds(cycle), ["fundNet.cash", "fundNet.units", "swungPrice"])
      const before = yield* read("c1")
      assert.deepStrictEqual(holds(before), ["fundNet.cash", "fundNet.units"])
      // The price that broke the terms is recorded as a surprise for reconciliation.
      assert.lengthOf(yield* Fund.surprises, 1)
    }).pipe(engine())
  )
})

describe("what would be", () => {
  /** A hundred units each, both given back on the Monday. */
  const redeeming = Effect.gen(function* () {
    const { stage, holders } = yield* priced
    yield* Cycles.settles("c1")
    yield* Cycles.opens("c2")
    for (const [index, holder] of holders.entries()) {
      yield* Cycles.redeems(stage, holder, { id: `r${index + 1}`, units: "100" })
    }
    return { stage, holders }
  })
  const settling = (stage: Fund.Parties) =>
    Effect.gen(function* () {
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      for (const id of ["r1", "r2"]) {
        yield* Cycles.pays(stage, { id, units: "100", price: "1", proceeds: "100" })
      }
      yield* Cycles.allocates(stage, stage.fund, {
        assetId: "USD",
        amount: "200",
        to: stage.fund,
        reference: "c2"
      })
      assert.strictEqual((yield* Cycles.settles("c2")).why, "")
    })
  const terms = { limits: { cycleCapacity: 30.000001 }, fees: { subscription: 0, redemption: 0 } }

  it.effect("never differs from what a venue with that policy in fact came to", () =>
    Effect.gen(function* () {
      const whatIf = yield* Effect.gen(function* () {
        const { stage } = yield* redeeming
        // Known, and in force long after all of this.
        const set = yield* Cycles.changes(1, { ...terms, effectiveFrom: "2027-01-01T00:00:00Z" })
        assert.strictEqual(set.why, "")
        const before = yield* read("c2", { policyVersion: 2, price: d("1") })
        yield* settling(stage)
        const version = (yield* Cycles.cycle("c2")).version
        const after = yield* read("c2", { policyVersion: 2 })
        holds(after)
        assert.strictEqual((yield* Cycles.cycle("c2")).version, version)
        return { before, after, settled: yield* read("c2") }
      }).pipe(engine())
      const inFact = yield* Effect.gen(function* () {
        const { stage } = yield* redeeming
        assert.strictEqual((yield* Cycles.changes(1, terms)).why, "")
        yield* settling(stage)
        const cycle = yield* read("c2")
        assert.deepStrictEqual(holds(cycle), ["fundNet.cash", "fundNet.units", "gate.factor"])
        return cycle
      }).pipe(engine())
      for (const figures of [whatIf.before, whatIf.after]) {
        assert.deepStrictEqual(figures.gross, inFact.gross)
        assert.deepStrictEqual(figures.fundNet, inFact.fundNet)
        assert.deepStrictEqual(figures.gate, inFact.gate)
        assert.strictEqual(figures.policyVersion, 2)
        assert.deepStrictEqual(
          figures.fills.map(({ filled }) => filled),
          inFact.fills.map(({ filled }) => filled)
        )
        assert.deepStrictEqual(
          figures.legs.map(({ amount }) => amount),
          inFact.legs.map(({ amount }) => amount)
        )
      }
      assert.isNull(whatIf.settled.gate)
      assert.deepStrictEqual(inFact.gate?.factor, d("0.150000005"))
    })
  )

  it.effect("never answers for a version that there is not", () =>
    Effect.gen(function* () {
      yield* priced
      const none = yield* Effect.flip(read("c1", { policyVersion: 9 }))
      assert.strictEqual(none._tag === "Refused" ? none.slug : "", "not-found")
      const there = yield* read("c1", { policyVersion: 1, price: d("2") })
      assert.deepStrictEqual(there.fundNet, { cash: d("200"), units: d("100") })
    }).pipe(engine())
  )
})

describe("the fund's own consent to be drawn on", () => {
  it.effect("never is not used where it covers what the fund is short of", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* priced
      yield* Cycles.settles("c1")
      const [first] = holders
      if (first === undefined) throw new Error("a holder")
      yield* Calls.write(
        "provision-settlement.propose",
        { instrumentId: "fund-a" },
        { fund: stage.fund.party, paymentAsset: Cycles.cash(stage), limit: 60 }
      )
      const proposal = yield* Fund.newestContract(Templates.ProvisionSettlementProposal)
      yield* stage.fund.act(
        Templates.exercise(Templates.ProvisionSettlementProposal, proposal.cid, "Accept", {})
      )
      yield* Cycles.opens("c2")
      yield* Cycles.redeems(stage, first, { id: "r1", units: "92" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.pays(stage, { id: "r1", units: "92", price: "1", proceeds: "92" })
      // More than one draw may take: the fund sets the rest aside itself, in as many parts as a cycle takes.
      assert.strictEqual((yield* Cycles.settles("c2")).why, "rule-refused cash fund-cash")
      for (let nth = 0; nth < allocationsMax; nth++) {
        yield* Cycles.allocates(stage, stage.fund, {
          assetId: "USD",
          amount: "1",
          to: stage.fund,
          reference: "c2"
        })
      }
      assert.strictEqual((yield* Cycles.settles("c2")).why, "")
      assert.strictEqual(yield* Cycles.holds(first, "USD"), "92")
      assert.strictEqual(yield* Cycles.holds(stage.fund, "USD"), "108")
      assert.deepStrictEqual(
        Invariant.breaches(dealingCycles.invariants, yield* Cycles.cycle("c2")),
        []
      )
      assert.deepStrictEqual(yield* Fund.surprises, [])
      assert.isTrue(Instant.isInstant((yield* Cycles.cycle("c2")).endedAt))
    }).pipe(engine())
  )
})
