/** A redemption on the ledger alone: from a signed order to burned units and paid cash, and everything that would be another's. */
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal, aborts } = Dealing

type Settling = Templates.Argument<typeof Templates.PricedRedemption, "Settle">

/** Alice redeems 1000 of her 1500 units for 1043.70; she and the fund have put both in place. */
const scene = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const { sessionOf, market } = floor
  const units = yield* Dealing.mint(floor, "alice", "1500")
  const cash = yield* Dealing.give(floor, "fund", "5000")
  const claim = yield* Dealing.redeem(floor, { holder: "alice", id: "red-1", units: "1000" })
  const priced = yield* Dealing.priceAt(floor, claim, { units: "1000", proceeds: "1043.7" })
  const fromAlice: By = {
    owner: "alice",
    holding: units,
    to: "fund",
    amount: "1000",
    reference: "red-1"
  }
  const fromFund: By = {
    owner: "fund",
    holding: cash,
    to: "alice",
    amount: "1043.7",
    reference: "red-1"
  }
  const settle = (argument: Partial<Settling>) =>
    World.act(
      sessionOf("venue"),
      Templates.exercise(Templates.PricedRedemption, priced, "Settle", {
        marketCid: market,
        unitsAllocationCid: null,
        allocationCid: null,
        holdingCids: [],
        intentCid: null,
        evidence: null,
        fill: null,
        ...argument
      })
    )
  return { ...floor, floor, units, cashCid: cash, priced, fromAlice, fromFund, settle }
})

const both = (at: Effect.Success<typeof scene>) =>
  Effect.gen(function* () {
    return {
      unitsAllocationCid: yield* Dealing.allocate(at.floor, at.fromAlice),
      allocationCid: yield* Dealing.allocate(at.floor, at.fromFund)
    }
  })

const intent = (sessionOf: Dealing.Floor["sessionOf"], cash: Templates.Asset, id: string) =>
  World.make(
    sessionOf("venue"),
    "SettlementIntent",
    Templates.create(Templates.SettlementIntent, {
      venue: sessionOf("venue").party,
      settlementId: id,
      reference: { kind: "redemption", id },
      legs: [
        {
          legId: "cash",
          sender: sessionOf("fund").party,
          receiver: sessionOf("alice").party,
          instrument: cash,
          amount: decimal("1043.7")
        }
      ],
      requestedAt: Dealing.farDeadline,
      allocateBefore: Dealing.farDeadline,
      settleBefore: Dealing.farDeadline
    })
  )

