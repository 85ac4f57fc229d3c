/**
 * Templates of admission: the registrar's consent, the venue's offer, the holder's credential,
 * registration and terms.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { Claim } from "./Registry.ts"
import { define } from "./Template.ts"
import type { TypeRef } from "./Template.ts"

const admission = (entity: string): TypeRef => ({
  packageName: "bursar-admin-v1",
  module: "Bursar.Admin.Admission",
  entity
})
const holder = (entity: string): TypeRef => ({
  packageName: "bursar-admin-v1",
  module: "Bursar.Admin.Holder",
  entity
})

const created = Schema.Struct({ contractId: Field.contractId })
const nothing = { consuming: true, argument: Field.unit, result: Field.unit } as const
const making = { consuming: true, argument: Field.unit, result: created } as const

const consent = Schema.Struct({
  venue: Field.party,
  admissionConsentId: Field.text,
  registrar: Field.party,
  fund: Field.party,
  instrumentId: Field.text,
  terms: Field.text
})

/** Proposal of a registrar's consent that the venue admits holders to its instrument. */
export const AdmissionConsentProposal = define({
  typeRef: admission("AdmissionConsentProposal"),
  payload: consent,
  choices: { Accept: making, Decline: nothing, Withdraw: nothing }
})

const offered = {
  holder: Field.party,
  credentialId: Field.text,
  claims: Field.list(Claim),
  validFrom: Field.optional(Field.instant),
  validUntil: Field.optional(Field.instant),
  expiresAt: Field.optional(Field.instant)
}

/** Consent of a registrar that the venue admits holders to its instrument. */
export const AdmissionConsent = define({
  typeRef: admission("AdmissionConsent"),
  payload: consent,
  choices: {
    Offer: { consuming: false, argument: Schema.Struct(offered), result: created },
    Revoke: nothing
  }
})

/** Offer of admission to an instrument, which the holder accepts. */
export const AdmissionOffer = define({
  typeRef: admission("AdmissionOffer"),
  payload: Schema.Struct({
    venue: Field.party,
    registrar: Field.party,
    instrumentId: Field.text,
    ...offered
  }),
  choices: { Accept: making, Decline: nothing, Withdraw: nothing }
})

const registration = Schema.Struct({
  venue: Field.party,
  holderId: Field.text,
  holder: Field.party,
  custodian: Field.optional(Field.party),
  /** The holderId this registration follows. */
  predecessor: Field.optional(Field.text),
  attributesDigest: Field.digest,
  validUntil: Field.optional(Field.instant)
})

/** Invitation of a party to be a holder at the venue. */
export const HolderInvitation = define({
  typeRef: holder("HolderInvitation"),
  payload: registration,
  choices: { Accept: making, Decline: nothing, Withdraw: nothing }
})

/** Registration of a party as a holder. */
export const HolderRegistration = define({
  typeRef: holder("HolderRegistration"),
  payload: registration,
  choices: {
    SetAttributes: {
      consuming: true,
      argument: Schema.Struct({
        attributesDigest: Field.digest,
        validUntil: Field.optional(Field.instant)
      }),
      result: created
    },
    InviteSuccessor: {
      consuming: false,
      argument: Schema.Struct({ holderId: Field.text, holder: Field.party }),
      result: created
    },
    Close: nothing
  }
})

const terms = {
  venue: Field.party,
  holder: Field.party,
  holderId: Field.text,
  documentHash: Field.digest,
  signedAt: Field.instant
}

/** Terms as a party signed them. */
export const SignedTerms = define({
  typeRef: holder("SignedTerms"),
  payload: Schema.Struct(terms),
  choices: { AcceptTerms: making, Withdraw: nothing }
})

/** Terms that a party accepted, with the instant. */
export const AcceptedTerms = define({
  typeRef: holder("AcceptedTerms"),
  payload: Schema.Struct({ ...terms, acceptedAt: Field.instant }),
  choices: {}
})
