/** A backed instrument over HTTP: reserve, locks, mints, redemptions, amendments and reports, answered from wallets alone. */
import * as Templates from "@bursar/engine-core/templates"
import {
  CustodianBot,
  RegistrarBot,
  Reserves,
  Wallet as InvestorWallet
} from "@bursar/storage-adapters/wallets"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bodyOf, rebasingTerms } from "../operations/instrumentBody.ts"
import {
  type Row,
  asset,
  bank,
  clock,
  coverOf,
  custodian,
  does,
  events,
  gives,
  joins,
  mintBody,
  mints,
  oracle,
  policy,
  prices,
  read,
  refusedBy,
  refusing,
  registrar,
  reserve,
  rows,
  succeeds,
  terms,
  toldBy,
  turn,
  venue,
  walletOf,
  open,
  close
} from "./backed.ts"

beforeAll(open)
afterAll(close)

describe("a backed instrument over HTTP", () => {
  it("has a reserve that its issuer and the custodian accept, each from its own wallet", async () => {
    await succeeds("/v1/reserves", {
      reserveId: "res-1",
      instrumentId: "fund-a",
      holder: custodian.party,
      unit: "USD",
      decimals: 6,
      terms: terms(1.02),
      loosenDelay: "PT0S"
    })
    expect(await reserve()).toMatchObject({ state: "proposed" })
    expect(await custodian.does(CustodianBot.plan({ policy }))).toBe("accept-reserve")
    expect(await registrar.does(Reserves.proposals(policy))).toBe("accept-reserve")
    expect(await reserve()).toMatchObject({ state: "active", outstanding: 0, mintable: 0 })
    const path = "/v1/instruments/fund-a/primary-market:propose"
    const market = {
      fund: registrar.party,
      paymentAsset: asset("USD"),
      terms: { attestors: [oracle.party], required: 1, oracle: oracle.party }
    }
    expect(await refusedBy(path, market)).toBe("rule-refused policy backed")
  })

  it("has nothing of its holder locked by the venue and the asset's registrar alone", async () => {
    await gives(custodian, "BILL", "70")
    await succeeds("/v1/reserves/res-1/lock-agreements", {
      lockAgreementId: "lk-early",
      asset: asset("BILL"),
      amount: 70
    })
    expect(await bank.does(Reserves.locks(policy))).toBe("accept-lock")
    const [proposal] = await bank.sees(Templates.LockAgreementProposal)
    const [held] = await custodian.sees(Templates.Holding)
    const [found] = await custodian.sees(Templates.Reserve)
    const accept = (party: typeof bank.party) =>
      Templates.exercise(Templates.LockAgreementProposal, proposal?.contractId ?? "", "Accept", {
        party,
        reserveCid: found?.contractId ?? "",
        holdingCids: [held?.contractId ?? ""]
      })
    for (const by of [bank, registrar]) {
      await expect(by.acts(accept(custodian.party))).rejects.toThrow()
      await expect(by.acts(accept(by.party))).rejects.toThrow()
    }
    const free = await custodian.sees(Templates.Holding)
    expect(free.map(({ payload }) => payload.lock)).toEqual([null])
    expect(await custodian.does(Reserves.locks(refusing))).toBe("decline-lock")
    expect(await read("/v1/reserves/res-1/lock-agreements/lk-early")).toMatchObject({
      state: "declined"
    })
  })

  it("locks assets by agreement of their registrar and the custodian, and counts them", async () => {
    for (const [id, amount] of [
      ["USD", 550],
      ["BILL", 0]
    ] as const) {
      await succeeds("/v1/reserves/res-1/lock-agreements", {
        lockAgreementId: `lk-${id}`,
        asset: asset(id),
        amount
      })
      expect(await custodian.does(Reserves.locks(policy))).toBe("nothing")
      expect(await bank.does(Reserves.locks(policy))).toBe("accept-lock")
      if (amount > 0) {
        await gives(custodian, id, "600")
        expect(await custodian.does(Reserves.locks(policy))).toBe("divide")
      }
      expect(await custodian.does(Reserves.locks(policy))).toBe("accept-lock")
    }
    const agreements = await rows("/v1/reserves/res-1/lock-agreements")
    expect(agreements.map(({ state }) => state).toSorted()).toEqual([
      "active",
      "active",
      "declined"
    ])
    const unpriced = await refusedBy("/v1/reserves/res-1/mints", mintBody("m-0", "BILL", 1))
    expect(unpriced).toBe("rule-refused reserve-cover price-known")
    await prices("2.1")
    expect(await coverOf()).toMatchObject({ ratio: null, state: "covered", counted: 550 })
  })

  it("mints against deposits as the golden vectors have it, settled by the engine itself", async () => {
    expect(await mints("m-1", "USD", 450)).toMatchObject({ state: "settled", units: 450 })
    expect(await mints("m-2", "BILL", 500)).toMatchObject({ state: "settled", units: 1050 })
    expect(await coverOf()).toEqual({
      outstanding: 1500,
      required: 1530,
      counted: 1612,
      ratio: 1.0746666666,
      state: "covered",
      mintable: 133.986928
    })
    expect((await events("reserve.minted")).length).toBe(2)
    const settles = (await rows("/v1/operations?kind=mint.settle")).map(
      ({ state, role, actorName }) => ({ state, role, actorName })
    )
    expect(settles).toEqual(
      Array.from({ length: 2 }, () => ({ state: "succeeded", role: null, actorName: null }))
    )
    const portfolio = await rows("/v1/holders/h1/portfolio")
    expect(portfolio).toMatchObject([{ instrumentId: "fund-a", units: 1500 }])
    const refused = await refusedBy("/v1/reserves/res-1/mints", mintBody("m-3", "BILL", 100))
    expect(refused).toBe("rule-refused reserve-cover cover")
  })

  it("says by precheck what a mint would come to at a supposed price of its asset", async () => {
    const { admin, id } = asset("BILL")
    const query = new URLSearchParams({
      act: "mint.start",
      holderId: "h1",
      asset: `${admin}/${id}`,
      deposit: "10"
    })
    const path = (price: string) => `/v1/instruments/fund-a/precheck?${query}${price}`
    const figures = async (price: string) => (await read(path(price)))["figures"] as Row
    expect(await figures("&price=2")).toMatchObject({ price: "2", units: "20" })
    expect(await figures("")).toMatchObject({ price: "2.1", units: "21" })
    query.set("asset", `${admin}/USD`)
    const { status, text } = await venue.read(path("&price=2"), "auditor")
    expect([status, text]).toEqual([400, expect.stringContaining("price no such asset by points")])
  })

  it("ends an order that its holder declines, or the venue cancels, and gives back what was allocated", async () => {
    await succeeds("/v1/reserves/res-1/mints", mintBody("m-4", "USD", 10))
    expect(await walletOf("h1").does(Reserves.mints(refusing))).toBe("decline-mint")
    expect(await read("/v1/reserves/res-1/mints/m-4")).toMatchObject({
      state: "cancelled",
      endedAs: "declined"
    })
    await gives(walletOf("h1"), "USD", "11")
    await succeeds("/v1/reserves/res-1/mints", mintBody("m-5", "USD", 11))
    expect(await walletOf("h1").does(InvestorWallet.plan({ policy }))).toBe("allocate")
    expect(await walletOf("h1").does(InvestorWallet.plan({ policy }))).toBe("accept-mint-order")
    await succeeds("/v1/reserves/res-1/mints/m-5:cancel", {}, "risk")
    expect(await read("/v1/reserves/res-1/mints/m-5")).toMatchObject({ state: "cancelled" })
    expect(await walletOf("h1").sees(Templates.Allocation)).toEqual([])
  })

  it("redeems no units of another holder, by whoever acts", async () => {
    const path = "/v1/reserves/res-1/redemptions"
    const redemption = { asset: asset("USD"), units: 100 }
    // A redemption for who has no units is refused, and one of h1 is accepted by h1 alone.
    expect(
      await refusedBy(path, { ...redemption, reserveRedemptionId: "r-none", holderId: "h2" })
    ).toBe("rule-refused units units-free")
    await succeeds(path, { ...redemption, reserveRedemptionId: "r-taken", holderId: "h1" })
    const [order] = await walletOf("h1").sees(Templates.ReserveRedemptionOrder)
    const held = await walletOf("h1").sees(Templates.Holding)
    const units = held.find(({ payload }) => payload.instrument.id === "fund-a")
    const accept = Templates.exercise(
      Templates.ReserveRedemptionOrder,
      order?.contractId ?? "",
      "Accept",
      { holdingCid: units?.contractId ?? "" }
    )
    expect(await walletOf("h2").sees(Templates.ReserveRedemptionOrder)).toEqual([])
    expect(await walletOf("h2").does(InvestorWallet.plan({ policy }))).toBe("nothing")
    for (const by of [walletOf("h2"), registrar, custodian, bank]) {
      await expect(by.acts(accept)).rejects.toThrow()
    }
    await turn()
    expect(await read(`${path}/r-taken`)).toMatchObject({ state: "started" })
    expect(await coverOf()).toMatchObject({ outstanding: 1500 })
    await succeeds(`${path}/r-taken:cancel`, {})
    expect((await venue.read(`${path}/r-taken`, "investor", { holder: "h2" })).status).toBe(403)
  })

  it("pays units from what is locked", async () => {
    const path = "/v1/reserves/res-1/redemptions"
    await succeeds(path, {
      reserveRedemptionId: "r-1",
      holderId: "h1",
      asset: asset("USD"),
      units: 100
    })
    expect(await walletOf("h1").does(Reserves.redemptions(policy))).toBe(
      "accept-reserve-redemption"
    )
    await turn()
    expect(await read(`${path}/r-1`)).toMatchObject({ state: "settled", units: 100, payout: 100 })
    expect(await coverOf()).toMatchObject({ outstanding: 1400 })
    expect(await events("reserve.redeemed")).toMatchObject([{ reserveId: "res-1", quantity: 100 }])
  })

  it("takes other terms that its issuer accepts, at once where they only tighten", async () => {
    const path = "/v1/reserves/res-1/amendments"
    await succeeds(path, { amendmentId: "am-1", terms: terms(1.05) })
    expect(await registrar.does(Reserves.amendments(policy))).toBe("accept-amendment")
    expect(await read(`${path}/am-1`)).toMatchObject({ state: "effective", loosens: false })
    expect(await reserve()).toMatchObject({ termsInForce: { minCover: 1.05 } })
    await succeeds(path, { amendmentId: "am-2", terms: terms(1.06) })
    expect(await registrar.does(Reserves.amendments(refusing))).toBe("decline-amendment")
    expect(await read(`${path}/am-2`)).toMatchObject({ state: "declined" })
    expect(await events("reserve.amended")).toMatchObject([
      { amendmentId: "am-1", direction: "tighten" }
    ])
  })

  it("reports what the ledger computes, which is what the view shows", async () => {
    await succeeds("/v1/reserves/res-1/reports", { reportId: "rep-1" }, "risk")
    const report = await read("/v1/reserves/res-1/reports/rep-1")
    const { ratio, state, outstanding, required, counted } = await coverOf()
    expect(report["view"]).toMatchObject({
      outstanding,
      required,
      counted,
      cover: { ratio, state }
    })
    expect(await events("reserve.reported")).toMatchObject([{ reportId: "rep-1" }])
  })

  it("shows the monitor no id of a lock agreement, a mint or a redemption", async () => {
    const ids = /\b(lk-[A-Za-z]+|m-\d|r-(1|taken|none))\b/
    // An operator, who may read them, finds the ids in these answers.
    expect((await venue.read("/v1/operations?limit=1000")).text).toMatch(ids)
    for (const path of ["events", "operations", "approvals", "proposals", "findings"]) {
      const { status, text } = await venue.read(`/v1/${path}?limit=1000`, "monitor")
      expect([200, 403], path).toContain(status)
      expect(text, path).not.toMatch(ids)
    }
    for (const path of ["", "/lock-agreements", "/mints", "/redemptions", "/mints/m-1"]) {
      const { status } = await venue.read(`/v1/reserves/res-1${path}`, "monitor")
      expect(status, path).toBe(403)
    }
    expect((await venue.read("/v1/events?type=reserve.minted", "monitor")).status).toBe(200)
  })
})

