/** Pure rules of a cycle's membership: whether an order may join, and whether it may leave. */
import type { Objection } from "../../kernel/Gates.ts"

/** The row of an order that would join; `fullCycleId` names a cycle that can settle no order more. */
export const againstJoining = (fullCycleId: string | null, inputsMax: number): Objection => [
  fullCycleId !== null,
  "rule-refused",
  {
    gate: "ledger",
    check: "transaction-size",
    ...(fullCycleId === null
      ? {}
      : {
          detail: `The cycle ${fullCycleId} has as many orders as one transaction of ${inputsMax} contracts settles.`
        }),
    recovery: "Claim the order after the cut-off, for the next one, or settle fewer at once."
  }
]

/** The row of an order that would settle by itself; null: its cycle, if it had one, has ended. */
export const againstLeaving = (openCycleId: string | null): Objection => [
  openCycleId !== null,
  "rule-refused",
  {
    gate: "policy",
    check: "in-cycle",
    ...(openCycleId === null
      ? {}
      : { detail: `The order is in the open dealing cycle ${openCycleId}.` }),
    recovery: "Settle its cycle, or release the order."
  }
]
