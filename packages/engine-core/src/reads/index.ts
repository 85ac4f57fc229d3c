/** Declarations of the room reads: the answers about operations and four-eyes actions. */
import { getApproval, getOperation, listApprovals, listOperations } from "./WriteQueries.ts"

export const queries = [listOperations, getOperation, listApprovals, getApproval] as const
