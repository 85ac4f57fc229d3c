/** Forced acts beside other acts on the same units: whichever comes first, no unit is made, lost or left unsaid. */
import { FourEyes, Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const engine = () => Effect.provide(world())
const state = (id: string) => Effect.map(Powers.holder(id), (holder) => holder.state)

let requests = 0

/** Signed and queued; no step has run. */
const queued = (
  kind: string,
  params: Readonly<Record<string, string>>,
  body: Readonly<Record<string, Calls.Json>> = {}
) =>
  Effect.gen(function* () {
    const key = yield* Calls.openAction(kind, params, body)
    if (typeof key !== "string") return
    const door = yield* FourEyes
    yield* door.approve({
      actionKey: key,
      caller: Calls.person("ada", "approver"),
      identity: { requestId: `req-race-${++requests}`, traceId: null, keyId: null }
    })
  })

/** Outcome of the newest operation of each of these kinds. */
const ends = (...kinds: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    for (let turn = 0; turn < 5; turn++) {
      yield* TestClock.adjust("2 seconds")
      yield* Calls.settle
    }
    const records = yield* Records
    return yield* Effect.forEach(kinds, (kind) =>
      Effect.map(
        Stream.runCollect(records.stream(operations, { where: { kind: [kind] } })),
        (found) => {
          const { problem, state: at } = found.at(-1)?.record ?? { problem: null, state: "none" }
          const refusal = problem as { readonly gate?: string; readonly check?: string } | null
          return [at, refusal?.gate, refusal?.check].filter((one) => one != null).join(" ")
        }
      )
    )
  })

const whole = { register: "100", locked: "0", supply: "100" }

/** Does something beside the engine as it is about to send a forced move, once; or loses its answer. */
const beside = () => {
  const race: { first: Effect.Effect<unknown> | null; isLost: boolean } = {
    first: null,
    isLost: false
  }
  const isForced = ({ commands }: Ledger.Submission) =>
    commands.some((one) => one._tag === "Exercise" && one.choice === "ForceMove")
  const tamper = (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
    ...port,
    submit: (submission) => {
      if (!isForced(submission)) return port.submit(submission)
      const { first, isLost } = race
      race.first = null
      race.isLost = false
      const sent = Effect.andThen(first ?? Effect.void, port.submit(submission))
      return isLost
        ? Effect.andThen(
            sent,
            Effect.fail(
              new Ledger.OutcomeUnknown({
                commandId: submission.commandId,
                why: "the answer was lost",
                retryAfter: Duration.seconds(1)
              })
            )
          )
        : sent
    }
  })
  return { race, tamper }
}

