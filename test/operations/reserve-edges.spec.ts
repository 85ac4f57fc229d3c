/** One microsecond on either side of each edge of a reserve: a deadline, a point's age, the end of a delay. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { amendments } from "#core/reserves/amendment/Amendment.ts"
import { reserveReports } from "#core/reserves/report/ReserveReport.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Backed from "./backed.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Minting from "./minting.ts"

const engine = () => Effect.provide(world())
const microsecond = 1_000n
const hour = 3_600_000_000_000n

const after = (at: Instant.Instant, nanos: bigint) => Instant.fromNanos(at + nanos)

describe("an order whose deadline is", () => {
  it.effect.each([
    ["a microsecond past the turn that settles it is settled", 1n, "settled", "20"],
    ["the instant of that turn is cancelled", 0n, "cancelled", "10"],
    ["a microsecond before it is cancelled", -1n, "cancelled", "10"]
  ] as const)("%s", ([_, micros, state, units]) =>
    Effect.gen(function* () {
      const scene = yield* Minting.opened({ price: null })
      const asset = scene.usd
      yield* Minting.mintsFor(scene, { mintId: "m-0", asset, deposit: 10 })
      // The engine looks 30 seconds later, and the clock of the tests stands still meanwhile.
      const turn = after(yield* Instant.now, 30_000_000_000n)
      const deadline = Instant.format(after(turn, micros * microsecond))
      const minting = { mintId: "m-1", asset, deposit: 10 }
      yield* Minting.starts(scene, minting, { deadline })
      yield* Minting.accepts(scene, minting)
      const redeeming = { reserveRedemptionId: "r-1", asset, units: 10 }
      yield* Minting.startsRedemption(scene, redeeming, { deadline })
      yield* Minting.acceptsRedemption(scene, redeeming)
      yield* Minting.turn
      const isSettled = state === "settled"
      if (!isSettled) yield* Minting.retry
      assert.strictEqual((yield* Minting.mint("m-1")).state, state)
      assert.strictEqual((yield* Minting.redemption("r-1")).state, state)
      // Ten units were minted, and the ten that were there before are burned or free.
      assert.strictEqual(yield* Cycles.holds(scene.h1, "fund-a"), isSettled ? "10" : units)
      assert.deepEqual(yield* Cycles.active(Templates.Allocation), [])
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("a point that is", () => {
  it.effect.each([
    ["a microsecond younger than its longest age counts", -hour + microsecond, null],
    ["exactly as old as it may be counts", -hour, null],
    ["a microsecond older does not", -hour - microsecond, "price-fresh"],
    ["of this very instant counts", 0n, null],
    // Its asset has no other price, and this one has not come.
    ["a microsecond of the future does not", microsecond, "price-known"]
  ] as const)("%s", ([_, age, condition]) =>
    Effect.gen(function* () {
      const scene = yield* Minting.opened({ price: null, terms: { maxShare: null } })
      yield* Backed.locks(scene, { amount: "10", asset: scene.bill })
      const valuationTime = after(yield* Instant.now, age)
      yield* Backed.prices(scene, "2.1", { valuationTime })
      const { why } = yield* Minting.starts(scene, { mintId: "m", asset: scene.bill, deposit: 10 })
      assert.strictEqual(why, condition === null ? "" : `rule-refused reserve-cover ${condition}`)
      // The ledger judges it by its own time, and says so in a report.
      yield* Calls.write("reserve-report.create", { reserveId: "res-1" }, { reportId: "rep" })
      const { assets } = yield* Effect.flatMap(Records, (records) =>
        records.get(reserveReports, "rep")
      )
      assert.deepEqual(
        assets.map(({ asset, fresh }) => [asset.id, fresh]),
        [
          ["USD", true],
          ["BILL", condition === null]
        ]
      )
    }).pipe(engine())
  )
})

describe("terms whose delay ends", () => {
  it.effect.each([
    ["a microsecond later can be withdrawn", "PT1H0.000001S", "withdrawn", "95"],
    ["now are in force", "PT1H", "effective", "99"],
    ["a microsecond earlier are in force", "PT59M59.999999S", "effective", "99"]
  ] as const)("%s", ([_, loosenDelay, state, worth]) =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      const terms = (haircut: number) => Backed.termsOf(scene, { haircut, maxShare: null })
      yield* Backed.reserved(scene, { loosenDelay, terms: terms(0.05) })
      yield* Backed.amends("am-1", terms(0.01))
      yield* Backed.answersAmendment(scene, "am-1")
      yield* TestClock.adjust("1 hour")
      const withdrawn = yield* Calls.write(
        "amendment.withdraw",
        { reserveId: "res-1", amendmentId: "am-1" },
        {}
      )
      assert.strictEqual(
        withdrawn.why,
        state === "withdrawn" ? "" : "state-conflict AmendmentState"
      )
      const amendment = yield* Effect.flatMap(Records, (records) => records.get(amendments, "am-1"))
      assert.strictEqual(amendment.state, state)
      // The ledger's report counts the bills by the terms that it holds to be in force.
      yield* Backed.prices(scene, "1")
      yield* Backed.locked(scene, { asset: scene.bill, amount: "100" })
      yield* Calls.write("reserve-report.create", { reserveId: "res-1" }, { reportId: "rep" })
      const { counted } = yield* Effect.flatMap(Records, (records) =>
        records.get(reserveReports, "rep")
      )
      assert.strictEqual(Decimal.formatPlain(counted), worth)
    }).pipe(engine())
  )
})
