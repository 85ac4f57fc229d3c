/** State machine of an executed distribution. */
import * as Machine from "../../kernel/Machine.ts"

export const DistributionMachine = Machine.declare("DistributionState", {
  doc: "An executed distribution. Carried, suspended and void lines do not keep it from paid.",
  states: {
    executed: "Its lines are computed.",
    held: "Its instrument is under a hold.",
    payable: "A reconciliation run found nothing that stops it.",
    paid: "Every line that was delivered is rolled."
  },
  triggers: {
    clear: { by: ["run"], announces: ["distribution.payable"] },
    hold: {
      by: ["instrument.pause", "run", "distribution.execute"],
      announces: ["distribution.held"]
    },
    pay: { by: ["distribution.roll", "run"], announces: ["distribution.paid"] }
  },
  initial: "executed",
  opens: { by: ["distribution.execute"] },
  moves: {
    executed: { clear: "payable", hold: "held" },
    held: { clear: "payable" },
    payable: { hold: "held", pay: "paid" },
    paid: {}
  },
  forward: ["clear", "pay"]
})
