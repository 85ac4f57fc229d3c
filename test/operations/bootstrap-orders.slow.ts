/** A venue that begins again on a ledger that has forgotten: orders go on to their end from each of their states. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Struct } from "effect"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { pricePoints } from "#core/instruments/price/PricePoint.ts"
import { policyVersions } from "#core/instruments/policy/PolicyVersion.ts"
import { dealingDays, idOf as dayOf } from "#core/orders/dealing-cycle/DealingDay.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { firstOf } from "../long-run.ts"
import { all, instance, type Sight } from "./away.ts"
import { again, forgets, recordsAgain } from "./again.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import { recordsTerms } from "./terms-again.ts"

const price = "1.0437"
const valued = "2026-07-31T20:30:00Z"
/** Terms that the venue records before and after: two attestors price, and fees are taken. */
const terms = { fees: { subscription: 0.005, redemption: 0.005 } }

interface Scene {
  readonly stage: Fund.Parties
  readonly holder: Cycles.Holder
  readonly other: Cycles.Holder
}

/** A market, two holders with cash and units, and a fund with cash; July 31, before the cut-off. */
const begins = (withMarket: boolean) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened({ holderCap: 100, ...terms })
    if (withMarket) yield* Fund.market(stage)
    const [holder, other] = [yield* Cycles.joins(stage, "h1"), yield* Cycles.joins(stage, "h2")]
    for (const { party } of [holder, other]) {
      const credential = (yield* Cycles.active(Templates.Credential)).find(
        ({ payload }) => payload.holder === party
      )
      yield* stage.registrar.act(
        Templates.exercise(Templates.Credential, credential!.cid, "Receive", {
          amount: Decimal.of("1000"),
          reference: { kind: "opening", id: `o-${party}` },
          configurationCid: null
        })
      )
    }
    yield* Cycles.paysIn(stage, stage.fund, "5000")
    return { stage, holder, other } satisfies Scene
  })

const claims =
  (kind: "subscription" | "redemption", members: Readonly<Record<string, Calls.Json>>) => () =>
    done(
      Calls.write(
        `${kind}.claim`,
        {},
        { [`${kind}Id`]: "o1", instrumentId: "fund-a", holderId: "h1", payment: "wire", ...members }
      )
    )

const done = <E, R>(ended: Effect.Effect<Calls.Ended, E, R>) =>
  Effect.map(ended, ({ state, why }) => assert.strictEqual(`${state} ${why}`, "succeeded "))

const acts =
  (kind: "subscription" | "redemption", verb: string, body: Calls.Json = {}, id = "o1") =>
  () =>
    done(Calls.write(`${kind}.${verb}`, { [`${kind}Id`]: id }, body))

const signs =
  (
    kind: "subscription" | "redemption",
    options: { readonly amount?: string; readonly units?: string; readonly id?: string }
  ) =>
  ({ holder, stage }: Scene) =>
    holder.act(
      Templates.create(
        kind === "subscription" ? Templates.SubscriptionOrder : Templates.RedemptionOrder,
        {
          venue: stage.venue,
          fund: stage.fund.party,
          holder: holder.party,
          orderId: `order-${options.id ?? "o1"}`,
          instrument: stage.asset,
          paymentAsset: Cycles.cash(stage),
          amount: options.amount === undefined ? null : Decimal.of(options.amount),
          units: options.units === undefined ? null : Decimal.of(options.units),
          expiresAt: null,
          ...(kind === "redemption" ? { custodian: null } : {})
        } as never
      )
    )

const publishes = ({ stage }: Scene) =>
  Effect.andThen(Cycles.at(valued), Fund.publishes(stage, price, valued, [stage.attestor.party]))

const attests =
  (units: string, by: "attestor" | "oracle" = "attestor") =>
  ({ stage }: Scene) =>
    Fund.attests(stage[by], units, price)

const prices =
  (redemption: { readonly units: string; readonly proceeds: string; readonly id?: string }) =>
  ({ stage }: Scene) =>
    Cycles.pays(stage, { id: "o1", price, ...redemption })

/** The bank's lines for an order; after a bootstrap they are named again, for the engine has lost them. */
const paysBy = (kind: "subscription" | "redemption", verb: string, amount: number) => (_: Scene) =>
  acts(kind, verb, {
    cash: [{ statementId: kind === "subscription" ? Bank.credits : Bank.debits, line: 1, amount }]
  })()

