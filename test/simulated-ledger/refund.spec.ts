/**
 * Refunds on the ledger: the part of an order's cash that bought no units is paid from that order's
 * cash and never exceeds it, or remains a debt.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { aborts, decimal, sole, unauthorized } = Dealing
const digest = "ab".repeat(32)

/** Alice pays 50.00, of which 47 units at 1.0437 take 49.0539. */
const paidOnLedger = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const { sessionOf, market, credentials } = floor
  const claim = yield* Dealing.subscribe(floor, { holder: "alice", id: "sub-1", amount: "50" })
  const lot = yield* Dealing.attest(floor, claim, "47")
  const allocationCid = yield* Dealing.allocate(floor, {
    owner: "alice",
    holding: yield* Dealing.give(floor, "alice", "50"),
    to: "fund",
    amount: "50",
    reference: "sub-1"
  })
  const settle = (refund: string | null, by: Dealing.Hint = "venue") =>
    World.act(
      sessionOf(by),
      Templates.exercise(Templates.Lot, lot, "Settle", {
        marketCid: market,
        allocationCid,
        credentialCid: credentials.alice,
        configurationCid: null,
        intentCid: null,
        refund: refund === null ? null : decimal(refund)
      })
    )
  return { ...floor, floor, settle }
})

describe("the refund of a lot paid on the ledger", () => {
  it.effect("goes to the holder out of what it paid, and the fund keeps the rest", () =>
    Effect.gen(function* () {
      const { sessionOf, cash, instrument, settle } = yield* paidOnLedger
      yield* settle("0.94")
      expect(yield* Dealing.balance(sessionOf("alice"), cash)).toBe("0.94")
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("49.06")
      expect(yield* Dealing.balance(sessionOf("alice"), instrument)).toBe("47")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("is never more than the units leave of the cash, not by the last place", () =>
    Effect.gen(function* () {
      const { sessionOf, cash, settle } = yield* paidOnLedger
      const beyond = aborts("the refund is more than the units leave of the cash")
      expect(yield* Effect.flip(settle("0.95"))).toMatchObject(beyond)
      expect(yield* Effect.flip(settle("0.9461000001"))).toMatchObject(beyond)
      expect(yield* Effect.flip(settle("49"))).toMatchObject(beyond)
      // The refused settlements changed no balance.
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("0")
      yield* settle("0.9461")
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("49.0539")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("pays something, and is paid by the venue alone", () =>
    Effect.gen(function* () {
      const { settle } = yield* paidOnLedger
      for (const none of ["0", "-1"]) {
        expect(yield* Effect.flip(settle(none))).toMatchObject(aborts("a refund pays something"))
      }
      for (const other of ["fund", "alice", "registrar"] as const) {
        expect(yield* Effect.flip(settle("0.94", other))).toMatchObject(unauthorized)
      }
    }).pipe(Effect.provide(ledger))
  )
})

/** The same order paid by wire, delivered. */
const paidByWire = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const { sessionOf, market, credentials, instrument } = floor
  const claim = yield* World.make(
    sessionOf("venue"),
    "SubscriptionClaim",
    Templates.create(Templates.SubscriptionClaim, {
      venue: sessionOf("venue").party,
      subscriptionId: "sub-1",
      orderId: null,
      instrument,
      holder: sessionOf("alice").party,
      custodian: null,
      fund: null,
      mode: "wire",
      currency: "EUR",
      paymentAsset: null,
      cash: decimal("50"),
      feeRate: null,
      cashDecimals: 2,
      oracle: null,
      cycleId: null,
      orderedUnits: null,
      attestors: [sessionOf("attestor").party],
      required: 1,
      attested: [],
      pointCid: null,
      price: null,
      units: null
    })
  )
  const lot = yield* Dealing.attest(floor, claim, "47")
  const delivered = yield* World.act(
    sessionOf("venue"),
    Templates.exercise(Templates.Lot, lot, "Deliver", {
      marketCid: market,
      credentialCid: credentials.alice,
      configurationCid: null,
      executeBefore: null
    })
  )
  const settle = (refunded: string | null, owed: string | null) =>
    World.act(
      sessionOf("venue"),
      Templates.exercise(Templates.DeliveredLot, sole(delivered, "DeliveredLot"), "Settle", {
        allocationCid: null,
        evidence: digest,
        refunded: refunded === null ? null : { amount: decimal(refunded), evidence: digest },
        owed: owed === null ? null : decimal(owed)
      })
    )
  const pay = (contractId: string, amount: string, by: Dealing.Hint = "venue") =>
    World.act(
      sessionOf(by),
      Templates.exercise(Templates.OwedRefund, contractId, "Pay", {
        amount: decimal(amount),
        evidence: digest
      })
    )
  return { ...floor, settle, pay }
})

describe("the refund of a lot paid by wire", () => {
  it.effect("that is still owed stands as a contract its holder sees, until it is paid", () =>
    Effect.gen(function* () {
      const { sessionOf, settle, pay } = yield* paidByWire
      const owed = sole(yield* settle("0.5", "0.44"), "OwedRefund")
      expect(yield* Dealing.active(sessionOf("alice"))).toContain(owed)
      expect(yield* Dealing.active(sessionOf("fund"))).not.toContain(owed)
      expect(yield* Effect.flip(pay(owed, "0.45"))).toMatchObject(aborts("less is owed"))
      expect(yield* Effect.flip(pay(owed, "0"))).toMatchObject(aborts("a refund pays something"))
      expect(yield* Effect.flip(pay(owed, "0.1", "alice"))).toMatchObject(unauthorized)
      const rest = sole(yield* pay(owed, "0.4"), "OwedRefund")
      expect(yield* Dealing.active(sessionOf("alice"))).not.toContain(owed)
      expect(World.created(yield* pay(rest, "0.04"), "OwedRefund")).toEqual([])
      expect(yield* Dealing.active(sessionOf("alice"))).not.toContain(rest)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("is, paid and owed together, no more than the units leave of the cash", () =>
    Effect.gen(function* () {
      const { settle } = yield* paidByWire
      const beyond = aborts("the refund is more than the units leave of the cash")
      expect(yield* Effect.flip(settle("0.5", "0.45"))).toMatchObject(beyond)
      expect(yield* Effect.flip(settle("0.95", null))).toMatchObject(beyond)
      expect(yield* Effect.flip(settle(null, "0.95"))).toMatchObject(beyond)
      expect(yield* Effect.flip(settle("-1", "1"))).toMatchObject(aborts("a refund pays something"))
      yield* settle(null, null)
    }).pipe(Effect.provide(ledger))
  )
})

describe("a debt on the ledger", () => {
  it.effect("is not of an amount of nothing, whoever writes it", () =>
    Effect.gen(function* () {
      const { sessionOf, instrument } = yield* Dealing.floor
      const owes = Templates.create(Templates.OwedRefund, {
        venue: sessionOf("venue").party,
        subscriptionId: "sub-1",
        orderId: null,
        instrument,
        holder: sessionOf("alice").party,
        custodian: null,
        currency: "EUR",
        amount: Decimal.zero
      })
      expect(yield* Effect.flip(World.act(sessionOf("venue"), owes))).toMatchObject({
        code: "TEMPLATE_PRECONDITION_VIOLATED"
      })
    }).pipe(Effect.provide(ledger))
  )
})
