/** Reserves lines of bank statements for an order: each line pays one order, once. */
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

/** The lines that an order names, and what is known of them. */
export interface Named {
  readonly order: Order
  readonly cash: ReadonlyArray<Cash.CashLine>
  readonly known: ReadonlyMap<string, Stored<Cash.Paying>>
  /** Whether one of them pays another order: a line of an order that ended without it is free. */
  readonly against: Objection
}

/** Look-ups of the bank lines named for an order, one for each kind of order. */
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
    known: new Map(found.map((line) => [Cash.nameOf(line), line])),
    against: Cash.againstTaken(taken)
  } satisfies Named
})

/**
 * Takes the bank lines for their order, in the transaction that plans it and has judged them: no
 * other order can count them from here on.
 */
export const take = Effect.fnUntraced(function* ({ order, cash, known }: Named, act: OperationAct) {
  const records = yield* Records
  for (const line of cash) {
    const before = known.get(Cash.nameOf(line))
    if (before === undefined) {
      yield* records
        .open(Cash.cashLines, { ...line, ...order }, act)
        .pipe(Effect.catchTag("Refused", (again) => Effect.die(new Error(again.slug))))
    } else {
      const { amount } = line
      yield* records.record(Cash.cashLines, before, { on: "take", ...order, amount }, act)
    }
  }
})

const isOf = (line: Order, { kind, orderId }: Order): boolean =>
  line.kind === kind && line.orderId === orderId

/** Whether the order that took a line ended without it. */
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
    // An order that still owes its refund may have named the line for it.
    const hasEnded = Machine.isTerminal(SubscriptionMachine, self.state) && !owesRefund(self)
    return isLeft([...self.cash.lines, ...self.refunds], hasEnded, line)
  }
  const self = paid.sold.find(({ redemptionId }) => redemptionId === line.orderId)
  if (self === undefined) return true
  return isLeft(self.cash.lines, Machine.isTerminal(RedemptionMachine, self.state), line)
}

const isLeft = (
  lines: ReadonlyArray<Cash.CashLine>,
  hasEnded: boolean,
  line: Cash.Paying
): boolean => hasEnded && !lines.some((one) => Cash.nameOf(one) === Cash.nameOf(line))
