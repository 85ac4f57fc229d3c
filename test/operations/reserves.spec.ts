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

describe("a backed instrument", () => {
  const fundA = { instrumentId: "fund-a" }
  const order = { ...fundA, holderId: "h1", payment: "wire" }
  const funding = ({ h1, usd }: Backed.Scene) => [{ party: h1.party, asset: { ...usd }, amount: 1 }]
  const acts = (scene: Backed.Scene): ReadonlyArray<Parameters<typeof Calls.write>> => [
    ["subscription.claim", {}, { ...order, subscriptionId: "s1", amount: 100 }],
    ["redemption.claim", {}, { ...order, redemptionId: "r1", units: 1 }],
    ["dealing-cycle.open", {}, fundA],
    ["standing-settlement.open", {}, { ...fundA, funding: funding(scene) }],
    [
      "primary-market.propose",
      fundA,
      {
        fund: scene.fund.party,
        paymentAsset: { ...scene.usd },
        terms: { attestors: [scene.attestor.party], required: 1 }
      }
    ]
  ]
  const refusals = (scene: Backed.Scene) =>
    Effect.forEach(acts(scene), (act) => Effect.map(Calls.write(...act), ({ why }) => why))
  const backed = "rule-refused policy backed"

  it.effect("takes no order, cycle, settlement or market from the proposal of its reserve on", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.proposes(scene)
      assert.deepStrictEqual([...new Set(yield* refusals(scene))], [backed])
      yield* Backed.answers(scene.registrar)
      yield* Backed.answers(scene.custodian)
      assert.deepStrictEqual([...new Set(yield* refusals(scene))], [backed])
    }).pipe(engine())
  )

  const ends: ReadonlyArray<
    readonly [string, (scene: Backed.Scene) => Effect.Effect<unknown, unknown, Needs>]
  > = [
    ["declined", (scene) => Backed.answers(scene.custodian, "Decline")],
    ["taken back", () => Backed.closes()],
    [
      "closed",
      (scene) =>
        Effect.gen(function* () {
          yield* Backed.answers(scene.registrar)
          yield* Backed.answers(scene.custodian)
          yield* Backed.closes()
        })
    ]
  ]
  it.effect.each(ends)("takes orders again once its reserve is %s", ([_, end]) =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.proposes(scene)
      yield* end(scene)
      const whys = yield* refusals(scene)
      assert.notInclude(whys, backed)
      assert.deepStrictEqual([whys[0], whys[4]], ["", ""])
    }).pipe(engine())
  )
})
