/** A standing settlement on the ledger, with all its funding committed and orders priced. */
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const { decimal, sole } = Dealing

type Iteration = Templates.Argument<typeof Templates.StandingSettlement, "Settle">

/** Alice commits 120000 of cash, Bob 40000 units, the fund 50000 of cash; Alice and Bob each order twice. */
export const committed = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const { sessionOf, market, cash, instrument, credentials } = floor
  const funding = [
    { party: sessionOf("alice").party, asset: cash, amount: decimal("120000") },
    { party: sessionOf("bob").party, asset: instrument, amount: decimal("40000") },
    { party: sessionOf("fund").party, asset: cash, amount: decimal("50000") }
  ]
  const settlement = yield* World.make(
    sessionOf("venue"),
    "StandingSettlement",
    Templates.exercise(Templates.PrimaryMarket, market, "OpenStanding", {
      standingSettlementId: "standing-1",
      funding,
      deadline: null,
      expiresAt: Dealing.farDeadline
    })
  )
  const commit = (hint: "alice" | "bob" | "fund" | "carol", holdingCid: string, amount: string) =>
    Effect.map(
      World.act(
        sessionOf(hint),
        Templates.exercise(Templates.StandingSettlement, settlement, "Commit", {
          party: sessionOf(hint).party,
          holdingCid,
          amount: decimal(amount)
        })
      ),
      (receipt) => sole(receipt, "StandingCommitment")
    )
  const alice = yield* commit("alice", yield* Dealing.give(floor, "alice", "150000"), "120000")
  const bob = yield* commit("bob", yield* Dealing.mint(floor, "bob", "40000"), "40000")
  const fund = yield* commit("fund", yield* Dealing.give(floor, "fund", "50000"), "50000")
  const lot = (id: string, amount: string, units: string) =>
    Effect.gen(function* () {
      const claim = yield* Dealing.subscribe(floor, { holder: "alice", id, amount })
      return {
        lotCid: yield* Dealing.attest(floor, claim, units),
        due: decimal(amount),
        credentialCid: credentials.alice,
        configurationCid: null,
        refund: null
      }
    })
  const redemption = (id: string, units: string, proceeds: string) =>
    Effect.gen(function* () {
      const claim = yield* Dealing.redeem(floor, { holder: "bob", id, units })
      return {
        redemptionCid: yield* Dealing.priceAt(floor, claim, { units, proceeds }),
        unitsAllocationCid: null
      }
    })
  const first = {
    marketCid: market,
    commitments: [alice, bob, fund],
    lots: [
      yield* lot("sub-1", "50000", "47906.486538"),
      yield* lot("sub-2", "60000", "57487.783845")
    ],
    redemptions: [yield* redemption("red-1", "10000", "10437")]
  } satisfies Iteration
  const settle = (of_: Iteration, on = settlement) =>
    World.act(
      sessionOf("venue"),
      Templates.exercise(Templates.StandingSettlement, on, "Settle", of_)
    )
  return {
    ...floor,
    floor,
    settlement,
    commit,
    first,
    settle,
    alice,
    bob,
    fund,
    lot,
    redemption
  }
})