describe("two forced acts at once", () => {
  it.effect("a recovery by holder and one by instrument: moved and announced once", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      yield* queued("holder.recover", { holderId: "h1" })
      yield* queued("instrument.recover", { instrumentId: "fund-a" }, { holderIds: ["h1"] })
      const ended = yield* ends("holder.recover", "instrument.recover")
      assert.deepEqual(ended.filter((one) => one === "succeeded").length, 1, `${ended}`)
      assert.deepEqual(
        ended.filter((one) => one !== "succeeded").map((one) => one.split(" ")[0]),
        ["failed"]
      )
      assert.deepEqual(yield* Powers.summed, ["holder.recovered h1 fund-a to h1-next 100"])
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "100")
      assert.strictEqual(yield* state("h1"), "succeeded")
      assert.deepEqual(yield* Powers.books(stage), whole)
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("a recovery and the end of the successor: no units on a wallet that is closed", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      yield* queued("holder.recover", { holderId: "h1" })
      yield* queued("holder.close", { holderId: "h1-next" })
      const [recovered, closed] = yield* ends("holder.recover", "holder.close")
      assert.notDeepEqual([recovered, closed], ["succeeded", "succeeded"])
      const isClosed = (yield* state("h1-next")) === "closed"
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), isClosed ? "0" : "100")
      assert.deepEqual(yield* Powers.books(stage), whole)
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("a forced act and an order's settlement at once", () => {
  it.effect("pays a redemption or moves its units, never both", () =>
    Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded()
      yield* Cycles.redeems(stage, h1, { id: "r1", units: "30" })
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, "1.5", Cycles.friday)
      yield* Cycles.pays(stage, { id: "r1", units: "30", price: "1.5", proceeds: "45" })
      yield* Cycles.paysIn(stage, stage.fund, "45")
      yield* Cycles.allocates(stage, stage.fund, {
        assetId: "USD",
        amount: "45",
        to: h1,
        reference: "r1"
      })
      yield* queued("redemption.settle", { redemptionId: "r1" })
      yield* queued(
        "holder.force-transfer",
        { holderId: "h1" },
        { toHolderId: "h2", order: Powers.order }
      )
      const [settled, forced] = yield* ends("redemption.settle", "holder.force-transfer")
      const isSettled = (yield* Cycles.redemption("r1")).state === "settled"
      assert.strictEqual(settled === "succeeded", isSettled)
      const left = isSettled ? "70" : "100"
      assert.deepEqual(yield* Powers.books(stage), {
        register: left,
        locked: forced === "succeeded" || isSettled ? "0" : "30",
        supply: left
      })
      assert.strictEqual(
        yield* Cycles.holds(h2, "fund-a"),
        forced === "succeeded" ? left : "0",
        `${settled}, ${forced}`
      )
      assert.include([settled, forced], "succeeded")
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("lets a cycle end without the units that a recovery took out of it", () =>
    Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded()
      yield* Powers.mints(stage, h2, "10")
      const next = yield* Powers.succeeds(stage, h1, { waits: "no" })
      yield* TestClock.adjust("24 hours")
      yield* Cycles.opens("c1", { cutOffAt: Cycles.monday })
      yield* Cycles.redeems(stage, h1, { id: "r1", units: "30" })
      yield* Cycles.redeems(stage, h2, { id: "r2", units: "10" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, "1", Cycles.monday)
      yield* Cycles.pays(stage, { id: "r1", units: "30", price: "1", proceeds: "30" })
      yield* Cycles.pays(stage, { id: "r2", units: "10", price: "1", proceeds: "10" })
      yield* Cycles.paysIn(stage, stage.fund, "40")
      assert.strictEqual((yield* Cycles.redemption("r1")).cycleId, "c1")
      const done = yield* Powers.recovers("h1")
      assert.strictEqual(done.why, "")
      assert.deepEqual(done.result["openOrders"], [
        { orderId: "r1", kind: "redemption", holderId: "h1" }
      ])
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "100")
      assert.strictEqual((yield* Cycles.settles("c1")).why, "rule-refused admission holder-active")
      assert.strictEqual(
        (yield* Calls.write("redemption.release", { redemptionId: "r1" }, {})).why,
        ""
      )
      yield* Cycles.allocates(stage, stage.fund, {
        assetId: "USD",
        amount: "10",
        to: stage.fund,
        reference: "c1"
      })
      assert.strictEqual((yield* Cycles.settles("c1")).why, "")
      assert.strictEqual((yield* Cycles.redemption("r2")).state, "settled")
      // h1's 100 and h2's 10, of which h2's have burned.
      assert.deepEqual(yield* Powers.books(stage), whole)
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("an order of a holder that is recovered on its way", () => {
  it.effect("never stays funded by a burn request that is gone, or is never let go", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      yield* Powers.requestsBurn({ stage, h1 }, Cycles.monday)
      assert.strictEqual((yield* Cycles.redemption("r1")).state, "funded")
      const done = yield* Powers.recovers("h1")
      assert.strictEqual(done.why, "")
      assert.strictEqual(yield* Fund.countActive(Templates.BurnRequest), 0)
      assert.strictEqual((yield* Cycles.redemption("r1")).burnRequestCid, null)
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "100")
      const released = yield* Calls.write("redemption.release", { redemptionId: "r1" }, {})
      assert.strictEqual(released.why, "")
      assert.deepEqual(yield* Powers.books(stage), whole)
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("between the plan of a recovery of all and its commit", () => {
  it.effect("units that come are not left behind in silence", () => {
    const { race, tamper } = beside()
    return Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      race.first = yield* detached(Powers.mints(stage, h1, "7"))
      const done = yield* Powers.recovers("h1")
      assert.strictEqual(done.why, "")
      const [move] = done.result["moves"] as ReadonlyArray<{
        readonly left: { readonly text: string }
      }>
      assert.strictEqual(Decimal.formatPlain(Decimal.of(move?.left.text ?? "")), "7")
      assert.deepEqual(done.result["succeeded"], [])
      assert.strictEqual(yield* state("h1"), "active")
      assert.strictEqual((yield* Powers.recovers("h1")).why, "")
      assert.strictEqual(yield* state("h1"), "succeeded")
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "107")
      assert.deepEqual(yield* Powers.summed, [
        "holder.recovered h1 fund-a to h1-next 100",
        "holder.recovered h1 fund-a to h1-next 7"
      ])
    }).pipe(Effect.provide(world({ tamper })))
  })

  it.effect("a consent that ends stops the units, and the operation ends", () => {
    const { race, tamper } = beside()
    return Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      race.first = yield* detached(Fund.revokesPowers(h1))
      const done = yield* Powers.ran(yield* Powers.recovers("h1"), "holder.recover")
      assert.strictEqual(done.why, "rule-refused consent issuer-powers-consent")
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "0")
      assert.deepEqual(yield* Powers.summed, [])
    }).pipe(Effect.provide(world({ tamper })))
  })

  it.effect("an answer that is lost moves the units once, and the move is announced", () => {
    const { race, tamper } = beside()
    return Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      race.isLost = true
      const done = yield* Powers.ran(yield* Powers.recovers("h1"), "holder.recover")
      assert.strictEqual(done.why, "")
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "100")
      assert.deepEqual(yield* Powers.moved({ [h1.party]: "h1", [next.party]: "h1-next" }), [
        "recovery h1 h1-next 100"
      ])
      assert.deepEqual(yield* Powers.summed, ["holder.recovered h1 fund-a to h1-next 100"])
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(Effect.provide(world({ tamper })))
  })
})

/** Effect for another fiber to run later, with the present services and without a failure. */
function detached<A, E, R>(effect: Effect.Effect<A, E, R>) {
  return Effect.map(Effect.context<R>(), (context) => Effect.orDie(Effect.provide(effect, context)))
}
