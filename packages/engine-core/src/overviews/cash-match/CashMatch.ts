/** View of a proposal that a bank line pays an order, and the collection of its rows. */
import { Schema } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as sets from "../../vocabulary/sets.ts"
import { CounterpartyView, LinePlace } from "../external-statement/StatementLineViews.ts"

const { NullOr, String: Text, Struct } = Schema

const Line = Struct({
  /** Statement in force, as a delivery or a settlement names it. */
  statementId: Text,
  line: Integer.schema,
  externalAccountId: Text,
  bookingDate: Date.schema,
  valueDate: NullOr(Date.schema),
  direction: sets.CashDirection.schema,
  currency: Text,
  amount: Decimal.plain,
  /** Cash that the entry has left, over all lines that state it. */
  left: Decimal.plain,
  bankReference: NullOr(Text),
  reference: NullOr(Text),
  counterparty: NullOr(CounterpartyView)
})

const Order = Struct({
  kind: sets.OpenOrderKind.schema,
  orderId: Text,
  instrumentId: InstrumentId,
  holderId: HolderId,
  /** `cash`: what pays the order; `refund`: what pays a part of it back. */
  pays: sets.CashPays.schema,
  /** Cash that no line has paid yet. */
  due: Decimal.plain
})

export const CashMatchView = Struct({
  line: Line,
  order: Order,
  /** The smaller of what the line has left and what is due. */
  amount: Decimal.plain,
  /** The strongest rule that holds. */
  rule: sets.CashMatchRule.schema,
  /** Number of other proposals of this line, and of other lines for this order. */
  rivals: Integer.schema,
  /** Other lines in force of the account that have the bank's reference of this one, copies among them. */
  sameReference: Schema.Array(LinePlace)
}).annotate({
  identifier: "CashMatchView",
  description: "A bank line that may pay an order; nothing is applied by it."
})
export type CashMatchView = typeof CashMatchView.Type

/** Id of a proposal: its line and its order. */
const idOf = ({ line, order }: CashMatchView): string =>
  `${line.statementId}:${line.line}/${order.kind}/${order.pays}/${order.orderId}`

export const cashMatches = Collection.define<CashMatchView, never>("cash-match", {
  doc: "A bank line that may pay an order.",
  id: idOf,
  record: CashMatchView,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "own"
})
