/**
 * State machine of a four-eyes action, apart from its record: the schemas of answers need the states alone, and a
 * client in a browser loads them without the record.
 */
import * as Machine from "../kernel/Machine.ts"

export const ApprovalMachine = Machine.declare("ApprovalState", {
  doc: "A four-eyes action, from its maker's call to the decision.",
  states: {
    awaiting: "It needs a signature.",
    approved: "It was signed by all it needs, and its operation opened.",
    rejected: "An approver rejected it, or its maker withdrew it.",
    lapsed: "It waited longer than the deployment lets an action wait."
  },
  triggers: {
    sign: { by: ["approver"], announces: ["approval.signed"] },
    approve: { by: ["approver"], announces: ["approval.approved"] },
    reopen: { by: ["approver"], announces: ["approval.requested"] },
    void: { by: ["worker"], announces: ["approval.requested"] },
    reject: { by: ["approver"], announces: ["approval.rejected"] },
    withdraw: { by: ["maker"], announces: ["approval.rejected"] },
    lapse: { by: ["clock"], announces: ["approval.lapsed"] }
  },
  initial: "awaiting",
  opens: { by: ["maker"], announces: ["approval.requested"] },
  moves: {
    awaiting: {
      sign: "awaiting",
      approve: "approved",
      reopen: "awaiting",
      reject: "rejected",
      withdraw: "rejected",
      lapse: "lapsed"
    },
    // The figures moved between the last signature and the run: the operation was refused, and the
    // action awaits signatures again.
    approved: { void: "awaiting" },
    rejected: {},
    lapsed: {}
  },
  forward: ["approve"]
})
