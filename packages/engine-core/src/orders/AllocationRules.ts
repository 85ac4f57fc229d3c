/** Pure rules of allocations: whether an order's allocations let it settle, and until when. */
import * as Decimal from "../kernel/Decimal.ts"
import { check, type Objection } from "../kernel/Gates.ts"
import * as Instant from "../kernel/Instant.ts"

/** An allocation for an order, and its deadline on the ledger. */
interface Allocated {
  readonly amount: Decimal.Decimal
  readonly settleBefore: Instant.Instant
}

/** An order with what is set aside for it; a subscription sets no units aside and is paid no proceeds. */
interface Allocating {
  readonly allocation: Allocated | null
  readonly proceeds?: Decimal.Decimal | null
  readonly unitsAllocation?: Allocated | null
  readonly units: Decimal.Decimal | null
}

/**
 * Whether the holder has locked as many units as the order takes: one by amount takes what its price
 * says, and may have been allocated to before it had one.
 */
export const unitsStand = ({
  units,
  unitsAllocation
}: Pick<Allocating, "units" | "unitsAllocation">): boolean =>
  unitsAllocation !== undefined &&
  unitsAllocation !== null &&
  (units === null || Decimal.atLeast(unitsAllocation.amount, units))

const inTime = (allocation: Allocated | null | undefined, now: Instant.Instant): boolean =>
  allocation !== undefined && allocation !== null && Instant.isBefore(now, allocation.settleBefore)

/**
 * The order as its acts are judged. An allocation that is past its time, or that is not of what the
 * order comes to, stands on the ledger until its owner takes it back and moves nothing: it counts as
 * none.
 */
export const asServed = <O extends Allocating>(order: O, now: Instant.Instant): O => {
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
 * The row of an order that would be paid and minted, or burned, in one: once its time is past it is
 * expired, and its next act is to release it (docs/domain/orders.md#release). Null: it has no end.
 */
export const againstSettleBy = (
  { settleBy }: { readonly settleBy: Instant.Instant | null },
  now: Instant.Instant
): Objection => check("settle-by", settleBy === null || Instant.isBefore(now, settleBy))
