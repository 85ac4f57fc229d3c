/**
 * Orders of a rebasing instrument by chance, priced by the programs of oracle and registrar at indices that
 * rise and fall: register, movements, lots, portfolio and statements say the same of every holder.
 */
import { Records, verify } from "@bursar/engine-core"
import { Decimal, Offset } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import * as fc from "fast-check"
import { lots } from "#core/instruments/lot/Lot.ts"
import * as MovementQueries from "#core/overviews/register/MovementQueries.ts"
import * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import * as RedemptionQueries from "#core/orders/redemption/RedemptionQueries.ts"
import * as SubscriptionQueries from "#core/orders/subscription/SubscriptionQueries.ts"
import { shownOf } from "#core/orders/order/RebasingRules.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Rebasing from "./rebasing.ts"
import * as Reports from "./reports.ts"
import * as Venue from "./venue.ts"

const holderIds = ["h1", "h2"] as const
const instrumentId = "fund-a" as never

/** An act by chance; parts are per mille of what the holder is shown. */
const act = fc.record({
  kind: fc.constantFrom("index", "buy", "buy-units", "sell", "sell-all", "draw", "draw-all"),
  holderId: fc.constantFrom(...holderIds),
  part: fc.integer({ min: 1, max: 999 }),
  /** Cents of a subscription; atoms above a part. */
  size: fc.integer({ min: 1, max: 5_000_000 }),
  move: fc.integer({ min: -900, max: 1_500 }),
  /** Ends before its units move, in place of its end. */
  isLetGo: fc.integer({ min: 0, max: 9 }).map((die) => die === 0)
})
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never

const seeds = Array.from({ length: Number(process.env["SEEDS"] ?? 6) }, (_, nth) => 1 + nth)
const steps = 25

/** Index in hundred-thousandths. */
interface Walk {
  index: number
  day: number
  orders: number
}

const plays = Effect.fnUntraced(function* (scene: Rebasing.Scene, walk: Walk, act: Act) {
  if (act.kind === "index") {
    walk.index = Math.max(50_000, Math.round(walk.index * (1 + act.move / 10_000)))
    walk.day += 1
    const now = new Date(Date.parse(Fund.start) + walk.day * 86_400_000).toISOString()
    yield* Cycles.at(now)
    yield* Rebasing.indexed(scene, (walk.index / 100_000).toFixed(5), now)
    yield* Cycles.at(new Date(Date.parse(now) + 60_000).toISOString())
    return
  }
  const { holderId } = act
  const id = `o${++walk.orders}`
  const cents = (count: number) => Number((count / 100).toFixed(2))
  if (act.kind === "buy" || act.kind === "buy-units") {
    const size =
      act.kind === "buy"
        ? { amount: cents(act.size + 100) }
        : { units: Number((act.size / 997).toFixed(6)) }
    const claimed = yield* Rebasing.claims("subscription", id, { holderId, ...size })
    assert.strictEqual(claimed.why, "")
    yield* Rebasing.prices(scene)
    if (act.isLetGo) {
      assert.strictEqual((yield* Rebasing.acts("subscription", "release", { id })).why, "")
    } else assert.deepStrictEqual(yield* Rebasing.buys(scene, id), [])
    return
  }
  const { value: rows } = yield* Venue.read(PortfolioQueries.portfolio, {
    holderId: Reports.holderIdOf(holderId)
  })
  const held = rows[0]?.units ?? Decimal.zero
  const atoms = Decimal.atoms(held) / 10_000n
  const part = act.kind.endsWith("all") ? atoms : (atoms * BigInt(act.part)) / 1000n
  if (part < 20_000n) return
  const units = Number(Decimal.formatPlain(Decimal.fromAtoms(part * 10_000n)))
  const net = Decimal.multiplyRounded(Decimal.fromAtoms(part * 10_000n), Decimal.of("0.995"), {
    places: 2,
    rounding: "floor"
  })
  const size = act.kind.startsWith("sell")
    ? { units }
    : { amount: Number(Decimal.formatPlain(net)) }
  const claimed = yield* Rebasing.claims("redemption", id, { holderId, ...size })
  assert.strictEqual(
    claimed.why,
    "",
    `${act.kind} ${JSON.stringify(size)} of ${Decimal.formatPlain(held)}`
  )
  yield* Rebasing.prices(scene)
  if (act.isLetGo) {
    assert.strictEqual((yield* Rebasing.acts("redemption", "release", { id })).why, "")
    return
  }
  assert.deepStrictEqual(yield* Rebasing.sells(scene, id), [])
  if (!act.kind.endsWith("all")) return
  const left = yield* lotsOf(holderId, scene)
  assert.strictEqual(Decimal.formatPlain(left), "0", `${act.kind} leaves nothing`)
})