describe("a redemption paid on the ledger", () => {
  it.effect("burns and pays in one transaction, and leaves the rest to the holder", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const intentCid = yield* intent(at.sessionOf, at.cash, "red-1")
      yield* at.settle({ ...(yield* both(at)), intentCid })
      expect(yield* Dealing.balance(at.sessionOf("alice"), at.instrument)).toBe("500")
      expect(yield* Dealing.balance(at.sessionOf("alice"), at.cash)).toBe("1043.7")
      expect(yield* Dealing.balance(at.sessionOf("fund"), at.cash)).toBe("3956.3")
      expect(yield* Dealing.balance(at.sessionOf("fund"), at.instrument)).toBe("0")
      for (const { lock } of yield* Dealing.holdingsOf(at.sessionOf("alice")))
        expect(lock).toBeNull()
    }).pipe(Effect.provide(ledger))
  )

  it.effect("is paid out of cash that the fund has named", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const second = yield* Dealing.give(at.floor, "fund", "100")
      const unitsAllocationCid = yield* Dealing.allocate(at.floor, at.fromAlice)
      yield* at.settle({ unitsAllocationCid, holdingCids: [at.cashCid, second] })
      expect(yield* Dealing.balance(at.sessionOf("alice"), at.cash)).toBe("1043.7")
      expect(yield* Dealing.balance(at.sessionOf("fund"), at.cash)).toBe("4056.3")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("gives back what is allocated beyond what is burned", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const allocated = yield* both({ ...at, fromAlice: { ...at.fromAlice, amount: "1200" } })
      yield* at.settle(allocated)
      expect(yield* Dealing.balance(at.sessionOf("alice"), at.instrument)).toBe("500")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a released one gives units and cash back", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const allocated = yield* both(at)
      const intentCid = yield* intent(at.sessionOf, at.cash, "red-1")
      yield* World.act(
        at.sessionOf("venue"),
        Templates.exercise(Templates.PricedRedemption, at.priced, "Release", {
          ...allocated,
          intentCid
        })
      )
      for (const hint of ["alice", "fund"] as const) {
        for (const { lock } of yield* Dealing.holdingsOf(at.sessionOf(hint)))
          expect(lock).toBeNull()
      }
      expect(yield* Dealing.balance(at.sessionOf("alice"), at.instrument)).toBe("1500")
      expect(yield* Dealing.balance(at.sessionOf("fund"), at.cash)).toBe("5000")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be released with another order's request, units or cash", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const release = (
        argument: Partial<Templates.Argument<typeof Templates.PricedRedemption, "Release">>
      ) =>
        Effect.flip(
          World.act(
            at.sessionOf("venue"),
            Templates.exercise(Templates.PricedRedemption, at.priced, "Release", {
              unitsAllocationCid: null,
              allocationCid: null,
              intentCid: null,
              ...argument
            })
          )
        )
      const intentCid = yield* intent(at.sessionOf, at.cash, "red-9")
      expect(yield* release({ intentCid })).toMatchObject(
        aborts("the settlement is of another order")
      )
      const units = yield* Dealing.allocate(at.floor, { ...at.fromAlice, reference: "red-9" })
      const cash = yield* Dealing.allocate(at.floor, { ...at.fromFund, reference: "red-9" })
      const others = aborts("the allocation is for another order")
      expect(yield* release({ unitsAllocationCid: units })).toMatchObject(others)
      expect(yield* release({ allocationCid: cash })).toMatchObject(others)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("one withdrawn before its price gives back what was allocated early", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const claim = yield* Dealing.redeem(at.floor, { holder: "alice", id: "red-2", units: "10" })
      const unitsAllocationCid = yield* Dealing.allocate(at.floor, {
        ...at.fromAlice,
        amount: "10",
        reference: "order-red-2"
      })
      yield* World.act(
        at.sessionOf("venue"),
        Templates.exercise(Templates.RedemptionClaim, claim, "Withdraw", {
          unitsAllocationCid,
          allocationCid: null,
          intentCid: null
        })
      )
      for (const { lock } of yield* Dealing.holdingsOf(at.sessionOf("alice")))
        expect(lock).toBeNull()
    }).pipe(Effect.provide(ledger))
  )
})

type Scene = Effect.Success<typeof scene>
type Wrong = readonly [
  what: string,
  message: string,
  argument: (at: Scene) => Effect.Effect<Partial<Settling>, unknown, SimulatedLedger.Participant>
]

type By = Parameters<typeof Dealing.allocate>[1]

const otherUnits = (at: Scene, by: Partial<By>) =>
  both({ ...at, fromAlice: { ...at.fromAlice, ...by } })
const otherCash = (at: Scene, by: Partial<By>) =>
  both({ ...at, fromFund: { ...at.fromFund, ...by } })

const fill = (units: string, proceeds: string, remainderId = "red-1-rest") => ({
  fill: {
    units: decimal(units),
    proceeds: decimal(proceeds),
    remainderId,
    cutOffAt: Dealing.farDeadline,
    cycleCid: null
  }
})
/** A part, with the cash of that part. */
const part =
  (...args: Parameters<typeof fill>): Wrong[2] =>
  (at) =>
    Effect.map(both({ ...at, fromFund: { ...at.fromFund, amount: args[1] } }), (allocated) => ({
      ...allocated,
      ...fill(...args)
    }))

