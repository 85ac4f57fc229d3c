/**
 * Authority over acts on orders: no party alone, the venue included, mints, burns, prices or moves
 * assets of others.
 */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const { decimal } = Dealing

/** Contracts of every kind at once: a lot, a redemption, a burn, a cycle and a provision. */
const scene = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const { sessionOf } = floor
  const cycle = yield* Dealing.openCycle(floor)
  const aliceCash = yield* Dealing.give(floor, "alice", "1043.7")
  const fundCash = yield* Dealing.give(floor, "fund", "5000")
  const fundMore = yield* Dealing.give(floor, "fund", "700")
  const spare = yield* Dealing.give(floor, "fund", "900")
  const bobUnits = yield* Dealing.mint(floor, "bob", "1500")
  const order = yield* World.make(
    sessionOf("bob"),
    "RedemptionOrder",
    Templates.create(Templates.RedemptionOrder, {
      venue: sessionOf("venue").party,
      fund: sessionOf("fund").party,
      holder: sessionOf("bob").party,
      orderId: "order-red-2",
      instrument: floor.instrument,
      paymentAsset: floor.cash,
      amount: null,
      units: decimal("1"),
      custodian: null,
      expiresAt: null
    })
  )
  const bought = yield* Dealing.subscribe(floor, { holder: "alice", id: "sub-1", amount: "1043.7" })
  const unattested = yield* Dealing.subscribe(floor, { holder: "carol", id: "sub-2", amount: "1" })
  const claim = yield* Dealing.redeem(floor, { holder: "bob", id: "red-1", units: "1000" })
  const unpriced = yield* Dealing.redeem(floor, { holder: "bob", id: "red-3", units: "1" })
  const redemption = yield* Dealing.priceAt(floor, claim, { units: "1000", proceeds: "1043.7" })
  const proposal = yield* World.make(
    sessionOf("venue"),
    "ProvisionSettlementProposal",
    Templates.create(Templates.ProvisionSettlementProposal, {
      venue: sessionOf("venue").party,
      fund: sessionOf("fund").party,
      provisionId: "p1",
      instrumentId: floor.instrument.id,
      cash: floor.cash,
      limit: null,
      until: null
    })
  )
  const consent = Templates.exercise(Templates.ProvisionSettlementProposal, proposal, "Accept", {})
  const provision = yield* World.make(sessionOf("fund"), "ProvisionSettlement", consent)
  const drawn = yield* World.make(
    sessionOf("venue"),
    "Allocation",
    Templates.exercise(Templates.ProvisionSettlement, provision, "Draw", {
      holdingCids: [fundMore],
      receiver: sessionOf("venue").party,
      amount: decimal("700"),
      reference: "cycle-1",
      settleBefore: Dealing.farDeadline
    })
  )
  const burned = yield* World.act(
    sessionOf("bob"),
    Templates.exercise(Templates.Holding, bobUnits, "RequestBurn", {
      amount: decimal("100"),
      reference: { kind: "redemption", id: "red-9" },
      custodian: sessionOf("custodian").party,
      executeBefore: Dealing.farDeadline
    })
  )
  const rest = (yield* Dealing.holdingsOf(sessionOf("bob"))).find(({ lock }) => lock === null)
  return {
    ...floor,
    floor,
    cycle,
    order,
    unattested,
    unpriced,
    redemption,
    drawn,
    lot: yield* Dealing.attest(floor, bought, "1000"),
    burn: Dealing.sole(burned, "BurnRequest"),
    locked:
      (yield* Dealing.holdingsOf(sessionOf("bob"))).find(({ lock }) => lock !== null)?.contractId ??
      "",
    spare,
    alicePays: yield* Dealing.allocate(floor, {
      owner: "alice",
      holding: aliceCash,
      to: "fund",
      amount: "1043.7",
      reference: "sub-1"
    }),
    fundPays: yield* Dealing.allocate(floor, {
      owner: "fund",
      holding: fundCash,
      to: "bob",
      amount: "1043.7",
      reference: "red-1"
    }),
    bobsUnits: yield* Dealing.allocate(floor, {
      owner: "bob",
      holding: rest?.contractId ?? "",
      to: "fund",
      amount: "1000",
      reference: "red-1"
    })
  }
})
type Scene = Effect.Success<typeof scene>

