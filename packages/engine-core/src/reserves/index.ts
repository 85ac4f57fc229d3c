/** What the reserves context holds: its state sets, then its writes and reads. */
import { AmendmentMachine } from "./amendment/AmendmentMachine.ts"
import { LockAgreementMachine } from "./lock-agreement/LockAgreementMachine.ts"
import { ReserveMachine } from "./reserve/ReserveMachine.ts"
import { ReserveOrderMachine } from "./reserve-order/ReserveOrderMachine.ts"

export const machines = [
  ReserveMachine,
  AmendmentMachine,
  LockAgreementMachine,
  ReserveOrderMachine
] as const
export const judged = [] as const