const wrong: ReadonlyArray<Wrong> = [
  [
    "units of another order",
    "the allocation is for another order",
    (at) => otherUnits(at, { reference: "red-9" })
  ],
  [
    "units that somebody else executes",
    "the venue does not execute the allocation",
    (at) => otherUnits(at, { executor: "bob", to: "venue" })
  ],
  [
    "units on their way to somebody else",
    "the allocation goes to another receiver",
    (at) => otherUnits(at, { to: "bob" })
  ],
  [
    "another holder's units",
    "the allocation is another sender's",
    (at) =>
      Effect.flatMap(Dealing.mint(at.floor, "bob", "1000"), (holding) =>
        otherUnits(at, { owner: "bob", holding })
      )
  ],
  [
    "cash in the place of units",
    "the allocation is of another asset",
    (at) =>
      Effect.flatMap(Dealing.give(at.floor, "alice", "1000"), (holding) =>
        otherUnits(at, { holding })
      )
  ],
  ["too few units", "fewer units are allocated", (at) => otherUnits(at, { amount: "999.999999" })],
  [
    "too little cash",
    "the allocation is not of the proceeds",
    (at) => otherCash(at, { amount: "1043.69" })
  ],
  [
    "too much cash",
    "the allocation is not of the proceeds",
    (at) => otherCash(at, { amount: "1043.71" })
  ],
  [
    "cash of another order",
    "the allocation is for another order",
    (at) => otherCash(at, { reference: "red-9" })
  ],
  [
    "cash that somebody else executes",
    "the venue does not execute the allocation",
    (at) => otherCash(at, { executor: "bob", to: "venue" })
  ],
  [
    "cash to another holder",
    "the allocation goes to another receiver",
    (at) => otherCash(at, { to: "bob" })
  ],
  [
    "cash that is not the fund's",
    "the allocation is another sender's",
    (at) =>
      Effect.flatMap(Dealing.give(at.floor, "carol", "2000"), (holding) =>
        otherCash(at, { owner: "carol", holding })
      )
  ],
  [
    "another currency",
    "the allocation is of another asset",
    (at) =>
      Effect.flatMap(Dealing.give(at.floor, "fund", "2000", { ...at.cash, id: "USD" }), (holding) =>
        otherCash(at, { holding })
      )
  ],
  [
    "no cash at all",
    "a redemption paid on the ledger needs its cash",
    (at) => Effect.map(both(at), (allocated) => ({ ...allocated, allocationCid: null }))
  ],
  [
    "cash twice over",
    "the fund's own allocation pays alone",
    (at) =>
      Effect.gen(function* () {
        const second = yield* Dealing.give(at.floor, "fund", "2000")
        return { ...(yield* both(at)), holdingCids: [second] }
      })
  ],
  [
    "cash named by somebody else",
    "a holding is not the fund's",
    (at) =>
      Effect.gen(function* () {
        const carols = yield* Dealing.give(at.floor, "carol", "2000")
        return { ...(yield* both(at)), allocationCid: null, holdingCids: [carols] }
      })
  ],
  [
    "named cash of another asset",
    "a holding is of another asset",
    (at) =>
      Effect.gen(function* () {
        const dollars = yield* Dealing.give(at.floor, "fund", "2000", { ...at.cash, id: "USD" })
        return { ...(yield* both(at)), allocationCid: null, holdingCids: [dollars] }
      })
  ],
  [
    "the market of another fund",
    "the market is another fund's",
    (at) =>
      Effect.gen(function* () {
        const terms = { marketId: "m2", instrument: at.instrument, fundHint: "custodian" } as const
        const marketCid = yield* Dealing.marketOf(at.sessionOf, terms)
        return { ...(yield* both(at)), marketCid }
      })
  ],
  [
    "cash for a part that pays nothing",
    "there is nothing to pay",
    (at) => Effect.map(both(at), (allocated) => ({ ...allocated, ...fill("0", "0") }))
  ],
  [
    "a part that burns units for nothing",
    "a part that is paid nothing burns nothing",
    (at) =>
      Effect.map(both(at), (allocated) => ({
        ...allocated,
        allocationCid: null,
        ...fill("0.000001", "0")
      }))
  ],
  [
    "units nobody burns, paid out of named cash",
    "units that are not burned here are the fund's to pay",
    (at) => Effect.succeed({ holdingCids: [at.cashCid] })
  ],
  [
    "units nobody burns, in part",
    "a part is burned out of what the holder allocated",
    (at) => Effect.map(part("500", "521.85")(at), (all) => ({ ...all, unitsAllocationCid: null }))
  ],
  [
    "a burn without the market",
    "burning needs the market's word",
    (at) => Effect.map(both(at), (allocated) => ({ ...allocated, marketCid: null }))
  ],
  [
    "the market of another instrument",
    "the market is of another instrument",
    (at) =>
      Effect.gen(function* () {
        const instrument = { ...at.instrument, id: "FUND-B" }
        const marketCid = yield* Dealing.marketOf(at.sessionOf, { marketId: "m2", instrument })
        return { ...(yield* both(at)), marketCid }
      })
  ],
  [
    "a request of another order",
    "the settlement is of another order",
    (at) =>
      Effect.gen(function* () {
        const intentCid = yield* intent(at.sessionOf, at.cash, "red-9")
        return { ...(yield* both(at)), intentCid }
      })
  ],
  ["a part that is the whole", "a gate leaves units over", part("1000", "1043.7")],
  ["a part of less than nothing", "a gate fills no less than nothing", part("-1", "1")],
  ["a part paid above its price", "more than the part's price", part("500", "521.86")],
  [
    "a part paid below its share",
    "less than the part's share of the proceeds",
    part("500", "521.83")
  ],
  [
    "a rest under the name of the whole",
    "the rest needs a name of its own",
    part("500", "521.85", "red-1")
  ]
]

