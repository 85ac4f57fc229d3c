/** A redemption paid by wire: the holder asks for the burn, the registrar burns, and the ledger moves no cash. */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal, aborts, unauthorized } = Dealing

type Settling = Templates.Argument<typeof Templates.PricedRedemption, "Settle">

/** A claim by wire: the venue's alone. */
const byWire = ({ sessionOf, instrument }: Dealing.Floor) =>
  World.make(
    sessionOf("venue"),
    "RedemptionClaim",
    Templates.create(Templates.RedemptionClaim, {
      venue: sessionOf("venue").party,
      redemptionId: "red-1",
      orderId: null,
      instrument,
      holder: sessionOf("alice").party,
      custodian: sessionOf("custodian").party,
      fund: null,
      mode: "wire",
      currency: "EUR",
      paymentAsset: null,
      orderedUnits: decimal("1000"),
      orderedAmount: null,
      oracle: sessionOf("oracle").party,
      cycleId: null,
      remainderOf: null,
      cutOffAt: null
    })
  )

describe("a redemption paid by wire", () => {
  const priced = Effect.gen(function* () {
    const floor = yield* Dealing.floor
    const holding = yield* Dealing.mint(floor, "alice", "1500")
    const claim = yield* byWire(floor)
    const redemption = yield* Dealing.priceAt(floor, claim, { units: "1000", proceeds: "1043.7" })
    return { ...floor, floor, holding, redemption }
  })
  const request = (
    { sessionOf, holding }: Effect.Success<typeof priced>,
    by: { readonly amount?: string; readonly executeBefore?: Instant.Instant } = {}
  ) =>
    World.act(
      sessionOf("alice"),
      Templates.exercise(Templates.Holding, holding, "RequestBurn", {
        amount: decimal(by.amount ?? "1000"),
        reference: { kind: "redemption", id: "red-1" },
        custodian: sessionOf("custodian").party,
        executeBefore: by.executeBefore ?? Dealing.farDeadline
      })
    )
  const settling: Settling = {
    marketCid: null,
    unitsAllocationCid: null,
    allocationCid: null,
    holdingCids: [],
    intentCid: null,
    evidence: "ab".repeat(32),
    fill: null
  }

  it.effect("is burned by the registrar on the holder's request, then ended", () =>
    Effect.gen(function* () {
      const at = yield* priced
      const { sessionOf, redemption } = at
      const burn = Dealing.sole(yield* request(at), "BurnRequest")
      expect(yield* Dealing.balance(sessionOf("alice"), at.instrument)).toBe("1500")
      yield* World.act(
        sessionOf("registrar"),
        Templates.exercise(Templates.BurnRequest, burn, "Accept", {})
      )
      expect(yield* Dealing.balance(sessionOf("alice"), at.instrument)).toBe("500")
      const settle = Templates.exercise(Templates.PricedRedemption, redemption, "Settle", settling)
      yield* World.act(sessionOf("venue"), settle)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would move something on the ledger, or be gated there", () =>
    Effect.gen(function* () {
      const { sessionOf, floor, holding, redemption } = yield* priced
      const unitsAllocationCid = yield* Dealing.allocate(floor, {
        owner: "alice",
        holding,
        to: "fund",
        amount: "1000",
        reference: "red-1"
      })
      const settle = (argument: Partial<Settling>) =>
        Effect.flip(
          World.act(
            sessionOf("venue"),
            Templates.exercise(Templates.PricedRedemption, redemption, "Settle", {
              ...settling,
              ...argument
            })
          )
        )
      const part = {
        units: decimal("10"),
        proceeds: decimal("10"),
        remainderId: "rest",
        cutOffAt: Instant.of("2030-01-01T00:00:00Z"),
        cycleCid: null
      }
      const paid = aborts("the redemption is paid by wire")
      expect(yield* settle({ unitsAllocationCid })).toMatchObject(paid)
      expect(yield* settle({ allocationCid: unitsAllocationCid })).toMatchObject(paid)
      expect(yield* settle({ holdingCids: [holding] })).toMatchObject(paid)
      expect(yield* settle({ fill: part })).toMatchObject(
        aborts("a redemption paid by wire is settled whole")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect.each([
    ["registrar", "Reject"],
    ["alice", "Withdraw"]
  ] as const)("a burn that the %s ends by %s frees the units", ([by, choice]) =>
    Effect.gen(function* () {
      const at = yield* priced
      const burn = Dealing.sole(yield* request(at), "BurnRequest")
      yield* World.act(
        at.sessionOf(by),
        Templates.exercise(Templates.BurnRequest, burn, choice, {})
      )
      for (const { lock } of yield* Dealing.holdingsOf(at.sessionOf("alice")))
        expect(lock).toBeNull()
      expect(yield* Dealing.balance(at.sessionOf("alice"), at.instrument)).toBe("1500")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("no more is burned than there is, and nothing after its time", () =>
    Effect.gen(function* () {
      const at = yield* priced
      expect(yield* Effect.flip(request(at, { amount: "1500.000001" }))).toMatchObject(
        aborts("the holding has fewer units")
      )
      const past = Instant.of("1970-01-01T00:00:00Z")
      expect(yield* Effect.flip(request(at, { executeBefore: past }))).toMatchObject(
        aborts("the request would already be past")
      )
      const soon = Instant.of("1970-01-01T01:00:00Z")
      const burn = Dealing.sole(yield* request(at, { executeBefore: soon }), "BurnRequest")
      yield* TestClock.adjust("1 hour")
      const accept = Templates.exercise(Templates.BurnRequest, burn, "Accept", {})
      expect(yield* Effect.flip(World.act(at.sessionOf("registrar"), accept))).toMatchObject(
        aborts("the request is past its time")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a burned unit does not move, and the holder alone burns nothing", () =>
    Effect.gen(function* () {
      const at = yield* priced
      const receipt = yield* request(at)
      const burn = Dealing.sole(receipt, "BurnRequest")
      const locked = (yield* Dealing.holdingsOf(at.sessionOf("alice"))).find(
        ({ lock }) => lock !== null
      )
      const offer = Templates.exercise(
        Templates.Holding,
        locked?.contractId ?? "",
        "OfferTransfer",
        {
          receiver: at.sessionOf("bob").party,
          amount: decimal("1"),
          executeBefore: Dealing.farDeadline
        }
      )
      expect(yield* Effect.flip(World.act(at.sessionOf("alice"), offer))).toMatchObject(
        aborts("the holding is locked")
      )
      for (const hint of ["alice", "venue", "custodian"] as const) {
        const accept = Templates.exercise(Templates.BurnRequest, burn, "Accept", {})
        expect(yield* Effect.flip(World.act(at.sessionOf(hint), accept))).toMatchObject(
          unauthorized
        )
      }
    }).pipe(Effect.provide(ledger))
  )
})

describe("a redemption is seen", () => {
  it.effect(
    "by its holder, registrar, custodian and oracle, and by the fund that signed: nobody else",
    () =>
      Effect.gen(function* () {
        const floor = yield* Dealing.floor
        const paid = yield* Dealing.redeem(floor, { holder: "alice", id: "red-1", units: "10" })
        const wired = yield* byWire(floor)
        const seers = (contractId: string) =>
          Effect.filter(
            [
              "venue",
              "fund",
              "alice",
              "registrar",
              "custodian",
              "oracle",
              "attestor",
              "bank",
              "bob"
            ] as const,
            (hint) =>
              Effect.map(Dealing.active(floor.sessionOf(hint)), (ids) => ids.includes(contractId))
          )
        const parties = ["alice", "registrar", "custodian", "oracle"]
        expect(yield* seers(paid)).toEqual(["venue", "fund", ...parties])
        expect(yield* seers(wired)).toEqual(["venue", ...parties])
      }).pipe(Effect.provide(ledger))
  )
})
