/** Dealing cycles over HTTP: the venue opens, settles and releases; holders, fund, oracle and attestor act by wallet. */
import { Decimal, Instant, TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import {
  AttestorBot,
  FundBot,
  OracleBot,
  RegistrarBot,
  Wallet
} from "@bursar/storage-adapters/wallets"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as WallClock from "./wallClock.ts"
import * as Wallets from "./wallets.ts"

const friday = "2026-07-31T20:00:00Z"
const monday = "2026-08-03T20:00:00Z"
const documentHash = "ab".repeat(32)
const policy = { accept: "all" } as const

let clock: WallClock.WallClock
const sets = async (instant: string) => {
  clock.set(instant)
  await venue.settle()
}

let venue: Wallets.WholeVenue
const who: Record<string, Wallets.Wallet> = {}
const wallet = (name: string): Wallets.Wallet => {
  const found = who[name]
  if (found === undefined) throw new Error(`nobody is called ${name}`)
  return found
}
let prices: ReadonlyArray<OracleBot.Quote> = []

const instrument = () => ({ admin: wallet("registrar").party, id: "fund-a" })
const cash = () => ({ admin: wallet("bank").party, id: "USD" })
const terms = { instrumentId: "fund-a", unitDecimals: 6, pricing: "forward" as const }

/** Runs the program of every party until none has an act left. */
const work = async () => {
  const plans = {
    alice: Wallet.plan({ policy, terms: documentHash }),
    bob: Wallet.plan({ policy, terms: documentHash }),
    oracle: OracleBot.plan({ quotes: () => prices, instruments: [cutTerms] }),
    attestor: AttestorBot.plan({ policy, instruments: [cutTerms] }),
    fund: FundBot.plan({ policy }),
    registrar: RegistrarBot.plan({
      policy,
      instruments: [
        {
          instrumentId: "fund-a",
          provider: venue.party,
          issuer: wallet("fund").party,
          holderRequirements: [],
          issuerRequirements: []
        }
      ]
    })
  }
  const done: Array<string> = []
  for (let round = 0; round < 20; round++) {
    const before = done.length
    for (const [name, plan] of Object.entries(plans)) {
      const act = await wallet(name).does(plan)
      if (act !== "nothing") done.push(`${name} ${act}`)
    }
    if (done.length === before) return done
  }
  throw new Error(`the wallets do not come to rest: ${done.join(", ")}`)
}
const cutTerms: AttestorBot.Terms = {
  ...terms,
  cutOff: {
    time: TimeOfDay.of("16:00"),
    days: ["monday", "tuesday", "wednesday", "thursday", "friday"],
    zone: Zone.of("America/New_York")
  }
}

const one = async (
  path: string,
  as = "operator",
  claims: Readonly<Record<string, string>> = {}
) => {
  const { status, value } = await venue.read(path, as, claims)
  return { status, value: value as Readonly<Record<string, never>> }
}
const state = async (path: string) => (await one(path)).value["state"]

let issues = 0
const gives = (name: string, amount: string) => {
  const act = RegistrarBot.issue(wallet("bank").party, {
    instrumentId: "USD",
    provider: venue.party,
    receiver: wallet(name).party,
    amount: Decimal.of(amount),
    executeBefore: Instant.of("2026-08-30T00:00:00Z"),
    reference: `cash-${++issues}`
  })
  return wallet("bank").does(() => [act])
}

const orders = async (
  name: string,
  order: { readonly id: string; readonly amount?: string; readonly units?: string }
) => {
  const holder = wallet(name)
  const placed = {
    venue: venue.party,
    fund: wallet("fund").party,
    orderId: `order-${order.id}`,
    instrument: instrument(),
    paymentAsset: cash(),
    expiresAt: null
  }
  const act =
    order.amount === undefined
      ? Wallet.redeem(holder.party, {
          ...placed,
          ordered: { units: Decimal.of(order.units ?? "0") },
          custodian: null
        })
      : Wallet.order(holder.party, { ...placed, ordered: { amount: Decimal.of(order.amount) } })
  expect(await holder.does(() => [act])).toBe(act.name)
  const kind = order.amount === undefined ? "redemption" : "subscription"
  return venue.write(
    `/v1/${kind}s`,
    {
      [`${kind}Id`]: order.id,
      instrumentId: "fund-a",
      holderId: `h-${name}`,
      payment: "ledger",
      orderId: `order-${order.id}`
    },
    "app"
  )
}

beforeAll(async () => {
  clock = WallClock.start("2026-07-31T12:00:00Z")
  venue = await Wallets.open({ plugged: clock.plugged })
  for (const name of ["registrar", "fund", "oracle", "attestor", "bank", "alice", "bob"]) {
    who[name] = await venue.wallet(name)
  }
  await venue.write("/v1/instruments", {
    ...bodyOf(),
    registrar: wallet("registrar").party,
    oracle: wallet("oracle").party,
    holderCap: 10
  })
  await venue.write("/v1/instruments/fund-a/admission-consent:propose", {
    fund: wallet("fund").party,
    terms: "terms"
  })
  await work()
  await venue.write("/v1/instruments/fund-a/primary-market:propose", {
    fund: wallet("fund").party,
    paymentAsset: cash(),
    terms: { attestors: [wallet("attestor").party], required: 1 }
  })
  await work()
  for (const name of ["alice", "bob"]) {
    await venue.write(
      "/v1/holders:onboard",
      {
        holderId: `h-${name}`,
        party: wallet(name).party,
        taxResidences: [],
        admissions: [{ instrumentId: "fund-a" }]
      },
      "app"
    )
    await work()
    await venue.write(`/v1/holders/h-${name}/accepted-terms:accept`, {})
    await work()
  }
})
afterAll(async () => {
  await venue.close()
  clock.stop()
})

describe("a dealing cycle over HTTP", () => {
  it("is opened, joined, priced, shown, signed and settled", async () => {
    const opened = await venue.write("/v1/dealing-cycles", {
      cycleId: "c1",
      instrumentId: "fund-a"
    })
    expect(opened).toMatchObject({ state: "succeeded", result: { cycleId: "c1", state: "open" } })
    await gives("alice", "100000")
    await gives("bob", "50000")
    await work()
    expect(await orders("alice", { id: "s1", amount: "100000" })).toMatchObject({
      state: "succeeded",
      result: { cycleId: "c1" }
    })
    await orders("bob", { id: "s2", amount: "50000" })
    await work()
    const asks = "/v1/instruments/fund-a/precheck?act=dealing-cycle.settle&cycleId=c1"
    const early = (await one(asks)).value as Readonly<Record<string, unknown>>
    const refusing = (early["gates"] as ReadonlyArray<{ ok: boolean; check: string }>)
      .filter(({ ok }) => !ok)
      .map(({ check }) => check)
    expect(refusing).toEqual(["cut-off-passed", "orders-priced"])
    await sets(friday)
    prices = [
      { instrumentId: "fund-a", value: Decimal.of("1.0437"), valuationTime: Instant.of(friday) }
    ]
    await work()

    const { value } = await one("/v1/dealing-cycles/c1")
    expect(value).toMatchObject({
      state: "open",
      acceptsOrders: false,
      orders: { subscriptions: ["s1", "s2"], redemptions: [] },
      gross: { subscribed: 150000, minted: 143719.459614 },
      waitingOn: [{ role: "operator", action: "dealing-cycle.settle" }]
    })
    const then = (await one("/v1/dealing-cycles/c1?price=2")).value
    expect(then).toMatchObject({ state: "open", price: 2, fundNet: { cash: 150000, units: 75000 } })

    expect((await one(asks)).value).toMatchObject({
      allowed: true,
      figures: { price: "1.0437", subscribed: "150000", minted: "143719.459614" }
    })
    expect((await one(asks, "investor", { holder: "h1" })).status).toBe(403)
    const settled = await venue.write("/v1/dealing-cycles/c1:settle", {})
    expect(settled).toMatchObject({ state: "succeeded", result: { endedAs: "settled" } })
    expect(await state("/v1/subscriptions/s2")).toBe("closed")
    const done = (await one("/v1/dealing-cycles/c1")).value
    expect(done).toMatchObject({
      endedAs: "settled",
      price: 1.0437,
      swungPrice: null,
      fundNet: { cash: 150000, units: 143719.459614 },
      gate: null
    })
    expect(done["legs"]).toHaveLength(4)
  })

  it("never shows an investor another's order, its legs, or the sums of both", async () => {
    const alice = { holder: "h-alice" }
    const own = await one("/v1/dealing-cycles/c1", "investor", alice)
    expect(own.value).toMatchObject({
      orders: { subscriptions: ["s1"], redemptions: [] },
      gross: { subscribed: 100000, minted: 95812.973076 },
      fundNet: { cash: 100000, units: 95812.973076 }
    })
    expect(own.value["legs"]).toHaveLength(2)
    const text = JSON.stringify(own.value)
    expect(text).not.toContain('"s2"')
    expect(text).not.toContain(wallet("bob").party)
    // Numbers as whole words: the digits of an id or of a time may contain them by chance.
    for (const secret of ["50000", "47906", "150000"]) {
      expect(text).not.toMatch(new RegExp(`(?<![\\w.])${secret}(?!\\w)`, "u"))
    }
    const listed = await one("/v1/dealing-cycles?state=ended", "investor", alice)
    expect(listed.value).toMatchObject([{ cycleId: "c1", orders: { subscriptions: ["s1"] } }])
    const carol = { holder: "h-carol" }
    expect((await one("/v1/dealing-cycles", "investor", carol)).value).toEqual([])
    expect((await one("/v1/dealing-cycles/c1", "investor", carol)).status).toBe(404)
    expect((await one("/v1/dealing-cycles/c1", "investor")).status).toBe(404)
    expect((await one("/v1/dealing-cycles", "investor")).status).toBe(403)
    expect((await one("/v1/dealing-cycles/c1?price=2", "investor", alice)).status).toBe(403)
    expect((await one("/v1/dealing-cycles/c1", "registrar")).status).toBe(403)
    expect((await one("/v1/dealing-cycles/c1", "compliance")).status).toBe(403)
  })

  it("nets both sides, and the fund pays what it owes on balance", async () => {
    await venue.write("/v1/dealing-cycles", { cycleId: "c2", instrumentId: "fund-a" })
    await gives("bob", "1000")
    await work()
    await orders("bob", { id: "s3", amount: "1000" })
    const redeemed = await orders("alice", { id: "r1", units: "30000" })
    expect(redeemed).toMatchObject({ state: "succeeded", result: { cycleId: "c2" } })
    await sets(monday)
    prices = [
      ...prices,
      { instrumentId: "fund-a", value: Decimal.of("1.0437"), valuationTime: Instant.of(monday) }
    ]
    const done = await work()
    expect(done.filter((act) => act.startsWith("fund"))).toHaveLength(1)
    expect(await venue.write("/v1/dealing-cycles/c2:settle", {})).toMatchObject({
      state: "succeeded",
      result: { fundNet: { cash: -30311 }, orders: { subscriptions: ["s3"], redemptions: ["r1"] } }
    })
    expect(await state("/v1/redemptions/r1")).toBe("settled")
    const events = await venue.read("/v1/events?resourceKind=dealing-cycle", "operator")
    expect(
      (events.value as ReadonlyArray<{ type: string; resourceId: string }>)
        .filter(({ type }) => type.startsWith("dealing-cycle."))
        .map(({ type, resourceId }) => `${resourceId} ${type}`)
    ).toEqual(["c1 dealing-cycle.settled", "c2 dealing-cycle.settled"])
  })

  it("is released by one person, and its orders with it", async () => {
    await venue.write("/v1/dealing-cycles", { cycleId: "c3", instrumentId: "fund-a" })
    await gives("bob", "500")
    await work()
    await orders("bob", { id: "s4", amount: "500" })
    await work()
    const released = await venue.write("/v1/dealing-cycles/c3:release", {}, "risk")
    expect(released).toMatchObject({
      state: "succeeded",
      result: { endedAs: "released", fundNet: { cash: 0, units: 0 } }
    })
    expect(await state("/v1/subscriptions/s4")).toBe("withdrawn")
    expect((await one("/v1/dealing-cycles/c3")).value).toMatchObject({
      orders: { subscriptions: ["s4"] },
      legs: [],
      basis: []
    })
    const listed = await one("/v1/dealing-cycles")
    expect(
      (listed.value as unknown as ReadonlyArray<{ cycleId: string; endedAs: string }>).map(
        ({ cycleId, endedAs }) => `${cycleId} ${endedAs}`
      )
    ).toEqual(["c1 settled", "c2 settled", "c3 released"])
  })

  it("settles without an order that its price makes nothing of, which the signed figures name", async () => {
    await venue.write("/v1/dealing-cycles", { cycleId: "c4", instrumentId: "fund-a" })
    await gives("bob", "500")
    await work()
    await orders("bob", { id: "s5", amount: "500" })
    // One cent at the last price, and less than a cent at that of its own day.
    expect(await orders("alice", { id: "r2", units: "0.009582" })).toMatchObject({
      state: "succeeded",
      result: { cycleId: "c4" }
    })
    await sets("2026-08-04T20:00:00Z")
    const valuationTime = Instant.of("2026-08-04T20:00:00Z")
    prices = [...prices, { instrumentId: "fund-a", value: Decimal.of("1.0436"), valuationTime }]
    await work()
    const asks = "/v1/instruments/fund-a/precheck?act=dealing-cycle.settle&cycleId=c4"
    const shown = { tooSmall: "r2", subscriptions: "1", redemptions: "0", burned: "0" }
    expect((await one(asks)).value).toMatchObject({ allowed: true, figures: shown })
    const settled = await venue.write("/v1/dealing-cycles/c4:settle", {})
    expect(settled).toMatchObject({
      state: "succeeded",
      result: { endedAs: "settled", orders: { subscriptions: ["s5"], redemptions: [] } }
    })
    const signed = await one(`/v1/approvals/${String(settled["actionKey"])}`)
    expect(signed.value).toMatchObject({ state: "approved", figures: shown })
    expect(await state("/v1/redemptions/r2")).toBe("withdrawn")
    expect(await state("/v1/subscriptions/s5")).toBe("closed")
  })
})
