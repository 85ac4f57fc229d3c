/** View of an instrument: flat, with null terms before the manifest records it. */
import { Schema, Struct } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as sets from "../../vocabulary/sets.ts"
import { type Instrument, InstrumentId, instruments, isOnRegistry } from "./Instrument.ts"
import { Calendar, CutOffTerms, Fees } from "./Manifest.ts"

const { NullOr, String: Text } = Schema

const Identifiers = Schema.Struct({
  isin: NullOr(Text),
  cusip: NullOr(Text),
  figi: NullOr(Text),
  issuerLei: NullOr(Text),
  others: Schema.Array(Schema.Struct({ scheme: Text, id: Text }))
})

const Display = Schema.Struct({
  displayName: NullOr(Text),
  symbol: NullOr(Text),
  currency: NullOr(Text),
  decimalsForDisplay: NullOr(Integer.schema)
})

const Distribution = Schema.Struct({
  schedule: sets.DistributionSchedule.schema,
  withholding: Decimal.plain,
  payoutDecimals: Integer.schema,
  payout: sets.PayoutForm.schema,
  calendar: NullOr(Calendar),
  incomeCode: NullOr(Text)
})

/** Pause of an instrument: the oldest open hold that a person opened; `until` is informative. */
export const Pause = Schema.Struct({
  holdId: Text,
  reason: Text,
  since: Instant.schema,
  until: NullOr(Instant.schema),
  by: Text
})
export type Pause = typeof Pause.Type

export const terms = {
  valuation: NullOr(sets.ValuationMode.schema),
  oracle: NullOr(Party.schema),
  currency: NullOr(Text),
  unitDecimals: NullOr(Integer.schema),
  parValue: NullOr(Decimal.plain),
  holderCap: NullOr(Integer.schema),
  distribution: NullOr(Distribution),
  identifiers: Identifiers,
  legalName: NullOr(Text),
  businessZone: NullOr(Zone.schema),
  display: Display,
  cutOff: NullOr(CutOffTerms),
  pricing: NullOr(sets.PricingRule.schema),
  fees: NullOr(Fees),
  minimumSubscription: NullOr(Decimal.plain),
  minimumHolding: NullOr(Decimal.plain),
  swing: NullOr(
    Schema.Struct({ threshold: Decimal.plain, up: Decimal.plain, down: Decimal.plain })
  ),
  navGuardrail: NullOr(Schema.Struct({ up: Decimal.plain, down: Decimal.plain })),
  residual: NullOr(sets.ResidualRule.schema),
  navFeed: NullOr(Schema.Struct({ externalSourceId: Text, grace: NullOr(Duration.schema) }))
} as const

/** Members of the view that come from the instrument's own record. */
export const fields = {
  instrumentId: InstrumentId,
  registrar: Party.schema,
  onRegistry: Schema.Boolean,
  inManifest: Schema.Boolean,
  policyVersion: NullOr(Integer.schema),
  ...terms
} as const

const ViewMembers = Schema.Struct(fields)
type ViewMembers = typeof ViewMembers.Type

/** Result of recording an instrument: the view of its own record. */
export const RecordedInstrumentView = Schema.Struct({ ...fields, ...RecordView.fields })
export type RecordedInstrumentView = typeof RecordedInstrumentView.Type

const withoutTerms: Omit<
  ViewMembers,
  "instrumentId" | "registrar" | "onRegistry" | "inManifest" | "policyVersion"
> = {
  valuation: null,
  oracle: null,
  currency: null,
  unitDecimals: null,
  parValue: null,
  holderCap: null,
  distribution: null,
  identifiers: { isin: null, cusip: null, figi: null, issuerLei: null, others: [] },
  legalName: null,
  businessZone: null,
  display: { displayName: null, symbol: null, currency: null, decimalsForDisplay: null },
  cutOff: null,
  pricing: null,
  fees: null,
  minimumSubscription: null,
  minimumHolding: null,
  swing: null,
  navGuardrail: null,
  residual: null,
  navFeed: null
}

export const of = (self: Instrument): ViewMembers => ({
  instrumentId: self.instrumentId,
  registrar: self.registrar,
  onRegistry: isOnRegistry(self),
  inManifest: self.manifest !== null,
  policyVersion: self.policyVersion,
  ...(self.manifest === null ? withoutTerms : Struct.pick(self.manifest, Struct.keys(withoutTerms)))
})

/** View of the instrument's own record, with the members that every view has. */
export const recorded = (self: Stored<Instrument>): RecordedInstrumentView => ({
  ...of(self),
  ...RecordView.commonOf(instruments, self)
})
