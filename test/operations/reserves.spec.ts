/** Reserves through their operations: proposed by the venue, signed in wallets, closed. */
import { Queries, verify } from "@bursar/engine-core"
import { Decimal, Duration } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as ProposalQueries from "#core/overviews/ProposalQueries.ts"
import * as ReserveQueries from "#core/reserves/reserve/ReserveQueries.ts"
import * as SupposedPrices from "#core/reserves/reserve/SupposedPrices.ts"
import * as Backed from "./backed.ts"
import { world } from "../engine/world.ts"
import * as Calls from "../engine/calls.ts"
import * as Fund from "./fund.ts"
import { rebasingTerms } from "./instrumentBody.ts"
import * as Powers from "./powers.ts"
import * as Venue from "./venue.ts"

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
    options: {
      readonly instrument?: Readonly<Record<string, Calls.Json>>
      readonly first?: (scene: Backed.Scene) => Effect.Effect<unknown, unknown, Needs>
    } = {}
  ) =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened(options.instrument)
      if (options.first !== undefined) yield* options.first(scene)
      return (yield* Backed.proposes(scene, change(scene))).why
    })

  const cases: ReadonlyArray<readonly [string, ReturnType<typeof why>]> = [
    ["policy not-recorded", why(() => ({}), { instrument: rebasingTerms })],
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

  it.effect("never has a figure out of its range, and has those at its edges", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      for (const change of [
        { initialSharePrice: 0 },
        { initialSharePrice: 10_000_000_000 },
        { decimals: -1 },
        { decimals: 11 }
      ]) {
        assert.strictEqual((yield* Backed.proposes(scene, change)).why, "invalid-request")
      }
      const largest = { initialSharePrice: 9_999_999_999 }
      assert.strictEqual(
        (yield* Backed.proposes(scene, largest)).why,
        "rule-refused policy initial-share-price"
      )
      assert.strictEqual((yield* Backed.proposes(scene, { decimals: 0 })).why, "")
      const { loosenDelay, priceDecimals } = yield* Backed.reserve()
      assert.deepStrictEqual([loosenDelay, priceDecimals], [Duration.hours(24), Decimal.places])
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

describe("what-if figures of a reserve", () => {
  const ask = (price: ReadonlyArray<string>, more: object = {}) =>
    Effect.flatMap(Queries, (queries) =>
      queries.one(ReserveQueries.get, {
        caller: Venue.auditor,
        params: Schema.decodeUnknownSync(ReserveQueries.get.params)({
          reserveId: "res-1",
          ...(price.length === 0 ? {} : { price }),
          ...more
        }),
        point: {}
      })
    )
  const figures = (price: ReadonlyArray<string>) =>
    Effect.map(ask(price), ({ value: { assets, basis, counted, cover, mintable } }) => {
      const [, bill] = assets
      if (bill === undefined) throw new Error("no bill")
      const { fresh, pointCid } = bill
      for (const one of basis) assert.isTrue(Result.isSuccess(verify(one)), one.field)
      return {
        figures: [bill.value, counted, mintable].map(Decimal.formatPlain),
        state: cover.state,
        ...{ fresh, isSupposed: pointCid === null }
      }
    })

  it.effect("are those that a published price gives, and change nothing", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      const { bill, bank, usd } = scene
      yield* Backed.locked(scene, { asset: usd, amount: "100" })
      yield* Backed.locked(scene, { asset: bill, amount: "100" })
      const named = `${bank.party}/BILL=`
      const nothing = yield* figures([])
      assert.deepInclude(nothing, { figures: ["0", "100", "100"], fresh: false })
      const supposed = yield* figures([`${named}0.5`])
      // 50 less the haircut of 5 %; the cap is a share of what is required, and nothing is.
      assert.deepStrictEqual(supposed, {
        figures: ["47.5", "100", "147.5"],
        state: "covered",
        ...{ fresh: true, isSupposed: true }
      })
      assert.deepStrictEqual(yield* figures([]), nothing)
      yield* Backed.prices(scene, "0.5")
      assert.deepStrictEqual(yield* figures([]), { ...supposed, isSupposed: false })
      assert.deepStrictEqual((yield* figures([`${named}0.25`])).figures, ["23.75", "100", "123.75"])
    }).pipe(engine())
  )

  it.effect(
    "are refused for an asset that no point prices, for one named twice, and for no version",
    () =>
      Effect.gen(function* () {
        const scene = yield* Backed.opened()
        yield* Backed.reserved(scene)
        const admin = scene.bank.party
        const bill = `${admin}/BILL=1`
        for (const price of [[`${admin}/USD=1`], [`${admin}/GOLD=1`], [bill, bill]]) {
          assert.strictEqual(yield* Venue.refusal(ask(price)), "invalid-request")
        }
        assert.strictEqual(yield* Venue.refusal(ask([], { policyVersion: "7" })), "not-found")
        assert.strictEqual(yield* Venue.refusal(ask([bill], { policyVersion: "1" })), "no refusal")
      }).pipe(engine())
  )
  for (const text of ["BILL=1", "/BILL=1", "bank/=1", "bank/BILL", "bank/BILL=0", "bank/BILL=x"]) {
    it(`are never asked by ${text}`, () => {
      const decoded = Schema.decodeUnknownResult(SupposedPrices.schema)([text])
      assert.isTrue(Result.isFailure(decoded))
    })
  }
})

