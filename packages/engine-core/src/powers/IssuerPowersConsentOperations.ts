/** Write of issuer powers consents: the venue offers one to a holder. */
import { Effect, Schema, Stream } from "effect"
import * as ProposalSteps from "../agreements/ProposalSteps.ts"
import { HolderId } from "../holders/holder/HolderId.ts"
import { holders, decide as decideHolder } from "../holders/holder/Holder.ts"
import { assetOf, InstrumentId, instruments } from "../instruments/instrument/Instrument.ts"
import { condition, judge, type Judgement } from "../kernel/Gates.ts"
import * as Instant from "../kernel/Instant.ts"
import { Records } from "../records/Records.ts"
import * as Field from "../templates/Field.ts"
import { IssuerPowersConsentOffer } from "../templates/Powers.ts"
import { create, exercise } from "../templates/Template.ts"
import { IssuerPower } from "../vocabulary/sets.ts"
import * as Lasting from "../writes/LastingLookups.ts"
import * as Operation from "../writes/Operation.ts"
import { instrumentOrAll, sentence } from "../writes/Summary.ts"
import {
  type IssuerPowersAgreement,
  issuerPowersAgreements,
  powers
} from "./IssuerPowersAgreement.ts"
import {
  everything,
  type IssuerPowersConsent,
  issuerPowersConsents,
  coversIssuer,
  IssuerPowersConsentMachine
} from "../holders/issuer-powers-consent/IssuerPowersConsent.ts"
import * as IssuerPowersConsentView from "./IssuerPowersConsentView.ts"

const states = {
  machine: IssuerPowersConsentMachine,
  proposed: "offered",
  agreed: "granted"
} as const

const idOf = (operationId: string): string => operationId.replace(/^op_/, "ipc_")

const Body = Schema.Struct({
  holderId: HolderId,
  /** Without one the consent is for every instrument, those recorded later included. */
  instrumentId: Field.optional(InstrumentId),
  /** Without them, all powers that the agreements have. */
  powers: Field.optional(powers),
  /** Instant at which an unanswered offer expires. */
  expiresAt: Field.optional(Instant.schema),
  /** Instant from which on the consent allows nothing. */
  validUntil: Field.optional(Instant.schema)
})
type Body = typeof Body.Type

/** Loads the agreements in force that the consent is for: of its instrument, or of all. */
const agreedFor = Effect.fnUntraced(function* ({ instrumentId }: Body) {
  const records = yield* Records
  const where = {
    state: ["agreed"],
    ...(instrumentId === null ? {} : { instrumentId: [instrumentId] })
  }
  const found = yield* Stream.runCollect(records.stream(issuerPowersAgreements, { where }))
  return found.map(({ record }) => record)
})

const isPast = (at: Instant.Instant | null, now: Instant.Instant): boolean =>
  at !== null && Instant.atOrBefore(at, now)

/** Checks of an offer; a consent for all instruments needs one agreement at least. */
const rows = (
  body: Body,
  agreed: ReadonlyArray<IssuerPowersAgreement>,
  now: Instant.Instant
): ReadonlyArray<Judgement> => [
  condition("issuer-powers-agreement", agreed.length > 0),
  condition(
    "powers-agreed",
    (body.powers ?? []).every((power) => agreed.some(({ powers: all }) => all.includes(power)))
  ),
  condition("consent-in-time", !isPast(body.expiresAt, now) && !isPast(body.validUntil, now))
]

/** Ignores a granted consent whose issuers have no agreement in force any more. */
const inUse = <C extends IssuerPowersConsent>(
  found: C | null,
  agreed: ReadonlyArray<IssuerPowersAgreement>
): C | null =>
  found?.state === "granted" && !agreed.some(({ issuer }) => coversIssuer(found, issuer))
    ? null
    : found

/**
 * A holder has one consent for each instrument and one for all instruments: while it is granted
 * another offer is refused, and a newer offer replaces an unanswered one in the same transaction
 * (docs/domain/powers.md#consent). The holder may revoke its consent where every agreement that it
 * is for permits that.
 */
export const offer = Operation.defineOnLedger("issuer-powers-consent.offer", {
  doc: "Asks a holder to consent to forced acts on its units of one instrument, or of all.",
  summary: ({ holderId, instrumentId }) =>
    sentence`Asks holder ${holderId} to consent to forced acts on its units of ${instrumentOrAll(instrumentId)}.`,
  route: "POST /v1/holders/{holderId}/issuer-powers-consents",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "holder",
    id: ({ holderId }) => holderId,
    href: ({ holderId }) => `/v1/holders/${holderId}`,
    instrumentId: ({ instrumentId }) => instrumentId,
    holderId: ({ holderId }) => holderId
  },
  input: Body,
  lasts: Lasting.whileIn(issuerPowersConsents, (_, { operationId }) => [idOf(operationId)], [
    "offered",
    "granted"
  ]),
  result: IssuerPowersConsentView.IssuerPowersConsentView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  gates: (body, { now }) => Effect.map(loaded(body), ({ agreed }) => rows(body, agreed, now)),
  plan: Effect.fn("issuer-powers-consent.offer")(function* (body, act) {
    const { agreed, holder, instrument } = yield* loaded(body)
    const found = yield* ProposalSteps.latest(issuerPowersConsents, states, {
      holderId: [body.holderId],
      reach: [body.instrumentId ?? everything]
    })
    const { replaces } = yield* Effect.fromResult(
      ProposalSteps.decide(states, inUse(found, agreed), "The holder's consent is granted.")
    )
    yield* Effect.fromResult(judge(rows(body, agreed, act.now)))
    const all = new Set(agreed.flatMap((agreement) => agreement.powers))
    const proposal = create(IssuerPowersConsentOffer, {
      venue: act.venue,
      issuerPowersConsentId: idOf(act.operationId),
      holderId: body.holderId,
      holder: holder.party,
      instrument: instrument === null ? null : assetOf(instrument),
      issuers: [...new Set(agreed.map(({ issuer }) => issuer))],
      registrars: [...new Set(agreed.map(({ registrar }) => registrar))],
      powers: body.powers ?? IssuerPower.members.filter((power) => all.has(power)),
      revocable: agreed.every(({ consentRevocable }) => consentRevocable),
      validUntil: body.validUntil,
      expiresAt: body.expiresAt
    })
    return ProposalSteps.replacing(proposal, replaces?.cid ?? null, (cid) =>
      exercise(IssuerPowersConsentOffer, cid, "Withdraw", {})
    )
  }),
  finish: (_, act) =>
    Effect.map(
      ProposalSteps.opened(issuerPowersConsents, idOf(act.operationId)),
      IssuerPowersConsentView.of
    )
})

const loaded = Effect.fnUntraced(function* (body: Body) {
  const records = yield* Records
  const holder = yield* records.get(holders, body.holderId)
  const instrument =
    body.instrumentId === null ? null : yield* records.get(instruments, body.instrumentId)
  yield* Effect.fromResult(decideHolder(holder, { on: "ask-consent" }))
  return { holder, instrument, agreed: yield* agreedFor(body) }
})
