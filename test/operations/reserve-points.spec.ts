/**
 * Prices of a reserve's assets that its sources publish wrongly: an asset at 0 would mint units at its old
 * price, a point dated ahead would leave the asset without a price, and a stranger's would stop payments.
 */
import { Records } from "@bursar/engine-core"
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { findings } from "#core/findings/Finding.ts"
import { assetQuotes, quoteIdOf } from "#core/instruments/price/AssetQuote.ts"
import { latestAt } from "#core/instruments/price/QuoteOrder.ts"
import { unexpectedFacts } from "#core/projection/Unexpected.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Backed from "./backed.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Minting from "./minting.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stated from "./stated-reserves.ts"
import * as Venue from "./venue.ts"

const engine = () => Effect.provide(world())

/** `check severity instrument subject` of every open finding. */
const open = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(findings, { where: { state: ["open"] }, limit: 100 })
  return rows
    .map(
      ({ record: { check, instrumentId, severity, subject } }) =>
        `${check} ${severity} ${instrumentId} ${subject.resourceKind}/${subject.id}`
    )
    .toSorted()
})

const holds = Effect.map(Reconciling.openHolds, (all) =>
  all.map(({ instrumentId, source }) => `${instrumentId} ${source}`).toSorted()
)

/** Price of the bills that counts now; undefined: none does. */
const billPrice = ({ bill, oracle }: Backed.Scene) =>
  Effect.gen(function* () {
    const records = yield* Records
    const quote = yield* records.get(assetQuotes, quoteIdOf({ source: oracle.party, asset: bill }))
    const latest = latestAt(quote, yield* Instant.now)
    return latest === undefined ? undefined : Decimal.formatPlain(latest.price)
  })

const inHours = (hours: number) =>
  Effect.map(Instant.now, (now) => Instant.add(now, Duration.hours(hours)))

const pointCid = Effect.gen(function* () {
  const all = yield* Cycles.active(Templates.OraclePoint)
  const latest = all.toSorted((a, b) => (a.cid < b.cid ? -1 : 1))
  return { all, latest }
})

describe("an asset whose source publishes 0 or less", () => {
  for (const value of ["0", "-3"]) {
    it.effect(`counts as nothing, mints nothing and is paid to nobody: ${value}`, () =>
      Effect.gen(function* () {
        const scene = yield* Minting.base
        const ready = { mintId: "m-ready", asset: scene.bill, deposit: 10 }
        assert.strictEqual((yield* Minting.starts(scene, ready)).state, "succeeded")
        const redeeming = { reserveRedemptionId: "x-ready", asset: scene.bill, units: 10 }
        assert.strictEqual((yield* Minting.startsRedemption(scene, redeeming)).state, "succeeded")
        yield* Backed.prices(scene, value)
        assert.strictEqual(yield* billPrice(scene), "0")
        yield* Minting.accepts(scene, ready)
        yield* Minting.acceptsRedemption(scene, redeeming)
        yield* Minting.turn
        yield* Minting.retry
        assert.notInclude(yield* Minting.endings("reserve-redemption.settle"), "succeeded")
        assert.include(
          yield* Minting.endings("reserve-redemption.settle"),
          "reserve-cover price-known"
        )
        assert.strictEqual((yield* Minting.mint("m-ready")).state, "ready")
        assert.strictEqual((yield* Minting.redemption("x-ready")).state, "ready")
        const bills = yield* Minting.starts(scene, {
          mintId: "m-2",
          asset: scene.bill,
          deposit: 10
        })
        assert.match(bills.why ?? "", /reserve-cover price-known/u)
        const paid = yield* Minting.startsRedemption(scene, {
          reserveRedemptionId: "x-2",
          asset: scene.bill,
          units: 10
        })
        assert.match(paid.why ?? "", /reserve-cover price-known/u)
        yield* Reconciling.run()
        assert.deepEqual(yield* open, ["reserve-cover blocking fund-a reserve/res-1"])
        assert.deepEqual(yield* holds, ["fund-a cover"])
      }).pipe(engine())
    )
  }
})

