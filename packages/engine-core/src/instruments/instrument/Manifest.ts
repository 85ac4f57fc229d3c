/** Manifest of an instrument: the terms that the venue records. */
import { Effect, Schema } from "effect"
import * as Duration from "../../kernel/Duration.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as TimeOfDay from "../../kernel/TimeOfDay.ts"
import * as Zone from "../../kernel/Zone.ts"
import { isCurrency } from "../../kernel/Currency.ts"
import * as Field from "../../templates/Field.ts"
import * as sets from "../../vocabulary/sets.ts"
import * as PolicyTerms from "../policy/PolicyTerms.ts"
import { isCusip, isFigi, isIsin, isLei } from "./InstrumentRules.ts"
import * as Amount from "../../vocabulary/Amount.ts"

export const InstrumentId = RecordId.make("InstrumentId")
export type InstrumentId = typeof InstrumentId.Type

const name = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))
/**
 * Currency as stored: an instrument recorded earlier may have one that the standard does not list.
 */
const keptCurrency = Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/))
/** Currency as requests may name it. */
const currency = keptCurrency.check(
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

export const Identifiers = Schema.Struct({
  isin: identifier("an ISIN with its check digit", isIsin),
  cusip: identifier("a CUSIP with its check digit", isCusip),
  figi: identifier("a FIGI with its check digit", isFigi),
  issuerLei: identifier("an LEI with its check digits", isLei),
  others: Schema.Array(Schema.Struct({ scheme: name, id: name }))
    .check(Schema.isMaxLength(32))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
})

export const Display = Schema.Struct({
  displayName: Field.optional(name),
  symbol: Field.optional(name),
  currency: Field.optional(name),
  decimalsForDisplay: Field.optional(places)
})

export const Calendar = Schema.Struct({
  frequency: sets.DistributionFrequency.schema,
  recordDay: Integer.between({ minimum: 1, maximum: 31 }),
  paymentLagDays: Integer.between({ minimum: 0, maximum: 366 })
})

export const DistributionTerms = Schema.Struct({
  schedule: sets.DistributionSchedule.schema,
  withholding: Amount.rate,
  payoutDecimals: places,
  payout: sets.PayoutForm.schema,
  calendar: Field.optional(Calendar)
})

/** When orders of a day close, on the wall clock of a named zone: never an offset. */
export const CutOff = Schema.Struct({
  time: TimeOfDay.schema,
  days: Schema.Array(sets.Weekday.schema).check(
    Schema.isMinLength(1),
    Schema.isUnique({ expected: "days that do not repeat" })
  ),
  zone: Zone.schema
})
export type CutOff = typeof CutOff.Type

export const Fees = Schema.Struct({ subscription: Amount.part, redemption: Amount.part })
export type Fees = typeof Fees.Type

export const Swing = Schema.Struct({ threshold: Amount.rate, up: Amount.part, down: Amount.part })
export type Swing = typeof Swing.Type

/** How far a NAV may move against the last accepted point, as parts of it. */
export const Guardrail = Schema.Struct({ up: Amount.share, down: Amount.part })
export type Guardrail = typeof Guardrail.Type

const graceMax = Duration.days(31)

/** Bounds the grace time: with an endless one no statement would ever be missing. */
const grace = Duration.schema.check(
  Schema.makeFilter(
    (one) =>
      Duration.isExact(one) && Duration.nanos(one) <= Duration.nanos(graceMax)
        ? undefined
        : "at most P31D, in days or less",
    { expected: "at most P31D, in days or less" }
  )
)

/** The administrator's feed, and how long after the cut-off its statement may come. */
export const NavFeedTerms = Schema.Struct({
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
  cutOff: CutOff,
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
  ...fields
}).annotate({ identifier: "InstrumentBody", description: "An instrument as the venue records it." })
export type Body = typeof Body.Type

const { NullOr, optionalKey } = Schema
const changed = <S extends Schema.Constraint>(schema: S) => optionalKey(schema)
const cleared = <S extends Schema.Constraint>(schema: S) => optionalKey(NullOr(schema))

/**
 * What policy.set may say: any term, each whole. One that is left out stays as the version replaced
 * has it, null takes an optional one away. The guardrail has the name it has in a policy's body.
 */
export const changes = {
  valuation: changed(sets.ValuationMode.schema),
  oracle: cleared(Party.schema),
  currency: changed(currency),
  unitDecimals: changed(places),
  parValue: cleared(Amount.price),
  holderCap: changed(fields.holderCap),
  distribution: changed(DistributionTerms),
  identifiers: changed(Identifiers),
  legalName: cleared(name),
  businessZone: cleared(Zone.schema),
  display: changed(Display),
  cutOff: changed(CutOff),
  pricing: changed(sets.PricingRule.schema),
  fees: changed(Fees),
  minimumSubscription: cleared(Amount.cashLeast),
  minimumHolding: cleared(Amount.unitsLeast),
  swing: cleared(Swing),
  guardrail: cleared(Guardrail),
  residual: changed(sets.ResidualRule.schema),
  navFeed: cleared(NavFeedTerms),
  window: changed(PolicyTerms.Window),
  limits: changed(PolicyTerms.Limits),
  tolerances: changed(PolicyTerms.Tolerances),
  deliverBeforeCash: changed(Schema.Boolean),
  partialDistribution: changed(sets.PartialDistribution.schema),
  rateChange: changed(sets.RateChange.schema),
  rescreenAfter: cleared(PolicyTerms.RescreenAfter),
  grace: changed(PolicyTerms.Graces)
} as const

const Changes = Schema.Struct(changes)
export type Changes = typeof Changes.Type
