/** Members of a holder's record: legal data, attributes, screening, terms. */
import { Effect, Result, Schema } from "effect"
import { isLei } from "../../instruments/instrument/InstrumentRules.ts"
import { IssuerPowersConsentMachine } from "../issuer-powers-consent/IssuerPowersConsentMachine.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { isCountry } from "../../kernel/Country.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as ReadableText from "../../kernel/ReadableText.ts"
import * as Field from "../../templates/Field.ts"
import { HolderClassification } from "../../vocabulary/sets.ts"
import { AttributeMachine } from "../attribute/AttributeMachine.ts"
import { ScreeningMachine } from "../screening/ScreeningMachine.ts"

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

/** Largest number of tax residences, and of attributes in one request. */
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

const stated = {
  name: Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9-]{0,63}$/)),
  value: name,
  validFrom: Field.optional(Instant.schema),
  validUntil: Field.optional(Instant.schema),
  evidenceHash: Field.digest
} as const

/** Forms of the values that the engine computes with (docs/domain/holders.md#attributes). */
const forms: Readonly<
  Record<string, { readonly is: (value: string) => boolean; readonly expected: string }>
> = {
  "tax-rate": {
    is: (value) =>
      Result.match(Decimal.parse(value), {
        onFailure: () => false,
        onSuccess: (rate) => rate >= Decimal.zero && rate <= Decimal.one
      }),
    expected: "a tax-rate is a decimal from 0 to 1"
  },
  "tax-exemption": {
    is: (value) => /^[0-9]{2}$/.test(value),
    expected: "a tax-exemption is a code of two digits"
  }
}

/** Fault of a value that does not have the form of its name; undefined: it has, or needs none. */
const misformed = ({ name, value }: { readonly name: string; readonly value: string }) => {
  const form = Object.hasOwn(forms, name) ? forms[name] : undefined
  return form === undefined || form.is(value)
    ? undefined
    : { path: ["value"], issue: form.expected }
}

/** Fault of a value that a person cannot read; undefined: it can be read. */
const unreadable = ({ value }: { readonly value: string }) =>
  ReadableText.isLine(value) ? undefined : { path: ["value"], issue: "a text that can be read" }

/** An eligibility attribute as a caller states it, before its evidence is verified. */
export const StatedAttribute = Schema.Struct({ ...stated, value: readable }).check(
  Schema.makeFilter(misformed)
)
export type StatedAttribute = typeof StatedAttribute.Type
export const StatedList = Schema.Array(StatedAttribute).check(
  Schema.isMaxLength(entriesMax),
  Schema.makeFilter((stated: ReadonlyArray<StatedAttribute>) =>
    new Set(stated.map(({ name }) => name)).size === stated.length
      ? undefined
      : "attributes of different names"
  )
)

/** An attribute as the venue sets it, with the state it is to have. */
export const Changed = Schema.Struct({
  ...stated,
  state: Schema.Literals(["pending", "valid", "rejected", "revoked"])
}).check(
  // A value that was stored in another form can still be rejected or revoked.
  Schema.makeFilter((changed) =>
    changed.state === "rejected" || changed.state === "revoked"
      ? undefined
      : (unreadable(changed) ?? misformed(changed))
  )
)
export const ChangedList = Schema.Array(Changed).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(entriesMax)
)

export const Attribute = Schema.Struct({
  name: Schema.String,
  value: Schema.String,
  state: AttributeMachine.schema,
  validFrom: Instant.schema,
  validUntil: Schema.NullOr(Instant.schema),
  evidenceHash: Field.digest,
  setBy: Schema.String
})
export type Attribute = typeof Attribute.Type

export const Screening = Schema.Struct({
  state: ScreeningMachine.schema,
  screenedAt: Schema.NullOr(Instant.schema),
  listVersion: Schema.NullOr(Schema.String),
  validUntil: Schema.NullOr(Instant.schema)
})
export type Screening = typeof Screening.Type

/** The terms that the holder signed and the venue countersigned. */
export const Terms = Schema.Struct({
  documentHash: Field.digest,
  acceptedAt: Instant.schema,
  cid: Field.contractId
})
export type Terms = typeof Terms.Type

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
