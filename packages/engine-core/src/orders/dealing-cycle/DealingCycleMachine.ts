/** Which states a dealing cycle passes through. */
import * as Machine from "../../kernel/Machine.ts"

export const DealingCycleMachine = Machine.declare("DealingCycleState", {
  doc: "A dealing cycle: the orders of one cut-off, settled together or not at all.",
  states: {
    open: "Takes orders until its cut-off, then waits to settle them.",
    ended: "Settled its orders, or released them; the record says which."
  },
  triggers: {
    settle: { by: ["dealing-cycle.settle"], announces: ["dealing-cycle.settled"] },
    release: { by: ["dealing-cycle.release"], announces: ["dealing-cycle.released"] }
  },
  initial: "open",
  opens: { by: ["dealing-cycle.open"] },
  moves: {
    open: { settle: "ended", release: "ended" },
    ended: {}
  },
  forward: ["settle"]
})
