/** Reserves through their operations: proposed by the venue, signed in wallets, closed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Backed from "./backed.ts"
import { world } from "../engine/world.ts"
import * as Calls from "../engine/calls.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

type Needs = Effect.Services<ReturnType<typeof Backed.proposes>>

const engine = () => Effect.provide(world())

describe("a reserve is proposed", () => {
  it.effect("binds nobody until its issuer and its holder have both signed", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      const proposed = yield* Backed.proposes(scene)
      assert.deepStrictEqual([proposed.state, proposed.why], ["succeeded", ""])
      assert.strictEqual((yield* Backed.reserve()).state, "proposed")
      yield* Backed.answers(scene.custodian)
      assert.deepInclude(yield* Backed.reserve(), {
        state: "proposed",
        acceptedBy: [scene.custodian.party]
      })
      yield* Backed.answers(scene.registrar)
      const { reserveCid, state } = yield* Backed.reserve()
      assert.deepStrictEqual([state, reserveCid === null], ["active", false])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  const why = (
    change: (scene: Backed.Scene) => Readonly<Record<string, Calls.Json>>,
    of: {
      readonly instrument?: Readonly<Record<string, Calls.Json>>
      readonly first?: (scene: Backed.Scene) => Effect.Effect<unknown, unknown, Needs>
    } = {}
  ) =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened(of.instrument)
      if (of.first !== undefined) yield* of.first(scene)
      return (yield* Backed.proposes(scene, change(scene))).why
    })

  const cases: ReadonlyArray<readonly [string, ReturnType<typeof why>]> = [
    ["policy not-recorded", why(() => ({}), { instrument: { valuation: "rebasing" } })],
    ["policy unit-is-currency", why(() => ({ unit: "EUR" }))],
    [
      "policy nothing-outstanding",
      why(() => ({}), { first: (scene) => Powers.mints(scene, scene.h1, "5") })
    ],
    ["policy nothing-outstanding", why(() => ({}), { first: (scene) => Fund.market(scene) })],
    [
      "policy one-reserve",
      why(() => ({ reserveId: "res-2" }), { first: (scene) => Backed.proposes(scene) })
    ],
    ["policy holder-is-venue", why(({ venue }) => ({ holder: venue }))],
    [
      "policy own-asset",
      why((scene) => ({ terms: Backed.termsOf({ ...scene, bill: scene.asset }) }))
    ],
    ["policy reserve-decimals", why(() => ({ decimals: 7 }))],
    ["policy initial-share-price", why(() => ({ initialSharePrice: 1.5 }))],
    [
      "policy feasible",
      why((scene) => {
        const { assets, ...terms } = Backed.termsOf(scene)
        return { terms: { ...terms, assets: (assets as ReadonlyArray<Calls.Json>).slice(1) } }
      })
    ]
  ]
  it.effect.each(cases)("never passes the gate %s", ([check, refused]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* refused, `rule-refused ${check}`)
    }).pipe(engine())
  )

  it.effect("never passes the gate policy issuer-is-registrar", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened({ valuation: "par" })
      const custodian = yield* Fund.outsider("custodian")
      const admin = stage.bank.party
      const assets = { usd: { admin, id: "USD" }, bill: { admin, id: "BILL" } }
      const body = Backed.bodyOf({ ...stage, ...assets, custodian })
      const { why: refused } = yield* Calls.write("reserve.propose", {}, body)
      assert.strictEqual(refused, "rule-refused policy issuer-is-registrar")
    }).pipe(engine())
  )

  it.effect("never takes an id that a reserve has", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.proposes(scene)
      assert.strictEqual((yield* Backed.proposes(scene)).why, "already-exists")
    }).pipe(engine())
  )
})