const claimed = ({ sessionOf, instrument, cash }: Scene) =>
  ({
    venue: sessionOf("venue").party,
    redemptionId: "forged",
    orderId: null,
    instrument,
    holder: sessionOf("bob").party,
    custodian: null,
    fund: sessionOf("fund").party,
    mode: "ledger",
    currency: "EUR",
    paymentAsset: cash,
    orderedUnits: decimal("1"),
    orderedAmount: null,
    oracle: sessionOf("oracle").party,
    cycleId: null,
    remainderOf: null,
    cutOffAt: null
  }) as const
const priced = (at: Scene) =>
  ({
    ...claimed(at),
    units: decimal("1"),
    price: decimal("1"),
    proceeds: decimal("1"),
    pointCid: at.point,
    valuationTime: Instant.of("1970-01-01T00:00:00Z")
  }) as const
const lotOf = (at: Scene) => {
  const {
    orderedUnits: _,
    orderedAmount: __,
    remainderOf: ___,
    cutOffAt: ______,
    redemptionId: ____,
    ...rest
  } = priced(at)
  const { proceeds: _____, ...forged } = rest
  return {
    ...forged,
    subscriptionId: "forged",
    cash: decimal("1"),
    feeRate: null,
    cashDecimals: 2,
    attestors: [at.sessionOf("attestor").party]
  } as const
}

const execute = (contractId: string) =>
  Templates.exercise(Templates.Allocation, contractId, "Allocation_ExecuteTransfer", {
    credentialCid: null
  })

type Row = readonly [
  what: string,
  command: (at: Scene) => Templates.Command,
  /** The one party whose signature alone is enough; undefined where there is none. */
  alone: Dealing.Hint | null
]

