/** Powers agreed over an instrument, a holder that consents to them, and the forced moves a venue makes: what tests of powers start from. */
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { SimulatedUnderTest, type Session } from "@bursar/storage-adapters/conformance"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Option, Stream } from "effect"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

export type Agreement = Templates.Payload<typeof Templates.IssuerPowersAgreement>
export type Offered = Templates.Payload<typeof Templates.IssuerPowersConsentOffer>
export type Forcing = Templates.Argument<typeof Templates.IssuerPowersAgreement, "ForceMove">
export type Using = Templates.Argument<typeof Templates.IssuerPowersConsent, "Use">
export type Release = Forcing["releases"][number]

type Commands = readonly [Ledger.Command, ...ReadonlyArray<Ledger.Command>]

/** Submits as several parties together, as an act of a contract that they all signed would. */
export const together = (sessionOf: Dealing.Floor["sessionOf"]) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const user = yield* participant.admin.addParty({
      hint: "together",
      kind: "local",
      rights: Dealing.hints.map((hint) => ({ kind: "CanActAs", party: sessionOf(hint).party }))
    })
    const session = SimulatedUnderTest.session(participant, user)
    return (hints: ReadonlyArray<Dealing.Hint>, ...commands: Commands) =>
      session.submit({
        ...World.submission(...commands),
        actAs: hints.map((hint) => sessionOf(hint).party)
      })
  })

/** A credential that Alice and an issuer sign together, over the floor's own. */
export const credentialOf = (
  { instrument, sessionOf }: Pick<Dealing.Floor, "instrument" | "sessionOf">,
  say: Effect.Success<ReturnType<typeof together>>,
  other: Partial<Templates.Payload<typeof Templates.Credential>>,
  issuer: Dealing.Hint = "venue"
) =>
  Effect.map(
    say(
      [issuer, "alice"],
      Templates.create(Templates.Credential, {
        issuer: sessionOf(issuer).party,
        holder: sessionOf("alice").party,
        registrar: sessionOf("registrar").party,
        instrumentId: instrument.id,
        credentialId: "another",
        claims: [],
        validFrom: null,
        validUntil: null,
        ...other
      })
    ),
    (receipt) => Dealing.sole(receipt, "Credential")
  )

/** SHA-256 of an order whose text does not matter. */
export const digest = "ab".repeat(32)

export const forced = { kind: "forced", orderRef: digest, successor: null } as const

export const agreementOf = (
  { sessionOf, instrument }: Pick<Dealing.Floor, "sessionOf" | "instrument">,
  terms: Partial<Agreement> = {}
): Agreement => ({
  venue: sessionOf("venue").party,
  issuerPowersAgreementId: "ipa-1",
  instrument,
  issuer: sessionOf("fund").party,
  registrar: sessionOf("registrar").party,
  powers: ["force-transfer", "recover"],
  consentRevocable: true,
  until: null,
  ...terms
})

export const propose = (floor: Dealing.Floor, terms: Partial<Agreement> = {}) =>
  World.make(
    floor.sessionOf("venue"),
    "IssuerPowersAgreementProposal",
    Templates.create(Templates.IssuerPowersAgreementProposal, {
      ...agreementOf(floor, terms),
      accepted: []
    })
  )

export const accept = (
  { sessionOf }: Pick<Dealing.Floor, "sessionOf">,
  contractId: string,
  hint: Dealing.Hint
) =>
  World.act(
    sessionOf(hint),
    Templates.exercise(Templates.IssuerPowersAgreementProposal, contractId, "Accept", {
      party: sessionOf(hint).party
    })
  )

/** Powers over the floor's instrument, accepted by its fund, who issues it, and by its registrar. */
export const agree = (floor: Dealing.Floor, terms: Partial<Agreement> = {}) =>
  Effect.gen(function* () {
    const proposal = yield* propose(floor, terms)
    const again = Dealing.sole(
      yield* accept(floor, proposal, "fund"),
      "IssuerPowersAgreementProposal"
    )
    return Dealing.sole(yield* accept(floor, again, "registrar"), "IssuerPowersAgreement")
  })

export const offered = (
  { sessionOf, instrument }: Pick<Dealing.Floor, "sessionOf" | "instrument">,
  holder: Dealing.Hint,
  terms: Partial<Offered> = {}
): Offered => ({
  venue: sessionOf("venue").party,
  issuerPowersConsentId: `ipc-${holder}`,
  holderId: holder,
  holder: sessionOf(holder).party,
  instrument,
  issuers: [sessionOf("fund").party],
  registrars: [sessionOf("registrar").party],
  powers: ["force-transfer", "recover"],
  revocable: true,
  validUntil: null,
  expiresAt: null,
  ...terms
})

