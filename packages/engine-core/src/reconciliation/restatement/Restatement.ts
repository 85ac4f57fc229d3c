/** Answer of a restatement: what holders are owed where a NAV was corrected after it priced. */
import { Schema } from "effect"
import { DistributionId } from "../../distributions/distribution/DistributionTerms.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Basis from "../../kernel/Basis.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { ExternalStatementId } from "../../statements/external-statement/ExternalStatement.ts"
import * as Field from "../../templates/Field.ts"
import * as sets from "../../vocabulary/sets.ts"

const { Array: List, NullOr, String: Text, Struct } = Schema

export const RestatedRow = Struct({
  resourceKind: sets.RestatedKind.schema,
  /** Id of the order or the line; of a payee without a line that of the distribution. */
  id: Text,
  /** Null for a party that is no holder. */
  holderId: NullOr(Text),
  field: sets.RestatedField.schema,
  /** `units`, or the currency. */
  unit: Text,
  /** The figure as it was dealt; below 0 where the holder pays it or gives it. */
  was: Decimal.schema,
  /** The figure at the corrected NAV. */
  should: Decimal.schema,
  /** `should` less `was`: above 0 the holder has too little. */
  owed: Decimal.schema,
  /** Formulas and inputs of `should`, its own last. */
  basis: List(Basis.Basis)
}).annotate({
  identifier: "RestatedRow",
  description: "A figure of an order or a line as it was dealt, and as it is at the corrected NAV."
})
export type RestatedRow = typeof RestatedRow.Type

export const RestatedTotal = Struct({ unit: Text, owed: Decimal.schema }).annotate({
  identifier: "RestatedTotal",
  description: "What holders are owed in a unit, those that have too much counted below 0."
})
export type RestatedTotal = typeof RestatedTotal.Type

/** A distribution whose lines cannot be computed again. */
const NotComputed = Struct({
  distributionId: DistributionId,
  why: sets.BasisMissing.schema
}).annotate({
  identifier: "DistributionNotComputed",
  description: "A distribution whose lines cannot be computed again, and why."
})
export type NotComputed = typeof NotComputed.Type

const header = {
  externalStatementId: ExternalStatementId,
  /** The statement that it corrects. */
  corrects: Text,
  instrumentId: InstrumentId,
  businessDate: Date.schema,
  /** Points of the business date that the corrected NAV does not confirm. */
  pointCids: List(Field.contractId),
  /** Official NAV before the correction, in currency per unit. */
  from: Decimal.schema,
  /** Official NAV of the statement, in currency per unit. */
  to: Decimal.schema,
  /** (to − from) / from, half up at 10 places. */
  move: Decimal.schema,
  /** Tolerance `nav-price` when the statement was received. */
  tolerance: Decimal.schema,
  /** True: the move, exactly, is larger than the tolerance. */
  over: Schema.Boolean,
  notComputed: List(NotComputed)
} as const

/** Members of a restatement besides its rows and totals. */
export const RestatementHeader = Struct(header)
export type RestatementHeader = typeof RestatementHeader.Type

export const RestatedTotals = List(RestatedTotal)

export const Restatement = Struct({
  ...header,
  rows: List(RestatedRow),
  totals: RestatedTotals
}).annotate({
  identifier: "Restatement",
  description: "Orders and distribution lines at the corrected NAV, and what is owed."
})
export type Restatement = typeof Restatement.Type