const closes = (amount: number) => (scene: Scene) =>
  Effect.flatMap(Cycles.subscription("o1"), ({ cash }) =>
    Decimal.isZero(cash.matched)
      ? paysBy("subscription", "settle", amount)(scene)
      : acts("subscription", "settle")()
  )

const mints = ({ holder, stage }: Scene) =>
  Effect.gen(function* () {
    const { cid } = yield* Fund.newestContract(Templates.MintRequest)
    const credential = (yield* Cycles.active(Templates.Credential)).find(
      ({ payload }) => payload.holder === holder.party
    )
    yield* stage.registrar.act(
      Templates.exercise(Templates.MintRequest, cid, "Accept", {
        credentialCid: credential!.cid,
        configurationCid: null
      })
    )
  })

const requestsBurn =
  (amount: string) =>
  ({ holder }: Scene) =>
    Effect.gen(function* () {
      const held = (yield* Cycles.active(Templates.Holding)).find(
        ({ payload }) => payload.owner === holder.party && payload.instrument.id === "fund-a"
      )
      yield* holder.act(
        Templates.exercise(Templates.Holding, held!.cid, "RequestBurn", {
          amount: Decimal.of(amount),
          reference: { kind: "redemption", id: "o1" },
          custodian: null,
          executeBefore: Instant.of("2026-09-01T00:00:00Z")
        })
      )
    })

const burns = ({ stage }: Scene) =>
  Effect.flatMap(Fund.newestContract(Templates.BurnRequest), ({ cid }) =>
    stage.registrar.act(Templates.exercise(Templates.BurnRequest, cid, "Accept", {}))
  )

const locks =
  (
    by: "holder" | "fund",
    payment: { readonly assetId: string; readonly amount: string; readonly reference?: string }
  ) =>
  ({ holder, stage }: Scene) =>
    Cycles.allocates(stage, by === "holder" ? holder : stage.fund, {
      reference: "o1",
      ...payment,
      to: by === "holder" ? stage.fund : holder
    })

type Step = readonly [
  state: string,
  does: (scene: Scene) => Effect.Effect<unknown, unknown, unknown>
]

interface Story {
  readonly name: string
  readonly kind: "subscription" | "redemption"
  readonly end: string
  readonly withMarket?: false
  /** Steps in their order, each with the state that it leaves the order in. */
  readonly steps: ReadonlyArray<Step>
}

