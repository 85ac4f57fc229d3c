/**
 * Gates of dealing cycles: the unfilled remainder of an order waits for its own dealing day, deals
 * in that day's cycle at that day's price, and no unit of it is lost.
 */
import { Queries, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Exit } from "effect"
import * as fc from "fast-check"
import { assert, test } from "vitest"
import * as PrecheckQueries from "#core/overviews/precheck/PrecheckQueries.ts"
import * as DealingCycleQueries from "#core/orders/dealing-cycle/DealingCycleQueries.ts"
import type { DealingCycleView } from "#core/orders/dealing-cycle/DealingCycleView.ts"
import type { Redemption } from "#core/orders/redemption/Redemption.ts"
import { figuresAt } from "#core/orders/redemption/RedemptionPricing.ts"
import * as RedemptionQueries from "#core/orders/redemption/RedemptionQueries.ts"
import { approvals } from "#core/writes/Approval.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

const d = Decimal.of
const holderIds = ["a", "b", "c"] as const

/** The cut-offs after the Friday on which everybody bought. */
const days = [Cycles.monday, "2026-08-04T20:00:00Z", "2026-08-05T20:00:00Z", "2026-08-06T20:00:00Z"]

interface Case {
  readonly unitDecimals: 0 | 2 | 6
  readonly pricing: "forward" | "historic"
  /** Units that each holder has and redeems, in atoms. */
  readonly ordered: readonly [number, number, number]
  /** Units that one cycle redeems on each day but the last, in atoms. */
  readonly capacities: ReadonlyArray<number>
  /** Whether the next day's cycle is open before this day's settles. */
  readonly isOpenBefore: ReadonlyArray<boolean>
}

const cases: fc.Arbitrary<Case> = fc.record({
  unitDecimals: fc.constantFrom(0, 2, 6),
  pricing: fc.constantFrom("forward", "historic"),
  ordered: fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(60), fc.nat(60)),
  capacities: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 }),
  isOpenBefore: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 })
})

const minute = 60_000_000_000n

/** Sums and legs of a cycle, as its view, its list and the precheck of its settlement show them. */
const shownOf = Effect.fnUntraced(function* (cycleId: string) {
  const queries = yield* Queries
  const caller = Calls.operator
  const one = yield* queries.one(DealingCycleQueries.get, {
    caller,
    params: { cycleId: cycleId as never },
    point: {}
  })
  const all = yield* queries.page(DealingCycleQueries.list, {
    caller,
    params: {},
    point: {},
    page: { limit: 100 }
  })
  const listed = all.value.find((cycle) => cycle.cycleId === cycleId)
  const precheck = yield* queries
    .one(PrecheckQueries.get, {
      caller,
      params: {
        instrumentId: "fund-a",
        act: "dealing-cycle.settle",
        cycleId
      } as unknown as Parameters<(typeof PrecheckQueries.get)["run"]>[0],
      point: {}
    })
    .pipe(
      Effect.map(({ value }) => value.figures),
      Effect.catchTag("Refused", () => Effect.succeed(null))
    )
  const { fills, ...cycle } = one.value
  const dealt = fills.map(({ redemptionId, filled }) => [redemptionId, filled])
  return {
    view: { ...sumsOf(cycle), dealt, legs: legsOf(cycle) },
    listed: listed === undefined ? null : { ...sumsOf(listed), dealt, legs: legsOf(cycle) },
    precheck
  }
})

type Sums = Pick<DealingCycleView, "gross" | "fundNet" | "gate">
const sumsOf = ({ gross, fundNet, gate }: Sums) => ({ gross, fundNet, gate })
/** Once settled each redemption is known to pay its part alone: which side it stood on is the same. */
const legsOf = ({ legs }: { readonly legs: ReadonlyArray<{ readonly amount: Decimal.Decimal }> }) =>
  legs.map(({ amount }) => amount)

/** The view's sums by the names that the figures of the action have. */
const figuresOf = ({ gross, fundNet, gate }: Sums) => ({
  subscribed: gross.subscribed,
  redeemed: gross.redeemed,
  minted: gross.minted,
  burned: gross.burned,
  fundCash: fundNet.cash,
  fundUnits: fundNet.units,
  ...(gate === null ? {} : { gateFactor: gate.factor, gateCapacity: gate.capacity })
})
const pick = (value: unknown, names: ReadonlyArray<string>) =>
  Object.fromEntries(
    Object.entries(value ?? {}).flatMap(([name, figure]) =>
      names.includes(name) ? [[name, typeof figure === "string" ? Decimal.of(figure) : figure]] : []
    )
  )

