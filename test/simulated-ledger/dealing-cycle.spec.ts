/** A dealing cycle on the ledger: all orders of a cut-off and the fund's net in one transaction, or none of it. */
import { inspect } from "node:util"
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal } = Dealing

type At = Effect.Success<typeof G11>
type Settling = Templates.Argument<typeof Templates.DealingCycle, "Settle">

/**
 * Golden vector G11 (docs/domain/figures.md#golden-vectors): subscriptions of 100000 and 50000, a
 * redemption of 30000 units.
 */
export const G11 = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const { sessionOf, market, credentials } = floor
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
      intentCid: null,
      refund: null
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
      intentCid: null,
      refund: null
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
    World.act(
      sessionOf("venue"),
      Templates.exercise(Templates.DealingCycle, cycle, "Settle", argument)
    )
  return { ...floor, floor, cycle, whole, settle }
})

/** Active contracts of every party, so that a refusal can be shown to have changed none. */
const contractsByParty = (sessionOf: Dealing.Floor["sessionOf"]) =>
  Effect.forEach(Dealing.hints, (hint) =>
    Effect.map(Dealing.active(sessionOf(hint)), (ids) => ids.toSorted())
  )

describe("a dealing cycle", () => {
  it.effect("moves every order and the fund's net in one transaction", () =>
    Effect.gen(function* () {
      const { sessionOf, cash, instrument, settle } = yield* G11
      yield* settle()
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("118689")
      expect(yield* Dealing.holdingsOf(sessionOf("fund"))).toHaveLength(1)
      expect(yield* Dealing.balance(sessionOf("alice"), instrument)).toBe("95812.973076")
      expect(yield* Dealing.balance(sessionOf("bob"), instrument)).toBe("47906.486538")
      expect(yield* Dealing.balance(sessionOf("carol"), instrument)).toBe("10000")
      expect(yield* Dealing.balance(sessionOf("carol"), cash)).toBe("31311")
      expect(yield* Dealing.balance(sessionOf("alice"), cash)).toBe("20000")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would fill a part without leaving the rest to be claimed again", () =>
    Effect.gen(function* () {
      const { sessionOf, whole, settle, cash, instrument } = yield* G11
      const [redemption] = whole.redemptions
      if (redemption === undefined) return expect.unreachable()
      const fill = {
        units: decimal("10000"),
        proceeds: decimal("10437"),
        remainderId: "red-1-rest",
        cutOffAt: Dealing.farDeadline,
        cycleCid: null
      }
      const receipt = yield* settle({ ...whole, redemptions: [{ ...redemption, fill }] })
      expect(World.created(receipt, "RedemptionClaim")).toHaveLength(1)
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("139563")
      expect(yield* Dealing.balance(sessionOf("carol"), instrument)).toBe("30000")
    }).pipe(Effect.provide(ledger))
  )

  it.effect(
    "pays the fund's net from what it allocated to the cycle, and gives the rest back",
    () =>
      Effect.gen(function* () {
        const at = yield* G11
        const { sessionOf, cash, whole, settle } = at
        const holding = yield* Dealing.give(at.floor, "fund", "40000")
        const own = yield* Dealing.allocate(at.floor, { ...toItself, holding, amount: "40000" })
        yield* settle({ ...whole, lots: [], allocations: [own] })
        expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("8689")
        expect(yield* Dealing.holdingsOf(sessionOf("fund"))).toHaveLength(1)
        expect(yield* Dealing.balance(sessionOf("carol"), cash)).toBe("31311")
      }).pipe(Effect.provide(ledger))
  )

  it.effect("draws the fund's net from cash that the fund lets itself be drawn on for", () =>
    Effect.gen(function* () {
      const at = yield* G11
      const { sessionOf, cash, whole, settle } = at
      const holding = yield* Dealing.give(at.floor, "fund", "40000")
      const provisionCid = yield* provisionOf(at, {})
      const provision = { provisionCid, holdingCids: [holding], amount: decimal("31311") }
      yield* settle({ ...whole, lots: [], provision })
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("8689")
      expect(yield* Dealing.balance(sessionOf("carol"), cash)).toBe("31311")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be stopped by cash that another provider keeps", () =>
    Effect.gen(function* () {
      const at = yield* G11
      const { sessionOf, cash, whole, settle } = at
      const elsewhere = yield* Dealing.give(at.floor, "fund", "7", at.cash, "bank")
      const own = yield* Dealing.allocate(at.floor, {
        ...toItself,
        holding: elsewhere,
        amount: "7"
      })
      yield* settle({ ...whole, allocations: [own] })
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("118696")
      expect(yield* Dealing.holdingsOf(sessionOf("fund"))).toHaveLength(2)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("uses the fund's own allocation to a holder before the cycle's cash", () =>
    Effect.gen(function* () {
      const at = yield* G11
      const { sessionOf, cash, whole, settle } = at
      const [redemption] = whole.redemptions
      if (redemption === undefined) return expect.unreachable()
      const holding = yield* Dealing.give(at.floor, "fund", "31311")
      const allocationCid = yield* Dealing.allocate(at.floor, {
        owner: "fund",
        holding,
        to: "carol",
        amount: "31311",
        reference: "red-1"
      })
      yield* settle({ ...whole, redemptions: [{ ...redemption, allocationCid }] })
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("150000")
      expect(yield* Dealing.balance(sessionOf("carol"), cash)).toBe("31311")
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would show a holder what the fund has left, or another holder's order", () =>
    Effect.gen(function* () {
      const { sessionOf, settle } = yield* G11
      const receipt = yield* settle()
      const nodes = yield* World.nodes(sessionOf("carol"), receipt)
      const holdings = nodes.filter(
        (node) => node._tag === "Created" && node.template.entity === "Holding"
      )
      const amounts = holdings.map((node) =>
        node._tag === "Created" && node.payload["owner"] === sessionOf("fund").party
          ? node.payload["amount"]
          : null
      )
      // The fund's part for carol alone, on its way to her.
      expect(amounts.filter((amount) => amount !== null)).toEqual([
        "31311.0000000000",
        "31311.0000000000"
      ])
      const printedNodes = inspect(nodes, {
        depth: null,
        maxArrayLength: null,
        maxStringLength: null
      })
      expect(printedNodes).toContain(sessionOf("carol").party)
      for (const other of ["alice", "bob"] as const) {
        expect(printedNodes).not.toContain(sessionOf(other).party)
      }
    }).pipe(Effect.provide(ledger))
  )

  it.effect("released: the fund has its cash back, and nothing is settled", () =>
    Effect.gen(function* () {
      const at = yield* G11
      const { sessionOf, cycle, cash } = at
      const holding = yield* Dealing.give(at.floor, "fund", "40000")
      const own = yield* Dealing.allocate(at.floor, { ...toItself, holding, amount: "40000" })
      const release = (allocations: ReadonlyArray<string>) =>
        World.act(
          sessionOf("venue"),
          Templates.exercise(Templates.DealingCycle, cycle, "Release", { allocations, intents: [] })
        )
      const alices = at.whole.lots[0]?.allocationCid ?? ""
      expect(yield* Effect.flip(release([alices]))).toMatchObject(
        Dealing.aborts("the allocation is for another order")
      )
      yield* release([own])
      for (const { lock } of yield* Dealing.holdingsOf(sessionOf("fund"))) expect(lock).toBeNull()
      expect(yield* Dealing.balance(sessionOf("fund"), cash)).toBe("40000")
    }).pipe(Effect.provide(ledger))
  )
})

const toItself = { owner: "fund", to: "fund", reference: "cycle-1" } as const

const provisionOf = (
  { sessionOf, cash }: At,
  other: Partial<Templates.Payload<typeof Templates.ProvisionSettlementProposal>>,
  by: Dealing.Hint = "fund"
) =>
  Effect.gen(function* () {
    const proposal = yield* World.make(
      sessionOf("venue"),
      "ProvisionSettlementProposal",
      Templates.create(Templates.ProvisionSettlementProposal, {
        venue: sessionOf("venue").party,
        fund: sessionOf("fund").party,
        provisionId: "p1",
        instrumentId: "FUND-A",
        cash,
        limit: null,
        until: null,
        ...other
      })
    )
    const accept = Templates.exercise(Templates.ProvisionSettlementProposal, proposal, "Accept", {})
    return yield* World.make(sessionOf(by), "ProvisionSettlement", accept)
  })

type Wrong = readonly [
  what: string,
  message: string,
  argument: (at: At) => Effect.Effect<Settling, unknown, SimulatedLedger.Participant>
]

/** The second lot in another's place, the first as it should be: what was right goes back too. */
const lot = (at: At, other: Partial<Settling["lots"][number]>): Settling => ({
  ...at.whole,
  lots: at.whole.lots.map((one, index) => (index === 1 ? { ...one, ...other } : one))
})
const redemption = (at: At, other: Partial<Settling["redemptions"][number]>): Settling => ({
  ...at.whole,
  redemptions: at.whole.redemptions.map((one) => ({ ...one, ...other }))
})

/** Bob's lot of another order than the cycle's. */
const bobsLot = (at: At, options: { readonly cycleCid?: string; readonly point?: string }) =>
  Effect.gen(function* () {
    const holding = yield* Dealing.give(at.floor, "bob", "50000")
    const claim = yield* Dealing.subscribe(at.floor, {
      holder: "bob",
      id: "sub-9",
      amount: "50000",
      cycleCid: options.cycleCid ?? null
    })
    const lotCid = yield* Dealing.attest(at.floor, claim, "47906.486538", options.point)
    const allocationCid = yield* Dealing.allocate(at.floor, {
      owner: "bob",
      holding,
      to: "fund",
      amount: "50000",
      reference: "sub-9"
    })
    return lot(at, { lotCid, allocationCid })
  })

/** Bob's lot in a cycle of the same name that another market has opened. */
const elsewhere = (floor: Dealing.Floor, at: At, fund: Dealing.Hint) =>
  Effect.gen(function* () {
    const cycleCid = yield* Dealing.openCycle(floor)
    const claim = yield* Dealing.subscribe(floor, {
      holder: "bob",
      id: "sub-9",
      amount: "50000",
      cycleCid,
      fund
    })
    return lot(at, { lotCid: yield* Dealing.attest(floor, claim, "47906.486538") })
  })

const wrong: ReadonlyArray<Wrong> = [
  ["a lot that no cycle has", "an order is of another cycle", (at) => bobsLot(at, {})],
  [
    "a lot of another cycle",
    "an order is of another cycle",
    (at) =>
      Effect.flatMap(Dealing.openCycle(at.floor, "cycle-2"), (cycleCid) =>
        bobsLot(at, { cycleCid })
      )
  ],
  [
    "a lot of another fund's cycle of the same name",
    "an order is another fund's",
    (at) =>
      Effect.gen(function* () {
        const { instrument, sessionOf } = at
        const terms = { marketId: "m2", instrument, fundHint: "custodian" } as const
        const market = yield* Dealing.marketOf(sessionOf, terms)
        return yield* elsewhere({ ...at.floor, market }, at, "custodian")
      })
  ],
  [
    "a lot of another instrument's cycle of the same name",
    "an order is of another instrument",
    (at) =>
      Effect.gen(function* () {
        const instrument = { ...at.instrument, id: "FUND-B" }
        const market = yield* Dealing.marketOf(at.sessionOf, { marketId: "m2", instrument })
        const point = yield* Dealing.publish(at.sessionOf, {
          value: Dealing.price,
          instrumentId: instrument.id
        })
        return yield* elsewhere({ ...at.floor, market, instrument, point }, at, "fund")
      })
  ],
  [
    "a lot of a cycle of the same name in another currency",
    "an order pays in another asset",
    (at) =>
      Effect.gen(function* () {
        const { instrument, sessionOf } = at
        const terms = { marketId: "m2", instrument, currency: "USD" }
        const market = yield* Dealing.marketOf(sessionOf, terms)
        const cash = { ...at.cash, id: "USD" }
        return yield* elsewhere({ ...at.floor, market, cash }, at, "fund")
      })
  ],
  [
    "two prices",
    "two orders have different prices",
    (at) =>
      Effect.flatMap(Dealing.publish(at.sessionOf, { value: Dealing.price }), (point) =>
        bobsLot(at, { cycleCid: at.cycle, point })
      )
  ],
  [
    "another order's cash",
    "the allocation is for another order",
    (at) =>
      Effect.gen(function* () {
        const holding = yield* Dealing.give(at.floor, "bob", "50000")
        const allocationCid = yield* Dealing.allocate(at.floor, {
          owner: "bob",
          holding,
          to: "fund",
          amount: "50000",
          reference: "sub-9"
        })
        return lot(at, { allocationCid })
      })
  ],
  [
    "another holder's credential",
    "the credential is another holder's",
    (at) => Effect.succeed(lot(at, { credentialCid: at.credentials.alice }))
  ],
  [
    "cash in the place of a redemption's units",
    "the allocation is of another asset",
    (at) =>
      Effect.gen(function* () {
        const holding = yield* Dealing.give(at.floor, "carol", "30000")
        const unitsAllocationCid = yield* Dealing.allocate(at.floor, {
          owner: "carol",
          holding,
          to: "fund",
          amount: "30000",
          reference: "red-1"
        })
        return redemption(at, { unitsAllocationCid })
      })
  ],
  [
    "less cash than it pays out",
    "the cycle has too little cash to pay with",
    (at) =>
      Effect.gen(function* () {
        const holding = yield* Dealing.give(at.floor, "fund", "31310.99")
        const own = yield* Dealing.allocate(at.floor, { ...toItself, holding, amount: "31310.99" })
        return { ...at.whole, lots: [], allocations: [own] }
      })
  ],
  [
    "no cash at all",
    "the cycle has too little cash to pay with",
    (at) => Effect.succeed({ ...at.whole, lots: [] })
  ],
  [
    "nothing to settle",
    "a cycle settles something",
    (at) => Effect.succeed({ ...at.whole, lots: [], redemptions: [] })
  ],
  [
    "the fund's cash for another cycle",
    "the allocation is for another order",
    (at) =>
      Effect.gen(function* () {
        const holding = yield* Dealing.give(at.floor, "fund", "40000")
        const own = yield* Dealing.allocate(at.floor, {
          ...toItself,
          holding,
          amount: "40000",
          reference: "cycle-2"
        })
        return { ...at.whole, allocations: [own] }
      })
  ],
  [
    "somebody else's cash for the fund's net",
    "the allocation is another sender's",
    (at) =>
      Effect.gen(function* () {
        const holding = yield* Dealing.give(at.floor, "carol", "40000")
        const own = yield* Dealing.allocate(at.floor, {
          ...toItself,
          owner: "carol",
          holding,
          amount: "40000"
        })
        return { ...at.whole, allocations: [own] }
      })
  ],
  [
    "another fund's provision",
    "the provision is another fund's",
    (at) =>
      Effect.gen(function* () {
        const holding = yield* Dealing.give(at.floor, "custodian", "40000")
        const provisionCid = yield* provisionOf(
          at,
          { fund: at.sessionOf("custodian").party },
          "custodian"
        )
        const provision = { provisionCid, holdingCids: [holding], amount: decimal("31311") }
        return { ...at.whole, provision }
      })
  ],
  [
    "a provision for another instrument",
    "the provision is for another instrument",
    (at) => provided(at, { instrumentId: "FUND-B" })
  ],
  [
    "a provision of another asset",
    "the provision is of another asset",
    (at) => provided(at, { cash: { ...at.cash, id: "USD" } })
  ],
  [
    "more than the provision allows",
    "more than the fund allows",
    (at) => provided(at, { limit: decimal("31310.99") })
  ]
]

const provided = (at: At, other: Parameters<typeof provisionOf>[1]) =>
  Effect.gen(function* () {
    const holding = yield* Dealing.give(at.floor, "fund", "40000")
    const provisionCid = yield* provisionOf(at, other)
    const provision = { provisionCid, holdingCids: [holding], amount: decimal("31311") }
    return { ...at.whole, provision }
  })

describe("a dealing cycle with one bad leg is settled in no part:", () => {
  it.effect.each(wrong)("%s", ([, message, argument]) =>
    Effect.gen(function* () {
      const at = yield* G11
      const settleArgument = yield* argument(at)
      const before = yield* contractsByParty(at.sessionOf)
      expect(yield* Effect.flip(at.settle(settleArgument))).toMatchObject(Dealing.aborts(message))
      expect(yield* contractsByParty(at.sessionOf)).toEqual(before)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("an order twice", () =>
    Effect.gen(function* () {
      const at = yield* G11
      const before = yield* contractsByParty(at.sessionOf)
      const twice = { ...at.whole, lots: [...at.whole.lots, ...at.whole.lots] }
      expect(yield* Effect.flip(at.settle(twice))).toMatchObject({ code: "CONTRACT_NOT_ACTIVE" })
      expect(yield* contractsByParty(at.sessionOf)).toEqual(before)
    }).pipe(Effect.provide(ledger))
  )
})

describe("what a gate left over", () => {
  const nextDay = Instant.of("1970-01-06T00:00:00Z")
  const settleBy = Instant.of("1970-01-09T00:00:00Z")
  const leaving = (at: At, change: Partial<Templates.RedemptionFill> = {}) => {
    const [redemption] = at.whole.redemptions
    if (redemption === undefined) throw new Error("the cycle has a redemption")
    const fill = {
      units: decimal("10000"),
      proceeds: decimal("10437"),
      remainderId: "rest",
      cutOffAt: nextDay,
      cycleCid: null,
      ...change
    }
    return at.settle({ ...at.whole, redemptions: [{ ...redemption, fill }] })
  }
  const left = Effect.gen(function* () {
    const at = yield* G11
    const [claim = ""] = World.created(yield* leaving(at), "RedemptionClaim")
    return { ...at, claim }
  })
  const opens = (
    { sessionOf, market }: Pick<At, "sessionOf" | "market">,
    terms: { readonly cutOffAt: Instant.Instant; readonly remainders: ReadonlyArray<string> }
  ) =>
    World.act(
      sessionOf("venue"),
      Templates.exercise(Templates.PrimaryMarket, market, "OpenCycle", {
        cycleId: "cycle-2",
        settleBy,
        ...terms
      })
    )
  const prices = ({ sessionOf }: Pick<At, "sessionOf">, claim: string, pointCid: string) =>
    World.act(
      sessionOf("oracle"),
      Templates.exercise(Templates.RedemptionClaim, claim, "Price", {
        pointCid,
        price: Dealing.price,
        units: decimal("20000"),
        proceeds: decimal("20874")
      })
    )

  it.effect("deals on a day to come, and in no other day's cycle", () =>
    Effect.gen(function* () {
      const at = yield* G11
      const refused = Dealing.aborts("what is left over deals on a day to come")
      const past = Instant.of("1970-01-01T00:00:00Z")
      expect(yield* Effect.flip(leaving(at, { cutOffAt: null }))).toMatchObject(refused)
      expect(yield* Effect.flip(leaving(at, { cutOffAt: past }))).toMatchObject(refused)
      // The open one is of the second of January.
      const other = yield* Dealing.openCycle(at.floor, "cycle-2")
      expect(yield* Effect.flip(leaving(at, { cycleCid: other }))).toMatchObject(
        Dealing.aborts("the cycle is of another day")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("is priced from its cut-off on, by a point of that day", () =>
    Effect.gen(function* () {
      const at = yield* left
      expect(yield* Effect.flip(prices(at, at.claim, at.point))).toMatchObject(
        Dealing.aborts("the order's cut-off is still to come")
      )
      yield* TestClock.setTime(Instant.toEpochMillis(nextDay))
      // Valued on the fifth, before the cut-off.
      expect(yield* Effect.flip(prices(at, at.claim, at.point))).toMatchObject(
        Dealing.aborts("the point is valued before the order's cut-off")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("joins the cycle of its day when that is opened, once", () =>
    Effect.gen(function* () {
      const at = yield* left
      const remainders = [at.claim]
      const early = Instant.of("1970-01-05T00:00:00Z")
      expect(yield* Effect.flip(opens(at, { cutOffAt: early, remainders }))).toMatchObject(
        Dealing.aborts("the cycle is of another day")
      )
      const receipt = yield* opens(at, { cutOffAt: nextDay, remainders })
      const [joined = ""] = World.created(receipt, "RedemptionClaim")
      expect(
        yield* Effect.flip(opens(at, { cutOffAt: nextDay, remainders: [joined] }))
      ).toMatchObject(Dealing.aborts("the order is in a cycle"))
      const own = yield* Dealing.redeem(at.floor, { holder: "carol", id: "red-2", units: "1" })
      expect(yield* Effect.flip(opens(at, { cutOffAt: nextDay, remainders: [own] }))).toMatchObject(
        Dealing.aborts("only what a gate left over joins a cycle later")
      )
    }).pipe(Effect.provide(ledger))
  )
})

describe("opening a dealing cycle is refused", () => {
  const opened = (terms: { readonly cutOffAt: string; readonly settleBy: string }) =>
    Effect.gen(function* () {
      const { sessionOf, market } = yield* Dealing.floor
      const open = Templates.exercise(Templates.PrimaryMarket, market, "OpenCycle", {
        cycleId: "c",
        cutOffAt: Instant.of(terms.cutOffAt),
        settleBy: Instant.of(terms.settleBy)
      })
      return yield* Effect.flip(World.act(sessionOf("venue"), open))
    }).pipe(Effect.provide(ledger))

  it.effect("after its cut-off, or to settle before it", () =>
    Effect.gen(function* () {
      const past = { cutOffAt: "1970-01-01T00:00:00Z", settleBy: "1970-01-02T00:00:00Z" }
      expect(yield* opened(past)).toMatchObject(Dealing.aborts("the cut-off is past"))
      const early = { cutOffAt: "1970-01-03T00:00:00Z", settleBy: "1970-01-02T00:00:00Z" }
      expect(yield* opened(early)).toMatchObject(
        Dealing.aborts("it would settle before its cut-off")
      )
    })
  )
})

describe("a dealing cycle's contracts", () => {
  /** The cycle and its market; of a lot itself, its cash, what that locks and a credential; of a redemption all but the last. */
  const inputs = 2 + 2 * 4 + 3
  const settled = (inputsMax: number) =>
    Effect.flatMap(G11, ({ settle }) => settle()).pipe(
      Effect.provide(SimulatedLedger.layerMemory({ ...World.options, settings: { inputsMax } }))
    )

  it.effect("are counted, each once, towards what a transaction may use", () =>
    Effect.gen(function* () {
      expect((yield* settled(inputs)).duplicate).toBe(false)
      expect(yield* Effect.flip(settled(inputs - 1))).toMatchObject({ code: "INVALID_ARGUMENT" })
    })
  )
})

describe("a market past its time refuses to", () => {
  const until = Instant.of("1970-01-01T12:00:00Z")
  const terms = (floor: Dealing.Floor) => ({
    marketId: "m2",
    instrument: floor.instrument,
    until
  })
  const past = Dealing.aborts("the market is past its time")

  it.effect("claim orders or open cycles", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      const ending = { ...floor, market: yield* Dealing.marketOf(floor.sessionOf, terms(floor)) }
      const by = (id: string) => ({ holder: "alice", id, units: "1" }) as const
      yield* Dealing.redeem(ending, by("red-1"))
      yield* TestClock.adjust("12 hours")
      expect(yield* Effect.flip(Dealing.redeem(ending, by("red-2")))).toMatchObject(past)
      expect(yield* Effect.flip(Dealing.subscribe(ending, by("sub-2")))).toMatchObject(past)
      expect(yield* Effect.flip(Dealing.openCycle(ending))).toMatchObject(past)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("be agreed", () =>
    Effect.gen(function* () {
      const floor = yield* Dealing.floor
      yield* TestClock.adjust("12 hours")
      expect(yield* Effect.flip(Dealing.marketOf(floor.sessionOf, terms(floor)))).toMatchObject(
        Dealing.aborts("the market would already be past")
      )
    }).pipe(Effect.provide(ledger))
  )
})
