/** Units bought by the unit, given back on the ledger and by wire: each party acts from its own program, through the door alone. */
import { Decimal, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Duration, Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  AttestorBot,
  Bot,
  CustodianBot,
  FundBot,
  OracleBot,
  PartySession,
  Policy,
  RegistrarBot,
  Wallet,
  type World
} from "#adapters/ledger/wallets/index.ts"
import * as Sim from "#adapters/ledger/simulated/SimulatedLedger.ts"
import * as Story from "./story.ts"

const policy = Policy.acceptAll
const instruments = [
  {
    instrumentId: Story.instrumentId,
    unitDecimals: 6,
    feeRate: Decimal.of("0.005"),
    redemptionFeeRate: Decimal.of("0.005")
  }
]

/** A custodian, and a client whose every act is the custodian's by right. */
const hosting = async (scene: Story.Scene) => {
  const client = await scene.door.add("client")
  const custodian = await scene.door.run(
    Effect.flatMap(Sim.Participant, ({ admin }) =>
      admin.addParty({
        hint: "custodian",
        kind: "local",
        rights: [{ kind: "CanActAs", party: client.party }]
      })
    )
  )
  const url = scene.door.url
  const parties = await Effect.runPromise(
    PartySession.hosted({ url, token: Effect.succeed(custodian.token) })
  )
  scene.tokens["custodian"] = custodian.token
  return { client: client.party, custodian: custodian.party, parties }
}

