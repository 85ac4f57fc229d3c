/** Nouns of the room reads: the answers about operations and four-eyes actions. */
import * as Noun from "../nouns/Noun.ts"
import { getApproval, getOperation, listApprovals, listOperations } from "./WriteQueries.ts"

const operation = Noun.declare({ queries: [listOperations, getOperation] })

const approval = Noun.declare({ queries: [listApprovals, getApproval] })

export const nouns = [operation, approval] as const
