/** Subscriptions, redemptions and their market over HTTP: the venue asks over the API, everybody else answers by wallet. */
import { verify } from "@bursar/engine-core"
import { Basis, Decimal, Duration, Instant, PlainJson } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import {
  AttestorBot,
  FundBot,
  OracleBot,
  RegistrarBot,
  Wallet as InvestorWallet,
  type World
} from "@bursar/storage-adapters/wallets"
import { Result, Schema } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import * as Bank from "../operations/bank.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Wallets from "./wallets.ts"

const documentHash = "ab".repeat(32)
const policy = { accept: "all" } as const
const refusing = { accept: [], reject: "all" } as const

type Claims = NonNullable<Parameters<Wallets.WholeVenue["read"]>[2]>

let venue: Wallets.WholeVenue
let registrar: Wallets.Wallet
let fund: Wallets.Wallet
let oracle: Wallets.Wallet
let attestor: Wallets.Wallet
let bank: Wallets.Wallet
let alice: Wallets.Wallet

const from = (offset: Duration.Duration): Instant.Instant =>
  Instant.add(Instant.fromEpochMillis(Date.now()), offset)
const lately = Instant.fromEpochMillis(Date.now() - 3_600_000)

const instrument = () => ({ admin: registrar.party, id: "fund-a" })
const money = () => ({ admin: bank.party, id: "USD" })
const terms: AttestorBot.Terms = {
  instrumentId: "fund-a",
  unitDecimals: 6,
  pricing: "historic",
  redemptionFeeRate: Decimal.of("0.005")
}

const plans = (): Readonly<Record<string, readonly [Wallets.Wallet, World.Plan]>> => ({
  registrar: [
    registrar,
    RegistrarBot.plan({
      policy,
      instruments: [
        {
          instrumentId: "fund-a",
          provider: venue.party,
          issuer: fund.party,
          holderRequirements: [],
          issuerRequirements: []
        }
      ]
    })
  ],
  fund: [fund, FundBot.plan({ policy })],
  oracle: [
    oracle,
    OracleBot.plan({
      quotes: () => [
        { instrumentId: "fund-a", value: Decimal.of("1.0437"), valuationTime: lately }
      ],
      audience: {
        venue: venue.party,
        fund: fund.party,
        registrar: registrar.party,
        attestors: [attestor.party]
      },
      instruments: [terms]
    })
  ],
  attestor: [attestor, AttestorBot.plan({ policy, instruments: [terms] })],
  alice: [alice, InvestorWallet.plan({ policy, terms: documentHash })]
})

/** Runs these programs until none of them has an act left. */
const work = async (...names: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const done: Array<string> = []
  for (let round = 0; round < 20; round++) {
    const before = done.length
    for (const [name, [wallet, plan]] of Object.entries(plans())) {
      if (names.length > 0 && !names.includes(name)) continue
      const act = await wallet.does(plan)
      if (act !== "nothing") done.push(`${name} ${act}`)
    }
    if (done.length === before) return done
  }
  throw new Error(`the wallets do not come to rest: ${done.join(", ")}`)
}

beforeEach(async () => {
  venue = await Wallets.open()
  registrar = await venue.wallet("registrar")
  fund = await venue.wallet("fund")
  oracle = await venue.wallet("oracle")
  attestor = await venue.wallet("attestor")
  bank = await venue.wallet("bank")
  alice = await venue.wallet("alice")
  await succeeds("/v1/instruments", {
    ...bodyOf(),
    registrar: registrar.party,
    oracle: oracle.party,
    pricing: "historic",
    fees: { subscription: 0, redemption: 0.005 }
  })
  await venue.run(Bank.opens())
  await work("registrar", "oracle")
  await succeeds("/v1/instruments/fund-a/admission-consent:propose", {
    fund: fund.party,
    terms: "terms"
  })
  await work("registrar")
})
afterEach(() => venue.close())

const succeeds = async (path: string, body: object, as = "operator") => {
  const ended = await venue.write(path, body, as)
  expect(ended).toMatchObject({ state: "succeeded" })
  return ended["result"] as Readonly<Record<string, unknown>>
}
const refusedBy = async (path: string, body: object, as = "operator"): Promise<string> => {
  const ended = await venue.write(path, body, as)
  const { type, gate, check } = (ended["problem"] ?? ended) as Readonly<Record<string, string>>
  return [type?.split(":").at(-1), gate, check].filter((one) => one != null).join(" ")
}

