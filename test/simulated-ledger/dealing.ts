/** A market with its parties on a ledger in memory, and the acts by which they deal: what each test of orders starts from. */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import type { Session } from "@bursar/storage-adapters/conformance"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Stream } from "effect"
import * as World from "./world.ts"

export const farDeadline = Instant.of("2030-01-01T00:00:00Z")
export const decimal = Decimal.of
export const price = decimal("1.0437")

export const hints = [
  "venue",
  "registrar",
  "fund",
  "oracle",
  "attestor",
  "bank",
  "custodian",
  "alice",
  "bob",
  "carol"
] as const
export type Hint = (typeof hints)[number]
export const holders = ["alice", "bob", "carol"] as const
export type Holder = (typeof holders)[number]

export interface Floor {
  readonly sessionOf: (hint: Hint) => Session
  readonly instrument: Templates.Asset
  readonly cash: Templates.Asset
  readonly market: string
  readonly consent: string
  readonly point: string
  readonly credentials: { readonly [holder in Holder]: string }
}

/** Id of the one contract of an entity that a transaction created. */
export const sole = (receipt: Ledger.Receipt, entity: string): string => {
  const [id, ...more] = World.created(receipt, entity)
  if (id === undefined || more.length > 0) throw new Error(`not one ${entity}`)
  return id
}

export const marketOf = (
  sessionOf: Floor["sessionOf"],
  {
    fundHint = "fund",
    currency = "EUR",
    until = null,
    ...terms
  }: {
    readonly marketId: string
    readonly instrument: Templates.Asset
    readonly fundHint?: Hint
    readonly currency?: string
    readonly until?: Instant.Instant | null
  }
) =>
  Effect.gen(function* () {
    const [venue, registrar, fund] = [
      sessionOf("venue"),
      sessionOf("registrar"),
      sessionOf(fundHint)
    ]
    const proposal = yield* World.make(
      venue,
      "PrimaryMarketProposal",
      Templates.create(Templates.PrimaryMarketProposal, {
        ...terms,
        venue: venue.party,
        fund: fund.party,
        registrar: registrar.party,
        cash: { admin: sessionOf("bank").party, id: currency },
        attestors: [sessionOf("attestor").party],
        required: 1,
        oracle: sessionOf("oracle").party,
        until,
        accepted: []
      })
    )
    const accept = (contractId: string, party: Session) =>
      World.act(
        party,
        Templates.exercise(Templates.PrimaryMarketProposal, contractId, "Accept", {
          party: party.party
        })
      )
    const again = sole(yield* accept(proposal, fund), "PrimaryMarketProposal")
    return sole(yield* accept(again, registrar), "PrimaryMarket")
  })

