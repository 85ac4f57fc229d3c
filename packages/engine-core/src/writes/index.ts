/** Declarations of the room writes: the states of an operation and of a four-eyes action. */
import { ApprovalMachine } from "./ApprovalMachine.ts"
import { OperationMachine } from "./OperationMachine.ts"
import { operationWorker } from "./OperationRunner.ts"

export const machines = [OperationMachine, ApprovalMachine] as const
export const workers = [operationWorker] as const
export { events } from "./events.ts"