describe("orders by the unit", () => {
  let scene: Story.Scene
  let market: World.FoundContract<typeof Templates.PrimaryMarket>
  let at: Awaited<ReturnType<typeof hosting>>
  const working: Array<Story.Working> = []
  const credentials = new Map<string, string>()

  const once = async (name: string, plan: World.Plan, party?: Party.Party) => {
    const session = await scene.session(name, party === undefined ? {} : { party })
    return Effect.runPromise(Bot.runOnce({ session, plan, within: Duration.seconds(10) }))
  }

  const admit = async (consentCid: string, holder: Party.Party) => {
    await scene.act(
      Templates.exercise(Templates.AdmissionConsent, consentCid, "Offer", {
        holder,
        credentialId: `K-${holder}`,
        claims: [],
        validFrom: null,
        validUntil: null,
        expiresAt: null
      })
    )
  }

  beforeAll(async () => {
    scene = await Story.set()
    at = await hosting(scene)
    const { venue, registrar, fund, attestor } = scene.parties
    working.push(
      ...(await Promise.all([
        scene.start(
          "registrar",
          RegistrarBot.plan({
            policy,
            instruments: [{ instrumentId: Story.instrumentId, provider: venue, issuer: fund }]
          })
        ),
        scene.start("fund", FundBot.plan({ policy })),
        scene.start("attestor", AttestorBot.plan({ policy, instruments })),
        scene.start(
          "oracle",
          OracleBot.plan({ quotes: () => [Story.quote("1.0437")], instruments })
        ),
        scene.start("holder", Wallet.plan({ policy })),
        scene.start("custodian", CustodianBot.plan({ policy }), { party: at.client })
      ]))
    )
    await Story.proposeMarket(scene, [attestor])
    market = await scene.await(Templates.PrimaryMarket)
    await scene.act(
      Templates.create(Templates.AdmissionConsentProposal, {
        venue,
        admissionConsentId: "C1",
        registrar,
        fund,
        instrumentId: Story.instrumentId,
        terms: "standard"
      })
    )
    const consent = await scene.await(Templates.AdmissionConsent)
    await admit(consent.contractId, scene.holder.party)
    await admit(consent.contractId, at.client)
    await once("custodian", Wallet.offers(policy), at.client)
    for (const holder of [scene.holder.party, at.client]) {
      const found = await scene.await(Templates.Credential, (one) => one.holder === holder)
      credentials.set(holder, found.contractId)
    }
    for (const [receiver, amount] of [
      [scene.holder.party, "2000"],
      [fund, "5000"]
    ] as const) {
      await once("registrar", ({ party }) => [
        RegistrarBot.issue(party, {
          instrumentId: Story.cashId,
          provider: venue,
          receiver,
          amount: Decimal.of(amount),
          executeBefore: Story.soon(7),
          reference: `opening-${receiver}`
        })
      ])
    }
  })
  afterAll(async () => {
    for (const { stop } of working) await stop()
    await scene.close()
  })

  const heldBy = async (name: string) => {
    const session = await scene.session(name, name === "custodian" ? { party: at.client } : {})
    const offset = await Effect.runPromise(session.ledgerEnd)
    const activeContracts = await Effect.runPromise(session.acs(offset))
    const all = Wallet.holdings({
      party: session.party,
      now: Story.soon(0),
      contracts: new Map(activeContracts.map((one) => [one.contractId, one]))
    })
    return all.map(({ instrumentId, amount }) => `${instrumentId} ${amount}`).toSorted()
  }

  it("a lot ordered in units is paid for by the wallet once it has its price", async () => {
    const { venue, fund } = scene.parties
    const subscription = {
      venue,
      fund,
      orderId: "O1",
      instrument: Story.instrument(scene),
      paymentAsset: Story.cash(scene),
      ordered: { units: Decimal.of("1000") },
      expiresAt: null
    }
    await once("holder", ({ party }) => [Wallet.order(party, subscription)])
    const order = await scene.await(Templates.SubscriptionOrder)
    await scene.act(
      Templates.exercise(Templates.PrimaryMarket, market.contractId, "ClaimSubscription", {
        orderCid: order.contractId,
        subscriptionId: "S1",
        custodian: null,
        currency: "EUR",
        cycleCid: null,
        feeRate: Decimal.of("0.005"),
        cashDecimals: 2
      })
    )
    const lot = await scene.await(Templates.Lot)
    const cash = await scene.await(Templates.Allocation)
    // 1043.70 and, of 5.2185, 5.22.
    expect(Decimal.formatPlain(cash.payload.amount)).toBe("1048.92")
    expect(cash.payload.reference).toBe("S1")
    await scene.act(
      Templates.exercise(Templates.Lot, lot.contractId, "Settle", {
        marketCid: market.contractId,
        allocationCid: cash.contractId,
        credentialCid: credentials.get(scene.holder.party) ?? "",
        configurationCid: null,
        intentCid: null,
        refund: null
      })
    )
    expect(await heldBy("holder")).toEqual(["BOND-1 1000", "EUR 951.08"])
  })

  it("units go back for cash: the oracle prices, holder and fund put both in place", async () => {
    const { venue, fund } = scene.parties
    const redemption = {
      venue,
      fund,
      orderId: "O2",
      instrument: Story.instrument(scene),
      paymentAsset: Story.cash(scene),
      ordered: { units: Decimal.of("400") },
      custodian: null,
      expiresAt: null
    }
    await once("holder", ({ party }) => [Wallet.redeem(party, redemption)])
    const order = await scene.await(Templates.RedemptionOrder)
    await scene.act(
      Templates.exercise(Templates.PrimaryMarket, market.contractId, "ClaimRedemption", {
        orderCid: order.contractId,
        redemptionId: "R1",
        custodian: null,
        currency: "EUR",
        cycleCid: null
      })
    )
    const priced = await scene.await(Templates.PricedRedemption)
    // 400 units at 1.0437 less the fee: 415.3926.
    expect(Decimal.formatPlain(priced.payload.proceeds)).toBe("415.39")
    const units = await scene.await(Templates.Allocation, ({ sender }) => sender !== fund)
    const cash = await scene.await(Templates.Allocation, ({ sender }) => sender === fund)
    await scene.act(
      Templates.exercise(Templates.PricedRedemption, priced.contractId, "Settle", {
        marketCid: market.contractId,
        unitsAllocationCid: units.contractId,
        allocationCid: cash.contractId,
        holdingCids: [],
        intentCid: null,
        evidence: null,
        fill: null
      })
    )
    expect(await heldBy("holder")).toEqual(["BOND-1 600", "EUR 415.39", "EUR 951.08"])
  })

  it("by wire the custodian asks for the burn of what it keeps, and the registrar burns", async () => {
    const { venue, oracle } = scene.parties
    const { client, custodian } = at
    expect(at.parties.toSorted()).toEqual([client, custodian].toSorted())
    await scene.act(
      Templates.create(Templates.MintRequest, {
        requester: venue,
        holder: client,
        instrument: Story.instrument(scene),
        amount: Decimal.of("100"),
        reference: { kind: "subscription", id: "opening" },
        executeBefore: null
      })
    )
    await scene.await(Templates.Holding, ({ owner }) => owner === client)
    await scene.act(
      Templates.create(Templates.RedemptionClaim, {
        venue,
        redemptionId: "R2",
        orderId: null,
        instrument: Story.instrument(scene),
        holder: client,
        custodian,
        fund: null,
        mode: "wire",
        currency: "EUR",
        paymentAsset: null,
        orderedUnits: null,
        orderedAmount: Decimal.of("50"),
        oracle,
        cycleId: null,
        remainderOf: null,
        cutOffAt: null
      })
    )
    const { payload, contractId } = await scene.await(
      Templates.PricedRedemption,
      ({ mode }) => mode === "wire"
    )
    // 50 / (1.0437 · 0.995), the last place up.
    expect(Decimal.formatPlain(payload.units)).toBe("48.147223")
    await scene.await(
      Templates.Holding,
      ({ owner, amount }) => owner === client && Decimal.formatPlain(amount) === "51.852777"
    )
    const burned = async () => (await heldBy("custodian")).join()
    await expect.poll(burned).toBe("BOND-1 51.852777")
    await scene.act(
      Templates.exercise(Templates.PricedRedemption, contractId, "Settle", {
        marketCid: null,
        unitsAllocationCid: null,
        allocationCid: null,
        holdingCids: [],
        intentCid: null,
        evidence: Story.digest,
        fill: null
      })
    )
    for (const { messages } of working) {
      expect(messages.filter(({ _tag }) => _tag === "Failed")).toEqual([])
    }
  })
})
