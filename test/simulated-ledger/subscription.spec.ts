/** The main job on the ledger alone: from a market's agreement to minted units, and what is refused on the way. */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as World from "./world.ts"

const ledger = SimulatedLedger.layerMemory(World.options)
const digest = "ab".repeat(32)
const farDeadline = Instant.of("2030-01-01T00:00:00Z")
const decimal = Decimal.of

/** A market of two attestors, an admitted holder and a published point. */
const scene = Effect.gen(function* () {
  const sessionOf = yield* World.parties(
    "venue",
    "registrar",
    "fund",
    "oracle",
    "attestorA",
    "attestorB",
    "attestorC",
    "holder",
    "bank"
  )
  const [venue, registrar, fund, holder] = [
    sessionOf("venue"),
    sessionOf("registrar"),
    sessionOf("fund"),
    sessionOf("holder")
  ]
  const instrument = { admin: registrar.party, id: "FUND-A" }
  const cash = { admin: sessionOf("bank").party, id: "EUR" }
  const attestors = [
    sessionOf("attestorA").party,
    sessionOf("attestorB").party,
    sessionOf("attestorC").party
  ]
  const proposal = yield* World.make(
    venue,
    "PrimaryMarketProposal",
    Templates.create(Templates.PrimaryMarketProposal, {
      venue: venue.party,
      marketId: "m1",
      instrument,
      fund: fund.party,
      registrar: registrar.party,
      cash,
      attestors,
      required: 2,
      oracle: sessionOf("oracle").party,
      until: null,
      accepted: []
    })
  )
  const again = yield* World.make(
    fund,
    "PrimaryMarketProposal",
    Templates.exercise(Templates.PrimaryMarketProposal, proposal, "Accept", { party: fund.party })
  )
  const market = yield* World.make(
    registrar,
    "PrimaryMarket",
    Templates.exercise(Templates.PrimaryMarketProposal, again, "Accept", { party: registrar.party })
  )
  const consentProposal = yield* World.make(
    venue,
    "AdmissionConsentProposal",
    Templates.create(Templates.AdmissionConsentProposal, {
      venue: venue.party,
      admissionConsentId: "a1",
      registrar: registrar.party,
      fund: fund.party,
      instrumentId: instrument.id,
      terms: ""
    })
  )
  const consent = yield* World.make(
    registrar,
    "AdmissionConsent",
    Templates.exercise(Templates.AdmissionConsentProposal, consentProposal, "Accept", {})
  )
  const offer = yield* World.make(
    venue,
    "AdmissionOffer",
    Templates.exercise(Templates.AdmissionConsent, consent, "Offer", {
      holder: holder.party,
      credentialId: "cred-1",
      claims: [],
      validFrom: null,
      validUntil: null,
      expiresAt: farDeadline
    })
  )
  const credential = yield* World.make(
    holder,
    "Credential",
    Templates.exercise(Templates.AdmissionOffer, offer, "Accept", {})
  )
  const point = yield* World.make(
    sessionOf("oracle"),
    "OraclePoint",
    Templates.create(Templates.OraclePoint, {
      oracle: sessionOf("oracle").party,
      venue: venue.party,
      fund: fund.party,
      registrar: registrar.party,
      attestors,
      instrumentId: instrument.id,
      metric: "nav",
      value: decimal("1.0437"),
      valuationTime: Instant.of("2026-01-05T16:00:00Z"),
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )
  return {
    sessionOf,
    venue,
    registrar,
    fund,
    holder,
    instrument,
    cash,
    attestors,
    market,
    consent,
    credential,
    point
  }
})

type Scene = Effect.Success<typeof scene>

const claimByWire = ({ sessionOf, venue, holder, instrument, attestors }: Scene) =>
  World.make(
    venue,
    "SubscriptionClaim",
    Templates.create(Templates.SubscriptionClaim, {
      venue: venue.party,
      subscriptionId: "sub-1",
      orderId: null,
      instrument,
      holder: holder.party,
      custodian: null,
      fund: null,
      mode: "wire",
      currency: "EUR",
      paymentAsset: null,
      cash: decimal("100000"),
      feeRate: null,
      cashDecimals: null,
      oracle: sessionOf("oracle").party,
      cycleId: null,
      orderedUnits: null,
      attestors,
      required: 2,
      attested: [],
      pointCid: null,
      price: null,
      units: null
    })
  )

const units = decimal("95812.973076")
const price = decimal("1.0437")

const attest = (
  { sessionOf, point }: Scene,
  by: "attestorA" | "attestorB" | "attestorC",
  claim: string,
  other: { readonly price?: Decimal.Decimal; readonly units?: Decimal.Decimal } = {}
) =>
  World.act(
    sessionOf(by),
    Templates.exercise(Templates.SubscriptionClaim, claim, "Attest", {
      attestor: sessionOf(by).party,
      pointCid: point,
      price,
      units,
      ...other
    })
  )

const sole = (receipt: Parameters<typeof World.created>[0], entity: string) => {
  const [id] = World.created(receipt, entity)
  if (id === undefined) throw new Error(`no ${entity}`)
  return id
}

/** The claim with two attestations is a lot. */
const lotOf = (world: Scene, claim: string) =>
  Effect.gen(function* () {
    const first = yield* attest(world, "attestorA", claim)
    const second = yield* attest(world, "attestorB", sole(first, "SubscriptionClaim"))
    return sole(second, "Lot")
  })

const holdings = (world: Scene, owner: "holder" | "fund") =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const at = yield* participant.ledgerEnd
    const filter = { templates: [Templates.Holding.typeRef], interfaces: [] }
    const active = yield* Stream.runCollect(world.sessionOf(owner).acs({ at, filter }))
    return active
      .filter(({ payload }) => payload["owner"] === world.sessionOf(owner).party)
      .map(({ payload }) => payload["amount"])
  })