describe("the settlement of a redemption is refused with", () => {
  it.effect.each(wrong)("%s", ([, message, argument]) =>
    Effect.gen(function* () {
      const at = yield* scene
      const settleArgument = yield* argument(at)
      expect(yield* Effect.flip(at.settle(settleArgument))).toMatchObject(aborts(message))
      expect(yield* Dealing.balance(at.sessionOf("alice"), at.instrument)).toBe("1500")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("cash of the fund's that the venue was shown, though the fund has not named it", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const fund = at.sessionOf("fund")
      const unitsAllocationCid = yield* Dealing.allocate(at.floor, at.fromAlice)
      const unnamed = yield* Dealing.give(at.floor, "fund", "2000", at.cash, "fund")
      const participant = yield* SimulatedLedger.Participant
      const end = yield* participant.ledgerEnd
      const createdEventBlob = yield* World.blobOf(fund, unnamed, end, Templates.Holding.typeRef)
      const settle = Templates.exercise(Templates.PricedRedemption, at.priced, "Settle", {
        marketCid: at.market,
        unitsAllocationCid,
        allocationCid: null,
        holdingCids: [unnamed],
        intentCid: null,
        evidence: null,
        fill: null
      })
      const shown = at.sessionOf("venue").submit({
        ...World.submission(settle),
        disclosed: [{ createdEventBlob, contractId: unnamed }]
      })
      expect(yield* Effect.flip(shown)).toMatchObject(aborts("the fund has not named this cash"))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("more for a part than the whole comes to after its fee", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const claim = yield* Dealing.redeem(at.floor, { holder: "alice", id: "red-2", units: "1000" })
      const figures = { units: "1000", proceeds: "1000" }
      const afterFee = yield* Dealing.priceAt(at.floor, claim, figures)
      const unitsAllocationCid = yield* Dealing.allocate(at.floor, {
        ...at.fromAlice,
        reference: "red-2"
      })
      const settle = Templates.exercise(Templates.PricedRedemption, afterFee, "Settle", {
        marketCid: at.market,
        unitsAllocationCid,
        allocationCid: null,
        holdingCids: [at.cashCid],
        intentCid: null,
        evidence: null,
        ...fill("999", "1001")
      })
      expect(yield* Effect.flip(World.act(at.sessionOf("venue"), settle))).toMatchObject(
        aborts("a part pays no more than the whole")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a gate's part: burns and pays that, and the rest is claimed again unpriced", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const receipt = yield* at.settle(yield* part("400.000001", "417.48")(at))
      expect(yield* Dealing.balance(at.sessionOf("alice"), at.instrument)).toBe("1099.999999")
      expect(yield* Dealing.balance(at.sessionOf("alice"), at.cash)).toBe("417.48")
      const nodes = yield* World.nodes(at.sessionOf("alice"), receipt)
      const rest = nodes.find(
        (node) => node._tag === "Created" && node.template.entity === "RedemptionClaim"
      )
      expect(rest).toMatchObject({
        payload: {
          redemptionId: "red-1-rest",
          orderedUnits: "599.9999990000",
          orderedAmount: null,
          remainderOf: "red-1",
          orderId: "order-red-1"
        }
      })
    }).pipe(Effect.provide(ledger))
  )
})