const stories: ReadonlyArray<Story> = [
  {
    name: "a subscription by amount, paid by wire",
    kind: "subscription",
    end: "closed",
    steps: [
      ["claimed", claims("subscription", { amount: 1000 })],
      ["claimed after the point", publishes],
      ["priced", attests("953.339082")],
      ["delivered", paysBy("subscription", "deliver", 1000)],
      ["closed", closes(1000)]
    ]
  },
  {
    name: "a subscription by units, paid by wire and minted by request",
    kind: "subscription",
    end: "closed",
    withMarket: false,
    steps: [
      ["claimed", claims("subscription", { units: 100 })],
      ["claimed after the point", publishes],
      ["priced", attests("100", "oracle")],
      ["priced, its mint requested", paysBy("subscription", "deliver", 104.9)],
      ["delivered", mints],
      ["closed", closes(104.9)]
    ]
  },
  {
    name: "a subscription by amount, paid on the ledger",
    kind: "subscription",
    end: "closed",
    steps: [
      ["with cash", ({ holder, stage }) => Cycles.paysIn(stage, holder, "1000")],
      ["signed", signs("subscription", { amount: "1000" })],
      ["claimed", claims("subscription", { payment: "ledger", orderId: "order-o1" })],
      [
        "claimed and allocated by the holder's own id",
        locks("holder", { assetId: "USD", amount: "1000", reference: "order-o1" })
      ],
      ["claimed after the point", publishes],
      ["priced", attests("953.339082")],
      ["closed", acts("subscription", "settle")]
    ]
  },
  {
    name: "a subscription by units, paid on the ledger",
    kind: "subscription",
    end: "closed",
    steps: [
      ["with cash", ({ holder, stage }) => Cycles.paysIn(stage, holder, "1000")],
      ["signed", signs("subscription", { units: "100" })],
      ["claimed", claims("subscription", { payment: "ledger", orderId: "order-o1" })],
      ["claimed after the point", publishes],
      ["priced", attests("100")],
      ["priced and allocated", locks("holder", { assetId: "USD", amount: "104.9" })],
      ["closed", acts("subscription", "settle")]
    ]
  },
  {
    name: "a subscription that is withdrawn",
    kind: "subscription",
    end: "withdrawn",
    steps: [
      ["claimed", claims("subscription", { amount: 1000 })],
      ["withdrawn", acts("subscription", "withdraw")]
    ]
  },
  {
    name: "a subscription that is released with its cash",
    kind: "subscription",
    end: "released",
    steps: [
      ["with cash", ({ holder, stage }) => Cycles.paysIn(stage, holder, "1000")],
      ["signed", signs("subscription", { amount: "1000" })],
      ["claimed", claims("subscription", { payment: "ledger", orderId: "order-o1" })],
      ["claimed and allocated", locks("holder", { assetId: "USD", amount: "1000" })],
      ["claimed after the point", publishes],
      ["priced", attests("953.339082")],
      ["released", acts("subscription", "release")]
    ]
  },
  {
    name: "a redemption by units, paid by wire",
    kind: "redemption",
    end: "settled",
    steps: [
      ["claimed", claims("redemption", { units: 600 })],
      ["claimed after the point", publishes],
      ["priced", prices({ units: "600", proceeds: "623.08" })],
      ["funded", requestsBurn("600")],
      [
        "settled",
        (scene) => Effect.andThen(burns(scene), paysBy("redemption", "settle", 623.08)(scene))
      ]
    ]
  },
  {
    name: "a redemption by amount, paid on the ledger",
    kind: "redemption",
    end: "settled",
    steps: [
      ["signed", signs("redemption", { amount: "500" })],
      ["claimed", claims("redemption", { payment: "ledger", orderId: "order-o1" })],
      ["claimed and paid for", locks("fund", { assetId: "USD", amount: "500" })],
      ["claimed after the point", publishes],
      ["priced", prices({ units: "481.472227", proceeds: "500" })],
      ["priced and allocated", locks("holder", { assetId: "fund-a", amount: "481.472227" })],
      ["settled", acts("redemption", "settle")]
    ]
  },
  {
    name: "a redemption that is withdrawn",
    kind: "redemption",
    end: "withdrawn",
    steps: [
      ["claimed", claims("redemption", { units: 600 })],
      ["withdrawn", acts("redemption", "withdraw")]
    ]
  },
  {
    name: "a redemption that is released with what is set aside",
    kind: "redemption",
    end: "released",
    steps: [
      ["signed", signs("redemption", { units: "500" })],
      ["claimed", claims("redemption", { payment: "ledger", orderId: "order-o1" })],
      ["claimed after the point", publishes],
      ["priced", prices({ units: "500", proceeds: "519.24" })],
      ["priced and allocated", locks("holder", { assetId: "fund-a", amount: "500" })],
      ["released", acts("redemption", "release")]
    ]
  }
]

const orderOf = ({ kind }: Story) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(
      kind === "subscription"
        ? records.find(subscriptions, "o1")
        : Effect.map(records.find(redemptions, "o1"), (found) => found as never),
      (found) => Option.getOrNull(found as Option.Option<object>)
    )
  )

/**
 * Members of an order that its contracts on the ledger do not state, or that only the venue's store
 * had.
 */
const unknown = [
  "version",
  "createdAt",
  "updatedAt",
  "claimedAt",
  "pricedAt",
  "deliveredAt",
  "fundedAt",
  "attestors",
  // The bank's lines are records of the venue.
  "cash",
  "lot",
  "attesting",
  "recovered",
  "settleBy"
] as const

const comparable = (order: object | null): object | null =>
  order === null ? null : Struct.omit(order as Record<string, unknown>, unknown as never)

const dayAgain = (story: Story) =>
  Effect.gen(function* () {
    const order = (yield* orderOf(story)) as Parameters<typeof dayOf>[0] | null
    if (order === null) return null
    const day = yield* Effect.flatMap(Records, (records) => records.find(dealingDays, dayOf(order)))
    return Option.match(day, {
      onNone: () => null,
      onSome: ({ orders, ordered, dealt }) => ({ orders, ordered, isDealt: dealt !== null })
    })
  })

