/** Declarations of the room writes: the states of an operation and of a four-eyes action. */
import { ApprovalMachine, approvalEvents } from "./Approval.ts"
import { OperationMachine, operationEvents } from "./OperationRecord.ts"
import { operationWorker } from "./OperationRunner.ts"

export const machines = [OperationMachine, ApprovalMachine] as const
export const workers = [operationWorker] as const
/** Events that the room announces. */
export const events = { ...operationEvents, ...approvalEvents } as const
