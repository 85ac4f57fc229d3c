/** From a proposed market to minted units: each party acts from its own program, through the door alone. */
import { Decimal, Instant, Party, TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Duration, Effect, Fiber, Option } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  AttestorBot,
  Bot,
  FundBot,
  OracleBot,
  Policy,
  Pricing,
  RegistrarBot,
  Wallet,
  type World
} from "#adapters/ledger/wallets/index.ts"
import * as Story from "./story.ts"

const terms = { instrumentId: Story.instrumentId, unitDecimals: 6 }

/** No further act for a while: all acts under way have ended. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 1_500))

describe("a subscription, from market to units", () => {
  let scene: Story.Scene
  beforeAll(async () => {
    scene = await Story.set()
  })
  afterAll(() => scene.close())

  it("reaches a holding of exactly the units the formula gives", async () => {
    const { venue, registrar, fund, attestor } = scene.parties
    const { party: holder } = scene.holder
    const policy = Policy.acceptAll
    const bots = await Promise.all([
      scene.start(
        "registrar",
        RegistrarBot.plan({
          policy,
          instruments: [{ instrumentId: Story.instrumentId, provider: venue, issuer: fund }]
        })
      ),
      scene.start("fund", FundBot.plan({ policy })),
      scene.start("attestor", AttestorBot.plan({ policy, instruments: [terms] })),
      scene.start("holder", Wallet.plan({ policy, terms: Story.digest }))
    ])
    await scene.await(Templates.InstrumentConfiguration)
    await Story.proposeMarket(scene, [attestor])
    await scene.await(Templates.PrimaryMarket)
    await scene.act(
      Templates.create(Templates.AdmissionConsentProposal, {
        venue,
        admissionConsentId: "C1",
        registrar,
        fund,
        instrumentId: Story.instrumentId,
        terms: "standard"
      }),
      Templates.create(Templates.HolderInvitation, {
        venue,
        holderId: "H1",
        holder,
        custodian: null,
        predecessor: null,
        attributesDigest: Story.digest,
        validUntil: null
      })
    )
    const consent = await scene.await(Templates.AdmissionConsent)
    await scene.await(Templates.HolderRegistration)
    const signed = await scene.await(Templates.SignedTerms)
    expect(signed.payload.documentHash).toBe(Story.digest)
    await scene.act(
      Templates.exercise(Templates.AdmissionConsent, consent.contractId, "Offer", {
        holder,
        credentialId: "K1",
        claims: [],
        validFrom: null,
        validUntil: null,
        expiresAt: null
      }),
      Templates.exercise(Templates.SignedTerms, signed.contractId, "AcceptTerms", {})
    )
    const credential = await scene.await(Templates.Credential)
    expect(credential.payload.holder).toBe(holder)

    await Story.claim(scene, { subscriptionId: "S1", cash: "100000", attestors: [attestor] })
    const oracle = await scene.session("oracle")
    const published = await Effect.runPromise(
      Bot.runOnce({
        session: oracle,
        plan: OracleBot.plan({ quotes: () => [Story.quote("1.0437")] }),
        within: Duration.seconds(10)
      })
    )
    expect(Option.isSome(published)).toBe(true)
    const lot = await scene.await(Templates.Lot)
    expect(Decimal.formatPlaces(lot.payload.units, 6)).toBe("95812.973076")

    await scene.act(
      Templates.exercise(Templates.Lot, lot.contractId, "Deliver", {
        marketCid: null,
        credentialCid: (await scene.await(Templates.Credential)).contractId,
        configurationCid: null,
        executeBefore: null
      })
    )
    const holding = await scene.await(
      Templates.Holding,
      ({ instrument }) => instrument.id === Story.instrumentId
    )
    expect(holding.payload.owner).toBe(holder)
    expect(Decimal.formatPlaces(holding.payload.amount, 6)).toBe("95812.973076")
    for (const bot of bots) {
      expect(bot.messages.filter(({ _tag }) => _tag === "Failed")).toEqual([])
      await bot.stop()
    }
  })
})

describe("an order paid on the ledger", () => {
  it("moves the cash and mints the units in one act of the venue", async () => {
    const scene = await Story.set()
    const { venue, registrar, fund, attestor } = scene.parties
    const { party: holder } = scene.holder
    const policy = Policy.acceptAll
    await scene.start(
      "registrar",
      RegistrarBot.plan({
        policy,
        instruments: [{ instrumentId: Story.instrumentId, provider: venue, issuer: fund }]
      })
    )
    await scene.start("fund", FundBot.plan({ policy }))
    await scene.start("attestor", AttestorBot.plan({ policy, instruments: [terms] }))
    const wallet = await scene.start("holder", Wallet.plan({ policy }))
    await Story.proposeMarket(scene, [attestor])
    const market = await scene.await(Templates.PrimaryMarket)
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
    await scene.act(
      Templates.exercise(Templates.AdmissionConsent, consent.contractId, "Offer", {
        holder,
        credentialId: "K1",
        claims: [],
        validFrom: null,
        validUntil: null,
        expiresAt: null
      })
    )
    const credential = await scene.await(Templates.Credential)
    const once = async (name: string, plan: World.Plan) =>
      Effect.runPromise(
        Bot.runOnce({ session: await scene.session(name), plan, within: Duration.seconds(10) })
      )
    const issued = await once("registrar", ({ party }) => [
      RegistrarBot.issue(party, {
        instrumentId: Story.cashId,
        provider: venue,
        receiver: holder,
        amount: Decimal.of("150000"),
        executeBefore: Story.soon(7),
        reference: "opening"
      })
    ])
    expect(Option.isSome(issued)).toBe(true)
    await once("holder", ({ party }) => [
      Wallet.order(party, {
        venue,
        fund,
        orderId: "O1",
        instrument: Story.instrument(scene),
        paymentAsset: Story.cash(scene),
        ordered: { amount: Decimal.of("100000") },
        expiresAt: null
      })
    ])
    const order = await scene.await(Templates.SubscriptionOrder)
    await scene.act(
      Templates.exercise(Templates.PrimaryMarket, market.contractId, "ClaimSubscription", {
        orderCid: order.contractId,
        subscriptionId: "S1",
        custodian: null,
        currency: "EUR",
        cycleCid: null,
        feeRate: null,
        cashDecimals: null
      }),
      Templates.create(Templates.SettlementIntent, {
        venue,
        settlementId: "S1",
        reference: { kind: "subscription", id: "S1" },
        legs: [
          {
            legId: "cash",
            sender: holder,
            receiver: fund,
            instrument: Story.cash(scene),
            amount: Decimal.of("100000")
          }
        ],
        requestedAt: Story.soon(0),
        allocateBefore: Story.soon(1),
        settleBefore: Story.soon(2)
      })
    )
    await once("oracle", OracleBot.plan({ quotes: () => [Story.quote("1.0437")] }))
    const allocation = await scene.await(Templates.Allocation)
    const lot = await scene.await(Templates.Lot)
    await scene.act(
      Templates.exercise(Templates.Lot, lot.contractId, "Settle", {
        marketCid: market.contractId,
        allocationCid: allocation.contractId,
        credentialCid: credential.contractId,
        configurationCid: null,
        intentCid: (await scene.await(Templates.SettlementIntent)).contractId,
        refund: null
      })
    )
    const held = async (name: string) => {
      const session = await scene.session(name)
      const at = await Effect.runPromise(session.ledgerEnd)
      const activeContracts = await Effect.runPromise(session.acs(at))
      return Wallet.holdings({
        party: session.party,
        now: Story.soon(0),
        contracts: new Map(activeContracts.map((one) => [one.contractId, one]))
      })
        .map(({ instrumentId, amount }) => `${instrumentId} ${amount}`)
        .toSorted()
    }
    expect(await held("holder")).toEqual([`${Story.instrumentId} 95812.973076`, "EUR 50000"])
    expect(await held("fund")).toEqual(["EUR 100000"])
    expect(wallet.messages.filter(({ _tag }) => _tag === "Failed")).toEqual([])
    await scene.close()
  })
})

describe("the attestor", () => {
  const golden: ReadonlyArray<readonly [string, string, string, string]> = [
    ["100000", "0", "1.0437", "95812.973076"],
    ["12345.67", "0.0075", "1.0437", "11740.030660"],
    ["100000", "0.005", "1.0437", "95333.908211"],
    ["100000", "0", "1.0452655500", "95669.468873"]
  ]
  it.each(golden)(
    "counts for %s at fee %s and price %s exactly %s",
    (amount, fee, price, units) => {
      const counted = Pricing.unitsFor(Decimal.of(amount), {
        price: Decimal.of(price),
        terms: { ...terms, feeRate: Decimal.of(fee) }
      })
      expect(Decimal.formatPlaces(counted, 6)).toBe(units)
    }
  )

  const at = (hour: string) => Instant.of(`2026-01-05T${hour}:00:00Z`)
  const cutOff = {
    time: TimeOfDay.of("16:00"),
    days: ["monday", "tuesday", "wednesday", "thursday", "friday"] as const,
    zone: Zone.of("Europe/Zurich")
  }
  /** A claim of Monday noon, and points of Monday 11:00, 15:00 (the cut-off in Zurich) and 20:00. */
  const choices: ReadonlyArray<
    readonly [string, Partial<AttestorBot.Terms>, ReadonlyArray<string>, string | null]
  > = [
    ["the latest", {}, ["11", "15", "20"], "20"],
    ["the latest, given none", {}, [], null],
    ["historic, the last before the claim", { pricing: "historic" }, ["11", "15"], "11"],
    ["historic, given none before", { pricing: "historic" }, ["15"], null],
    ["forward, the first at the claim or later", { pricing: "forward" }, ["11", "15", "20"], "15"],
    ["forward, at the cut-off itself", { pricing: "forward", cutOff }, ["11", "15", "20"], "15"],
    ["forward, not before the cut-off", { pricing: "forward", cutOff }, ["11", "14"], null],
    ["forward, given only earlier ones", { pricing: "forward" }, ["11"], null]
  ]
  it.each(choices)("takes %s", (_what, more, hours, chosen) => {
    const party = (hint: string) => Party.of(`${hint}::1220aa`)
    const common = {
      venue: party("venue"),
      fund: party("fund"),
      registrar: party("registrar"),
      oracle: party("oracle")
    }
    const contract = (
      contractId: string,
      template: Templates.Template,
      payload: Templates.LfRecord
    ) =>
      [
        contractId,
        { contractId, template: template.typeRef, payload, createdAt: at("12") }
      ] as const
    const claim = Templates.encodePayload(Templates.SubscriptionClaim, {
      venue: common.venue,
      subscriptionId: "S1",
      orderId: null,
      instrument: { admin: common.registrar, id: Story.instrumentId },
      holder: party("holder"),
      custodian: null,
      fund: null,
      mode: "wire",
      currency: "EUR",
      paymentAsset: null,
      cash: Decimal.of("100"),
      feeRate: null,
      cashDecimals: null,
      oracle: common.oracle,
      cycleId: null,
      orderedUnits: null,
      attestors: [party("attestor")],
      required: 1,
      attested: [],
      pointCid: null,
      price: null,
      units: null
    })
    const points = hours.map((hour) =>
      contract(
        `00${hour}`,
        Templates.OraclePoint,
        Templates.encodePayload(Templates.OraclePoint, {
          ...common,
          attestors: [],
          instrumentId: Story.instrumentId,
          metric: "price",
          value: Decimal.of("2"),
          valuationTime: at(hour),
          period: null,
          withholdingRate: null,
          statementRef: null,
          corrects: null
        })
      )
    )
    const world: World.World = {
      party: party("attestor"),
      now: at("21"),
      contracts: new Map([contract("00ff", Templates.SubscriptionClaim, claim), ...points])
    }
    const acts = AttestorBot.plan({
      policy: Policy.acceptAll,
      instruments: [{ ...terms, ...more }]
    })(world)
    const point = acts.map(({ change }) => {
      const [command] = change.commands
      return command._tag === "Exercise" && JSON.stringify(command.arg)
    })
    if (chosen === null) expect(acts).toEqual([])
    else expect(point).toEqual([expect.stringContaining(`"pointCid":"00${chosen}"`)])
  })

  it("prices income at par, and orders in units at the units ordered", async () => {
    const scene = await Story.set()
    const { attestor } = scene.parties
    await Story.proposeMarket(scene, [attestor])
    await scene.start("fund", FundBot.plan({ policy: Policy.acceptAll }))
    await scene.start("registrar", RegistrarBot.plan({ policy: Policy.acceptAll, instruments: [] }))
    await scene.await(Templates.PrimaryMarket)
    await Story.claim(scene, { subscriptionId: "S1", cash: "250.37", attestors: [attestor] })
    const quotes = [{ ...Story.quote("0.000096553"), metric: "income" as const }]
    await scene.start("oracle", OracleBot.plan({ quotes: () => quotes }))
    await scene.start(
      "attestor",
      AttestorBot.plan({
        policy: Policy.acceptAll,
        instruments: [{ instrumentId: Story.instrumentId, unitDecimals: 2 }]
      })
    )
    const lot = await scene.await(Templates.Lot)
    expect(Decimal.formatPlain(lot.payload.units)).toBe("250.37")
    expect(Decimal.formatPlain(lot.payload.price)).toBe("1")
    await scene.close()
  })

  it("attests the point that another attested before it", async () => {
    const scene = await Story.set()
    const { attestor, fund } = scene.parties
    const quotes = [Story.quote("1.0437")]
    const { venue, registrar } = scene.parties
    const audience = { venue, fund, registrar, attestors: [attestor, fund] }
    await scene.start("oracle", OracleBot.plan({ quotes: () => quotes, audience }))
    await Story.claim(scene, { subscriptionId: "S1", cash: "100", attestors: [attestor, fund] })
    const plan = AttestorBot.plan({ policy: Policy.acceptAll, instruments: [terms] })
    const one = await scene.start("attestor", plan)
    await scene.await(Templates.SubscriptionClaim, ({ attested }) => attested.length === 1)
    quotes.push(Story.quote("9", "2026-01-06T16:00:00Z"))
    await scene.await(Templates.OraclePoint, ({ value }) => Decimal.equals(value, Decimal.of("9")))
    await scene.start("fund", plan)
    const lot = await scene.await(Templates.Lot)
    expect(Decimal.formatPlain(lot.payload.price)).toBe("1.0437")
    expect(lot.payload.attestors).toEqual([attestor, fund])
    expect(one.messages.filter(({ _tag }) => _tag === "Acted")).toHaveLength(1)
    await scene.close()
  })
})

