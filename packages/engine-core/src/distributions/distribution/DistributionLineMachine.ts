/** State machine of one holder's line of a distribution. */
import * as Machine from "../../kernel/Machine.ts"

export const DistributionLineMachine = Machine.declare("DistributionLineState", {
  doc: "One holder's line of a distribution. What is owed keeps its amount while it waits.",
  states: {
    due: "Owed, not delivered.",
    suspended: "Owed, and must wait until its cause is cured.",
    delivered: "The registrar delivered it.",
    rolled: "Closed: the next distribution may pay its holder again.",
    carried: "Left to the next period.",
    void: "Its amount is booked elsewhere by order."
  },
  triggers: {
    suspend: {
      by: [
        "holder.restrict",
        "holder.restrict-batch",
        "holder.set-attributes",
        "admission.withdraw",
        "screening",
        "ledger",
        "clock"
      ]
    },
    cure: {
      by: [
        "restriction.lift",
        "holder.restrict",
        "holder.restrict-batch",
        "holder.set-attributes",
        "screening",
        "ledger",
        "clock"
      ]
    },
    deliver: { by: ["ledger"] },
    roll: { by: ["distribution.roll"], announces: ["distribution.paid"] },
    void: { by: ["holder.force-transfer"], announces: ["holder.forced-transfer"] }
  },
  initial: "due",
  opensIn: ["due", "suspended", "carried"],
  opens: { by: ["distribution.execute"] },
  moves: {
    due: { suspend: "suspended", deliver: "delivered" },
    suspended: { cure: "due", void: "void" },
    delivered: { roll: "rolled" },
    rolled: {},
    carried: {},
    void: {}
  },
  forward: ["cure", "deliver", "roll"]
})
