/** Declarations of the room reads: the answers about operations and four-eyes actions. */
import { getApproval, getOperation, listApprovals, listOperations } from "./WriteReads.ts"

export const reads = [listOperations, getOperation, listApprovals, getApproval] as const
