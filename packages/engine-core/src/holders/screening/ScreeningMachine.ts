/** State machine of a holder's screening, which has no end. */
import * as Machine from "../../kernel/Machine.ts"

export const ScreeningMachine = Machine.declare("ScreeningState", {
  doc: "The screening of a holder against the lists of the screening source.",
  states: {
    unscreened: "Never asked.",
    pending: "Asked; no answer yet.",
    clear: "No hit.",
    review: "A possible hit that somebody must judge.",
    match: "A confirmed hit: the engine restricts the holder.",
    stale: "The answer is too old, or older than the list."
  },
  triggers: {
    ask: { by: ["holder.register", "holder.onboard", "clock", "screening"] },
    clear: { by: ["screening"] },
    doubt: { by: ["screening"] },
    confirm: { by: ["screening"], announces: ["holder.restricted"] },
    age: { by: ["clock", "screening"] }
  },
  initial: "unscreened",
  opens: { by: ["holder.register", "holder.onboard"] },
  moves: {
    unscreened: { ask: "pending" },
    pending: { clear: "clear", doubt: "review", confirm: "match" },
    clear: { age: "stale" },
    review: { clear: "clear", confirm: "match" },
    match: { ask: "pending" },
    stale: { ask: "pending" }
  },
  forward: ["clear"],
  endless: "A holder is screened again for as long as the venue keeps it; it ends with the holder."
})