const cases = stories.flatMap((story) =>
  story.steps.slice(0, -1).map(([state], nth) => ({
    name: `${story.name}, ${state}`,
    story,
    before: story.steps.slice(0, nth + 1),
    after: story.steps.slice(nth + 1)
  }))
)

const walk = (steps: ReadonlyArray<Step>, scene: Scene) =>
  Effect.forEach(steps, ([, does]) => does(scene), { discard: true }) as Effect.Effect<void>

const everybody = ({ holder, other, stage }: Scene) =>
  Effect.forEach([holder, other, stage.fund], (who) =>
    Effect.zip(Cycles.holds(who, "fund-a"), Cycles.holds(who, "USD"))
  )

/** Steps that the venue submits: every other is an outside party's. */
const ofVenue = /^(closed|settled|withdrawn|released|delivered|claimed)$|mint requested/u

/** Steps that outside parties take before the venue has recorded its instrument again. */
const meanwhile = (steps: ReadonlyArray<Step>): number => {
  const nth = steps.findIndex(([state]) => ofVenue.test(state))
  return nth === -1 ? steps.length : nth
}

const begun = (story: Story, scene: Scene) =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* Fund.surprises, [])
    assert.isNull(yield* orderOf(story))
    const recorded = yield* recordsAgain(scene.stage, { holderCap: 100, ...terms })
    assert.strictEqual(recorded.why, "")
    yield* Bank.opens()
  })

const goesOn = (story: Story, steps: ReadonlyArray<Step>, scene: Scene) =>
  Effect.gen(function* () {
    yield* walk(steps, scene)
    const ended = (yield* orderOf(story)) as { readonly state: string } | null
    assert.strictEqual(ended?.state, story.end)
    assert.deepStrictEqual(yield* Fund.surprises, [])
    assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 0)
    assert.strictEqual(yield* Fund.countActive(Templates.SettlementIntent), 0)
    return yield* everybody(scene)
  })

