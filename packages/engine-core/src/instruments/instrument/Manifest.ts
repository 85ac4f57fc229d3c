/** Manifest of an instrument: the terms that the venue records. */
import { Effect, Schema } from "effect"
import * as Duration from "../../kernel/Duration.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as ReadableText from "../../kernel/ReadableText.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as TimeOfDay from "../../kernel/TimeOfDay.ts"
import * as Zone from "../../kernel/Zone.ts"
import { isCurrency } from "../../kernel/Currency.ts"
import * as Field from "../../templates/Field.ts"
import * as sets from "../../vocabulary/sets.ts"
import * as PolicyTerms from "../policy/PolicyTerms.ts"
import { isCusip, isFigi, isIsin, isLei } from "../../kernel/CheckDigits.ts"
import * as Amount from "../../kernel/Amount.ts"

export const InstrumentId = RecordId.make("InstrumentId")
export type InstrumentId = typeof InstrumentId.Type

const nameMax = 200
/** Text as stored: an earlier one may be none that requests may name. */
const name = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(nameMax))
/** Text as requests may name it (docs/domain/instruments.md#terms). */
const readable = ReadableText.line(nameMax)
/**
 * Currency as stored: an instrument recorded earlier may have one that the standard does not list.
 */
const keptCurrency = Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/))
/** Currency as requests may name it. */
export const currency = keptCurrency.check(
  Schema.makeFilter((code) => (isCurrency(code) ? undefined : "a currency code of ISO 4217"), {
    expected: "a currency code of ISO 4217"
  })
)
const places = Integer.between({ minimum: 0, maximum: 10 })

const identifier = (expected: string, is: (text: string) => boolean) =>
  Field.optional(
    Schema.String.check(
      Schema.makeFilter((text) => (is(text) ? undefined : expected), { expected })
    )
  )

const Identifiers = Schema.Struct({
  isin: identifier("an ISIN with its check digit", isIsin),
  cusip: identifier("a CUSIP with its check digit", isCusip),
  figi: identifier("a FIGI with its check digit", isFigi),
  issuerLei: identifier("an LEI with its check digits", isLei),
  others: Schema.Array(Schema.Struct({ scheme: name, id: name }))
    .check(Schema.isMaxLength(32))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
})

const statedIdentifiers = Schema.Struct({
  ...Identifiers.fields,
  others: Schema.Array(Schema.Struct({ scheme: readable, id: readable }))
    .check(Schema.isMaxLength(32))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
})

const Display = Schema.Struct({
  displayName: Field.optional(name),
  symbol: Field.optional(name),
  currency: Field.optional(name),
  decimalsForDisplay: Field.optional(places)
})

const statedDisplay = Schema.Struct({
  ...Display.fields,
  displayName: Field.optional(readable),
  symbol: Field.optional(readable),
  currency: Field.optional(readable)
})

export const Calendar = Schema.Struct({
  frequency: sets.DistributionFrequency.schema,
  recordDay: Integer.between({ minimum: 1, maximum: 31 }),
  paymentLagDays: Integer.between({ minimum: 0, maximum: 366 })
})

/** Two digits, as in box 1 of Form 1042-S. */
const incomeCode = Schema.String.check(Schema.isPattern(/^[0-9]{2}$/))

const DistributionTerms = Schema.Struct({
  schedule: sets.DistributionSchedule.schema,
  withholding: Amount.rate,
  payoutDecimals: places,
  payout: sets.PayoutForm.schema,
  calendar: Field.optional(Calendar),
  /** Code of the income on tax statements. */
  incomeCode: Field.optional(incomeCode)
})

/** Cut-off of orders: weekdays and wall-clock time in a named time zone. */
export const CutOffTerms = Schema.Struct({
  time: TimeOfDay.schema,
  days: Schema.Array(sets.Weekday.schema).check(
    Schema.isMinLength(1),
    Schema.isUnique({ expected: "days that do not repeat" })
  ),
  zone: Zone.schema
})
export type CutOffTerms = typeof CutOffTerms.Type

export const Fees = Schema.Struct({ subscription: Amount.part, redemption: Amount.part })
export type Fees = typeof Fees.Type

export const Swing = Schema.Struct({ threshold: Amount.rate, up: Amount.part, down: Amount.part })
export type Swing = typeof Swing.Type