const proposes = () =>
  succeeds("/v1/instruments/fund-a/primary-market:propose", {
    fund: fund.party,
    paymentAsset: money(),
    terms: { attestors: [attestor.party], required: 1 }
  })
const market = async () => {
  const { value } = await venue.read("/v1/instruments/fund-a")
  const shown = (value as Readonly<Record<string, unknown>>)["primaryMarket"]
  return shown as Readonly<Record<string, unknown>>
}

/** A market, and alice admitted, with so much cash. */
const trading = async (cash = "250000") => {
  await proposes()
  await work("fund", "registrar")
  await succeeds(
    "/v1/holders:onboard",
    {
      holderId: "h1",
      party: alice.party,
      taxResidences: [],
      admissions: [{ instrumentId: "fund-a" }]
    },
    "app"
  )
  await work("alice")
  await succeeds("/v1/holders/h1/accepted-terms:accept", {})
  await work("alice")
  await gives(alice, cash)
}

const gives = async (to: Wallets.Wallet, amount: string) => {
  await bank.acts(
    Templates.create(Templates.Holding, {
      registrar: bank.party,
      owner: bank.party,
      provider: venue.party,
      instrument: money(),
      amount: Decimal.of(amount),
      restricted: false,
      lock: null,
      label: "",
      meta: {}
    })
  )
  const held = (await bank.sees(Templates.Holding)).find(
    ({ payload }) => payload.owner === bank.party && payload.lock === null
  )
  await bank.acts(
    Templates.exercise(Templates.Holding, held?.contractId ?? "", "OfferTransfer", {
      receiver: to.party,
      amount: Decimal.of(amount),
      executeBefore: from(Duration.days(1))
    })
  )
  await work("alice", "fund")
}

const one = async (path: string, as = "auditor", claims: Claims = {}) => {
  const { status, value } = await venue.read(path, as, claims)
  return { status, ...(value as Readonly<Record<string, unknown>>) } as Readonly<
    Record<string, unknown>
  >
}
const stateOf = async (path: string) => {
  const { state, orderState } = await one(path)
  return `${state} ${orderState}`
}
const eventTypesOf = async (resourceKind: string, resourceId: string) => {
  const query = `resourceKind=${resourceKind}&resourceId=${resourceId}&limit=100`
  const { value } = await venue.read(`/v1/events?${query}`)
  return (value as ReadonlyArray<{ readonly type: string }>)
    .map(({ type }) => type)
    .filter((type) => !type.startsWith("operation.") && !type.startsWith("approval."))
}
const ids = async (path: string, name: string, as = "auditor", claims: Claims = {}) => {
  const { value, text } = await venue.read(path, as, claims)
  if (!Array.isArray(value)) throw new Error(text)
  return value.map((row: Readonly<Record<string, unknown>>) => row[name])
}
const holds = async (wallet: Wallets.Wallet, assetId: string) => {
  const found = await wallet.sees(Templates.Holding)
  return Decimal.formatPlain(
    Decimal.sum(
      found
        .filter(
          ({ payload }) => payload.owner === wallet.party && payload.instrument.id === assetId
        )
        .map(({ payload }) => payload.amount)
    )
  )
}
const line = (amount: number, number = 1, statementId = Bank.credits) => ({
  cash: [{ statementId, line: number, amount }]
})
/** A line of the bank that paid a redemption. */
const out = (amount: number, number = 1) => line(amount, number, Bank.debits)

const subscribes = (subscriptionId: string, members: object) =>
  succeeds("/v1/subscriptions", {
    subscriptionId,
    instrumentId: "fund-a",
    holderId: "h1",
    ...members
  })
const redeems = (redemptionId: string, members: object) =>
  succeeds("/v1/redemptions", { redemptionId, instrumentId: "fund-a", holderId: "h1", ...members })

