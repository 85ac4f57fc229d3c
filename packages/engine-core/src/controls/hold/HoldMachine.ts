/** Which states a hold on an instrument passes through. */
import * as Machine from "../../kernel/Machine.ts"

export const HoldMachine = Machine.declare("HoldState", {
  doc: "A hold on an instrument. Many may be open at once; what is blocked is their union.",
  states: {
    open: "Blocks what it names.",
    released: "Ended by two approvers."
  },
  triggers: {
    release: { by: ["hold.release"], announces: ["hold.released"] }
  },
  initial: "open",
  opens: {
    by: ["instrument.pause", "run"],
    announces: ["instrument.paused", "reconciliation.hold", "reserve.cover-low"]
  },
  moves: {
    open: { release: "released" },
    released: {}
  },
  forward: ["release"]
})
