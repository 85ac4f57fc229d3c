/** A standing settlement and a provision on the ledger: what is committed pays orders alone, and comes back whole. */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Dealing from "./dealing.ts"
import { committed } from "./standing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { aborts, decimal, unauthorized } = Dealing

describe("a standing settlement", () => {
  it.effect("pays each order out of what its payer committed, and the rest stays committed", () =>
    Effect.gen(function* () {
      const { sessionOf, cash, instrument, first, settle, settlement, lot } = yield* committed
      const receipt = yield* settle(first)
      const left = World.created(receipt, "StandingCommitment")
      expect(yield* Dealing.balance(sessionOf("alice"), instrument)).toBe("105394.270383")
      expect(yield* Dealing.balance(sessionOf("alice"), cash)).toBe("40000")
      expect(yield* Dealing.balance(sessionOf("bob"), instrument)).toBe("30000")
      expect(yield* Dealing.balance(sessionOf("bob"), cash)).toBe("10437")
      // 50000 committed less 10437 paid, and 110000 of subscriptions.
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("149563")
      // Alice's 10000, Bob's 30000 units and the fund's 39563 go on.
      const again = {
        ...first,
        commitments: left.slice(-3),
        lots: [yield* lot("sub-3", "10000", "9581.297307")],
        redemptions: []
      }
      yield* settle(again, settlement)
      expect(yield* Dealing.balance(sessionOf("alice"), cash)).toBe("30000")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would pay more than its payer committed", () =>
    Effect.gen(function* () {
      const { first, settle, lot } = yield* committed
      const lots = [...first.lots, yield* lot("sub-3", "20000", "19162.594615")]
      expect(yield* Effect.flip(settle({ ...first, lots }))).toMatchObject(
        aborts("less is committed than the order takes")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would settle while it is paused, and by hands other than the venue's", () =>
    Effect.gen(function* () {
      const { sessionOf, first, settle, settlement } = yield* committed
      const iteration = Templates.exercise(
        Templates.StandingSettlement,
        settlement,
        "Settle",
        first
      )
      expect(yield* Effect.flip(World.act(sessionOf("fund"), iteration))).toMatchObject(
        unauthorized
      )
      const pause = Templates.exercise(Templates.StandingSettlement, settlement, "Pause", {})
      const paused = yield* World.make(sessionOf("venue"), "StandingSettlement", pause)
      expect(yield* Effect.flip(settle(first, paused))).toMatchObject(
        aborts("the standing settlement is paused")
      )
      const resume = Templates.exercise(Templates.StandingSettlement, paused, "Resume", {})
      yield* settle(first, yield* World.make(sessionOf("venue"), "StandingSettlement", resume))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("is paused once and resumed once: neither does anything a second time", () =>
    Effect.gen(function* () {
      const { sessionOf, settlement } = yield* committed
      const choice = (on: string, name: "Pause" | "Resume") =>
        Templates.exercise(Templates.StandingSettlement, on, name, {})
      expect(
        yield* Effect.flip(World.act(sessionOf("venue"), choice(settlement, "Resume")))
      ).toMatchObject(aborts("it is not paused"))
      const pause = choice(settlement, "Pause")
      const paused = yield* World.make(sessionOf("venue"), "StandingSettlement", pause)
      expect(
        yield* Effect.flip(World.act(sessionOf("venue"), choice(paused, "Pause")))
      ).toMatchObject(aborts("it is paused"))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would let the venue alone take what a party committed", () =>
    Effect.gen(function* () {
      const { sessionOf, alice } = yield* committed
      const use = Templates.exercise(Templates.StandingCommitment, alice, "Use", {
        reference: "mine",
        receiver: sessionOf("venue").party,
        amount: decimal("1")
      })
      expect(yield* Effect.flip(World.act(sessionOf("venue"), use))).toMatchObject(unauthorized)
    }).pipe(Effect.provide(ledger))
  )

  it.effect(
    "never would keep what is committed after it is closed, or from a party that takes it back",
    () =>
      Effect.gen(function* () {
        const { sessionOf, cash, alice, bob, fund, settlement } = yield* committed
        const withdraw = Templates.exercise(Templates.StandingCommitment, alice, "Withdraw", {})
        yield* World.act(sessionOf("alice"), withdraw)
        const close = Templates.exercise(Templates.StandingSettlement, settlement, "Close", {
          commitments: [bob, fund]
        })
        yield* World.act(sessionOf("venue"), close)
        const free = (session: ReturnType<typeof sessionOf>) =>
          Effect.map(Dealing.holdingsOf(session), (all) => all.every(({ lock }) => lock === null))
        expect(yield* free(sessionOf("alice"))).toBe(true)
        expect(yield* free(sessionOf("bob"))).toBe(true)
        expect(yield* free(sessionOf("fund"))).toBe(true)
        expect(yield* Dealing.balance(sessionOf("alice"), cash)).toBe("150000")
      }).pipe(Effect.provide(ledger))
  )

  it.effect("never takes funding that nobody asked for, or more of it", () =>
    Effect.gen(function* () {
      const { floor, commit } = yield* committed
      const stranger = commit("carol", yield* Dealing.give(floor, "carol", "10"), "10")
      expect(yield* Effect.flip(stranger)).toMatchObject({ code: "CONTRACT_NOT_FOUND" })
      const units = commit("alice", yield* Dealing.mint(floor, "alice", "5"), "5")
      expect(yield* Effect.flip(units)).toMatchObject(aborts("nobody asked for this funding"))
      const more = commit("alice", yield* Dealing.give(floor, "alice", "130000"), "130000")
      expect(yield* Effect.flip(more)).toMatchObject(aborts("nobody asked for this funding"))
    }).pipe(Effect.provide(ledger))
  )
})

describe("a provision settlement", () => {
  const provided = (terms: { readonly limit?: string; readonly until?: string }) =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const { sessionOf, cash } = floor
      const proposal = yield* World.make(
        sessionOf("venue"),
        "ProvisionSettlementProposal",
        Templates.create(Templates.ProvisionSettlementProposal, {
          venue: sessionOf("venue").party,
          fund: sessionOf("fund").party,
          provisionId: "provision-1",
          instrumentId: "FUND-A",
          cash,
          limit: terms.limit === undefined ? null : decimal(terms.limit),
          until: terms.until === undefined ? null : Instant.of(terms.until)
        })
      )
      const accept = Templates.exercise(
        Templates.ProvisionSettlementProposal,
        proposal,
        "Accept",
        {}
      )
      const provision = yield* World.make(sessionOf("fund"), "ProvisionSettlement", accept)
      const draw = (holdingCids: ReadonlyArray<string>, amount: string) =>
        World.act(
          sessionOf("venue"),
          Templates.exercise(Templates.ProvisionSettlement, provision, "Draw", {
            holdingCids,
            receiver: sessionOf("carol").party,
            amount: decimal(amount),
            reference: "red-1",
            settleBefore: Dealing.farDeadline
          })
        )
      return { ...floor, floor, draw }
    })

  it.effect("draws what is owed from cash the fund named, out of several holdings", () =>
    Effect.gen(function* () {
      const { sessionOf, floor, draw, cash } = yield* provided({})
      const named = [
        yield* Dealing.give(floor, "fund", "60"),
        yield* Dealing.give(floor, "fund", "50")
      ]
      const receipt = yield* draw(named, "100")
      expect(World.created(receipt, "Allocation")).toHaveLength(1)
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("110")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be drawn on beyond its limit, its time, or in another's cash", () =>
    Effect.gen(function* () {
      const { floor, draw } = yield* provided({ limit: "100", until: "1970-01-02T00:00:00Z" })
      const own = yield* Dealing.give(floor, "fund", "500")
      const carols = yield* Dealing.give(floor, "carol", "500")
      expect(yield* Effect.flip(draw([own], "101"))).toMatchObject(
        aborts("more than the fund allows")
      )
      expect(yield* Effect.flip(draw([carols], "10"))).toMatchObject(
        aborts("a holding is not the fund's")
      )
      const other = { admin: floor.sessionOf("custodian").party, id: "USD" }
      const foreign = yield* Dealing.give(floor, "fund", "5", other)
      expect(yield* Effect.flip(draw([foreign], "1"))).toMatchObject(
        aborts("a holding is of another asset")
      )
      expect(yield* Effect.flip(draw([], "1"))).toMatchObject(
        aborts("a draw names the fund's cash")
      )
      yield* TestClock.adjust("25 hours")
      expect(yield* Effect.flip(draw([own], "10"))).toMatchObject(
        aborts("the fund's consent is past its time")
      )
    }).pipe(Effect.provide(ledger))
  )
})
