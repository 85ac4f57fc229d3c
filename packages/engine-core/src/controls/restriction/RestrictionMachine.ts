/** Which states a restriction of a holder passes through. */
import * as Machine from "../../kernel/Machine.ts"

export const RestrictionMachine = Machine.declare("RestrictionState", {
  doc: "A restriction of a holder: one person sets it at once, two approvers lift it.",
  states: {
    active: "In force.",
    lifted: "Ended by two approvers.",
    lapsed: "Ended by its own date.",
    carried: "Moved to the holder's successor."
  },
  triggers: {
    lift: { by: ["restriction.lift"], announces: ["holder.unrestricted"] },
    lapse: { by: ["clock"], announces: ["holder.unrestricted"] },
    carry: { by: ["holder.recover", "instrument.recover"], announces: ["holder.restricted"] }
  },
  initial: "active",
  opens: {
    by: [
      "holder.restrict",
      "holder.restrict-batch",
      "screening",
      "holder.recover",
      "instrument.recover"
    ],
    announces: ["holder.restricted"]
  },
  moves: {
    active: { lift: "lifted", lapse: "lapsed", carry: "carried" },
    lifted: {},
    lapsed: {},
    carried: {}
  }
})