const signs = (
  kind: "subscription" | "redemption",
  claim: { orderId: string; amount?: string; units?: string }
) => {
  const { orderId, amount, units } = claim
  const order = {
    venue: venue.party,
    fund: fund.party,
    holder: alice.party,
    orderId,
    instrument: instrument(),
    paymentAsset: money(),
    amount: amount === undefined ? null : Decimal.of(amount),
    units: units === undefined ? null : Decimal.of(units),
    expiresAt: null
  }
  return alice.acts(
    kind === "subscription"
      ? Templates.create(Templates.SubscriptionOrder, order)
      : Templates.create(Templates.RedemptionOrder, { ...order, custodian: null })
  )
}

describe("a primary market", () => {
  it("never is declined, replaced, agreed or revoked and shown as something else", async () => {
    await proposes()
    expect(await market()).toMatchObject({
      state: "proposed",
      fund: fund.party,
      paymentAsset: money(),
      terms: { attestors: [attestor.party], required: 1, oracle: oracle.party },
      cid: null,
      from: null,
      until: null
    })
    const { marketId: first } = await market()
    await proposes()
    const second = await market()
    expect(second).toMatchObject({ state: "proposed" })
    expect(second["marketId"]).not.toBe(first)
    expect(await fund.does(FundBot.plan({ policy: refusing }))).toBe("decline-market")
    expect(await market()).toMatchObject({ state: "declined" })
    await proposes()
    expect(await work("fund")).toEqual(["fund accept-market"])
    expect(await market()).toMatchObject({
      state: "proposed",
      waitingOn: [{ party: registrar.party, action: "PrimaryMarketProposal.Accept" }]
    })
    expect(await work("registrar")).toEqual(["registrar accept-market"])
    expect(await market()).toMatchObject({ state: "agreed", waitingOn: [] })
    expect(
      await refusedBy("/v1/instruments/fund-a/primary-market:propose", {
        fund: fund.party,
        paymentAsset: money(),
        terms: { attestors: [attestor.party], required: 1 }
      })
    ).toBe("state-conflict PrimaryMarketState")
    const [agreed] = await fund.sees(Templates.PrimaryMarket)
    await fund.acts(
      Templates.exercise(Templates.PrimaryMarket, agreed?.contractId ?? "", "End", {})
    )
    expect(await market()).toMatchObject({ state: "ended" })
  })

  it("revoked takes no order, and settles those that opened while it was agreed", async () => {
    await trading()
    await signs("subscription", { orderId: "mine-1", amount: "100000" })
    await subscribes("s1", { payment: "ledger", orderId: "mine-1" })
    await signs("subscription", { orderId: "mine-2", amount: "1000" })
    await work()
    expect(await stateOf("/v1/subscriptions/s1")).toBe("priced ready")
    const [agreed] = await fund.sees(Templates.PrimaryMarket)
    await fund.acts(
      Templates.exercise(Templates.PrimaryMarket, agreed?.contractId ?? "", "End", {})
    )
    expect(
      await refusedBy("/v1/subscriptions", {
        subscriptionId: "s2",
        instrumentId: "fund-a",
        holderId: "h1",
        payment: "ledger",
        orderId: "mine-2"
      })
    ).toBe("rule-refused policy primary-market")
    await succeeds("/v1/subscriptions/s1:settle", {})
    expect(await stateOf("/v1/subscriptions/s1")).toBe("closed settled")
    expect(await holds(alice, "USD")).toBe("150000")
  })
})

