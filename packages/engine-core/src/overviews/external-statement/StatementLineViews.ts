/**
 * Views of the lines of a statement: units with the holder of their account, entries with the cash
 * that orders took of them (docs/domain/statements.md#reading-a-statement).
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Integer from "../../kernel/Integer.ts"
import type { EntryFacts } from "../../statements/external-statement/EntryLookups.ts"
import type * as EntryRules from "../../statements/external-statement/EntryRules.ts"
import type {
  CashEntry,
  CustodyLine,
  HoldingsLine,
  StatementLine
} from "../../statements/external-statement/StatementLine.ts"
import { matchOf } from "../../orders/order/CashLinePart.ts"
import * as sets from "../../vocabulary/sets.ts"

const { Literal, NullOr, String: Text, Struct } = Schema

/** The other party of an entry, as the bank names it. */
export const CounterpartyView = Struct({ name: NullOr(Text), account: NullOr(Text) }).annotate({
  identifier: "Counterparty",
  description: "The other party of an entry, as the bank names it."
})
type CounterpartyView = typeof CounterpartyView.Type

const Holdings = Struct({
  kind: Literal("holdings"),
  line: Integer.schema,
  /** Keyed hash of the account's number, or the holder's id or party where the source names those. */
  account: Text,
  /** Holder that the account is mapped to; null: it is not mapped to a holder. */
  holderId: NullOr(Text),
  quantity: Decimal.plain,
  locked: NullOr(Decimal.plain)
}).annotate({ identifier: "HoldingsLine", description: "Units of an account." })

/** A line of a statement. */
export const LinePlace = Struct({ externalStatementId: Text, line: Integer.schema }).annotate({
  identifier: "LinePlace",
  description: "A line of a statement."
})

const Cash = Struct({
  kind: Literal("cash"),
  line: Integer.schema,
  externalAccountId: NullOr(Text),
  bookingDate: Date.schema,
  valueDate: NullOr(Date.schema),
  amount: Decimal.plain,
  currency: Text,
  direction: sets.CashDirection.schema,
  bankReference: NullOr(Text),
  reference: NullOr(Text),
  counterparty: NullOr(CounterpartyView),
  /** Cash of the entry that orders took, over all lines that state it. */
  taken: Decimal.plain,
  match: sets.CashMatch.schema,
  /** The first line that states the entry; null: this one does, or its statement is not in force. */
  sameAs: NullOr(LinePlace),
  /** The line of the reversal by which the bank took the entry back; null: it did not. */
  reversedBy: NullOr(LinePlace)
}).annotate({ identifier: "CashEntry", description: "A booked entry of a cash account." })

const Custody = Struct({
  kind: Literal("custody"),
  line: Integer.schema,
  asset: Text,
  account: Text,
  quantity: Decimal.plain
}).annotate({ identifier: "CustodyLine", description: "Units of an asset at a custodian." })

export const StatementLineView = Schema.Union([Holdings, Cash, Custody]).annotate({
  identifier: "StatementLine",
  description: "A line of a statement, by its kind."
})
export type StatementLineView = typeof StatementLineView.Type

/** Rows of the list of a statement's lines, computed from the rows of its file. */
export const statementLines = Collection.define<StatementLineView, never>("statement-line", {
  doc: "A line of a statement of an outside party.",
  id: ({ line }) => String(line),
  record: StatementLineView,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "own"
})

/** Facts beside the lines of a page that their views show. */
export interface PageFacts {
  readonly externalAccountId: string | null
  readonly statementId: string
  /** Holder of each account that has one. */
  readonly holderOf: ReadonlyMap<string, string>
  /** Sum that orders took of the entry of each line, by the line's number. */
  readonly takenOf: ReadonlyMap<number, Decimal.Decimal>
  /** Facts of the entry of each line over all statements of the account, by the line's number. */
  readonly factsOf: ReadonlyMap<number, EntryFacts>
  /** Counterparty of an entry; asked for each entry once, in file order. */
  readonly counterpartyOf: (entry: CashEntry) => CounterpartyView | null
}

export const viewOf = (line: StatementLine, around: PageFacts): StatementLineView => {
  switch (line.kind) {
    case "holdings":
      return holdingsOf(line, around)
    case "cash":
      return entryOf(line, around)
    case "custody":
      return custodyOf(line)
  }
}

const holdingsOf = (line: HoldingsLine, { holderOf }: PageFacts): StatementLineView => ({
  ...line,
  holderId: holderOf.get(line.account) ?? null
})

const custodyOf = (line: CustodyLine): StatementLineView => line

const placeOf = ({ statementId, line }: EntryRules.LinePlace) => ({
  externalStatementId: statementId,
  line
})

const entryOf = (line: CashEntry, around: PageFacts): StatementLineView => {
  const { counterparties: _, reversal: __, ...entry } = line
  const facts = around.factsOf.get(line.line)
  const [first] = facts?.copies ?? []
  const isFirst = first === undefined || first.statementId === around.statementId
  const taken = around.takenOf.get(line.line) ?? Decimal.zero
  return {
    ...entry,
    externalAccountId: around.externalAccountId,
    counterparty: around.counterpartyOf(line),
    taken,
    match: matchOf({ amount: line.amount, taken }),
    sameAs: isFirst ? null : placeOf(first),
    reversedBy: facts?.reversedBy ? placeOf(facts.reversedBy) : null
  }
}
