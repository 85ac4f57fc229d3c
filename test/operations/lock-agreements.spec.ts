/** Lock agreements through their operations: signed by an asset's registrar, then by the custodian, released. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import * as Templates from "@bursar/engine-core/templates"
import { Array, Effect, Option } from "effect"
import * as LockAgreementQueries from "#core/reserves/lock-agreement/LockAgreementQueries.ts"
import { reserveHoldings } from "#core/reserves/reserve/ReserveHolding.ts"
import { countedHoldingsOf } from "#core/reserves/reserve/ReserveLookups.ts"
import { fromLedger } from "#core/reserves/reserve/ReserveHoldingFromLedger.ts"
import * as ReserveQueries from "#core/reserves/reserve/ReserveQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Backed from "./backed.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Minting from "./minting.ts"
import * as Powers from "./powers.ts"
import * as Venue from "./venue.ts"

const engine = () => Effect.provide(world())

const reserveId = "res-1"
const view = Effect.map(
  Venue.read(ReserveQueries.get, { reserveId } as never),
  ({ value }) => value
)
const lockView = (lockAgreementId: string) =>
  Effect.map(
    Venue.read(LockAgreementQueries.get, { reserveId, lockAgreementId } as never),
    ({ value }) => value
  )
const plain = Decimal.formatPlain

describe("an asset is locked for a reserve", () => {
  it.effect(
    "by its registrar's consent and then the custodian's, who locks at once and later",
    () =>
      Effect.gen(function* () {
        const scene = yield* Backed.opened()
        yield* Backed.reserved(scene)
        const { usd } = scene
        const proposed = yield* Backed.proposesLock({ asset: usd, amount: 100, id: "lock-usd" })
        assert.deepStrictEqual([proposed.state, proposed.why], ["succeeded", ""])
        const holding = yield* Backed.gives(scene, scene.custodian, { amount: "100", asset: usd })
        yield* Backed.signsLock(scene.bank, "lock-usd")
        assert.deepInclude(yield* lockView("lock-usd"), {
          state: "proposed",
          acceptedBy: [scene.bank.party],
          cids: []
        })
        yield* Backed.signsLock(scene.custodian, "lock-usd", [holding])
        yield* Backed.locks(scene, { asset: usd, amount: "50.5" })
        const locked = yield* lockView("lock-usd")
        assert.deepInclude(locked, {
          state: "active",
          lockers: [scene.venue],
          context: reserveId,
          cids: [(yield* Backed.lockedOf({ asset: usd })) ?? "nothing is locked"]
        })
        assert.strictEqual(plain(locked.amount), "150.5")
        const { assets, counted } = yield* view
        assert.deepStrictEqual(
          assets.map(({ counted: amount, units, value }) => [units, value, amount].map(plain)),
          [
            ["150.5", "150.5", "150.5"],
            ["0", "0", "0"]
          ]
        )
        assert.strictEqual(plain(counted), "150.5")
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(engine())
  )

  it.effect("only while the reserve is active, of its assets, and by one agreement an asset", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      const { asset, usd } = scene
      const why = (lock: { readonly asset: typeof usd; readonly id: string }) =>
        Effect.map(Backed.proposesLock(lock), (ended) => ended.why)
      yield* Backed.proposes(scene)
      assert.strictEqual(
        yield* why({ asset: usd, id: "l-1" }),
        "rule-refused policy reserve-active"
      )
      yield* Backed.answers(scene.registrar)
      yield* Backed.answers(scene.custodian)
      assert.strictEqual(yield* why({ asset, id: "l-1" }), "rule-refused policy asset-in-terms")
      assert.strictEqual(yield* why({ asset: usd, id: "l-1" }), "")
      assert.strictEqual(yield* why({ asset: usd, id: "l-1" }), "already-exists")
      assert.strictEqual(yield* why({ asset: usd, id: "l-2" }), "rule-refused policy one-agreement")
      yield* Backed.declinesLock(scene.bank, "l-1")
      assert.strictEqual((yield* lockView("l-1")).state, "declined")
      assert.strictEqual(yield* why({ asset: usd, id: "l-2" }), "")
    }).pipe(engine())
  )
})

describe("a lock agreement is proposed", () => {
  it.effect("never for an amount out of its range, and for those at its edges", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      const { bill, usd } = scene
      const why = (asset: typeof usd, amount: number) =>
        Effect.map(
          Backed.proposesLock({ id: `lock-${asset.id}`, asset, amount }),
          (ended) => ended.why
        )
      assert.strictEqual(yield* why(usd, -1), "invalid-request")
      assert.strictEqual(yield* why(usd, 1_000_000_000_000_000), "invalid-request")
      assert.strictEqual(yield* why(usd, 999_999_999_999_999), "")
      assert.strictEqual(yield* why(bill, 0), "")
    }).pipe(engine())
  )

  it.effect(
    "under an id that the engine makes and for nothing, where neither is named, and found under its reserve alone",
    () =>
      Effect.gen(function* () {
        const scene = yield* Backed.opened()
        yield* Backed.reserved(scene)
        const body = { asset: { ...scene.usd } }
        const proposed = yield* Calls.write("lock-agreement.propose", { reserveId }, body)
        const lockAgreementId = String(proposed.result["lockAgreementId"])
        assert.deepInclude(yield* lockView(lockAgreementId), { state: "proposed", reserveId })
        const { why } = yield* Backed.releasesLock(lockAgreementId, "res-2")
        assert.strictEqual(why, "not-found")
        const { asked: lockedAmount, state } = yield* Backed.lockAgreement(lockAgreementId)
        assert.deepStrictEqual([state, lockedAmount], ["proposed", Decimal.zero])
        // The agreement has no locked asset, and its release returns no holding.
        yield* Backed.agrees(scene, lockAgreementId)
        assert.strictEqual((yield* Backed.releasesLock(lockAgreementId)).why, "")
        assert.strictEqual((yield* lockView(lockAgreementId)).state, "released")
      }).pipe(engine())
  )
})

describe("a holding that is locked for a reserve", () => {
  it.effect("is recorded only if the venue still sees it once its transaction has ended", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      yield* Backed.locked(scene, { asset: scene.usd, amount: "100" })
      const [holding] = yield* Effect.map(Cycles.active(Templates.Holding), (found) =>
        found.filter(({ payload: { lock } }) => lock?.context === reserveId)
      )
      if (holding === undefined) throw new Error("nothing is locked")
      const [reading] = fromLedger
      const now = yield* Instant.now
      const records = yield* Records
      const queries = (contractId: string, inAcs: boolean) => {
        const node = {
          nodeId: 1,
          contractId,
          venue: scene.venue,
          offset: 2,
          act: { cause: { by: "run", runId: "update" }, now, offset: 2 }
        } as never
        // The projection keeps a payload as the ledger wrote it.
        const payload = holding.payload as never
        return Effect.as(
          records.transact(reading.created?.(payload, node, { inAcs } as never) ?? Effect.void),
          records.find(reserveHoldings, contractId)
        ).pipe(Effect.flatten, Effect.map(Option.isSome))
      }
      assert.isTrue(yield* queries("00aa", true))
      assert.isFalse(yield* queries("00bb", false))
    }).pipe(engine())
  )
})

describe("a lock agreement is released", () => {
  it.effect("to the custodian, as nothing is outstanding; a proposal is taken back", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      const { bill, custodian, usd } = scene
      yield* Backed.locked(scene, { asset: usd, amount: "100" })
      yield* Backed.proposesLock({ asset: bill, id: "lock-bill" })
      assert.deepStrictEqual(
        [
          (yield* Backed.releasesLock("lock-USD")).why,
          (yield* Backed.releasesLock("lock-bill")).why
        ],
        ["", ""]
      )
      assert.strictEqual((yield* lockView("lock-USD")).state, "released")
      assert.strictEqual((yield* lockView("lock-bill")).state, "withdrawn")
      assert.strictEqual(
        (yield* Backed.releasesLock("lock-bill")).why,
        "state-conflict LockAgreementState"
      )
      assert.isNull(yield* Backed.lockedOf({ asset: usd }))
      assert.isNotNull(yield* Fund.freeHolding(custodian.party))
      assert.deepStrictEqual((yield* Backed.reserve()).locked, [])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("with all that is counted, however many holdings its holder has locked beside it", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      yield* Backed.locked(scene, { asset: scene.usd, amount: "100" })
      const counted = yield* Backed.lockedOf({ asset: scene.usd })
      const records = yield* Records
      const { asset, endedOffset, isFirm, owner } = yield* records.get(
        reserveHoldings,
        counted ?? ""
      )
      const act = { cause: { by: "run", runId: "others" } as const, now: yield* Instant.now }
      yield* records.transact(
        Effect.forEach(Array.range(1, 600), (number) =>
          records.open(
            reserveHoldings,
            {
              ...{ reserveId, asset, owner, isFirm, endedOffset },
              contractId: `00${String(number).padStart(8, "0")}`,
              amount: Decimal.of(String(number + 100))
            },
            { ...act, offset: 1 as never }
          )
        )
      )
      assert.deepEqual([...(yield* countedHoldingsOf(yield* Backed.reserve())).values()], [counted])
      assert.strictEqual((yield* Backed.releasesLock("lock-USD")).why, "")
      assert.deepEqual([...(yield* countedHoldingsOf(yield* Backed.reserve()))], [])
    }).pipe(engine())
  )

  it.effect("never while an order in the asset is open", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      yield* Backed.locked(scene, { asset: scene.usd, amount: "100" })
      yield* Backed.locked(scene, { asset: scene.bill, amount: "100" })
      yield* Minting.mintsFor(scene, { mintId: "m-0", asset: scene.usd, deposit: 10 })
      const redeemed = { reserveRedemptionId: "r-1", asset: scene.usd, units: 5 }
      assert.strictEqual((yield* Minting.startsRedemption(scene, redeemed)).why, "")
      assert.strictEqual(
        (yield* Backed.releasesLock("lock-USD")).why,
        "rule-refused policy asset-orders-ended"
      )
      const order = { reserveId, reserveRedemptionId: "r-1" }
      assert.strictEqual((yield* Calls.write("reserve-redemption.cancel", order, {})).why, "")
      yield* Minting.starts(scene, { mintId: "m-1", asset: scene.usd, deposit: 10 })
      assert.strictEqual(
        (yield* Backed.releasesLock("lock-USD")).why,
        "rule-refused policy asset-orders-ended"
      )
      assert.strictEqual((yield* Backed.releasesLock("lock-BILL")).why, "")
      assert.strictEqual((yield* view).openOrders, 1)
    }).pipe(engine())
  )

  it.effect("never while the units would not be covered without it", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      yield* Backed.locked(scene, { asset: scene.usd, amount: "100" })
      yield* Powers.mints(scene, scene.h1, "5")
      assert.strictEqual(
        (yield* Backed.releasesLock("lock-USD")).why,
        "rule-refused reserve-cover cover"
      )
    }).pipe(engine())
  )
})

describe("a reserve is closed", () => {
  const closes = Backed.closes()

  it.effect("by taking its proposal back", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.proposes(scene)
      yield* Backed.answers(scene.registrar)
      assert.strictEqual((yield* closes).result["state"], "withdrawn")
      assert.strictEqual((yield* closes).why, "state-conflict ReserveState")
      assert.strictEqual((yield* Backed.proposes(scene, { reserveId: "res-2" })).why, "")
    }).pipe(engine())
  )

  it.effect("at once where there is nothing of it", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      assert.strictEqual((yield* closes).result["state"], "closed")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("by the last release, or by a second call, once its units are gone", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      yield* Backed.locked(scene, { asset: scene.usd, amount: "100" })
      yield* Backed.locked(scene, { asset: scene.bill, amount: "100" })
      assert.strictEqual((yield* closes).result["state"], "closing")
      assert.strictEqual((yield* closes).why, "rule-refused policy reserve-empty")
      yield* Backed.releasesLock("lock-USD")
      assert.strictEqual((yield* Backed.reserve()).state, "closing")
      yield* Backed.releasesLock("lock-BILL")
      assert.strictEqual((yield* Backed.reserve()).state, "closed")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})