describe("a subscription", () => {
  it("by wire goes from claim to close", async () => {
    await trading()
    await subscribes("s1", { amount: 100000 })
    const path = "/v1/subscriptions/s1"
    expect(await stateOf(path)).toBe("claimed awaiting-price")
    expect(await work()).toEqual(["attestor attest"])
    expect(await stateOf(path)).toBe("priced awaiting-cash")
    expect(await refusedBy(`${path}:deliver`, {})).toBe("rule-refused cash cash-matched")
    await succeeds(`${path}:deliver`, line(100000))
    expect(await stateOf(path)).toBe("delivered settled")
    expect(await holds(alice, "fund-a")).toBe("95812.973076")
    await succeeds(`${path}:settle`, {})
    expect(await stateOf(path)).toBe("closed settled")
    expect(await eventTypesOf("subscription", "s1")).toEqual([
      "subscription.created",
      "subscription.priced",
      "subscription.delivered",
      "subscription.ended"
    ])
    await subscribes("s2", { units: 95000 })
    await succeeds("/v1/subscriptions/s2:withdraw", {}, "app")
    expect(await stateOf("/v1/subscriptions/s2")).toBe("withdrawn withdrawn")
    await subscribes("s3", { units: 95000 })
    await work()
    expect((await one("/v1/subscriptions/s3"))["cash"]).toMatchObject({ expected: 99151.5 })
    await succeeds("/v1/subscriptions/s3:release", {})
    expect(await stateOf("/v1/subscriptions/s3")).toBe("released released")
    expect(await eventTypesOf("subscription", "s3")).toEqual([
      "subscription.created",
      "subscription.priced",
      "subscription.ended"
    ])
    expect(await ids("/v1/subscriptions?state=closed&state=released", "subscriptionId")).toEqual([
      "s1",
      "s3"
    ])
    const investor = (holderId: string) => ({ holder: holderId })
    expect(await ids("/v1/subscriptions", "subscriptionId", "investor", investor("h1"))).toEqual([
      "s1",
      "s2",
      "s3"
    ])
    expect(await ids("/v1/subscriptions", "subscriptionId", "investor", investor("h2"))).toEqual([])
  })

  it("of units on the ledger asks for cash once the amount is known, and settles with it alone", async () => {
    await trading()
    await signs("subscription", { orderId: "mine-1", units: "95000" })
    await subscribes("s1", { payment: "ledger", orderId: "mine-1" })
    expect(await work()).toEqual(["attestor attest", "alice allocate"])
    expect(await stateOf("/v1/subscriptions/s1")).toBe("priced ready")
    await succeeds("/v1/subscriptions/s1:settle", {})
    expect(await stateOf("/v1/subscriptions/s1")).toBe("closed settled")
    // G4.
    expect(await holds(fund, "USD")).toBe("99151.5")
    expect(await holds(alice, "fund-a")).toBe("95000")
  })
})

describe("of a hold, a restriction and a fault of its admission", () => {
  it("an order's act is refused with the first check that fails", async () => {
    await trading()
    await subscribes("s1", { amount: 100000 })
    await work()
    const paused = await succeeds("/v1/instruments/fund-a:pause", { reason: "to see" }, "risk")
    const frozen = { mode: "freeze", reason: "pledge" }
    const restricted = await succeeds("/v1/holders/h1:restrict", frozen, "compliance")
    await succeeds("/v1/holders/h1/admissions/fund-a:withdraw", {}, "compliance")
    const order = { instrumentId: "fund-a", holderId: "h1" }
    const acts = [
      () => refusedBy("/v1/subscriptions/s1:deliver", line(100000)),
      () => refusedBy("/v1/subscriptions", { ...order, amount: 100 })
    ]
    const redeems = () => refusedBy("/v1/redemptions", { ...order, units: 1 })
    for (const act of [...acts, redeems]) expect(await act()).toBe("rule-refused hold not-held")
    await succeeds(`/v1/holds/${String(paused["holdId"])}:release`, {})
    const [delivers, claims] = acts
    expect(await delivers?.()).toBe("rule-refused restriction may-receive")
    expect(await claims?.()).toBe("rule-refused restriction may-subscribe")
    expect(await redeems()).toBe("rule-refused restriction may-redeem")
    const lifts = `/v1/restrictions/${String(restricted["restrictionId"])}:lift`
    await succeeds(lifts, { reason: "the pledge ended" }, "compliance")
    for (const act of acts) expect(await act()).toBe("rule-refused admission admitted")
    // A holder who may no longer hold the instrument may still redeem it.
    expect(await redeems()).toBe("rule-refused units units-free")
    await succeeds("/v1/subscriptions/s1:release", {})
  })
})

/** Alice with units, bought by wire. */
const holding = async () => {
  await trading()
  await subscribes("s1", { amount: 100000 })
  await work()
  await succeeds("/v1/subscriptions/s1:deliver", line(100000, 9))
  await succeeds("/v1/subscriptions/s1:settle", {})
}