describe("a venue that begins on a ledger that has forgotten", () => {
  it.effect.each(
    firstOf(
      10,
      cases.toSorted((a, b) => a.after.length - b.after.length)
    )
  )("has the order as it was, and takes it to its end: $name", ({ after, before, story }) =>
    Effect.gen(function* () {
      const scene = yield* begins(story.withMarket ?? true)
      yield* walk(before, scene)
      const orderBefore = comparable(yield* orderOf(story))
      const day = yield* dayAgain(story)
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        yield* begun(story, scene)
        const found = yield* orderOf(story)
        assert.deepStrictEqual(comparable(found), orderBefore)
        if (found !== null) assert.isTrue((found as { recovered: boolean }).recovered)
        assert.deepStrictEqual(yield* dayAgain(story), day)
        yield* goesOn(story, after, scene)
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )

  it.effect.each(
    firstOf(
      4,
      cases.filter(({ after }) => meanwhile(after) > 0)
    )
  )(
    "has the order as the parties moved it before its instrument was recorded again: $name",
    ({ after, before, story }) =>
      Effect.gen(function* () {
        const scene = yield* begins(story.withMarket ?? true)
        yield* walk(before, scene)
        yield* forgets
        yield* Effect.gen(function* () {
          yield* Calls.settle
          yield* walk(after.slice(0, meanwhile(after)), scene)
          yield* begun(story, scene)
          yield* goesOn(story, after.slice(meanwhile(after)), scene)
        }).pipe(Effect.provide(yield* again))
      }).pipe(Effect.provide(world()))
  )

  it.effect("never releases by itself a redemption whose units may be burned", () =>
    Effect.gen(function* () {
      const scene = yield* begins(true)
      yield* signs("redemption", { units: "500" })(scene)
      yield* claims("redemption", { payment: "ledger", orderId: "order-o1" })()
      yield* publishes(scene)
      yield* prices({ units: "500", proceeds: "519.24" })(scene)
      yield* requestsBurn("500")(scene)
      yield* burns(scene)
      assert.strictEqual((yield* Cycles.redemption("o1")).state, "burned")
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        yield* begun(stories[6]!, scene)
        const { settleBy, state } = yield* Cycles.redemption("o1")
        assert.deepStrictEqual([state, settleBy], ["priced", null])
        yield* Cycles.at("2026-08-20T20:00:00Z")
        yield* Cycles.turns
        assert.strictEqual((yield* Cycles.redemption("o1")).state, "priced")
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )

  const burned = (scene: Scene) => Effect.andThen(requestsBurn("500")(scene), burns(scene))

  /** A store that was away while the parties moved a priced redemption; `before` is a value it had. */
  const away = <A, Q, R>(
    meanwhile: (scene: Scene) => Effect.Effect<unknown, unknown, Q>,
    had: Effect.Effect<A, unknown, R>,
    judge: (before: A) => Effect.Effect<void, unknown, R>
  ) =>
    Effect.gen(function* () {
      const scene = yield* begins(true)
      yield* signs("redemption", { units: "500" })(scene)
      yield* claims("redemption", { payment: "ledger", orderId: "order-o1" })()
      yield* publishes(scene)
      yield* prices({ units: "500", proceeds: "519.24" })(scene)
      const ledger = yield* Ledger.Ledger
      const sight: Sight = { end: yield* ledger.ledgerEnd, horizon: 0 }
      const terms = {
        instrument: yield* Effect.flatMap(Records, (records) => records.get(instruments, "fund-a")),
        versions: yield* all(policyVersions)
      }
      yield* meanwhile(scene)
      const back = yield* ledger.ledgerEnd
      yield* Effect.gen(function* () {
        yield* recordsTerms(terms)
        yield* Calls.catchUp
        const before = yield* had
        Object.assign(sight, { end: back, horizon: back })
        yield* Calls.settle
        yield* judge(before)
      }).pipe(Effect.provide(instance(ledger, { sight, storage: Memory.layer })))
    }).pipe(Effect.provide(world()))

  it.effect("never releases by itself a redemption whose units may be burned in the gap", () =>
    away(burned, Cycles.redemption("o1"), ({ settleBy }) =>
      Effect.gen(function* () {
        assert.notStrictEqual(settleBy, null)
        assert.deepInclude(yield* Cycles.redemption("o1"), {
          ...{ state: "priced", settleBy: null, recovered: false, lost: false }
        })
        yield* Cycles.at("2026-08-20T20:00:00Z")
        yield* Cycles.turns
        assert.strictEqual((yield* Cycles.redemption("o1")).state, "priced")
        assert.deepStrictEqual(yield* all(operations), [])
        assert.deepStrictEqual(yield* Fund.surprises, [])
      })
    )
  )

  it.effect("never releases by itself a redemption whose end is lost in the gap", () =>
    away(acts("redemption", "withdraw"), Cycles.redemption("o1"), ({ settleBy }) =>
      Effect.gen(function* () {
        assert.deepInclude(yield* Cycles.redemption("o1"), {
          ...{ state: "priced", settleBy, lost: true }
        })
        yield* Cycles.at("2026-08-20T20:00:00Z")
        yield* Cycles.turns
        assert.deepStrictEqual(yield* all(operations), [])
      })
    )
  )

  const points = Effect.flatMap(Records, (records) => records.list(pricePoints, { limit: 10 }))

  it.effect(
    "leaves a price point at its place in its list, whichever contracts ended in the gap",
    () =>
      away(burned, points, (before) =>
        Effect.gen(function* () {
          assert.strictEqual(before.length, 1)
          assert.deepStrictEqual(yield* points, before)
        })
      )
  )

  it.effect("never asks twice for units whose mint request is gone", () =>
    Effect.gen(function* () {
      const scene = yield* begins(false)
      yield* claims("subscription", { units: 100 })()
      yield* publishes(scene)
      yield* attests("100", "oracle")(scene)
      yield* paysBy("subscription", "deliver", 104.9)(scene)
      yield* mints(scene)
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        yield* begun(stories[1]!, scene)
        const again = yield* Calls.write("subscription.deliver", { subscriptionId: "o1" }, {})
        assert.strictEqual(again.why, "state-conflict SubscriptionState")
        assert.strictEqual(yield* Cycles.holds(scene.holder, "fund-a"), "1100")
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )
})
