/** Judged states of a subscription: the step that it still needs before its value date. */
import { match, P } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Judged from "../../kernel/Judged.ts"
import type { State } from "../../kernel/Machine.ts"
import type { SubscriptionMachine } from "./SubscriptionMachine.ts"

export interface Subject {
  readonly state: State<typeof SubscriptionMachine>
  /** True if its cash leg is covered: matched when paid by wire, allocated when paid on the ledger. */
  readonly cashStands: boolean
  /** Instant at which a priced order expires; null: it does not expire. */
  readonly settleBy: Instant.Instant | null
  readonly now: Instant.Instant
}

const judgePriced = ({ cashStands, now, settleBy }: Subject) => {
  if (settleBy !== null && Instant.atOrAfter(now, settleBy)) return "expired"
  return cashStands ? "ready" : "awaiting-cash"
}

export const SubscriptionOrder = Judged.declare<Subject>()("SubscriptionOrderState", {
  doc: "What a subscription still needs before its value date. Open are the first three.",
  states: {
    "awaiting-price": "No price yet.",
    "awaiting-cash": "The cash leg is missing.",
    ready: "The venue may deliver or settle.",
    expired: "Its time to settle passed; the next act is to release it.",
    settled: "Its value date is reached.",
    withdrawn: "Withdrawn before it was priced.",
    released: "Released after it was priced."
  },
  judge: (subject) =>
    match(subject.state)
      .with("claimed", () => "awaiting-price" as const)
      .with("priced", () => judgePriced(subject))
      .with(P.union("delivered", "closed"), () => "settled" as const)
      .with(P.union("withdrawn", "released"), (ended) => ended)
      .exhaustive()
})
