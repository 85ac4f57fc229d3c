/** Pure rules of a cycle's membership: whether an order may join, and whether it may leave. */
import { check, type Objection } from "../../kernel/Gates.ts"

/** The row of an order that would join; `fullCycleId` names a cycle that can settle no order more. */
export const againstJoining = (fullCycleId: string | null, inputsMax: number): Objection =>
  check("transaction-size", fullCycleId === null, {
    detail:
      fullCycleId === null
        ? null
        : `The cycle ${fullCycleId} has as many orders as one transaction of ${inputsMax} contracts settles.`,
    recovery: "Claim the order after the cut-off, for the next one, or settle fewer at once."
  })

/** The row of an order that would settle by itself; null: its cycle, if it had one, has ended. */
export const againstLeaving = (openCycleId: string | null): Objection =>
  check("in-cycle", openCycleId === null, {
    detail: openCycleId === null ? null : `The order is in the open dealing cycle ${openCycleId}.`
  })
