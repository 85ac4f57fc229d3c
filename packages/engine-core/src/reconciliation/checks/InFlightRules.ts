/**
 * Pure rules of items in flight: the amounts by which orders and locks may make a statement differ
 * from the register.
 */
import type { ExplainedItem, Items } from "../../findings/Explained.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import { burnedBy, type Redemption } from "../../orders/redemption/Redemption.ts"
import type { Subscription } from "../../orders/subscription/Subscription.ts"
import type { StatementBasis } from "../../vocabulary/sets.ts"

/** An item of a holder, with what decides whether the basis of a statement must count it. */
export interface InFlight {
  readonly holderId: string
  readonly item: ExplainedItem
  /** True while the order is priced and its units have not moved on the register. */
  readonly isUnmoved: boolean
  /** Instant by which the order settles by contract; null: none is agreed. */
  readonly settleBy: Instant.Instant | null
}

type OrderAmount = Pick<InFlight, "isUnmoved"> & {
  readonly amount: Decimal.Decimal
  readonly since: Instant.Instant
}

const ofSubscriptionAs = (
  self: Subscription,
  { amount, since, isUnmoved }: OrderAmount
): InFlight => ({
  holderId: self.holderId,
  item: {
    resourceKind: "subscription",
    id: self.subscriptionId,
    amount,
    since
  },
  isUnmoved,
  settleBy: self.settleBy
})

const ofRedemptionAs = (self: Redemption, { amount, since, isUnmoved }: OrderAmount): InFlight => ({
  holderId: self.holderId,
  item: { resourceKind: "redemption", id: self.redemptionId, amount, since },
  isUnmoved,
  settleBy: self.settleBy
})

/**
 * Item of a subscription at the moment of a statement. Of a priced one the statement may show the
 * units before the register has them; of one that is delivered and not closed it may not show them
 * yet. In other states there is no item.
 */
export const ofSubscription = (self: Subscription): ReadonlyArray<InFlight> => {
  const { lot, pricedAt, deliveredAt, state } = self
  if (lot === null || pricedAt === null) return []
  if (state === "priced") {
    return [ofSubscriptionAs(self, { amount: lot.units, since: pricedAt, isUnmoved: true })]
  }
  if (state !== "delivered") return []
  const amount = Decimal.negate(lot.units)
  return [ofSubscriptionAs(self, { amount, since: deliveredAt ?? pricedAt, isUnmoved: false })]
}

/**
 * Item of a redemption at the moment of a statement. Of a priced one the units may be gone from the
 * statement while the register has them; of one that is burned and not settled the statement may
 * still show them.
 */
export const ofRedemption = (self: Redemption): ReadonlyArray<InFlight> => {
  const { pricedAt, burnedAt, state } = self
  const units = burnedBy(self)
  if (units === null || pricedAt === null) return []
  if (state === "priced" || state === "funded") {
    const amount = Decimal.negate(units)
    return [ofRedemptionAs(self, { amount, since: pricedAt, isUnmoved: true })]
  }
  if (state !== "burned") return []
  return [ofRedemptionAs(self, { amount: units, since: burnedAt ?? pricedAt, isUnmoved: false })]
}

/** States of orders whose units move; orders that end otherwise never show in a statement. */
const ended = ["withdrawn", "released"]

/**
 * Item of a subscription that was priced after the moment of a statement and by the end of its day:
 * the statement may show its units already.
 */
export const ofLaterSubscription = (
  self: Subscription,
  moment: Instant.Instant
): ReadonlyArray<InFlight> =>
  self.lot === null ||
  self.pricedAt === null ||
  self.pricedAt <= moment ||
  ended.includes(self.endedAs ?? "")
    ? []
    : [ofSubscriptionAs(self, { amount: self.lot.units, since: self.pricedAt, isUnmoved: false })]

/**
 * Item of a redemption that was priced after the moment of a statement and by the end of its day: its
 * units may be gone from the statement already.
 */
export const ofLaterRedemption = (
  self: Redemption,
  moment: Instant.Instant
): ReadonlyArray<InFlight> => {
  const { endedAs, pricedAt } = self
  const units = burnedBy(self)
  if (units === null || pricedAt === null) return []
  if (pricedAt <= moment || ended.includes(endedAs ?? "")) return []
  const amount = Decimal.negate(units)
  return [ofRedemptionAs(self, { amount, since: pricedAt, isUnmoved: false })]
}

/** Checks whether a statement of this basis must count the order although its units have not moved. */
export const isCounted = (
  { isUnmoved, settleBy }: Pick<InFlight, "isUnmoved" | "settleBy">,
  { basis, dayEnd }: { readonly basis: StatementBasis; readonly dayEnd: Instant.Instant }
): boolean =>
  isUnmoved &&
  (basis === "trade" ||
    (basis === "contractual" && settleBy !== null && Instant.atOrBefore(settleBy, dayEnd)))

/** Splits items into those that the basis must count and those that it may count. */
export const split = (
  inFlight: ReadonlyArray<InFlight>,
  statement: { readonly basis: StatementBasis; readonly dayEnd: Instant.Instant }
): Items => ({
  must: inFlight.filter((each) => isCounted(each, statement)).map(({ item }) => item),
  may: inFlight.filter((each) => !isCounted(each, statement)).map(({ item }) => item)
})