/** Largest move of a NAV against the latest accepted point, as parts of that point. */
export const Guardrail = Schema.Struct({ up: Amount.share, down: Amount.part })
export type Guardrail = typeof Guardrail.Type

const graceMax = Duration.days(31)

/** Grace time with an upper limit: with an unlimited one no statement would ever be missing. */
const grace = Duration.schema.check(
  Schema.makeFilter(
    (duration) =>
      Duration.isExact(duration) && Duration.nanos(duration) <= Duration.nanos(graceMax)
        ? undefined
        : "at most P31D, in days or less",
    { expected: "at most P31D, in days or less" }
  )
)

/** The administrator's feed, and the time after the cut-off within which its statement is due. */
const NavFeedTerms = Schema.Struct({
  externalSourceId: name,
  grace: Field.optional(grace)
})

const fields = {
  valuation: sets.ValuationMode.schema,
  oracle: Field.optional(Party.schema),
  currency,
  unitDecimals: places,
  parValue: Field.optional(Amount.price),
  holderCap: Integer.between({ minimum: 1, maximum: 1_000_000_000 }),
  distribution: DistributionTerms,
  identifiers: Identifiers.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  legalName: Field.optional(name),
  businessZone: Field.optional(Zone.schema),
  display: Display.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  cutOff: CutOffTerms,
  pricing: sets.PricingRule.schema,
  fees: Fees,
  minimumSubscription: Field.optional(Amount.cashLeast),
  minimumHolding: Field.optional(Amount.unitsLeast),
  swing: Field.optional(Swing),
  navGuardrail: Field.optional(Guardrail),
  residual: sets.ResidualRule.schema,
  navFeed: Field.optional(NavFeedTerms)
} as const

/**
 * All terms that an instrument's orders are judged under: set by instrument.record first, by
 * policy.set later. A policy version holds the whole struct, so that no term is stored twice.
 */
export const Manifest = Schema.Struct({
  ...fields,
  currency: keptCurrency,
  ...PolicyTerms.fields
})
export type Manifest = typeof Manifest.Type

/** The body of instrument.record. */
export const Body = Schema.Struct({
  instrumentId: InstrumentId,
  registrar: Party.schema,
  ...fields,
  identifiers: statedIdentifiers.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  legalName: Field.optional(readable),
  display: statedDisplay.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
}).annotate({ identifier: "InstrumentBody", description: "An instrument as the venue records it." })
export type Body = typeof Body.Type

const { NullOr, optionalKey } = Schema
const changeable = <S extends Schema.Constraint>(schema: S) => optionalKey(schema)
const clearable = <S extends Schema.Constraint>(schema: S) => optionalKey(NullOr(schema))

/**
 * Members of policy.set: any term, each as a whole. A term that is left out stays as in the version
 * replaced; null removes an optional one. `guardrail` is the manifest's `navGuardrail`.
 */
export const changes = {
  valuation: changeable(sets.ValuationMode.schema),
  oracle: clearable(Party.schema),
  currency: changeable(currency),
  unitDecimals: changeable(places),
  parValue: clearable(Amount.price),
  holderCap: changeable(fields.holderCap),
  distribution: changeable(DistributionTerms),
  identifiers: changeable(statedIdentifiers),
  legalName: clearable(readable),
  businessZone: clearable(Zone.schema),
  display: changeable(statedDisplay),
  cutOff: changeable(CutOffTerms),
  pricing: changeable(sets.PricingRule.schema),
  fees: changeable(Fees),
  minimumSubscription: clearable(Amount.cashLeast),
  minimumHolding: clearable(Amount.unitsLeast),
  swing: clearable(Swing),
  guardrail: clearable(Guardrail),
  residual: changeable(sets.ResidualRule.schema),
  navFeed: clearable(NavFeedTerms),
  window: changeable(PolicyTerms.Window),
  limits: changeable(PolicyTerms.Limits),
  tolerances: changeable(PolicyTerms.Tolerances),
  deliverBeforeCash: changeable(Schema.Boolean),
  partialDistribution: changeable(sets.PartialDistribution.schema),
  rateChange: changeable(sets.RateChange.schema),
  rescreenAfter: clearable(PolicyTerms.RescreenAfter),
  grace: changeable(PolicyTerms.Graces)
} as const

const Changes = Schema.Struct(changes)
export type Changes = typeof Changes.Type