const rows: ReadonlyArray<Row> = [
  [
    "mints through the market",
    ({ market, credentials, sessionOf }) =>
      Templates.exercise(Templates.PrimaryMarket, market, "MintFor", {
        subscriptionId: "sub-1",
        units: decimal("1"),
        credentialCid: credentials.alice,
        attestors: [sessionOf("attestor").party],
        configurationCid: null
      }),
    null
  ],
  ["makes a lot without its attestors", (at) => Templates.create(Templates.Lot, lotOf(at)), null],
  [
    "makes a lot by wire without its attestors",
    (at) =>
      Templates.create(Templates.Lot, {
        ...lotOf(at),
        mode: "wire",
        fund: null,
        paymentAsset: null
      }),
    null
  ],
  [
    "makes a holding of units",
    ({ sessionOf, instrument }) =>
      Templates.create(Templates.Holding, {
        registrar: sessionOf("registrar").party,
        owner: sessionOf("bob").party,
        provider: sessionOf("venue").party,
        instrument,
        amount: decimal("1"),
        restricted: true,
        lock: null,
        label: "",
        meta: {}
      }),
    null
  ],
  [
    "burns through the market what a holder allocated",
    ({ market, sessionOf, bobsUnits }) =>
      Templates.exercise(Templates.PrimaryMarket, market, "BurnFor", {
        redemptionId: "red-1",
        holder: sessionOf("bob").party,
        unitsAllocationCid: bobsUnits,
        units: decimal("1000")
      }),
    null
  ],
  [
    "burns what is locked for a burn",
    ({ locked }) => Templates.exercise(Templates.Holding, locked, "Burn", {}),
    null
  ],
  [
    "accepts a burn",
    ({ burn }) => Templates.exercise(Templates.BurnRequest, burn, "Accept", {}),
    "registrar"
  ],
  [
    "asks for the burn of a holder's units",
    ({ sessionOf, instrument, floor, locked }) =>
      Templates.create(Templates.BurnRequest, {
        registrar: sessionOf("registrar").party,
        provider: sessionOf("venue").party,
        holder: sessionOf("bob").party,
        custodian: null,
        instrument,
        amount: decimal("1"),
        holdingCid: locked,
        reference: { kind: "redemption", id: floor.market.slice(0, 8) },
        requestedAt: Dealing.farDeadline,
        executeBefore: Dealing.farDeadline
      }),
    null
  ],
  ["moves a holder's cash", ({ alicePays }) => execute(alicePays), null],
  ["moves the fund's cash", ({ fundPays }) => execute(fundPays), null],
  ["moves a holder's units", ({ bobsUnits }) => execute(bobsUnits), null],
  ["takes to itself what it drew on", ({ drawn }) => execute(drawn), null],
  [
    "takes the fund's cash",
    ({ spare, sessionOf }) =>
      Templates.exercise(Templates.Holding, spare, "Transfer", {
        newOwner: sessionOf("venue").party,
        amount: decimal("1"),
        credentialCid: null
      }),
    null
  ],
  [
    "prices a redemption",
    ({ unpriced, point }) =>
      Templates.exercise(Templates.RedemptionClaim, unpriced, "Price", {
        pointCid: point,
        price: Dealing.price,
        units: decimal("1"),
        proceeds: decimal("1.04")
      }),
    "oracle"
  ],
  [
    "makes a redemption with a price",
    (at) => Templates.create(Templates.PricedRedemption, priced(at)),
    null
  ],
  [
    "makes a redemption by wire with a price",
    (at) =>
      Templates.create(Templates.PricedRedemption, {
        ...priced(at),
        mode: "wire",
        fund: null,
        paymentAsset: null
      }),
    null
  ],
  [
    "claims a redemption for the ledger that nobody ordered",
    (at) => Templates.create(Templates.RedemptionClaim, claimed(at)),
    null
  ],
  [
    "attests in an attestor's place",
    ({ unattested, sessionOf, point }) =>
      Templates.exercise(Templates.SubscriptionClaim, unattested, "Attest", {
        attestor: sessionOf("attestor").party,
        pointCid: point,
        price: Dealing.price,
        units: decimal("0.9")
      }),
    "attestor"
  ],
  [
    "claims an order without the market",
    ({ order, sessionOf }) =>
      Templates.exercise(Templates.RedemptionOrder, order, "Claim", {
        redemptionId: "red-2",
        custodian: null,
        currency: "EUR",
        cycleId: null,
        oracle: sessionOf("oracle").party
      }),
    null
  ],
  [
    "withdraws another's order",
    ({ order }) => Templates.exercise(Templates.RedemptionOrder, order, "Withdraw", {}),
    "bob"
  ],
  [
    "makes a cycle without the market",
    ({ sessionOf, instrument, cash }) =>
      Templates.create(Templates.DealingCycle, {
        venue: sessionOf("venue").party,
        fund: sessionOf("fund").party,
        registrar: sessionOf("registrar").party,
        cycleId: "forged",
        instrument,
        cash,
        cutOffAt: Dealing.farDeadline,
        settleBy: Dealing.farDeadline
      }),
    null
  ],
  [
    "settles a redemption in the venue's place",
    ({ market, redemption, bobsUnits, fundPays }) =>
      Templates.exercise(Templates.PricedRedemption, redemption, "Settle", {
        marketCid: market,
        unitsAllocationCid: bobsUnits,
        allocationCid: fundPays,
        holdingCids: [],
        intentCid: null,
        evidence: null,
        fill: null
      }),
    "venue"
  ],
  [
    "releases a redemption in the venue's place",
    ({ redemption, bobsUnits, fundPays }) =>
      Templates.exercise(Templates.PricedRedemption, redemption, "Release", {
        unitsAllocationCid: bobsUnits,
        allocationCid: fundPays,
        intentCid: null
      }),
    "venue"
  ],
  [
    "releases a cycle in the venue's place",
    ({ cycle }) =>
      Templates.exercise(Templates.DealingCycle, cycle, "Release", {
        allocations: [],
        intents: []
      }),
    "venue"
  ]
]

/** All parties, whether they sign a contract, only see it, or neither. */
const anybody = Dealing.hints

describe("nobody whose word it does not take", () => {
  it.effect.each(rows)("%s", ([, command, alone]) =>
    Effect.gen(function* () {
      const at = yield* scene
      for (const hint of anybody) {
        if (hint === alone) continue
        const tried = yield* Effect.flip(World.act(at.sessionOf(hint), command(at)))
        // A party that does not see the contract learns only that it is not found.
        expect(
          ["DAML_AUTHORIZATION_ERROR", "CONTRACT_NOT_FOUND"],
          `${hint}: ${"cause" in tried ? tried.cause : tried._tag}`
        ).toContain("code" in tried ? tried.code : tried._tag)
        if (hint === "venue") {
          expect(tried).toMatchObject({ code: "DAML_AUTHORIZATION_ERROR" })
        }
      }
      if (alone !== null) yield* World.act(at.sessionOf(alone), command(at))
    }).pipe(Effect.provide(ledger))
  )
})
