/** From a proposed market to minted units: each party acts from its own program, through the door alone. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Option, Duration } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  AttestorBot,
  Bot,
  FundBot,
  OracleBot,
  Policy,
  RegistrarBot,
  Wallet
} from "../../packages/storage-adapters/src/simulated-ledger/actors/index.ts"
import * as Story from "./story.ts"

const terms = { instrumentId: Story.instrumentId, unitDecimals: 6 }

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
      Bot.once({
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
        credentialCid: null,
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
      expect(bot.told.filter(({ _tag }) => _tag === "Failed")).toEqual([])
      await bot.stop()
    }
  })
})
