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
export const together = (of: Dealing.Floor["of"]) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const user = yield* participant.admin.addParty({
      hint: "together",
      kind: "local",
      rights: Dealing.hints.map((hint) => ({ kind: "CanActAs", party: of(hint).party }))
    })
    const session = SimulatedUnderTest.session(participant, user)
    return (hints: ReadonlyArray<Dealing.Hint>, ...commands: Commands) =>
      session.submit({
        ...World.submission(...commands),
        actAs: hints.map((hint) => of(hint).party)
      })
  })

/** A credential that Alice and an issuer sign together, over the floor's own. */
export const credentialOf = (
  { instrument, of }: Pick<Dealing.Floor, "instrument" | "of">,
  say: Effect.Success<ReturnType<typeof together>>,
  other: Partial<Templates.Payload<typeof Templates.Credential>>,
  issuer: Dealing.Hint = "venue"
) =>
  Effect.map(
    say(
      [issuer, "alice"],
      Templates.create(Templates.Credential, {
        issuer: of(issuer).party,
        holder: of("alice").party,
        registrar: of("registrar").party,
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
  { of, instrument }: Pick<Dealing.Floor, "of" | "instrument">,
  terms: Partial<Agreement> = {}
): Agreement => ({
  venue: of("venue").party,
  issuerPowersAgreementId: "ipa-1",
  instrument,
  issuer: of("fund").party,
  registrar: of("registrar").party,
  powers: ["force-transfer", "recover"],
  consentRevocable: true,
  until: null,
  ...terms
})

export const propose = (floor: Dealing.Floor, terms: Partial<Agreement> = {}) =>
  World.make(
    floor.of("venue"),
    "IssuerPowersAgreementProposal",
    Templates.create(Templates.IssuerPowersAgreementProposal, {
      ...agreementOf(floor, terms),
      accepted: []
    })
  )

export const accept = ({ of }: Pick<Dealing.Floor, "of">, contractId: string, hint: Dealing.Hint) =>
  World.act(
    of(hint),
    Templates.exercise(Templates.IssuerPowersAgreementProposal, contractId, "Accept", {
      party: of(hint).party
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
  { of, instrument }: Pick<Dealing.Floor, "of" | "instrument">,
  holder: Dealing.Hint,
  terms: Partial<Offered> = {}
): Offered => ({
  venue: of("venue").party,
  issuerPowersConsentId: `ipc-${holder}`,
  holderId: holder,
  holder: of(holder).party,
  instrument,
  issuers: [of("fund").party],
  registrars: [of("registrar").party],
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
    floor.of(by),
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
      floor.of(holder),
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
  const say = yield* together(floor.of)
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
      floor.of("venue"),
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
export const dangling = ({ of }: Pick<Dealing.Floor, "of">) =>
  Effect.gen(function* () {
    const admins = [of("registrar"), of("bank")]
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
    const committed = yield* all(of("venue"), Templates.StandingCommitment)
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
