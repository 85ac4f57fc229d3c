/** A dealing cycle on the ledger: all orders of a cut-off and the fund's net in one transaction, or none of it. */
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal } = Dealing

type Settling = Templates.Argument<typeof Templates.DealingCycle, "Settle">

/** domain.md's golden vector G11: subscriptions of 100000 and 50000, a redemption of 30000 units. */
export const G11 = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const { of, market, credentials } = floor
  const cycle = yield* Dealing.openCycle(floor)
  const aliceCash = yield* Dealing.give(floor, "alice", "120000")
  const bobCash = yield* Dealing.give(floor, "bob", "50000")
  const carolUnits = yield* Dealing.mint(floor, "carol", "40000")
  const subscribed = (holder: Dealing.Holder, id: string, amount: string) =>
    Dealing.subscribe(floor, { holder, id, amount, cycleCid: cycle })
  const first = yield* subscribed("alice", "sub-1", "100000")
  const second = yield* subscribed("bob", "sub-2", "50000")
  const third = yield* Dealing.redeem(floor, {
    holder: "carol",
    id: "red-1",
    units: "30000",
    cycleCid: cycle
  })
  const lots = [
    {
      lotCid: yield* Dealing.attest(floor, first, "95812.973076"),
      allocationCid: yield* Dealing.allocate(floor, {
        owner: "alice",
        holding: aliceCash,
        to: "fund",
        amount: "100000",
        reference: "sub-1"
      }),
      credentialCid: credentials.alice,
      configurationCid: null,
      intentCid: null
    },
    {
      lotCid: yield* Dealing.attest(floor, second, "47906.486538"),
      allocationCid: yield* Dealing.allocate(floor, {
        owner: "bob",
        holding: bobCash,
        to: "fund",
        amount: "50000",
        reference: "order-sub-2"
      }),
      credentialCid: credentials.bob,
      configurationCid: null,
      intentCid: null
    }
  ]
  const redemptions = [
    {
      redemptionCid: yield* Dealing.priceAt(floor, third, { units: "30000", proceeds: "31311" }),
      unitsAllocationCid: yield* Dealing.allocate(floor, {
        owner: "carol",
        holding: carolUnits,
        to: "fund",
        amount: "30000",
        reference: "red-1"
      }),
      intentCid: null,
      allocationCid: null,
      fill: null
    }
  ]
  const whole: Settling = { marketCid: market, lots, redemptions, allocations: [], provision: null }
  const settle = (argument: Settling = whole) =>
    World.act(of("venue"), Templates.exercise(Templates.DealingCycle, cycle, "Settle", argument))
  return { ...floor, floor, cycle, whole, settle }
})

describe("a dealing cycle", () => {
  it.effect("moves every order and the fund's net in one transaction", () =>
    Effect.gen(function* () {
      const { of, cash, instrument, settle } = yield* G11
      yield* settle()
      expect(yield* Dealing.balance(of("fund"), cash)).toBe("118689")
      expect(yield* Dealing.holdingsOf(of("fund"))).toHaveLength(1)
      expect(yield* Dealing.balance(of("alice"), instrument)).toBe("95812.973076")
      expect(yield* Dealing.balance(of("bob"), instrument)).toBe("47906.486538")
      expect(yield* Dealing.balance(of("carol"), instrument)).toBe("10000")
      expect(yield* Dealing.balance(of("carol"), cash)).toBe("31311")
      expect(yield* Dealing.balance(of("alice"), cash)).toBe("20000")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("would fill a part without leaving the rest to be claimed again", () =>
    Effect.gen(function* () {
      const { of, whole, settle, cash, instrument } = yield* G11
      const [redemption] = whole.redemptions
      if (redemption === undefined) return expect.unreachable()
      const fill = {
        units: decimal("10000"),
        proceeds: decimal("10437"),
        remainderId: "red-1-rest",
        cycleCid: null
      }
      const receipt = yield* settle({ ...whole, redemptions: [{ ...redemption, fill }] })
      expect(World.created(receipt, "RedemptionClaim")).toHaveLength(1)
      expect(yield* Dealing.balance(of("fund"), cash)).toBe("139563")
      expect(yield* Dealing.balance(of("carol"), instrument)).toBe("30000")
    }).pipe(Effect.provide(ledger))
  )
})