describe("a redemption", () => {
  it("by wire goes from claim to settlement, and cannot be withdrawn once it is burned", async () => {
    await holding()
    const path = "/v1/redemptions/r1"
    await redeems("r1", { units: 1234.567891 })
    expect(await stateOf(path)).toBe("claimed awaiting-price")
    expect(await work("oracle")).toEqual(["oracle price-redemption"])
    expect(await stateOf(path)).toBe("priced awaiting-units")
    // G6.
    expect(await one(path)).toMatchObject({ price: 1.0437, proceeds: 1282.07, fee: 6.45 })
    expect(await work("alice")).toEqual(["alice request-burn"])
    expect(await stateOf(path)).toBe("funded awaiting-registrar")
    expect(await refusedBy(`${path}:withdraw`, {})).toBe("rule-refused units burn-requested")
    expect(await work("registrar")).toEqual(["registrar accept-burn"])
    expect(await stateOf(path)).toBe("burned awaiting-payment")
    expect(await holds(alice, "fund-a")).toBe("94578.405185")
    for (const verb of ["withdraw", "release"]) {
      expect(await refusedBy(`${path}:${verb}`, {})).toBe("state-conflict RedemptionState")
    }
    expect(await refusedBy(`${path}:settle`, out(1282.06))).toBe("rule-refused cash cash-matched")
    expect(await refusedBy(`${path}:settle`, line(1282.07, 9))).toBe("rule-refused cash line-side")
    await succeeds(`${path}:settle`, out(1282.07))
    expect(await stateOf(path)).toBe("settled settled")
    expect(await eventTypesOf("redemption", "r1")).toEqual([
      "redemption.priced",
      "redemption.funded",
      "redemption.burned",
      "redemption.settled"
    ])
  })

  it("gives its holder's units back, and announces whether it was withdrawn or released", async () => {
    await holding()
    await redeems("r1", { amount: 25000 })
    await succeeds("/v1/redemptions/r1:withdraw", {}, "app")
    expect(await stateOf("/v1/redemptions/r1")).toBe("withdrawn withdrawn")
    await redeems("r2", { amount: 25000 })
    await work("oracle")
    // G5.
    expect(await one("/v1/redemptions/r2")).toMatchObject({ units: 24073.611326, proceeds: 25000 })
    await succeeds("/v1/redemptions/r2:release", {})
    expect(await stateOf("/v1/redemptions/r2")).toBe("released released")
    await redeems("r3", { units: 1 })
    await work("oracle")
    await succeeds("/v1/redemptions/r3:withdraw", {})
    expect(await stateOf("/v1/redemptions/r3")).toBe("withdrawn withdrawn")
    expect(await eventTypesOf("redemption", "r2")).toEqual([
      "redemption.priced",
      "redemption.withdrawn"
    ])
    const { value } = await venue.read(
      "/v1/events?type=redemption.withdrawn&resourceKind=redemption"
    )
    expect(
      (value as ReadonlyArray<{ readonly payload: { readonly how: string } }>).map(
        ({ payload }) => payload.how
      )
    ).toEqual(["withdrawn", "released", "withdrawn"])
    expect(
      await refusedBy("/v1/redemptions", {
        instrumentId: "fund-a",
        holderId: "h1",
        units: 95812.973077
      })
    ).toBe("rule-refused units units-free")
    expect(await ids("/v1/redemptions?state=withdrawn", "redemptionId")).toEqual(["r1", "r3"])
    const investor = (holderId: string) => ({ holder: holderId })
    expect(await ids("/v1/redemptions", "redemptionId", "investor", investor("h2"))).toEqual([])
    expect((await venue.read("/v1/redemptions/r2", "investor", investor("h2"))).status).toBe(404)
    expect(
      (await venue.read("/v1/redemptions/r2", "registrar", { party: registrar.party })).status
    ).toBe(200)
  })

  it("on the ledger is burned and paid at once, when both sides are locked", async () => {
    await holding()
    await gives(fund, "5000")
    await signs("redemption", { orderId: "back-1", units: "1234.567891" })
    await redeems("r1", { payment: "ledger", orderId: "back-1" })
    const path = "/v1/redemptions/r1"
    await work("oracle")
    expect(await stateOf(path)).toBe("priced awaiting-units")
    expect(await refusedBy(`${path}:settle`, {})).toBe("rule-refused units units-allocated")
    await work("alice")
    expect(await stateOf(path)).toBe("priced awaiting-payment")
    expect(await refusedBy(`${path}:settle`, {})).toBe("rule-refused cash cash-allocated")
    await work("fund")
    expect(await stateOf(path)).toBe("priced ready")
    await succeeds(`${path}:settle`, {})
    expect(await stateOf(path)).toBe("settled settled")
    expect(await holds(alice, "fund-a")).toBe("94578.405185")
    expect(await holds(alice, "USD")).toBe("251282.07")
    expect(await holds(fund, "USD")).toBe("3717.93")
    expect(await eventTypesOf("redemption", "r1")).toEqual([
      "redemption.priced",
      "redemption.burned",
      "redemption.settled"
    ])
  })
})