export const publish = (
  sessionOf: Floor["sessionOf"],
  by: {
    readonly value: Decimal.Decimal
    readonly instrumentId?: string
    readonly oracle?: Hint
    readonly registrar?: Hint
  }
) => {
  const oracle = sessionOf(by.oracle ?? "oracle")
  return World.make(
    oracle,
    "OraclePoint",
    Templates.create(Templates.OraclePoint, {
      oracle: oracle.party,
      venue: sessionOf("venue").party,
      fund: sessionOf("fund").party,
      registrar: sessionOf(by.registrar ?? "registrar").party,
      attestors: [sessionOf("attestor").party, sessionOf("oracle").party],
      instrumentId: by.instrumentId ?? "FUND-A",
      metric: "price",
      value: by.value,
      valuationTime: Instant.of("1970-01-05T16:00:00Z"),
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )
}

const credentialed = (sessionOf: Floor["sessionOf"], consent: string, holder: Session) =>
  Effect.gen(function* () {
    const offer = yield* World.make(
      sessionOf("venue"),
      "AdmissionOffer",
      Templates.exercise(Templates.AdmissionConsent, consent, "Offer", {
        holder: holder.party,
        credentialId: `credential-${holder.party.slice(0, 5)}`,
        claims: [],
        validFrom: null,
        validUntil: null,
        expiresAt: farDeadline
      })
    )
    const accept = Templates.exercise(Templates.AdmissionOffer, offer, "Accept", {})
    return yield* World.make(holder, "Credential", accept)
  })

/** A market of one attestor, three admitted holders and a published point. */
export const floor: Effect.Effect<Floor, unknown, SimulatedLedger.Participant> = Effect.gen(
  function* () {
    const sessionOf = yield* World.parties(...hints)
    const [venue, registrar, fund] = [sessionOf("venue"), sessionOf("registrar"), sessionOf("fund")]
    const instrument = { admin: registrar.party, id: "FUND-A" }
    const market = yield* marketOf(sessionOf, { marketId: "m1", instrument })
    const proposal = yield* World.make(
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
      Templates.exercise(Templates.AdmissionConsentProposal, proposal, "Accept", {})
    )
    return {
      sessionOf,
      instrument,
      cash: { admin: sessionOf("bank").party, id: "EUR" },
      market,
      consent,
      point: yield* publish(sessionOf, { value: price }),
      credentials: {
        alice: yield* credentialed(sessionOf, consent, sessionOf("alice")),
        bob: yield* credentialed(sessionOf, consent, sessionOf("bob")),
        carol: yield* credentialed(sessionOf, consent, sessionOf("carol"))
      }
    }
  }
)

/** Cash of the bank's, given to a party. The bank's own holding is made for it. */
export const give = (
  { sessionOf, cash }: Pick<Floor, "sessionOf" | "cash">,
  to: Hint,
  amount: string,
  asset: Templates.Asset = cash,
  provider: Hint = "venue"
) =>
  Effect.gen(function* () {
    const admin = hints.find((hint) => sessionOf(hint).party === asset.admin)
    const issuer = sessionOf(admin ?? "bank")
    const issued = yield* World.act(
      issuer,
      Templates.createAndExercise(
        Templates.Holding,
        {
          registrar: issuer.party,
          owner: issuer.party,
          provider: sessionOf(provider).party,
          instrument: asset,
          amount: decimal(amount),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        },
        "OfferTransfer",
        { receiver: sessionOf(to).party, amount: decimal(amount), executeBefore: farDeadline }
      )
    )
    const accepted = yield* World.act(
      sessionOf(to),
      Templates.exercise(Templates.TransferOffer, sole(issued, "TransferOffer"), "Accept", {
        credentialCid: null
      })
    )
    return World.created(accepted, "Holding").at(-1) ?? ""
  })

/** Units minted to a holder on the registrar's own answer. */
export const mint = (
  { sessionOf, instrument, credentials }: Pick<Floor, "sessionOf" | "instrument" | "credentials">,
  to: Holder,
  amount: string
) =>
  Effect.gen(function* () {
    const request = yield* World.make(
      sessionOf("venue"),
      "MintRequest",
      Templates.create(Templates.MintRequest, {
        requester: sessionOf("venue").party,
        holder: sessionOf(to).party,
        instrument,
        amount: decimal(amount),
        reference: { kind: "test", id: "opening" },
        executeBefore: null
      })
    )
    const accept = Templates.exercise(Templates.MintRequest, request, "Accept", {
      credentialCid: credentials[to],
      configurationCid: null
    })
    return sole(yield* World.act(sessionOf("registrar"), accept), "Holding")
  })

/** A holding locked for the venue to move, as its owner does it. */
export const allocate = (
  { sessionOf }: Pick<Floor, "sessionOf">,
  by: {
    readonly owner: Hint
    readonly holding: string
    readonly to: Hint
    readonly amount: string
    readonly reference: string
    readonly executor?: Hint
  }
) =>
  World.make(
    sessionOf(by.owner),
    "Allocation",
    Templates.exercise(Templates.Holding, by.holding, "Allocate", {
      allocationId: by.reference,
      executor: sessionOf(by.executor ?? "venue").party,
      receiver: sessionOf(by.to).party,
      amount: decimal(by.amount),
      settleBefore: farDeadline
    })
  )

export const openCycle = (
  { sessionOf, market }: Pick<Floor, "sessionOf" | "market">,
  cycleId = "cycle-1"
) =>
  World.make(
    sessionOf("venue"),
    "DealingCycle",
    Templates.exercise(Templates.PrimaryMarket, market, "OpenCycle", {
      cycleId,
      cutOffAt: Instant.of("1970-01-02T00:00:00Z"),
      settleBy: Instant.of("1970-01-07T00:00:00Z")
    })
  )

export interface Ordered {
  readonly holder: Holder
  readonly id: string
  readonly amount?: string
  readonly units?: string
  readonly cycleCid?: string | null
  readonly fund?: Hint
}

const signed = (
  { sessionOf, instrument, cash }: Floor,
  { holder, id, amount, units, fund }: Ordered
) => ({
  venue: sessionOf("venue").party,
  fund: sessionOf(fund ?? "fund").party,
  holder: sessionOf(holder).party,
  orderId: `order-${id}`,
  instrument,
  paymentAsset: cash,
  amount: amount === undefined ? null : decimal(amount),
  units: units === undefined ? null : decimal(units),
  expiresAt: null
})

/** A subscription signed by its holder and claimed by the venue. */
export const subscribe = (
  floor: Floor,
  ordered: Ordered,
  dues: { readonly feeRate: Decimal.Decimal | null; readonly cashDecimals: number | null } = {
    feeRate: decimal("0.005"),
    cashDecimals: 2
  }
) =>
  Effect.gen(function* () {
    const { sessionOf, market } = floor
    const order = yield* World.make(
      sessionOf(ordered.holder),
      "SubscriptionOrder",
      Templates.create(Templates.SubscriptionOrder, signed(floor, ordered))
    )
    return yield* World.make(
      sessionOf("venue"),
      "SubscriptionClaim",
      Templates.exercise(Templates.PrimaryMarket, market, "ClaimSubscription", {
        orderCid: order,
        subscriptionId: ordered.id,
        custodian: null,
        currency: "EUR",
        cycleCid: ordered.cycleCid ?? null,
        ...dues
      })
    )
  })

export const attest = ({ sessionOf, point }: Floor, claim: string, units: string, at = point) =>
  World.make(
    sessionOf("attestor"),
    "Lot",
    Templates.exercise(Templates.SubscriptionClaim, claim, "Attest", {
      attestor: sessionOf("attestor").party,
      pointCid: at,
      price,
      units: decimal(units)
    })
  )

/** A redemption signed by its holder and claimed by the venue. */
export const redeem = (floor: Floor, ordered: Ordered) =>
  Effect.gen(function* () {
    const { sessionOf, market } = floor
    const order = yield* World.make(
      sessionOf(ordered.holder),
      "RedemptionOrder",
      Templates.create(Templates.RedemptionOrder, { ...signed(floor, ordered), custodian: null })
    )
    return yield* World.make(
      sessionOf("venue"),
      "RedemptionClaim",
      Templates.exercise(Templates.PrimaryMarket, market, "ClaimRedemption", {
        orderCid: order,
        redemptionId: ordered.id,
        custodian: sessionOf("custodian").party,
        currency: "EUR",
        cycleCid: ordered.cycleCid ?? null
      })
    )
  })

export const priceAt = (
  { sessionOf, point }: Floor,
  claim: string,
  figures: { readonly units: string; readonly proceeds: string; readonly at?: string }
) =>
  World.make(
    sessionOf("oracle"),
    "PricedRedemption",
    Templates.exercise(Templates.RedemptionClaim, claim, "Price", {
      pointCid: figures.at ?? point,
      price,
      units: decimal(figures.units),
      proceeds: decimal(figures.proceeds)
    })
  )

/** The live contracts that a party sees. */
export const active = (session: Session) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const at = yield* participant.ledgerEnd
    const found = yield* Stream.runCollect(session.acs({ at, filter: World.everything }))
    return found.map(({ contractId }) => contractId)
  })

