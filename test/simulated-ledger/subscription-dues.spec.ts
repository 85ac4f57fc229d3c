/**
 * Dues of a lot ordered in units: its price and its fee, each rounded up, by the point that prices
 * it.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal, aborts } = Dealing

type Attest = Templates.Argument<typeof Templates.SubscriptionClaim, "Attest">

/** Alice buys so many units at 1.0437, with a fee of half a percent on top. */
const lotOf = (units: string) =>
  Effect.gen(function* () {
    const floor = yield* Dealing.floor
    const { sessionOf, market, credentials } = floor
    const claim = yield* Dealing.subscribe(floor, { holder: "alice", id: "sub-1", units })
    const lot = yield* Dealing.attest(floor, claim, units)
    const settle = (amount: string) =>
      Effect.gen(function* () {
        const holding = yield* Dealing.give(floor, "alice", amount)
        const allocationCid = yield* Dealing.allocate(floor, {
          owner: "alice",
          holding,
          to: "fund",
          amount,
          reference: "order-sub-1"
        })
        return yield* World.act(
          sessionOf("venue"),
          Templates.exercise(Templates.Lot, lot, "Settle", {
            marketCid: market,
            allocationCid,
            credentialCid: credentials.alice,
            configurationCid: null,
            intentCid: null,
            refund: null
          })
        )
      })
    return { ...floor, floor, settle }
  })

const wrongCash = aborts("the allocation is not of the lot's cash")

describe("a lot ordered in units", () => {
  it.effect("costs its price and its fee, each rounded up, and not a cent less or more", () =>
    Effect.gen(function* () {
      const { sessionOf, cash, instrument, settle } = yield* lotOf("1000")
      // 1043.70, and of 5.2185 no less than 5.22.
      expect(yield* Effect.flip(settle("1048.91"))).toMatchObject(wrongCash)
      expect(yield* Effect.flip(settle("1048.93"))).toMatchObject(wrongCash)
      expect(yield* Effect.flip(settle("1048.9185"))).toMatchObject(wrongCash)
      yield* settle("1048.92")
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("1048.92")
      expect(yield* Dealing.balance(sessionOf("alice"), instrument)).toBe("1000")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be paid for where nobody said in which places its cash is counted", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const claim = yield* Dealing.subscribe(
        floor,
        { holder: "alice", id: "sub-1", units: "1000" },
        { feeRate: null, cashDecimals: null }
      )
      const lot = yield* Dealing.attest(floor, claim, "1000")
      const holding = yield* Dealing.give(floor, "alice", "1043.7")
      const allocationCid = yield* Dealing.allocate(floor, {
        owner: "alice",
        holding,
        to: "fund",
        amount: "1043.7",
        reference: "sub-1"
      })
      const settle = Templates.exercise(Templates.Lot, lot, "Settle", {
        marketCid: floor.market,
        allocationCid,
        credentialCid: floor.credentials.alice,
        configurationCid: null,
        intentCid: null,
        refund: null
      })
      expect(yield* Effect.flip(World.act(floor.sessionOf("venue"), settle))).toMatchObject(
        wrongCash
      )
    }).pipe(Effect.provide(ledger))
  )

  it("never would cost less than it is worth, or a whole cent more, for some number of units", () =>
    fc.assert(
      fc.asyncProperty(fc.bigInt(1n, 10n ** 13n), (atoms) =>
        Effect.runPromise(
          Effect.gen(function* () {
            const units = Decimal.fromAtoms(atoms * 10_000n)
            const cents = (parts: bigint) =>
              // units · price · parts/1000, of atoms at 10 places each, in cents, up.
              (Decimal.atoms(units) * Decimal.atoms(Dealing.price) * parts + 10n ** 21n - 1n) /
              10n ** 21n
            const due = cents(1_000n) + cents(5n)
            const amount = Decimal.formatPlain(Decimal.fromAtoms(due * 10n ** 8n))
            const { settle } = yield* lotOf(Decimal.formatPlain(units))
            expect((yield* settle(amount)).duplicate).toBe(false)
          }).pipe(Effect.provide(ledger))
        )
      ),
      { numRuns: 40 }
    ))

  it.effect.each([
    [{ feeRate: decimal("1.01"), cashDecimals: 2 }],
    [{ feeRate: decimal("-0.01"), cashDecimals: 2 }],
    [{ feeRate: null, cashDecimals: 11 }]
  ])("never would be claimed on terms that no figure follows from", ([dues]) =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const by = { holder: "alice", id: "sub-1", units: "1" } as const
      expect(yield* Effect.flip(Dealing.subscribe(floor, by, dues))).toMatchObject({
        code: "TEMPLATE_PRECONDITION_VIOLATED"
      })
    }).pipe(Effect.provide(ledger))
  )
})

type Row = readonly [
  what: string,
  message: string,
  other: (
    floor: Dealing.Floor
  ) => Effect.Effect<Partial<Attest>, unknown, SimulatedLedger.Participant>
]
const pointOf =
  (by: Omit<Parameters<typeof Dealing.publish>[1], "value">): Row[2] =>
  ({ sessionOf }) =>
    Effect.map(Dealing.publish(sessionOf, { value: Dealing.price, ...by }), (pointCid) => ({
      pointCid
    }))
const figures =
  (price: string, units: string): Row[2] =>
  () =>
    Effect.succeed({ price: decimal(price), units: decimal(units) })

const rows: ReadonlyArray<Row> = [
  [
    "another instrument's point",
    "the point is of another instrument",
    pointOf({ instrumentId: "FUND-B" })
  ],
  ["another oracle's point", "the point is another oracle's", pointOf({ oracle: "attestor" })],
  ["other units than ordered", "other units than ordered", figures("1.0437", "999")],
  ["a price of nothing", "price and units are positive", figures("0", "1000")],
  [
    "a price that counts beyond every amount",
    "the units are worth more than can be counted",
    figures("1000000000000000000000000000", "1000")
  ]
]

describe("an attestor's price of a lot is refused for", () => {
  it.effect.each(rows)("%s", ([, message, other]) =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const { sessionOf, point } = floor
      const claim = yield* Dealing.subscribe(floor, { holder: "alice", id: "sub-1", units: "1000" })
      const attest = Templates.exercise(Templates.SubscriptionClaim, claim, "Attest", {
        attestor: sessionOf("attestor").party,
        pointCid: point,
        price: Dealing.price,
        units: decimal("1000"),
        ...(yield* other(floor))
      })
      expect(yield* Effect.flip(World.act(sessionOf("attestor"), attest))).toMatchObject(
        aborts(message)
      )
    }).pipe(Effect.provide(ledger))
  )
})