describe("a point that is dated ahead", () => {
  it.effect("takes no place before its time: later points count meanwhile", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const ahead = yield* inHours(24)
      yield* Backed.prices(scene, "9", { valuationTime: ahead })
      assert.strictEqual(yield* billPrice(scene), "2.1")
      yield* TestClock.adjust("1 hour")
      yield* Backed.prices(scene, "2.2")
      assert.strictEqual(yield* billPrice(scene), "2.2")
      yield* TestClock.adjust("1379 minutes")
      assert.strictEqual(yield* billPrice(scene), "2.2")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* billPrice(scene), "9")
      yield* Backed.prices(scene, "2.3")
      assert.strictEqual(yield* billPrice(scene), "2.3")
      yield* Reconciling.run()
      assert.deepEqual(yield* open, [])
    }).pipe(engine())
  )

  it.effect(
    "is no price of an asset that has no other: neither share price nor figure is of it",
    () =>
      Effect.gen(function* () {
        const scene = yield* Stated.stands({
          assets: { A: { units: "1000" }, B: { units: "500", price: "9", age: -Stated.hour } },
          ...{ outstanding: "1000", minCover: "1", accumulating: "1" }
        })
        const unpriced = yield* Stated.agreed
        assert.deepInclude(Stated.shownBy(unpriced.view), {
          assets: [
            "A 1000.0000000000 1.0000000000 true 1000.00",
            "B 500.0000000000 null false 0.00"
          ],
          sharePrice: "null"
        })
        const mint = { asset: "A", deposit: "100" } as const
        const refused = yield* Stated.precheck(scene, mint)
        assert.include(refused.refused, "price-known")
        yield* TestClock.adjust("1 hour")
        yield* Calls.settle
        const priced = yield* Stated.agreed
        assert.deepInclude(Stated.shownBy(priced.view), {
          assets: [
            "A 1000.0000000000 1.0000000000 true 1000.00",
            "B 500.0000000000 9.0000000000 true 4500.00"
          ],
          sharePrice: "5.5000000000"
        })
        assert.notInclude((yield* Stated.precheck(scene, mint)).refused, "price-known")
      }).pipe(engine())
  )

  it.effect("is a breach of its reserve beyond so many, and hides none of those before", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      for (let hours = 1; hours <= 129; hours++) {
        yield* Backed.prices(scene, "9", { valuationTime: yield* inHours(hours) })
      }
      assert.strictEqual(yield* billPrice(scene), "2.1")
      yield* Reconciling.run()
      assert.deepEqual(yield* open, ["policy-replay blocking fund-a reserve/res-1"])
      assert.deepEqual(yield* holds, ["fund-a reconciliation"])
    }).pipe(engine())
  )
})

describe("points of a stranger", () => {
  it.effect("stop no payments, however absurd they are and whatever they name", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      const stranger = yield* Fund.outsider("stranger")
      const asset = { registrar: scene.registrar.party, instrumentId: "fund-a" }
      const absurd = [
        { value: "0" },
        { value: "-1", ...asset },
        { value: "99999999999", ...asset },
        { value: "1", metric: "nonsense", ...asset },
        { value: "1", corrects: (yield* pointCid).latest[0]!.cid, ...asset }
      ]
      const { bill, fund, venue } = scene
      for (const { value, ...change } of absurd) {
        yield* stranger.act(
          Templates.create(Templates.OraclePoint, {
            ...{ oracle: stranger.party, venue, fund: fund.party, registrar: bill.admin },
            ...{ attestors: [], instrumentId: bill.id, metric: "price", value: Decimal.of(value) },
            ...{ valuationTime: yield* Instant.now, period: null, withholdingRate: null },
            ...{ statementRef: null, corrects: null },
            ...change
          })
        )
      }
      assert.strictEqual(yield* billPrice(scene), "2.1")
      yield* Reconciling.run()
      assert.deepEqual(yield* open, [])
      assert.deepEqual(yield* holds, [])
    }).pipe(engine())
  )

  it.effect("are a breach of the reserve where they are its own source's", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      yield* Backed.prices(scene, "1", { metric: "nonsense" })
      yield* Reconciling.run()
      assert.deepEqual(yield* open, ["policy-replay blocking fund-a reserve/res-1"])
      assert.deepEqual(yield* holds, ["fund-a reconciliation"])
    }).pipe(engine())
  )

  it.effect("are one finding with the reserve's own breaches, which counts them all", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.base
      yield* Backed.prices(scene, "1", { metric: "nonsense" })
      const records = yield* Records
      yield* records.transact(
        records.open(
          unexpectedFacts,
          {
            ...{ unexpectedFactId: "breach", contractId: "00", detail: "no such move" },
            ...{ resourceKind: "reserve", resourceId: "res-1", on: "close" }
          },
          {
            cause: { by: "run", runId: "breach" },
            now: yield* Instant.now,
            offset: yield* Venue.offsetNow
          }
        )
      )
      yield* Reconciling.run()
      const rows = yield* records.list(findings, { limit: 100 })
      assert.deepEqual(
        rows.map(({ record: { check, subject, unexplained } }) => [
          check,
          subject.id,
          Decimal.formatPlain(unexplained)
        ]),
        [["policy-replay", "res-1", "2"]]
      )
    }).pipe(engine())
  )
})
