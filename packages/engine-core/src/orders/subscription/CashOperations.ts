/** Taking lines of bank statements for an order: each line pays one order, once. */
import { Effect } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { redemptions } from "../redemption/Redemption.ts"
import { RedemptionMachine } from "../redemption/RedemptionMachine.ts"
import * as Cash from "./CashLine.ts"
import { subscriptions } from "./Subscription.ts"
import { SubscriptionMachine } from "./SubscriptionMachine.ts"

/**
 * Takes the bank lines for this order, in the transaction that plans it: no other order can count
 * them from here on. A line of an order that ended without it may be taken again.
 */
export const taken = Effect.fnUntraced(function* (
  order: Pick<Cash.Paying, "kind" | "orderId">,
  cash: ReadonlyArray<Cash.CashLine>,
  act: OperationAct
) {
  const records = yield* Records
  const known = new Map(
    (yield* records.many(Cash.cashLines, cash.map(Cash.nameOf))).map((line) => [
      Cash.nameOf(line),
      line
    ])
  )
  for (const line of cash) {
    const before = known.get(Cash.nameOf(line))
    if (before === undefined) {
      yield* records
        .open(Cash.cashLines, { ...line, ...order }, act)
        .pipe(Effect.catchTag("Refused", (again) => Effect.die(new Error(again.slug))))
    } else if (isOf(before, order) || (yield* isFree(before))) {
      const { amount } = line
      yield* records.record(Cash.cashLines, before, { on: "take", ...order, amount }, act)
    } else {
      return yield* Effect.fail(
        refused("rule-refused", {
          gate: "cash",
          check: "cash-line-taken",
          detail: `Line ${line.line} of ${line.statementId} pays another order.`,
          recovery: "Name lines that pay this order."
        })
      )
    }
  }
})

const isOf = (line: Cash.Paying, { kind, orderId }: Pick<Cash.Paying, "kind" | "orderId">) =>
  line.kind === kind && line.orderId === orderId

/** Whether the order that took a line ended without it. */
const isFree = Effect.fnUntraced(function* (line: Cash.Paying) {
  const records = yield* Records
  const { kind, orderId } = line
  if (kind === "subscription") {
    const [self] = yield* records.many(subscriptions, [orderId])
    return (
      self === undefined || isLeft(self, Machine.isTerminal(SubscriptionMachine, self.state), line)
    )
  }
  const [self] = yield* records.many(redemptions, [orderId])
  return self === undefined || isLeft(self, Machine.isTerminal(RedemptionMachine, self.state), line)
})

const isLeft = (
  { cash }: { readonly cash: { readonly lines: ReadonlyArray<Cash.CashLine> } },
  hasEnded: boolean,
  line: Cash.Paying
): boolean => hasEnded && !cash.lines.some((one) => Cash.nameOf(one) === Cash.nameOf(line))
