/** Instances that die at each of their calls as a mint and a redemption start, settle and are cancelled. */
import { Catalogue } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import * as Killable from "../engine/killable.ts"
import { ports } from "../engine/world.ts"
import * as Backed from "../operations/backed.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import * as Minting from "../operations/minting.ts"

const declared = {
  operations: Catalogue.operations,
  fromLedger: Catalogue.fromLedger,
  clocked: Catalogue.collections,
  timely: Catalogue.timely
}
const engineOf = (death?: Killable.Death) =>
  Killable.make(death === undefined ? declared : { ...declared, death })

/** Runs an effect on an engine that does not die. */
const alive = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(effect.pipe(Effect.provide(engineOf().engine)))

/** Runs an engine that dies, and then another that continues; returns the calls of the first. */
const dies = (death: Killable.Death) =>
  Effect.gen(function* () {
    const life = engineOf(death)
    yield* Effect.exit(Effect.scoped(Minting.turn.pipe(Effect.provide(life.engine))))
    // The second turn: tasks of the schedule that are due every minute come first after ten of them.
    yield* alive(
      Effect.gen(function* () {
        yield* TestClock.adjust("10 minutes")
        yield* Minting.turn
        yield* Minting.turn
      })
    )
    return life.calls()
  })

const deposit = 10

/** Kills an engine as a mint starts and as it settles, and as a redemption does; every third is cancelled. */
const plays = (
  scene: Backed.Scene,
  play: { readonly death: Killable.Death; readonly round: number }
) =>
  Effect.gen(function* () {
    const { death, round } = play
    const isCancelled = round % 3 === 2
    const [mintId, redemptionId] = [`m-${round}`, `r-${round}`]
    const asset = scene.usd
    const order = { mintId, asset, deposit }
    const body = { mintId, holderId: "h1", asset: { ...asset }, deposit }
    yield* alive(Calls.openAction("mint.start", { reserveId: "res-1" }, body))
    let calls = yield* dies(death)
    yield* alive(Minting.accepts(scene, order))
    const params = { reserveId: "res-1", mintId }
    if (isCancelled) yield* alive(Calls.openAction("mint.cancel", params, {}))
    calls += yield* dies(death)
    const redeemed = {
      reserveRedemptionId: redemptionId,
      holderId: "h1",
      asset: { ...asset },
      units: deposit
    }
    yield* alive(Calls.openAction("reserve-redemption.start", { reserveId: "res-1" }, redeemed))
    calls += yield* dies(death)
    yield* alive(
      Minting.acceptsRedemption(scene, {
        reserveRedemptionId: redemptionId,
        asset,
        units: deposit
      })
    )
    calls += yield* dies(death)
    return calls
  })

describe("an instance that dies", () => {
  it.effect.each([
    ["before", 1],
    ["after", 2]
  ] as const)(
    "leaves each order done once or not at all, and nothing locked (%s the call)",
    ([side, first]) =>
      Effect.gen(function* () {
        const scene = yield* alive(
          Effect.gen(function* () {
            const scene = yield* Minting.opened({ price: null })
            yield* Minting.mintsFor(scene, { mintId: "m-first", asset: scene.usd, deposit: 1000 })
            return scene
          })
        )
        let units = 1000
        let calls = Number.POSITIVE_INFINITY
        for (let at = 0, round = 0; at <= calls / 4; at = at === 0 ? first : at + 3, round++) {
          // The first run does not die, and counts the calls at which later ones die.
          const death = { at: at === 0 ? Number.POSITIVE_INFINITY : at, side }
          const made = yield* plays(scene, { death, round })
          if (at === 0) calls = made
          yield* alive(
            Effect.gen(function* () {
              const isCancelled = round % 3 === 2
              const about = `at ${at}`
              const { state } = yield* Minting.mint(`m-${round}`)
              assert.strictEqual(state, isCancelled ? "cancelled" : "settled", about)
              assert.strictEqual((yield* Minting.redemption(`r-${round}`)).state, "settled", about)
              units -= isCancelled ? deposit : 0
              assert.strictEqual(yield* Cycles.holds(scene.h1, "fund-a"), String(units), about)
              assert.strictEqual(yield* Cycles.holds(scene.custodian, "USD"), String(units), about)
              const { outstanding } = yield* Backed.reserve()
              assert.strictEqual(Decimal.formatPlain(outstanding), String(units), about)
              assert.deepStrictEqual(yield* Cycles.active(Templates.Allocation), [], about)
              assert.deepStrictEqual(yield* Cycles.active(Templates.SettlementIntent), [], about)
              assert.deepStrictEqual(yield* Cycles.active(Templates.MintOrder), [], about)
              const holdings = yield* Cycles.active(Templates.Holding)
              const locked = holdings.filter(({ payload }) => payload.lock !== null)
              assert.deepStrictEqual(
                locked.map(({ payload }) => payload.lock?.context),
                ["res-1"],
                about
              )
              assert.deepStrictEqual(yield* Fund.surprises, [], about)
            })
          )
        }
        assert.isAtLeast(calls, 20)
      }).pipe(Effect.provide(ports()))
  )
})