describe("the list of proposals", () => {
  const waiting = Effect.map(
    Venue.list(ProposalQueries.list, { kind: ["reserve", "lock-agreement", "amendment"] }),
    ({ value }) =>
      value.map(({ awaiting, instrumentId, kind, resource }) => [
        `${kind} ${resource.kind} ${resource.id} ${instrumentId ?? "-"}`,
        ...awaiting
      ])
  )

  it.effect("names those who have still to sign a reserve, a lock agreement, an amendment", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      const { bank, custodian, registrar, usd } = scene
      yield* Backed.proposes(scene)
      const reserve = "reserve reserve res-1 fund-a"
      assert.deepStrictEqual(yield* waiting, [[reserve, registrar.party, custodian.party]])
      yield* Backed.answers(custodian)
      assert.deepStrictEqual(yield* waiting, [[reserve, registrar.party]])
      yield* Backed.answers(registrar)
      assert.deepStrictEqual(yield* waiting, [])
      yield* Backed.proposesLock({ asset: usd, id: "res-1" })
      const lock = "lock-agreement lock-agreement res-1 fund-a"
      assert.deepStrictEqual(yield* waiting, [[lock, bank.party]])
      yield* Backed.signsLock(bank, "res-1")
      assert.deepStrictEqual(yield* waiting, [[lock, custodian.party]])
      yield* Backed.releasesLock("res-1")
      assert.deepStrictEqual(yield* waiting, [])
      const terms = Backed.termsOf(scene, { haircut: 0.1 })
      const body = { amendmentId: "am-1", terms }
      const proposed = yield* Calls.write("amendment.propose", { reserveId: "res-1" }, body)
      assert.strictEqual(proposed.why, "")
      assert.deepStrictEqual(yield* waiting, [["amendment amendment am-1 fund-a", registrar.party]])
    }).pipe(engine())
  )

  it.effect(
    "names a party once that is issuer and holder, or holder and registrar of the asset",
    () =>
      Effect.gen(function* () {
        const scene = yield* Backed.opened()
        const { party } = scene.registrar
        const gold = { admin: party, id: "GOLD" }
        const bars = { asset: gold, priceSource: null, freshness: null, haircut: 0, maxShare: null }
        const terms = { minCover: 1, assets: [bars] }
        assert.strictEqual((yield* Backed.proposes(scene, { holder: party, terms })).why, "")
        assert.deepStrictEqual(yield* waiting, [["reserve reserve res-1 fund-a", party]])
        yield* Backed.answers(scene.registrar)
        assert.deepInclude(yield* Backed.reserve(), { state: "active", acceptedBy: [party] })
        assert.strictEqual((yield* Backed.proposesLock({ asset: gold, id: "lk-1" })).why, "")
        assert.deepStrictEqual(yield* waiting, [
          ["lock-agreement lock-agreement lk-1 fund-a", party]
        ])
        yield* Backed.signsLock(scene.registrar, "lk-1")
        const agreement = yield* Backed.lockAgreement("lk-1")
        assert.deepInclude(agreement, { state: "active", acceptedBy: [party] })
        assert.deepStrictEqual([yield* waiting, yield* Fund.surprises], [[], []])
      }).pipe(engine())
  )
})