describe("what bad input gets from the routes of reserves", () => {
  /** A reserve of another instrument, as the venue would propose it. */
  const proposed = (change: object = {}) => ({
    reserveId: "res-2",
    instrumentId: "fund-d",
    holder: custodian.party,
    unit: "USD",
    decimals: 6,
    terms: terms(1.02),
    ...change
  })
  const termsOf = (ofBill: object, minCover = 1.02) => ({ terms: terms(minCover, ofBill) })
  const at = (path: string) => `/v1/reserves/res-1/${path}`
  const order = (change: object) => ({ holderId: "h1", asset: asset("USD"), ...change })
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

  beforeAll(async () => {
    await joins("h3", { admitted: false })
    await joins("k", { wallet: custodian })
    const recorded = { ...bodyOf(), registrar: registrar.party, oracle: oracle.party }
    for (const [instrumentId, valuation, issuer] of [
      ["fund-b", "par", null],
      ["fund-c", "rebasing", registrar.party],
      ["fund-d", "par", registrar.party],
      ["fund-e", "par", bank.party]
    ] as const) {
      const terms = valuation === "rebasing" ? rebasingTerms : { valuation }
      await succeeds("/v1/instruments", { ...recorded, instrumentId, ...terms })
      if (issuer === null) continue
      const configured = { instrumentId, provider: venue.party, issuer }
      const bot = RegistrarBot.plan({ policy, instruments: [configured] })
      expect(await registrar.does(bot)).toBe("configure-instrument")
    }
  })

  it.each<[name: string, path: string, body: () => object, pointers: string]>([
    [
      "a freshness without a source",
      "/v1/reserves",
      () => proposed(termsOf({ priceSource: null })),
      "/body/terms/assets/1/freshness"
    ],
    [
      "a negative haircut",
      "/v1/reserves",
      () => proposed(termsOf({ haircut: -0.05 })),
      "/body/terms/assets/1/haircut"
    ],
    [
      "a share of eleven places",
      "/v1/reserves",
      () => proposed(termsOf({ maxShare: 0.40000000001 })),
      "/body/terms/assets/1/maxShare"
    ],
    [
      "a cover of nothing",
      "/v1/reserves",
      () => proposed({ terms: terms(0) }),
      "/body/terms/minCover"
    ],
    [
      "a delay of more than a year",
      "/v1/reserves",
      () => proposed({ loosenDelay: "P366D" }),
      "/body/loosenDelay"
    ],
    ["an unknown member", "/v1/reserves", () => proposed({ haste: 1 }), "/body/haste"],
    [
      "an unknown member of the terms",
      at("amendments"),
      () => ({ amendmentId: "am-9", ...termsOf({ haste: 1 }) }),
      "/body/terms/assets/1/haste"
    ],
    [
      "a negative amount to lock",
      at("lock-agreements"),
      () => ({ lockAgreementId: "lk-9", asset: asset("USD"), amount: -1 }),
      "/body/amount"
    ],
    ["a negative deposit", at("mints"), () => order({ deposit: -1 }), "/body/deposit"],
    [
      "a deposit of eleven places",
      at("mints"),
      () => order({ deposit: 1.00000000001 }),
      "/body/deposit"
    ],
    [
      "a mint's deadline past seven days",
      at("mints"),
      () => order({ deposit: 1, deadline: inDays(7.01) }),
      "/body/deadline"
    ],
    [
      "units of eleven places",
      at("redemptions"),
      () => order({ units: 1.00000000001 }),
      "/body/units"
    ],
    [
      "a redemption's deadline past seven days",
      at("redemptions"),
      () => order({ units: 1, deadline: inDays(7.01) }),
      "/body/deadline"
    ]
  ])("400 names the place of %s", async (_, path, body, pointers) => {
    expect(await refusedBy(path, body())).toBe("invalid-request")
    expect(await toldBy(path, body())).toBe(pointers)
  })

  it.each<[refusal: string, path: string, body: () => object, detail?: string]>([
    ["policy not-recorded", "/v1/reserves", () => proposed({ instrumentId: "fund-b" })],
    ["policy not-recorded", "/v1/reserves", () => proposed({ instrumentId: "fund-c" })],
    ["policy issuer-is-registrar", "/v1/reserves", () => proposed({ instrumentId: "fund-e" })],
    ["policy unit-is-currency", "/v1/reserves", () => proposed({ unit: "EUR" })],
    ["policy nothing-outstanding", "/v1/reserves", () => proposed({ instrumentId: "fund-a" })],
    ["policy holder-is-venue", "/v1/reserves", () => proposed({ holder: venue.party })],
    [
      "policy own-asset",
      "/v1/reserves",
      () => proposed(termsOf({ asset: { admin: registrar.party, id: "fund-d" } }))
    ],
    ["policy reserve-decimals", "/v1/reserves", () => proposed({ decimals: 7 })],
    ["policy initial-share-price", "/v1/reserves", () => proposed({ initialSharePrice: 1 })],
    [
      "policy feasible",
      "/v1/reserves",
      () => {
        const [cash, bills] = terms(1.02, { maxShare: 0.5 }).assets
        return proposed({ terms: { minCover: 1.02, assets: [{ ...cash, maxShare: 0.4 }, bills] } })
      },
      "The largest shares leave 0.102 of the value outstanding uncovered."
    ],
    [
      "policy asset-in-terms",
      at("lock-agreements"),
      () => ({ lockAgreementId: "lk-9", asset: asset("EUR"), amount: 0 })
    ],
    [
      "policy one-agreement",
      at("lock-agreements"),
      () => ({ lockAgreementId: "lk-9", asset: asset("USD"), amount: 0 })
    ],
    [
      "reserve-cover cover",
      at("lock-agreements/lk-USD:release"),
      () => ({}),
      "Without the asset 1470 USD would be required, and 588 USD counted."
    ],
    ["policy terms-changed", at("amendments"), () => ({ amendmentId: "am-9", terms: terms(1.05) })],
    ["admission admitted", at("mints"), () => mintBody("m-9", "USD", 1, "h3")],
    ["policy own-reserve", at("mints"), () => mintBody("m-9", "USD", 1, "k")],
    ["policy asset-in-terms", at("mints"), () => mintBody("m-9", "EUR", 1)],
    ["window deadline-ahead", at("mints"), () => order({ deposit: 1, deadline: inDays(-0.01) })],
    ["units too-small", at("redemptions"), () => order({ asset: asset("BILL"), units: 0.000001 })],
    [
      "reserve-cover cover",
      at("mints"),
      () => mintBody("m-9", "BILL", 100),
      "With the mint 1690.5 USD would be required, and 1576.2 USD counted."
    ],
    ["policy asset-in-terms", at("redemptions"), () => order({ asset: asset("EUR"), units: 1 })],
    ["units unit-decimals", at("redemptions"), () => order({ units: 1.0000001 })],
    ["units units-free", at("redemptions"), () => order({ units: 1401 }), "1400 units are free."],
    [
      "reserve-cover asset-available",
      at("redemptions"),
      () => order({ units: 901 }),
      "900 of USD are locked and not promised to open redemptions."
    ]
  ])("422 names gate and check: %s", async (refusal, path, body, detail) => {
    expect(await refusedBy(path, body())).toBe(`rule-refused ${refusal}`)
    if (detail !== undefined) expect(await toldBy(path, body())).toBe(detail)
  })

  it("422 names a second reserve, and an asset whose price is stale", async () => {
    await succeeds("/v1/reserves", proposed())
    const second = proposed({ reserveId: "res-3" })
    expect(await refusedBy("/v1/reserves", second)).toBe("rule-refused policy one-reserve")
    clock.set(new Date(Date.now() + 2 * 3_600_000).toISOString())
    for (const [path, body] of [
      ["mints", mintBody("m-9", "BILL", 1)],
      ["redemptions", order({ asset: asset("BILL"), units: 1 })]
    ] as const) {
      expect(await refusedBy(at(path), body)).toBe("rule-refused reserve-cover price-fresh")
    }
    await prices("2.1")
  })
})

