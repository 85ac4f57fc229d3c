/** A mint that is ready against whatever else happens to its reserve: each in both orders, and with answers lost. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Faults } from "@bursar/storage-adapters/simulated-ledger"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Backed from "../operations/backed.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import * as Minting from "../operations/minting.ts"
import * as Powers from "../operations/powers.ts"

const engine = () => Effect.provide(world())

const of = (scene: Backed.Scene) => ({ mintId: "m-1", asset: scene.usd, deposit: 100 })

/** The reserve of the golden vectors, with a mint of 100 that its depositor is still to accept. */
const started = Effect.gen(function* () {
  const scene = yield* Minting.base
  assert.strictEqual((yield* Minting.starts(scene, of(scene))).state, "succeeded")
  return scene
})

const tightens = (scene: Backed.Scene) =>
  Effect.gen(function* () {
    const terms = Backed.termsOf(scene, { minCover: 1.1, maxShare: 0.3 })
    const body = { amendmentId: "am-1", terms }
    yield* Calls.write("amendment.propose", { reserveId: "res-1" }, body)
    const { cid } = yield* Powers.saying(Templates.AmendmentProposal, { amendmentId: "am-1" })
    const reserveCid = (yield* Backed.reserve()).reserveCid ?? ""
    yield* scene.registrar.act(
      Templates.exercise(Templates.AmendmentProposal, cid, "Accept", { reserveCid })
    )
  })

const closes = () => Effect.asVoid(Calls.write("reserve.close", { reserveId: "res-1" }, {}))
const falls = (scene: Backed.Scene) => Backed.prices(scene, "1.0")

const races = [
  // With the mint the cover would be 1.0175 of 1.10; it counts 1.0955 of 1.02 before.
  ["terms that tighten", tightens, "reserve-cover cover"],
  ["a price that falls", falls, "reserve-cover cover"],
  ["the close of the reserve", closes, "policy reserve-active"]
] as const

const settled = (mintId = "m-1") => Effect.map(Minting.mint(mintId), ({ state }) => state)

describe("a mint that is ready", () => {
  it.effect.each(races)("is never settled after %s", ([_, happens, refused]) =>
    Effect.gen(function* () {
      const scene = yield* started
      yield* happens(scene)
      yield* Minting.accepts(scene, of(scene))
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

  it.effect.each(races)("is settled before %s", ([_, happens]) =>
    Effect.gen(function* () {
      const scene = yield* started
      yield* Minting.accepts(scene, of(scene))
      yield* Minting.turn
      assert.strictEqual(yield* settled(), "settled")
      yield* happens(scene)
      assert.strictEqual(yield* Cycles.holds(scene.h1, "fund-a"), "1600")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("keeps the agreement of its asset from being released", () =>
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
      yield* Minting.accepts(scene, of(scene))
      yield* Minting.turn
      assert.strictEqual(yield* settled(), "settled")
    }).pipe(engine())
  )

  it.effect.each(["dropAfterCommit", "dropBeforeCommit", "contention"] as const)(
    "settles once where the answer of its settlement is lost by %s",
    (fault) => {
      const faults = Faults.make()
      return Effect.gen(function* () {
        const scene = yield* started
        yield* Minting.accepts(scene, of(scene))
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
