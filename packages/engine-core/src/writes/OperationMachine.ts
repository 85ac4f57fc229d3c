/**
 * State machine of an operation, apart from its record: the schemas of answers need the states alone, and a
 * client in a browser loads them without the record.
 */
import * as Machine from "../kernel/Machine.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"

export const OperationMachine = Machine.declare("OperationState", {
  doc: "A write, from the moment it is accepted to its end.",
  states: {
    queued: "Accepted; waits for a worker.",
    running: "A worker holds its lease.",
    succeeded: "Its fact is committed.",
    failed: "It was refused when it ran."
  },
  triggers: {
    take: { by: ["worker"] },
    succeed: { by: ["worker"], announces: ["operation.succeeded"] },
    fail: { by: ["worker"], announces: ["operation.failed"] }
  },
  initial: "queued",
  opens: { by: [...OperationKind.members, "approver"] },
  moves: {
    queued: { take: "running" },
    running: { succeed: "succeeded", fail: "failed" },
    succeeded: {},
    failed: {}
  },
  forward: ["take", "succeed"]
})
