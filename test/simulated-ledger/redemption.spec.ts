/** A redemption on the ledger alone: from a signed order to burned units and paid cash, and everything that would be another's. */
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

/** Alice redeems 1000 of her 1500 units for 1043.70; she and the fund have put both in place. */
const scene = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const { of, market } = floor
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
      of("venue"),
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

const intent = (of: Dealing.Floor["of"], cash: Templates.Asset, id: string) =>
  World.make(
    of("venue"),
    "SettlementIntent",
    Templates.create(Templates.SettlementIntent, {
      venue: of("venue").party,
      settlementId: id,
      reference: { kind: "redemption", id },
      legs: [
        {
          legId: "cash",
          sender: of("fund").party,
          receiver: of("alice").party,
          instrument: cash,
          amount: decimal("1043.7")
        }
      ],
      requestedAt: Dealing.later,
      allocateBefore: Dealing.later,
      settleBefore: Dealing.later
    })
  )

describe("a redemption paid on the ledger", () => {
  it.effect("burns and pays in one transaction, and leaves the rest to the holder", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const intentCid = yield* intent(at.of, at.cash, "red-1")
      yield* at.settle({ ...(yield* both(at)), intentCid })
      expect(yield* Dealing.balance(at.of("alice"), at.instrument)).toBe("500")
      expect(yield* Dealing.balance(at.of("alice"), at.cash)).toBe("1043.7")
      expect(yield* Dealing.balance(at.of("fund"), at.cash)).toBe("3956.3")
      expect(yield* Dealing.balance(at.of("fund"), at.instrument)).toBe("0")
      for (const { lock } of yield* Dealing.holdingsOf(at.of("alice"))) expect(lock).toBeNull()
    }).pipe(Effect.provide(ledger))
  )

  it.effect("is paid out of cash that the fund has named", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const second = yield* Dealing.give(at.floor, "fund", "100")
      const unitsAllocationCid = yield* Dealing.allocate(at.floor, at.fromAlice)
      yield* at.settle({ unitsAllocationCid, holdingCids: [at.cashCid, second] })
      expect(yield* Dealing.balance(at.of("alice"), at.cash)).toBe("1043.7")
      expect(yield* Dealing.balance(at.of("fund"), at.cash)).toBe("4056.3")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("gives back what is allocated beyond what is burned", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const allocated = yield* both({ ...at, fromAlice: { ...at.fromAlice, amount: "1200" } })
      yield* at.settle(allocated)
      expect(yield* Dealing.balance(at.of("alice"), at.instrument)).toBe("500")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a released one gives units and cash back", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const allocated = yield* both(at)
      const intentCid = yield* intent(at.of, at.cash, "red-1")
      yield* World.act(
        at.of("venue"),
        Templates.exercise(Templates.PricedRedemption, at.priced, "Release", {
          ...allocated,
          intentCid
        })
      )
      for (const hint of ["alice", "fund"] as const) {
        for (const { lock } of yield* Dealing.holdingsOf(at.of(hint))) expect(lock).toBeNull()
      }
      expect(yield* Dealing.balance(at.of("alice"), at.instrument)).toBe("1500")
      expect(yield* Dealing.balance(at.of("fund"), at.cash)).toBe("5000")
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
        at.of("venue"),
        Templates.exercise(Templates.RedemptionClaim, claim, "Withdraw", {
          unitsAllocationCid,
          allocationCid: null,
          intentCid: null
        })
      )
      for (const { lock } of yield* Dealing.holdingsOf(at.of("alice"))) expect(lock).toBeNull()
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
  fill: { units: decimal(units), proceeds: decimal(proceeds), remainderId, cycleCid: null }
})
/** A part, with the cash of that part. */
const part =
  (...of: Parameters<typeof fill>): Wrong[2] =>
  (at) =>
    Effect.map(both({ ...at, fromFund: { ...at.fromFund, amount: of[1] } }), (allocated) => ({
      ...allocated,
      ...fill(...of)
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
        const marketCid = yield* Dealing.marketOf(at.of, { marketId: "m2", instrument })
        return { ...(yield* both(at)), marketCid }
      })
  ],
  [
    "a request of another order",
    "the settlement is of another order",
    (at) =>
      Effect.gen(function* () {
        const intentCid = yield* intent(at.of, at.cash, "red-9")
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

describe("a redemption would be settled with", () => {
  it.effect.each(wrong)("%s", ([, message, argument]) =>
    Effect.gen(function* () {
      const at = yield* scene
      const given = yield* argument(at)
      expect(yield* Effect.flip(at.settle(given))).toMatchObject(aborts(message))
      expect(yield* Dealing.balance(at.of("alice"), at.instrument)).toBe("1500")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a gate's part: burns and pays that, and the rest is claimed again unpriced", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const receipt = yield* at.settle(yield* part("400.000001", "417.48")(at))
      expect(yield* Dealing.balance(at.of("alice"), at.instrument)).toBe("1099.999999")
      expect(yield* Dealing.balance(at.of("alice"), at.cash)).toBe("417.48")
      const nodes = yield* World.nodes(at.of("alice"), receipt)
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

type Pricing = Templates.Argument<typeof Templates.RedemptionClaim, "Price">
type Figures = readonly [
  what: string,
  message: string,
  ordered: { readonly units: string } | { readonly amount: string },
  figures: (
    floor: Dealing.Floor
  ) => Effect.Effect<Partial<Pricing>, unknown, SimulatedLedger.Participant>
]
const figures =
  (units: string, proceeds: string): Figures[3] =>
  () =>
    Effect.succeed({ units: decimal(units), proceeds: decimal(proceeds) })
const pointOf =
  (by: Omit<Parameters<typeof Dealing.publish>[1], "value">): Figures[3] =>
  ({ of }) =>
    Effect.map(Dealing.publish(of, { value: Dealing.price, ...by }), (pointCid) => ({ pointCid }))

const mispriced: ReadonlyArray<Figures> = [
  [
    "another instrument's point",
    "the point is of another instrument",
    { units: "1000" },
    pointOf({ instrumentId: "FUND-B" })
  ],
  [
    "another oracle's point",
    "the point is another oracle's",
    { units: "1000" },
    pointOf({ oracle: "attestor" })
  ],
  [
    "other units than ordered",
    "other units than ordered",
    { units: "1000" },
    figures("999", "1000")
  ],
  [
    "another amount than ordered",
    "another amount than ordered",
    { amount: "1000" },
    figures("1000", "999")
  ],
  [
    "more cash than the units' price",
    "the proceeds are more than the units' price",
    { units: "1000" },
    figures("1000", "1043.71")
  ],
  [
    "too few units for the amount",
    "the proceeds are more than the units' price",
    { amount: "1043.71" },
    figures("1000", "1043.71")
  ],
  ["nothing paid", "a redemption pays something", { units: "1000" }, figures("1000", "0")],
  [
    "no price",
    "price and units are positive",
    { units: "1000" },
    () => Effect.succeed({ price: decimal("0") })
  ],
  [
    "a price that counts beyond every amount",
    "the units are worth more than can be counted",
    { units: "1000" },
    () => Effect.succeed({ price: decimal("1000000000000000000000000000") })
  ]
]

describe("the oracle would price a redemption by", () => {
  it.effect.each(mispriced)("%s", ([, message, ordered, other]) =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const { of, point, price } = { ...floor, price: Dealing.price }
      const claim = yield* Dealing.redeem(floor, { holder: "alice", id: "red-1", ...ordered })
      const act = Templates.exercise(Templates.RedemptionClaim, claim, "Price", {
        pointCid: point,
        price,
        units: decimal("1000"),
        proceeds: decimal("1043.7"),
        ...(yield* other(floor))
      })
      expect(yield* Effect.flip(World.act(of("oracle"), act))).toMatchObject(aborts(message))
    }).pipe(Effect.provide(ledger))
  )
})

describe("an order to redeem would be claimed", () => {
  type Order = Templates.Payload<typeof Templates.RedemptionOrder>
  const claimed = (
    other: (floor: Dealing.Floor) => Partial<Order>,
    cycle: (
      floor: Dealing.Floor
    ) => Effect.Effect<string | null, unknown, SimulatedLedger.Participant> = () =>
      Effect.succeed(null)
  ) =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const { of, instrument, cash, market } = floor
      const order = yield* World.make(
        of("alice"),
        "RedemptionOrder",
        Templates.create(Templates.RedemptionOrder, {
          venue: of("venue").party,
          fund: of("fund").party,
          holder: of("alice").party,
          orderId: "o1",
          instrument,
          paymentAsset: cash,
          amount: null,
          units: decimal("10"),
          custodian: null,
          expiresAt: null,
          ...other(floor)
        })
      )
      const cycleCid = yield* cycle(floor)
      const claim = Templates.exercise(Templates.PrimaryMarket, market, "ClaimRedemption", {
        orderCid: order,
        redemptionId: "red-1",
        custodian: of("custodian").party,
        currency: "EUR",
        cycleCid
      })
      return yield* Effect.flip(World.act(of("venue"), claim))
    })

  const rows: ReadonlyArray<readonly [string, string, Parameters<typeof claimed>]> = [
    [
      "by another fund's market",
      "the order is not to this market",
      [({ of }) => ({ fund: of("bob").party })]
    ],
    [
      "for another instrument",
      "the order is for another instrument",
      [({ instrument }) => ({ instrument: { ...instrument, id: "FUND-B" } })]
    ],
    [
      "for another currency",
      "the order pays in another asset",
      [({ cash }) => ({ paymentAsset: { ...cash, id: "USD" } })]
    ],
    [
      "past its time",
      "the order is past its time",
      [() => ({ expiresAt: Instant.of("1970-01-01T00:00:00Z") })]
    ],
    [
      "for another custodian",
      "the order names another custodian",
      [({ of }) => ({ custodian: of("bob").party })]
    ],
    [
      "into a cycle past its cut-off",
      "the cycle takes no more orders",
      [
        () => ({}),
        (floor) => Effect.tap(Dealing.openCycle(floor), () => TestClock.adjust("24 hours"))
      ]
    ],
    [
      "into another fund's cycle",
      "the cycle is another market's",
      [
        () => ({}),
        (floor) =>
          Effect.gen(function* () {
            const { instrument } = floor
            const terms = { marketId: "m2", instrument, fundHint: "custodian" } as const
            const market = yield* Dealing.marketOf(floor.of, terms)
            return yield* Dealing.openCycle({ ...floor, market })
          })
      ]
    ],
    [
      "into another instrument's cycle",
      "the cycle is of another instrument",
      [
        () => ({}),
        (floor) =>
          Effect.gen(function* () {
            const instrument = { ...floor.instrument, id: "FUND-B" }
            const market = yield* Dealing.marketOf(floor.of, { marketId: "m2", instrument })
            return yield* Dealing.openCycle({ ...floor, market })
          })
      ]
    ]
  ]
  it.effect.each(rows)("%s", ([, message, [other, cycle]]) =>
    Effect.gen(function* () {
      expect(yield* claimed(other, cycle)).toMatchObject(aborts(message))
    }).pipe(Effect.provide(ledger))
  )
})

/** A claim by wire: the venue's alone. */
const byWire = ({ of, instrument }: Dealing.Floor) =>
  World.make(
    of("venue"),
    "RedemptionClaim",
    Templates.create(Templates.RedemptionClaim, {
      venue: of("venue").party,
      redemptionId: "red-1",
      orderId: null,
      instrument,
      holder: of("alice").party,
      custodian: of("custodian").party,
      fund: null,
      mode: "wire",
      currency: "EUR",
      paymentAsset: null,
      orderedUnits: decimal("1000"),
      orderedAmount: null,
      oracle: of("oracle").party,
      cycleId: null,
      remainderOf: null
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
    { of, holding }: Effect.Success<typeof priced>,
    by: { readonly amount?: string; readonly executeBefore?: Instant.Instant } = {}
  ) =>
    World.act(
      of("alice"),
      Templates.exercise(Templates.Holding, holding, "RequestBurn", {
        amount: decimal(by.amount ?? "1000"),
        reference: { kind: "redemption", id: "red-1" },
        custodian: of("custodian").party,
        executeBefore: by.executeBefore ?? Dealing.later
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
      const { of, redemption } = at
      const burn = Dealing.sole(yield* request(at), "BurnRequest")
      expect(yield* Dealing.balance(of("alice"), at.instrument)).toBe("1500")
      yield* World.act(
        of("registrar"),
        Templates.exercise(Templates.BurnRequest, burn, "Accept", {})
      )
      expect(yield* Dealing.balance(of("alice"), at.instrument)).toBe("500")
      const settle = Templates.exercise(Templates.PricedRedemption, redemption, "Settle", settling)
      yield* World.act(of("venue"), settle)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("would move something on the ledger, or be gated there", () =>
    Effect.gen(function* () {
      const { of, floor, holding, redemption } = yield* priced
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
            of("venue"),
            Templates.exercise(Templates.PricedRedemption, redemption, "Settle", {
              ...settling,
              ...argument
            })
          )
        )
      const paid = aborts("the redemption is paid by wire")
      expect(yield* settle({ unitsAllocationCid })).toMatchObject(paid)
      expect(yield* settle({ allocationCid: unitsAllocationCid })).toMatchObject(paid)
      expect(yield* settle({ holdingCids: [holding] })).toMatchObject(paid)
      expect(yield* settle(fill("10", "10"))).toMatchObject(
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
      yield* World.act(at.of(by), Templates.exercise(Templates.BurnRequest, burn, choice, {}))
      for (const { lock } of yield* Dealing.holdingsOf(at.of("alice"))) expect(lock).toBeNull()
      expect(yield* Dealing.balance(at.of("alice"), at.instrument)).toBe("1500")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("more would be burned than there is, or after its time", () =>
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
      expect(yield* Effect.flip(World.act(at.of("registrar"), accept))).toMatchObject(
        aborts("the request is past its time")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a burned unit would move, or be burned by the holder alone", () =>
    Effect.gen(function* () {
      const at = yield* priced
      const receipt = yield* request(at)
      const burn = Dealing.sole(receipt, "BurnRequest")
      const locked = (yield* Dealing.holdingsOf(at.of("alice"))).find(({ lock }) => lock !== null)
      const offer = Templates.exercise(
        Templates.Holding,
        locked?.contractId ?? "",
        "OfferTransfer",
        {
          receiver: at.of("bob").party,
          amount: decimal("1"),
          executeBefore: Dealing.later
        }
      )
      expect(yield* Effect.flip(World.act(at.of("alice"), offer))).toMatchObject(
        aborts("the holding is locked")
      )
      for (const hint of ["alice", "venue", "custodian"] as const) {
        const accept = Templates.exercise(Templates.BurnRequest, burn, "Accept", {})
        expect(yield* Effect.flip(World.act(at.of(hint), accept))).toMatchObject(unauthorized)
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
            (hint) => Effect.map(Dealing.active(floor.of(hint)), (ids) => ids.includes(contractId))
          )
        const parties = ["alice", "registrar", "custodian", "oracle"]
        expect(yield* seers(paid)).toEqual(["venue", "fund", ...parties])
        expect(yield* seers(wired)).toEqual(["venue", ...parties])
      }).pipe(Effect.provide(ledger))
  )
})