const dealt = ({ unitDecimals, pricing, ordered, capacities, isOpenBefore }: Case) =>
  Effect.gen(function* () {
    const atom = Decimal.fromAtoms(10n ** BigInt(10 - unitDecimals))
    const atoms = (count: number) => Decimal.fromAtoms(Decimal.atoms(atom) * BigInt(count))
    // One atom of units is always worth a whole number of currency: the smallest rest is payable.
    const par = 10 ** unitDecimals
    const { stage, holders } = yield* Cycles.opened(holderIds, { unitDecimals, pricing })
    const orders = holders.flatMap((holder, index) => {
      const units = ordered[index] ?? 0
      return units === 0 ? [] : [{ holder, id: `r-${holder.holderId}`, units }]
    })

    // ---- everybody buys at the Friday's price
    if (pricing === "historic") {
      yield* Fund.publishes(stage, String(par), "2026-07-31T11:00:00Z")
    }
    yield* Cycles.opens("c0")
    for (const { holder, units } of orders) {
      const bought = yield* Cycles.subscribes(stage, holder, {
        id: `s-${holder.holderId}`,
        amount: String(units)
      })
      assert.strictEqual(bought.why, "")
    }
    yield* Cycles.at(Cycles.friday)
    if (pricing === "forward") yield* Fund.publishes(stage, String(par), Cycles.friday)
    for (const { holder, units } of orders) {
      yield* Cycles.attests(stage, {
        id: `s-${holder.holderId}`,
        units: Decimal.formatPlain(atoms(units)),
        price: String(par)
      })
    }
    assert.strictEqual((yield* Cycles.settles("c0")).why, "")

    // ---- and gives all of it back, day after day as the gates let it
    yield* Cycles.opens("c1")
    for (const { holder, id, units } of orders) {
      const size = Decimal.formatPlain(atoms(units))
      assert.strictEqual((yield* Cycles.redeems(stage, holder, { id, units: size })).why, "")
    }
    const priceOf = (id: string, price: string) =>
      Effect.gen(function* () {
        const self: Redemption = yield* Cycles.redemption(id)
        const { units, proceeds } = figuresAt(self, d(price))
        yield* Cycles.pays(stage, {
          id,
          price,
          units: Decimal.formatPlain(units),
          proceeds: Decimal.formatPlain(proceeds)
        })
        return proceeds
      })
    let owed = new Map(orders.map(({ id, units }) => [id, atoms(units)]))
    const filled: Array<Decimal.Decimal> = []
    // By the order that a gate left them over of: whose units they are.
    let holderOf = new Map(orders.map(({ holder, id }) => [id, holder]))
    for (const [index, cutOffAt] of days.entries()) {
      const cycleId = `c${index + 1}`
      const isFirst = index === 0
      const isLast = index === capacities.length
      const price = String(par * (index + 2))
      const members = [...owed.keys()]
      if (isFirst && pricing === "historic") {
        for (const id of members) yield* priceOf(id, String(par))
      }
      yield* Cycles.at(cutOffAt)
      // No point of an earlier day prices a remainder of a gate, under any pricing rule of the
      // instrument.
      if (!isFirst) {
        for (const id of members) {
          const early = yield* Effect.exit(priceOf(id, String(par * (index + 1))))
          assert.isTrue(Exit.isFailure(early), `${id} is priced by the point of an earlier day`)
        }
      }
      yield* Fund.publishes(stage, price, cutOffAt)
      const isPriced = isFirst && pricing === "historic"
      const proceeds = []
      for (const id of members) {
        proceeds.push(
          isPriced ? ((yield* Cycles.redemption(id)).proceeds ?? d("0")) : yield* priceOf(id, price)
        )
        const holder = holderOf.get(id)
        if (isFirst || holder === undefined) continue
        const units = Decimal.formatPlain(owed.get(id) ?? d("0"))
        yield* Cycles.locksUnits(stage, holder, { id, units })
      }
      const capacity = isLast ? null : atoms(capacities[index] ?? 1)
      const limits = {
        cycleCapacity: capacity === null ? null : Number(Decimal.formatPlain(capacity))
      }
      assert.strictEqual((yield* Cycles.changes(index + 1, { limits })).why, "")
      if (isOpenBefore[index] === true) yield* Cycles.opens(`c${index + 2}`)
      const cash = Decimal.formatPlain(Decimal.sum(proceeds))
      yield* Cycles.paysIn(stage, stage.fund, cash)
      yield* Cycles.allocates(stage, stage.fund, {
        assetId: "USD",
        amount: cash,
        to: stage.fund,
        reference: cycleId
      })
      const before = yield* shownOf(cycleId)
      const action = yield* Calls.openAction("dealing-cycle.settle", { cycleId }, {})
      const { figures } = yield* (yield* Records).get(approvals, String(action))
      assert.deepStrictEqual(before.precheck, figures, "the precheck shows what is signed")
      assert.strictEqual((yield* Calls.approveAction(action)).why, "", cycleId)
      const after = yield* shownOf(cycleId)
      assert.deepStrictEqual(before.view, after.view, "the view shows what is settled")
      assert.deepStrictEqual(before.listed, before.view, "the list shows what the view shows")
      assert.deepStrictEqual(
        figuresOf(before.view),
        pick(figures, Object.keys(figuresOf(before.view)))
      )

      const settled = yield* Cycles.cycle(cycleId)
      assert.deepStrictEqual([...settled.orders.redemptions], members.toSorted())
      const next = new Map<string, Decimal.Decimal>()
      const nextHolder = new Map<string, Cycles.Holder>()
      for (const id of members) {
        const order = yield* Cycles.redemption(id)
        const rest = Decimal.subtract(owed.get(id) ?? d("0"), order.units ?? d("0"))
        filled.push(order.units ?? d("0"))
        if (order.remainderOf !== null) {
          assert.isTrue(Instant.atOrAfter(order.pricedAt ?? order.claimedAt, order.cutOffAt))
          assert.strictEqual(order.price, d(price), `${id} deals at its day's price`)
        }
        const child = settled.fills.find(({ redemptionId }) => redemptionId === id)?.remainderId
        assert.strictEqual(child != null, Decimal.isPositive(rest), id)
        if (child == null) continue
        next.set(child, rest)
        const holder = holderOf.get(id)
        if (holder !== undefined) nextHolder.set(child, holder)
      }
      if (next.size === 0) break
      // The remainder waits, unpriced, for the next dealing day, and is a member of that day's
      // cycle.
      if (isOpenBefore[index] !== true) {
        yield* Cycles.at(Instant.format(Instant.fromNanos(Instant.of(cutOffAt) + minute)))
        for (const id of next.keys()) {
          assert.strictEqual((yield* Cycles.redemption(id)).cycleId, null)
        }
        const { result } = yield* Cycles.opens(`c${index + 2}`)
        // The operation's result names what joined in the very transaction that opened the cycle.
        assert.deepInclude(result, {
          orders: { subscriptions: [], redemptions: [...next.keys()].toSorted() }
        })
      }
      const queries = yield* Queries
      for (const [id, units] of next) {
        const { value: shown } = yield* queries.one(RedemptionQueries.get, {
          caller: Calls.operator,
          params: { redemptionId: id as never },
          point: {}
        })
        assert.deepInclude(shown, {
          state: "claimed",
          orderState: "awaiting-price",
          price: null,
          pointCid: null,
          units,
          cycleId: `c${index + 2}`,
          cutOffAt: Instant.of(days[index + 1] ?? ""),
          waitingOn: [
            {
              party: stage.oracle.party,
              role: null,
              action: "RedemptionClaim.Price",
              by: null,
              actionKey: null,
              resource: null
            }
          ]
        })
        const alone = yield* Calls.write("redemption.settle", { redemptionId: id }, {})
        assert.strictEqual(alone.why, "state-conflict RedemptionState")
      }
      assert.deepInclude(yield* Cycles.cycle(`c${index + 2}`), {
        members: { subscriptions: 0, redemptions: next.size }
      })
      owed = next
      holderOf = nextHolder
    }
    assert.strictEqual(
      Decimal.formatPlain(Decimal.sum(filled)),
      Decimal.formatPlain(Decimal.sum(orders.map(({ units }) => atoms(units))))
    )
    assert.strictEqual(yield* Fund.countActive(Templates.RedemptionClaim), 0)
    assert.deepStrictEqual(yield* Fund.surprises, [])
  }).pipe(Effect.provide(world()))

test("what gates leave over deals on its own days, and all of it is filled in the end", async () => {
  await fc.assert(
    fc.asyncProperty(cases, (one) => Calls.runCase(dealt(one))),
    {
      numRuns: 6,
      examples: [
        // Two gates in a row, priced historically, with the cycles opened after and before.
        [
          {
            unitDecimals: 6,
            pricing: "historic",
            ordered: [30, 31, 39],
            capacities: [10, 49],
            isOpenBefore: [false, true, false]
          }
        ]
      ]
    }
  )
})
