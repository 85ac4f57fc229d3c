/**
 * Attacks of outside parties on the payments of a fund: acts that a holder or a stranger can do alone open
 * no hold, however often they are repeated (docs/domain/stopping-payments.md).
 */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { findings } from "#core/findings/Finding.ts"
import { newMax } from "#core/reconciliation/run/RunRules.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { isLong } from "../long-run.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"

const engine = () => Effect.provide(world())

/** `check severity subject` of every open finding. */
const open = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(findings, { where: { state: ["open"] }, limit: 5_000 })
  return rows
    .map(({ record: { check, severity, subject } }) => `${check} ${severity} ${subject.id}`)
    .toSorted()
})

/** The attack is repeated after each run, as after each release of a hold. */
const thrice = <E, R>(attack: (nth: number) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    yield* Reconciling.run()
    for (let nth = 1; nth <= 3; nth++) {
      yield* attack(nth)
      yield* Reconciling.run()
      assert.deepEqual(yield* Reconciling.openHolds, [])
    }
  })

/** Severities of what is open, by check. */
const severities = Effect.map(open, (found) => [
  ...new Set(found.map((text) => text.split(" ").slice(0, 2).join(" ")))
])

/** Number of proposals and claims of an attack: thousands in the long run. */
const crowd = isLong ? 3_000 : 150

const dates = ["2026-07-29", "2026-07-30", "2026-07-31"].map((text) => Date.of(text))

const atom = "0.0000000001"

