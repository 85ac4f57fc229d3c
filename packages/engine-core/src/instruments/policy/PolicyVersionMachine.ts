/** State machine of one version of an instrument's policy. */
import * as Machine from "../../kernel/Machine.ts"

export const PolicyVersionMachine = Machine.declare("PolicyVersionState", {
  doc: "One version of an instrument's policy. Every order keeps the version it was judged under.",
  states: {
    scheduled: "Accepted, not yet in force.",
    current: "In force.",
    superseded: "Replaced by the next.",
    withdrawn: "Replaced before it took effect."
  },
  triggers: {
    begin: { by: ["clock"] },
    replace: { by: ["policy.set"] },
    supersede: { by: ["clock", "policy.set"] }
  },
  initial: "scheduled",
  opensIn: ["scheduled", "current"],
  opens: { by: ["instrument.record", "policy.set"] },
  moves: {
    scheduled: { begin: "current", replace: "withdrawn" },
    current: { supersede: "superseded" },
    superseded: {},
    withdrawn: {}
  },
  forward: ["begin"]
})
