/** Declarations of the room reserves: the state sets of assets that back issued units. */
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
export { events } from "./events.ts"
export { formulas } from "./ReserveFormulas.ts"
