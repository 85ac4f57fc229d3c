/** Records of the prices that oracles published, and of the latest price of each oracle. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import * as QuoteOrder from "./QuoteOrder.ts"

const { NullOr, String: Text } = Schema

export const PricePoint = Schema.Struct({
  contractId: Field.contractId,
  instrumentId: Text,
  price: Decimal.schema,
  /** Income of one unit of a par instrument on the day; null for other valuation modes. */
  incomePerUnit: NullOr(Decimal.schema),
  withholding: NullOr(Decimal.schema),
  valuationTime: Instant.schema,
  publishedAt: Instant.schema,
  /**
   * Oracle that published the point. Any party can publish; the instrument's oracle prices orders.
   */
  source: Party.schema,
  offset: Offset.schema,
  statementId: NullOr(Text),
  /** Contract of the point that this one corrected. */
  corrects: NullOr(Field.contractId),
  /** Contract of the point that corrected this one. */
  correctedBy: NullOr(Field.contractId),
  /** Node of the publishing exercise within its transaction. */
  nodeId: Integer.schema,
  /** False after its oracle withdrew the point without a correction. */
  isLive: Schema.Boolean
}).annotate({ identifier: "PricePoint", description: "A price that an oracle published." })
export type PricePoint = typeof PricePoint.Type

export const Fact = Schema.Union([
  Schema.Struct({ on: Schema.Literal("correct"), by: Field.contractId }),
  Schema.Struct({ on: Schema.Literal("end") })
])
export type Fact = typeof Fact.Type

/** Key by which points are listed: in the order of their publication. */
export const sortKeyOf = ({ offset, nodeId }: Pick<PricePoint, "offset" | "nodeId">): string =>
  `${Offset.sortable(offset)}:${Offset.sortable(Offset.of(nodeId))}`

export const pricePoints = Collection.define<PricePoint, Fact>("price-point", {
  doc: "A price that an oracle published for an instrument.",
  id: (self) => self.contractId,
  record: PricePoint,
  fact: Fact,
  evolve: (self, fact) =>
    match(fact)
      .with({ on: "correct" }, ({ by }) => ({ ...self, correctedBy: by }))
      .with({ on: "end" }, () => ({ ...self, isLive: false }))
      .exhaustive(),
  keptBy: "ledger",
  sortKey: (self) => sortKeyOf(self),
  filters: {
    instrumentId: (self) => self.instrumentId,
    source: (self) => self.source,
    valuationTime: (self) => Instant.sortable(self.valuationTime)
  }
})

/** Latest price of one oracle for one instrument, by valuation time. */
export const Quote = Schema.Struct({ quoteId: Text, ...QuoteOrder.fields })
export type Quote = typeof Quote.Type

export const quotes = Collection.define<Quote, QuoteOrder.Fact>("quote", {
  doc: "The last price of an oracle for an instrument.",
  id: (self) => self.quoteId,
  record: Quote,
  fact: QuoteOrder.Fact,
  evolve: QuoteOrder.evolve,
  keptBy: "ledger"
})

export const quoteIdOf = ({
  source,
  instrumentId
}: {
  readonly source: string
  readonly instrumentId: string
}): string => `${source}/${instrumentId}`