describe("a reserve over HTTP at its end", () => {
  it("closes once nothing is outstanding or locked", async () => {
    await succeeds("/v1/reserves/res-1:close", {})
    expect(await reserve()).toMatchObject({ state: "closing" })
    const refused = await refusedBy("/v1/reserves/res-1/mints", mintBody("m-9", "USD", 1))
    expect(refused).toBe("rule-refused policy reserve-active")
    const path = "/v1/reserves/res-1/redemptions"
    for (const [index, [id, units]] of [
      ["USD", 900],
      ["BILL", 500]
    ].entries()) {
      await succeeds(path, {
        reserveRedemptionId: `r-end-${index}`,
        holderId: "h1",
        asset: asset(String(id)),
        units
      })
      expect(await does(walletOf("h1"), Reserves.redemptions(policy))).toBe(
        "accept-reserve-redemption"
      )
      await turn()
      expect(await read(`${path}/r-end-${index}`)).toMatchObject({ state: "settled" })
    }
    expect(await coverOf()).toMatchObject({ outstanding: 0, ratio: null, state: "covered" })
    for (const id of ["BILL", "USD"]) {
      await succeeds(`/v1/reserves/res-1/lock-agreements/lk-${id}:release`, {})
    }
    expect(await reserve()).toMatchObject({ state: "closed" })
    expect(await custodian.sees(Templates.Reserve)).toEqual([])
    const held = await custodian.sees(Templates.Holding)
    expect(held.filter(({ payload }) => payload.lock !== null)).toEqual([])
  })
})
