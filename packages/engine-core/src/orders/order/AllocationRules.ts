/** Pure rules of allocations: whether an order's allocations cover it, and until when. */
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"

/** An allocation for an order, and its deadline on the ledger. */
interface OrderAllocation {
  readonly amount: Decimal.Decimal
  readonly settleBefore: Instant.Instant
}

/** An order with its allocations; a subscription has no units allocation and no proceeds. */
interface AllocatedOrder {
  readonly allocation: OrderAllocation | null
  readonly proceeds?: Decimal.Decimal | null
  readonly unitsAllocation?: OrderAllocation | null
  readonly units: Decimal.Decimal | null
}

/**
 * Checks whether the units allocation covers the units of the order. An order by amount has no units
 * before its price, and any allocation covers it until then.
 */
export const unitsStand = ({
  units,
  unitsAllocation
}: Pick<AllocatedOrder, "units" | "unitsAllocation">): boolean =>
  unitsAllocation !== undefined &&
  unitsAllocation !== null &&
  (units === null || Decimal.atLeast(unitsAllocation.amount, units))

const inTime = (allocation: OrderAllocation | null | undefined, now: Instant.Instant): boolean =>
  allocation !== undefined && allocation !== null && Instant.isBefore(now, allocation.settleBefore)

/**
 * Returns the order as its acts are checked: without an allocation that is past its deadline or of
 * another amount than the order needs. Such an allocation stays on the ledger until its owner withdraws
 * it, but the venue cannot use it.
 */
export const asServed = <O extends AllocatedOrder>(order: O, now: Instant.Instant): O => {
  const { allocation, proceeds, unitsAllocation } = order
  const isPaid = allocation !== null && (proceeds ?? allocation.amount) === allocation.amount
  return {
    ...order,
    allocation: isPaid && inTime(allocation, now) ? allocation : null,
    ...(unitsAllocation === undefined
      ? {}
      : {
          unitsAllocation:
            unitsStand(order) && inTime(unitsAllocation, now) ? unitsAllocation : null
        })
  }
}

/**
 * Checks that an order settles before its `settleBy`: from then on it has expired, and its next act is its
 * release (docs/domain/orders.md#release). Null: it does not expire.
 */
export const againstSettleBy = (
  { settleBy }: { readonly settleBy: Instant.Instant | null },
  now: Instant.Instant
): Judgement => condition("settle-by", settleBy === null || Instant.isBefore(now, settleBy))
