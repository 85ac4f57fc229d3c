/** Judged states of a redemption: the step that it still needs before its value date. */
import { match, P } from "ts-pattern"
import * as Instant from "../../kernel/Instant.ts"
import * as Judged from "../../kernel/Judged.ts"
import type { State } from "../../kernel/Machine.ts"
import type { PaymentMode } from "../../vocabulary/sets.ts"
import type { RedemptionMachine } from "./RedemptionMachine.ts"

export interface Subject {
  readonly state: State<typeof RedemptionMachine>
  readonly payment: PaymentMode
  /** True if the holder's units are allocated; only an order paid on the ledger allocates them. */
  readonly unitsAllocated: boolean
  /** True if the registrar is asked to burn its units. */
  readonly burnRequested: boolean
  /** True if its cash leg is covered: matched when paid by wire, allocated when paid on the ledger. */
  readonly cashStands: boolean
  /** Instant at which a priced order expires; null: it does not expire. */
  readonly settleBy: Instant.Instant | null
  readonly now: Instant.Instant
}

/** Judges a priced, ledger-paid order by its allocations. */
const judgeAllocated = ({ unitsAllocated, cashStands }: Subject) => {
  if (!unitsAllocated) return "awaiting-units"
  return cashStands ? "ready" : "awaiting-payment"
}

const isPast = ({ now, settleBy }: Subject) => settleBy !== null && Instant.atOrAfter(now, settleBy)

export const RedemptionOrder = Judged.declare<Subject>()("RedemptionOrderState", {
  doc: "What a redemption still needs before its value date. Open are the first five.",
  states: {
    "awaiting-price": "No price yet.",
    "awaiting-units":
      "The holder or its custodian acts next: it allocates the units, or requests their burn.",
    "awaiting-registrar": "The registrar accepts the burn.",
    "awaiting-payment": "The fund's cash is missing.",
    ready: "The venue may settle.",
    expired:
      "Its time to settle passed; the next act is to release it. A burned one never expires.",
    settled: "Its value date is reached.",
    withdrawn: "Withdrawn before its units were burned.",
    released: "Released before its units were burned."
  },
  judge: (subject) =>
    match(subject)
      .with({ state: "claimed" }, () => "awaiting-price" as const)
      .with({ state: P.union("priced", "funded") }, isPast, () => "expired" as const)
      // The registrar may accept the burn at any moment, so the payment must not burn the units again.
      .with({ state: "funded", burnRequested: true }, () => "awaiting-registrar" as const)
      .with({ state: P.union("priced", "funded"), payment: "ledger" }, judgeAllocated)
      .with({ state: "priced" }, () => "awaiting-units" as const)
      .with({ state: "funded" }, () => "awaiting-registrar" as const)
      .with({ state: "burned", cashStands: true }, () => "ready" as const)
      .with({ state: "burned" }, () => "awaiting-payment" as const)
      .with({ state: P.union("settled", "withdrawn", "released") }, ({ state }) => state)
      .exhaustive()
})
