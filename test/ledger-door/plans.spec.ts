/**
 * Plans of a party's program in a world: it makes the acts that it owes, each once, and no others.
 */
import { Decimal, Instant, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { describe, expect, it } from "vitest"
import {
  Agreements,
  AttestorBot,
  FundBot,
  OracleBot,
  Orders,
  Policy,
  RegistrarBot,
  Wallet,
  type World
} from "#adapters/ledger/wallets/index.ts"

const party = (hint: string): Party.Party => Party.of(`${hint}::1220${"ab".repeat(32)}`)
const [venue, fund, registrar, oracle] = [
  party("venue"),
  party("fund"),
  party("registrar"),
  party("oracle")
]
const [alice, bob, custodian, bank] = [
  party("alice"),
  party("bob"),
  party("custodian"),
  party("bank")
]
const instrument = { admin: registrar, id: "FUND-A" }
const cash = { admin: bank, id: "EUR" }
const at = (text: string) => Instant.of(`2026-01-${text}:00Z`)
const decimal = Decimal.of
const policy = Policy.acceptAll

type Contract = World.World["contracts"] extends ReadonlyMap<string, infer C> ? C : never

const contract = <T extends Templates.Template>(
  contractId: string,
  template: T,
  payload: Templates.Payload<T>,
  createdAt = at("05T12:00")
): Contract => ({
  contractId,
  template: template.typeRef,
  payload: Templates.encodePayload(template, payload),
  createdAt
})

const world = (
  by: Party.Party,
  contracts: ReadonlyArray<Contract>,
  now = at("05T13:00")
): World.World => ({
  party: by,
  now,
  contracts: new Map(contracts.map((one) => [one.contractId, one]))
})

/** Acts of a plan, as a person reads them. */
const acts = (plan: World.Plan, ...args: Parameters<typeof world>) =>
  plan(world(...args)).map(({ name, change, details }) => ({ name, ...details, ...change }))

const holding = (
  contractId: string,
  owner: Party.Party,
  amount: string,
  other: Partial<Templates.Payload<typeof Templates.Holding>> = {}
) =>
  contract(contractId, Templates.Holding, {
    registrar,
    owner,
    provider: venue,
    instrument,
    amount: decimal(amount),
    restricted: true,
    lock: null,
    label: "",
    meta: {},
    ...other
  })
const money = (contractId: string, owner: Party.Party, amount: string) =>
  holding(contractId, owner, amount, { registrar: bank, instrument: cash, restricted: false })

type Priced = Templates.Payload<typeof Templates.PricedRedemption>

const redemption = {
  venue,
  redemptionId: "R1",
  orderId: null,
  instrument,
  holder: alice,
  custodian: null,
  fund,
  mode: "ledger",
  currency: "EUR",
  paymentAsset: cash,
  orderedUnits: decimal("100"),
  orderedAmount: null,
  oracle,
  cycleId: null,
  remainderOf: null,
  cutOffAt: null,
  units: decimal("100"),
  price: decimal("2"),
  proceeds: decimal("200"),
  pointCid: "00aa",
  valuationTime: at("05T12:00")
} as const satisfies Priced
const priced = (other: Partial<Priced> = {}) =>
  contract("00f1", Templates.PricedRedemption, { ...redemption, ...other })
const byWire = { mode: "wire", fund: null, paymentAsset: null } as const

const allocated = (sender: Party.Party, asset: Templates.Asset, reference: string) =>
  contract("00e1", Templates.Allocation, {
    registrar: asset.admin,
    sender,
    receiver: fund,
    executor: venue,
    reference,
    holdingCid: "00e2",
    instrument: asset,
    amount: decimal("1"),
    settleBefore: at("09T12:00")
  })

const settlementIntent = (sender: Party.Party, asset: Templates.Asset) =>
  contract("00d1", Templates.SettlementIntent, {
    venue,
    settlementId: "R1",
    reference: { kind: "redemption", id: "R1" },
    legs: [{ legId: "1", sender, receiver: bob, instrument: asset, amount: decimal("1") }],
    requestedAt: at("05T12:00"),
    allocateBefore: at("05T12:30"),
    settleBefore: at("09T12:00")
  })

const lot = (other: Partial<Templates.Payload<typeof Templates.Lot>> = {}) =>
  contract("00f2", Templates.Lot, {
    venue,
    subscriptionId: "S1",
    orderId: "O1",
    instrument,
    holder: alice,
    custodian: null,
    fund,
    mode: "ledger",
    currency: "EUR",
    paymentAsset: cash,
    cash: null,
    feeRate: decimal("0.005"),
    cashDecimals: 2,
    oracle,
    cycleId: null,
    units: decimal("1000"),
    price: decimal("1.0437"),
    pointCid: "00aa",
    valuationTime: at("05T12:00"),
    attestors: [bob],
    ...other
  })

describe("a holder's side", () => {
  const units = [holding("00c1", alice, "150")]
  const rich = [money("00c2", alice, "2000")]

  it("never signs terms without saying which holder's they are, and which document", () => {
    const registration = contract("00a1", Templates.HolderRegistration, {
      venue,
      holderId: "h1",
      holder: alice,
      custodian: null,
      predecessor: null,
      attributesDigest: "cd".repeat(32),
      validUntil: null
    })
    const documentHash = "ef".repeat(32)
    expect(acts(Wallet.signTerms({ documentHash }), alice, [registration])).toMatchObject([
      { name: "sign-terms", holderId: "h1", documentHash }
    ])
  })

  it("hands over the units of a priced redemption once", () => {
    expect(acts(Orders.units(policy), alice, [priced(), ...units])).toMatchObject([
      { name: "allocate", reference: "R1", amount: "100", commandId: "allocate:00f1" }
    ])
  })

  const silent: ReadonlyArray<readonly [string, ReadonlyArray<Contract>]> = [
    ["units are allocated", [priced(), ...units, allocated(alice, instrument, "R1")]],
    [
      "they are allocated by the order's name",
      [priced({ orderId: "O9" }), ...units, allocated(alice, instrument, "O9")]
    ],
    ["a settlement asks for them", [priced(), ...units, settlementIntent(alice, instrument)]],
    ["the redemption is another's", [priced({ holder: bob }), ...units]],
    ["it is paid by wire", [priced(byWire), ...units]],
    ["there are too few", [priced(), holding("00c1", alice, "99")]],
    [
      "they are locked",
      [
        priced(),
        holding("00c1", alice, "150", {
          lock: { holders: [registrar], observers: [], context: "x", expiresAt: null }
        })
      ]
    ]
  ]
  it.each(silent)("never would hand over units although %s", (_, contracts) => {
    expect(acts(Orders.units(policy), alice, contracts)).toEqual([])
  })

  it("is not taken for its cash to be its units, or another's units for its own", () => {
    const contracts = [
      priced(),
      ...units,
      allocated(alice, cash, "R1"),
      settlementIntent(fund, cash)
    ]
    expect(acts(Orders.units(policy), alice, contracts)).toHaveLength(1)
    const others = [
      priced(),
      ...units,
      allocated(bob, instrument, "R1"),
      settlementIntent(bob, instrument)
    ]
    expect(acts(Orders.units(policy), alice, others)).toHaveLength(1)
  })

  it("pays for a lot ordered in units exactly its price and fee, each rounded up", () => {
    expect(acts(Orders.dues(policy), alice, [lot(), ...rich])).toMatchObject([
      { reference: "S1", amount: "1048.92" }
    ])
    expect(acts(Orders.dues(policy), alice, [lot({ feeRate: null }), ...rich])).toMatchObject([
      { amount: "1043.7" }
    ])
  })
  const unpaid: ReadonlyArray<readonly [string, Parameters<typeof lot>[0]]> = [
    ["in cash, which a settlement asks for", { cash: decimal("1000") }],
    ["by another", { holder: bob }],
    ["by wire", { mode: "wire", fund: null, paymentAsset: null }],
    ["without saying in which places its cash is counted", { cashDecimals: null }]
  ]
  it.each(unpaid)("never would pay for a lot ordered %s", (_, other) => {
    expect(acts(Orders.dues(policy), alice, [lot(other), ...rich])).toEqual([])
  })

  it("joins holdings of one kind where no single one is enough, then acts", () => {
    const small = [
      holding("00c1", alice, "60"),
      holding("00c2", alice, "30"),
      holding("00c3", alice, "20"),
      holding("00c4", alice, "900", { provider: bob, lock: null, owner: bob })
    ]
    const [act, ...more] = acts(Orders.units(policy), alice, [priced(), ...small])
    expect(more).toEqual([])
    expect(act).toMatchObject({ name: "join", commandId: "join:00c1", holdings: "3" })
    expect(act?.commands[0]).toMatchObject({ arg: { holdingCids: ["00c2", "00c3"] } })
    const mixed = [holding("00c1", alice, "60"), holding("00c2", alice, "60", { provider: bob })]
    expect(acts(Orders.units(policy), alice, [priced(), ...mixed])).toEqual([])
  })

  it("joins at most a hundred holdings at a time", () => {
    const crumbs = Array.from({ length: 150 }, (_, index) =>
      holding(`00c${index.toString(16).padStart(5, "0")}`, alice, "1")
    )
    const plan: World.Plan = (seen) =>
      Agreements.from(seen, { instrument, amount: decimal("100") }, () => {
        throw new Error("not at once")
      })
    expect(acts(plan, alice, crumbs)).toMatchObject([{ holdings: "100" }])
    const more: World.Plan = (seen) =>
      Agreements.from(seen, { instrument, amount: decimal("101") }, () => {
        throw new Error("not at once")
      })
    expect(acts(more, alice, crumbs)).toEqual([])
  })

  const burn = (payload: Partial<Templates.Payload<typeof Templates.BurnRequest>> = {}) =>
    contract("00b1", Templates.BurnRequest, {
      registrar,
      provider: venue,
      holder: alice,
      custodian: null,
      instrument,
      amount: decimal("100"),
      holdingCid: "00b2",
      reference: { kind: "redemption", id: "R1" },
      requestedAt: at("05T12:00"),
      executeBefore: at("09T12:00"),
      ...payload
    })
  const wired = priced(byWire)
  const anybody = Orders.burns(policy, () => true)

  it("asks once for the burn of what is paid by wire", () => {
    expect(acts(anybody, alice, [wired, ...units])).toMatchObject([
      { name: "request-burn", redemptionId: "R1", units: "100", commandId: "request-burn:00f1" }
    ])
    expect(acts(anybody, alice, [wired, ...units, burn()])).toEqual([])
  })
  it("never would ask for a burn again once nobody can tell that it was done", () => {
    expect(acts(anybody, alice, [wired, ...units], at("11T11:59"))).toHaveLength(1)
    expect(acts(anybody, alice, [wired, ...units], at("11T12:00"))).toEqual([])
  })
  it("never would ask for a burn on the ledger's own redemptions, or another's", () => {
    expect(acts(anybody, alice, [priced(), ...units])).toEqual([])
    expect(acts(anybody, alice, [priced({ ...byWire, holder: bob }), ...units])).toEqual([])
  })
  it("leaves the burn to the custodian where there is one", () => {
    const hosted = priced({ ...byWire, custodian })
    const wallet = Wallet.plan({ policy })
    expect(acts(wallet, alice, [hosted, ...units])).toEqual([])
    expect(acts(wallet, alice, [wired, ...units])).toHaveLength(1)
  })
  it("takes back a burn request whose redemption is no more, and no other", () => {
    expect(acts(Orders.strays, alice, [burn()])).toMatchObject([{ name: "withdraw-burn" }])
    expect(acts(Orders.strays, alice, [burn(), wired])).toEqual([])
    expect(acts(Orders.straysOf({ accept: ["R1"] }), alice, [burn()])).toHaveLength(1)
    expect(acts(Orders.straysOf({ accept: ["R2"] }), alice, [burn()])).toEqual([])
    const correction = { reference: { kind: "correction", id: "R1" } }
    expect(acts(Orders.strays, alice, [burn(correction)])).toEqual([])
    expect(acts(Orders.strays, alice, [burn({ holder: bob })])).toEqual([])
  })

  describe("and the registrar", () => {
    const burns = RegistrarBot.burns(policy)
    it("burns for a redemption that stands", () => {
      expect(acts(burns, registrar, [burn(), wired])).toMatchObject([{ name: "accept-burn" }])
    })
    const notOwed: ReadonlyArray<readonly [string, ReadonlyArray<Contract>]> = [
      ["no redemption", []],
      ["another redemption", [priced({ ...byWire, redemptionId: "R2" })]],
      ["another holder's redemption", [priced({ ...byWire, holder: bob })]],
      ["a redemption of other units", [priced({ ...byWire, units: decimal("99") })]],
      [
        "a redemption of another instrument",
        [priced({ ...byWire, instrument: { ...instrument, id: "FUND-B" } })]
      ]
    ]
    it.each(notOwed)("never would burn for %s", (_, contracts) => {
      expect(acts(burns, registrar, [burn(), ...contracts])).toEqual([])
    })
    it("rejects what it is told to, and what came too late, so that the units are free", () => {
      const never = RegistrarBot.burns({ reject: ["R1"] })
      expect(acts(never, registrar, [burn(), wired])).toMatchObject([{ name: "reject-burn" }])
      expect(acts(burns, registrar, [burn(), wired], at("09T12:00"))).toMatchObject([
        { name: "reject-burn" }
      ])
    })
    it("never would answer what another registrar is asked", () => {
      expect(acts(burns, bank, [burn(), wired])).toEqual([])
    })
  })
})

describe("the fund", () => {
  const purse = money("00c1", fund, "10000")

  it("pays a redemption that is settled by itself, once", () => {
    const pays = FundBot.redemptions(policy)
    expect(acts(pays, fund, [priced(), purse])).toMatchObject([{ reference: "R1", amount: "200" }])
    expect(acts(pays, fund, [priced(), purse, allocated(fund, cash, "R1")])).toEqual([])
    expect(acts(pays, fund, [priced(), purse, settlementIntent(fund, cash)])).toEqual([])
    expect(acts(pays, fund, [priced({ cycleId: "c1" }), purse])).toEqual([])
    expect(acts(pays, fund, [priced(byWire), purse])).toEqual([])
    expect(acts(pays, bank, [priced(), purse])).toEqual([])
    expect(acts(pays, fund, [priced({ fund: bob }), purse])).toEqual([])
    expect(acts(pays, fund, [priced({ mode: "wire" }), purse])).toEqual([])
  })

  const open = {
    venue,
    fund,
    registrar,
    cycleId: "c1",
    instrument,
    cash,
    cutOffAt: at("05T12:00"),
    settleBy: at("08T12:00")
  }
  const cycle = contract("00f9", Templates.DealingCycle, open)
  const inIt = { cycleId: "c1" }
  const nets = FundBot.nets(policy)
  const claim = contract("00f8", Templates.RedemptionClaim, { ...redemption, ...inIt })

  it("puts in place what a cycle takes beyond what it brings", () => {
    expect(acts(nets, fund, [cycle, purse, priced(inIt)])).toMatchObject([
      { reference: "c1", amount: "200", commandId: "allocate:00f9" }
    ])
    const brought = lot({ ...inIt, cash: decimal("150") })
    const [act] = acts(nets, fund, [cycle, purse, priced(inIt), brought])
    expect(act).toMatchObject({ amount: "50" })
    expect(act?.commands[0]).toMatchObject({ arg: { receiver: fund, executor: venue } })
  })
  it("never would pay the net of another fund's cycle", () => {
    const theirs = contract("00f9", Templates.DealingCycle, { ...open, fund: bob })
    expect(acts(nets, fund, [theirs, purse, priced(inIt)])).toEqual([])
  })
  const unpaid: ReadonlyArray<readonly [string, ReadonlyArray<Contract>, string]> = [
    ["it brings as much", [priced(inIt), lot({ ...inIt, cash: decimal("200") })], "05T13:00"],
    ["it takes orders still", [priced(inIt)], "05T11:59"],
    ["its time is over", [priced(inIt)], "08T12:00"],
    ["an order has no price yet", [priced(inIt), claim], "05T13:00"],
    ["its cash is in place", [priced(inIt), allocated(fund, cash, "c1")], "05T13:00"],
    ["its orders are another cycle's", [priced({ cycleId: "c2" })], "05T13:00"]
  ]
  it.each(unpaid)("never would pay a net although %s", (_, contracts, now) => {
    expect(acts(nets, fund, [cycle, purse, ...contracts], at(now))).toEqual([])
  })
})

describe("a price that is swung", () => {
  const said = {
    oracle,
    venue,
    fund,
    registrar,
    attestors: [bob],
    instrumentId: instrument.id,
    metric: "price",
    value: decimal("1.0437"),
    valuationTime: at("05T12:00"),
    period: null,
    withholdingRate: null,
    statementRef: null,
    corrects: null
  }
  const point = contract("00aa", Templates.OraclePoint, said)
  const {
    units: _,
    price: __,
    proceeds: ___,
    pointCid: ____,
    valuationTime: _____,
    ...claimed
  } = redemption
  const toRedeem = (other: Partial<typeof claimed> | object = {}) =>
    contract("00f3", Templates.RedemptionClaim, { ...claimed, ...other })
  const toSubscribe = contract("00f4", Templates.SubscriptionClaim, {
    venue,
    subscriptionId: "S1",
    orderId: null,
    instrument,
    holder: alice,
    custodian: null,
    fund,
    mode: "ledger",
    currency: "EUR",
    paymentAsset: cash,
    cash: decimal("100000"),
    feeRate: null,
    cashDecimals: 2,
    oracle,
    cycleId: null,
    orderedUnits: null,
    attestors: [bob],
    required: 1,
    attested: [],
    pointCid: null,
    price: null,
    units: null
  })
  const quotes = (...swung: ReadonlyArray<{ valuationTime: Instant.Instant; price: string }>) => [
    {
      instrumentId: instrument.id,
      unitDecimals: 6,
      swung: swung.map(({ valuationTime, price }) => ({ valuationTime, price: decimal(price) }))
    }
  ]
  const up = { valuationTime: at("05T12:00"), price: "1.04526555" }
  const down = { valuationTime: at("05T12:00"), price: "1.0426563" }

  it("is waited for until it is told, by attestor and oracle alike", () => {
    const other = { valuationTime: at("06T12:00"), price: "2" }
    for (const instruments of [quotes(), quotes(other)]) {
      const attests = AttestorBot.plan({ policy, instruments })
      expect(acts(attests, bob, [toSubscribe, point])).toEqual([])
      const prices = OracleBot.redemptions({ instruments })
      expect(acts(prices, oracle, [toRedeem(), point])).toEqual([])
    }
  })
  it("deals, once it is told, as golden vector G10 has it", () => {
    const attests = AttestorBot.plan({ policy, instruments: quotes(up) })
    expect(acts(attests, bob, [toSubscribe, point])).toMatchObject([
      { price: "1.04526555", units: "95669.468873" }
    ])
    const prices = OracleBot.redemptions({ instruments: quotes(down) })
    expect(acts(prices, oracle, [toRedeem(), point])).toMatchObject([
      { price: "1.0426563", units: "100", proceeds: "104.26" }
    ])
  })
  it("is the last one told of a point", () => {
    const attests = AttestorBot.plan({ policy, instruments: quotes(down, up) })
    expect(acts(attests, bob, [toSubscribe, point])).toMatchObject([{ price: "1.04526555" }])
  })

  const golden: ReadonlyArray<
    readonly ["amount" | "units", string, string | undefined, string, string]
  > = [
    ["units", "1234.567891", "0.005", "1234.567891", "1282.07"],
    ["amount", "25000", undefined, "23953.24327", "25000"],
    ["amount", "25000", "0.005", "24073.611326", "25000"]
  ]
  it.each(golden)("%s %s at fee %s takes %s units and pays %s", (as, quantity, fee, ...figures) => {
    const [units, proceeds] = figures
    const ordered = {
      orderedUnits: as === "units" ? decimal(quantity) : null,
      orderedAmount: as === "amount" ? decimal(quantity) : null
    }
    const instruments = [
      {
        instrumentId: instrument.id,
        unitDecimals: 6,
        ...(fee === undefined ? {} : { redemptionFeeRate: decimal(fee) })
      }
    ]
    const prices = OracleBot.redemptions({ instruments })
    expect(acts(prices, oracle, [toRedeem(ordered), point])).toMatchObject([{ units, proceeds }])
  })
  it.each(["latest", "forward", "historic"] as const)(
    "of what a gate left over waits for its cut-off and is the first from there, priced %s",
    (pricing) => {
      const instruments = [{ instrumentId: instrument.id, unitDecimals: 6, pricing }]
      const prices = OracleBot.redemptions({ instruments })
      const now = at("05T13:00")
      const pointAt = (cid: string, value: string, valuationTime: Instant.Instant) =>
        contract(cid, Templates.OraclePoint, { ...said, value: decimal(value), valuationTime })
      const early = pointAt("00a1", "1", Instant.fromNanos(now - 2n))
      const ofDay = pointAt("00a2", "2", Instant.fromNanos(now - 1n))
      const after = pointAt("00a3", "3", now)
      const left = (cutOffAt: Instant.Instant) => toRedeem({ remainderOf: "R0", cutOffAt })
      const here = Instant.fromNanos(now - 1n)
      expect(acts(prices, oracle, [left(here), early])).toEqual([])
      expect(acts(prices, oracle, [left(here), early, ofDay, after])).toMatchObject([
        { price: "2" }
      ])
      // Its day is still to come, though a point of that day is out.
      const ahead = Instant.fromNanos(now + 1n)
      expect(acts(prices, oracle, [left(ahead), pointAt("00a4", "4", ahead)])).toEqual([])
    }
  )
  it("never would price another oracle's redemption, one it has no terms of, or one worth nothing", () => {
    const instruments = [{ instrumentId: instrument.id, unitDecimals: 6 }]
    const prices = OracleBot.redemptions({ instruments })
    const theirs = contract("00ab", Templates.OraclePoint, { ...said, oracle: bank })
    expect(acts(prices, oracle, [toRedeem({ oracle: bank }), point, theirs])).toEqual([])
    expect(acts(prices, oracle, [toRedeem({ orderedUnits: decimal("0.000001") }), point])).toEqual(
      []
    )
    expect(acts(OracleBot.redemptions({}), oracle, [toRedeem(), point])).toEqual([])
  })
})

describe("a standing settlement", () => {
  const standingSettlement = (options: {
    readonly paused?: boolean
    readonly expiresAt?: string
    readonly createdAt?: string
  }) =>
    contract(
      "0051",
      Templates.StandingSettlement,
      {
        venue,
        fund,
        registrar,
        standingSettlementId: "st1",
        instrument,
        cash,
        funding: [
          { party: alice, asset: cash, amount: decimal("300") },
          { party: bob, asset: instrument, amount: decimal("5") }
        ],
        paused: options.paused ?? false,
        deadline: null,
        expiresAt: at(options.expiresAt ?? "20T12:00")
      },
      at(options.createdAt ?? "05T12:00")
    )
  const committed = contract("0052", Templates.StandingCommitment, {
    venue,
    fund,
    party: alice,
    standingSettlementId: "st1",
    asset: cash,
    allocationCid: "0099",
    amount: decimal("300"),
    expiresAt: at("20T12:00")
  })
  const plan = Wallet.plan({ policy })

  it("has each party commit what was asked of it, and nobody else's part", () => {
    const mine = acts(plan, alice, [standingSettlement({}), money("0010", alice, "500")])
    expect(mine).toMatchObject([{ name: "commit", amount: "300" }])
    expect(mine[0]?.commandId).toBe(`commit:st1:EUR:${bank}`)
    expect(
      acts(plan, custodian, [standingSettlement({}), money("0010", custodian, "500")])
    ).toEqual([])
  })

  it("is not committed to twice, late, or past its time", () => {
    const cashOf = money("0010", alice, "500")
    expect(acts(plan, alice, [standingSettlement({}), committed, cashOf])).toEqual([])
    expect(acts(plan, alice, [standingSettlement({}), cashOf], at("11T12:00"))).toEqual([])
    expect(acts(plan, alice, [standingSettlement({ expiresAt: "05T13:00" }), cashOf])).toEqual([])
  })
})