describe("what waits for somebody", () => {
  const open = async (query = "", as = "auditor", claims: Claims = {}) => {
    const { value } = await venue.read(`/v1/open-orders${query}`, as, claims)
    const rows = value as ReadonlyArray<Readonly<Record<string, string>>>
    return rows.map(({ kind, orderId, state }) => `${kind} ${orderId} ${state}`)
  }
  const waiting = async (path: string) => {
    const { value } = await venue.read(path)
    const rows = value as ReadonlyArray<{
      readonly waitingOn: ReadonlyArray<Readonly<Record<"party" | "role" | "action", string>>>
    }>
    return rows.flatMap(({ waitingOn }) =>
      waitingOn.map(({ party, role, action }) => `${party ?? role} ${action}`)
    )
  }

  it("never is not listed, stays listed when it has ended, or names another than whose move it is", async () => {
    await proposes()
    expect(await waiting("/v1/proposals")).toEqual([
      `${fund.party} PrimaryMarketProposal.Accept`,
      `${registrar.party} PrimaryMarketProposal.Accept`
    ])
    // The next proposal takes the place of this one.
    await holding()
    await subscribes("s2", { amount: 500 })
    await redeems("r1", { units: 1234.567891 })
    expect(await open()).toEqual(["subscription s2 awaiting-price", "redemption r1 awaiting-price"])
    expect(await open("?limit=1")).toEqual(["subscription s2 awaiting-price"])
    expect(await open("?kind=redemption&state=awaiting-price&state=ready")).toEqual([
      "redemption r1 awaiting-price"
    ])
    expect(await open("", "investor", { holder: "h2" })).toEqual([])
    expect((await venue.read("/v1/open-orders?kind=gift")).status).toBe(400)
    await work("oracle", "alice")
    expect(await open("?kind=redemption")).toEqual(["redemption r1 awaiting-registrar"])
    expect(await ids("/v1/proposals?kind=burn-request&kind=mint-request", "kind")).toEqual([
      "burn-request"
    ])
    expect(await waiting("/v1/proposals")).toEqual([`${registrar.party} BurnRequest.Accept`])
    const { value: before } = await venue.read("/v1/open-orders?kind=redemption")
    const offset = Number(
      /^\{"offset":([0-9]+)/u.exec((await venue.read("/v1/proposals")).text)?.[1]
    )
    await work("registrar")
    await succeeds("/v1/redemptions/r1:settle", out(1282.07, 30))
    expect(await open("?kind=redemption")).toEqual([])
    expect(await ids("/v1/proposals", "kind")).toEqual([])
    const { value: then } = await venue.read(`/v1/open-orders?kind=redemption&at=${offset}`)
    expect(then).toEqual(before)
  })

  it("can be computed again, with every figure of a priced order, from its basis alone", async () => {
    await holding()
    await redeems("r1", { units: 1234.567891 })
    await redeems("r2", { amount: 25000 })
    await work("oracle")
    const verified = async (path: string) => {
      const { text } = await venue.read(path)
      const Answer = Schema.Struct({ value: Schema.Struct({ basis: Schema.Array(Basis.Basis) }) })
      const plain = Result.getOrThrow(PlainJson.parse(text))
      const { value } = Schema.decodeUnknownSync(Answer)(plain)
      return Object.fromEntries(
        value.basis.map((basis) => [basis.field, Result.getOrThrow(verify(basis))])
      )
    }
    // G1, G6, G5 with a fee.
    expect(await verified("/v1/subscriptions/s1")).toEqual({
      fee: "0.00",
      units: "95812.973076",
      residual: "0.0000005788",
      refund: "0.00"
    })
    expect(await verified("/v1/redemptions/r1")).toEqual({ proceeds: "1282.07", fee: "6.45" })
    expect(await verified("/v1/redemptions/r2")).toEqual({ units: "24073.611326", fee: "125.63" })
  })
})
