/** Members of a holder's record: legal data, screening, terms, consent. */
import { Effect, Schema } from "effect"
import { isLei } from "../../kernel/CheckDigits.ts"
import { IssuerPowersConsentMachine } from "../issuer-powers-consent/IssuerPowersConsent.ts"
import { isCountry } from "../../kernel/Country.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as ReadableText from "../../kernel/ReadableText.ts"
import * as Field from "../../templates/Field.ts"
import { HolderClassification } from "../../vocabulary/sets.ts"
import { ScreeningMachine } from "../screening/Screening.ts"

const nameMax = 200
/** Text and country as stored: earlier ones may be what requests no longer name. */
const name = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(nameMax))
const keptCountry = Schema.String.check(Schema.isPattern(/^[A-Z]{2}$/))
/** Text and country as requests may name them (docs/domain/holders.md#registration). */
const readable = ReadableText.line(nameMax)
const aCountry = { expected: "a country code of ISO 3166-1" }
const country = keptCountry.check(
  Schema.makeFilter((code) => (isCountry(code) ? undefined : aCountry.expected), aCountry)
)
const anLei = { expected: "an LEI with its check digits" }
const lei = Schema.String.check(
  Schema.makeFilter((text) => (isLei(text) ? undefined : anLei.expected), anLei)
)

/**
 * Tax number, masked by the caller down to its last four characters, so that it is never stored
 * whole.
 */
const maskedTin = Schema.String.check(Schema.isPattern(/^[*]{0,28}[*-]{0,8}[A-Za-z0-9]{0,4}$/))

const TaxResidence = Schema.Struct({
  country: keptCountry,
  tin: Field.optional(maskedTin),
  tinType: Field.optional(name)
})

/** Largest number of tax residences. */
const entriesMax = 32

export const Details = Schema.Struct({
  legalName: Field.optional(name),
  lei: Field.optional(lei),
  classification: Field.optional(HolderClassification.schema),
  taxResidences: Schema.Array(TaxResidence)
    .check(Schema.isMaxLength(entriesMax))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
})
export type Details = typeof Details.Type

/** Details as a registration states them. */
export const statedDetails = {
  ...Details.fields,
  legalName: Field.optional(readable),
  taxResidences: Schema.Array(
    Schema.Struct({ ...TaxResidence.fields, country, tinType: Field.optional(readable) })
  )
    .check(Schema.isMaxLength(entriesMax))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
} as const

export const Screening = Schema.Struct({
  state: ScreeningMachine.schema,
  screenedAt: Schema.NullOr(Instant.schema),
  listVersion: Schema.NullOr(Schema.String),
  validUntil: Schema.NullOr(Instant.schema)
})
export type Screening = typeof Screening.Type

/** The terms that the holder signed and the venue countersigned. */
export const HolderTerms = Schema.Struct({
  documentHash: Field.digest,
  acceptedAt: Instant.schema,
  cid: Field.contractId
})
export type HolderTerms = typeof HolderTerms.Type

export const Successor = Schema.Struct({
  party: Schema.String,
  registeredAt: Instant.schema,
  usableFrom: Instant.schema
})

/** The holder's latest consent to forced acts: on one instrument, or on all when none is named. */
export const Consent = Schema.Struct({
  issuerPowersConsentId: Schema.String,
  instrumentId: Schema.NullOr(Schema.String),
  state: IssuerPowersConsentMachine.schema,
  /** The consent's latest ledger contract: the offer's, then the consent's own. */
  cid: Field.contractId,
  /** Instant at which the clock ends the consent in its present state; null: never. */
  endsAt: Schema.NullOr(Instant.schema)
})
export type Consent = typeof Consent.Type
