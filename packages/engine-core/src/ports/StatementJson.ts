/**
 * Schema of a statement's own form: one JSON object, the header's members and an array `lines`
 * (docs/domain/statements.md#json). Every decimal is a string.
 */
import { Schema } from "effect"
import * as Date from "../kernel/Date.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import { CashDirection, StatementBasis, StatementKind } from "../vocabulary/sets.ts"

const Text = Schema.String.check(Schema.isMinLength(1))

/** A member that a file leaves out, or states as null. */
const optional = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.NullOr(schema))

const Magnitude = Decimal.textOf({
  is: (decimal) => Decimal.atLeast(decimal, Decimal.zero),
  expected: `a decimal of 0 or more, with ${Decimal.digits}`,
  description: `A decimal of 0 or more as a string, with ${Decimal.digits}.`
})

/** Line of a statement of holdings. */
export const HoldingsLine = Schema.Struct({
  account: Text,
  quantity: Decimal.text,
  locked: optional(Decimal.text)
})

/** Line of a statement of cash; without a currency, in that of the statement. */
export const CashEntry = Schema.Struct({
  bookingDate: Date.schema,
  valueDate: optional(Date.schema),
  amount: Magnitude,
  currency: optional(Text),
  direction: CashDirection.schema,
  bankReference: optional(Text),
  reference: optional(Text),
  counterparty: optional(Schema.Struct({ name: optional(Text), account: optional(Text) })),
  /** True where the bank marks the entry as taking back an earlier one. */
  reversal: optional(Schema.Boolean)
})

/** Line of a custodian's statement. */
export const CustodyLine = Schema.Struct({
  asset: Text,
  account: Text,
  quantity: Decimal.text
})

/** Statement of a net asset value in JSON. */
export const Nav = Schema.Struct({
  official: Magnitude,
  indicative: optional(Magnitude),
  indicativeAsOf: optional(Instant.schema),
  expiresAt: optional(Instant.schema),
  ripcord: Schema.Boolean
})

/** Members of the file besides `lines`. */
export const Header = Schema.Struct({
  kind: StatementKind.schema,
  businessDate: Date.schema,
  asOf: optional(Instant.schema),
  period: optional(Schema.Struct({ from: Instant.schema, to: Instant.schema })),
  reference: optional(Text),
  currency: optional(Text),
  account: optional(Text),
  isin: optional(Text),
  totalQuantity: optional(Magnitude),
  totalAmount: optional(Decimal.text),
  lineCount: optional(Integer.between({ minimum: 0, maximum: 10_000_000 })),
  basis: optional(StatementBasis.schema),
  opening: optional(Decimal.text),
  closing: optional(Decimal.text),
  nav: optional(Nav)
})
export type Header = typeof Header.Type

/** Schema of a line by the statement's kind; a statement of a NAV has no lines. */
export const lines = {
  holdings: HoldingsLine,
  cash: CashEntry,
  custody: CustodyLine
} as const

/** The whole file. A reader takes the lines one by one, by the schema of the kind. */
export const File = Schema.Struct({
  ...Header.fields,
  lines: Schema.optionalKey(Schema.Array(Schema.Union([HoldingsLine, CashEntry, CustodyLine])))
})
