/** Orders of a rebasing instrument, paid by wire: shown units are ordered, base units move, through every state. */
import { Records, verify } from "@bursar/engine-core"
import { Decimal, type Basis } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import * as RedemptionQueries from "#core/orders/redemption/RedemptionQueries.ts"
import * as SubscriptionQueries from "#core/orders/subscription/SubscriptionQueries.ts"
import { lots } from "#core/instruments/lot/Lot.ts"
import * as MovementQueries from "#core/overviews/register/MovementQueries.ts"
import * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { again, forgets, recordsAgain } from "./again.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Rebasing from "./rebasing.ts"
import * as Reports from "./reports.ts"
import * as Venue from "./venue.ts"

const engine = () => Effect.provide(world())
const text = (figure: Decimal.Decimal | null) =>
  figure === null ? null : Decimal.formatPlain(figure)

const ofSubscription = (id: string) =>
  Effect.map(
    Venue.read(SubscriptionQueries.get, { subscriptionId: id as never }),
    ({ value }) => value
  )
const ofRedemption = (id: string) =>
  Effect.map(Venue.read(RedemptionQueries.get, { redemptionId: id as never }), ({ value }) => value)

/** Every figure that a basis is given for, recomputed from it. */
const verified = (order: { readonly basis: ReadonlyArray<Basis.Basis> }) =>
  Object.fromEntries(
    order.basis.map((basis) => [
      `${basis.formula} ${basis.field}`,
      Result.match(verify(basis), {
        onFailure: (fault) => fault,
        onSuccess: (figure) => Decimal.formatPlain(Decimal.of(figure))
      })
    ])
  )

/** The holder's units in register, portfolio, lots and the last month of the statement. */
const shown = (holderId = "h1") =>
  Effect.gen(function* () {
    const register = yield* Venue.register({ instrumentId: "fund-a" as never })
    const line = register.value.lines.find((found) => found.holderId === holderId)
    const { value: rows } = yield* Venue.read(PortfolioQueries.portfolio, {
      holderId: Reports.holderIdOf(holderId)
    })
    const months = yield* Reports.statements(holderId)
    const records = yield* Records
    const left = yield* Stream.runCollect(records.stream(lots, {}))
    return {
      register: text(line?.units ?? Decimal.zero),
      portfolio: text(rows[0]?.units ?? Decimal.zero),
      statement: text(months.at(-1)?.instruments[0]?.closing ?? Decimal.zero),
      base: text(Decimal.sum(left.map(({ record }) => record.remaining)))
    }
  })

const movements = Effect.map(
  Venue.list(MovementQueries.ofInstrument, { instrumentId: "fund-a" as never }),
  ({ value }) =>
    value
      .filter(({ kind }) => kind !== "lock" && kind !== "unlock")
      .map(({ kind, units }) => `${kind} ${text(units)}`)
)

