/** Nouns of the room writes: operations and four-eyes actions. */
import * as Noun from "../nouns/Noun.ts"
import { ApprovalMachine } from "./ApprovalMachine.ts"
import { approvalEvents } from "./Approval.ts"
import { OperationMachine } from "./OperationMachine.ts"
import { operationEvents } from "./OperationRecord.ts"
import { operationWorker } from "./OperationRunner.ts"

const operation = Noun.declare({
  machine: OperationMachine,
  events: operationEvents,
  workers: [operationWorker]
})

const approval = Noun.declare({ machine: ApprovalMachine, events: approvalEvents })

export const nouns = [operation, approval] as const
