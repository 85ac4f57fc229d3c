/** What the writes context holds: the states of an operation and of a four-eyes action. */
import { ApprovalMachine } from "./ApprovalMachine.ts"
import { OperationMachine } from "./OperationMachine.ts"
import { getApproval, getOperation, listApprovals, listOperations } from "./WriteReads.ts"

export const machines = [OperationMachine, ApprovalMachine] as const
export const judged = [] as const
export const operations = [] as const
export const reads = [listOperations, getOperation, listApprovals, getApproval] as const