export const offer = (
  floor: Dealing.Floor,
  holder: Dealing.Hint,
  terms: Partial<Offered> = {},
  by: Dealing.Hint = "venue"
) =>
  World.make(
    floor.sessionOf(by),
    "IssuerPowersConsentOffer",
    Templates.create(Templates.IssuerPowersConsentOffer, offered(floor, holder, terms))
  )

/** A holder's consent, offered by the venue and accepted. */
export const consent = (
  floor: Dealing.Floor,
  holder: Dealing.Hint,
  terms: Partial<Offered> = {},
  by: Dealing.Hint = "venue"
) =>
  Effect.flatMap(offer(floor, holder, terms, by), (contractId) =>
    World.make(
      floor.sessionOf(holder),
      "IssuerPowersConsent",
      Templates.exercise(Templates.IssuerPowersConsentOffer, contractId, "Accept", {})
    )
  )

/** Result of a forced move. */
export const outcomeOf = (receipt: Ledger.Receipt) => {
  const events = Option.match(receipt.transaction, {
    onNone: () => [],
    onSome: (transaction) => transaction.events
  })
  const found = events.find((event) => event._tag === "Exercised" && event.choice === "ForceMove")
  if (found?._tag !== "Exercised") throw new Error("no ForceMove")
  const read = Templates.decodeResult(
    Templates.IssuerPowersAgreement,
    "ForceMove",
    found.result ?? null
  )
  if (read._tag === "Failure") throw read.failure
  return read.success
}

/** Alice holds 1000 units and has consented to what the fund and the registrar have agreed. */
export const scene = Effect.gen(function* () {
  const floor = yield* Dealing.floor
  const say = yield* together(floor.sessionOf)
  const units = yield* Dealing.mint(floor, "alice", "1000")
  const agreement = yield* agree(floor)
  const consentCid = yield* consent(floor, "alice")
  const forcing = (other: Partial<Forcing> = {}): Forcing => ({
    consentCid,
    holdingCids: [units],
    amounts: [Dealing.decimal("1000")],
    receiverCredentialCid: floor.credentials.bob,
    cause: forced,
    releases: [],
    ...other
  })
  const force = (other: Partial<Forcing> = {}, on = agreement) =>
    World.act(
      floor.sessionOf("venue"),
      Templates.exercise(Templates.IssuerPowersAgreement, on, "ForceMove", forcing(other))
    )
  return { ...floor, floor, say, units, agreement, consentCid, forcing, force }
})
export type Scene = Effect.Success<typeof scene>

/** The live contracts of one template that a party sees. */
export const all = <T extends Templates.Template>(session: Session, template: T) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const at = yield* participant.ledgerEnd
    const filter = { templates: [template.typeRef], interfaces: [] }
    const active = yield* Stream.runCollect(session.acs({ at, filter }))
    return active.map(({ contractId, payload }) => {
      const read = Templates.decodePayload(template, payload)
      if (read._tag === "Failure") throw read.failure
      return { contractId, payload: read.success }
    })
  })

/**
 * Faults of locks: contracts that name a holding or an allocation that is archived, and locked
 * holdings without such a contract.
 */
export const dangling = ({ sessionOf }: Pick<Dealing.Floor, "sessionOf">) =>
  Effect.gen(function* () {
    const admins = [sessionOf("registrar"), sessionOf("bank")]
    const held = (yield* Effect.forEach(admins, (one) => all(one, Templates.Holding))).flat()
    const locked = new Set(
      held.filter(({ payload }) => payload.lock !== null).map(({ contractId }) => contractId)
    )
    const locks = [Templates.Allocation, Templates.BurnRequest, Templates.TransferOffer] as const
    const naming = (yield* Effect.forEach(admins, (one) =>
      Effect.forEach(locks, (template) => all(one, template))
    )).flat(2)
    const named = naming.map(({ payload }) => payload.holdingCid)
    const activeCids = new Set(naming.map(({ contractId }) => contractId))
    const committed = yield* all(sessionOf("venue"), Templates.StandingCommitment)
    return [
      ...naming
        .filter(({ payload }) => !locked.has(payload.holdingCid))
        .map(({ contractId }) => `${contractId} names no locked holding`),
      ...committed
        .filter(({ payload }) => !activeCids.has(payload.allocationCid))
        .map(({ contractId }) => `${contractId} names no allocation`),
      ...[...locked]
        .filter((one) => !named.includes(one))
        .map((one) => `${one} is locked by nothing`)
    ]
  })
