/** Record and collection of dealing days: the sums of all orders of a cut-off, by which the price is swung. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Field from "../../templates/Field.ts"
import { Counts } from "./DealingCycle.ts"

/** Sums of each side as it was ordered: in cash, or in units. */
export const OrderedSums = Schema.Struct({
  subscribedCash: Decimal.schema,
  subscribedUnits: Decimal.schema,
  redeemedCash: Decimal.schema,
  redeemedUnits: Decimal.schema
})
export type OrderedSums = typeof OrderedSums.Type

export const DealingDay = Schema.Struct({
  instrumentId: InstrumentId,
  cutOffAt: Instant.schema,
  /** Number of orders that are open or settled. */
  orders: Counts,
  ordered: OrderedSums,
  /**
   * Inputs of the swing, fixed when the first order of the day was priced: they hold for every order of
   * the day, also if others leave afterwards. Null until then.
   */
  dealt: Schema.NullOr(
    Schema.Struct({
      pointCid: Field.contractId,
      at: Instant.schema,
      ordered: OrderedSums,
      /** Units outstanding just before. */
      outstanding: Decimal.schema
    })
  )
})
export type DealingDay = typeof DealingDay.Type

/** An order was claimed, withdrawn or released: the changes of the counts and sums. */
const Count = Schema.Struct({
  on: Schema.Literal("count"),
  orderId: Schema.String,
  orders: Schema.Struct({ subscriptions: Integer.schema, redemptions: Integer.schema }),
  ordered: OrderedSums
})
/** The first order of the day was priced. */
const Deal = Schema.Struct({
  on: Schema.Literal("deal"),
  pointCid: Field.contractId,
  at: Instant.schema,
  outstanding: Decimal.schema
})
export const Fact = Schema.Union([Count, Deal])
export type Fact = typeof Fact.Type

/** Key of an instrument's dealing day. */
export const idOf = ({
  instrumentId,
  cutOffAt
}: Pick<DealingDay, "instrumentId" | "cutOffAt">): string =>
  `${instrumentId}/${Instant.sortable(cutOffAt)}`

export const dealingDays = Collection.define<DealingDay, Fact>("dealing-day", {
  doc: "What was ordered of an instrument for one cut-off, all orders together.",
  id: idOf,
  record: DealingDay,
  fact: Fact,
  evolve: (self, fact) =>
    match(fact)
      .with({ on: "count" }, ({ orders, ordered }) => ({
        ...self,
        orders: {
          subscriptions: self.orders.subscriptions + orders.subscriptions,
          redemptions: self.orders.redemptions + orders.redemptions
        },
        ordered: added(self.ordered, ordered)
      }))
      .with({ on: "deal" }, ({ on: _, ...deal }) => ({
        ...self,
        dealt: { ...deal, ordered: self.ordered }
      }))
      .exhaustive(),
  keptBy: "ledger",
  continued: (_, { after, before, self }) => {
    // Orders that were claimed since, less those that ended since: a day is fixed at its first price, and
    // before that no order of it can have ended but by leaving it.
    const change = added(after.ordered, negated(before?.ordered ?? nothing))
    const ordered = atLeastNothing(added(self.ordered, change))
    const orders = {
      subscriptions: countAfter("subscriptions", { self, before, after }),
      redemptions: countAfter("redemptions", { self, before, after })
    }
    const dealt = self.dealt ?? (after.dealt === null ? null : { ...after.dealt, ordered })
    return { ...self, orders, ordered, dealt }
  },
  filters: { instrumentId: (self) => self.instrumentId },
  invariants: {
    "nobody has left who had not come": ({ orders }) =>
      orders.subscriptions >= 0 && orders.redemptions >= 0,
    "no side is below nothing": ({ ordered }) =>
      Object.values(ordered).every((figure) => !Decimal.isNegative(figure))
  }
})

const countAfter = (
  kind: keyof DealingDay["orders"],
  {
    self,
    before,
    after
  }: {
    readonly self: DealingDay
    readonly before: DealingDay | undefined
    readonly after: DealingDay
  }
): number => Math.max(0, self.orders[kind] + after.orders[kind] - (before?.orders[kind] ?? 0))

export const nothing: OrderedSums = {
  subscribedCash: Decimal.zero,
  subscribedUnits: Decimal.zero,
  redeemedCash: Decimal.zero,
  redeemedUnits: Decimal.zero
}

export const added = (self: OrderedSums, that: OrderedSums): OrderedSums => ({
  subscribedCash: Decimal.add(self.subscribedCash, that.subscribedCash),
  subscribedUnits: Decimal.add(self.subscribedUnits, that.subscribedUnits),
  redeemedCash: Decimal.add(self.redeemedCash, that.redeemedCash),
  redeemedUnits: Decimal.add(self.redeemedUnits, that.redeemedUnits)
})

const atLeastNothing = (self: OrderedSums): OrderedSums => ({
  subscribedCash: Decimal.max(Decimal.zero, self.subscribedCash),
  subscribedUnits: Decimal.max(Decimal.zero, self.subscribedUnits),
  redeemedCash: Decimal.max(Decimal.zero, self.redeemedCash),
  redeemedUnits: Decimal.max(Decimal.zero, self.redeemedUnits)
})

export const negated = (self: OrderedSums): OrderedSums => ({
  subscribedCash: Decimal.negate(self.subscribedCash),
  subscribedUnits: Decimal.negate(self.subscribedUnits),
  redeemedCash: Decimal.negate(self.redeemedCash),
  redeemedUnits: Decimal.negate(self.redeemedUnits)
})
