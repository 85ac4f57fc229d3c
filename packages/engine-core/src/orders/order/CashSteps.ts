/** Reserves lines of bank statements for an order, so that each line pays one order. */
import { Effect } from "effect"
import type { Objection } from "../../kernel/Gates.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Redemption, redemptions } from "../redemption/Redemption.ts"
import { RedemptionMachine } from "../redemption/RedemptionMachine.ts"
import * as Cash from "./CashLine.ts"
import { owesRefund, type Subscription, subscriptions } from "../subscription/Subscription.ts"
import { SubscriptionMachine } from "../subscription/SubscriptionMachine.ts"

type Order = Pick<Cash.Paying, "kind" | "orderId">

/** Bank lines named for an order, and their reservations. */
export interface Named {
  readonly order: Order
  readonly cash: ReadonlyArray<Cash.CashLine>
  /** Reservations that exist already, by line. */
  readonly reserved: ReadonlyMap<string, Stored<Cash.Paying>>
  /** Row of the check that no line pays another order; a line that its order did not use is free. */
  readonly against: Objection
}

/** Loads the reservations of the bank lines named for an order, and the other orders that hold them. */
export const named = Effect.fnUntraced(function* (
  order: Order,
  cash: ReadonlyArray<Cash.CashLine>
) {
  const records = yield* Records
  const found = yield* records.many(Cash.cashLines, cash.map(Cash.nameOf))
  const elsewhere = found.filter((line) => !isOf(line, order))
  const idsOf = (kind: Cash.Paying["kind"]) =>
    elsewhere.filter((line) => line.kind === kind).map(({ orderId }) => orderId)
  const bought = yield* records.many(subscriptions, idsOf("subscription"))
  const sold = yield* records.many(redemptions, idsOf("redemption"))
  const paid = { bought, sold }
  const taken = elsewhere.find((line) => !isFree(line, paid))
  return {
    order,
    cash,
    reserved: new Map(found.map((line) => [Cash.nameOf(line), line])),
    against: Cash.againstTaken(taken)
  } satisfies Named
})

/**
 * Reserves the bank lines for their order, in the transaction that plans and checks the act: from then
 * on no other order can count them.
 */
export const take = Effect.fnUntraced(function* (
  { order, cash, reserved }: Named,
  act: OperationAct
) {
  const records = yield* Records
  for (const line of cash) {
    const reservation = reserved.get(Cash.nameOf(line))
    if (reservation === undefined) {
      yield* records
        .open(Cash.cashLines, { ...line, ...order }, act)
        .pipe(Effect.catchTag("Refused", (refusal) => Effect.die(new Error(refusal.slug))))
    } else {
      const { amount } = line
      yield* records.record(Cash.cashLines, reservation, { on: "take", ...order, amount }, act)
    }
  }
})

const isOf = (line: Order, { kind, orderId }: Order): boolean =>
  line.kind === kind && line.orderId === orderId

/** Checks whether a reserved line is free again: its order ended and did not use the line. */
const isFree = (
  line: Cash.Paying,
  paid: {
    readonly bought: ReadonlyArray<Subscription>
    readonly sold: ReadonlyArray<Redemption>
  }
): boolean => {
  if (line.kind === "subscription") {
    const self = paid.bought.find(({ subscriptionId }) => subscriptionId === line.orderId)
    if (self === undefined) return true
    // A closed order that still owes its refund may have reserved the line for that refund.
    const hasEnded = Machine.isTerminal(SubscriptionMachine, self.state) && !owesRefund(self)
    return isUnused([...self.cash.lines, ...self.refunds], hasEnded, line)
  }
  const self = paid.sold.find(({ redemptionId }) => redemptionId === line.orderId)
  if (self === undefined) return true
  return isUnused(self.cash.lines, Machine.isTerminal(RedemptionMachine, self.state), line)
}

const isUnused = (
  lines: ReadonlyArray<Cash.CashLine>,
  hasEnded: boolean,
  line: Cash.Paying
): boolean => hasEnded && !lines.some((used) => Cash.nameOf(used) === Cash.nameOf(line))