describe("the payments of a fund never stop for", () => {
  it.effect("atoms of unrestricted units that are sent to anybody", () =>
    Effect.gen(function* () {
      const { stage } = yield* Powers.founded()
      const strangers: Array<string> = []
      yield* thrice((nth) =>
        Effect.gen(function* () {
          const stranger = yield* Fund.outsider(`stranger-${nth}`)
          strangers.push(stranger.party)
          yield* Powers.sends(stage, stranger, atom)
        })
      )
      assert.deepEqual(
        yield* open,
        strangers.map((party) => `admission-effect warning ${party}`).toSorted()
      )
    }).pipe(engine())
  )

  it.effect("allocations of a holder beside those of its order", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [h1] = holders
      if (h1 === undefined) throw new Error("a holder")
      yield* Cycles.subscribes(stage, h1, { id: "s1", amount: "100" })
      yield* thrice(() =>
        Effect.gen(function* () {
          yield* Cycles.paysIn(stage, h1, "1")
          const to = { assetId: "USD", to: stage.fund, reference: "s1" }
          yield* Cycles.allocates(stage, h1, { ...to, amount: "0.01" })
        })
      )
      assert.deepEqual(yield* open, ["policy-replay warning s1"])
    }).pipe(engine())
  )

  it.effect("deposits of a cent into the fund's account, whatever they refer to", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [h1] = holders
      if (h1 === undefined) throw new Error("a holder")
      yield* Cycles.subscribes(stage, h1, { id: "s1", amount: "100" })
      yield* thrice((nth) => {
        const businessDate = dates[nth - 1]!
        const entries = Array.from({ length: 50 }, (_, many) => ({
          amount: "0.01",
          bookingDate: businessDate,
          reference: many % 2 === 0 ? "s1" : `stranger ${many}`,
          bankReference: many % 3 === 0 ? null : `b-${nth}-${many}`
        }))
        const opening = Decimal.formatPlain(Decimal.of(`${(nth - 1) * 0.5}`))
        return Bank.states({ id: `st-${nth}`, at: "second", businessDate, opening, entries })
      })
      assert.deepEqual(yield* severities, ["cash-unmatched warning"])
    }).pipe(engine())
  )

  it.effect("payments that a bank's friend makes twice, in one statement and in two feeds", () =>
    Effect.gen(function* () {
      yield* Cycles.opened(["h1"])
      yield* thrice((nth) =>
        Effect.gen(function* () {
          const businessDate = dates[nth - 1]!
          const twin = { amount: "100", bookingDate: businessDate, reference: "s1" }
          const named = { ...twin, bankReference: `b-${nth}` }
          const opening = String((nth - 1) * 400)
          const stated = { at: "second", businessDate, opening } as const
          const entries = [twin, twin, named, named]
          yield* Bank.states({ ...stated, id: `st-${nth}`, entries })
          yield* Bank.states({ ...stated, id: `feed-${nth}`, source: "feed", entries })
        })
      )
      assert.deepEqual(yield* severities, ["cash-unmatched warning"])
      const unmatched = (yield* Reconciling.findings).map(({ unexplained }) =>
        Decimal.formatPlain(unexplained)
      )
      // Of each date the two without a reference are one finding, the two with it another.
      assert.deepEqual(unmatched, Array(6).fill("200"))
    }).pipe(engine())
  )

  it.effect("claims of a holder by the hundred that nobody prices", () =>
    Effect.gen(function* () {
      yield* Cycles.opened(["h1"])
      yield* Reconciling.run()
      for (let many = 1; many <= crowd; many++) {
        const claimed = yield* Calls.write(
          "subscription.claim",
          {},
          {
            subscriptionId: `s${many}`,
            instrumentId: "fund-a",
            holderId: "h1",
            payment: "wire",
            amount: 1
          }
        )
        assert.strictEqual(claimed.why, "")
      }
      yield* Cycles.at("2026-08-05T12:00:00Z")
      yield* Reconciling.run()
      assert.deepEqual(yield* Reconciling.openHolds, [])
      // Of more than a thousand new ones the rest is one finding.
      assert.lengthOf(yield* open, Math.min(crowd, newMax + 1))
      assert.deepEqual(yield* severities, ["claim-aging warning"])
    }).pipe(engine())
  )

  it.effect("requests to burn that are not those of an order", () =>
    Effect.gen(function* () {
      const scene = yield* Powers.founded()
      yield* Powers.requestsBurn(scene, Cycles.friday)
      yield* thrice((nth) =>
        Effect.gen(function* () {
          for (const id of ["r1", `nobody-${nth}`]) {
            const { cid } = yield* Fund.freeHolding(scene.h1.party)
            yield* scene.h1.act(
              Templates.exercise(Templates.Holding, cid, "RequestBurn", {
                amount: Decimal.of("1"),
                reference: { kind: "redemption", id },
                custodian: null,
                executeBefore: Instant.of("2026-09-01T00:00:00Z")
              })
            )
          }
        })
      )
      const found = yield* open
      assert.include(found, "policy-replay warning r1")
      assert.isTrue(found.every((text) => text.includes(" warning ")))
    }).pipe(engine())
  )

  it.effect("commitments to a standing settlement that nobody asked for", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [h1] = holders
      if (h1 === undefined) throw new Error("a holder")
      const asset = Cycles.cash(stage)
      const opened = yield* Calls.write(
        "standing-settlement.open",
        {},
        {
          standingSettlementId: "st1",
          instrumentId: "fund-a",
          funding: [
            { party: h1.party, asset, amount: 10 },
            { party: stage.fund.party, asset, amount: 10 }
          ]
        }
      )
      assert.strictEqual(opened.why, "")
      const commits = Effect.gen(function* () {
        yield* Cycles.paysIn(stage, h1, "10")
        const settlement = yield* Fund.newestContract(Templates.StandingSettlement)
        const { cid } = yield* Fund.freeHolding(h1.party)
        yield* h1.act(
          Templates.exercise(Templates.StandingSettlement, settlement.cid, "Commit", {
            party: h1.party,
            holdingCid: cid,
            amount: Decimal.of("10")
          })
        )
      })
      yield* commits
      yield* thrice(() => commits)
      assert.deepEqual(yield* open, ["policy-replay warning st1"])
    }).pipe(engine())
  )

  it.effect("orders that strangers sign by the hundred", () =>
    Effect.gen(function* () {
      const { stage } = yield* Cycles.opened(["h1"])
      const stranger = yield* Fund.outsider("stranger")
      yield* thrice((nth) =>
        stranger.act(
          ...Array.from({ length: crowd / 3 }, (_, many) =>
            Templates.create(Templates.RedemptionOrder, {
              venue: stage.venue,
              fund: stage.fund.party,
              holder: stranger.party,
              orderId: `o${nth}-${many % 20}`,
              instrument: stage.asset,
              paymentAsset: { admin: stage.bank.party, id: "USD" },
              amount: null,
              units: Decimal.of(atom),
              custodian: null,
              expiresAt: null
            })
          )
        )
      )
      const found = yield* open
      assert.isTrue(found.every((text) => text.includes(" warning ")))
    }).pipe(engine())
  )
})