const aborts = (what: string) => ({ _tag: "Refused", code: "DAML_FAILURE", cause: what })
const unauthorized = { _tag: "Refused", code: "DAML_AUTHORIZATION_ERROR" }

describe("a subscription paid by wire", () => {
  it.effect("two attestors price it, delivery mints through the market", () =>
    Effect.gen(function* () {
      const world = yield* scene
      const lot = yield* lotOf(world, yield* claimByWire(world))
      const delivered = yield* World.act(
        world.venue,
        Templates.exercise(Templates.Lot, lot, "Deliver", {
          marketCid: world.market,
          credentialCid: world.credential,
          configurationCid: null,
          executeBefore: null
        })
      )
      expect(yield* holdings(world, "holder")).toEqual(["95812.9730760000"])
      yield* World.act(
        world.venue,
        Templates.exercise(Templates.DeliveredLot, sole(delivered, "DeliveredLot"), "Settle", {
          allocationCid: null,
          evidence: digest,
          refunded: null,
          owed: null
        })
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("without a market the registrar is asked, and mints", () =>
    Effect.gen(function* () {
      const world = yield* scene
      const lot = yield* lotOf(world, yield* claimByWire(world))
      const delivered = yield* World.act(
        world.venue,
        Templates.exercise(Templates.Lot, lot, "Deliver", {
          marketCid: null,
          credentialCid: world.credential,
          configurationCid: null,
          executeBefore: null
        })
      )
      expect(yield* holdings(world, "holder")).toEqual([])
      yield* World.act(
        world.registrar,
        Templates.exercise(Templates.MintRequest, sole(delivered, "MintRequest"), "Accept", {
          credentialCid: world.credential,
          configurationCid: null
        })
      )
      expect(yield* holdings(world, "holder")).toEqual(["95812.9730760000"])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("the venue alone cannot mint", () =>
    Effect.gen(function* () {
      const world = yield* scene
      const { market, credential: credentialCid, attestors } = world
      const mint = (signers: typeof attestors) =>
        Templates.exercise(Templates.PrimaryMarket, market, "MintFor", {
          subscriptionId: "x",
          units,
          credentialCid,
          attestors: signers,
          configurationCid: null
        })
      expect(yield* Effect.flip(World.act(world.venue, mint(attestors)))).toMatchObject(
        unauthorized
      )
      expect(yield* Effect.flip(World.act(world.venue, mint([])))).toMatchObject(
        aborts("too few attestors")
      )
      const receive = Templates.exercise(Templates.Credential, credentialCid, "Receive", {
        amount: units,
        reference: { kind: "subscription", id: "x" },
        configurationCid: null
      })
      expect(yield* Effect.flip(World.act(world.venue, receive))).toMatchObject(unauthorized)
      expect(yield* Effect.flip(World.act(world.holder, receive))).toMatchObject(unauthorized)
    }).pipe(Effect.provide(ledger))
  )

  it.effect("an attestor is one of those named, attests once, and at the same price", () =>
    Effect.gen(function* () {
      const world = yield* scene
      const claim = sole(
        yield* attest(world, "attestorA", yield* claimByWire(world)),
        "SubscriptionClaim"
      )
      const refused = (act: ReturnType<typeof attest>) => Effect.flip(act)
      expect(
        yield* refused(attest(world, "attestorB", claim, { price: decimal("1.05") }))
      ).toMatchObject(aborts("another price than before"))
      expect(
        yield* refused(attest(world, "attestorB", claim, { units: decimal("1") }))
      ).toMatchObject(aborts("other units than before"))
      expect(yield* refused(attest(world, "attestorA", claim))).toMatchObject(
        aborts("this attestor has attested before")
      )
      const asIf = (attestor: Party.Party) =>
        Templates.exercise(Templates.SubscriptionClaim, claim, "Attest", {
          attestor,
          pointCid: world.point,
          price,
          units
        })
      const forged = asIf(world.attestors[1] ?? world.holder.party)
      expect(yield* Effect.flip(World.act(world.holder, forged))).toMatchObject(unauthorized)
      const stranger = World.act(world.venue, asIf(world.venue.party))
      expect(yield* Effect.flip(stranger)).toMatchObject(aborts("not an attestor of this claim"))
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a credential past its time receives no units", () =>
    Effect.gen(function* () {
      const world = yield* scene
      const offer = yield* World.make(
        world.venue,
        "AdmissionOffer",
        Templates.exercise(Templates.AdmissionConsent, world.consent, "Offer", {
          holder: world.holder.party,
          credentialId: "cred-2",
          claims: [],
          validFrom: null,
          validUntil: Instant.of("1970-01-02T00:00:00Z"),
          expiresAt: Instant.of("1970-01-01T12:00:00Z")
        })
      )
      const acceptOffer = Templates.exercise(Templates.AdmissionOffer, offer, "Accept", {})
      const credentialCid = yield* World.make(world.holder, "Credential", acceptOffer)
      const lot = yield* lotOf(world, yield* claimByWire(world))
      const deliver = Templates.exercise(Templates.Lot, lot, "Deliver", {
        marketCid: world.market,
        credentialCid,
        configurationCid: null,
        executeBefore: null
      })
      yield* TestClock.adjust("25 hours")
      expect(yield* Effect.flip(World.act(world.venue, deliver))).toMatchObject(
        aborts("the credential is not in force")
      )
    }).pipe(Effect.provide(ledger))
  )

  const noon = Instant.of("1970-01-01T12:00:00Z")
  it.effect.each([
    ["the offer", { validUntil: null, expiresAt: noon }],
    ["the credential that it offers", { validUntil: noon, expiresAt: null }],
    ["the credential, whatever time the offer has", { validUntil: noon, expiresAt: farDeadline }]
  ] as const)("an offer is not accepted once %s is past its time", ([, times]) =>
    Effect.gen(function* () {
      const world = yield* scene
      const offering = Templates.exercise(Templates.AdmissionConsent, world.consent, "Offer", {
        ...{ holder: world.holder.party, credentialId: "cred-2", claims: [], validFrom: null },
        ...times
      })
      const offer = yield* World.make(world.venue, "AdmissionOffer", offering)
      yield* TestClock.adjust("12 hours")
      const acceptOffer = Templates.exercise(Templates.AdmissionOffer, offer, "Accept", {})
      expect(yield* Effect.flip(World.act(world.holder, acceptOffer))).toMatchObject(
        aborts("the offer is past its time")
      )
      expect(yield* Effect.flip(World.act(world.venue, offering))).toMatchObject(
        aborts("the offer would already be past")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a stranger cannot agree to the market, nor one party twice", () =>
    Effect.gen(function* () {
      const { sessionOf, venue, fund, registrar, instrument, cash, attestors } = yield* scene
      const proposal = yield* World.make(
        venue,
        "PrimaryMarketProposal",
        Templates.create(Templates.PrimaryMarketProposal, {
          venue: venue.party,
          marketId: "m2",
          instrument,
          fund: fund.party,
          registrar: registrar.party,
          cash,
          attestors,
          required: 2,
          oracle: sessionOf("oracle").party,
          until: null,
          accepted: []
        })
      )
      const accept = (contractId: string, session: typeof fund) =>
        World.act(
          session,
          Templates.exercise(Templates.PrimaryMarketProposal, contractId, "Accept", {
            party: session.party
          })
        )
      expect(yield* Effect.flip(accept(proposal, venue))).toMatchObject(
        aborts("only the fund and the registrar accept")
      )
      const decline = Templates.exercise(Templates.PrimaryMarketProposal, proposal, "Decline", {
        party: venue.party
      })
      expect(yield* Effect.flip(World.act(venue, decline))).toMatchObject(
        aborts("only the fund and the registrar decline")
      )
      const again = sole(yield* accept(proposal, fund), "PrimaryMarketProposal")
      expect(yield* Effect.flip(accept(again, fund))).toMatchObject(
        aborts("this party has accepted before")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("one attestor too few cannot mint through a lot of its own", () =>
    Effect.gen(function* () {
      const world = yield* scene
      const claim = yield* World.make(
        world.venue,
        "SubscriptionClaim",
        Templates.create(Templates.SubscriptionClaim, {
          venue: world.venue.party,
          subscriptionId: "sub-2",
          orderId: null,
          instrument: world.instrument,
          holder: world.holder.party,
          custodian: null,
          fund: null,
          mode: "wire",
          currency: "EUR",
          paymentAsset: null,
          cash: null,
          feeRate: null,
          cashDecimals: null,
          oracle: null,
          cycleId: null,
          orderedUnits: null,
          attestors: world.attestors,
          required: 1,
          attested: [],
          pointCid: null,
          price: null,
          units: null
        })
      )
      const lot = sole(yield* attest(world, "attestorC", claim), "Lot")
      const deliver = Templates.exercise(Templates.Lot, lot, "Deliver", {
        marketCid: world.market,
        credentialCid: world.credential,
        configurationCid: null,
        executeBefore: null
      })
      expect(yield* Effect.flip(World.act(world.venue, deliver))).toMatchObject(
        aborts("too few attestors")
      )
      expect(yield* holdings(world, "holder")).toEqual([])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a stranger cannot mint through a lot that it attested", () =>
    Effect.gen(function* () {
      const world = yield* scene
      const { sessionOf, venue, instrument, holder } = world
      const stranger = sessionOf("registrar").party
      const claim = yield* World.make(
        venue,
        "SubscriptionClaim",
        Templates.create(Templates.SubscriptionClaim, {
          venue: venue.party,
          subscriptionId: "sub-2",
          orderId: null,
          instrument,
          holder: holder.party,
          custodian: null,
          fund: null,
          mode: "wire",
          currency: "EUR",
          paymentAsset: null,
          cash: null,
          feeRate: null,
          cashDecimals: null,
          oracle: null,
          cycleId: null,
          orderedUnits: null,
          attestors: [sessionOf("attestorA").party, stranger],
          required: 2,
          attested: [],
          pointCid: null,
          price: null,
          units: null
        })
      )
      const again = sole(yield* attest(world, "attestorA", claim), "SubscriptionClaim")
      const attested = Templates.exercise(Templates.SubscriptionClaim, again, "Attest", {
        attestor: stranger,
        pointCid: world.point,
        price,
        units
      })
      const lot = sole(yield* World.act(sessionOf("registrar"), attested), "Lot")
      const deliver = Templates.exercise(Templates.Lot, lot, "Deliver", {
        marketCid: world.market,
        credentialCid: world.credential,
        configurationCid: null,
        executeBefore: null
      })
      expect(yield* Effect.flip(World.act(venue, deliver))).toMatchObject(
        aborts("an attestor is not of this market")
      )
    }).pipe(Effect.provide(ledger))
  )
})

/** The bank issues cash to the holder, who orders; the venue claims and asks for the allocation. */
const paidOnLedger = Effect.gen(function* () {
  const world = yield* scene
  const { sessionOf, venue, fund, holder, instrument, cash, market } = world
  const bank = sessionOf("bank")
  const issued = yield* World.make(
    bank,
    "Holding",
    Templates.create(Templates.Holding, {
      registrar: bank.party,
      owner: bank.party,
      provider: bank.party,
      instrument: cash,
      amount: decimal("150000"),
      restricted: false,
      lock: null,
      label: "",
      meta: {}
    })
  )
  const offer = yield* World.make(
    bank,
    "TransferOffer",
    Templates.exercise(Templates.Holding, issued, "OfferTransfer", {
      receiver: holder.party,
      amount: decimal("150000"),
      executeBefore: farDeadline
    })
  )
  const accepted = yield* World.act(
    holder,
    Templates.exercise(Templates.TransferOffer, offer, "Accept", { credentialCid: null })
  )
  const holding = World.created(accepted, "Holding").at(-1) ?? ""
  const order = yield* World.make(
    holder,
    "SubscriptionOrder",
    Templates.create(Templates.SubscriptionOrder, {
      venue: venue.party,
      fund: fund.party,
      holder: holder.party,
      orderId: "order-1",
      instrument,
      paymentAsset: cash,
      amount: decimal("100000"),
      units: null,
      expiresAt: null
    })
  )
  const claim = yield* World.make(
    venue,
    "SubscriptionClaim",
    Templates.exercise(Templates.PrimaryMarket, market, "ClaimSubscription", {
      orderCid: order,
      subscriptionId: "sub-3",
      custodian: null,
      currency: "EUR",
      cycleCid: null,
      feeRate: null,
      cashDecimals: null
    })
  )
  const intent = yield* World.make(
    venue,
    "SettlementIntent",
    Templates.create(Templates.SettlementIntent, {
      venue: venue.party,
      settlementId: "s-3",
      reference: { kind: "subscription", id: "sub-3" },
      legs: [
        {
          legId: "cash",
          sender: holder.party,
          receiver: fund.party,
          instrument: cash,
          amount: decimal("100000")
        }
      ],
      requestedAt: farDeadline,
      allocateBefore: farDeadline,
      settleBefore: farDeadline
    })
  )
  const allocate = (amount: string, allocationId = "sub-3") =>
    World.make(
      holder,
      "Allocation",
      Templates.exercise(Templates.Holding, holding, "Allocate", {
        allocationId,
        executor: venue.party,
        receiver: fund.party,
        amount: decimal(amount),
        settleBefore: farDeadline
      })
    )
  const lot = yield* lotOf(world, claim)
  const settle = (allocationCid: string) =>
    Templates.exercise(Templates.Lot, lot, "Settle", {
      marketCid: market,
      allocationCid,
      credentialCid: world.credential,
      configurationCid: null,
      intentCid: intent,
      refund: null
    })
  return { ...world, world, lot, intent, allocate, settle }
})

describe("a subscription paid on the ledger", () => {
  it.effect("cash and units change hands in one transaction", () =>
    Effect.gen(function* () {
      const { world, venue, allocate, settle } = yield* paidOnLedger
      yield* World.act(venue, settle(yield* allocate("100000")))
      expect(yield* holdings(world, "fund")).toEqual(["100000.0000000000"])
      expect([...(yield* holdings(world, "holder"))].sort()).toEqual([
        "50000.0000000000",
        "95812.9730760000"
      ])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("too little cash, or cash of another order, does not buy the units", () =>
    Effect.gen(function* () {
      const { world, venue, allocate, settle } = yield* paidOnLedger
      const little = yield* Effect.flip(World.act(venue, settle(yield* allocate("99999.99"))))
      expect(little).toMatchObject(aborts("the allocation is not of the lot's cash"))
      expect(yield* holdings(world, "fund")).toEqual([])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("cash allocated to another order does not buy the units", () =>
    Effect.gen(function* () {
      const { venue, allocate, settle } = yield* paidOnLedger
      const other = yield* allocate("100000", "sub-4")
      expect(yield* Effect.flip(World.act(venue, settle(other)))).toMatchObject(
        aborts("the allocation is for another order")
      )
    }).pipe(Effect.provide(ledger))
  )

  it.effect("the fund does not get the cash unless the holder gets the units", () =>
    Effect.gen(function* () {
      const { venue, fund, allocate } = yield* paidOnLedger
      const execute = Templates.exercise(
        Templates.Allocation,
        yield* allocate("100000"),
        "Allocation_ExecuteTransfer",
        { credentialCid: null }
      )
      for (const party of [venue, fund]) {
        expect(yield* Effect.flip(World.act(party, execute))).toMatchObject(unauthorized)
      }
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a released lot gives the holder its cash back", () =>
    Effect.gen(function* () {
      const { world, venue, lot, intent, allocate } = yield* paidOnLedger
      const allocationCid = yield* allocate("100000")
      yield* World.act(
        venue,
        Templates.exercise(Templates.Lot, lot, "Release", { allocationCid, intentCid: intent })
      )
      expect([...(yield* holdings(world, "holder"))].sort()).toEqual([
        "100000.0000000000",
        "50000.0000000000"
      ])
    }).pipe(Effect.provide(ledger))
  )
})

describe("units", () => {
  /** The holder with minted units, and another holder who may have a credential. */
  const minted = Effect.gen(function* () {
    const world = yield* scene
    const lot = yield* lotOf(world, yield* claimByWire(world))
    const delivered = yield* World.act(
      world.venue,
      Templates.exercise(Templates.Lot, lot, "Deliver", {
        marketCid: world.market,
        credentialCid: world.credential,
        configurationCid: null,
        executeBefore: null
      })
    )
    return { ...world, holding: sole(delivered, "Holding") }
  })

  it.effect("never would move to somebody who is not admitted", () =>
    Effect.gen(function* () {
      const { holder, fund, holding, credential } = yield* minted
      const offer = yield* World.make(
        holder,
        "TransferOffer",
        Templates.exercise(Templates.Holding, holding, "OfferTransfer", {
          receiver: fund.party,
          amount: decimal("10"),
          executeBefore: farDeadline
        })
      )
      const accept = (credentialCid: string | null) =>
        World.act(
          fund,
          Templates.exercise(Templates.TransferOffer, offer, "Accept", { credentialCid })
        )
      expect(yield* Effect.flip(accept(null))).toMatchObject(
        aborts("a restricted holding needs the receiver's credential")
      )
      expect(yield* Effect.flip(accept(credential))).toMatchObject({ code: "CONTRACT_NOT_FOUND" })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("never would be more after a split than before", () =>
    Effect.gen(function* () {
      const { holder, holding } = yield* minted
      const lock = (amount: string) =>
        World.act(
          holder,
          Templates.exercise(Templates.Holding, holding, "Lock", {
            holders: [holder.party],
            observers: [],
            context: "c",
            expiresAt: null,
            amount: decimal(amount)
          })
        )
      expect(yield* Effect.flip(lock("95812.9730770"))).toMatchObject(
        aborts("the holding has fewer units")
      )
      expect(yield* Effect.flip(lock("-1"))).toMatchObject(aborts("the amount must be positive"))
      expect(World.created(yield* lock("0.973076"), "Holding")).toHaveLength(2)
    }).pipe(Effect.provide(ledger))
  )
})
