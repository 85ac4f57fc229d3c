/** Schema of a tax statement: one person's year in a zone (docs/domain/reports.md#tax-statements). */
import { Schema } from "effect"
import { Reference } from "../../instruments/register/Movement.ts"
import * as Basis from "../../kernel/Basis.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Zone from "../../kernel/Zone.ts"
import { MovementKind } from "../../vocabulary/sets.ts"

const { Array: List, NullOr, String: Text, Struct } = Schema

const amounts = {
  gross: Decimal.schema,
  /** Part of the gross that the holder paid for when it bought; nothing is withheld on it. */
  equalisation: Decimal.schema,
  withheld: Decimal.schema,
  net: Decimal.schema
} as const

/** Sums of the amounts of payments. */
export type Amounts = { readonly [F in keyof typeof amounts]: Decimal.Decimal }

export const TaxPayment = Struct({
  distributionId: Text,
  lineId: Text,
  /** Holder of the chain that was paid. */
  holderId: Text,
  /** Day on which the payment counts (docs/domain/reports.md#payments). */
  paidOn: Date.schema,
  ...amounts
}).annotate({ identifier: "TaxPayment", description: "A payment behind a row of a tax statement." })
export type TaxPayment = typeof TaxPayment.Type

export const TaxRow = Struct({
  instrumentId: Text,
  /** The instrument's code of its income, by the policy that paid it; null: it has none. */
  incomeCode: NullOr(Text),
  /** Chapter of the law under which was withheld; always null as long as nothing is repaid. */
  chapter: NullOr(Schema.Literals(["3", "4"])),
  /** The holder's attribute `tax-exemption` that was valid when it was paid; null: none was. */
  exemptionCode: NullOr(Text),
  rate: Decimal.schema,
  ...amounts,
  /** Withheld amounts that were repaid; always 0 as long as no operation repays. */
  repaid: Decimal.schema,
  payments: List(TaxPayment)
}).annotate({
  identifier: "TaxRow",
  description: "Income of one instrument, income code, exemption and rate."
})
export type TaxRow = typeof TaxRow.Type

const Whole = Struct(amounts).annotate({
  identifier: "TaxWholeUnits",
  description:
    "Totals in whole units of the currency, each rounded from its sum by itself: they need not add up."
})

export const TaxCurrency = Struct({
  currency: Text,
  rows: List(TaxRow),
  totals: Struct({ ...amounts, repaid: Decimal.schema }),
  wholeUnits: Whole
}).annotate({
  identifier: "TaxCurrency",
  description: "Income in one currency; nothing is added across currencies."
})
export type TaxCurrency = typeof TaxCurrency.Type

export const Disposal = Struct({
  instrumentId: Text,
  lotId: Text,
  acquiredOn: Date.schema,
  disposedOn: Date.schema,
  /** Units of the lot that left; base units of a rebasing instrument. */
  units: Decimal.schema,
  /** Their share of the lot's cost; null: the cost is unknown, which is not 0. */
  cost: NullOr(Decimal.schema),
  /** Their share of the proceeds; null where there are none, such as of a burn without an order. */
  proceeds: NullOr(Decimal.schema),
  currency: Text,
  reference: NullOr(Reference)
}).annotate({
  identifier: "Disposal",
  description: "Units of one lot that were redeemed or burned."
})
export type Disposal = typeof Disposal.Type

export const TransferOut = Struct({
  instrumentId: Text,
  lotId: Text,
  acquiredOn: Date.schema,
  movedOn: Date.schema,
  /** Units of the lot that moved; base units of a rebasing instrument. */
  units: Decimal.schema,
  /** Share of the lot's cost that went along; null: the cost is unknown, which is not 0. */
  cost: NullOr(Decimal.schema),
  currency: Text,
  kind: MovementKind.schema,
  reference: NullOr(Reference)
}).annotate({
  identifier: "TransferOut",
  description:
    "Units of one lot that a transfer, a forced transfer or a recovery moved on: neither proceeds nor a gain."
})
export type TransferOut = typeof TransferOut.Type

export const TaxStatement = Struct({
  year: Integer.schema,
  zone: Zone.schema,
  /** True: the ledger is so far past the year that no payment can come into it any more. */
  final: Schema.Boolean,
  /** Always 1 as long as no operation corrects a statement. */
  version: Integer.schema,
  corrects: NullOr(Integer.schema),
  /** Holders of the chain of successors, the first of them first. */
  holderIds: List(Text),
  currencies: List(TaxCurrency),
  disposals: List(Disposal),
  transfersOut: List(TransferOut),
  basis: List(Basis.Basis)
}).annotate({
  identifier: "TaxStatement",
  description:
    "One person's year: distributions paid to all holders of a chain of successors, and the lots that left their books, disposed of or moved on."
})
export type TaxStatement = typeof TaxStatement.Type
