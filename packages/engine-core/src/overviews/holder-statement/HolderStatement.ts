/** Rows of a holder's statements, computed from months and never stored (docs/domain/reports.md). */
import { Schema } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { Reference } from "../../instruments/register/Movement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Month from "../../kernel/Month.ts"
import * as Zone from "../../kernel/Zone.ts"
import { MovementKind } from "../../vocabulary/sets.ts"

const { NullOr, String: Text } = Schema

/**
 * Largest number of movements of the ledger that a month of one instrument shows; `movementCount`
 * counts all. A rebase is shown beside them.
 */
export const movementsMax = 10_000

export const StatementMovement = Schema.Struct({
  /** Number within the instrument; null for a rebase, which is no movement of the ledger. */
  seq: NullOr(Integer.schema),
  at: Instant.schema,
  /** Latest effective time so far, which decides the month. */
  ledgerTime: Instant.schema,
  kind: MovementKind.schema,
  /** Below 0 for units that left. Of a rebasing instrument at the index of the time. */
  units: Decimal.schema,
  balanceAfter: Decimal.schema,
  reference: NullOr(Reference)
}).annotate({
  identifier: "StatementMovement",
  description: "A movement of a holder's units, with a sign, and the balance that it left."
})
export type StatementMovement = typeof StatementMovement.Type

export const StatementPayment = Schema.Struct({
  distributionId: Text,
  lineId: Text,
  /** Month of the distribution. */
  month: Month.schema,
  /** Day on which the payment counts (docs/domain/reports.md#payments). */
  paidOn: Date.schema,
  gross: Decimal.schema,
  equalisation: Decimal.schema,
  withheld: Decimal.schema,
  net: Decimal.schema,
  payoutUnits: NullOr(Decimal.schema)
}).annotate({
  identifier: "StatementPayment",
  description: "A distribution that was paid to a holder in a month."
})
export type StatementPayment = typeof StatementPayment.Type

export const StatementInstrument = Schema.Struct({
  instrumentId: Text,
  opening: Decimal.schema,
  movements: Schema.Array(StatementMovement),
  movementCount: Integer.schema,
  closing: Decimal.schema,
  price: NullOr(Decimal.schema),
  priceAt: NullOr(Instant.schema),
  /** Closing at the price, rounded down to the currency's places. */
  value: NullOr(Decimal.schema),
  currency: NullOr(Text),
  paid: Schema.Array(StatementPayment)
}).annotate({
  identifier: "StatementInstrument",
  description: "Units of one instrument in a month: opening and movements add up to the closing."
})
export type StatementInstrument = typeof StatementInstrument.Type

export const HolderStatement = Schema.Struct({
  month: Month.schema,
  zone: Zone.schema,
  /** True: the ledger is so far past the month that no later point shows another row. */
  final: Schema.Boolean,
  instruments: Schema.Array(StatementInstrument)
}).annotate({
  identifier: "HolderStatement",
  description: "A holder's month: units, movements, worth and payments, instrument by instrument."
})
export type HolderStatement = typeof HolderStatement.Type

/** A month of a holder. */
export const HolderMonth = Schema.Struct({ holderId: HolderId, ...HolderStatement.fields })
export type HolderMonth = typeof HolderMonth.Type

/** Rows of statements, which are computed and never stored. */
export const holderStatements = Collection.define<HolderMonth, never>("holder-statement", {
  doc: "A month of a holder: units, movements, worth and payments.",
  id: ({ holderId, month }) => `${holderId}:${month}`,
  record: HolderMonth,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "own"
})