/** Holdings that a party's session sees: the amount of each, and whether it is locked. */
export const holdingsOf = (session: Session) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const at = yield* participant.ledgerEnd
    const filter = { templates: [Templates.Holding.typeRef], interfaces: [] }
    const active = yield* Stream.runCollect(session.acs({ at, filter }))
    return active.flatMap(({ contractId, payload }) =>
      payload["owner"] === session.party ? [{ contractId, ...read(payload) }] : []
    )
  })

const read = (payload: Ledger.LfRecord) => {
  const decoded = Templates.decodePayload(Templates.Holding, payload)
  if (decoded._tag === "Failure") throw decoded.failure
  return decoded.success
}

/** Total of an asset that a party holds, in plain form. */
export const balance = (session: Session, asset: Templates.Asset) =>
  Effect.map(holdingsOf(session), (all) =>
    Decimal.formatPlain(
      Decimal.sum(
        all
          .filter(
            ({ instrument }) => instrument.id === asset.id && instrument.admin === asset.admin
          )
          .map(({ amount }) => amount)
      )
    )
  )

export const aborts = (what: string) => ({ _tag: "Refused", code: "DAML_FAILURE", cause: what })
export const unauthorized = { _tag: "Refused", code: "DAML_AUTHORIZATION_ERROR" }
export const partyOf = ({ sessionOf }: Pick<Floor, "sessionOf">, hint: Hint): Party.Party =>
  sessionOf(hint).party