describe("the oracle", () => {
  it("publishes what its file says once, and corrects what the file corrects", async () => {
    const scene = await Story.set()
    const { venue, registrar, fund, attestor } = scene.parties
    const audience = { venue, registrar, fund, attestors: [attestor] }
    const quotes = [Story.quote("1.04")]
    const plan = OracleBot.plan({ quotes: () => quotes, audience })
    const first = await scene.start("oracle", plan)
    const point = await scene.await(Templates.OraclePoint)
    quotes.push(Story.quote("1.0437"))
    const corrected = await scene.await(Templates.OraclePoint, ({ corrects }) => corrects !== null)
    expect(corrected.payload.corrects).toBe(point.contractId)
    expect(Decimal.formatPlain(corrected.payload.value)).toBe("1.0437")
    await first.stop()
    const second = await scene.start("oracle", plan)
    await quiet()
    expect(second.messages.filter(({ _tag }) => _tag !== "Ready")).toEqual([])
    await scene.close()
  })
})

describe("a policy", () => {
  const invite = (scene: Story.Scene, holderId: string) =>
    scene.act(
      Templates.create(Templates.HolderInvitation, {
        venue: scene.parties.venue,
        holderId,
        holder: scene.holder.party,
        custodian: null,
        predecessor: null,
        attributesDigest: Story.digest,
        validUntil: null
      })
    )
  const outcome = async (scene: Story.Scene) => {
    const at = await Effect.runPromise(scene.venue.ledgerEnd)
    const activeContracts = await Effect.runPromise(scene.venue.acs(at))
    return activeContracts
      .map(({ template, payload }) => `${template.entity} ${payload["holderId"]}`)
      .toSorted()
  }

  it("agrees to what is listed, rejects what is rejected, and leaves the rest", async () => {
    const scene = await Story.set()
    for (const holderId of ["H1", "H2", "H3"]) await invite(scene, holderId)
    await scene.start("holder", Wallet.plan({ policy: { accept: ["H1"], reject: ["H2"] } }))
    await scene.await(Templates.HolderRegistration)
    await quiet()
    expect(await outcome(scene)).toEqual(["HolderInvitation H3", "HolderRegistration H1"])
    await scene.close()
  })

  it("what is on both lists is rejected", () => {
    expect(Policy.judge({ accept: "all", reject: ["x"] }, ["y", "x"])).toBe("reject")
    expect(Policy.judge({ accept: ["x"], reject: "all" }, ["x"])).toBe("reject")
    expect(Policy.judge({}, ["x"])).toBe("accept")
    expect(Policy.judge({ accept: [] }, ["x"])).toBe("wait")
  })

  it("may wait before it answers", async () => {
    const scene = await Story.set()
    await invite(scene, "H1")
    const session = await scene.session("holder")
    const messages: Array<Bot.Message> = []
    const began = performance.now()
    const fiber = Effect.runFork(
      Bot.run({
        session,
        plan: Wallet.plan({ policy: Policy.acceptAll }),
        delay: Duration.millis(800),
        report: (one) => Effect.sync(() => void messages.push(one))
      })
    )
    await scene.await(Templates.HolderRegistration)
    // A timer may end a millisecond early.
    expect(performance.now() - began).toBeGreaterThan(790)
    await Effect.runPromise(Fiber.interrupt(fiber))
    await scene.close()
  })

  it("whatever programs run twice, each thing is done once", async () => {
    const scene = await Story.set()
    const plan = Wallet.plan({ policy: Policy.acceptAll, terms: Story.digest })
    const bots = await Promise.all([scene.start("holder", plan), scene.start("holder", plan)])
    await invite(scene, "H1")
    await scene.await(Templates.SignedTerms)
    await quiet()
    expect(await outcome(scene)).toEqual(["HolderRegistration H1", "SignedTerms H1"])
    expect(
      bots.flatMap(({ messages }) => messages).filter(({ _tag }) => _tag === "Failed")
    ).toEqual([])
    await scene.close()
  })

  it("holds through a hostile node: cut streams, lost answers, doubled frames", async () => {
    const scene = await Story.set()
    scene.door.faults.replace({
      wsCut: 2,
      duplicateFrame: true,
      dropAfterCommit: [2, 5],
      dropBeforeCommit: [3],
      contention: [4]
    })
    await scene.start("holder", Wallet.plan({ policy: Policy.acceptAll, terms: Story.digest }))
    for (const holderId of ["H1", "H2"]) await invite(scene, holderId)
    await scene.await(Templates.SignedTerms, ({ holderId }) => holderId === "H1")
    await scene.await(Templates.SignedTerms, ({ holderId }) => holderId === "H2")
    await quiet()
    expect(await outcome(scene)).toEqual([
      "HolderRegistration H1",
      "HolderRegistration H2",
      "SignedTerms H1",
      "SignedTerms H2"
    ])
    await scene.close()
  })
})
