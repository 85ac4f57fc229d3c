/**
 * Attacks of outside parties on the payments of a fund: acts that a holder or a stranger can do alone open
 * no hold, however often they are repeated (docs/domain/stopping-payments.md).
 */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { findings } from "#core/findings/Finding.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"

const engine = () => Effect.provide(world())

/** `check severity subject` of every open finding. */
const open = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(findings, { where: { state: ["open"] }, limit: 100 })
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

  it.effect("orders that strangers sign by the dozen", () =>
    Effect.gen(function* () {
      const { stage } = yield* Cycles.opened(["h1"])
      const stranger = yield* Fund.outsider("stranger")
      yield* thrice((nth) =>
        stranger.act(
          ...Array.from({ length: 40 }, (_, many) =>
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
