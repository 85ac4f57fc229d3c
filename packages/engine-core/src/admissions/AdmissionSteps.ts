/** Steps of offering and ending an admission: terms, input of the gates, ledger commands. */
import { latestOf } from "../agreements/ProposalSteps.ts"
import { Effect, Schema } from "effect"
import type { Instrument } from "../instruments/instrument/Instrument.ts"
import { recorded } from "../instruments/instrument/InstrumentGates.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Party } from "../kernel/Party.ts"
import type { OperationAct } from "../records/Act.ts"
import { AdmissionConsent } from "../templates/Admission.ts"
import * as Field from "../templates/Field.ts"
import { exercise } from "../templates/Template.ts"
import { admissionConsent } from "./AdmissionConsent.ts"
import { ending } from "./AdmissionEnding.ts"
import { latest, onLedger, requiredOf } from "./AdmissionLookups.ts"
import type { OfferContext } from "./AdmissionRules.ts"
import { takenOf } from "./PlaceSteps.ts"

const word = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/** Members of an offer; its claims meet the registry's holder requirements. */
export const offer = {
  validFrom: Field.optional(Instant.schema),
  validUntil: Field.optional(Instant.schema),
  expiresAt: Field.optional(Instant.schema),
  claims: Schema.Array(Schema.Struct({ property: word, value: word }))
    .check(Schema.isMaxLength(32))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
} as const
const ConsentTerms = Schema.Struct(offer)
export type ConsentTerms = typeof ConsentTerms.Type

/** Id of the nth admission that an operation offers, and of its credential on the ledger. */
export const idOf = (operationId: string, nth = 0): string =>
  operationId.replace(/^op_/, "adm_") + (nth === 0 ? "" : `.${nth}`)

/** Loads everything that the conditions of an offer need. */
export const offeringOf = Effect.fnUntraced(function* (offerInput: {
  readonly holderId: string
  readonly holder: OfferContext["holder"]
  readonly instrument: Instrument
  readonly terms: Pick<ConsentTerms, "expiresAt" | "validFrom" | "validUntil">
  readonly act: OperationAct
}) {
  const { act, holder, terms } = offerInput
  // An instrument that the manifest does not record is refused before any gate.
  const instrument = yield* Effect.fromResult(recorded(offerInput.instrument))
  const { instrumentId } = instrument
  const consent = yield* latestOf(admissionConsent, instrumentId)
  const taken = yield* takenOf(instrument, act, offerInput.holderId)
  const offering: OfferContext = {
    holder,
    instrument,
    latest: yield* latest({ holderId: offerInput.holderId, instrumentId }),
    consent,
    required: yield* requiredOf(instrument),
    takenPlaces: taken.count,
    expiresAt: terms.expiresAt,
    validFrom: terms.validFrom,
    validUntil: terms.validUntil,
    now: act.now
  }
  return { offering, taken, consentCid: consent?.consentCid ?? null }
})

/** Makes the command that offers the credential under the registrar's consent. */
export const offerCommand = ({
  consentCid,
  admissionId,
  party,
  terms
}: {
  readonly consentCid: string
  readonly admissionId: string
  readonly party: Party
  readonly terms: ConsentTerms
}) =>
  exercise(AdmissionConsent, consentCid, "Offer", {
    holder: party,
    credentialId: admissionId,
    claims: terms.claims.map((claim) => ({ subject: party, ...claim })),
    validFrom: terms.validFrom,
    validUntil: terms.validUntil,
    expiresAt: terms.expiresAt
  })

/**
 * Makes the commands that end the offers and credentials of a holder that is closed, up to the
 * limit; expired ones included, so that a ledger whose clock is behind lets nobody accept one later.
 */
export const endingsOf = Effect.fnUntraced(function* (holderId: string, limit: number) {
  const found = yield* onLedger([holderId])
  return found.slice(0, limit).map(ending)
})