const lotsOf = (holderId: string, { holders }: Rebasing.Scene) =>
  Effect.gen(function* () {
    const records = yield* Records
    const party = holders.find((holder) => holder.holderId === holderId)?.party
    const found = yield* Stream.runCollect(records.stream(lots, {}))
    return Decimal.sum(
      found.flatMap(({ record }) => (record.party === party ? [record.remaining] : []))
    )
  })

const laws = Effect.fnUntraced(function* (scene: Rebasing.Scene, walk: Walk) {
  const index = Decimal.of((walk.index / 100_000).toFixed(5))
  const register = yield* Venue.register({ instrumentId })
  assert.strictEqual(register.value.head.difference, Decimal.zero)
  const { value: movements } = yield* Venue.list(MovementQueries.ofInstrument, { instrumentId })
  let base = Decimal.zero
  for (const { kind, units } of movements) {
    if (kind === "subscription") base = Decimal.add(base, units)
    if (kind === "redemption") base = Decimal.subtract(base, units)
  }
  let left = Decimal.zero
  for (const holderId of holderIds) {
    const remaining = yield* lotsOf(holderId, scene)
    left = Decimal.add(left, remaining)
    const shown = shownOf(remaining, { index, unitDecimals: scene.unitDecimals })
    const line = register.value.lines.find((found) => found.holderId === holderId)
    assert.strictEqual(line?.units ?? Decimal.zero, shown)
    const { value: rows } = yield* Venue.read(PortfolioQueries.portfolio, {
      holderId: Reports.holderIdOf(holderId)
    })
    assert.strictEqual(rows[0]?.units ?? Decimal.zero, shown)
    const months = yield* Reports.statements(holderId)
    const closing = months.at(-1)?.instruments[0]?.closing ?? Decimal.zero
    assert.strictEqual(closing, shown)
  }
  assert.strictEqual(left, base)
})

describe("orders of a rebasing instrument by chance", () => {
  it.effect.each(seeds)(
    "never make the reports of a holder differ, or leave a part of all: seed %i",
    (seed) =>
      Effect.gen(function* () {
        const scene = yield* Rebasing.opened({}, holderIds)
        const walk: Walk = { index: 170_000, day: 0, orders: 0 }
        yield* Rebasing.indexed(scene, "1.7", "2026-07-31T11:00:00Z")
        const acts = fc.sample(act, { seed, numRuns: steps })
        for (const [nth, act] of acts.entries()) {
          yield* plays(scene, walk, act)
          if (nth % 8 === 7) yield* laws(scene, walk)
        }
        yield* laws(scene, walk)
        for (const [list] of [[SubscriptionQueries.list], [RedemptionQueries.list]] as const) {
          const { value } = yield* Venue.list(list as typeof SubscriptionQueries.list, {})
          for (const { basis } of value) {
            for (const each of basis) assert.isTrue(Result.isSuccess(verify(each)), each.field)
          }
        }
        for (const zone of ["America/New_York", "Australia/Lord_Howe"]) {
          assert.isAbove(yield* Reports.keepLaws(zone), 0)
          yield* Reports.keepTaxLaws(zone, [2026])
        }
        const ledger = yield* Ledger.Ledger
        const end = yield* ledger.ledgerEnd
        const offsets = [2, 3, 4].map((nth) => Offset.of(Math.floor((end * nth) / 4)))
        yield* Reports.keepFinal("Asia/Kolkata", offsets)
        yield* Reports.keepFinalYears("Asia/Kolkata", { years: [2026], offsets })
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(world()))
  )
})