describe("G44: an order of a rebasing instrument", () => {
  it.effect(
    "never moves another number of base units than the index makes of what is ordered",
    () =>
      Effect.gen(function* () {
        const scene = yield* Rebasing.opened()
        yield* Rebasing.indexed(scene, "1.7", "2026-07-31T11:00:00Z")
        const previewed = yield* Rebasing.prechecks("subscription.claim", {
          amount: Decimal.of("1000")
        })
        assert.deepStrictEqual(previewed.figures, {
          price: "1",
          index: "1.7",
          units: "995",
          baseUnits: "585.2941176471",
          cash: "1000",
          fee: "5",
          refund: "0",
          policyVersion: "1"
        })
        const claimed = yield* Rebasing.claims("subscription", "s1", { amount: 1000 })
        assert.strictEqual(claimed.why, "")
        assert.deepStrictEqual(yield* Rebasing.prices(scene), ["attest"])
        const priced = yield* ofSubscription("s1")
        assert.deepInclude(priced, {
          state: "priced",
          price: Decimal.one,
          index: Decimal.of("1.7"),
          units: Decimal.of("995"),
          baseUnits: Decimal.of("585.2941176471"),
          fee: Decimal.of("5")
        })
        assert.strictEqual(priced.lot?.basePrice, Decimal.of("1.7"))
        assert.deepStrictEqual(verified(priced), {
          "subscribe-amount fee": "5",
          "subscribe-amount units": "995",
          "subscribe-amount residual": "0",
          "subscribe-amount refund": "0",
          "rebase-take baseUnits": "585.2941176471"
        })
        assert.deepStrictEqual(yield* Rebasing.buys(scene, "s1"), [])
        assert.deepStrictEqual(yield* shown(), {
          register: "995",
          portfolio: "995",
          statement: "995",
          base: "585.2941176471"
        })

        yield* Cycles.at("2026-08-03T12:00:00Z")
        yield* Rebasing.indexed(scene, "1.7314", "2026-08-03T11:00:00Z")
        assert.strictEqual((yield* shown()).register, "1013.378235")
        yield* Rebasing.claims("redemption", "r1", { units: 500 })
        assert.deepStrictEqual(yield* Rebasing.prices(scene), ["price-redemption"])
        const part = yield* ofRedemption("r1")
        assert.deepInclude(part, {
          state: "priced",
          units: Decimal.of("500"),
          baseUnits: Decimal.of("288.7836432944"),
          proceeds: Decimal.of("497.5"),
          fee: Decimal.of("2.5")
        })
        assert.deepStrictEqual(verified(part), {
          "redeem-units proceeds": "497.5",
          "redeem-units fee": "2.5",
          "rebase-take baseUnits": "288.7836432944"
        })
        assert.deepStrictEqual(yield* Rebasing.sells(scene, "r1"), [])
        assert.deepStrictEqual(yield* shown(), {
          register: "513.378235",
          portfolio: "513.378235",
          statement: "513.378235",
          base: "296.5104743527"
        })

        yield* Rebasing.claims("redemption", "r2", { units: 513.378235 })
        yield* Rebasing.prices(scene)
        const all = yield* ofRedemption("r2")
        assert.strictEqual(all.baseUnits, Decimal.of("296.5104743527"))
        assert.deepStrictEqual(verified(all), {
          "rebase-show units": "513.378235",
          "redeem-units proceeds": "510.81",
          "redeem-units fee": "2.57"
        })
        assert.deepStrictEqual(yield* Rebasing.sells(scene, "r2"), [])
        assert.deepStrictEqual(yield* shown(), {
          register: "0",
          portfolio: "0",
          statement: "0",
          base: "0"
        })
        assert.deepStrictEqual(yield* movements, [
          "subscription 585.2941176471",
          "redemption 288.7836432944",
          "redemption 296.5104743527"
        ])
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(engine())
  )
})

/** A holder with 585.2941176471 base units, bought at 1.7. */
const endowed = (change: Rebasing.Terms = {}) =>
  Effect.gen(function* () {
    const scene = yield* Rebasing.opened(change)
    yield* Rebasing.indexed(scene, "1.7", "2026-07-31T11:00:00Z")
    yield* Rebasing.claims("subscription", "s1", { amount: 1000 })
    yield* Rebasing.prices(scene)
    assert.deepStrictEqual(yield* Rebasing.buys(scene, "s1"), [])
    return scene
  })

describe("all of a holding", () => {
  it.effect("is burned whole by the amount that it is worth, and leaves no dust", () =>
    Effect.gen(function* () {
      const scene = yield* endowed()
      yield* Cycles.at("2026-08-03T12:00:00Z")
      yield* Rebasing.indexed(scene, "1.7314", "2026-08-03T11:00:00Z")
      // ⌊1013.378235·0.995⌋ cents; 1008.31/0.995 is 1013.376885 units.
      const worth = { amount: 1008.31 }
      const previewed = yield* Rebasing.prechecks("redemption.claim", {
        amount: Decimal.of("1008.31")
      })
      assert.deepStrictEqual(previewed.refusing, [])
      assert.strictEqual(previewed.figures?.["baseUnits"], "585.2941176471")
      yield* Rebasing.claims("redemption", "r1", worth)
      yield* Rebasing.prices(scene)
      const priced = yield* ofRedemption("r1")
      assert.deepInclude(priced, {
        units: Decimal.of("1013.378235"),
        baseUnits: Decimal.of("585.2941176471"),
        proceeds: Decimal.of("1008.31")
      })
      assert.deepStrictEqual(verified(priced), {
        "rebase-show units": "1013.378235",
        "redeem-units proceeds": "1008.31",
        "redeem-units fee": "5.07"
      })
      assert.deepStrictEqual(yield* Rebasing.sells(scene, "r1"), [])
      assert.strictEqual((yield* shown()).base, "0")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("is what other open orders leave free, at the index that prices it", () =>
    Effect.gen(function* () {
      const scene = yield* endowed()
      yield* Rebasing.claims("redemption", "r1", { units: 500 })
      assert.deepStrictEqual(
        (yield* Rebasing.claims("redemption", "r2", { units: 495.000001 })).why,
        "rule-refused units units-free"
      )
      yield* Rebasing.claims("redemption", "r3", { units: 495 })
      yield* Rebasing.prices(scene)
      for (const id of ["r1", "r3"]) {
        assert.deepStrictEqual(yield* Rebasing.sells(scene, id), [])
      }
      assert.strictEqual((yield* shown()).base, "0")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("is ordered units alone where the index moved on before it was priced", () =>
    Effect.gen(function* () {
      const scene = yield* endowed({ pricing: "forward" })
      yield* Rebasing.claims("redemption", "r1", { units: 995 })
      yield* Cycles.at("2026-07-31T20:30:00Z")
      yield* Rebasing.indexed(scene, "1.7314", "2026-07-31T20:00:00Z")
      yield* Rebasing.prices(scene, "forward")
      const priced = yield* ofRedemption("r1")
      assert.deepInclude(priced, {
        index: Decimal.of("1.7314"),
        units: Decimal.of("995"),
        baseUnits: Decimal.of("574.6794501559")
      })
      assert.deepStrictEqual(yield* Rebasing.sells(scene, "r1"), [])
      assert.strictEqual((yield* shown()).register, "18.378235")
    }).pipe(engine())
  )
})

const registers = (
  { stage }: Rebasing.Scene,
  template: typeof Templates.MintRequest | typeof Templates.BurnRequest
) =>
  Effect.flatMap(Fund.newestContract(template), ({ cid }) =>
    stage.registrar.act(Templates.exercise(template, cid, "Reject", {}))
  )

describe("an order of a rebasing instrument, in every state", () => {
  it.effect(
    "is let go before its units are minted, and again asked of a registrar that refused",
    () =>
      Effect.gen(function* () {
        const scene = yield* Rebasing.opened()
        yield* Rebasing.claims("subscription", "s1", { units: 1000 })
        assert.strictEqual((yield* ofSubscription("s1")).orderState, "awaiting-price")
        assert.deepInclude(yield* Rebasing.acts("subscription", "withdraw", { id: "s1" }), {
          why: ""
        })
        assert.deepInclude(yield* ofSubscription("s1"), { state: "withdrawn", baseUnits: null })

        yield* Rebasing.indexed(scene, "1.7", "2026-07-31T11:00:00Z")
        for (const id of ["s2", "s3"]) {
          yield* Rebasing.claims("subscription", id, { units: 1000 })
          yield* Rebasing.prices(scene)
          assert.deepInclude(yield* ofSubscription(id), {
            state: "priced",
            units: Decimal.of("1000"),
            baseUnits: Decimal.of("588.2352941176"),
            fee: Decimal.of("5")
          })
        }
        assert.strictEqual((yield* Rebasing.bought("s2")).cash.expected, Decimal.of("1005"))
        assert.strictEqual((yield* Rebasing.acts("subscription", "release", { id: "s2" })).why, "")
        assert.deepInclude(yield* ofSubscription("s2"), { state: "released" })

        const cash = Rebasing.lines("stmt-1", Decimal.of("1005"))
        const delivered = yield* Rebasing.acts("subscription", "deliver", { id: "s3", cash })
        assert.strictEqual(delivered.why, "")
        const requested = yield* Fund.newestContract(Templates.MintRequest)
        assert.strictEqual(requested.payload["amount"], "588.2352941176")
        yield* registers(scene, Templates.MintRequest)
        assert.strictEqual((yield* Rebasing.acts("subscription", "deliver", { id: "s3" })).why, "")
        yield* Rebasing.registers(scene)
        assert.deepInclude(yield* ofSubscription("s3"), { state: "delivered" })
        assert.strictEqual((yield* Rebasing.acts("subscription", "settle", { id: "s3" })).why, "")
        assert.deepInclude(yield* ofSubscription("s3"), { state: "closed", endedAs: "closed" })
        assert.strictEqual((yield* shown()).register, "1000")
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(engine())
  )

  it.effect("keeps its base units until the burn, and never gives them back after it", () =>
    Effect.gen(function* () {
      const scene = yield* endowed()
      const state = (id: string) => Effect.map(ofRedemption(id), ({ state }) => state)
      const act = (verb: string, id: string) =>
        Effect.map(Rebasing.acts("redemption", verb, { id }), ({ why }) => why)
      yield* Rebasing.claims("redemption", "r1", { units: 100 })
      assert.strictEqual(yield* act("withdraw", "r1"), "")
      yield* Rebasing.claims("redemption", "r2", { units: 100 })
      yield* Rebasing.prices(scene)
      assert.strictEqual(yield* act("release", "r2"), "")
      yield* Rebasing.claims("redemption", "r3", { amount: 995 })
      yield* Rebasing.prices(scene)
      // By amount 995.00/0.995 is 1000 units, and the holder has 995.
      assert.strictEqual(
        yield* Rebasing.sold("r3").pipe(
          Effect.flip,
          Effect.map((refused) => ("slug" in refused ? refused.slug : ""))
        ),
        "not-found"
      )
      yield* Rebasing.claims("redemption", "r4", { amount: 497.5 })
      yield* Rebasing.prices(scene)
      assert.deepInclude(yield* ofRedemption("r4"), {
        units: Decimal.of("500"),
        baseUnits: Decimal.of("294.1176470588"),
        proceeds: Decimal.of("497.5")
      })
      yield* Rebasing.asksBurns(scene)
      assert.strictEqual(yield* state("r4"), "funded")
      yield* registers(scene, Templates.BurnRequest)
      assert.strictEqual(yield* act("release", "r4"), "")
      assert.deepStrictEqual(
        [yield* state("r1"), yield* state("r2"), yield* state("r4")],
        ["withdrawn", "released", "released"]
      )
      assert.strictEqual((yield* shown()).register, "995")

      yield* Rebasing.claims("redemption", "r5", { units: 995 })
      yield* Rebasing.prices(scene)
      yield* Rebasing.asksBurns(scene)
      yield* Rebasing.registers(scene)
      assert.strictEqual(yield* state("r5"), "burned")
      for (const verb of ["withdraw", "release"]) {
        assert.strictEqual(yield* act(verb, "r5"), "state-conflict RedemptionState")
      }
      assert.deepStrictEqual(yield* Rebasing.sells(scene, "r5"), [])
      assert.strictEqual(yield* state("r5"), "settled")
      assert.strictEqual((yield* shown()).base, "0")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("an order of a rebasing instrument that cannot be", () => {
  it.effect("is refused before it is claimed, or claimed and unpriced before the first index", () =>
    Effect.gen(function* () {
      const scene = yield* Rebasing.opened()
      yield* Fund.market(scene.stage)
      const why = (kind: "subscription" | "redemption", terms: Rebasing.Terms) =>
        Effect.map(Rebasing.claims(kind, "x1", terms), (claimed) => claimed.why)
      // No units are held yet.
      assert.strictEqual(yield* why("redemption", { units: 1 }), "rule-refused units units-free")
      yield* Rebasing.claims("subscription", "s1", { amount: 1000 })
      yield* Rebasing.prices(scene)
      assert.deepInclude(yield* ofSubscription("s1"), {
        state: "claimed",
        index: null,
        units: null
      })
      assert.strictEqual(
        (yield* Rebasing.prechecks("subscription.claim", { amount: Decimal.of("1000") })).figures,
        null
      )
      // An index at which the smallest shown unit is a hundredth of the smallest base unit.
      yield* Rebasing.indexed(scene, "1000000", "2026-07-31T11:00:00Z")
      assert.strictEqual(
        yield* why("subscription", { units: 0.000001 }),
        "rule-refused units base-units"
      )
      assert.strictEqual(
        yield* why("subscription", { amount: 0.01 }),
        "rule-refused units too-small"
      )
      for (const kind of ["subscription", "redemption"] as const) {
        const onLedger = { payment: "ledger", orderId: "o1" }
        const precheck = yield* Rebasing.prechecks(`${kind}.claim`, onLedger as never)
        assert.include(precheck.refusing, "policy payment")
      }
      const cycle = yield* Calls.write(
        "dealing-cycle.open",
        { instrumentId: "fund-a" },
        { cycleId: "c1" }
      )
      assert.strictEqual(cycle.why, "rule-refused policy payment")
      const { asset, bank, fund } = scene.stage
      const holder = scene.holders[0]!
      const usd = { admin: bank.party, id: "USD" }
      const openedSettlement = yield* Calls.write(
        "standing-settlement.open",
        {},
        {
          standingSettlementId: "st1",
          instrumentId: "fund-a",
          funding: [
            { party: holder.party, asset: usd, amount: 3000 },
            { party: holder.party, asset, amount: 500 },
            { party: fund.party, asset: usd, amount: 2000 }
          ]
        }
      )
      assert.strictEqual(openedSettlement.why, "rule-refused policy payment")
    }).pipe(engine())
  )

  it.effect("is a finding where an attestor or the oracle signs other base units", () =>
    Effect.gen(function* () {
      const scene = yield* Rebasing.opened()
      yield* Rebasing.indexed(scene, "1.7", "2026-07-31T11:00:00Z")
      yield* Rebasing.claims("subscription", "s1", { amount: 1000 })
      yield* Fund.attests(scene.stage.oracle, "586")
      assert.deepInclude(yield* ofSubscription("s1"), {
        units: Decimal.of("996.2"),
        baseUnits: Decimal.of("586")
      })
      assert.deepStrictEqual(yield* Fund.surprises, [
        "subscription price: 586 units are not what the order buys."
      ])
      assert.deepStrictEqual(verified(yield* ofSubscription("s1")), { "subscribe-amount fee": "5" })
    }).pipe(engine())
  )
})

/** Bank lines of an order's cash. */
const paidBy = (id: string) =>
  Effect.map(Rebasing.bought(id), ({ cash }) =>
    Rebasing.lines(Bank.credits, cash.expected ?? Decimal.zero)
  )

/** The registrar mints the units of an order whose cash has come. */
const delivers = (scene: Rebasing.Scene) =>
  Effect.gen(function* () {
    yield* Rebasing.acts("subscription", "deliver", { id: "o1", cash: yield* paidBy("o1") })
    yield* Rebasing.registers(scene)
  })

/** After a bootstrap the bank's lines are named again, for the engine has lost them. */
const closes = () =>
  Effect.gen(function* () {
    const { cash } = yield* Rebasing.bought("o1")
    const again = Decimal.isZero(cash.matched) ? { cash: yield* paidBy("o1") } : {}
    assert.strictEqual(
      (yield* Rebasing.acts("subscription", "settle", { id: "o1", ...again })).why,
      ""
    )
  })

/** Acts on an order, one after the other, each with the state that it leaves the order in. */
const walks = {
  subscription: [
    ["claimed", () => Rebasing.claims("subscription", "o1", { amount: 1000 })],
    ["priced", Rebasing.prices],
    ["delivered", delivers],
    ["closed", closes]
  ],
  redemption: [
    ["claimed", () => Rebasing.claims("redemption", "o1", { units: 500 })],
    ["priced", Rebasing.prices],
    ["funded", Rebasing.asksBurns],
    ["settled", (scene: Rebasing.Scene) => Rebasing.sells(scene, "o1")]
  ]
} as const

const orderOf = (kind: keyof typeof walks) =>
  kind === "subscription" ? ofSubscription("o1") : ofRedemption("o1")

const begunAgain = [
  ["subscription", 1],
  ["subscription", 2],
  ["subscription", 3],
  ["redemption", 1],
  ["redemption", 2],
  ["redemption", 3]
] as const

describe("an order of a rebasing instrument that a snapshot of the ledger shows", () => {
  it.effect.each(begunAgain)(
    "has the index and base units that it had, and ends as one that never stopped: %s after act %i",
    ([kind, acted]) =>
      Effect.gen(function* () {
        const scene = yield* endowed()
        const acts = walks[kind]
        const state = acts[acted - 1]![0]
        yield* Cycles.at("2026-08-03T12:00:00Z")
        yield* Rebasing.indexed(scene, "1.7314", "2026-08-03T11:00:00Z")
        for (const [, does] of acts.slice(0, acted)) yield* does(scene)
        const before = yield* orderOf(kind)
        assert.strictEqual(before.state, state)
        yield* forgets
        yield* Effect.gen(function* () {
          yield* Calls.settle
          const recorded = yield* recordsAgain(scene.stage, Rebasing.terms)
          assert.strictEqual(recorded.why, "")
          yield* Bank.opens()
          const found = yield* orderOf(kind)
          const { baseUnits, index, price, units } = before
          assert.deepInclude(found, { state, recovered: true, baseUnits, index, price, units })
          for (const [, does] of acts.slice(acted)) yield* does(scene)
          const ended = yield* orderOf(kind)
          assert.strictEqual(ended.state, acts.at(-1)![0])
          assert.strictEqual(
            text(ended.baseUnits),
            kind === "subscription" ? "574.6794501559" : "288.7836432944"
          )
          for (const figure of Object.values(verified(ended))) assert.match(figure, /^[0-9.]+$/u)
          const [base, worth] =
            kind === "subscription"
              ? ["1159.973567803", "2008.378235"]
              : ["296.5104743527", "513.378235"]
          assert.deepStrictEqual(yield* shown(), {
            ...{ register: worth, portfolio: worth, statement: worth },
            base
          })
          assert.deepStrictEqual(yield* Fund.surprises, [])
        }).pipe(Effect.provide(yield* again))
      }).pipe(engine())
  )
})

describe("the register of a rebasing instrument", () => {
  it.effect("never shows pending units at another index than its lines", () =>
    Effect.gen(function* () {
      const scene = yield* endowed()
      // Another dealing day, on which two orders wait for the next index.
      yield* Cycles.at("2026-08-03T11:00:00Z")
      yield* Rebasing.claims("subscription", "s2", { amount: 1000 })
      yield* Rebasing.claims("redemption", "r1", { units: 500 })
      yield* Rebasing.prices(scene)
      assert.deepInclude(yield* ofSubscription("s2"), { price: Decimal.one, state: "priced" })
      assert.deepStrictEqual(yield* Fund.surprises, [])
      yield* Cycles.at("2026-08-03T12:00:00Z")
      yield* Rebasing.indexed(scene, "1.7314", "2026-08-03T11:00:00Z")
      const { value } = yield* Venue.register({ instrumentId: "fund-a" as never })
      assert.deepInclude(value.lines[0], {
        units: Decimal.of("1013.378235"),
        pendingIn: Decimal.of("1013.378235"),
        pendingOut: Decimal.of("509.235294")
      })
    }).pipe(engine())
  )
})
