/** Until when an order's own time, and what is set aside for it, let it settle. */
import type { Objection } from "../kernel/Gates.ts"
import * as Instant from "../kernel/Instant.ts"

/** What somebody locked for an order, and until when the ledger lets it be moved. */
interface Allocated {
  readonly settleBefore: Instant.Instant
}

/** An order with what is set aside for it; a subscription has no units of its own to set aside. */
interface Allocating {
  readonly allocation: Allocated | null
  readonly unitsAllocation?: Allocated | null
}

const inTime = <A extends Allocated>(allocation: A, now: Instant.Instant): A | null =>
  Instant.isBefore(now, allocation.settleBefore) ? allocation : null

/**
 * The order as its acts are judged: an allocation past its time stands on the ledger until its owner
 * takes it back, and moves nothing any more, so that it counts as none.
 */
export const withoutPast = <O extends Allocating>(order: O, now: Instant.Instant): O => {
  const { allocation, unitsAllocation } = order
  return {
    ...order,
    allocation: allocation === null ? null : inTime(allocation, now),
    ...(unitsAllocation === undefined || unitsAllocation === null
      ? {}
      : { unitsAllocation: inTime(unitsAllocation, now) })
  }
}

/**
 * The row of an order that would be paid and minted, or burned, in one: once its time is past it is
 * expired, and its next act is to release it (domain.md sections 2.13 and 2.15). Null: it has no end.
 */
export const againstSettleBy = (
  { settleBy }: { readonly settleBy: Instant.Instant | null },
  now: Instant.Instant
): Objection => [
  settleBy !== null && Instant.atOrAfter(now, settleBy),
  "rule-refused",
  {
    gate: "window",
    check: "settle-by",
    recovery: "Release the order: its time to settle passed."
  }
]
