/** A market that its fund has ended: it takes nothing new, and what was ordered before settles under it. */
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { aborts } = Dealing

const ends = ({ sessionOf }: Dealing.Floor, market: string) =>
  World.make(
    sessionOf("fund"),
    "PrimaryMarket",
    Templates.exercise(Templates.PrimaryMarket, market, "End", {})
  )

describe("a market that its fund has ended", () => {
  it.effect("never takes an order, opens a cycle, or ends again", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const market = yield* ends(floor, floor.market)
      const past = aborts("the market is past its time")
      const after = { ...floor, market }
      for (const late of [
        Dealing.subscribe(after, { holder: "alice", id: "sub-1", amount: "100" }),
        Dealing.redeem(after, { holder: "alice", id: "red-1", units: "100" }),
        Dealing.openCycle(after),
        ends(floor, market)
      ]) {
        expect(yield* Effect.flip(late)).toMatchObject(past)
      }
    }).pipe(Effect.provide(ledger))
  )

  it.effect("burns nothing that was ordered while it was agreed", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const units = yield* Dealing.mint(floor, "alice", "1500")
      const cash = yield* Dealing.give(floor, "fund", "5000")
      const claim = yield* Dealing.redeem(floor, { holder: "alice", id: "red-1", units: "1000" })
      const priced = yield* Dealing.priceAt(floor, claim, { units: "1000", proceeds: "1043.7" })
      const marketCid = yield* ends(floor, floor.market)
      const locks = { amount: "1000", reference: "red-1" }
      const unitsAllocationCid = yield* Dealing.allocate(floor, {
        owner: "alice",
        holding: units,
        to: "fund",
        ...locks
      })
      const allocationCid = yield* Dealing.allocate(floor, {
        owner: "fund",
        holding: cash,
        to: "alice",
        ...locks,
        amount: "1043.7"
      })
      yield* World.act(
        floor.sessionOf("venue"),
        Templates.exercise(Templates.PricedRedemption, priced, "Settle", {
          marketCid,
          unitsAllocationCid,
          allocationCid,
          holdingCids: [],
          intentCid: null,
          evidence: null,
          fill: null
        })
      )
      expect(yield* Dealing.balance(floor.sessionOf("alice"), floor.instrument)).toBe("500")
      expect(yield* Dealing.balance(floor.sessionOf("alice"), floor.cash)).toBe("1043.7")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never is ended by anybody but its fund", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      for (const hint of ["venue", "registrar", "oracle"] as const) {
        const refused = yield* Effect.flip(
          World.act(
            floor.sessionOf(hint),
            Templates.exercise(Templates.PrimaryMarket, floor.market, "End", {})
          )
        )
        expect(refused).toMatchObject({ _tag: "Refused" })
      }
      expect(yield* ends(floor, floor.market)).not.toBe(floor.market)
    }).pipe(Effect.provide(ledger))
  )
})
