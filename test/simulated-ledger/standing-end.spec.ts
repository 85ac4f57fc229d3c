/** The end of a standing settlement by any party: nothing is lost, nothing stays locked. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as Standing from "./standing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const either = [false, true]

/** Every way to the end: of two parties that took theirs back before, after an iteration, paused. */
const ways = either.flatMap((settled) =>
  either.flatMap((paused) =>
    either.flatMap((withdrawn) =>
      (["Close", "End"] as const).map((by) => ({ settled, paused, withdrawn, by }))
    )
  )
)

describe("the end of a standing settlement", () => {
  it.effect.each(ways)(
    "by $by gives back all that is committed; settled before: $settled, paused: $paused, taken back: $withdrawn",
    ({ settled, paused, withdrawn, by }) =>
      Effect.gen(function* () {
        const scene = yield* Standing.committed
        const { sessionOf, cash, instrument } = scene
        const parties = ["alice", "bob", "fund"] as const
        /**
         * Totals of each asset that the three parties hold, locked or not, and the number of locked
         * holdings.
         */
        const books = Effect.gen(function* () {
          const held = (yield* Effect.forEach(parties, (hint) =>
            Dealing.holdingsOf(sessionOf(hint))
          )).flat()
          const of_ = (asset: Templates.Asset) =>
            Decimal.formatPlain(
              Decimal.sum(
                held.filter((one) => one.instrument.id === asset.id).map(({ amount }) => amount)
              )
            )
          const locked = held.filter(({ lock }) => lock !== null).length
          return { cash: of_(cash), units: of_(instrument), locked }
        })
        let commitments = [scene.alice, scene.bob, scene.fund]
        if (settled) {
          commitments = World.created(yield* scene.settle(scene.first), "StandingCommitment").slice(
            -3
          )
        }
        if (withdrawn) {
          const [alice = "", ...others] = commitments
          yield* World.act(
            sessionOf("alice"),
            Templates.exercise(Templates.StandingCommitment, alice, "Withdraw", {})
          )
          commitments = others
        }
        const settlement = paused
          ? yield* World.make(
              sessionOf("venue"),
              "StandingSettlement",
              Templates.exercise(Templates.StandingSettlement, scene.settlement, "Pause", {})
            )
          : scene.settlement
        const before = yield* books
        expect(before.locked).toBe(withdrawn ? 2 : 3)
        yield* World.act(
          sessionOf(by === "End" ? "fund" : "venue"),
          Templates.exercise(Templates.StandingSettlement, settlement, by, { commitments })
        )
        expect(yield* books).toEqual({ ...before, locked: 0 })
      }).pipe(Effect.provide(ledger))
  )

  it.effect("leaves what the fund did not name to the party, which takes it back itself", () =>
    Effect.gen(function* () {
      const { sessionOf, settlement, alice, bob, fund } = yield* Standing.committed
      yield* World.act(
        sessionOf("fund"),
        Templates.exercise(Templates.StandingSettlement, settlement, "End", {
          commitments: [bob, fund]
        })
      )
      const withdraw = Templates.exercise(Templates.StandingCommitment, alice, "Withdraw", {})
      yield* World.act(sessionOf("alice"), withdraw)
      const held = yield* Dealing.holdingsOf(sessionOf("alice"))
      expect(held.every(({ lock }) => lock === null)).toBe(true)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never lets a party that is not the fund end it as the fund does", () =>
    Effect.gen(function* () {
      const { sessionOf, settlement, alice, bob, fund } = yield* Standing.committed
      const end = Templates.exercise(Templates.StandingSettlement, settlement, "End", {
        commitments: [alice, bob, fund]
      })
      expect(yield* Effect.flip(World.act(sessionOf("venue"), end))).toMatchObject(
        Dealing.unauthorized
      )
    }).pipe(Effect.provide(ledger))
  )
})
